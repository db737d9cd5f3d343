//! Rules for element types, quantisation and ranges of attributes.

use super::{ensure, Checked};
use crate::{
    softmax_of_16_bits, AddRescale, Binary, Clamp, CompareRescale, DType, LeakyRescale, Multiplier, Quant,
    Real, Reduction, Rescale, SoftmaxScale, Type,
};

/// Most bytes of one value.
const MAX_BYTES: usize = i32::MAX as usize;

/// A type is well formed. Whether it may be without elements depends on where it stands.
pub(crate) fn check_type(ty: &Type, want_elements: bool) -> Checked {
    let dims = ty.shape.dims();
    ensure!(!want_elements || !dims.contains(&0), "the shape {dims:?} has no elements");
    let bytes = ty.shape.checked_numel().and_then(|n| n.checked_mul(ty.dtype.size()));
    ensure!(bytes.is_some_and(|b| b <= MAX_BYTES), "the shape {dims:?} is too large");
    let Some(quant) = &ty.quant else { return Ok(()) };
    let (scales, zeros) = (quant.scales.len(), quant.zero_points.len());
    ensure!(scales == zeros, "{scales} scales and {zeros} zero points");
    match quant.axis {
        None => ensure!(scales == 1, "{scales} scales for the whole tensor"),
        Some(axis) => {
            let dim =
                *dims.get(axis).ok_or_else(|| format!("quantised along axis {axis} of {}", dims.len()))?;
            ensure!(scales == dim, "{scales} scales for the {dim} indices of axis {axis}");
        }
    }
    let real = quant.scales.iter().find(|s| !(s.0 > 0.0 && s.0.is_finite()));
    ensure!(real.is_none(), "the scale {}", real.map_or(0.0, |s| s.0));
    ensure!(!matches!(ty.dtype, DType::F32 | DType::Bool), "{} is quantised", ty.dtype.name());
    let (lo, hi) = ty.dtype.int_range().unwrap_or((0, 0));
    let outside = quant.zero_points.iter().find(|&&z| i64::from(z) < lo || i64::from(z) > hi);
    ensure!(outside.is_none(), "the zero point {} is no {}", outside.unwrap_or(&0), ty.dtype.name());
    Ok(())
}

/// Nothing is asked.
pub(crate) fn any(_: &[&Type], _: &Type) -> Checked {
    Ok(())
}

/// Operands and result are floats.
pub(crate) fn floats(operands: &[&Type], y: &Type) -> Checked {
    operands.iter().try_for_each(|x| float(x, y))
}

/// Stored values of all operands can be copied.
pub(crate) fn stored(operands: &[&Type], y: &Type) -> Checked {
    operands.iter().try_for_each(|x| same_storage(x, y))
}

/// Stored values can be copied to other places: no scale belongs to a place.
pub(crate) fn unchanged(operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    let placed = x.quant.as_ref().is_some_and(|q| q.axis.is_some());
    ensure!(!placed, "elements of type {x} have scales of their places");
    same_storage(x, y)
}

/// Numbers that are not scaled: floats, or plain integers.
pub(crate) fn numbers(operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    ensure!(x.quant.is_none() && y.quant.is_none(), "stored values of type {x} are no numbers");
    arithmetic(operands, y)
}

/// The result has that element.
pub(crate) fn element(wanted: DType, y: &Type) -> Checked {
    ensure!(y.dtype == wanted, "the result is {}, {} wanted", y.dtype.name(), wanted.name());
    Ok(())
}

/// A layer. Sums of `i8` that become `i8` may be rounded once where the weights are one of `once`.
pub(crate) fn layer(
    once: &[DType],
    rescale: &Rescale,
    clamp: &Clamp,
    operands: &[&Type],
    y: &Type,
) -> Checked {
    check_clamp(clamp, y)?;
    let bytes = [operands[0].dtype, y.dtype] == [DType::I8; 2] && once.contains(&operands[1].dtype);
    match rescale {
        Rescale::Once(_) if !bytes => odd_rescale(),
        _ => weighted(rescale, operands, y),
    }
}

pub(crate) fn dynamic_quantize(operands: &[&Type], y: &Type) -> Checked {
    float(operands[0], operands[1])?;
    let plain = y.dtype == DType::I8 && y.quant.is_none();
    ensure!(plain, "the result is of type {y}, a plain i8 wanted");
    Ok(())
}

