//! Inputs, outputs and states of the module.

use super::{Frame, Machine, State, Value};
use crate::interface::{self, Wanted};
use crate::onnx::lower::check_size;
use crate::torch::lower::OPERATOR_BYTES;
use crate::torch::program::Arg;
use crate::torch::script::short;
use crate::torch::script::syntax::{parameters, Parameter};
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{DType, Shape, Type};

/// Deepest nesting of results.
const DEEPEST: usize = 8;

/// An input: a tensor, or several in a list or tuple.
pub(in crate::torch::script) enum Input {
    Tensor(String),
    /// It may be left out.
    Optional(String),
    Several(Vec<String>),
    /// A number or text.
    Other,
}

/// What a parameter is. Of a list, only those names tell how many there are for which a shape is given.
pub(in crate::torch::script) fn input(parameter: &Parameter<'_>, is_given: impl Fn(&str) -> bool) -> Input {
    let name = short(parameter.name);
    let kind = parameter.kind.as_str();
    let inside = |prefix: &str| kind.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(']'));
    let numbered = |k: usize| format!("{name}_{k}");
    match kind {
        "Tensor" => Input::Tensor(name),
        "Optional[Tensor]" => Input::Optional(name),
        "List[Tensor]" => {
            Input::Several((0..).map(numbered).take(64).take_while(|name| is_given(name)).collect())
        }
        _ => match inside("Tuple[") {
            Some(parts) if parts.split(", ").all(|part| part == "Tensor") => {
                Input::Several((0..parts.split(", ").count()).map(numbered).collect())
            }
            _ => Input::Other,
        },
    }
}

