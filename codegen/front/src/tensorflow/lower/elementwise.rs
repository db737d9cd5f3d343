//! Functions of two numbers, sums of several, and conversions.

use super::slot::Slot;
use super::{Cx, Lowered, One, Operators, Refusal, Slots};
use kiln_ir::{Binary, Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("AccumulateNV2", One(add_all)),
    ("Add", One(|cx| of_two(cx, |cx, x, y| cx.sum(x, y)))),
    ("AddN", One(add_all)),
    ("AddV2", One(|cx| of_two(cx, |cx, x, y| cx.sum(x, y)))),
    ("Atan2", One(|cx| of_two(cx, |cx, x, y| cx.binary(Binary::Atan2, x, y)))),
    ("BiasAdd", One(bias_add)),
    ("BiasAddV1", One(bias_add)),
    ("Bitcast", One(bitcast)),
    ("Cast", Slots(cast)),
    ("ClipByValue", One(clip)),
    ("Div", One(|cx| of_two(cx, |cx, x, y| cx.quotient(x, y)))),
    ("DivNoNan", One(|cx| of_two(cx, |cx, x, y| unless_zero(cx, x, y, |cx, x, y| cx.quotient(x, y))))),
    ("FloorDiv", One(|cx| of_two(cx, floored))),
    ("FloorMod", One(|cx| of_two(cx, |cx, x, y| cx.binary(Binary::FloorMod, x, y)))),
    ("Maximum", One(|cx| of_two(cx, |cx, x, y| cx.onnx("Max", &[x, y])))),
    ("Minimum", One(|cx| of_two(cx, |cx, x, y| cx.onnx("Min", &[x, y])))),
    ("Mod", One(truncated_mod)),
    ("Mul", One(|cx| of_two(cx, product))),
    ("MulNoNan", One(|cx| of_two(cx, |cx, x, y| unless_zero(cx, x, y, |cx, x, y| cx.product(x, y))))),
    ("Pow", One(|cx| of_two(cx, pow))),
    ("RealDiv", One(|cx| of_two(cx, |cx, x, y| cx.quotient(x, y)))),
    ("SquaredDifference", One(|cx| of_two(cx, squared_difference))),
    ("Sub", One(|cx| of_two(cx, |cx, x, y| cx.difference(x, y)))),
    ("TruncateDiv", One(|cx| of_two(cx, truncated))),
    ("TruncateMod", One(truncated_mod)),
    ("Xdivy", One(|cx| of_two(cx, |cx, x, y| if_not_zero(cx, x, |cx| cx.quotient(x, y))))),
    ("Xlog1py", One(|cx| of_two(cx, xlog1py))),
    ("Xlogy", One(|cx| of_two(cx, xlogy))),
];

fn of_two(
    cx: &mut Cx<'_, '_, '_>,
    function: impl Fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    let (x, y) = (cx.x(0)?, cx.x(1)?);
    function(cx, x, y)
}

fn product(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    match super::recognise::gelu(cx, x, y)? {
        Some(y) => Ok(y),
        None => cx.product(x, y),
    }
}

fn add_all(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all = cx.xs(0..cx.count())?;
    let (&first, rest) = all.split_first().ok_or_else(|| malformed!("it has no operands"))?;
    rest.iter().try_fold(first, |sum, &x| cx.sum(sum, x))
}

/// A number for each channel.
fn bias_add(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, bias) = (cx.x(0)?, cx.x(1)?);
    let (dims, own) = (cx.dims(x), cx.dims(bias));
    let axis = match cx.word("data_format")?.starts_with("NC") {
        true => 1,
        false => dims.len().saturating_sub(1),
    };
    malformed_if!(own.len() != 1 || dims.get(axis) != own.first(), "a bias {own:?} does not fit {dims:?}");
    let mut along = vec![1; dims.len() - axis];
    along[0] = own[0];
    let bias = cx.reshaped(bias, &along)?;
    cx.sum(x, bias)
}

fn bitcast(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    match cx.dtype_of("type")? {
        Some(dtype) if dtype == cx.ty(x).dtype => Ok(x),
        _ => Err(Refusal::unsupported("bits of one type as another one cannot be compiled", "use tf.cast")),
    }
}

fn cast<'p>(cx: &mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
    let to = cx.node.attributes.dtype("DstT")?.unwrap_or(1);
    let is_complex = matches!(to, 8 | 18);
    if let (Slot::Complex(re, im), true) = (cx.slot(0)?, is_complex) {
        return Ok(vec![Slot::Complex(re, im)]);
    }
    let x = match cx.slot(0)? {
        Slot::Complex(re, _) => re,
        other => other.tensor()?,
    };
    if is_complex {
        let re = cx.cast(x, DType::F32)?;
        let dims = cx.dims(re);
        let im = cx.zeros(DType::F32, &dims)?;
        return Ok(vec![Slot::Complex(re, im)]);
    }
    let dtype = crate::tensorflow::tensor::dtype(to)?;
    Ok(vec![Slot::Tensor(cx.cast(x, dtype)?)])
}

fn clip(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, lo, hi) = (cx.x(0)?, cx.x(1)?, cx.x(2)?);
    if cx.ty(x).dtype == DType::F32 && cx.data(lo).is_some() && cx.data(hi).is_some() {
        if let (&[lo], &[hi]) = (&cx.known_numbers(1, "minimum")?[..], &cx.known_numbers(2, "maximum")?[..]) {
            return cx.clipped(x, lo as f32, hi as f32);
        }
    }
    let y = cx.onnx("Min", &[x, hi])?;
    cx.onnx("Max", &[y, lo])
}

/// A function of both, and 0 where the second one is 0.
fn unless_zero(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    y: ValueId,
    function: impl Fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    if_not_zero(cx, y, |cx| function(cx, x, y))
}

/// What a function gives where `x` is not 0, and 0 where it is.
fn if_not_zero(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    function: impl Fn(&mut Cx<'_, '_, '_>) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    let z = function(cx)?;
    let zero = cx.number(x, 0.0)?;
    let is_zero = cx.compared(Comparison::Equal, x, zero)?;
    cx.choice(is_zero, zero, z)
}

fn floored(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    match cx.ty(x).dtype {
        DType::F32 => {
            let z = cx.quotient(x, y)?;
            cx.unary(Unary::Floor, z)
        }
        _ => cx.binary(Binary::FloorDiv, x, y),
    }
}

fn truncated(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let z = cx.quotient(x, y)?;
    if cx.ty(z).dtype != DType::F32 {
        return Ok(z);
    }
    let size = cx.unary(Unary::Abs, z)?;
    let size = cx.unary(Unary::Floor, size)?;
    cx.with_sign(size, z)
}

/// What is left of a division that is rounded towards zero.
fn truncated_mod(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.x(0)?, cx.x(1)?);
    cx.call("Mod", &[Some(x), Some(y)], &[("fmod", crate::onnx::lower::Set::Int(1))])
}

/// Powers. A square is one.
fn pow(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    cx.onnx("Pow", &[x, y])
}

fn squared_difference(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    if cx.ty(x).dtype == DType::F32 {
        return cx.binary(Binary::SquaredDifference, x, y);
    }
    let z = cx.difference(x, y)?;
    cx.product(z, z)
}

fn xlogy(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    if_not_zero(cx, x, |cx| {
        let log = cx.unary(Unary::Log, y)?;
        cx.product(x, log)
    })
}

fn xlog1py(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    cx.written_out(16)?;
    if_not_zero(cx, x, |cx| {
        let log = crate::onnx::lower::log_of_more(&mut cx.means, y)?;
        cx.product(x, log)
    })
}