pub(crate) fn dynamic_layer(clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    check_clamp(clamp, y)?;
    let [x, scales, w, bias] = operands else { return Err("four operands wanted".into()) };
    float(scales, bias).and_then(|()| float(scales, y))?;
    ensure!(x.dtype == DType::I8 && x.quant.is_none(), "the operand is of type {x}, a plain i8 wanted");
    let quant = w.quant.as_ref().filter(|_| w.dtype == DType::I8);
    let symmetric = quant
        .is_some_and(|q| matches!(q.axis, None | Some(0)) && q.zero_points.iter().all(|&zero| zero == 0));
    ensure!(symmetric, "the weights are of type {w}, symmetric i8 wanted");
    Ok(())
}

pub(crate) fn pool(clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    ensure!(is_quantisable(y.dtype) || y.dtype == DType::F32, "pooling of {}", y.dtype.name());
    clip(clamp, operands, y)
}

pub(crate) fn sum(rescale: &AddRescale, clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    check_clamp(clamp, y)?;
    match rescale {
        AddRescale::Real => arithmetic(operands, y),
        AddRescale::FixedPoint { left_shift, x: by_x, y: by_y, out } => {
            quantised_alike(operands, y)?;
            ensure!(*left_shift <= 30, "a left shift by {left_shift}");
            [by_x, by_y, out].into_iter().try_for_each(check_multiplier)
        }
        AddRescale::Float { x: by_x, y: by_y, constant, offset } => {
            quantised_alike(operands, y)?;
            ensure!((0..=128).contains(offset), "an offset of {offset}");
            [by_x, by_y, constant].into_iter().try_for_each(check_finite)
        }
    }
}

pub(crate) fn difference(rescale: &AddRescale, clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    ensure!(!matches!(rescale, AddRescale::Float { .. }), "a difference in floats");
    sum(rescale, clamp, operands, y)
}

pub(crate) fn mul(rescale: &Rescale, clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    check_clamp(clamp, y)?;
    match rescale {
        Rescale::Real => arithmetic(operands, y),
        Rescale::Once(_) => odd_rescale(),
        Rescale::FixedPoint(_) | Rescale::Float(_) => {
            quantised_alike(operands, y)?;
            check_single(rescale)
        }
        Rescale::FloatSum { by, .. } => {
            quantised_alike(operands, y)?;
            check_float(by)
        }
    }
}

pub(crate) fn binary(
    function: Binary,
    rescale: &Rescale,
    clamp: &Clamp,
    operands: &[&Type],
    y: &Type,
) -> Checked {
    check_clamp(clamp, y)?;
    let plain = matches!(y.dtype, DType::I32 | DType::I64) && y.quant.is_none();
    match rescale {
        Rescale::Once(_) | Rescale::Float(_) | Rescale::FloatSum { .. } => odd_rescale(),
        Rescale::FixedPoint(by) => {
            quantised_alike(operands, y)?;
            let wanted = function.multipliers();
            let name = function.name();
            ensure!(wanted == Some(by.len()), "{} multipliers for `{name}` on integers", by.len());
            by.iter().try_for_each(check_multiplier)
        }
        Rescale::Real if function.chooses() || (plain && function.of_integers()) => stored(operands, y),
        Rescale::Real => floats(operands, y),
    }
}

pub(crate) fn compare(rescale: &CompareRescale, operands: &[&Type], y: &Type) -> Checked {
    element(DType::Bool, y)?;
    match rescale {
        CompareRescale::Stored => same_storage(operands[0], operands[1]),
        CompareRescale::FixedPoint { left_shift, x: by_x, y: by_y } => {
            ensure!(*left_shift <= 30, "a left shift by {left_shift}");
            quantised_alike(operands, operands[0])?;
            check_multiplier(by_x)?;
            check_multiplier(by_y)
        }
    }
}

pub(crate) fn select(operands: &[&Type], y: &Type) -> Checked {
    let condition = operands[0].dtype;
    ensure!(condition == DType::Bool, "the condition is {}, bool wanted", condition.name());
    stored(&operands[1..], y)
}

pub(crate) fn reduce(function: Reduction, rescale: &Rescale, operands: &[&Type], y: &Type) -> Checked {
    match (function, rescale) {
        (Reduction::Max | Reduction::Min, Rescale::Real) => stored(operands, y),
        (Reduction::Sum | Reduction::Product, Rescale::FixedPoint(_)) => {
            quantised_alike(operands, y)?;
            let by = single(rescale)?;
            ensure!(function == Reduction::Sum || by.shift <= 7, "a multiplier's shift is {}", by.shift);
            check_multiplier(by)
        }
        (Reduction::Sum | Reduction::Product, Rescale::Real) => numbers(operands, y),
        _ => Err(format!("a {} with a multiplier", function.name())),
    }
}

