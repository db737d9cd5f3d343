//! What options say about a model's inputs and outputs, by their names in the file: `input_shape`, `channels_last` and `state`; and functions of custom operators.

use super::{Lowered, Refusal};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::{InputShape, Options, StatePair};
use kiln_ir::{Data, Graph, Node, Op, State, Type, ValueDef, ValueId};

/// Whether the input or output of that name is meant. Names may be given without what exporters put around them: `audio` of `serving_default_audio:0`.
fn is_named(given: &str, name: &str) -> bool {
    let bare = name.strip_prefix("serving_default_").unwrap_or(name);
    given == name || given == bare.strip_suffix(":0").unwrap_or(bare)
}

/// Whether a shape is given for the input of that name, of so many inputs.
fn is_of(shape: &InputShape, name: &str, inputs: usize) -> bool {
    match &shape.name {
        None => inputs == 1,
        Some(given) => is_named(given, name),
    }
}

/// Refuses shapes of inputs that the model does not have, and several of one input.
///
/// # Errors
/// [`Error::Options`].
pub(super) fn check_input_shapes(shapes: &[InputShape], names: &[String]) -> Result<(), Error> {
    let is_of = |shape: &InputShape, name: &str| is_of(shape, name, names.len());
    for (index, shape) in shapes.iter().enumerate() {
        let mut of = names.iter().filter(|name| is_of(shape, name));
        let (first, second) = (of.next(), of.next());
        let earlier = shapes.iter().take(index);
        let twice = first.is_some_and(|name| earlier.clone().any(|other| is_of(other, name)));
        let what = match (&shape.name, first) {
            (None, None) => format!("the model has {} inputs", names.len()),
            (Some(name), None) => format!("the model has no input {name:?}"),
            (_, Some(_)) if second.is_some() => "several inputs have this name".into(),
            (_, Some(_)) if twice => "the same input gets a shape twice".into(),
            _ => continue,
        };
        let help = format!("give each input its shape by name; they are {}", list(names));
        return Err(numbered(index, "", what, help));
    }
    Ok(())
}

/// An input whose shape is looked for.
pub(super) struct Wanted<'o> {
    name: String,
    /// Its sizes in messages.
    shown: String,
    /// Where the shape is among those that are given, and its sizes.
    pub(super) given: Option<(usize, &'o [usize])>,
    /// The option to write for it.
    pub(super) way_out: String,
}

impl<'o> Wanted<'o> {
    /// The input of that name, of so many. `sizes` has question marks for those that are to be given.
    pub(super) fn of(options: &'o Options, name: String, inputs: usize, sizes: &str) -> Self {
        let given = options.input_shapes.iter().enumerate().find(|(_, shape)| is_of(shape, &name, inputs));
        let given = given.map(|(index, shape)| (index, &shape.dims[..]));
        let way_out = match inputs {
            1 => format!("input_shape({sizes})"),
            _ => format!("input_shape({name:?}, {sizes})"),
        };
        Wanted { name, shown: sizes.to_owned(), given, way_out }
    }

    /// The sizes of the input: those that are given, if they fit, or else those in the file, with a batch of one. `own` are those in the file: `None` for open ones, and for
    /// all of them where even their number is open. `otherwise` is the other way out.
    pub(super) fn dims(&self, own: Option<&[Option<usize>]>, otherwise: &str) -> Lowered<Vec<usize>> {
        let Wanted { shown, way_out, .. } = self;
        if let Some((_, given)) = self.given {
            let is_own = |(own, given): (&Option<usize>, &usize)| own.is_none_or(|own| own == *given);
            let fits = own.is_none_or(|own| own.len() == given.len() && own.iter().zip(given).all(is_own));
            return match fits {
                true => Ok(given.to_vec()),
                false => Err(self.misfit(format!("{given:?} does not fit {shown} in the file"))),
            };
        }
        let Some(own) = own else {
            let help = format!("state it with {way_out}, or {otherwise}");
            return Err(Refusal::unsupported("its shape is open", help));
        };
        // An open first axis is the batch, of one.
        let size = |(axis, size): (usize, &Option<usize>)| size.or((axis == 0).then_some(1));
        let sizes: Option<Vec<usize>> = own.iter().enumerate().map(size).collect();
        sizes.ok_or_else(|| {
            let help = format!("state them with {way_out}, or {otherwise}");
            Refusal::unsupported(format!("sizes of its shape {shown} are open"), help)
        })
    }

    /// The shape that is given does not fit the file.
    pub(super) fn misfit(&self, what: String) -> Refusal {
        let index = self.given.map_or(0, |(index, _)| index);
        let help = format!("give sizes for the open axes: {}", self.way_out);
        Refusal::Fatal(numbered(index, &format!(" of {:?}", self.name), what, help))
    }
}

