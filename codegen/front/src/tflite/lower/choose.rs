//! Comparisons, logic, choices and changes of type: EQUAL to NOT_EQUAL, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, SELECT, SELECT_V2, ONE_HOT, CAST.

use super::arithmetic::broadcast;
use super::cx::{axis, describe, OpCx};
use super::quant::multiplier;
use super::{Lowered, Operators, Refusal};
use kiln_ir::{CompareRescale, Comparison, DType, Data, Op, Shape, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    (53, cast),
    (58, |cx| compare(cx, Comparison::Less)),         // LESS
    (61, |cx| compare(cx, Comparison::Greater)),      // GREATER
    (62, |cx| compare(cx, Comparison::GreaterEqual)), // GREATER_EQUAL
    (63, |cx| compare(cx, Comparison::LessEqual)),    // LESS_EQUAL
    (64, select),
    (71, |cx| compare(cx, Comparison::Equal)),    // EQUAL
    (72, |cx| compare(cx, Comparison::NotEqual)), // NOT_EQUAL
    (84, logical_or),
    (85, one_hot),
    (86, logical_and),
    (87, logical_not),
    (123, select_v2),
];

/// Bits of headroom of quantised operands.
const LEFT_SHIFT: u32 = 8;

/// Quantised operands are rescaled by their scales, as TFLite does it: numbers that differ by less than 1/256 may count as equal.
fn compare(cx: &mut OpCx<'_, '_, '_>, function: Comparison) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let dims = broadcast(cx, x, y)?;
    truth(cx)?;
    let (tx, ty) = (cx.ty(x), cx.ty(y));
    let rescale = match (tx.dtype, &tx.quant, &ty.quant) {
        (dtype, ..) if dtype != ty.dtype => {
            return Err(malformed!("{} cannot be compared with {}", describe(tx), describe(ty)))
        }
        (DType::I8, Some(_), Some(_)) => CompareRescale::FixedPoint {
            left_shift: LEFT_SHIFT,
            x: multiplier(cx.scale(tx, "first operand")?.into())?,
            y: multiplier(cx.scale(ty, "second operand")?.into())?,
        },
        (_, None, None) => CompareRescale::Stored,
        _ => {
            let what = format!("{} and {} cannot be compared yet", describe(tx), describe(ty));
            return Err(Refusal::unsupported(what, "convert the model to float32 or to full-integer int8"));
        }
    };
    cx.emit(Op::Compare { function, rescale }, &[x, y], 0, &dims)
}

/// Refuses a result that is not boolean.
fn truth(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let result = cx.declared(0)?;
    match result.dtype {
        DType::Bool => Ok(()),
        _ => Err(malformed!("its result is {}", describe(&result))),
    }
}

/// Two boolean operands and their common shape.
fn truths(cx: &mut OpCx<'_, '_, '_>) -> Lowered<(ValueId, ValueId, Vec<usize>)> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    truth(cx)?;
    for operand in [x, y] {
        condition(cx, operand)?;
    }
    Ok((x, y, broadcast(cx, x, y)?))
}

fn condition(cx: &OpCx<'_, '_, '_>, x: ValueId) -> Lowered {
    match cx.ty(x).dtype {
        DType::Bool => Ok(()),
        _ => Err(malformed!("its condition is {}", cx.shown(x))),
    }
}

/// LOGICAL_AND: the second operand where the first one holds.
fn logical_and(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, y, dims) = truths(cx)?;
    cx.emit(Op::Select {}, &[x, y, x], 0, &dims)
}

/// LOGICAL_OR: the second operand where the first one does not hold.
fn logical_or(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, y, dims) = truths(cx)?;
    cx.emit(Op::Select {}, &[x, x, y], 0, &dims)
}

/// LOGICAL_NOT: whether the operand equals false.
fn logical_not(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    truth(cx)?;
    condition(cx, x)?;
    let no = cx.constant("false", Type::plain(DType::Bool, &[]), Data::new(vec![0u8]));
    let op = Op::Compare { function: Comparison::Equal, rescale: CompareRescale::Stored };
    let dims = cx.dims(x);
    cx.emit(op, &[x, no], 0, &dims)
}

/// SELECT: a condition of one axis is for the first axis of the operands.
fn select(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let condition = cx.input(0)?;
    let operand = cx.input(1)?;
    let rank = cx.dims(operand).len();
    let mut dims = cx.dims(condition);
    let whole = dims == cx.dims(operand);
    if dims.len() == 1 && rank > 1 && !whole && cx.ty(condition).shape.numel() > 1 {
        dims.resize(rank, 1);
        let ty = cx.ty(condition).with_shape(&dims);
        let condition = cx.node(Op::Reshape {}, &[condition], 0, ty)?;
        return chosen(cx, condition);
    }
    chosen(cx, condition)
}

