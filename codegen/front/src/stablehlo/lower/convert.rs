//! Other element types.

use super::super::module::Element;
use super::cx::Cx;
use super::slot::{self, Slot, Tensor};
use super::{bits, complex, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::NodeCx;
use kiln_ir::{Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("bitcast_convert", One(bitcast)),
    ("convert", All(convert)),
    ("reduce_precision", One(reduce_precision)),
];

fn convert(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let element = cx.element(0)?;
    if let Element::Complex(bits) = element {
        return complex::converted(cx, &Element::Float(bits));
    }
    if let Slot::Complex(re, _) = cx.slot(0)? {
        let re = re.clone();
        return Ok(vec![Slot::Tensor(converted(cx, &re, &element)?)]);
    }
    let x = cx.tensor(0)?;
    Ok(vec![Slot::Tensor(converted(cx, &x, &element)?)])
}

/// The same numbers as other elements.
pub(super) fn converted(cx: &mut Cx<'_, '_, '_>, x: &Tensor, element: &Element) -> Lowered<Tensor> {
    if x.element == *element {
        return Ok(x.clone());
    }
    let dtype = slot::dtype(element)?;
    let is_float = slot::is_float(&x.element);
    let value = match (is_float, dtype) {
        (true, DType::F32) => {
            let (from, to) = (slot::precision(&x.element), slot::precision(element));
            match to.filter(|&to| from.is_some_and(|from| to < from.min(24))) {
                Some(bits) => rounded(cx, x.value, bits)?,
                None => x.value,
            }
        }
        (true, DType::Bool) => cx.means().cast(x.value, DType::Bool)?,
        // Larger ones have a bit for a sign.
        (true, _) if slot::is_wide_unsigned(element) => {
            let wide = cx.means().cast(x.value, DType::I64)?;
            cx.means().cast(wide, dtype)?
        }
        (false, DType::F32) if x.element == Element::Unsigned(64) => {
            let mut means = cx.means();
            let y = means.cast(x.value, DType::F32)?;
            let (zero, more) = (means.number(x.value, 0.0)?, means.plus(y, 2f64.powi(64))?);
            let is_below = means.compared(Comparison::Less, x.value, zero)?;
            means.choice(is_below, more, y)?
        }
        _ if matches!(x.element, Element::Unsigned(16 | 32)) => {
            let wide = bits::as_i64(cx, x)?;
            cx.means().cast(wide, dtype)?
        }
        _ => cx.means().cast(x.value, dtype)?,
    };
    let result = Tensor { value, element: element.clone(), ..x.clone() };
    match is_float {
        // Floats are rounded towards zero and saturate.
        true if slot::is_part_of_byte(element) => {
            let (lo, hi) = match (slot::is_unsigned(element), slot::bits(element).unwrap_or(8)) {
                (true, bits) => (0, (1 << bits) - 1),
                (false, bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            };
            let clipped = cx.means().clipped(x.value, lo as f32, hi as f32)?;
            Ok(Tensor { value: cx.means().cast(clipped, dtype)?, ..result })
        }
        true => Ok(result),
        false => bits::narrowed(cx, result),
    }
}

/// Floats with so many bits of significand, the nearest ones: what a number loses when a multiple of it is added and taken away again. What is too large for
/// that stays as it is.
pub(super) fn rounded(cx: &mut Cx<'_, '_, '_>, x: ValueId, bits: u32) -> Lowered<ValueId> {
    let factor = (1u64 << (24 - bits.clamp(1, 23))) + 1;
    let mut means = cx.means();
    let multiple = means.times(x, factor as f64)?;
    let rest = means.difference(multiple, x)?;
    let y = means.difference(multiple, rest)?;
    let (size, bound) = (means.unary(Unary::Abs, x)?, means.number(x, 1e30)?);
    let is_small = means.compared(Comparison::Less, size, bound)?;
    means.choice(is_small, y, x)
}

/// reduce_precision: floats of fewer bits, in their old type.
fn reduce_precision(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let bits = cx.size("mantissa_bits")?.ok_or_else(|| malformed!("its mantissa_bits are missing"))?;
    if bits >= 23 {
        return Ok(x);
    }
    let value = rounded(cx, x.value, bits as u32 + 1)?;
    Ok(Tensor { value, ..x })
}

/// bitcast_convert: the same bits.
fn bitcast(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, element, dims) = (cx.tensor(0)?, cx.element(0)?, cx.result_dims(0)?);
    let (from, to) = (cx.ty(x.value).dtype, slot::dtype(&element)?);
    cx.written_out(48)?;
    let widths = [x.element.bytes(), element.bytes()];
    let is_integer = |element: &Element| slot::bits(element).is_some_and(|bits| bits >= 8);
    if is_integer(&x.element) && is_integer(&element) && widths[0] == widths[1] {
        let value = cx.means().cast(x.value, to)?;
        return Ok(Tensor { value, element, ..x });
    }
    if x.element == element {
        return Ok(x);
    }
    let single = Element::Float(32);
    match (from, to) {
        (DType::F32, DType::I32) if x.element == single => {
            let value = bits_of(&mut cx.means(), x.value)?;
            Ok(Tensor { value, element, ..x })
        }
        (DType::I32, DType::F32) if element == single => {
            let value = float_of(&mut cx.means(), x.value)?;
            Ok(Tensor { value, element, ..x })
        }
        (DType::F32, DType::I16) if x.element == Element::BFloat16 => {
            let mut means = cx.means();
            let all = bits_of(&mut means, x.value)?;
            let size = means.number(all, 65536.0)?;
            let upper = means.binary(kiln_ir::Binary::FloorDiv, all, size)?;
            let value = means.cast(upper, DType::I16)?;
            Ok(Tensor { value, element, ..x })
        }
        (DType::I16, DType::F32) if element == Element::BFloat16 => {
            let mut means = cx.means();
            let all = means.cast(x.value, DType::I32)?;
            let all = means.times(all, 65536.0)?;
            let value = float_of(&mut means, all)?;
            Ok(Tensor { value, element, ..x })
        }
        _ => {
            let what =
                format!("the bits of {:?}{:?} cannot become those of {element:?}{dims:?}", x.element, x.dims);
            Err(Refusal::unsupported(what, "use elements of the same width: float32, int32"))
        }
    }
}

/// The bits of floats: exponents by comparisons with powers of two, of which there are 278.
pub(super) fn bits_of(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    if let Some(data) = cx.data(x) {
        let list: Vec<i64> = data.to_f32().iter().map(|x| i64::from(x.to_bits() as i32)).collect();
        let dims = cx.dims(x);
        return cx.int_constant("bits", DType::I32, &dims, &list);
    }
    let dims = cx.dims(x);
    let size = cx.unary(Unary::Abs, x)?;
    let each = cx.reshaped(size, &[&dims[..], &[1]].concat())?;
    // Exponents from that of the second smallest binade on.
    let powers: Vec<f32> = (2..=255u32).map(|exponent| f32::from_bits(exponent << 23)).collect();
    let powers = cx.float_constant("powers", &[254], &powers)?;
    let reaches = cx.compared(Comparison::GreaterEqual, each, powers)?;
    let reaches = cx.cast(reaches, DType::I32)?;
    let binade = cx.reduced(kiln_ir::Reduction::Sum, reaches, &[dims.len()])?;
    // Units in the last place, as a product of two powers.
    let table = |cx: &mut NodeCx<'_, '_, '_>, half: bool| -> Lowered<ValueId> {
        let list: Vec<f32> = (0..255i32)
            .map(|k| {
                let exponent = 149 - k;
                2f32.powi(if half { exponent / 2 } else { exponent - exponent / 2 })
            })
            .collect();
        let table = cx.float_constant("units", &[255], &list)?;
        cx.add_like(kiln_ir::Op::Gather { batch: 0, axis: 0, depth: 1 }, &[table, binade], &dims)
    };
    let (first, second) = (table(cx, true)?, table(cx, false)?);
    let units = cx.product(size, first)?;
    let units = cx.product(units, second)?;
    let units = cx.cast(units, DType::I32)?;
    let binade = cx.reshaped(binade, &dims)?;
    let above = cx.times(binade, f64::from(1 << 23))?;
    let finite = cx.sum(above, units)?;
    let infinity = cx.number(size, f64::INFINITY)?;
    let is_infinite = cx.compared(Comparison::Equal, size, infinity)?;
    let infinite = cx.number(finite, f64::from(0x7f80_0000))?;
    let is_nan = cx.compared(Comparison::NotEqual, x, x)?;
    let nan = cx.number(finite, f64::from(0x7fc0_0000))?;
    let y = cx.choice(is_infinite, infinite, finite)?;
    let y = cx.choice(is_nan, nan, y)?;
    // Also zero has a sign.
    let (zero, one) = (cx.number(x, 0.0)?, cx.number(x, 1.0)?);
    let inverse = cx.quotient(one, x)?;
    let (is_below, is_under) =
        (cx.compared(Comparison::Less, x, zero)?, cx.compared(Comparison::Less, inverse, zero)?);
    let yes = cx.truth(true);
    let is_negative = cx.choice(is_below, yes, is_under)?;
    let least = cx.int_constant("sign", DType::I32, &[], &[i64::from(i32::MIN)])?;
    let negative = cx.sum(y, least)?;
    cx.choice(is_negative, negative, y)
}

