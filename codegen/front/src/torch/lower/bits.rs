//! The bits of integers. No op knows them: each bit is a remainder, and what becomes of two bits is arithmetic.

use super::cx::Cx;
use super::{logic, Lowered, One, Operators, Refusal};
use kiln_ir::{Binary, Comparison, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("__and__", One(|cx| combined(cx, Of::And))),
    ("__lshift__", One(|cx| shifted(cx, true))),
    ("__or__", One(|cx| combined(cx, Of::Or))),
    ("__rshift__", One(|cx| shifted(cx, false))),
    ("__xor__", One(|cx| combined(cx, Of::Xor))),
    ("bitwise_and", One(|cx| combined(cx, Of::And))),
    ("bitwise_left_shift", One(|cx| shifted(cx, true))),
    ("bitwise_or", One(|cx| combined(cx, Of::Or))),
    ("bitwise_right_shift", One(|cx| shifted(cx, false))),
    ("bitwise_xor", One(|cx| combined(cx, Of::Xor))),
];

/// What becomes of two bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    And,
    Or,
    Xor,
}

fn combined(cx: &mut Cx<'_, '_, '_>, of: Of) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let dtype = cx.ty(x).dtype;
    if dtype == DType::Bool {
        return match of {
            Of::And => cx.both(x, y),
            Of::Or => logic::either(cx, x, y),
            Of::Xor => cx.compared(Comparison::NotEqual, x, y),
        };
    }
    // The lowest bits of a number are a remainder.
    if let (Of::And, Some(data)) = (of, cx.data(y)) {
        let masks = data.to_ints(dtype);
        let first = masks.first().copied().unwrap_or(0);
        let is_low = first > 0 && first < i64::from(i32::MAX) && (first & (first + 1)) == 0;
        if is_low && masks.iter().all(|&mask| mask == first) {
            let size = cx.number(y, (first + 1) as f64)?;
            let wide = cx.dims(y);
            let size = super::view::spread(cx, size, &wide)?;
            return cx.binary(Binary::FloorMod, x, size);
        }
    }
    let width = 8 * dtype.size();
    cx.written_out(10 * width)?;
    let (mut x, mut y) = (cx.cast(x, DType::I64)?, cx.cast(y, DType::I64)?);
    let (two, zero) = (cx.number(x, 2.0)?, cx.number(x, 0.0)?);
    // The highest bit is that of the sign.
    let signs = [x, y].map(|x| cx.compared(Comparison::Less, x, zero));
    let [sign_x, sign_y] = signs;
    let (sign_x, sign_y) = (sign_x?, sign_y?);
    let signs = [cx.cast(sign_x, DType::I64)?, cx.cast(sign_y, DType::I64)?];
    let is_signed = dtype != DType::U8;
    let mut all = None;
    for k in 0..width - usize::from(is_signed) {
        let (a, b) = (cx.binary(Binary::FloorMod, x, two)?, cx.binary(Binary::FloorMod, y, two)?);
        let bit = one(cx, of, a, b)?;
        all = Some(placed(cx, all, bit, 1 << k)?);
        (x, y) = (cx.binary(Binary::FloorDiv, x, two)?, cx.binary(Binary::FloorDiv, y, two)?);
    }
    if is_signed {
        let bit = one(cx, of, signs[0], signs[1])?;
        all = Some(placed(cx, all, bit, i64::MIN >> (64 - width))?);
    }
    cx.cast(all.unwrap_or(zero), dtype)
}

/// A bit of the result, as 0 or 1.
fn one(cx: &mut Cx<'_, '_, '_>, of: Of, a: ValueId, b: ValueId) -> Lowered<ValueId> {
    match of {
        Of::And => cx.product(a, b),
        Of::Or => cx.binary(Binary::Max, a, b),
        Of::Xor => {
            let gap = cx.difference(a, b)?;
            cx.product(gap, gap)
        }
    }
}

/// A sum with a bit in its place.
fn placed(cx: &mut Cx<'_, '_, '_>, sum: Option<ValueId>, bit: ValueId, weight: i64) -> Lowered<ValueId> {
    let weight = cx.int_constant("place", DType::I64, &[], &[weight])?;
    let bit = cx.product(bit, weight)?;
    sum.map_or(Ok(bit), |sum| cx.sum(sum, bit))
}

/// By a known number of bits: a product, or a quotient that is rounded down.
fn shifted(cx: &mut Cx<'_, '_, '_>, left: bool) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let dtype = cx.ty(x).dtype;
    let unknown = || Refusal::unsupported("it shifts by a number that is not constant", "use a constant one");
    let counts = cx.data(y).filter(|_| dtype != DType::F32).ok_or_else(unknown)?.to_ints(dtype);
    let most = (8 * dtype.size()) as i64 - 2;
    malformed_if!(counts.iter().any(|count| !(0..=most).contains(count)), "it shifts by {counts:?} bits");
    let powers: Vec<i64> = counts.iter().map(|count| 1 << count).collect();
    let dims = cx.dims(y);
    let powers = cx.int_constant("powers", dtype, &dims, &powers)?;
    match left {
        true => cx.product(x, powers),
        false => cx.binary(Binary::FloorDiv, x, powers),
    }
}
