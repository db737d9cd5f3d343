//! Quantised models of PT2E: integers and the real numbers that they stand for. Integer layers are made of them by the passes that make them of ONNX's.

use super::cx::Cx;
use super::{All, Lower, Lowered, One, Operators};
use crate::onnx::lower::{quantised, Set};
use kiln_ir::{Binary, DType, Reduction, Rounding, Unary, ValueId};

/// Operators of `quantized_decomposed`. They are not those of ATen.
pub(super) const OPERATORS: Operators = &[
    ("choose_qparams", All(choose)),
    ("choose_qparams_symmetric", All(choose_symmetric)),
    ("dequantize_per_channel", One(|cx| dequantize(cx, ["scales", "zero_points"]))),
    ("dequantize_per_tensor", One(|cx| dequantize(cx, ["scale", "zero_point"]))),
    ("dequantize_affine", One(dequantize_affine)),
    ("quantize_affine", One(quantize_affine)),
    ("quantize_per_channel", One(|cx| quantize(cx, ["scales", "zero_points"]))),
    ("quantize_per_tensor", One(|cx| quantize(cx, ["scale", "zero_point"]))),
];

pub(super) fn find(name: &str) -> Option<Lower> {
    OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}

/// The parameters of a quantisation: a scale and a zero point, or lists along an axis.
struct Params {
    scale: ValueId,
    zero: Option<ValueId>,
    axis: Option<usize>,
}

impl Params {
    fn read(cx: &mut Cx<'_, '_, '_>, x: ValueId, [scale, zero]: [&str; 2]) -> Lowered<Self> {
        let axis = if cx.has("axis") { Some(cx.dim("axis", 0, x)?) } else { None };
        let scale = cx.operand(scale)?;
        let scale = cx.floating(scale)?;
        let zero = if cx.has(zero) { Some(cx.operand(zero)?) } else { None };
        let scalar = |cx: &mut Cx<'_, '_, '_>, value: ValueId| match axis {
            None => cx.reshaped(value, &[]),
            Some(_) => Ok(value),
        };
        let (scale, zero) = (scalar(cx, scale)?, zero.map(|zero| scalar(cx, zero)).transpose()?);
        Ok(Params { scale, zero, axis })
    }

    /// The only scale and zero point, if they are constants.
    fn single(&self, cx: &Cx<'_, '_, '_>) -> Option<(f32, i64)> {
        let scale = *cx.data(self.scale)?.to_f32().first()?;
        let zero = match self.zero {
            Some(zero) => *cx.data(zero)?.to_ints(cx.ty(zero).dtype).first()?,
            None => 0,
        };
        self.axis.is_none().then_some((scale, zero))
    }

    fn are_known(&self, cx: &Cx<'_, '_, '_>) -> bool {
        cx.data(self.scale).is_some() && self.zero.is_none_or(|zero| cx.data(zero).is_some())
    }
}

/// (q − zero)·scale.
fn dequantize(cx: &mut Cx<'_, '_, '_>, names: [&str; 2]) -> Lowered<ValueId> {
    let x = cx.tensor("input")?;
    let params = Params::read(cx, x, names)?;
    if params.are_known(cx) {
        let dtype = cx.ty(x).dtype;
        let zero = params.zero.map(|zero| cx.cast(zero, dtype)).transpose()?;
        let axis = params.axis.unwrap_or(0) as i64;
        return cx.call(
            "DequantizeLinear",
            &[Some(x), Some(params.scale), zero],
            &[("axis", Set::Int(axis))],
        );
    }
    let mut y = cx.floating(x)?;
    if let Some(zero) = params.zero {
        let zero = cx.floating(zero)?;
        y = cx.difference(y, zero)?;
    }
    cx.product(y, params.scale)
}