pub(crate) fn gather(operands: &[&Type], y: &Type) -> Checked {
    index("index", operands[1])?;
    unchanged(operands, y)
}

pub(crate) fn clip(clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    stored(operands, y)?;
    check_clamp(clamp, y)
}

pub(crate) fn leaky_relu(rescale: &LeakyRescale, operands: &[&Type], y: &Type) -> Checked {
    match rescale {
        LeakyRescale::Real => floats(operands, y),
        LeakyRescale::FixedPoint { identity, alpha } => {
            quantised_alike(operands, y)?;
            check_multiplier(identity)?;
            // The slope may be negative.
            check_multiplier(&Multiplier { value: alpha.value.saturating_abs(), ..*alpha })
        }
    }
}

/// Floats, or integers with the result scale that the arithmetic implies, whose argument comes from the operand's type.
pub(crate) fn implied_scale(inverse_scale: f32, zero_point: i32, operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    float_or_fixed_scale(x, y, inverse_scale, zero_point)?;
    match x.dtype {
        DType::F32 => Ok(()),
        _ => per_tensor("operand", x),
    }
}

pub(crate) fn softmax(scale: &SoftmaxScale, operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    let SoftmaxScale::FixedPoint { multiplier, diff_min } = scale else { return floats(operands, y) };
    ensure!(x.dtype != DType::F32, "integer parameters for f32");
    if x.dtype != DType::I8 || !softmax_of_16_bits(y) {
        float_or_fixed_scale(x, y, 256.0, -128)?;
    }
    match x.dtype {
        DType::I16 => {
            ensure!(*diff_min <= 0, "the smallest difference is {diff_min}");
            check_multiplier(multiplier)
        }
        _ => exponents(multiplier, *diff_min),
    }
}

pub(crate) fn log_softmax(scale: &SoftmaxScale, divisor: &Rescale, operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    let SoftmaxScale::FixedPoint { multiplier, diff_min } = scale else { return floats(operands, y) };
    ensure!(x.dtype != DType::F32, "integer parameters for f32");
    float_or_fixed_scale(x, y, 16.0, 127)?;
    exponents(multiplier, *diff_min)?;
    check_multiplier(single(divisor)?)
}

/// Arguments of exponentials in Q5.26.
fn exponents(multiplier: &Multiplier, diff_min: i32) -> Checked {
    ensure!(diff_min <= 0, "the smallest difference is {diff_min}");
    ensure!((0..=31).contains(&multiplier.shift), "a multiplier's shift is {}", multiplier.shift);
    check_mantissa(multiplier)
}

pub(crate) fn l2_normalize(operands: &[&Type], y: &Type) -> Checked {
    if y.dtype != DType::U8 {
        return implied_scale(128.0, 0, operands, y);
    }
    let implied = Quant::per_tensor(1.0 / 128.0, 128);
    ensure!(y.quant == Some(implied), "the result is of type {y}, its scale is 1/128 around 128");
    quantised_alike(operands, y)
}

pub(crate) fn inverse_root(rescale: &Rescale, operands: &[&Type], y: &Type) -> Checked {
    ensure!(y.dtype == DType::I16, "an inverse root of {}, i16 wanted", y.dtype.name());
    quantised_alike(operands, y)?;
    let x = operands[0];
    let centred = x.zero_point() == 0 && y.zero_point() == 0;
    ensure!(centred, "{x} to {y}, zero points of 0 wanted");
    check_multiplier(single(rescale)?)
}

pub(crate) fn trees(operands: &[&Type], y: &Type) -> Checked {
    let ints = operands[1..].iter().all(|ty| ty.dtype == DType::I32 && ty.quant.is_none());
    ensure!(ints, "{} and {} for trees, i32 wanted", operands[1], operands[2]);
    float(operands[0], y)
}

pub(crate) fn top_k(operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    ensure!(x.dtype != DType::Bool, "the largest of {}", x.dtype.name());
    ensure!(y.dtype == DType::I32 && y.quant.is_none(), "the result is of type {y}, i32 wanted");
    unchanged(operands, x)
}

