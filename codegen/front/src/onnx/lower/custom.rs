//! Operators of other domains, bound to functions of the user's by the option `custom_op`.

use super::cx::NodeCx;
use super::inspect::operator_name;
use super::{is_own, Lowered, Refusal};
use crate::json;
use crate::onnx::proto::{Attribute, Node};
use kiln_ir::options::{CustomOp, Options};
use kiln_ir::{Op, ValueId};

/// The function of the user's that computes an operator of that name.
pub(super) fn bound<'o>(options: &'o Options, name: &str) -> Option<&'o CustomOp> {
    options.custom_ops.iter().find(|bound| bound.name == name)
}

/// Why an operator cannot be compiled that Kiln does not know.
pub(super) fn unknown(node: &Node<'_>) -> Refusal {
    match is_own(node.domain) {
        true => Refusal::unknown(),
        false => Refusal::unbound("this operator cannot be compiled", &operator_name(node)),
    }
}

/// A call of the user's function, whose result has the type and shape that the file declares. Its attributes are its options, as a JSON object.
pub(super) fn custom(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let name = operator_name(cx.node);
    let function = bound(cx.importer.options, &name).ok_or(Refusal::Follows)?.path.clone();
    let &[result] = &cx.node.outputs[..] else { return Err(Refusal::results(&name, cx.node.outputs.len())) };
    if cx.node.inputs.is_empty() || cx.node.inputs.iter().any(|input| input.is_empty()) {
        let what = format!("\"{name}\" has no operand, or one of them is left out");
        return Err(Refusal::unsupported(what, "give the operator all of its operands, and at least one"));
    }
    let operands = cx.inputs()?;
    let Some(ty) = cx.importer.declared(result) else {
        let what = "the file does not say which shape its result has";
        let help = "add it to the graph's value_info, for instance with onnx.helper.make_tensor_value_info";
        return Err(Refusal::unsupported(what, help));
    };
    let options = json::object(cx.node.attributes.iter().filter_map(written)).into_bytes();
    cx.importer.budget.charge(options.len())?;
    cx.add_unfolded(Op::Custom { name, function, options }, &operands, ty)
}

/// An attribute in JSON; a tensor or graph cannot be written.
fn written(attribute: &Attribute<'_>) -> Option<(String, String)> {
    let floats = || json::list(attribute.floats.iter().map(|&x| json::number(f64::from(x))));
    // `AttributeType` of ONNX.
    let value = match attribute.kind {
        1 => json::number(f64::from(attribute.float)),
        2 => attribute.int.to_string(),
        3 => json::quoted(&attribute.string.text()),
        6 => floats(),
        7 => json::list(attribute.ints.iter().map(ToString::to_string)),
        8 => json::list(attribute.strings.iter().map(|text| json::quoted(&text.text()))),
        _ => return None,
    };
    Some((attribute.name.text(), value))
}
