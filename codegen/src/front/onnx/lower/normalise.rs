//! LayerNormalization and InstanceNormalization: what they mean, as a chain of ops.

use super::cx::NodeCx;
use super::{describe, Lowered, Refusal};
use crate::ir::{AddRescale, Clamp, Op, Rescale, Unary, ValueId};

const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
const SUM: Op = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
const DIFFERENCE: Op = Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };

/// (x − mean) / √(variance + ε), both over `axes`.
fn normal(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let mut one = dims.clone();
    axes.iter().for_each(|&axis| one[axis] = 1);
    let mean = || Op::Mean { axes: axes.to_vec(), rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    let average = cx.add_like(mean(), &[x], &one)?;
    let centred = cx.add_like(DIFFERENCE, &[x, average], &dims)?;
    let squares = cx.add_like(Op::Unary { function: Unary::Square }, &[centred], &dims)?;
    let variance = cx.add_like(mean(), &[squares], &one)?;
    let epsilon = cx.float("epsilon", 1e-5);
    let epsilon = cx.float_constant("epsilon", &[], &[epsilon])?;
    let variance = cx.add_like(SUM, &[variance, epsilon], &one)?;
    let factor = cx.add_like(Op::Unary { function: Unary::Rsqrt }, &[variance], &one)?;
    cx.add_like(PRODUCT, &[centred, factor], &dims)
}

/// LayerNormalization over the axes from one on.
pub(super) fn layer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, scale, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    cx.want_float(x)?;
    if cx.node.outputs.iter().skip(1).any(|name| !name.is_empty()) {
        let help = "leave the second and third result out: they are for training";
        return Err(Refusal::unsupported("its mean and its deviation are asked for", help));
    }
    let dims = cx.dims(x);
    let axis = cx.axis(cx.int("axis", -1), dims.len())?;
    let axes: Vec<usize> = (axis..dims.len()).collect();
    let mut value = normal(cx, x, &axes)?;
    for (op, operand) in [(PRODUCT, Some(scale)), (SUM, bias)] {
        let Some(operand) = operand else { continue };
        if super::elementwise::broadcast(cx, value, operand)? != dims {
            let what = format!("{} does not fit {}", describe(cx.ty(operand)), describe(cx.ty(x)));
            return Err(Refusal::malformed(what));
        }
        value = cx.add_like(op, &[value, operand], &dims)?;
    }
    cx.bind(0, value)
}

/// InstanceNormalization: each channel of each image by itself.
pub(super) fn instance(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, scale, bias) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    cx.want_float(x)?;
    let dims = cx.dims(x);
    let c = dims.get(1).copied().unwrap_or(0);
    if dims.len() < 3 || cx.dims(scale) != [c] || cx.dims(bias) != [c] {
        return Err(Refusal::malformed(format!("its factors do not fit {}", describe(cx.ty(x)))));
    }
    let axes: Vec<usize> = (2..dims.len()).collect();
    let mut along = vec![1; dims.len() - 1];
    along[0] = c;
    let value = normal(cx, x, &axes)?;
    let (scale, bias) = (cx.reshaped(scale, &along)?, cx.reshaped(bias, &along)?);
    let value = cx.add_like(PRODUCT, &[value, scale], &dims)?;
    cx.emit(SUM, &[value, bias], &dims)
}