/// x · (1 / scale), rounded to even, plus the zero point, within bounds.
fn quantize(cx: &mut Cx<'_, '_, '_>, names: [&str; 2]) -> Lowered<ValueId> {
    let x = cx.float_tensor("input")?;
    let params = Params::read(cx, x, names)?;
    let dtype = cx.declared(0)?.unwrap_or(DType::I8);
    let (least, most) = match dtype {
        DType::I8 => (-128, 127),
        DType::U8 => (0, 255),
        DType::I16 => (-32768, 32767),
        _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
    };
    let (lo, hi) = (cx.int("quant_min", least)?, cx.int("quant_max", most)?);
    let whole = dtype != DType::I32 && (lo, hi) == (least, most);
    if let Some((scale, zero)) = params.single(cx).filter(|_| whole) {
        return quantised(cx, x, (dtype, scale, zero), Rounding::EvenInverse);
    }
    let one = cx.number(params.scale, 1.0)?;
    let inverse = cx.quotient(one, params.scale)?;
    let along = |cx: &mut Cx<'_, '_, '_>, list: ValueId| match params.axis {
        None => Ok(list),
        Some(axis) => {
            let mut dims = vec![1; cx.dims(x).len() - axis];
            dims[0] = cx.ty(list).shape.numel();
            cx.reshaped(list, &dims)
        }
    };
    let inverse = along(cx, inverse)?;
    let y = cx.product(x, inverse)?;
    let mut y = cx.unary(Unary::Round, y)?;
    if let Some(zero) = params.zero {
        let zero = cx.floating(zero)?;
        let zero = along(cx, zero)?;
        y = cx.sum(y, zero)?;
    }
    let y = cx.clipped(y, lo as f32, hi as f32)?;
    cx.cast(y, dtype)
}

/// Blocks of a tensor, of which each has a scale and a zero point: torchao's.
struct Blocks {
    /// Sizes of the tensor, in which axes that are cut into blocks are two.
    split: Vec<usize>,
    /// Sizes of scales and zero points along these.
    scales: Vec<usize>,
    /// Axes of more than one block.
    cut: Vec<usize>,
}

