//! Bits of integers.

use super::cx::Cx;
use super::{Lowered, One, Operators};
use crate::onnx::lower::bits;
use kiln_ir::{Binary, Comparison, DType, Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ARITHMETIC_RIGHT_SHIFT", One(right_shift)),
    ("BITWISE_AND", One(|cx| combined(cx, '*'))),
    ("BITWISE_NOT", One(not)),
    ("BITWISE_OR", One(|cx| combined(cx, '+'))),
    ("BITWISE_XOR", One(|cx| combined(cx, '-'))),
    ("CLZ", One(leading_zeros)),
    ("LOGICAL_LEFT_SHIFT", One(left_shift)),
    ("LOGICAL_RIGHT_SHIFT", One(logical_right_shift)),
];

/// Operands as plain integers.
fn operands(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let values = cx.values()?;
    values.into_iter().map(|value| cx.plain(value)).collect()
}

/// What becomes of each two bits.
fn combined(cx: &mut Cx<'_, '_, '_>, sign: char) -> Lowered<ValueId> {
    let &[x, y] = &*operands(cx)? else { return Err(malformed!("two operands wanted")) };
    let width = 8 * cx.ty(x).dtype.size() as u32;
    bits::combined(&mut cx.means(), x, y, sign, width)
}

/// −1 − x.
fn not(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let x = cx.plain(x)?;
    let all = cx.means().number(x, -1.0)?;
    cx.means().difference(all, x)
}

/// Operands and 2^y, in 64 bits.
fn powers(cx: &mut Cx<'_, '_, '_>) -> Lowered<(DType, ValueId, ValueId)> {
    let &[x, y] = &*operands(cx)? else { return Err(malformed!("two operands wanted")) };
    let dtype = cx.ty(x).dtype;
    let mut means = cx.means();
    let (x, y) = (means.cast(x, DType::I64)?, means.cast(y, DType::I64)?);
    let two = means.number(y, 2.0)?;
    let power = means.binary(Binary::Pow, two, y)?;
    Ok((dtype, x, power))
}

/// x / 2^y, rounded down, or half up.
fn right_shift(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let rounds = cx.flag(0)?;
    let (dtype, x, power) = powers(cx)?;
    let mut means = cx.means();
    let x = if rounds {
        let two = means.number(power, 2.0)?;
        // Nothing is rounded by 2⁰, of which half is 0.
        let half = means.quotient(power, two)?;
        means.sum(x, half)?
    } else {
        x
    };
    let y = means.binary(Binary::FloorDiv, x, power)?;
    means.cast(y, dtype)
}

fn left_shift(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (dtype, x, power) = powers(cx)?;
    let mut means = cx.means();
    let y = means.product(x, power)?;
    means.cast(y, dtype)
}

/// The same of the bits as an unsigned number.
fn logical_right_shift(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (dtype, x, power) = powers(cx)?;
    let mut means = cx.means();
    let size = means.int_constant("size", DType::I64, &[], &[1i64 << (8 * dtype.size()).min(62)])?;
    let x = means.binary(Binary::FloorMod, x, size)?;
    let y = means.binary(Binary::FloorDiv, x, power)?;
    means.cast(y, dtype)
}

/// How many powers of two are larger than a number; none are larger than the bits of one below zero.
fn leading_zeros(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let dims = cx.dims(x);
    let mut means = cx.means();
    let size = means.int_constant("size", DType::I64, &[], &[1i64 << 32])?;
    let list: Vec<i64> = (0..32).map(|k| 1i64 << k).collect();
    let powers = means.int_constant("powers", DType::I64, &[32], &list)?;
    let wide = means.cast(x, DType::I64)?;
    let bits = means.binary(Binary::FloorMod, wide, size)?;
    let each = means.reshaped(bits, &[&dims[..], &[1]].concat())?;
    let larger = means.compared(Comparison::Less, each, powers)?;
    let larger = means.cast(larger, DType::I32)?;
    let count = means.reduced(Reduction::Sum, larger, &[dims.len()])?;
    means.reshaped(count, &dims)
}