pub(crate) fn matmul(rescale: &Rescale, clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    check_clamp(clamp, y)?;
    match rescale {
        Rescale::Real => floats(operands, y),
        Rescale::Once(_) | Rescale::FloatSum { .. } => odd_rescale(),
        Rescale::FixedPoint(_) | Rescale::Float(_) => {
            quantised_alike(operands, y)?;
            let narrow = y.dtype != DType::I16 || matches!(rescale, Rescale::FixedPoint(_));
            ensure!(narrow, "sums of 64 bits as floats");
            check_single(rescale)
        }
    }
}

pub(crate) fn resize(operands: &[&Type], y: &Type) -> Checked {
    ensure!(is_quantisable(y.dtype) || y.dtype == DType::F32, "an image of {}", y.dtype.name());
    unchanged(operands, y)
}

pub(crate) fn lstm(
    factors: [&Rescale; 3],
    tanh_shift: i64,
    clip: &Clamp,
    operands: &[&Type],
    y: &Type,
) -> Checked {
    let [x, h, c, ..] = operands else { return Err("six operands wanted".into()) };
    if factors.iter().all(|rescale| **rescale == Rescale::Real) {
        check_clamp(clip, c)?;
        return floats(operands, y);
    }
    for (rescale, count) in factors.into_iter().zip([4, 4, 3]) {
        let Rescale::FixedPoint(list) = rescale else { return Err("fixed-point factors wanted".into()) };
        ensure!(list.len() == count, "{} multipliers, {count} wanted", list.len());
        list.iter().try_for_each(check_multiplier)?;
    }
    let types: Vec<DType> = operands.iter().map(|ty| ty.dtype).chain([y.dtype]).collect();
    let wanted = [DType::I8, DType::I8, DType::I8, DType::I8, DType::I8, DType::I32, DType::I8];
    ensure!(types == wanted, "operands and result of {types:?}, {wanted:?} wanted");
    per_tensor("operand", x)?;
    same_storage(h, y)?;
    per_tensor("result", y)?;
    ensure!((-15..=12).contains(&tanh_shift), "a cell state of {} fraction bits", 12 - tanh_shift);
    check_clamp(clip, &Type::plain(DType::I16, &[]))
}

pub(crate) fn interpolate(operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0].dtype;
    let all = [x, operands[1].dtype, y.dtype];
    ensure!(all == [DType::I16; 3], "interpolation of {}, i16 wanted", x.name());
    Ok(())
}

pub(crate) fn lookup(operands: &[&Type], y: &Type) -> Checked {
    let (x, table, y) = (operands[0].dtype, operands[1].dtype, y.dtype);
    ensure!(x.size() == 1, "a lookup of {}", x.name());
    ensure!(table == y && y.size() == 1, "a table of {} for {}", table.name(), y.name());
    Ok(())
}

pub(crate) fn quantize(operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0].dtype;
    ensure!(x == DType::F32, "the operand is {}, f32 wanted", x.name());
    integer_with_scale("result", y)
}

pub(crate) fn dequantize(operands: &[&Type], y: &Type) -> Checked {
    element(DType::F32, y)?;
    integer_with_scale("operand", operands[0])
}

pub(crate) fn requantize(rescale: &Rescale, clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    for (what, ty) in [("operand", operands[0]), ("result", y)] {
        ensure!(is_quantisable(ty.dtype) || ty.dtype == DType::I32, "the {what} is {}", ty.dtype.name());
        per_tensor(what, ty)?;
    }
    check_multiplier(single(rescale)?)?;
    check_clamp(clamp, y)
}

pub(crate) fn mean(rescale: &Rescale, clamp: &Clamp, operands: &[&Type], y: &Type) -> Checked {
    check_clamp(clamp, y)?;
    match rescale {
        Rescale::Real => floats(operands, y),
        Rescale::Once(_) | Rescale::FloatSum { .. } => odd_rescale(),
        Rescale::Float(_) => {
            quantised_alike(operands, y)?;
            check_single(rescale)
        }
        Rescale::FixedPoint(_) => {
            quantised_alike(operands, y)?;
            let by = single(rescale)?;
            // The count is in the mantissa, which need not be normal.
            ensure!(by.value >= 0, "a multiplier's mantissa is {}", by.value);
            check_shift(by)
        }
    }
}

