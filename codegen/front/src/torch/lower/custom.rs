//! Operators of the user's (`torch.library`), bound to functions by the option `custom_op`.

use super::cx::Cx;
use super::{short, symbols, Lowered, Refusal, Target, DELEGATE};
use crate::json;
use crate::torch::program::{Arg, Named, SymInt};
use crate::torch::weights;
use kiln_ir::options::{CustomOp, Options};
use kiln_ir::{Op, Type, ValueId};

impl Target<'_> {
    /// As torch names it: `mylib::scale`.
    fn qualified(&self) -> String {
        let underscore = if self.in_place { "_" } else { "" };
        format!("{}::{}{underscore}", self.namespace, self.name)
    }
}

/// The function of the user's that computes an operator. Options name it `mylib::scale`, or `mylib.scale`.
pub(super) fn bound<'o>(options: &'o Options, target: &Target<'_>) -> Option<&'o CustomOp> {
    let is_name = |name: &str| name.replacen('.', "::", 1) == target.qualified();
    options.custom_ops.iter().find(|bound| !target.namespace.is_empty() && is_name(&bound.name))
}

/// Why an operator cannot be compiled that Kiln does not know.
pub(super) fn unknown(target: &Target<'_>) -> Refusal {
    match target.namespace {
        DELEGATE => {
            let other = match target.name.contains("Ethos") {
                true => "take the .tosa file of the Arm backend",
                false => "take the .pt2 file of the model",
            };
            let what = format!("it is compiled for {}, and holds no operators", short(target.name));
            let help = format!("export the program without to_backend and partitioners, or {other}");
            Refusal::unsupported(what, help)
        }
        "" | "aten" | "higher_order" | "prim" | "quantized_decomposed" | "torchao" | "pt2e_quant" => {
            Refusal::unknown()
        }
        _ => Refusal::unbound("this operator cannot be compiled", &short(&target.qualified())),
    }
}

/// A call of the user's function, whose result has the type and shape that the file declares. Tensors are its operands; its other arguments are its options, as a
/// JSON object.
pub(super) fn custom(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let target = Target::of(&cx.node.target);
    let bound = bound(cx.means.importer.options, &target).ok_or(Refusal::Follows)?.clone();
    if target.in_place {
        let what = format!("\"{}\" writes into its operand", short(&bound.name));
        return Err(Refusal::unsupported(what, "let it return what it computes"));
    }
    let results = super::results(cx.node).len();
    if results != 1 {
        return Err(Refusal::results(&short(&bound.name), results));
    }
    let operands = operands(cx)?;
    if operands.is_empty() {
        let what = format!("\"{}\" has no tensor as an operand", short(&bound.name));
        return Err(Refusal::unsupported(what, "give it at least one tensor"));
    }
    let ty = result(cx)?;
    let options = json::object(cx.node.inputs.iter().filter_map(written)).into_bytes();
    cx.means.importer.budget.charge(options.len())?;
    cx.add_unfolded(Op::Custom { name: bound.name, function: bound.path, options }, &operands, ty)
}

/// All tensors, in the order of the arguments.
fn operands(cx: &Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let mut operands = Vec::new();
    for input in &cx.node.inputs {
        match &input.arg {
            Arg::Tensor(_) => operands.push(cx.tensor(&input.name)?),
            Arg::Tensors(_) => operands.extend(cx.tensors(&input.name)?),
            Arg::OptionalTensors(_) | Arg::Computed(_) | Arg::Graph(_) | Arg::Other => {
                let what = format!("its argument \"{}\" is neither a tensor nor known", short(&input.name));
                return Err(Refusal::unsupported(what, "give it tensors and constants"));
            }
            _ => {}
        }
    }
    Ok(operands)
}

/// The type of its result.
fn result(cx: &Cx<'_, '_, '_>) -> Lowered<Type> {
    let name = super::results(cx.node).first().copied().unwrap_or_default();
    let Some(meta) = cx.metas.get(name) else {
        let what = "the file does not say which shape its result has";
        return Err(Refusal::unsupported(what, "export the model with torch.export (.pt2)"));
    };
    let dims = symbols::dims(&meta.sizes, cx.symbols);
    let Some(dims) = dims.filter(|dims| !dims.contains(&0)) else {
        let what = "the file leaves the shape of its result open, or it has no elements";
        return Err(Refusal::unsupported(what, "export the model with fixed shapes"));
    };
    let dtype = weights::dtype(meta.dtype)?;
    crate::onnx::lower::check_size(dtype, &dims)?;
    Ok(Type::plain(dtype, &dims))
}

/// An argument that is no tensor, in JSON.
fn written(input: &Named) -> Option<(String, String)> {
    let known = |number: &SymInt| match number {
        SymInt::Known(number) => number.to_string(),
        SymInt::Named(_) => "null".into(),
    };
    let value = match &input.arg {
        Arg::Int(number) | Arg::Dtype(number) => number.to_string(),
        Arg::Float(number) => json::number(*number),
        Arg::Bool(truth) => truth.to_string(),
        Arg::Text(text) => json::quoted(text),
        Arg::Ints(list) => json::list(list.iter().map(known)),
        Arg::Floats(list) => json::list(list.iter().map(|&number| json::number(number))),
        _ => return None,
    };
    Some((input.name.clone(), value))
}
