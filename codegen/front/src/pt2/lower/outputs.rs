//! Outputs, by the names that the structure of the model's result gives them.

use super::{short, Arg, Importer, Refusal, OPERATOR_BYTES};
use crate::onnx::lower::describe;
use crate::pt2::program::OutputSpec;
use kiln_ir::error::Error;
use kiln_ir::{DType, Data, Type, ValueDef};
use serde::Deserialize;

/// The structure of a result: a tuple, list or dictionary, or a tensor.
#[derive(Deserialize)]
struct Structure {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Of a dictionary: its keys, as JSON in a text.
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    children_spec: Vec<Structure>,
}

/// A name for each tensor in a dictionary, of its keys and places: `boxes`, `boxes_0`.
fn names(structure: &Structure, path: &mut Vec<String>, in_dict: bool, names: &mut Vec<Option<String>>) {
    let Some(kind) = &structure.kind else {
        names.push(in_dict.then(|| path.join("_")));
        return;
    };
    let is_dict = kind.ends_with("dict") || kind.ends_with("OrderedDict");
    let keys = structure.context.as_deref().filter(|_| is_dict);
    let keys: Vec<serde_json::Value> =
        keys.and_then(|keys| serde_json::from_str(keys).ok()).unwrap_or_default();
    for (k, child) in structure.children_spec.iter().enumerate() {
        path.push(match keys.get(k) {
            Some(serde_json::Value::String(key)) => short(key),
            Some(serde_json::Value::Number(key)) => key.to_string(),
            _ => k.to_string(),
        });
        self::names(child, path, in_dict || !keys.is_empty(), names);
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
        self.program.graph_module.signature.output_specs.iter().filter_map(user)
    }

    /// Names of the outputs.
    pub(super) fn output_names(&self) -> Vec<String> {
        let calls = &self.program.graph_module.module_call_graph;
        let spec = calls.first().and_then(|call| call.signature.as_ref()).map(|call| call.out_spec.as_str());
        let mut given = Vec::new();
        if let Some(Ok((_, structure))) = spec.map(serde_json::from_str::<(i64, Structure)>) {
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
        for spec in &self.program.graph_module.signature.output_specs {
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
