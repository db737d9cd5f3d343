//! Inputs and outputs, by the names of their layers.

use super::arguments::dtype;
use super::run::Names;
use super::{short, Importer, Slot, LAYER_BYTES};
use crate::interface::{self, Wanted};
use crate::keras::model::{Kind, Layer, Link, Model};
use crate::keras::value::Value;
use crate::onnx::lower::check_size;
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{DType, Shape, Type};
use std::collections::HashSet;

/// An input: its name, its shape with `None` for open axes, and its element type.
pub(super) type Input = (String, Vec<Option<usize>>, String);

/// The shape that a layer of inputs has, or the first layer of a model without one.
fn shape(config: &Value) -> Option<Vec<Option<usize>>> {
    let keys = ["batch_shape", "batch_input_shape"];
    let list = keys.iter().map(|key| config.get(key)).find(|value| !value.is_null())?;
    sizes(list)
}

fn sizes(list: &Value) -> Option<Vec<Option<usize>>> {
    let Value::List(list) = list else { return None };
    let size = |value: &Value| match value {
        Value::Null => Some(None),
        value => super::cx::size(value).map(Some),
    };
    list.iter().map(size).collect()
}

/// Different names: those that come twice get a number.
fn distinct(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut distinct = Vec::new();
    for (k, name) in names.into_iter().enumerate() {
        let name = if seen.contains(&name) { format!("{name}_{k}") } else { name };
        seen.insert(name.clone());
        distinct.push(name);
    }
    distinct
}

fn input(layer: &Layer<'_>) -> Lowered<Input> {
    let Some(dims) = shape(layer.config) else {
        return Err(malformed!("input \"{}\" has no shape", short(layer.name)));
    };
    let element = layer.config.get("dtype");
    let element = match element {
        Value::Text(text) => text.to_string(),
        policy => policy.get("config").get("name").text().to_owned(),
    };
    let element = if layer.is_input() && !element.is_empty() { element } else { "float32".into() };
    Ok((short(layer.name), dims, element))
}

impl<'m> Importer<'m, '_> {
    /// The inputs that a model has.
    pub(super) fn wanted(&self, model: &Model<'_>) -> Lowered<Vec<Input>> {
        let mut inputs = match &model.kind {
            Kind::Functional { inputs, .. } => {
                let of = |link: &Link<'_>| {
                    let layer = model.layers.iter().find(|layer| layer.name == link.layer);
                    layer.map_or_else(
                        || Err(malformed!("it has no layer \"{}\", which is an input", short(link.layer))),
                        input,
                    )
                };
                inputs.iter().map(of).collect::<Lowered<Vec<Input>>>()?
            }
            Kind::Sequential { built } => {
                let Some(first) = model.layers.first() else {
                    return Err(malformed!("the model has no layers"));
                };
                let own = innermost(first);
                match (shape(own.config), sizes(built)) {
                    (Some(_), _) => vec![input(&own)?],
                    (None, Some(dims)) => vec![("input".into(), dims, "float32".into())],
                    (None, None) => {
                        let help = "call the model once, or begin it with an Input, before it is saved";
                        return Err(Refusal::unsupported("the shape of its input is not known", help));
                    }
                }
            }
        };
        let names = distinct(inputs.iter().map(|(name, _, _)| name.clone()).collect());
        inputs.iter_mut().zip(names).for_each(|(input, name)| input.0 = name);
        Ok(inputs)
    }

    /// Names of a model's outputs.
    pub(super) fn output_names(&self, model: &Model<'_>) -> Vec<String> {
        distinct(match &model.kind {
            Kind::Functional { outputs, .. } => outputs.iter().map(|link| short(link.layer)).collect(),
            Kind::Sequential { .. } => {
                model.layers.last().map(|layer| short(layer.name)).into_iter().collect()
            }
        })
    }

    /// Adds all inputs to the graph.
    pub(super) fn inputs(&mut self, wanted: Vec<Input>, names: &Names) -> Result<Vec<Option<Slot>>, Error> {
        let listed: Vec<String> = names.inputs.iter().take(64).cloned().collect();
        interface::check_input_shapes(&self.shared.options.input_shapes, &listed)?;
        interface::check_channels_last(self.shared.options, &listed, &names.outputs)?;
        let count = wanted.len();
        let mut slots = Vec::new();
        for (name, dims, element) in wanted {
            self.means.budget.charge(LAYER_BYTES)?;
            slots.push(match self.input_type(&name, &dims, &element, count) {
                Ok(ty) => Some(Slot::plain(self.means.input(&name, ty)?)),
                Err(refusal) => {
                    self.means.report.refuse(format!("input \"{name}\""), None, refusal)?;
                    None
                }
            });
        }
        Ok(slots)
    }

    fn input_type(&self, name: &str, dims: &[Option<usize>], element: &str, inputs: usize) -> Lowered<Type> {
        let dtype = dtype(element)?.unwrap_or(DType::F32);
        let size = |(axis, size): (usize, &Option<usize>)| match size {
            Some(size) => size.to_string(),
            None if axis == 0 => "1".into(),
            None => "?".into(),
        };
        let shown = format!("[{}]", dims.iter().enumerate().map(size).collect::<Vec<_>>().join(", "));
        let input = Wanted::of(self.shared.options, name.to_owned(), inputs, &shown);
        let dims = input.dims(Some(dims), "build the model with fixed shapes")?;
        check_size(dtype, &dims)?;
        if dims.contains(&0) {
            let what = format!("its shape {dims:?} has no elements");
            return Err(Refusal::unsupported(what, "build the model without it"));
        }
        Ok(Type { dtype, shape: Shape(dims), quant: None })
    }

    /// Adds the outputs.
    pub(super) fn outputs(&mut self, results: Vec<Option<Slot>>, names: &Names) -> Result<(), Error> {
        let is_open = !self.means.report.is_empty();
        if results.is_empty() && !is_open {
            return Err(Error::malformed("model", "it has no outputs"));
        }
        for (k, slot) in results.into_iter().enumerate() {
            let Some(slot) = slot else { continue };
            self.means.budget.charge(LAYER_BYTES)?;
            let name = names.outputs.get(k).cloned().unwrap_or_else(|| format!("output_{k}"));
            self.means.add_output(&name, Ok(slot.value))?;
        }
        Ok(())
    }
}

/// The first layer of the models that a model begins with.
fn innermost<'v>(layer: &Layer<'v>) -> Layer<'v> {
    let mut layer = *layer;
    for _ in 0..crate::keras::variables::DEEPEST {
        if !layer.is_model() || shape(layer.config).is_some() {
            break;
        }
        match Model::read(&layer).ok().and_then(|model| model.layers.first().copied()) {
            Some(first) => layer = first,
            None => break,
        }
    }
    layer
}
