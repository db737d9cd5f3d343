//! Bits of integers, and unsigned integers. No op knows bits: they are remainders along an axis of their own, and what becomes of two bits is arithmetic.

use super::super::module::Element;
use super::cx::Cx;
use super::elementwise::of_two;
use super::slot::{self, Tensor};
use super::{Lowered, One, Operators};
use crate::onnx::lower::bits::{self, along_last, spread};
use crate::onnx::lower::NodeCx;
use kiln_ir::{Binary, Comparison, DType, Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("and", One(|cx| combined(cx, '*'))),
    ("count_leading_zeros", One(leading_zeros)),
    ("not", One(not)),
    ("or", One(|cx| combined(cx, '+'))),
    ("popcnt", One(popcnt)),
    ("shift_left", One(|cx| shifted(cx, Shift::Left))),
    ("shift_right_arithmetic", One(|cx| shifted(cx, Shift::Signed))),
    ("shift_right_logical", One(|cx| shifted(cx, Shift::Unsigned))),
    ("xor", One(|cx| combined(cx, '-'))),
];

fn width(x: &Tensor) -> Lowered<u32> {
    slot::bits(&x.element).ok_or_else(|| malformed!("it is for integers, and not for {:?}", x.element))
}

/// Truth values: or (+), exclusive or (−), and (·). What is known decides at once.
pub(super) fn of_truths(cx: &mut Cx<'_, '_, '_>, sign: char, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    for (x, other) in [(x, y), (y, x)] {
        let Some(known) = cx.known_number(x.value).map(|known| known != 0.0) else { continue };
        let dims = cx.common(x, other)?;
        let decides = (sign == '+' && known) || (sign == '*' && !known);
        let is_neutral = (sign == '+' && !known) || (sign == '*' && known);
        if decides {
            let value = cx.means().truth(known);
            let value = cx.reshaped(value, &vec![1; dims.len()])?;
            return Ok(Tensor::of(value, &dims, &Element::Bool));
        }
        if is_neutral && other.dims == dims {
            return Ok(other.clone());
        }
    }
    of_two(cx, x, y, |cx, x, y| match sign {
        '+' => {
            let yes = cx.truth(true);
            cx.choice(x, yes, y)
        }
        '-' => cx.compared(Comparison::NotEqual, x, y),
        _ => cx.both(x, y),
    })
}

fn combined(cx: &mut Cx<'_, '_, '_>, sign: char) -> Lowered<Tensor> {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    of_bits(cx, sign, &x, &y)
}

/// What becomes of each two bits: or (+), exclusive or (−), and (·).
pub(super) fn of_bits(cx: &mut Cx<'_, '_, '_>, sign: char, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    if x.element == Element::Bool {
        return of_truths(cx, sign, x, y);
    }
    let dtype = cx.ty(x.value).dtype;
    if let ('*', Some(mask)) = (sign, cx.known_number(y.value)) {
        // The lowest bits of a number are a remainder.
        let is_low = mask > 0.0 && mask < f64::from(i32::MAX) && (mask as i64 & (mask as i64 + 1)) == 0;
        if is_low && dtype != DType::U8 && dtype != DType::I8 && dtype != DType::I16 {
            return of_two(cx, x, y, |cx, x, y| {
                let size = cx.plus(y, 1.0)?;
                cx.binary(Binary::FloorMod, x, size)
            });
        }
    }
    let width = width(x)?;
    cx.written_out(24)?;
    of_two(cx, x, y, |cx, x, y| bits::combined(cx, x, y, sign, width))
}

fn not(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    inverted(cx, &x)
}

/// All bits the other way.
pub(super) fn inverted(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let mut means = cx.means();
    let value = match x.element {
        Element::Bool => {
            let no = means.truth(false);
            means.compared(Comparison::Equal, x.value, no)?
        }
        _ => {
            let all = match means.ty(x.value).dtype {
                DType::U8 => means.number(x.value, 255.0)?,
                _ => means.number(x.value, -1.0)?,
            };
            means.difference(all, x.value)?
        }
    };
    narrowed(cx, Tensor { value, ..x.clone() })
}

fn popcnt(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let width = width(&x)?;
    let mut means = cx.means();
    let (dtype, rank) = (means.ty(x.value).dtype, means.dims(x.value).len());
    let bits = spread(&mut means, x.value, width, rank)?;
    let sum = along_last(&mut means, Reduction::Sum, bits)?;
    let value = means.cast(sum, dtype)?;
    Ok(Tensor { value, ..x })
}

