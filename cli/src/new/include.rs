//! The model of a new crate: how it is included, and with which options tests compare it.

use super::operators;
use anyhow::{bail, Result};
use kiln_codegen::{Compiled, Door, Options};

/// Refuses options that make no sense in a new crate.
///
/// # Errors
/// Says why, and what to do.
pub(super) fn check(options: &Options) -> Result<()> {
    if options.target.is_some() {
        bail!(
            "the crate is compiled for the board's processor\n    help: leave out --target; --board says it"
        );
    }
    operators::check(options)
}

/// The call of `include_model!`.
pub(super) fn include_model(compiled: &Compiled, file: &str) -> String {
    call(compiled, file, &compiled.options)
}

/// The same for tests on this machine, where the board's budgets mean nothing; none where there are no budgets.
pub(super) fn for_tests(compiled: &Compiled, file: &str) -> Option<String> {
    let options = Options { ram: None, cycles: None, flash: None, ..compiled.options.clone() };
    (options != compiled.options).then(|| call(compiled, file, &options))
}

fn call(compiled: &Compiled, file: &str, options: &Options) -> String {
    let model = format!("pub {} = \"models/{file}\"", compiled.type_name());
    // The name stands in front, and the target is that of the crate.
    let given = options.given().into_iter().filter(|(option, _)| !matches!(*option, "name" | "target"));
    let arguments: Vec<String> = std::iter::once(model)
        .chain(given.map(|(option, value)| Door::Macro.option(option, &value)))
        .collect();
    let line = format!("kiln::include_model!({});", arguments.join(", "));
    match line.len() <= 100 {
        true => line,
        false => format!("kiln::include_model!(\n    {},\n);", arguments.join(",\n    ")),
    }
}

/// What `assert_equivalent!` has to know of the options: what changes the model's meaning or its inputs.
pub(super) fn equivalence(compiled: &Compiled) -> Vec<String> {
    let lists = [("input_shape", "input_shapes"), ("channels_last", "channels_last"), ("state", "states")];
    let given = compiled.options.given();
    let single = ["io", "reference", "qdq", "qdq_drift", "float", "features"];
    let mut arguments: Vec<String> = given
        .iter()
        .filter(|(option, _)| single.contains(option))
        .map(|(option, value)| match *option {
            "qdq_drift" => format!("{option} = Some({value})"),
            _ => format!("{option} = {value:?}"),
        })
        .collect();
    for (option, field) in lists {
        let values: Vec<&str> =
            given.iter().filter(|(name, _)| *name == option).map(|(_, value)| value.as_str()).collect();
        if !values.is_empty() {
            arguments.push(format!("{field} = &{values:?}"));
        }
    }
    arguments
}
