//! Convolutions and transposed ones, of sequences, images and volumes.

use super::cx::Cx;
use super::{Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[
    ("_convolution", One(any)),
    ("_convolution_mode", One(any)),
    ("conv1d", One(|cx| forwards(cx, 1))),
    ("conv2d", One(|cx| forwards(cx, 2))),
    ("conv3d", One(|cx| forwards(cx, 3))),
    ("conv_transpose1d", One(|cx| backwards(cx, 1))),
    ("conv_transpose2d", One(|cx| backwards(cx, 2))),
    ("convolution", One(any)),
];

fn any(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let weight = cx.tensor("weight")?;
    let axes = cx.dims(weight).len().saturating_sub(2);
    match cx.flag("transposed", false)? {
        true => backwards(cx, axes),
        false => forwards(cx, axes),
    }
}

/// The same numbers at both ends of each axis.
fn doubled(pads: &[usize]) -> Vec<i64> {
    pads.iter().chain(pads).map(|&pad| pad as i64).collect()
}

fn list(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&size| size as i64).collect()
}

fn forwards(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let (x, weight) = (cx.float_tensor("input")?, cx.float_tensor("weight")?);
    let bias = cx.optional_tensor("bias")?;
    let (strides, dilations) = (cx.sizes("stride", 1, axes)?, cx.sizes("dilation", 1, axes)?);
    let pads = match cx.words("padding") {
        "" => doubled(&cx.sizes("padding", 0, axes)?),
        "valid" => vec![0; 2 * axes],
        "same" => {
            // What is left over is behind.
            let size = cx.dims(weight);
            let all = |k: usize| {
                let taps = size.get(k + 2).copied().unwrap_or(1).saturating_sub(1);
                taps.saturating_mul(dilations[k]).min(u32::MAX as usize) as i64
            };
            let (before, after) = ((0..axes).map(|k| all(k) / 2), (0..axes).map(|k| all(k) - all(k) / 2));
            before.chain(after).collect()
        }
        other => return Err(malformed!("its padding is {other:?}")),
    };
    let attributes = [
        ("strides", Set::Ints(&list(&strides))),
        ("dilations", Set::Ints(&list(&dilations))),
        ("pads", Set::Ints(&pads)),
        ("group", Set::Int(cx.int("groups", 1)?)),
    ];
    batched(cx, x, axes, |cx, x| cx.call("Conv", &[Some(x), Some(weight), bias], &attributes))
}

fn backwards(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let (x, weight) = (cx.float_tensor("input")?, cx.float_tensor("weight")?);
    let bias = cx.optional_tensor("bias")?;
    let attributes = [
        ("strides", Set::Ints(&list(&cx.sizes("stride", 1, axes)?))),
        ("dilations", Set::Ints(&list(&cx.sizes("dilation", 1, axes)?))),
        ("pads", Set::Ints(&doubled(&cx.sizes("padding", 0, axes)?))),
        ("output_padding", Set::Ints(&list(&cx.sizes("output_padding", 0, axes)?))),
        ("group", Set::Int(cx.int("groups", 1)?)),
    ];
    batched(cx, x, axes, |cx, x| cx.call("ConvTranspose", &[Some(x), Some(weight), bias], &attributes))
}

/// An image without a batch is one of a batch of one.
pub(super) fn batched(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    axes: usize,
    of: impl FnOnce(&mut Cx<'_, '_, '_>, ValueId) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    if dims.len() == axes + 2 {
        return of(cx, x);
    }
    if dims.len() != axes + 1 {
        let what = format!("{} does not have {axes} axes behind its channels", cx.shown(x));
        return Err(Refusal::malformed(what));
    }
    let image = cx.reshaped(x, &[&[1], &dims[..]].concat())?;
    let y = of(cx, image)?;
    let dims = cx.dims(y);
    cx.reshaped(y, &dims[1..])
}
