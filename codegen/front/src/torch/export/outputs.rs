//! Outputs, by the names that the structure of the model's result gives them.

use super::program::{OutputSpec, Program, Structure};
use crate::torch::lower::{short, Importer};
use crate::torch::program::Arg;
use crate::Refusal;
use kiln_ir::error::Error;

/// A name for each tensor in a dictionary, of its keys and places: `boxes`, `boxes_0`.
fn paths(structure: &Structure, path: &mut Vec<String>, in_dict: bool, names: &mut Vec<Option<String>>) {
    if structure.kind.is_none() {
        names.push(in_dict.then(|| short(&path.join("_"))));
        return;
    }
    for (k, child) in structure.children.iter().enumerate() {
        path.push(structure.keys.get(k).map_or_else(|| k.to_string(), |key| short(key)));
        paths(child, path, in_dict || !structure.keys.is_empty(), names);
        path.pop();
    }
}

pub(super) fn user_outputs(program: &Program) -> impl Iterator<Item = &Arg> {
    let user = |spec| match spec {
        &OutputSpec::User(Arg::None) => None,
        OutputSpec::User(arg) => Some(arg),
        _ => None,
    };
    program.outputs.iter().filter_map(user)
}

/// Names of the outputs.
pub(super) fn names(program: &Program) -> Vec<String> {
    let mut given = Vec::new();
    if let Some(structure) = program.out_spec.as_deref().and_then(Structure::of) {
        paths(&structure, &mut Vec::new(), false, &mut given);
    }
    if given.len() != user_outputs(program).count() {
        given.clear();
    }
    let mut given = given.into_iter();
    let own = |(k, arg): (usize, &Arg)| match arg {
        Arg::Tensor(name) | Arg::Computed(name) => short(name),
        _ => format!("output_{k}"),
    };
    user_outputs(program)
        .enumerate()
        .map(|output| given.next().flatten().unwrap_or_else(|| own(output)))
        .collect()
}

impl<'p> Importer<'_, 'p> {
    /// Adds the outputs, and gives their names.
    pub(super) fn outputs(&mut self, program: &'p Program) -> Result<Vec<String>, Error> {
        let names = names(program);
        for (name, arg) in names.iter().zip(user_outputs(program)) {
            self.output(name, arg)?;
        }
        for spec in &program.outputs {
            match spec {
                OutputSpec::Buffer { arg, of } => {
                    self.states.retain(|_, state| *state != of);
                    let value = self.slots.get(arg.as_str()).copied().flatten().ok_or(Refusal::Follows);
                    self.next(of, value)?;
                }
                OutputSpec::Other(kind) => {
                    let refusal =
                        Refusal::unsupported("it cannot be compiled", "export the model for inference");
                    self.means.report.refuse(format!("output of kind {}", short(kind)), None, refusal)?;
                }
                OutputSpec::User(_) | OutputSpec::Silent => {}
            }
        }
        self.states()?;
        match names.is_empty() {
            true => Err(Error::malformed("program", "it has no outputs")),
            false => Ok(names),
        }
    }
}