pub(crate) fn pad(value: i64, operands: &[&Type], y: &Type) -> Checked {
    let (lo, hi) = y.dtype.int_range().unwrap_or((0, i64::from(u32::MAX)));
    ensure!((lo..=hi).contains(&value), "the padding {value} is no {}", y.dtype.name());
    stored(operands, y)
}

pub(crate) fn transpose(perm: &[usize], operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0];
    let moved = |axis: usize| perm.iter().position(|&from| from == axis);
    let quant = x.quant.as_ref().map(|q| Quant { axis: q.axis.and_then(moved), ..q.clone() });
    same_storage(&Type { quant, ..x.clone() }, y)
}

pub(crate) fn reshape(operands: &[&Type], y: &Type) -> Checked {
    let x = operands[0].dtype;
    ensure!(x == y.dtype, "{} becomes {}", x.name(), y.dtype.name());
    Ok(())
}

/// Ways of rounding that an op does not know.
fn odd_rescale() -> Checked {
    Err("a result that is rounded in another way than this op rounds".into())
}

fn check_finite(by: &Real) -> Checked {
    ensure!(by.0.is_finite(), "a factor of {}", by.0);
    Ok(())
}

/// One factor, not negative.
fn check_float(by: &Real) -> Checked {
    ensure!(by.0.is_finite() && by.0 >= 0.0, "a factor of {}", by.0);
    Ok(())
}

/// Where there is one factor for the whole tensor.
fn check_single(rescale: &Rescale) -> Checked {
    match rescale {
        Rescale::Float(factors) => match &factors[..] {
            [one] => check_float(one),
            several => Err(format!("{} factors, one wanted", several.len())),
        },
        _ => check_multiplier(single(rescale)?),
    }
}

/// Elements with a scale and a zero point that arithmetic is done on.
fn is_quantisable(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::U8 | DType::I16)
}

fn per_tensor(what: &str, ty: &Type) -> Checked {
    ensure!(ty.scale().is_some(), "the {what} of type {ty} has no scale of its own");
    Ok(())
}

/// Operand and result are floats.
fn float(x: &Type, y: &Type) -> Checked {
    let both = [x, y].iter().all(|ty| ty.dtype == DType::F32);
    ensure!(both, "{} to {}, f32 wanted", x.dtype.name(), y.dtype.name());
    Ok(())
}

/// The same element and quantisation: stored values can be copied.
fn same_storage(x: &Type, y: &Type) -> Checked {
    ensure!(x.dtype == y.dtype && x.quant == y.quant, "stored values of type {x} are no {y}");
    Ok(())
}

/// Plain integers that count elements.
pub(crate) fn index(what: &str, ty: &Type) -> Checked {
    let plain = matches!(ty.dtype, DType::I32 | DType::I64) && ty.quant.is_none();
    ensure!(plain, "the {what} is of type {ty}, i32 or i64 wanted");
    Ok(())
}

/// Operands and result are all floats, or all plain integers.
fn arithmetic(operands: &[&Type], y: &Type) -> Checked {
    ensure!(matches!(y.dtype, DType::F32 | DType::I32 | DType::I64), "arithmetic on {}", y.dtype.name());
    let odd = operands.iter().find(|x| x.dtype != y.dtype);
    ensure!(odd.is_none(), "an operand of type {}, a result of {y}", odd.unwrap_or(&y));
    Ok(())
}

/// Operands and result are of one integer element, quantised per tensor.
fn quantised_alike(operands: &[&Type], y: &Type) -> Checked {
    ensure!(is_quantisable(y.dtype), "quantised arithmetic on {}", y.dtype.name());
    for x in operands {
        ensure!(x.dtype == y.dtype, "an operand of type {x}, a result of {y}");
        per_tensor("operand", x)?;
    }
    per_tensor("result", y)
}

