//! Complex numbers, as real and imaginary parts, and Fourier transforms.

use super::super::module::Element;
use super::cx::Cx;
use super::elementwise::{self, of_two};
use super::slot::{Slot, Tensor};
use super::{convert, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Transform;
use kiln_ir::Unary;

pub(super) const OPERATORS: Operators =
    &[("complex", All(complex)), ("fft", All(fft)), ("imag", One(imag)), ("real", One(real))];

/// Whether an operand is complex.
pub(super) fn is_complex(cx: &Cx<'_, '_, '_>) -> bool {
    cx.operands.iter().any(|slot| matches!(slot, Slot::Complex(..)))
}

pub(super) fn result(re: Tensor, im: Tensor) -> Lowered<Vec<Slot>> {
    Ok(vec![Slot::Complex(re, im)])
}

/// The parts of operand `k`.
fn parts(cx: &Cx<'_, '_, '_>, k: usize) -> Lowered<(Tensor, Tensor)> {
    match cx.operands.get(k) {
        Some(Slot::Complex(re, im)) => Ok((re.clone(), im.clone())),
        Some(Slot::Refused) => Err(Refusal::Follows),
        _ => Err(malformed!("operand {k} is no tensor of complex numbers")),
    }
}

/// A function of both parts of the first operand, each for itself.
pub(super) fn each<'m, 'p>(
    cx: &mut Cx<'_, 'm, 'p>,
    function: impl Fn(&mut Cx<'_, 'm, 'p>, &Tensor) -> Lowered<Tensor>,
) -> Lowered<Vec<Slot>> {
    let (re, im) = parts(cx, 0)?;
    let (re, im) = (function(cx, &re)?, function(cx, &im)?);
    result(re, im)
}

fn complex(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (re, im) = (cx.tensor(0)?, cx.tensor(1)?);
    result(re, im)
}

fn real(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    match cx.slot(0)? {
        Slot::Complex(re, _) => Ok(re.clone()),
        other => other.tensor().cloned(),
    }
}

fn imag(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    match cx.slot(0)? {
        Slot::Complex(_, im) => Ok(im.clone()),
        other => {
            let x = other.tensor()?.clone();
            elementwise::arithmetic(cx, '-', &x, &x)
        }
    }
}

/// Real numbers as complex ones, or complex ones of another width.
pub(super) fn converted(cx: &mut Cx<'_, '_, '_>, part: &Element) -> Lowered<Vec<Slot>> {
    if is_complex(cx) {
        return each(cx, |cx, x| convert::converted(cx, x, part));
    }
    let x = cx.tensor(0)?;
    let re = convert::converted(cx, &x, part)?;
    let zero = cx.means().float_constant("zero", &vec![1; re.dims.len()], &[0.0])?;
    let im = Tensor::of(zero, &re.dims, part);
    result(re, im)
}

fn sum(cx: &mut Cx<'_, '_, '_>, sign: char, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    elementwise::arithmetic(cx, sign, x, y)
}

pub(super) fn arithmetic(cx: &mut Cx<'_, '_, '_>, sign: char) -> Lowered<Vec<Slot>> {
    let ((a, b), (c, d)) = (parts(cx, 0)?, parts(cx, 1)?);
    if sign != '*' {
        let (re, im) = (sum(cx, sign, &a, &c)?, sum(cx, sign, &b, &d)?);
        return result(re, im);
    }
    product(cx, (&a, &b), (&c, &d))
}

/// (a + bi) · (c + di).
fn product(cx: &mut Cx<'_, '_, '_>, x: (&Tensor, &Tensor), y: (&Tensor, &Tensor)) -> Lowered<Vec<Slot>> {
    let (ac, bd) = (sum(cx, '*', x.0, y.0)?, sum(cx, '*', x.1, y.1)?);
    let (ad, bc) = (sum(cx, '*', x.0, y.1)?, sum(cx, '*', x.1, y.0)?);
    let (re, im) = (sum(cx, '-', &ac, &bd)?, sum(cx, '+', &ad, &bc)?);
    result(re, im)
}

pub(super) fn divide(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let ((a, b), (c, d)) = (parts(cx, 0)?, parts(cx, 1)?);
    let minus = elementwise::negated(cx, &d)?;
    let (cc, dd) = (sum(cx, '*', &c, &c)?, sum(cx, '*', &d, &d)?);
    let size = sum(cx, '+', &cc, &dd)?;
    let product = product(cx, (&a, &b), (&c, &minus))?;
    let [Slot::Complex(re, im)] = &product[..] else { return Err(malformed!("no product")) };
    let re = of_two(cx, re, &size, |cx, x, y| cx.quotient(x, y))?;
    let im = of_two(cx, im, &size, |cx, x, y| cx.quotient(x, y))?;
    result(re, im)
}

/// √(a² + b²).
pub(super) fn magnitude(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (re, im) = parts(cx, 0)?;
    let y = of_two(cx, &re, &im, |cx, x, y| {
        let (x, y) = (cx.unary(Unary::Square, x)?, cx.unary(Unary::Square, y)?);
        let sum = cx.sum(x, y)?;
        cx.unary(Unary::Sqrt, sum)
    })?;
    Ok(vec![Slot::Tensor(y)])
}

/// e^(a + bi) = eᵃ · (cos b + i sin b).
pub(super) fn exponential(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (re, im) = parts(cx, 0)?;
    let size = cx.means().unary(Unary::Exp, re.value)?;
    let size = Tensor { value: size, ..re };
    let [cos, sin] = [Unary::Cos, Unary::Sin].map(|function| cx.means().unary(function, im.value));
    let (cos, sin) = (Tensor { value: cos?, ..im.clone() }, Tensor { value: sin?, ..im });
    let (re, im) = (sum(cx, '*', &size, &cos)?, sum(cx, '*', &size, &sin)?);
    result(re, im)
}

/// fft: along the last axes, each as a product with a matrix.
fn fft(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let kind = cx.word("fft_type");
    let lengths = cx.sizes("fft_length")?;
    let (mut re, mut im) = match cx.slot(0)? {
        Slot::Complex(re, im) => (re.clone(), Some(im.clone())),
        other => (other.tensor()?.clone(), None),
    };
    let rank = re.dims.len();
    malformed_if!(
        lengths.is_empty() || lengths.len() > rank || lengths.contains(&0),
        "its lengths are {lengths:?} for {:?}",
        re.dims
    );
    let first = rank - lengths.len();
    let inverse = match kind {
        "FFT" | "RFFT" => false,
        "IFFT" | "IRFFT" => true,
        other => return Err(malformed!("its type is {other:?}")),
    };
    let last = rank - 1;
    let mut order: Vec<usize> = (first..rank).collect();
    // A real transform begins with the axis of which it keeps one half; back, it ends with it.
    if !inverse {
        order.reverse();
    }
    for axis in order {
        let halves = (kind == "RFFT" || kind == "IRFFT") && axis == last;
        let n = lengths[axis - first];
        let whole = cx.spread(&re)?;
        let part = im.as_ref().map(|im| cx.spread(im)).transpose()?;
        let transform = Transform { axis, n, inverse, halves };
        let (y_re, y_im) = transform.of(&mut cx.means(), whole, part)?;
        let element = re.element.clone();
        (re, im) = (cx.whole(y_re, &element), y_im.map(|im| cx.whole(im, &element)));
    }
    match im {
        Some(im) if kind != "IRFFT" => result(re, im),
        _ => Ok(vec![Slot::Tensor(re)]),
    }
}