fn leading_zeros(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let width = width(&x)?;
    let mut means = cx.means();
    let (dtype, rank) = (means.ty(x.value).dtype, means.dims(x.value).len());
    let bits = spread(&mut means, x.value, width, rank)?;
    let list: Vec<i64> = (1..=i64::from(width)).collect();
    let places = means.int_constant("places", DType::I64, &[width as usize], &list)?;
    let places = means.product(bits, places)?;
    let highest = along_last(&mut means, Reduction::Max, places)?;
    let all = means.number(highest, f64::from(width))?;
    let zeros = means.difference(all, highest)?;
    let value = means.cast(zeros, dtype)?;
    Ok(Tensor { value, ..x })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    Left,
    /// To the right, with the bit of the sign coming in.
    Signed,
    /// To the right, with zeros coming in.
    Unsigned,
}

/// By so many bits; by as many as there are, or more, nothing is left but the sign.
fn shifted(cx: &mut Cx<'_, '_, '_>, shift: Shift) -> Lowered<Tensor> {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    let width = width(&x)?;
    cx.written_out(18)?;
    // Powers of two, by their exponent; the last one for all that are too large. Negative ones are large unsigned ones.
    let exponent = as_i64(cx, &y)?;
    let x_wide = match shift {
        Shift::Unsigned => as_unsigned(cx, &x)?,
        _ => as_i64(cx, &x)?,
    };
    let mut means = cx.means();
    let dtype = means.ty(x.value).dtype;
    let (zero, most) = (means.number(exponent, 0.0)?, means.number(exponent, f64::from(width))?);
    let is_below = means.compared(Comparison::Less, exponent, zero)?;
    let exponent = means.choice(is_below, most, exponent)?;
    let powers = |means: &mut NodeCx<'_, '_, '_>, list: &[i64]| -> Lowered<ValueId> {
        let table = means.int_constant("powers", DType::I64, &[list.len()], list)?;
        let dims = means.dims(exponent);
        let each = means.reshaped(exponent, &[&dims[..], &[1]].concat())?;
        let op = kiln_ir::Op::Gather { batch: 0, axis: 0, depth: 1 };
        means.add_like(op, &[table, each], &dims)
    };
    let value = match (shift, width) {
        (Shift::Left, _) => {
            let list: Vec<i64> = (0..width).map(|k| 1i64 << k).chain([0]).collect();
            let powers = powers(&mut means, &list)?;
            means.product(x_wide, powers)?
        }
        (Shift::Unsigned, 64) => {
            // By one bit, which leaves a number that is not negative, then by the others.
            let two = means.number(x_wide, 2.0)?;
            let half = means.binary(Binary::FloorDiv, x_wide, two)?;
            let least = means.int_constant("least", DType::I64, &[], &[i64::MIN])?;
            let (zero, moved) = (means.number(half, 0.0)?, means.difference(half, least)?);
            let is_below = means.compared(Comparison::Less, half, zero)?;
            let half = means.choice(is_below, moved, half)?;
            let list: Vec<i64> = (0..64i64).map(|k| 1i64 << (k - 1).max(0)).chain([i64::MAX]).collect();
            let by = powers(&mut means, &list)?;
            let y = means.binary(Binary::FloorDiv, half, by)?;
            let list: Vec<i64> = std::iter::repeat_n(1, 64).chain([0]).collect();
            let is_left = powers(&mut means, &list)?;
            let y = means.product(y, is_left)?;
            let is_none = means.compared(Comparison::Equal, exponent, zero)?;
            means.choice(is_none, x_wide, y)?
        }
        _ => {
            let top = if shift == Shift::Signed { width - 1 } else { width };
            let last = |k: u32| k.min(top);
            let half = (0..=width).map(|k| 1i64 << (last(k) / 2)).collect::<Vec<_>>();
            let rest = (0..=width).map(|k| 1i64 << (last(k) - last(k) / 2)).collect::<Vec<_>>();
            let whole = (0..=width).map(|k| 1i64.checked_shl(last(k)).unwrap_or(0)).collect::<Vec<_>>();
            let lists: &[Vec<i64>] = if width == 64 { &[half, rest] } else { &[whole] };
            let mut y = x_wide;
            for list in lists {
                let by = powers(&mut means, list)?;
                y = means.binary(Binary::FloorDiv, y, by)?;
            }
            y
        }
    };
    let value = means.cast(value, dtype)?;
    let dims = cx.common(&x, &y)?;
    narrowed(cx, Tensor::of(value, &dims, &x.element))
}

