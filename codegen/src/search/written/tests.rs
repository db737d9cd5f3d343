//! Schedules are read as they are written, and what is wrong with them is said at its line.

use super::*;
use crate::{compile_graph, Compiled};

/// Three layers of one chain, the last one without rows.
fn graph() -> Graph {
    let text = "graph \"test\" {
       input %x: i8[1,8,8,8] q(0.5 : -3)
       const %v: i8[16,3,3,8] q(0.5 : 0) = splat 1
       const %w: i8[8,1,1,16] q(0.5 : 0) = splat 1
       %y \"first\": i8[1,8,8,16] q(0.5 : -3) = conv2d(%x, %v) {window = [3, 3] pad [1, 1, 1, 1], groups = 1, rescale = [1073741824 * 2^-5], clamp = -128..=127}
       %z \"second\": i8[1,8,8,8] q(0.5 : -3) = conv2d(%y, %w) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-5], clamp = -128..=127}
       %t \"third\": i8[1,8,8,8] q(0.5 : -3) = max_pool2d(%z) {window = [1, 1], clamp = -128..=127}
       return %t
     }";
    Graph::parse(text).unwrap()
}

fn options(text: Option<&str>) -> Options {
    let schedule = text.map(|text| ScheduleFile { path: "my.schedule".into(), text: Some(text.into()) });
    Options { target: Some(Target::CortexMDsp), schedule, ..Options::default() }
}

fn compiled(text: &str) -> Result<Compiled, Error> {
    compile_graph(graph(), &options(Some(text)))
}