/// The floats of bits.
pub(super) fn float_of(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    use kiln_ir::Binary::{FloorDiv, FloorMod};
    if let Some(data) = cx.data(x) {
        let list: Vec<f32> = data.to_i32().iter().map(|&x| f32::from_bits(x as u32)).collect();
        let dims = cx.dims(x);
        return cx.float_constant("floats", &dims, &list);
    }
    let dims = cx.dims(x);
    let size = cx.number(x, f64::from(1 << 23))?;
    let (fraction, upper) = (cx.binary(FloorMod, x, size)?, cx.binary(FloorDiv, x, size)?);
    let all = cx.number(x, 256.0)?;
    let exponent = cx.binary(FloorMod, upper, all)?;
    let each = cx.reshaped(exponent, &[&dims[..], &[1]].concat())?;
    let table = |cx: &mut NodeCx<'_, '_, '_>, list: &[f32]| -> Lowered<ValueId> {
        let table = cx.float_constant("powers", &[256], list)?;
        cx.add_like(kiln_ir::Op::Gather { batch: 0, axis: 0, depth: 1 }, &[table, each], &dims)
    };
    // (2²³ + fraction) · 2^(exponent − 150), as a product of two powers.
    let exponent_of = |k: i32| k.max(1) - 150;
    let first: Vec<f32> = (0..256).map(|k| 2f32.powi(exponent_of(k) / 2)).collect();
    let second: Vec<f32> = (0..256)
        .map(|k| if k == 255 { f32::INFINITY } else { 2f32.powi(exponent_of(k) - exponent_of(k) / 2) })
        .collect();
    let one: Vec<f32> = (0..256).map(|k| if k == 0 { 0.0 } else { 8_388_608.0 }).collect();
    let (first, second, one) = (table(cx, &first)?, table(cx, &second)?, table(cx, &one)?);
    let units = cx.cast(fraction, DType::F32)?;
    let units = cx.sum(units, one)?;
    let y = cx.product(units, first)?;
    let y = cx.product(y, second)?;
    // Infinity with a fraction is no number.
    let (most, zero) = (cx.number(exponent, 255.0)?, cx.number(fraction, 0.0)?);
    let is_most = cx.compared(Comparison::Equal, exponent, most)?;
    let has_fraction = cx.compared(Comparison::NotEqual, fraction, zero)?;
    let is_nan = cx.both(is_most, has_fraction)?;
    let nan = cx.number(y, f64::NAN)?;
    let y = cx.choice(is_nan, nan, y)?;
    let (is_negative, negative) = (cx.compared(Comparison::Less, x, zero)?, cx.unary(Unary::Neg, y)?);
    cx.choice(is_negative, negative, y)
}