/// SELECT_V2, with broadcasting.
fn select_v2(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let condition = cx.input(0)?;
    chosen(cx, condition)
}

fn chosen(cx: &mut OpCx<'_, '_, '_>, c: ValueId) -> Lowered {
    condition(cx, c)?;
    let (x, y) = (cx.input(1)?, cx.input(2)?);
    let (x, y) = (cx.as_result(x, 0)?, cx.as_result(y, 0)?);
    let both = broadcast(cx, x, y)?;
    let dims = Shape::common(&cx.dims(c), &both);
    let misfit = || {
        let (c, x, y) = (cx.shown(c), cx.shown(x), cx.shown(y));
        malformed!("condition {c} does not fit {x} and {y}")
    };
    let dims = dims.ok_or_else(misfit)?;
    cx.emit(Op::Select {}, &[c, x, y], 0, &dims)
}

/// ONE_HOT: a choice between two numbers for each index and each number below `depth`.
fn one_hot(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let at = cx.options(61)?.axis()?;
    let indices = cx.input(0)?;
    let given = cx.ints(1, "depth")?;
    let depth = match given[..] {
        [depth] => u32::try_from(depth).ok().filter(|&depth| depth > 0),
        _ => None,
    };
    let depth = depth.ok_or_else(|| malformed!("its depth is {given:?}"))? as usize;
    let mut dims = cx.dims(indices);
    let at = if at == -1 { dims.len() } else { axis(i64::from(at), dims.len() + 1)? };
    dims.insert(at, 1);
    let dtype = cx.ty(indices).dtype;
    if !matches!(dtype, DType::I32 | DType::I64) {
        let what = format!("its indices are {}", cx.shown(indices));
        return Err(Refusal::unsupported(what, "use indices of int32 or int64"));
    }
    // Before they are made: a few bytes can ask for billions.
    cx.charge(depth.saturating_mul(dtype.size()))?;
    let numbers = Data::from_ints(dtype, 0..depth as i64);
    let mut counted = vec![1; dims.len() - at];
    counted[0] = depth;
    let counted = cx.constant("numbers", Type::plain(dtype, &counted), numbers);
    let raised = cx.node(Op::Reshape {}, &[indices], 0, Type::plain(dtype, &dims))?;
    dims[at] = depth;
    let op = Op::Compare { function: Comparison::Equal, rescale: CompareRescale::Stored };
    let hot = cx.node(op, &[raised, counted], 0, Type::plain(DType::Bool, &dims))?;
    let mut values = Vec::new();
    for k in [2, 3] {
        let value = cx.input(k)?;
        malformed_if!(cx.ty(value).shape.numel() != 1, "{} is not a single number", cx.shown(value));
        let value = cx.as_result(value, 0)?;
        let ty = cx.ty(value).with_shape(&[]);
        values.push(cx.node(Op::Reshape {}, &[value], 0, ty)?);
    }
    cx.emit(Op::Select {}, &[hot, values[0], values[1]], 0, &dims)
}

/// CAST: stored values count as plain numbers.
fn cast(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let x = match cx.as_stored(x) {
        Some(stored) => cx.same_number(x, stored),
        None => x,
    };
    let dims = cx.dims(x);
    let width = |ty: &Type| ty.dtype.size();
    if cx.has_wide_unsigned() {
        let result = cx.declared(0)?;
        let whole =
            matches!((cx.ty(x).dtype, result.dtype), (DType::I32, DType::I32) | (DType::I64, DType::I64));
        // Integers lose their high bits, whether there is a sign or not.
        let narrowed = width(&result) < width(cx.ty(x)) && result.dtype != DType::Bool;
        return match whole {
            true => cx.emit_reshaped(x, 0, &dims),
            false if narrowed || !cx.is_unsigned_input(0) && cx.ty(x).dtype != DType::F32 => {
                cx.emit(Op::Cast {}, &[x], 0, &dims)
            }
            false => {
                let what = format!("CAST cannot be compiled{}", cx.describe());
                Err(Refusal::unsupported(what, "cast uint32 to int32 in the model first"))
            }
        };
    }
    cx.emit(Op::Cast {}, &[x], 0, &dims)
}