impl Blocks {
    fn read(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<Self> {
        let dims = cx.dims(x);
        let sizes = cx.sizes("block_size", 1, dims.len())?;
        let mut blocks = Blocks { split: Vec::new(), scales: Vec::new(), cut: Vec::new() };
        for (axis, (&dim, &block)) in dims.iter().zip(&sizes).enumerate() {
            let fits = block > 0 && dim % block == 0;
            malformed_if!(!fits, "its axes {dims:?} cannot be cut into blocks of {sizes:?}");
            let count = dim / block;
            if count > 1 {
                blocks.cut.push(axis);
                blocks.split.push(count);
                blocks.scales.push(count);
            }
            if count == 1 || block > 1 {
                blocks.split.push(block);
                blocks.scales.push(1);
            }
        }
        Ok(blocks)
    }

    /// Scales or zero points, for all elements of their blocks, as floats.
    fn spread(&self, cx: &mut Cx<'_, '_, '_>, list: ValueId) -> Lowered<ValueId> {
        let list = cx.floating(list)?;
        let count: usize = self.scales.iter().product();
        malformed_if!(cx.ty(list).shape.numel() != count, "it has {count} blocks, but other scales");
        cx.reshaped(list, &self.scales)
    }
}

/// (q − zero)·scale of each block.
fn dequantize_affine(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("input")?;
    let (dims, blocks) = (cx.dims(x), Blocks::read(cx, x)?);
    let (scale, zero) = affine(cx)?;
    // A scale for all elements, or one for each index of an axis: what integer layers have, too.
    let is_known = cx.data(scale).is_some() && zero.is_none_or(|zero| cx.data(zero).is_some());
    let axis = match blocks.cut[..] {
        [] => Some(0),
        [axis] if blocks.split.len() == dims.len() => Some(axis),
        _ => None,
    };
    let whole = matches!(cx.ty(x).dtype, DType::I8 | DType::U8 | DType::I16 | DType::I32);
    if let Some(axis) = axis.filter(|_| is_known && whole) {
        let list: Vec<usize> = blocks.cut.iter().map(|&axis| dims[axis]).collect();
        let dtype = cx.ty(x).dtype;
        let scale = cx.floating(scale)?;
        let scale = cx.reshaped(scale, &list)?;
        let zero = match zero {
            Some(zero) => {
                let zero = cx.reshaped(zero, &list)?;
                Some(cx.cast(zero, dtype)?)
            }
            None => None,
        };
        return cx.call(
            "DequantizeLinear",
            &[Some(x), Some(scale), zero],
            &[("axis", Set::Int(axis as i64))],
        );
    }
    let y = cx.floating(x)?;
    let mut y = cx.reshaped(y, &blocks.split)?;
    if let Some(zero) = zero {
        let zero = blocks.spread(cx, zero)?;
        y = cx.difference(y, zero)?;
    }
    let scale = blocks.spread(cx, scale)?;
    let y = cx.product(y, scale)?;
    cx.reshaped(y, &dims)
}

/// x · (1 / scale) of each block, rounded to even, plus the zero point, within bounds.
fn quantize_affine(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("input")?;
    let (dims, blocks) = (cx.dims(x), Blocks::read(cx, x)?);
    let (scale, zero) = affine(cx)?;
    let dtype = cx.declared(0)?.unwrap_or(DType::I8);
    let (least, most) = dtype.int_range().unwrap_or((i64::MIN, i64::MAX));
    let (lo, hi) = (cx.int("quant_min", least)?, cx.int("quant_max", most)?);
    let scale = blocks.spread(cx, scale)?;
    let one = cx.number(scale, 1.0)?;
    let inverse = cx.quotient(one, scale)?;
    let x = cx.reshaped(x, &blocks.split)?;
    let y = cx.product(x, inverse)?;
    let mut y = cx.unary(Unary::Round, y)?;
    if let Some(zero) = zero {
        let zero = blocks.spread(cx, zero)?;
        y = cx.sum(y, zero)?;
    }
    let y = cx.clipped(y, lo as f32, hi as f32)?;
    let y = cx.cast(y, dtype)?;
    cx.reshaped(y, &dims)
}

/// The scale and the zero point of torchao's operators.
fn affine(cx: &mut Cx<'_, '_, '_>) -> Lowered<(ValueId, Option<ValueId>)> {
    let scale = cx.operand("scale")?;
    let zero = if cx.has("zero_point") { Some(cx.operand("zero_point")?) } else { None };
    Ok((scale, zero))
}

/// The scale and zero point with which all elements of a tensor, and 0, are within bounds.
fn choose(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let [low, high] = extremes(cx)?;
    let (lo, hi) = (cx.int("quant_min", -128)?, cx.int("quant_max", 127)?);
    let span = cx.difference(high, low)?;
    let steps = cx.number(span, (hi - lo) as f64)?;
    let scale = cx.quotient(span, steps)?;
    let scale = at_least(cx, scale)?;
    let below = cx.quotient(low, scale)?;
    let below = cx.unary(Unary::Round, below)?;
    let least = cx.number(below, lo as f64)?;
    let zero = cx.difference(least, below)?;
    let zero = cx.clipped(zero, lo as f32, hi as f32)?;
    let zero = cx.cast(zero, DType::I64)?;
    Ok(vec![cx.reshaped(scale, &[1])?, cx.reshaped(zero, &[1])?])
}

fn choose_symmetric(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let [low, high] = extremes(cx)?;
    let (lo, hi) = (cx.int("quant_min", -127)?, cx.int("quant_max", 127)?);
    let less = cx.unary(Unary::Neg, low)?;
    let largest = cx.binary(Binary::Max, less, high)?;
    let steps = cx.number(largest, (hi - lo) as f64 / 2.0)?;
    let scale = cx.quotient(largest, steps)?;
    let scale = at_least(cx, scale)?;
    let zero = cx.int_constant("zero point", DType::I64, &[1], &[0])?;
    Ok(vec![cx.reshaped(scale, &[1])?, zero])
}

/// The smallest and largest element, and 0.
fn extremes(cx: &mut Cx<'_, '_, '_>) -> Lowered<[ValueId; 2]> {
    let x = cx.float_tensor("input")?;
    let count = cx.ty(x).shape.numel();
    let flat = cx.reshaped(x, &[count])?;
    let mut both = Vec::new();
    for (reduction, function) in [(Reduction::Min, Binary::Min), (Reduction::Max, Binary::Max)] {
        let y = cx.reduced(reduction, flat, &[0])?;
        let y = cx.reshaped(y, &[])?;
        let zero = cx.number(y, 0.0)?;
        both.push(cx.binary(function, y, zero)?);
    }
    Ok([both[0], both[1]])
}

/// A scale that is no smaller than the argument `eps`.
fn at_least(cx: &mut Cx<'_, '_, '_>, scale: ValueId) -> Lowered<ValueId> {
    let least = cx.number_or("eps", f32::EPSILON.into())?;
    let least = cx.number(scale, least)?;
    cx.binary(Binary::Max, scale, least)
}
