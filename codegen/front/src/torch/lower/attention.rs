//! Attention.

use super::cx::Cx;
use super::{All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[
    ("_scaled_dot_product_attention_math", All(|cx| attention(cx).map(|y| vec![y]))),
    ("_scaled_dot_product_attention_math_for_mps", All(|cx| attention(cx).map(|y| vec![y]))),
    ("_scaled_dot_product_efficient_attention", All(|cx| attention(cx).map(|y| vec![y]))),
    ("_scaled_dot_product_flash_attention", All(|cx| attention(cx).map(|y| vec![y]))),
    ("_scaled_dot_product_flash_attention_for_cpu", All(|cx| attention(cx).map(|y| vec![y]))),
    ("scaled_dot_product_attention", One(attention)),
];

fn attention(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if cx.number_or("dropout_p", 0.0)? != 0.0 {
        return Err(Refusal::unsupported(
            "it drops weights",
            "export the model for inference (model.eval())",
        ));
    }
    let (q, k, v) = (cx.float_tensor("query")?, cx.float_tensor("key")?, cx.float_tensor("value")?);
    let dims = cx.dims(q);
    let mut operands = Vec::new();
    for x in [q, k, v] {
        operands.push(Some(with_heads(cx, x)?));
    }
    let mask = if cx.has("attn_bias") { "attn_bias" } else { "attn_mask" };
    if let Some(mask) = cx.optional_tensor(mask)? {
        let own = cx.dims(mask);
        let is_deep = own.len() > 2 && dims.len() != 4;
        operands.push(Some(if is_deep { with_heads(cx, mask)? } else { mask }));
    }
    let mut attributes = vec![("is_causal", Set::Int(cx.int("is_causal", 0)?))];
    if let Some(scale) = cx.real("scale")? {
        attributes.push(("scale", Set::Float(scale as f32)));
    }
    let y = cx.call("Attention", &operands, &attributes)?;
    let depth = cx.dims(v).last().copied().unwrap_or(0);
    let mut result = dims;
    if let Some(last) = result.last_mut() {
        *last = depth;
    }
    cx.reshaped(y, &result)
}

/// \[batch, heads, steps, size\]: of fewer axes, one of each that is missing, and of more, all in front as the batch.
fn with_heads(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    match *dims {
        [_, _, _, _] => Ok(x),
        [s, d] => cx.reshaped(x, &[1, 1, s, d]),
        [b, s, d] => cx.reshaped(x, &[b, 1, s, d]),
        [ref front @ .., h, s, d] => cx.reshaped(x, &[front.iter().product(), h, s, d]),
        _ => Err(malformed!("{} has no steps", cx.shown(x))),
    }
}
