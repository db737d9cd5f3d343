//! Arguments of calls, with tensors in the place of links.

use super::Slot;
use crate::keras::model::{link, Call, Link};
use crate::keras::value::Value;
use crate::onnx::lower::NodeCx;
use crate::Lowered;
use kiln_ir::DType;

/// An argument.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    Slot(Slot),
    List(Vec<Arg>),
    Value(Value),
}

/// All arguments of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) args: Vec<Arg>,
    pub(super) kwargs: Vec<(Box<str>, Arg)>,
}

impl Arg {
    fn tensors(&self, all: &mut Vec<Slot>) {
        match self {
            Arg::Slot(slot) => all.push(*slot),
            Arg::List(list) => list.iter().for_each(|arg| arg.tensors(all)),
            Arg::Value(_) => {}
        }
    }
}

impl Given {
    /// One tensor.
    pub(super) fn of(slot: Slot) -> Given {
        Given { args: vec![Arg::Slot(slot)], kwargs: Vec::new() }
    }

    /// The argument at a place, or of that name.
    pub(super) fn get(&self, place: usize, name: &str) -> Option<&Arg> {
        let named = self.kwargs.iter().find(|(own, _)| &**own == name).map(|(_, arg)| arg);
        let arg = named.or_else(|| self.args.get(place));
        arg.filter(|arg| !matches!(arg, Arg::Value(Value::Null)))
    }

    /// The tensors of the first argument.
    pub(super) fn first(&self) -> Vec<Slot> {
        let mut all = Vec::new();
        // Whatever it is called: `inputs`, `sequences`, `x`.
        let first = self.args.first().or_else(|| self.kwargs.first().map(|(_, arg)| arg));
        if let Some(first) = first {
            first.tensors(&mut all);
        }
        all
    }

    /// All tensors that are no masks.
    pub(super) fn tensors(&self) -> Vec<Slot> {
        let mut all = Vec::new();
        self.args.iter().for_each(|arg| arg.tensors(&mut all));
        let own = self.kwargs.iter().filter(|(name, _)| !name.contains("mask"));
        own.for_each(|(_, arg)| arg.tensors(&mut all));
        all
    }
}

/// The arguments of a call.
pub(super) fn resolved<'l>(
    cx: &mut NodeCx<'_, '_, '_>,
    call: &'l Call,
    find: &dyn Fn(Link<'l>) -> Lowered<Slot>,
) -> Lowered<Given> {
    let args = call.args.iter().map(|arg| argument(cx, arg, find)).collect::<Lowered<_>>()?;
    let mut kwargs = Vec::new();
    for (name, value) in &call.kwargs {
        kwargs.push((name.clone(), argument(cx, value, find)?));
    }
    Ok(Given { args, kwargs })
}

fn argument<'l>(
    cx: &mut NodeCx<'_, '_, '_>,
    value: &'l Value,
    find: &dyn Fn(Link<'l>) -> Lowered<Slot>,
) -> Lowered<Arg> {
    if let Some(link) = link(value) {
        return Ok(Arg::Slot(find(link)?));
    }
    if let Some(constant) = constant(cx, value)? {
        return Ok(Arg::Slot(constant));
    }
    match value {
        Value::List(list) => {
            list.iter().map(|value| argument(cx, value, find)).collect::<Lowered<_>>().map(Arg::List)
        }
        // A dictionary of tensors counts as a list, by keys.
        Value::Object(entries) if value.get("class_name").is_null() => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            let list = entries.into_iter().map(|(_, value)| argument(cx, value, find));
            list.collect::<Lowered<_>>().map(Arg::List)
        }
        _ => Ok(Arg::Value(value.clone())),
    }
}

/// A tensor whose numbers stand in the configuration.
fn constant(cx: &mut NodeCx<'_, '_, '_>, value: &Value) -> Lowered<Option<Slot>> {
    if !matches!(value.get("class_name").text(), "__tensor__" | "__numpy__") {
        return Ok(None);
    }
    let config = value.get("config");
    let (mut dims, mut numbers) = (Vec::new(), Vec::new());
    flatten(config.get("value"), 0, &mut dims, &mut numbers)?;
    let dtype = dtype(config.get("dtype").text())?.unwrap_or(DType::F32);
    malformed_if!(dims.iter().product::<usize>() != numbers.len(), "a constant has no shape");
    let value = match dtype {
        DType::F32 => {
            let list: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            cx.float_constant("constant", &dims, &list)?
        }
        dtype => {
            let list: Vec<i64> = numbers.iter().map(|&x| x as i64).collect();
            cx.int_constant("constant", dtype, &dims, &list)?
        }
    };
    Ok(Some(Slot::plain(value)))
}

fn flatten(value: &Value, depth: usize, dims: &mut Vec<usize>, numbers: &mut Vec<f64>) -> Lowered {
    match value {
        Value::List(list) => {
            if dims.len() == depth {
                dims.push(list.len());
            }
            malformed_if!(dims.get(depth) != Some(&list.len()), "a constant has no shape");
            list.iter().try_for_each(|value| flatten(value, depth + 1, dims, numbers))
        }
        value => {
            let number = value.float().filter(|_| dims.len() == depth);
            numbers.push(number.ok_or_else(|| malformed!("a constant has no numbers"))?);
            Ok(())
        }
    }
}

/// The element type of that name; `None` for no name.
pub(super) fn dtype(name: &str) -> Lowered<Option<DType>> {
    Ok(Some(match name {
        "" => return Ok(None),
        // Floats of other widths are computed in 32 bits.
        "float32" | "float64" | "float16" | "bfloat16" | "float" => DType::F32,
        "int8" => DType::I8,
        "uint8" => DType::U8,
        "int16" | "uint16" => DType::I16,
        "int32" | "uint32" | "int" => DType::I32,
        "int64" | "uint64" => DType::I64,
        "bool" => DType::Bool,
        other => {
            let what = format!("tensors of {other} cannot be compiled");
            return Err(crate::Refusal::unsupported(what, "build the model with float32, int32 or int64"));
        }
    }))
}