fn numbered(index: usize, of: &str, what: String, help: String) -> Error {
    Error::Options(Problem { place: format!("option `input_shape` {}{of}", index + 1), what, help })
}

/// Refuses names of the option `channels_last` that neither an input nor an output has.
///
/// # Errors
/// [`Error::Options`].
pub(super) fn check_channels_last(
    options: &Options,
    inputs: &[String],
    outputs: &[String],
) -> Result<(), Error> {
    let known = |given: &String| inputs.iter().chain(outputs).any(|name| is_named(given, name));
    match options.channels_last.iter().find(|given| !known(given)) {
        None => Ok(()),
        Some(given) => {
            let what = format!("the model has no input or output {given:?}");
            let help = format!("the inputs are {}, the outputs {}", list(inputs), list(outputs));
            Err(wrong("channels_last", what, help))
        }
    }
}

/// Whether an input or output of that name is taken or given channel-last.
pub(super) fn is_channels_last(options: &Options, name: &str) -> bool {
    options.channels_last.iter().any(|given| is_named(given, name))
}

/// The permutations of a tensor of so many axes from channel-first to channel-last, and back.
///
/// # Errors
/// [`Error::Options`] for one without axes behind the channels.
pub(super) fn channel_orders(name: &str, ty: &Type) -> Result<[Vec<usize>; 2], Error> {
    let rank = ty.shape.rank();
    if rank < 3 {
        let what = format!(
            "{name:?} is {}{:?}: it has no channels before other axes",
            ty.dtype.name(),
            ty.shape.dims()
        );
        let help = "name only images [n, c, h, w] and sequences [n, c, w]";
        return Err(wrong("channels_last", what, help));
    }
    let (spatial, last) = ((2..rank).chain([1]), [rank - 1].into_iter().chain(1..rank - 1));
    Ok([[0].into_iter().chain(spatial).collect(), [0].into_iter().chain(last).collect()])
}

/// Makes state of pairs of an output and an input (the option `state`): each is a variable, zero after a reset, which an inference takes from the input's place and leaves in
/// the output's. Neither is an input or output of the model any more. `names` are those of the graph's outputs.
///
/// # Errors
/// [`Error::Options`] for names that the model does not have, inputs that are given twice, pairs that differ in type or shape, and models that nothing would be left of.
pub(super) fn keep_states(graph: &mut Graph, pairs: &[StatePair], names: &[String]) -> Result<(), Error> {
    if pairs.is_empty() {
        return Ok(());
    }
    let inputs: Vec<String> = graph.inputs.iter().map(|&input| graph.value(input).name.clone()).collect();
    let outputs: Vec<(String, ValueId)> = names.iter().cloned().zip(graph.outputs.iter().copied()).collect();
    let mut states: Vec<State> = Vec::new();
    for StatePair { output, input } in pairs {
        let given = |names: &[String], what: &str, name: &str| {
            let found = names.iter().position(|own| is_named(name, own));
            found.ok_or_else(|| {
                wrong(
                    "state",
                    format!("the model has no {what} {name:?}"),
                    format!("they are {}", list(names)),
                )
            })
        };
        let (from, to) = (given(names, "output", output)?, given(&inputs, "input", input)?);
        let (Some((_, next)), Some(&current)) = (outputs.get(from), graph.inputs.get(to)) else {
            return Err(Error::internal("front", "an output has no name"));
        };
        if states.iter().any(|state| state.current == current) {
            let what = format!("the input {input:?} gets two outputs");
            return Err(wrong("state", what, "name each input only once"));
        }
        let (ty, left) = (graph.ty(current), graph.ty(*next));
        if ty != left {
            let what = format!(
                "the output {output:?} is {}, but the input {input:?} is {}",
                describe(left),
                describe(ty)
            );
            return Err(wrong(
                "state",
                what,
                "the output and the input of a state need the same type and shape",
            ));
        }
        states.push(State { name: input.clone(), current, next: *next, init: Data::zeros(ty) });
    }
    let is_kept = |name: &String| pairs.iter().any(|pair| is_named(&pair.output, name));
    graph.outputs = outputs.iter().filter(|(name, _)| !is_kept(name)).map(|(_, value)| *value).collect();
    graph.inputs.retain(|input| states.iter().all(|state| state.current != *input));
    for (what, left) in [("inputs", &graph.inputs), ("outputs", &graph.outputs)] {
        if left.is_empty() {
            return Err(wrong("state", format!("no {what} would remain"), "leave the model at least one"));
        }
    }
    for state in states {
        graph.value_mut(state.current).def = ValueDef::State;
        graph.states.push(state);
    }
    Ok(())
}

