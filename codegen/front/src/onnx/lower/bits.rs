//! Bits of integers. No op knows them: they are remainders along an axis of their own, and what becomes of two bits is arithmetic. Operators of other formats are made of this.

use super::cx::NodeCx;
use super::Lowered;
use kiln_ir::{Binary, DType, Reduction, ValueId};

/// What becomes of each two bits of integers of so many: or (+), exclusive or (−), and (·).
pub(crate) fn combined(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    y: ValueId,
    sign: char,
    width: u32,
) -> Lowered<ValueId> {
    let dtype = cx.ty(x).dtype;
    let rank = cx.dims(x).len().max(cx.dims(y).len());
    let (a, b) = (spread(cx, x, width, rank)?, spread(cx, y, width, rank)?);
    let each = match sign {
        '*' => cx.product(a, b)?,
        '+' => cx.binary(Binary::Max, a, b)?,
        _ => {
            let gap = cx.difference(a, b)?;
            cx.product(gap, gap)?
        }
    };
    gathered(cx, each, width, dtype)
}

/// The bits of integers along a new last axis, the lowest first, as integers of 64 bits.
pub(crate) fn spread(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, width: u32, rank: usize) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let wide = [&vec![1; rank - dims.len()][..], &dims, &[1]].concat();
    let wide = cx.reshaped(x, &wide)?;
    let mut y = cx.cast(wide, DType::I64)?;
    // 2⁶³ is no such integer, but two of its roots are.
    let halves = (0..width).map(|k| 1i64 << (k / 2)).collect::<Vec<_>>();
    let others = (0..width).map(|k| 1i64 << (k - k / 2)).collect::<Vec<_>>();
    let whole = (0..width).map(|k| 1i64 << k).collect::<Vec<_>>();
    let lists: &[Vec<i64>] = if width == 64 { &[halves, others] } else { &[whole] };
    for list in lists {
        let powers = cx.int_constant("powers", DType::I64, &[width as usize], list)?;
        y = cx.binary(Binary::FloorDiv, y, powers)?;
    }
    let two = cx.number(y, 2.0)?;
    cx.binary(Binary::FloorMod, y, two)
}

/// The integers of bits along the last axis.
pub(crate) fn gathered(
    cx: &mut NodeCx<'_, '_, '_>,
    bits: ValueId,
    width: u32,
    dtype: DType,
) -> Lowered<ValueId> {
    let list: Vec<i64> = (0..width).map(|k| 1i64 << k).collect();
    let powers = cx.int_constant("powers", DType::I64, &[width as usize], &list)?;
    let parts = cx.product(bits, powers)?;
    let sum = along_last(cx, Reduction::Sum, parts)?;
    cx.cast(sum, dtype)
}

pub(crate) fn along_last(cx: &mut NodeCx<'_, '_, '_>, function: Reduction, x: ValueId) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    let y = cx.reduced(function, x, &[dims.len() - 1])?;
    dims.pop();
    cx.reshaped(y, &dims)
}
