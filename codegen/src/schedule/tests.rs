//! Which values share memory, and which steps there are.

use super::{schedule, Place, Role, Schedule, StepKind};
use crate::ir::{Graph, ValueId};

/// A scheduled graph, read from the lines between the braces.
struct Case {
    graph: Graph,
    schedule: Schedule,
}

impl Case {
    fn new(lines: &str) -> Self {
        let graph = Graph::parse(&format!("graph \"case\" {{ {lines} }}")).unwrap();
        crate::verify::verify(&graph).unwrap_or_else(|v| panic!("{v:#?}"));
        let schedule = schedule(&graph);
        Case { graph, schedule }
    }

    fn id(&self, name: &str) -> ValueId {
        self.graph.values().find(|(_, v)| v.name == name).unwrap().0
    }

    fn place(&self, name: &str) -> Place {
        self.schedule.storage.place(self.id(name)).unwrap()
    }

    /// Bytes between two values of one buffer; `None` if they are in different ones.
    fn distance(&self, from: &str, to: &str) -> Option<usize> {
        let (from, to) = (self.place(from), self.place(to));
        (from.buffer == to.buffer).then(|| to.offset - from.offset)
    }

    /// The names of what is computed (`y`) and copied (`=y`), in order.
    fn steps(&self) -> String {
        let name = |id: ValueId| self.graph.value(id).name.clone();
        let step = |kind: &StepKind| match *kind {
            StepKind::Compute(id) => name(self.graph.node(id).result),
            StepKind::Copy { value, .. } => format!("={}", name(value)),
            StepKind::Absorb { node, .. } => format!("+{}", name(self.graph.node(node).result)),
        };
        self.schedule.steps.iter().map(|s| step(&s.kind)).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn reshapes_and_adjacent_slices_are_views() {
    let case = Case::new(
        r#"input %x "x": f32[1,4,6]
           %r "r": f32[4,6] = reshape(%x)
           %s "s": f32[2,6] = slice(%r) {begin = [1, 0], step = [1, 1]}
           %t "t": f32[1,3] = slice(%s) {begin = [1, 2], step = [1, 1]}
           %u "u": f32[4,1] = slice(%r) {begin = [0, 5], step = [1, 1]}
           %v "v": f32[2,6] = slice(%r) {begin = [0, 0], step = [2, 1]}
           %w "w": f32[1,6] = slice(%r) {begin = [3, 5], step = [1, -1]}
           %a "a": f32[1,3] = tanh(%t)
           return %a, %u, %v, %w"#,
    );
    assert_eq!(case.steps(), "u v w a");
    assert_eq!(case.distance("x", "s"), Some(24));
    assert_eq!(case.distance("x", "t"), Some(24 + 24 + 8));
}

#[test]
fn a_view_of_a_constant_is_computed() {
    let case = Case::new(
        r#"const %k "k": f32[4] = [1.0, 2.0, 3.0, 4.0]
           %r "r": f32[2,2] = reshape(%k)
           return %r"#,
    );
    assert_eq!(case.steps(), "r");
}

#[test]
fn operands_are_computed_inside_the_concat() {
    let case = Case::new(
        r#"input %x "x": f32[1,2,3]
           %a "a": f32[1,2,3] = tanh(%x)
           %b "b": f32[1,2,3] = logistic(%x)
           %r "r": f32[1,2,3] = softmax(%b) {beta = 1.0, scale = real}
           %c "c": f32[1,4,3] = concat(%a, %r) {axis = 1}
           %y "y": f32[1,4,3] = softmax(%c) {beta = 1.0, scale = real}
           return %y"#,
    );
    assert_eq!(case.steps(), "a b r y");
    assert_eq!((case.distance("c", "a"), case.distance("c", "r")), (Some(0), Some(24)));
    assert_eq!(case.distance("x", "b"), Some(0), "in place of the input, which dies there");
}

#[test]
fn a_concat_copies_inputs_duplicates_and_what_lies_elsewhere() {
    let case = Case::new(
        r#"input %x "x": f32[2]
           %a "a": f32[2] = tanh(%x)
           %c "c": f32[6] = concat(%a, %a, %x) {axis = 0}
           %d "d": f32[8] = concat(%x, %c) {axis = 0}
           return %d"#,
    );
    assert_eq!(case.steps(), "a c d");
    assert_eq!((case.distance("c", "a"), case.distance("d", "c")), (Some(0), Some(8)));
    let inner = Case::new(
        r#"input %x "x": f32[2,2]
           %a "a": f32[2,2] = tanh(%x)
           %c "c": f32[2,4] = concat(%a, %a) {axis = 1}
           return %c"#,
    );
    assert_eq!(inner.distance("c", "a"), None, "the rows of a are not adjacent in c");
}

#[test]
fn an_early_operand_of_a_large_concat_is_copied_where_that_saves_memory() {
    let case = Case::new(
        r#"input %x "x": f32[8]
           %a "a": f32[8] = softmax(%x) {beta = 1.0, scale = real}
           %p "p": f32[1000] = pad(%x) {before = [0], after = [992], value = 0}
           %q "q": f32[1000] = softmax(%p) {beta = 1.0, scale = real}
           %r "r": f32[500] = slice(%q) {begin = [0], step = [2]}
           %c "c": f32[508] = concat(%a, %r) {axis = 0}
           return %c"#,
    );
    assert_eq!(case.steps(), "a p q r c");
    assert_eq!(case.distance("c", "a"), None);
}

#[test]
fn elementwise_results_take_the_place_of_what_dies() {
    let case = Case::new(
        r#"input %x "x": f32[2,4]
           input %k "k": f32[4]
           %a "a": f32[2,4] = tanh(%x)
           %b "b": f32[2,4] = add(%k, %a) {rescale = real, clamp = -inf..=inf}
           %c "c": f32[2,4] = mul(%b, %b) {rescale = real, clamp = -inf..=inf}
           %d "d": f32[2,4] = logistic(%b)
           %e "e": f32[2,4] = softmax(%d) {beta = 1.0, scale = real}
           return %c, %e"#,
    );
    assert_eq!(case.distance("x", "a"), Some(0));
    assert_eq!(case.distance("x", "b"), Some(0));
    assert_eq!(case.distance("b", "c"), None, "b is still needed");
    assert_eq!(case.distance("b", "d"), Some(0));
    assert_eq!(case.distance("d", "e"), None, "a softmax looks at whole rows");
}

#[test]
fn a_repeated_operand_keeps_its_place() {
    let case = Case::new(
        r#"input %x "x": f32[4]
           %a "a": f32[4] = tanh(%x)
           %s "s": f32[1] = slice(%a) {begin = [2], step = [1]}
           %y "y": f32[4] = mul(%a, %s) {rescale = real, clamp = -inf..=inf}
           return %y"#,
    );
    assert_eq!(case.distance("a", "y"), None, "element 2 is read for all of y");
}

#[test]
fn states_are_written_in_place_when_nobody_reads_them_any_more() {
    let case = Case::new(
        r#"input %x "x": f32[4]
           state %s "s": f32[4] = splat 0.0
           %n "n": f32[4] = add(%s, %x) {rescale = real, clamp = -inf..=inf}
           %y "y": f32[4] = softmax(%n) {beta = 1.0, scale = real}
           next %s = %n
           return %y"#,
    );
    assert_eq!(case.steps(), "n y");
    assert_eq!(case.distance("s", "n"), Some(0));
    assert_eq!(case.schedule.storage.buffer(case.place("n").buffer).role, Role::State(0));
}

#[test]
fn states_are_written_back_as_soon_as_possible() {
    let case = Case::new(
        r#"input %x "x": f32[4]
           state %s "s": f32[4] = splat 0.0
           %n "n": f32[4] = softmax(%x) {beta = 1.0, scale = real}
           %a "a": f32[4] = add(%s, %n) {rescale = real, clamp = -inf..=inf}
           %b "b": f32[4] = tanh(%a)
           next %s = %n
           return %b"#,
    );
    assert_eq!(case.steps(), "n a =n b");
}

#[test]
fn states_that_are_exchanged_go_through_scratch() {
    let case = Case::new(
        r#"state %s "s": f32[4] = splat 0.0
           state %t "t": f32[4] = splat 1.0
           state %u "u": f32[4] = splat 2.0
           next %s = %t
           next %t = %s
           next %u = %s
           return %u"#,
    );
    assert_eq!(case.steps(), "=u =s =s =t =s", "the output, u, then s saved, s and t");
    let StepKind::Copy { to: saved, .. } = case.schedule.steps[2].kind else { panic!("a copy") };
    let StepKind::Copy { from, .. } = case.schedule.steps[4].kind else { panic!("a copy") };
    assert_eq!(from, Some(saved));
}

#[test]
fn a_history_lives_in_its_state() {
    let case = Case::new(
        r#"input %x "x": f32[1,1,2]
           state %s "s": f32[1,3,2] = splat 0.0
           %c "c": f32[1,4,2] = concat(%s, %x) {axis = 1}
           %n "n": f32[1,3,2] = slice(%c) {begin = [0, 1, 0], step = [1, 1, 1]}
           %a "a": f32[1,4,2] = softmax(%c) {beta = 1.0, scale = real}
           %y "y": f32[1,4,2] = softmax(%a) {beta = 1.0, scale = real}
           next %s = %n
           return %y"#,
    );
    assert_eq!(case.steps(), "c a =n y", "the step of c copies x alone");
    assert_eq!((case.distance("c", "s"), case.distance("c", "n")), (Some(0), Some(8)));
    let buffer = case.schedule.storage.buffer(case.place("c").buffer);
    assert_eq!((buffer.role, buffer.bytes), (Role::State(0), 32));
}

#[test]
fn outputs_have_places_of_their_own() {
    let case = Case::new(
        r#"input %x "x": f32[4]
           state %s "s": f32[4] = splat 0.0
           const %k "k": f32[4] = splat 1.0
           %a "a": f32[4] = tanh(%x)
           %v "v": f32[2] = slice(%a) {begin = [1], step = [1]}
           next %s = %a
           return %x, %s, %k, %a, %v, %a"#,
    );
    assert_eq!(case.steps(), "a =x =s =k =v =a =a");
    let outputs = &case.schedule.outputs;
    assert_eq!(outputs[3], case.place("a"));
    for (i, output) in outputs.iter().enumerate() {
        assert_eq!(case.schedule.storage.buffer(output.buffer).role, Role::Scratch);
        assert!(outputs[..i].iter().all(|other| other.buffer != output.buffer));
    }
}

#[test]
fn steps_compute_all_rows() {
    let case = Case::new(
        r#"input %x "x": f32[2,5,3]
           %a "a": f32[2,5,3] = tanh(%x)
           %b "b": f32[5,3,2] = transpose(%a) {perm = [1, 2, 0]}
           %r "r": f32[10,3] = reshape(%a)
           %c "c": f32[10,3] = tanh(%r)
           return %b, %c"#,
    );
    let rows: Vec<_> = case.schedule.steps.iter().map(|s| s.rows).collect();
    assert_eq!(rows, [5, 3, 10]);
}

#[test]
fn what_histories_add_lies_over_what_others_dropped() {
    let step = |n: usize, x: &str, rows: usize, new: usize| {
        let whole = rows + new;
        format!(
            r#"state %s{n} "s{n}": f32[1,{rows},1,2] = splat 0.0
               %c{n} "c{n}": f32[1,{whole},1,2] = concat(%s{n}, {x}) {{axis = 1}}
               %n{n} "n{n}": f32[1,{rows},1,2] = slice(%c{n}) {{begin = [0, {new}, 0, 0], step = [1, 1, 1, 1]}}
               %m{n} "m{n}": f32[1,1,1,2] = max_pool2d(%c{n}) {{window = [{whole}, 1], clamp = -inf..=inf}}
               %y{n} "y{n}": f32[1,1,1,2] = softmax(%m{n}) {{beta = 1.0, scale = real}}
               next %s{n} = %n{n}"#
        )
    };
    let lines = [
        r#"input %x "x": f32[1,2,1,2]"#.to_string(),
        step(0, "%x", 3, 2),
        step(1, "%y0", 4, 1),
        step(2, "%y1", 5, 1),
        "return %y2".into(),
    ];
    // States and their next values stand with the inputs and at the end.
    let (mut first, mut middle, mut last) = (String::new(), String::new(), String::new());
    for line in lines.iter().flat_map(|part| part.lines()) {
        let to = match line.trim() {
            line if line.starts_with("state") || line.starts_with("input") => &mut first,
            line if line.starts_with("next") || line.starts_with("return") => &mut last,
            _ => &mut middle,
        };
        to.push_str(line);
        to.push('\n');
    }
    let case = Case::new(&format!("{first}{middle}{last}"));
    assert_eq!(case.steps(), "c0 m0 y0 m1 y1 m2 =n2 =n1 =n0 y2");
    let offsets = ["s2", "s1", "s0"].map(|name| case.place(name).offset);
    assert_eq!(
        offsets,
        [0, 5 * 8, 5 * 8 + 4 * 8],
        "the last one is the lowest, none has room for what it adds"
    );
    assert_eq!(case.distance("s2", "y1"), Some(5 * 8), "over the first row of s1");
    let buffer = case.schedule.storage.buffer(case.place("s0").buffer);
    assert_eq!(buffer.bytes, (5 + 4 + 3 + 2) * 8);
}
