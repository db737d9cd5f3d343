//! Functions of one or two numbers, comparisons and choices.

use super::cx::{broken, Cx};
use super::lazy::{Kind, Pair, Single};
use super::{Kept, Lowered, One, Operators, Refusal, Slot};
use kiln_ir::{Binary, Clamp, Comparison, DType, Data, Op, Real, Rescale, Shape, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ABS", Kept(abs)),
    ("ADD", Kept(|cx| pair(cx, Pair::Add))),
    ("CEIL", One(|cx| unary(cx, Unary::Ceil))),
    ("CLAMP", Kept(clamp)),
    ("COS", One(|cx| unary(cx, Unary::Cos))),
    ("EQUAL", One(|cx| compare(cx, Comparison::Equal))),
    ("ERF", One(|cx| unary(cx, Unary::Erf))),
    ("EXP", One(|cx| unary(cx, Unary::Exp))),
    ("FLOOR", One(|cx| unary(cx, Unary::Floor))),
    ("GREATER", One(|cx| compare(cx, Comparison::Greater))),
    ("GREATER_EQUAL", One(|cx| compare(cx, Comparison::GreaterEqual))),
    (
        "INTDIV",
        One(|cx| {
            let (x, y) = (cx.value(0)?, cx.value(1)?);
            cx.means().quotient(x, y)
        }),
    ),
    ("LOG", One(|cx| unary(cx, Unary::Log))),
    ("LOGICAL_AND", One(|cx| logic(cx, "And"))),
    ("LOGICAL_NOT", One(|cx| logic(cx, "Not"))),
    ("LOGICAL_OR", One(|cx| logic(cx, "Or"))),
    ("LOGICAL_XOR", One(|cx| logic(cx, "Xor"))),
    ("MAXIMUM", Kept(|cx| pair(cx, Pair::Max))),
    ("MINIMUM", Kept(|cx| pair(cx, Pair::Min))),
    ("MUL", Kept(mul)),
    ("NEGATE", One(negate)),
    (
        "POW",
        One(|cx| {
            let (x, y) = (cx.value(0)?, cx.value(1)?);
            cx.means().binary(Binary::Pow, x, y)
        }),
    ),
    (
        "RECIPROCAL",
        One(|cx| {
            let x = cx.value(0)?;
            let one = cx.means().number(x, 1.0)?;
            cx.means().quotient(one, x)
        }),
    ),
    ("RSQRT", One(|cx| unary(cx, Unary::Rsqrt))),
    ("SELECT", One(select)),
    (
        "SIGMOID",
        One(|cx| {
            let x = cx.value(0)?;
            cx.means().sigmoid(x)
        }),
    ),
    ("SIN", One(|cx| unary(cx, Unary::Sin))),
    ("SUB", Kept(|cx| pair(cx, Pair::Sub))),
    (
        "TANH",
        One(|cx| {
            let x = cx.value(0)?;
            cx.means().tanh(x)
        }),
    ),
];

fn unary(cx: &mut Cx<'_, '_, '_>, function: Unary) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    cx.means().unary(function, x)
}

/// Functions of truth values.
fn logic(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let operands: Vec<Option<ValueId>> = cx.values()?.into_iter().map(Some).collect();
    cx.means().call(operator, &operands, &[])
}

/// ABS.
fn abs(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    if let Some(id) = cx.lazy(0).filter(|id| cx.is_expression(*id)) {
        let dims = cx.operand_dims(0)?;
        return cx.kept(Kind::Single(Single::Abs, id), &dims, DType::I32);
    }
    let x = cx.value(0)?;
    match cx.ty(x).dtype {
        DType::F32 => cx.means().unary(Unary::Abs, x).map(Slot::Value),
        _ => cx.magnitude(x).map(Slot::Value),
    }
}

/// Functions of two that keep integers of 32 bits as expressions.
fn pair(cx: &mut Cx<'_, '_, '_>, function: Pair) -> Lowered<Slot> {
    let both = [cx.expression(0)?, cx.expression(1)?];
    if let ([Some(x), Some(y)], true) = (both, cx.lazy(0).is_some() || cx.lazy(1).is_some()) {
        let (a, b) = (cx.operand_dims(0)?, cx.operand_dims(1)?);
        let dims =
            Shape::common(&a, &b).ok_or_else(|| malformed!("operands of {a:?} and {b:?} do not fit"))?;
        return cx.kept(Kind::Pair(function, x, y), &dims, DType::I32);
    }
    let (x, y) = (cx.value(0)?, cx.value(1)?);
    if matches!(cx.ty(x).dtype, DType::I8 | DType::I16) && matches!(function, Pair::Max | Pair::Min) {
        return extreme(cx, function, x, y).map(Slot::Value);
    }
    cx.of_pair(function, x, y).map(Slot::Value)
}

/// MAXIMUM and MINIMUM of stored values.
fn extreme(cx: &mut Cx<'_, '_, '_>, function: Pair, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let y = cx.like(y, x)?;
    let (a, b) = (cx.dims(x), cx.dims(y));
    let dims = Shape::common(&a, &b).ok_or_else(|| malformed!("operands of {a:?} and {b:?} do not fit"))?;
    let function = if function == Pair::Max { Binary::Max } else { Binary::Min };
    let clamp = cx.ty(x).dtype.whole_range();
    cx.means().add_like(Op::Binary { function, rescale: Rescale::Real, clamp }, &[x, y], &dims)
}

