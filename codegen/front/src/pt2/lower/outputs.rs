//! Outputs, by the names that the structure of the model's result gives them.

use super::{short, Arg, Importer, Refusal, OPERATOR_BYTES};
use crate::onnx::lower::describe;
use crate::pt2::program::{OutputSpec, Structure};
use kiln_ir::error::Error;
use kiln_ir::{DType, Data, Type, ValueDef};

/// A name for each tensor in a dictionary, of its keys and places: `boxes`, `boxes_0`.
fn names(structure: &Structure, path: &mut Vec<String>, in_dict: bool, names: &mut Vec<Option<String>>) {
    if structure.kind.is_none() {
        names.push(in_dict.then(|| short(&path.join("_"))));
        return;
    }
    for (k, child) in structure.children.iter().enumerate() {
        path.push(structure.keys.get(k).map_or_else(|| k.to_string(), |key| short(key)));
        self::names(child, path, in_dict || !structure.keys.is_empty(), names);
        path.pop();
    }
}

impl<'p> Importer<'_, 'p> {
    pub(super) fn user_outputs(&self) -> impl Iterator<Item = &'p Arg> + use<'p> {
        let user = |spec: &'p OutputSpec| match spec {
            OutputSpec::User(Arg::None) => None,
            OutputSpec::User(arg) => Some(arg),
            _ => None,
        };
        self.program.outputs.iter().filter_map(user)
    }

    /// Names of the outputs.
    pub(super) fn output_names(&self) -> Vec<String> {
        let mut given = Vec::new();
        if let Some(structure) = self.program.out_spec.as_deref().and_then(Structure::of) {
            names(&structure, &mut Vec::new(), false, &mut given);
        }
        if given.len() != self.user_outputs().count() {
            given.clear();
        }
        let mut given = given.into_iter();
        let own = |(k, arg): (usize, &Arg)| match arg {
            Arg::Tensor(name) | Arg::Computed(name) => short(name),
            _ => format!("output_{k}"),
        };
        self.user_outputs()
            .enumerate()
            .map(|output| given.next().flatten().unwrap_or_else(|| own(output)))
            .collect()
    }

    /// Adds the outputs, and gives their names.
    pub(super) fn outputs(&mut self) -> Result<Vec<String>, Error> {
        let names = self.output_names();
        let outputs: Vec<&'p Arg> = self.user_outputs().collect();
        for (name, arg) in names.iter().zip(outputs) {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let value = match arg {
                Arg::Tensor(of) | Arg::Computed(of) => self
                    .refresh(of)
                    .and_then(|()| self.slots.get(of.as_str()).copied().flatten().ok_or(Refusal::Follows)),
                &Arg::Int(number) => {
                    let ty = Type::plain(DType::I64, &[]);
                    Ok(self.means.graph.add_const(name.as_str(), ty, Data::from_ints(DType::I64, [number])))
                }
                _ => Err(Refusal::unsupported("it is no tensor", "remove it from the outputs")),
            };
            let value = value.and_then(|value| {
                let ty = self.means.graph.ty(value);
                match ty.shape.numel() {
                    0 => {
                        let what = format!("it is {} and has no elements", describe(ty));
                        Err(Refusal::unsupported(what, "remove it from the outputs"))
                    }
                    _ => Ok(value),
                }
            });
            match value {
                Ok(value) => {
                    let output = self.means.output(name, value)?;
                    let value = self.means.graph.value_mut(output);
                    if matches!(value.def, ValueDef::Node(_)) {
                        value.name.clone_from(name);
                    }
                    self.means.graph.outputs.push(output);
                }
                Err(refusal) => self.means.report.refuse(format!("output \"{name}\""), None, refusal)?,
            }
        }
        for spec in &self.program.outputs {
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
