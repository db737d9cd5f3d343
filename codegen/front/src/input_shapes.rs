//! Sizes of inputs that a file leaves open: the option `input_shape`.

use kiln_ir::error::{Error, Problem};
use kiln_ir::options::InputShape;

/// Whether a shape is given for the input of that name, of so many inputs. Names may be given without what exporters put around them:
/// `audio` of `serving_default_audio:0`.
pub(super) fn is_of(shape: &InputShape, name: &str, inputs: usize) -> bool {
    match &shape.name {
        None => inputs == 1,
        Some(given) => is_named(given, name),
    }
}

/// Whether the input or output of that name is meant.
pub(super) fn is_named(given: &str, name: &str) -> bool {
    let bare = name.strip_prefix("serving_default_").unwrap_or(name);
    given == name || given == bare.strip_suffix(":0").unwrap_or(bare)
}

/// Refuses shapes of inputs that the model does not have, and several of one input.
///
/// # Errors
/// [`Error::Options`].
pub(super) fn check(shapes: &[InputShape], names: &[String]) -> Result<(), Error> {
    let is_of = |shape: &InputShape, name: &str| is_of(shape, name, names.len());
    let list: Vec<String> = names.iter().take(8).map(|name| format!("{name:?}")).collect();
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
        return Err(Error::Options(Problem {
            place: format!("option `input_shape` {}", index + 1),
            what,
            help: format!("give each shape with the name of its input; the inputs are {}", list.join(", ")),
        }));
    }
    Ok(())
}