/// Convolution and matrix product.
fn weighted(rescale: &Rescale, operands: &[&Type], y: &Type) -> Checked {
    if *rescale == Rescale::Real {
        return operands.iter().try_for_each(|x| float(x, y));
    }
    let (x, w) = (operands[0], operands[1]);
    for (what, ty) in [("operand", x), ("weights", w), ("result", y)] {
        ensure!(is_quantisable(ty.dtype), "the {what} of type {ty} in integer arithmetic");
    }
    per_tensor("operand", x)?;
    per_tensor("result", y)?;
    let axis = w.quant.as_ref().ok_or_else(|| format!("the weights of type {w} have no scale"))?.axis;
    ensure!(matches!(axis, None | Some(0)), "the weights are quantised along axis {}", axis.unwrap_or(0));
    if let Some(bias) = operands.get(2) {
        let wide = bias.dtype == DType::I64 && x.dtype == DType::I16;
        ensure!(wide || bias.dtype == DType::I32, "a bias of {}", bias.dtype.name());
    }
    // The filters are the first axis of the weights.
    let channels = w.shape.dims().first().copied().unwrap_or(1);
    let count = match rescale {
        Rescale::FixedPoint(list) | Rescale::Once(list) => list.len(),
        Rescale::Float(list) => list.len(),
        Rescale::Real | Rescale::FloatSum { .. } => 1,
    };
    ensure!(count == 1 || count == channels, "{count} multipliers for {channels} channels");
    match rescale {
        Rescale::FixedPoint(list) => list.iter().try_for_each(check_divided),
        Rescale::Once(list) => list.iter().try_for_each(check_multiplier),
        Rescale::Float(list) => {
            let narrow = operands.get(2).is_none_or(|bias| bias.dtype == DType::I32);
            ensure!(narrow, "sums of 64 bits as floats");
            list.iter().try_for_each(check_float)
        }
        Rescale::Real | Rescale::FloatSum { .. } => odd_rescale(),
    }
}

/// Floats, or 8-bit integers with the result scale that the arithmetic implies.
fn float_or_fixed_scale(x: &Type, y: &Type, inverse_scale: f32, zero_point: i32) -> Checked {
    if x.dtype == DType::F32 {
        return float(x, y);
    }
    if [x.dtype, y.dtype] == [DType::I16; 2] {
        let implied = Quant::per_tensor(1.0 / 32768.0, 0);
        ensure!(y.quant == Some(implied), "the result is of type {y}, its scale is 1/32768");
        ensure!(x.zero_point() == 0, "an operand of 16 bits has the zero point {}", x.zero_point());
        return per_tensor("operand", x);
    }
    ensure!(x.dtype == DType::I8 && y.dtype == DType::I8, "{} to {}", x.dtype.name(), y.dtype.name());
    let implied = Quant::per_tensor(1.0 / inverse_scale, zero_point);
    ensure!(
        y.quant == Some(implied),
        "the result is of type {y}, its scale is 1/{inverse_scale} and its zero point {zero_point}"
    );
    Ok(())
}

fn integer_with_scale(what: &str, ty: &Type) -> Checked {
    ensure!(is_quantisable(ty.dtype) || ty.dtype == DType::I32, "the {what} is {}", ty.dtype.name());
    ensure!(ty.quant.is_some(), "the {what} of type {ty} has no scale");
    Ok(())
}

fn single(rescale: &Rescale) -> Result<&Multiplier, String> {
    match rescale {
        Rescale::FixedPoint(multipliers) => match &multipliers[..] {
            [one] => Ok(one),
            several => Err(format!("{} multipliers, one wanted", several.len())),
        },
        _ => Err("one multiplier wanted".into()),
    }
}

fn check_multiplier(by: &Multiplier) -> Checked {
    check_mantissa(by)?;
    check_shift(by)
}

/// A multiplier whose mantissa may have been divided by less than two, as that of a mean is.
fn check_divided(by: &Multiplier) -> Checked {
    ensure!(by.value == 0 || by.value >= 1 << 29, "a multiplier's mantissa is {}", by.value);
    check_shift(by)
}

fn check_mantissa(by: &Multiplier) -> Checked {
    ensure!(by.value == 0 || by.value >= 1 << 30, "a multiplier's mantissa is {}", by.value);
    Ok(())
}

fn check_shift(by: &Multiplier) -> Checked {
    ensure!((-31..=30).contains(&by.shift), "a multiplier's shift is {}", by.shift);
    Ok(())
}

/// A clamp is of the result's kind and within its elements.
fn check_clamp(clamp: &Clamp, y: &Type) -> Checked {
    match (*clamp, y.dtype.int_range()) {
        (Clamp::Float { lo, hi }, None) => {
            ensure!(lo.0 <= hi.0, "a clamp to {:?}..={:?}", lo.0, hi.0);
        }
        (Clamp::Int { lo, hi }, Some((min, max))) => {
            let within = lo <= hi && i64::from(lo) >= min && i64::from(hi) <= max;
            ensure!(within, "a clamp of {} to {lo}..={hi}", y.dtype.name());
        }
        _ => return Err(format!("the clamp is of another kind than {}", y.dtype.name())),
    }
    Ok(())
}