/// Place, reason and help of what is refused.
fn refused(text: &str) -> String {
    match compiled(text).unwrap_err() {
        Error::Options(Problem { place, what, help }) => format!("{place}: {what} ({help})"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_schedule_is_read_as_it_is_written() {
    let rules = compile_graph(graph(), &options(None)).unwrap();
    let text = rules.written();
    assert!(text.starts_with("schedule cortex-m4 speed whole {\n  %"), "{text}");
    let again = compiled(&text).unwrap();
    assert!(again.unused.is_empty());
    assert_eq!((&again.graph, &again.schedule, &again.plan), (&rules.graph, &rules.schedule, &rules.plan));
    assert_eq!(again.tokens(&Default::default()).to_string(), rules.tokens(&Default::default()).to_string());
    assert_eq!(again.written(), text);
}

/// The lines of the schedule of the rules, without comments.
fn lines() -> Vec<String> {
    let text = compile_graph(graph(), &options(None)).unwrap().written();
    text.lines().map(|line| line.split('#').next().unwrap().trim().to_owned()).collect()
}

#[test]
fn kernels_and_pipelines_are_those_of_the_file() {
    let [head, first, second, ..] = &lines()[..] else { panic!() };
    let [first, second] = [first, second].map(|line| line.split(" by ").next().unwrap());
    let text = format!("{head}\nrows {{\n {first} by conv2d_i8_dsp/2\n {second}\n}}\n}}");
    let compiled = compiled(&text).unwrap();
    assert!(compiled.unused.is_empty(), "{:?}", compiled.unused);
    assert_eq!(compiled.schedule.pipelines.len(), 1);
    assert_eq!(compiled.schedule.pipelines[0].steps, 0..2);
    assert_eq!(compiled.program.chosen[0].name, "conv2d_i8_dsp/2");
}

#[test]
fn what_a_model_does_not_fit_is_listed_and_not_used() {
    let [head, first, ..] = &lines()[..] else { panic!() };
    let first = first.split(" by ").next().unwrap();
    let text = format!(
        "{head}\nrows {{\n{first} by conv2d_i8_dsp_winograd\n%77 conv2d [1,8,8,8] by portable\n}}\n}}"
    );
    let compiled = compiled(&text).unwrap();
    assert!(compiled.schedule.pipelines.is_empty());
    assert_eq!(
        compiled.unused,
        [
            "my.schedule, line 4: the model has no %77 conv2d [1,8,8,8]",
            "my.schedule, line 2: these nodes take no turns, because some of them are not in the model",
        ]
    );
    // A layer of one tap is nothing for Winograd's algorithm.
    let second = lines()[2].split(" by ").next().unwrap().to_owned();
    let compiled = self::compiled(&format!("{head}\n{second} by conv2d_i8_dsp_winograd\n}}")).unwrap();
    let [line] = &compiled.unused[..] else { panic!("{:?}", compiled.unused) };
    assert!(
        line.contains("cannot be computed by conv2d_i8_dsp_winograd here") && line.contains("portable"),
        "{line}"
    );
}

#[test]
fn other_targets_have_schedules_of_their_own() {
    let rules = compile_graph(graph(), &options(None)).unwrap();
    let other = "schedule cortex-m0 speed whole {\n}\n";
    assert_eq!(compiled(other).unwrap().written(), rules.written());
    let message = refused("schedule cortex-m4 size whole {\n}\n");
    assert!(message
        .contains("there is no `schedule cortex-m4 speed whole`, only `schedule cortex-m4 size whole`"));
    let file = ScheduleFile { path: "my.schedule".into(), text: Some(format!("# mine\n\n{other}")) };
    let key = |target| Key { target, optimize: Optimize::Speed, input: Input::Whole };
    let both = replaced(&file, key(Target::CortexMDsp), "schedule cortex-m4 speed whole {\n}\n").unwrap();
    assert_eq!(both, format!("# mine\n\n{other}\nschedule cortex-m4 speed whole {{\n}}\n"));
    let file = ScheduleFile { text: Some(both), ..file };
    let new =
        replaced(&file, key(Target::CortexM0), "schedule cortex-m0 speed whole {\n  # new\n}\n").unwrap();
    assert_eq!(
        new,
        "# mine\n\nschedule cortex-m0 speed whole {\n  # new\n}\n\nschedule cortex-m4 speed whole {\n}\n"
    );
}

#[test]
fn what_can_never_be_right_is_refused_at_its_line() {
    let [head, first, second, third, ..] = &lines()[..] else { panic!() };
    let with = |lines: &[&str]| refused(&format!("{head}\n{}\n}}", lines.join("\n")));
    let cases = [
        (with(&[first, first]), "my.schedule, line 3: %", "stands here a second time"),
        (
            with(&[second, first, third]),
            "line 2: %",
            "which is computed below (move this line below that of %",
        ),
        (
            with(&[&first.replace("_dsp", "_dps")]),
            "line 2: there is no kernel",
            "did you mean `conv2d_i8_dsp_winograd_4x4`?",
        ),
        (
            with(&["rows {", first, third, "}"]),
            "line 2: these nodes do not follow each other",
            "give each node of the model a line",
        ),
        (with(&["rows {", "rows {"]), "line 3: `rows {` stands inside", "close the one above"),
        (with(&["turns {"]), "line 2: `turns {` is nothing that a schedule has", "write `schedule TARGET"),
        (with(&["%x conv2d [1]"]), "line 2: a value is `%` and a number", "write `%12"),
        (
            with(&["%3 conv2d [1, 2]"]),
            "line 2: a line has a value, an operator, a shape without spaces",
            "write `%12",
        ),
        (refused("schedule cortex-m9 speed whole {\n}"), "line 1: `cortex-m9` is no target", "cortex-m4"),
        (refused("schedule cortex-m4 fast whole {\n}"), "line 1: schedule: `fast` is not a value", "memory"),
        (refused(head), "line 1: this `{` has no `}`", "close it"),
        (refused(&format!("{head}\n}}\n{head}\n}}")), "line 4: there are two", "remove one of them"),
    ];
    for (message, at, help) in cases {
        assert!(message.contains(at) && message.contains(help), "{message}");
    }
}

#[test]
fn nodes_that_cannot_take_turns_are_named() {
    let text = "graph \"test\" {
       input %x: f32[1,8,8,2]
       %y: f32[1,8,8,2] = max_pool2d(%x) {window = [1, 1], clamp = -inf..=inf}
       %z: f32[1,8,2,8] = transpose(%y) {perm = [0, 2, 3, 1]}
       return %z
     }";
    let graph = Graph::parse(text).unwrap();
    let rules = compile_graph(graph.clone(), &options(None)).unwrap().written();
    let rows = rules.replacen("{\n", "{\nrows {\n", 1) + "}\n";
    let error = compile_graph(graph, &options(Some(&rows))).unwrap_err().to_string();
    assert!(
        error.contains("line 2: these nodes cannot take turns: %") && error.contains("transpose"),
        "{error}"
    );
}

/// A wide layer, a depthwise layer that halves its image, and a layer that makes little of it.
fn wide() -> Graph {
    let text = "graph \"wide\" {
       input %x: i8[1,16,16,4] q(0.5 : -3)
       const %v: i8[32,1,1,4] q(0.5 : 0) = splat 3
       const %d: i8[32,3,3,1] q(0.5 : 0) = splat 2
       const %w: i8[8,1,1,32] q(0.5 : 0) = splat 1
       %y \"expand\": i8[1,16,16,32] q(0.5 : -3) = conv2d(%x, %v) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-3], clamp = -128..=127}
       %z \"depthwise\": i8[1,8,8,32] q(0.5 : -3) = conv2d(%y, %d) {window = [3, 3] stride [2, 2] pad [0, 1, 0, 1], groups = 32, rescale = [1073741824 * 2^-4], clamp = -128..=127}
       %t \"project\": i8[1,8,8,8] q(0.5 : -3) = conv2d(%z, %w) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-4], clamp = -128..=127}
       return %t
     }";
    Graph::parse(text).unwrap()
}

fn least(text: Option<&str>, recompute: &str) -> Result<Compiled, Error> {
    let mut options = Options { optimize: Optimize::Memory, ..options(text) };
    options.set("recompute", recompute).unwrap();
    compile_graph(wide(), &options)
}

#[test]
fn rows_that_are_computed_again_are_written() {
    let [without, with] = ["1", "1.5"].map(|recompute| least(None, recompute).unwrap());
    assert!(
        with.plan.arena_bytes * 10 < without.plan.arena_bytes * 9,
        "{} {}",
        with.plan.arena_bytes,
        without.plan.arena_bytes
    );
    let (once, text) = (without.written(), with.written());
    assert!(!once.contains("again") && !once.contains("groups"), "{once}");
    assert!(text.contains(" again ") && text.contains("\n  groups %"), "{text}");
    let followed = least(Some(&text), "1.5").unwrap();
    assert!(followed.unused.is_empty(), "{:?}", followed.unused);
    assert_eq!((&followed.schedule, &followed.plan), (&with.schedule, &with.plan));
    assert_eq!(
        followed.tokens(&Default::default()).to_string(),
        with.tokens(&Default::default()).to_string()
    );
    assert_eq!(followed.written(), text);
    // What is written needs no option that allows it.
    assert_eq!(least(Some(&text), "1").unwrap().plan, with.plan);
}

#[test]
fn what_cannot_be_computed_again_is_said() {
    let text = least(None, "1").unwrap().written();
    let text =
        text.split("  #").next().map(|_| text.lines().map(|l| l.split('#').next().unwrap().trim_end()));
    let lines: Vec<&str> = text.unwrap().collect();
    let project = lines.iter().find(|line| line.contains("[1,8,8,8]")).unwrap();
    let refused = |text: &str| match least(Some(text), "1").unwrap_err() {
        Error::Options(Problem { place, what, help }) => format!("{place}: {what} ({help})"),
        other => panic!("{other}"),
    };
    let again = lines.join("\n").replace(project, &format!("{project} again"));
    let at = lines.iter().position(|line| line == project).unwrap() + 1;
    assert!(
        refused(&again).starts_with(&format!(
            "option `schedule`: my.schedule, line {at}: this node computes no rows again"
        )),
        "{}",
        refused(&again)
    );
    let with = |line: &str| lines.join("\n").replacen('\n', &format!("\n  {line}\n"), 1);
    assert!(refused(&with("groups %1 1")).contains("line 2: `groups %1 1` divides nothing"));
    let old = least(Some(&with("groups %999 2")), "1").unwrap();
    assert_eq!(old.unused, ["my.schedule, line 2: %999 cannot be divided"]);
}