/// Refuses functions of custom operators that a model does not have.
///
/// # Errors
/// [`Error::Options`].
pub(super) fn check_custom_ops(graph: &Graph, options: &Options) -> Result<(), Error> {
    if options.custom_ops.is_empty() {
        return Ok(());
    }
    let name = |node: &Node| match &node.op {
        Op::Custom { name, .. } => Some(name.clone()),
        _ => None,
    };
    let names: Vec<String> = graph.nodes().filter_map(|(_, node)| name(node)).collect();
    match options.custom_ops.iter().find(|bound| !names.contains(&bound.name)) {
        Some(bound) => Err(no_custom_op(&bound.name, &names)),
        None => Ok(()),
    }
}

/// A function is given for a custom operator that is not among those of the model.
pub(super) fn no_custom_op(name: &str, names: &[String]) -> Error {
    let mut listed: Vec<String> = Vec::new();
    for name in names.iter().map(|name| format!("{name:?}")) {
        if listed.len() < 8 && !listed.contains(&name) {
            listed.push(name);
        }
    }
    Error::Options(Problem {
        place: format!("option `custom_op({name:?}, …)`"),
        what: format!("the model has no custom operator {name:?}"),
        help: match listed.is_empty() {
            true => "it has no custom operators: remove the option".into(),
            false => format!("it has {}", listed.join(", ")),
        },
    })
}

fn describe(ty: &Type) -> String {
    let scale = ty.scale().map(|scale| format!(" with scale {scale} and zero point {}", ty.zero_point()));
    format!("{}{:?}{}", ty.dtype.name(), ty.shape.dims(), scale.unwrap_or_default())
}

fn list(names: &[String]) -> String {
    let list: Vec<String> = names.iter().take(8).map(|name| format!("{name:?}")).collect();
    list.join(", ")
}

fn wrong(option: &str, what: String, help: impl Into<String>) -> Error {
    Error::Options(Problem { place: format!("option `{option}`"), what, help: help.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_ir::DType;

    fn pair(output: &str, input: &str) -> StatePair {
        StatePair { output: output.into(), input: input.into() }
    }

    fn step() -> Graph {
        let text = "graph \"step\" {
            input %x \"x\": i8[2] q(0.5 : 3)
            input %h \"h\": i8[2] q(0.5 : 3)
            input %k \"k\": f32[2]
            %y: i8[2] q(0.5 : 3) = binary(%x, %h) {function = max, rescale = real, clamp = -128..=127}
            %f: f32[2] = dequantize(%y)
            return %f, %y
        }";
        Graph::parse(text).unwrap()
    }

    fn names() -> Vec<String> {
        ["f", "next_h"].map(String::from).to_vec()
    }

    #[test]
    fn a_pair_becomes_a_state() {
        let mut graph = step();
        keep_states(&mut graph, &[pair("next_h", "h")], &names()).unwrap();
        assert_eq!(kiln_ir::verify::verify(&graph), Ok(()));
        assert_eq!((graph.inputs.len(), graph.outputs.len(), graph.states.len()), (2, 1, 1));
        assert_eq!(graph.states[0].init, Data::from_i8(&[3, 3]));
        let mut machine = kiln_interp::Machine::new(&graph);
        let mut run = |x: [i8; 2]| {
            let inputs = [Data::from_i8(&x), Data::from_f32(&[0.0; 2])];
            machine.run(&inputs).unwrap().remove(0).to_f32()
        };
        // The greatest so far, above zero.
        assert_eq!([run([-9, 5]), run([7, 4]), run([5, 9])], [[0.0, 1.0], [2.0, 1.0], [2.0, 3.0]]);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let refused = |pairs: &[StatePair]| {
            let message = keep_states(&mut step(), pairs, &names()).unwrap_err().to_string();
            assert!(message.starts_with("option `state`: "), "{message}");
            message
        };
        assert!(refused(&[pair("h_out", "h")])
            .contains("no output \"h_out\"\n    help: they are \"f\", \"next_h\""));
        assert!(refused(&[pair("next_h", "next_h")]).contains("no input \"next_h\""));
        assert!(refused(&[pair("next_h", "h"), pair("next_h", "h")]).contains("\"h\" gets two outputs"));
        let types = refused(&[pair("f", "h")]);
        assert!(types.contains("\"f\" is f32[2], but the input \"h\" is i8[2] with scale 0.5"), "{types}");
        assert!(refused(&[pair("f", "k"), pair("next_h", "h")]).contains("no outputs would remain"));
    }

    #[test]
    fn orders_of_axes() {
        let orders = |dims: &[usize]| channel_orders("x", &Type::plain(DType::F32, dims));
        assert_eq!(orders(&[1, 3, 8, 9]).unwrap(), [vec![0, 2, 3, 1], vec![0, 3, 1, 2]]);
        assert_eq!(orders(&[1, 3, 8]).unwrap(), [vec![0, 2, 1], vec![0, 2, 1]]);
        let message = orders(&[1, 64]).unwrap_err().to_string();
        assert!(message.contains("\"x\" is f32[1, 64]") && message.contains("[n, c, h, w]"), "{message}");
    }
}