/// The number as an integer of 64 bits; that of unsigned ones of 64 bits has the same bits.
pub(super) fn as_i64(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<ValueId> {
    match x.element {
        Element::Unsigned(16 | 32) => as_unsigned(cx, x),
        _ => cx.means().cast(x.value, DType::I64),
    }
}

/// The bits as those of an unsigned number, in 64 bits.
fn as_unsigned(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<ValueId> {
    let width = slot::bits(&x.element).unwrap_or(64);
    let mut means = cx.means();
    let wide = means.cast(x.value, DType::I64)?;
    if width == 64 || means.ty(x.value).dtype == DType::U8 {
        return Ok(wide);
    }
    let size = means.int_constant("size", DType::I64, &[], &[1i64 << width])?;
    means.binary(Binary::FloorMod, wide, size)
}

/// An unsigned number as a signed one in the same order, and back.
pub(super) fn flipped(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let mut means = cx.means();
    let dtype = means.ty(x.value).dtype;
    let least = dtype.int_range().map_or(0, |(least, _)| least);
    let least = means.int_constant("least", dtype, &[], &[least])?;
    let value = means.sum(x.value, least)?;
    Ok(Tensor { value, ..x.clone() })
}

/// Quotient and remainder of unsigned numbers.
pub(super) fn unsigned_division(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    y: &Tensor,
) -> Lowered<(Tensor, Tensor)> {
    let dims = cx.common(x, y)?;
    let (a, b) = (as_i64(cx, x)?, as_i64(cx, y)?);
    let dtype = cx.ty(x.value).dtype;
    let mut means = cx.means();
    let mut quotient = match dtype {
        DType::I64 => {
            // Half of the number has a quotient, which is doubled; it may lack one.
            let (two, zero) = (means.number(a, 2.0)?, means.number(a, 0.0)?);
            let half = means.binary(Binary::FloorDiv, a, two)?;
            let least = means.int_constant("least", DType::I64, &[], &[i64::MIN])?;
            let (is_below, moved) =
                (means.compared(Comparison::Less, half, zero)?, means.difference(half, least)?);
            let half = means.choice(is_below, moved, half)?;
            let guess = means.quotient(half, b)?;
            let guess = means.product(guess, two)?;
            // A divisor of more than half of all numbers is in there once or not at all.
            let is_large = means.compared(Comparison::Less, b, zero)?;
            means.choice(is_large, zero, guess)?
        }
        _ => means.quotient(a, b)?,
    };
    if dtype == DType::I64 {
        let whole = means.product(quotient, b)?;
        let rest = means.difference(a, whole)?;
        let least = means.int_constant("least", DType::I64, &[], &[i64::MIN])?;
        let (rest, flipped) = (means.sum(rest, least)?, means.sum(b, least)?);
        let lacks = means.compared(Comparison::GreaterEqual, rest, flipped)?;
        let one = means.cast(lacks, DType::I64)?;
        quotient = means.sum(quotient, one)?;
    }
    let whole = means.product(quotient, b)?;
    let rest = means.difference(a, whole)?;
    let (quotient, rest) = (means.cast(quotient, dtype)?, means.cast(rest, dtype)?);
    Ok((Tensor::of(quotient, &dims, &x.element), Tensor::of(rest, &dims, &x.element)))
}

/// What is left of a result in integers of less than a byte.
pub(super) fn narrowed(cx: &mut Cx<'_, '_, '_>, x: Tensor) -> Lowered<Tensor> {
    if !slot::is_part_of_byte(&x.element) {
        return Ok(x);
    }
    let size = f64::from(1 << slot::bits(&x.element).unwrap_or(8));
    let middle = if slot::is_unsigned(&x.element) { 0.0 } else { size / 2.0 };
    let mut means = cx.means();
    let dtype = means.ty(x.value).dtype;
    let wide = means.cast(x.value, DType::I32)?;
    let moved = means.plus(wide, middle)?;
    let size = means.number(moved, size)?;
    let rest = means.binary(Binary::FloorMod, moved, size)?;
    let back = means.plus(rest, -middle)?;
    let value = means.cast(back, dtype)?;
    Ok(Tensor { value, ..x })
}