impl<'p> Machine<'_, 'p> {
    /// Executes the module, and gives the names of outputs.
    pub(super) fn run(&mut self) -> Result<Vec<String>, Error> {
        match self.forward() {
            Ok(names) => Ok(names),
            Err(Refusal::Follows) if !self.importer.means.report.is_empty() => Ok(Vec::new()),
            Err(Refusal::Follows) => Err(Error::malformed(self.shown_place(), "it needs what is not known")),
            Err(refusal) => {
                let place = self.shown_place();
                self.importer.means.report.refuse(place, None, refusal)?;
                Ok(Vec::new())
            }
        }
    }

    fn forward(&mut self) -> Lowered<Vec<String>> {
        let root = self.model.root();
        self.paths.insert(root, "");
        let (class, place) = self.class(root)?;
        let method = place.method("forward").ok_or_else(|| malformed!("{class} has no method forward"))?;
        self.place = Some(method);
        let text = method.text();
        let list = parameters(text)?;
        let mut given = vec![Value::Object(root)];
        let options = self.importer.options;
        let is_given =
            |name: &str| options.input_shapes.iter().any(|shape| shape.name.as_deref() == Some(name));
        let inputs: Vec<Input> = list.iter().skip(1).map(|parameter| input(parameter, is_given)).collect();
        let names: Vec<String> = (inputs.iter())
            .flat_map(|input| match input {
                Input::Tensor(name) => vec![name.clone()],
                Input::Optional(name) if is_given(name) => vec![name.clone()],
                Input::Several(names) => names.clone(),
                _ => Vec::new(),
            })
            .take(64)
            .collect();
        interface::check_input_shapes(&options.input_shapes, &names)?;
        for (parameter, input) in list.iter().skip(1).zip(&inputs) {
            let value = match input {
                Input::Tensor(name) => self.input(name, names.len())?,
                Input::Optional(name) if is_given(name) => self.input(name, names.len())?,
                Input::Several(all) => {
                    let all =
                        all.iter().map(|name| self.input(name, names.len())).collect::<Lowered<Vec<_>>>()?;
                    if parameter.kind.starts_with("List") {
                        self.list(all)?
                    } else {
                        self.tuple(all)?
                    }
                }
                Input::Optional(_) => Value::None,
                Input::Other => match &parameter.default {
                    Some(default) => self.expression(&mut Frame::new(), default)?,
                    None => {
                        let name = short(parameter.name);
                        let what = format!("the input \"{name}\" is no tensor: {}", short(&parameter.kind));
                        return Err(Refusal::unsupported(
                            what,
                            "use only tensors as inputs, or give it a default",
                        ));
                    }
                },
            };
            given.push(value);
        }
        if !self.importer.means.report.is_empty() {
            return Err(Refusal::Follows);
        }
        let result = self.run_method(root, "forward", given, Vec::new())?;
        self.place = None;
        self.modules.clear();
        let mut outputs = Vec::new();
        self.flatten(result, &mut Vec::new(), false, &mut outputs, 0)?;
        let outputs: Vec<(String, Value<'p>)> = outputs;
        let names: Vec<String> = outputs.iter().map(|(name, _)| name.clone()).collect();
        malformed_if!(names.is_empty(), "it has no outputs");
        interface::check_channels_last(options, &self.input_names(&inputs), &names)?;
        for (name, value) in outputs {
            let arg = self.output_argument(value)?;
            self.importer.output(&name, arg)?;
        }
        self.finish_states()?;
        Ok(names)
    }

    fn input_names(&self, inputs: &[Input]) -> Vec<String> {
        let names = inputs.iter().flat_map(|input| match input {
            Input::Tensor(name) | Input::Optional(name) => vec![name.clone()],
            Input::Several(names) => names.clone(),
            Input::Other => Vec::new(),
        });
        names.take(64).collect()
    }

    fn output_argument(&mut self, value: Value<'p>) -> Lowered<&'p Arg> {
        let arg = match value {
            Value::Tensor(name) | Value::Scalar(name) => Arg::Tensor(name.to_owned()),
            Value::Int(number) => Arg::Int(number),
            _ => Arg::Other,
        };
        // A node that nobody lowers holds it.
        let node = crate::torch::program::Node { outputs: vec![arg], ..Default::default() };
        let node: &'p _ = self.ground.nodes.add(node);
        Ok(&node.outputs[0])
    }

    fn input(&mut self, name: &str, inputs: usize) -> Lowered<Value<'p>> {
        self.importer.means.budget.charge(OPERATOR_BYTES)?;
        let place = format!("input \"{name}\"");
        let name = self.keep(name.to_owned())?;
        malformed_if!(!self.names.insert(name), "there is another input of that name");
        let value = match self.input_type(name, inputs) {
            Ok(ty) => Some(self.importer.means.input(name, ty)?),
            Err(refusal) => {
                self.importer.means.report.refuse(place, None, refusal)?;
                None
            }
        };
        self.importer.slots.insert(name, value);
        self.of_inputs.insert(name, vec![name]);
        self.dense.insert(name);
        Ok(Value::Tensor(name))
    }

    /// The type of an input: its shape is given by an option. Its elements are floats, where the code does not use them as something else.
    fn input_type(&self, name: &str, inputs: usize) -> Lowered<Type> {
        let input = Wanted::of(self.importer.options, name.to_owned(), inputs, "[1, 3, 32, 32]");
        let Some((_, dims)) = input.given else {
            let help = format!("state it with the option, as in {}", input.way_out);
            return Err(Refusal::unsupported("TorchScript does not state its shape", help));
        };
        let dtype = self.assumed.inputs.get(name).copied().unwrap_or(DType::F32);
        check_size(dtype, dims)?;
        malformed_if!(dims.contains(&0), "its shape {dims:?} has no elements");
        Ok(Type { dtype, shape: Shape(dims.to_vec()), quant: None })
    }

    /// The tensors of a result, with names: of tuples their own, of dictionaries the keys and places.
    fn flatten(
        &mut self,
        value: Value<'p>,
        path: &mut Vec<String>,
        in_dict: bool,
        all: &mut Vec<(String, Value<'p>)>,
        depth: usize,
    ) -> Lowered {
        self.spend(1)?;
        self.importer.means.budget.charge(OPERATOR_BYTES)?;
        malformed_if!(depth > DEEPEST, "its result is nested too deep");
        if let Some(pairs) = self.pairs(value).map(<[_]>::to_vec) {
            for (key, value) in pairs {
                path.push(self.shown(key)?);
                self.flatten(value, path, true, all, depth + 1)?;
                path.pop();
            }
            return Ok(());
        }
        if self.slice_of(value).is_some() {
            for (k, value) in self.items(value)?.into_iter().enumerate() {
                path.push(k.to_string());
                self.flatten(value, path, in_dict, all, depth + 1)?;
                path.pop();
            }
            return Ok(());
        }
        let name = match value {
            Value::None => return Ok(()),
            _ if in_dict => short(&path.join("_")),
            Value::Tensor(name) | Value::Scalar(name) => short(name),
            _ => format!("output_{}", all.len()),
        };
        all.push((name, value));
        Ok(())
    }

    /// Lets states become what the attributes are in the end.
    fn finish_states(&mut self) -> Lowered {
        for State { of, path, name } in std::mem::take(&mut self.states) {
            // Who shares its memory would change, too.
            let file = self.files.iter().find(|(_, own)| *own == name).map(|(file, _)| *file);
            let mut sharing = self.files.iter().filter(|(other, _)| Some(*other) == file);
            if sharing.nth(1).is_some() {
                let what = format!(
                    "\"{}\" is written into, and shares its memory with another attribute",
                    short(path)
                );
                return Err(Refusal::unsupported(what, "give each buffer memory of its own: clone it"));
            }
            let last = of.and_then(|key| self.attributes.get(&key)).copied();
            let name = match last {
                Some(Value::Tensor(last)) => last,
                _ => name,
            };
            let value = self
                .importer
                .refresh(name)
                .and_then(|()| self.importer.slots.get(name).copied().flatten().ok_or(Refusal::Follows));
            self.importer.next(&short(path), value)?;
        }
        Ok(())
    }
}
