//! Element types, quantisation and attribute ranges of every op.

use super::ensure;
use crate::{
    softmax_of_16_bits, AddRescale, Clamp, CompareRescale, DType, LeakyRescale, Multiplier, Op, Quant, Real,
    Reduction, Rescale, SoftmaxScale, Type,
};

/// Most bytes of one value.
const MAX_BYTES: usize = i32::MAX as usize;

/// A type is well formed. Whether it may be without elements depends on where it stands.
pub(super) fn check_type(ty: &Type, want_elements: bool) -> Result<(), String> {
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

/// Element types, quantisation and attributes agree with the op. The number of operands is right and shapes have been
/// looked at, though not necessarily found right.
pub(super) fn check(op: &Op, operands: &[&Type], y: &Type) -> Result<(), String> {
    let x = operands[0];
    match op {
        Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp } => {
            check_clamp(clamp, y)?;
            let bytes =
                [x.dtype, y.dtype] == [DType::I8; 2] && matches!(operands[1].dtype, DType::I8 | DType::I16);
            match (op, rescale) {
                (Op::Dense { .. }, Rescale::Once(_)) if bytes => weighted(rescale, operands, y),
                (_, Rescale::Once(_) | Rescale::FloatSum { .. }) => odd_rescale(),
                _ => weighted(rescale, operands, y),
            }
        }
        Op::ComputedConv2d { rescale, clamp, .. } => {
            check_clamp(clamp, y)?;
            let bytes = operands.iter().take(2).chain([&y]).all(|ty| ty.dtype == DType::I8);
            match rescale {
                Rescale::Once(_) if !bytes => odd_rescale(),
                _ => weighted(rescale, operands, y),
            }
        }
        Op::DynamicScale { .. } => float(x, y),
        Op::DynamicQuantize {} => {
            float(x, operands[1])?;
            let plain = y.dtype == DType::I8 && y.quant.is_none();
            ensure!(plain, "the result is of type {y}, a plain i8 wanted");
            Ok(())
        }
        Op::DynamicConv2d { clamp, .. } | Op::DynamicDense { clamp } => {
            check_clamp(clamp, y)?;
            let (scales, w, bias) = (operands[1], operands[2], operands[3]);
            float(scales, bias).and_then(|()| float(scales, y))?;
            ensure!(
                x.dtype == DType::I8 && x.quant.is_none(),
                "the operand is of type {x}, a plain i8 wanted"
            );
            let quant = w.quant.as_ref().filter(|_| w.dtype == DType::I8);
            let symmetric = quant.is_some_and(|q| {
                matches!(q.axis, None | Some(0)) && q.zero_points.iter().all(|&zero| zero == 0)
            });
            ensure!(symmetric, "the weights are of type {w}, symmetric i8 wanted");
            Ok(())
        }
        Op::AvgPool2d { clamp, .. } | Op::MaxPool2d { clamp, .. } => {
            ensure!(is_quantisable(y.dtype) || y.dtype == DType::F32, "pooling of {}", y.dtype.name());
            same_storage(x, y)?;
            check_clamp(clamp, y)
        }
        Op::Add { rescale, clamp } | Op::Sub { rescale, clamp } => {
            check_clamp(clamp, y)?;
            match rescale {
                AddRescale::Real => arithmetic(operands, y),
                AddRescale::FixedPoint { left_shift, x: by_x, y: by_y, out } => {
                    quantised_alike(operands, y)?;
                    ensure!(*left_shift <= 30, "a left shift by {left_shift}");
                    [by_x, by_y, out].into_iter().try_for_each(check_multiplier)
                }
                AddRescale::Float { x: by_x, y: by_y, constant, offset } => {
                    ensure!(matches!(op, Op::Add { .. }), "a difference in floats");
                    quantised_alike(operands, y)?;
                    ensure!((0..=128).contains(offset), "an offset of {offset}");
                    [by_x, by_y, constant].into_iter().try_for_each(check_finite)
                }
            }
        }
        Op::Mul { rescale, clamp } => {
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
        Op::Unary { .. } => float(x, y),
        Op::Binary { function, rescale, clamp } => {
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
                Rescale::Real if function.chooses() || (plain && function.of_integers()) => {
                    operands.iter().try_for_each(|x| same_storage(x, y))
                }
                Rescale::Real => operands.iter().try_for_each(|x| float(x, y)),
            }
        }
        Op::Compare { rescale, .. } => {
            ensure!(y.dtype == DType::Bool, "the result is {}, bool wanted", y.dtype.name());
            match rescale {
                CompareRescale::Stored => same_storage(x, operands[1]),
                CompareRescale::FixedPoint { left_shift, x: by_x, y: by_y } => {
                    ensure!(*left_shift <= 30, "a left shift by {left_shift}");
                    quantised_alike(operands, x)?;
                    check_multiplier(by_x)?;
                    check_multiplier(by_y)
                }
            }
        }
        Op::Select {} => {
            ensure!(x.dtype == DType::Bool, "the condition is {}, bool wanted", x.dtype.name());
            operands[1..].iter().try_for_each(|x| same_storage(x, y))
        }
        Op::Cast {} | Op::Custom { .. } => Ok(()),
        Op::Reduce { function, rescale, .. } => match (function, rescale) {
            (Reduction::Max | Reduction::Min, Rescale::Real) => same_storage(x, y),
            (Reduction::Sum, Rescale::FixedPoint(_)) => {
                quantised_alike(operands, y)?;
                check_multiplier(single(rescale)?)
            }
            (Reduction::Product, Rescale::FixedPoint(_)) => {
                quantised_alike(operands, y)?;
                let by = single(rescale)?;
                ensure!(by.shift <= 7, "a multiplier's shift is {}", by.shift);
                check_multiplier(by)
            }
            (Reduction::Sum | Reduction::Product, Rescale::Real) => {
                ensure!(x.quant.is_none() && y.quant.is_none(), "stored values of type {x} are no numbers");
                arithmetic(operands, y)
            }
            _ => Err(format!("a {} with a multiplier", function.name())),
        },
        Op::ArgReduce { .. } => index("result", y),
        Op::CumSum { .. } => {
            ensure!(x.quant.is_none() && y.quant.is_none(), "stored values of type {x} are no numbers");
            arithmetic(operands, y)
        }
        Op::Gather { .. } => {
            index("index", operands[1])?;
            unchanged(x, y)
        }
        Op::Broadcast {} => unchanged(x, y),
        Op::Clip { clamp } => {
            same_storage(x, y)?;
            check_clamp(clamp, y)
        }
        Op::LeakyRelu { rescale, .. } => match rescale {
            LeakyRescale::Real => float(x, y),
            LeakyRescale::FixedPoint { identity, alpha } => {
                quantised_alike(operands, y)?;
                check_multiplier(identity)?;
                // The slope may be negative.
                check_multiplier(&Multiplier { value: alpha.value.saturating_abs(), ..*alpha })
            }
        },
        Op::Logistic {} => float_or_fixed_scale(x, y, 256.0, -128).and_then(|()| activation_operand(x)),
        Op::Tanh {} => float_or_fixed_scale(x, y, 128.0, 0).and_then(|()| activation_operand(x)),
        Op::Softmax { scale, .. } => match scale {
            SoftmaxScale::Real => float(x, y),
            SoftmaxScale::FixedPoint { multiplier, diff_min } => {
                ensure!(x.dtype != DType::F32, "integer parameters for f32");
                if x.dtype != DType::I8 || !softmax_of_16_bits(y) {
                    float_or_fixed_scale(x, y, 256.0, -128)?;
                }
                ensure!(*diff_min <= 0, "the smallest difference is {diff_min}");
                if x.dtype == DType::I16 {
                    return check_multiplier(multiplier);
                }
                ensure!((0..=31).contains(&multiplier.shift), "a multiplier's shift is {}", multiplier.shift);
                check_mantissa(multiplier)
            }
        },
        Op::LogSoftmax { scale, divisor } => match scale {
            SoftmaxScale::Real => float(x, y),
            SoftmaxScale::FixedPoint { multiplier, diff_min } => {
                ensure!(x.dtype != DType::F32, "integer parameters for f32");
                float_or_fixed_scale(x, y, 16.0, 127)?;
                ensure!(*diff_min <= 0, "the smallest difference is {diff_min}");
                ensure!((0..=31).contains(&multiplier.shift), "a multiplier's shift is {}", multiplier.shift);
                check_mantissa(multiplier)?;
                check_multiplier(single(divisor)?)
            }
        },
        Op::L2Normalize {} if y.dtype == DType::U8 => {
            let implied = Quant::per_tensor(1.0 / 128.0, 128);
            ensure!(y.quant == Some(implied), "the result is of type {y}, its scale is 1/128 around 128");
            quantised_alike(operands, y)
        }
        Op::L2Normalize {} => float_or_fixed_scale(x, y, 128.0, 0).and_then(|()| activation_operand(x)),
        Op::LocalNormalize { .. } => float(x, y),
        Op::InverseRoot { rescale } => {
            ensure!(y.dtype == DType::I16, "an inverse root of {}, i16 wanted", y.dtype.name());
            quantised_alike(operands, y)?;
            let centred = x.zero_point() == 0 && y.zero_point() == 0;
            ensure!(centred, "{x} to {y}, zero points of 0 wanted");
            check_multiplier(single(rescale)?)
        }
        Op::SquaredDistances {} => operands.iter().try_for_each(|x| float(x, y)),
        Op::Couple {} => float(x, y),
        Op::Trees { .. } => {
            let ints = operands[1..].iter().all(|ty| ty.dtype == DType::I32 && ty.quant.is_none());
            ensure!(ints, "{} and {} for trees, i32 wanted", operands[1], operands[2]);
            float(x, y)
        }
        Op::TopK {} => {
            ensure!(x.dtype != DType::Bool, "the largest of {}", x.dtype.name());
            ensure!(y.dtype == DType::I32 && y.quant.is_none(), "the result is of type {y}, i32 wanted");
            unchanged(x, x)
        }
        Op::MatMul { rescale, clamp } => {
            check_clamp(clamp, y)?;
            match rescale {
                Rescale::Real => operands.iter().try_for_each(|x| float(x, y)),
                Rescale::Once(_) | Rescale::FloatSum { .. } => odd_rescale(),
                Rescale::FixedPoint(_) | Rescale::Float(_) => {
                    quantised_alike(operands, y)?;
                    ensure!(
                        y.dtype != DType::I16 || matches!(rescale, Rescale::FixedPoint(_)),
                        "sums of 64 bits as floats"
                    );
                    check_single(rescale)
                }
            }
        }
        Op::ResizeBilinear { .. } => {
            ensure!(is_quantisable(y.dtype) || y.dtype == DType::F32, "an image of {}", y.dtype.name());
            unchanged(x, y)
        }
        Op::Lstm { input, recurrent, cell, tanh_shift, clip } => {
            let factors = [(input, 4), (recurrent, 4), (cell, 3)];
            let c = operands.get(2).copied().unwrap_or(x);
            if factors.iter().all(|(rescale, _)| **rescale == Rescale::Real) {
                check_clamp(clip, c)?;
                return operands.iter().try_for_each(|x| float(x, y));
            }
            for (rescale, count) in factors {
                let Rescale::FixedPoint(list) = rescale else {
                    return Err("fixed-point factors wanted".into());
                };
                ensure!(list.len() == count, "{} multipliers, {count} wanted", list.len());
                list.iter().try_for_each(check_multiplier)?;
            }
            let types: Vec<DType> = operands.iter().map(|ty| ty.dtype).chain([y.dtype]).collect();
            let wanted = [DType::I8, DType::I8, DType::I8, DType::I8, DType::I8, DType::I32, DType::I8];
            ensure!(types == wanted, "operands and result of {types:?}, {wanted:?} wanted");
            per_tensor("operand", x)?;
            operands.get(1).map_or(Ok(()), |h| same_storage(h, y))?;
            per_tensor("result", y)?;
            ensure!((-15..=12).contains(tanh_shift), "a cell state of {} fraction bits", 12 - tanh_shift);
            check_clamp(clip, &Type::plain(DType::I16, &[]))
        }
        Op::Signal { function } => {
            let wanted = function.result(operands)?.dtype;
            ensure!(y.dtype == wanted, "the result is {}, {} wanted", y.dtype.name(), wanted.name());
            Ok(())
        }
        Op::Interpolate {} => {
            let all = [x.dtype, operands[1].dtype, y.dtype];
            ensure!(all == [DType::I16; 3], "interpolation of {}, i16 wanted", x.dtype.name());
            Ok(())
        }
        Op::Lookup {} => {
            let table = operands[1];
            ensure!(x.dtype.size() == 1, "a lookup of {}", x.dtype.name());
            ensure!(
                table.dtype == y.dtype && y.dtype.size() == 1,
                "a table of {} for {}",
                table.dtype.name(),
                y.dtype.name()
            );
            Ok(())
        }
        Op::Quantize { .. } => {
            ensure!(x.dtype == DType::F32, "the operand is {}, f32 wanted", x.dtype.name());
            integer_with_scale("result", y)
        }
        Op::Dequantize {} => {
            ensure!(y.dtype == DType::F32, "the result is {}, f32 wanted", y.dtype.name());
            integer_with_scale("operand", x)
        }
        Op::Requantize { rescale, clamp } => {
            ensure!(is_quantisable(x.dtype) || x.dtype == DType::I32, "the operand is {}", x.dtype.name());
            ensure!(is_quantisable(y.dtype) || y.dtype == DType::I32, "the result is {}", y.dtype.name());
            per_tensor("operand", x)?;
            per_tensor("result", y)?;
            check_multiplier(single(rescale)?)?;
            check_clamp(clamp, y)
        }
        Op::Mean { rescale, clamp, .. } => {
            check_clamp(clamp, y)?;
            match rescale {
                Rescale::Real => float(x, y),
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
        Op::Pad { value, .. } => {
            let (lo, hi) = y.dtype.int_range().unwrap_or((0, i64::from(u32::MAX)));
            ensure!((lo..=hi).contains(value), "the padding {value} is no {}", y.dtype.name());
            same_storage(x, y)
        }
        Op::Concat { .. } => operands.iter().try_for_each(|x| same_storage(x, y)),
        Op::Slice { .. } => same_storage(x, y),
        Op::Transpose { perm } => {
            let moved = |axis: usize| perm.iter().position(|&from| from == axis);
            let quant = x.quant.as_ref().map(|q| Quant { axis: q.axis.and_then(moved), ..q.clone() });
            same_storage(&Type { quant, ..x.clone() }, y)
        }
        Op::Reshape {} => {
            ensure!(x.dtype == y.dtype, "{} becomes {}", x.dtype.name(), y.dtype.name());
            Ok(())
        }
    }
}

/// Ways of rounding that an op does not know.
fn odd_rescale() -> Result<(), String> {
    Err("a result that is rounded in another way than this op rounds".into())
}

fn check_finite(by: &Real) -> Result<(), String> {
    ensure!(by.0.is_finite(), "a factor of {}", by.0);
    Ok(())
}

/// One factor, not negative.
fn check_float(by: &Real) -> Result<(), String> {
    ensure!(by.0.is_finite() && by.0 >= 0.0, "a factor of {}", by.0);
    Ok(())
}

/// Where there is one factor for the whole tensor.
fn check_single(rescale: &Rescale) -> Result<(), String> {
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

fn per_tensor(what: &str, ty: &Type) -> Result<(), String> {
    ensure!(ty.scale().is_some(), "the {what} of type {ty} has no scale of its own");
    Ok(())
}

/// Operand and result are floats.
fn float(x: &Type, y: &Type) -> Result<(), String> {
    let both = [x, y].iter().all(|ty| ty.dtype == DType::F32);
    ensure!(both, "{} to {}, f32 wanted", x.dtype.name(), y.dtype.name());
    Ok(())
}

/// The same element and quantisation: stored values can be copied.
fn same_storage(x: &Type, y: &Type) -> Result<(), String> {
    ensure!(x.dtype == y.dtype && x.quant == y.quant, "stored values of type {x} are no {y}");
    Ok(())
}

/// Stored values can be copied to other places: no scale belongs to a place.
fn unchanged(x: &Type, y: &Type) -> Result<(), String> {
    let placed = x.quant.as_ref().is_some_and(|q| q.axis.is_some());
    ensure!(!placed, "elements of type {x} have scales of their places");
    same_storage(x, y)
}

/// Plain integers that count elements.
fn index(what: &str, ty: &Type) -> Result<(), String> {
    let plain = matches!(ty.dtype, DType::I32 | DType::I64) && ty.quant.is_none();
    ensure!(plain, "the {what} is of type {ty}, i32 or i64 wanted");
    Ok(())
}

/// Operands and result are all floats, or all plain integers.
fn arithmetic(operands: &[&Type], y: &Type) -> Result<(), String> {
    ensure!(matches!(y.dtype, DType::F32 | DType::I32 | DType::I64), "arithmetic on {}", y.dtype.name());
    let odd = operands.iter().find(|x| x.dtype != y.dtype);
    ensure!(odd.is_none(), "an operand of type {}, a result of {y}", odd.unwrap_or(&y));
    Ok(())
}

/// Operands and result are of one integer element, quantised per tensor.
fn quantised_alike(operands: &[&Type], y: &Type) -> Result<(), String> {
    ensure!(is_quantisable(y.dtype), "quantised arithmetic on {}", y.dtype.name());
    for x in operands {
        ensure!(x.dtype == y.dtype, "an operand of type {x}, a result of {y}");
        per_tensor("operand", x)?;
    }
    per_tensor("result", y)
}

/// Convolution and matrix product.
fn weighted(rescale: &Rescale, operands: &[&Type], y: &Type) -> Result<(), String> {
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
        Rescale::FixedPoint(list) | Rescale::Once(list) => list.iter().try_for_each(check_multiplier),
        Rescale::Float(list) => {
            let narrow = operands.get(2).is_none_or(|bias| bias.dtype == DType::I32);
            ensure!(narrow, "sums of 64 bits as floats");
            list.iter().try_for_each(check_float)
        }
        Rescale::Real | Rescale::FloatSum { .. } => odd_rescale(),
    }
}

/// Floats, or 8-bit integers with the result scale that the arithmetic implies.
fn float_or_fixed_scale(x: &Type, y: &Type, inverse_scale: f32, zero_point: i32) -> Result<(), String> {
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

/// The argument of an integer activation comes from its type.
fn activation_operand(x: &Type) -> Result<(), String> {
    if x.dtype == DType::F32 {
        return Ok(());
    }
    per_tensor("operand", x)
}

fn integer_with_scale(what: &str, ty: &Type) -> Result<(), String> {
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

fn check_multiplier(by: &Multiplier) -> Result<(), String> {
    check_mantissa(by)?;
    check_shift(by)
}

fn check_mantissa(by: &Multiplier) -> Result<(), String> {
    ensure!(by.value == 0 || by.value >= 1 << 30, "a multiplier's mantissa is {}", by.value);
    Ok(())
}

fn check_shift(by: &Multiplier) -> Result<(), String> {
    ensure!((-31..=30).contains(&by.shift), "a multiplier's shift is {}", by.shift);
    Ok(())
}

/// A clamp is of the result's kind and within its elements.
fn check_clamp(clamp: &Clamp, y: &Type) -> Result<(), String> {
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
