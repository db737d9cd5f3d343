//! Attention with its projections, and layers of transformers, as single operators: what PyTorch's faster paths call.

use super::cx::Cx;
use super::logic::truth;
use super::product::layer;
use super::{All, Lowered, One, Operators};
use crate::onnx::lower::{normal, scaled, Set};
use kiln_ir::{DType, Unary, ValueId};

pub(super) const OPERATORS: Operators =
    &[("_native_multi_head_attention", All(heads)), ("_transformer_encoder_layer_fwd", One(encoder))];

/// Attention of several heads: its result, and the weights of attention if they are asked for.
fn heads(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let [q, k, v] = [cx.float_tensor("query")?, cx.float_tensor("key")?, cx.float_tensor("value")?];
    let count = cx.size("num_head", 1)?;
    let (y, weights) = attention(cx, [q, k, v], count)?;
    if !cx.flag("need_weights", true)? {
        // The second result is a tensor without elements.
        let nothing = cx.empty(DType::F32, &[0]);
        return Ok(vec![y, nothing]);
    }
    let weights = match cx.flag("average_attn_weights", true)? {
        true => {
            let dims = cx.dims(weights);
            let mean = cx.mean(weights, &[1])?;
            cx.reshaped(mean, &[dims[0], dims[2], dims[3]])?
        }
        false => weights,
    };
    Ok(vec![y, weights])
}

/// Its result \[batch, steps, size\], and the weights \[batch, heads, steps, steps\].
fn attention(cx: &mut Cx<'_, '_, '_>, of: [ValueId; 3], count: usize) -> Lowered<(ValueId, ValueId)> {
    let (weight, bias) = (cx.float_tensor("qkv_weight")?, cx.optional_tensor("qkv_bias")?);
    let &[rows, size] = &*cx.dims(weight) else {
        return Err(malformed!("its weights are {}", cx.shown(weight)));
    };
    let fits = rows == 3 * size && count > 0 && size % count == 0;
    malformed_if!(!fits, "its weights {} do not fit {count} heads", cx.shown(weight));
    let mut projected = Vec::new();
    if of[0] == of[1] && of[1] == of[2] {
        let all = layer(cx, of[0], weight, bias)?;
        let last = cx.dims(all).len() - 1;
        for k in 0..3 {
            projected.push(cx.part(all, last, k * size, size, 1)?);
        }
    } else {
        for (k, x) in of.into_iter().enumerate() {
            let own = cx.part(weight, 0, k * size, size, 1)?;
            let bias = bias.map(|bias| cx.part(bias, 0, k * size, size, 1)).transpose()?;
            projected.push(layer(cx, x, own, bias)?);
        }
    }
    let each = size / count;
    let mut split = Vec::new();
    for x in projected {
        let &[batch, steps, _] = &*cx.dims(x) else {
            return Err(malformed!("its operand is {}", cx.shown(x)));
        };
        let x = cx.reshaped(x, &[batch, steps, count, each])?;
        split.push(cx.transposed(x, &[0, 2, 1, 3])?);
    }
    let [q, k, v] = [split[0], split[1], split[2]];
    let q = cx.times(q, 1.0 / (each as f64).sqrt())?;
    let turned = cx.transposed(k, &[0, 1, 3, 2])?;
    let mut scores = cx.call("MatMul", &[Some(q), Some(turned)], &[])?;
    if let Some(mask) = cx.optional_tensor("mask")? {
        // What is true in the mask does not count.
        let mask = truth(cx, mask)?;
        let dims = cx.dims(mask);
        let mask = match (cx.integer("mask_type")?, &*dims) {
            (Some(1), &[batch, steps]) => cx.reshaped(mask, &[batch, 1, 1, steps])?,
            _ => mask,
        };
        let nothing = cx.number(scores, f64::NEG_INFINITY)?;
        scores = cx.choice(mask, nothing, scores)?;
    }
    let weights = cx.call("Softmax", &[Some(scores)], &[("axis", Set::Int(-1))])?;
    let y = cx.call("MatMul", &[Some(weights), Some(v)], &[])?;
    let &[batch, _, steps, _] = &*cx.dims(y) else { return Err(malformed!("no heads")) };
    let y = cx.transposed(y, &[0, 2, 1, 3])?;
    let y = cx.reshaped(y, &[batch, steps, size])?;
    let (weight, bias) = (cx.float_tensor("proj_weight")?, cx.optional_tensor("proj_bias")?);
    Ok((layer(cx, y, weight, bias)?, weights))
}

/// A layer of an encoder: attention, and two dense layers, each with a normalisation before or behind.
fn encoder(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("src")?;
    let (count, is_first) = (cx.size("num_heads", 1)?, cx.flag("norm_first", false)?);
    let own = if is_first { normalised(cx, x, ["norm_weight_1", "norm_bias_1"])? } else { x };
    let (own, _) = attention(cx, [own; 3], count)?;
    let mut x = cx.sum(own, x)?;
    if !is_first {
        x = normalised(cx, x, ["norm_weight_1", "norm_bias_1"])?;
    }
    let own = if is_first { normalised(cx, x, ["norm_weight_2", "norm_bias_2"])? } else { x };
    let own = dense(cx, own, ["ffn_weight_1", "ffn_bias_1"])?;
    let own = match cx.flag("use_gelu", false)? {
        true => cx.unary(Unary::Gelu, own)?,
        false => cx.call("Relu", &[Some(own)], &[])?,
    };
    let own = dense(cx, own, ["ffn_weight_2", "ffn_bias_2"])?;
    x = cx.sum(own, x)?;
    if is_first {
        Ok(x)
    } else {
        normalised(cx, x, ["norm_weight_2", "norm_bias_2"])
    }
}

fn normalised(cx: &mut Cx<'_, '_, '_>, x: ValueId, names: [&str; 2]) -> Lowered<ValueId> {
    let last = cx.dims(x).len().saturating_sub(1);
    let epsilon = cx.number_or("eps", 1e-5)? as f32;
    let [value, ..] = normal(cx, x, &[last], epsilon)?;
    let (weight, bias) = (cx.optional_tensor(names[0])?, cx.optional_tensor(names[1])?);
    scaled(cx, value, weight, bias)
}

fn dense(cx: &mut Cx<'_, '_, '_>, x: ValueId, names: [&str; 2]) -> Lowered<ValueId> {
    let (weight, bias) = (cx.float_tensor(names[0])?, cx.optional_tensor(names[1])?);
    layer(cx, x, weight, bias)
}