/// MUL. Products of integers of 32 bits may be divided by a power of two.
fn mul(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let shift = cx.zero_point(2)?;
    malformed_if!(!(0..=63).contains(&shift), "a shift by {shift}");
    let dtypes = [0, 1].map(|k| cx.lazy(k).map(|id| cx.importer.lazies.get(id).dtype));
    if dtypes == [None; 2] {
        let (x, y) = (cx.value(0)?, cx.value(1)?);
        // Those of narrow integers have 32 bits.
        if matches!(cx.ty(x).dtype, DType::I8 | DType::I16) {
            let (x, y) = (cx.plain(x)?, cx.plain(y)?);
            let mut means = cx.means();
            let (x, y) = (means.cast(x, DType::I32)?, means.cast(y, DType::I32)?);
            return means.product(x, y).map(Slot::Value);
        }
        if cx.ty(x).dtype == DType::F32 {
            return cx.means().product(x, y).map(Slot::Value);
        }
    }
    pair(cx, Pair::Mul(shift as u32))
}

/// NEGATE. Narrow integers have zero points, and are clamped.
fn negate(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    if cx.ty(x).dtype == DType::F32 {
        return cx.means().unary(Unary::Neg, x);
    }
    let (own, out) = (cx.zero_point(1)?, cx.zero_point(2)?);
    let dtype = cx.ty(x).dtype;
    let (lo, hi) = dtype.int_range().unwrap_or((0, 0));
    let of = |stored: i64| (own + out - stored).clamp(lo, hi);
    if dtype == DType::I8 {
        let list: Vec<i64> = (-128..128).map(of).collect();
        return cx.of_each_byte(x, &list, out);
    }
    let x = cx.plain(x)?;
    let mut means = cx.means();
    let wide = means.cast(x, DType::I64)?;
    let sum = means.int_constant("zero points", DType::I64, &[], &[own + out])?;
    let y = means.difference(sum, wide)?;
    // Those of 32 bits wrap.
    if dtype == DType::I32 {
        return means.cast(y, dtype);
    }
    let (lo, hi) = (
        means.int_constant("least", DType::I64, &[], &[lo])?,
        means.int_constant("most", DType::I64, &[], &[hi])?,
    );
    let y = means.binary(Binary::Max, y, lo)?;
    let y = means.binary(Binary::Min, y, hi)?;
    let y = means.cast(y, dtype)?;
    cx.stored(y, out)
}

/// CLAMP, to bounds in the element type.
fn clamp(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (lo, hi) = (cx.operator.bytes(0).map_err(broken)?, cx.operator.bytes(1).map_err(broken)?);
    if let Some(id) = cx.lazy(0).filter(|id| cx.is_expression(*id)) {
        let dims = cx.operand_dims(0)?;
        let (lo, hi) = (integer(lo, DType::I32)?, integer(hi, DType::I32)?);
        malformed_if!(lo > hi, "its bounds are {lo} and {hi}");
        return cx.kept(Kind::Single(Single::Clamp(lo, hi), id), &dims, DType::I32);
    }
    let x = cx.value(0)?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    if dtype == DType::F32 {
        let (lo, hi) = (float(cx, lo)?, float(cx, hi)?);
        malformed_if!(lo.is_nan() || hi.is_nan() || lo > hi, "its bounds are {lo} and {hi}");
        // The largest numbers are no bounds.
        let lo = if lo <= f32::MIN { f32::NEG_INFINITY } else { lo };
        let hi = if hi >= f32::MAX { f32::INFINITY } else { hi };
        let clamp = Clamp::Float { lo: Real(lo), hi: Real(hi) };
        return cx.means().add_like(Op::Clip { clamp }, &[x], &dims).map(Slot::Value);
    }
    let (lo, hi) = (integer(lo, dtype)?, integer(hi, dtype)?);
    malformed_if!(lo > hi, "its bounds are {lo} and {hi}");
    if !matches!(dtype, DType::I8 | DType::I16 | DType::I32) {
        return Err(Refusal::unsupported(
            format!("a clamp of {} cannot be compiled", dtype.name()),
            "clamp int32",
        ));
    }
    let clamp = Clamp::Int { lo: lo as i32, hi: hi as i32 };
    cx.means().add_like(Op::Clip { clamp }, &[x], &dims).map(Slot::Value)
}

/// A bound of that type. Bytes behind it do not count.
fn integer(bytes: &[u8], dtype: DType) -> Lowered<i64> {
    let own = bytes.get(..dtype.size()).map(|own| Data::new(own).to_ints(dtype));
    own.and_then(|own| own.first().copied()).ok_or_else(|| malformed!("a bound is missing"))
}

/// A bound of the operand's type in the file.
fn float(cx: &Cx<'_, '_, '_>, bytes: &[u8]) -> Lowered<f32> {
    let element = cx.operator.inputs.first().and_then(|name| cx.scope.block.tensors.get(name));
    let element = element.map_or(7, |tensor| tensor.element);
    match (element, bytes) {
        (8, &[a, b, ..]) => Ok(crate::half::widen(u16::from_le_bytes([a, b]))),
        (9, &[a, b, ..]) => Ok(f32::from_le_bytes([0, 0, a, b])),
        (_, &[a, b, c, d, ..]) => Ok(f32::from_le_bytes([a, b, c, d])),
        _ => Err(malformed!("a bound is missing")),
    }
}

/// EQUAL, GREATER and GREATER_EQUAL.
fn compare(cx: &mut Cx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    if let (Some(x), Some(y)) = (cx.lazy(0), cx.lazy(1)) {
        if let Some([x, y]) = cx.compared_bytes(x, y)? {
            return cx.means().compared(function, x, y);
        }
    }
    let (x, y) = (cx.value(0)?, cx.value(1)?);
    let y = cx.like(y, x)?;
    cx.means().compared(function, x, y)
}

/// SELECT.
fn select(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (condition, x, y) = (cx.value(0)?, cx.value(1)?, cx.value(2)?);
    let y = cx.like(y, x)?;
    cx.means().choice(condition, x, y)
}
