//! Complex numbers, as real and imaginary parts, and Fourier transforms.

use super::slot::Slot;
use super::{Cx, Lowered, Operators, Refusal, Slots};
use crate::onnx::lower::{fitted, Transform};
use kiln_ir::{Binary, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Angle", Slots(angle)),
    ("Complex", Slots(|cx| Ok(vec![Slot::Complex(cx.x(0)?, cx.x(1)?)]))),
    ("ComplexAbs", Slots(magnitude)),
    ("Conj", Slots(conjugate)),
    ("FFT", Slots(|cx| fourier(cx, Kind::Whole, false, 1))),
    ("FFT2D", Slots(|cx| fourier(cx, Kind::Whole, false, 2))),
    ("IFFT", Slots(|cx| fourier(cx, Kind::Whole, true, 1))),
    ("IFFT2D", Slots(|cx| fourier(cx, Kind::Whole, true, 2))),
    ("IRFFT", Slots(|cx| fourier(cx, Kind::Real, true, 1))),
    ("IRFFT2D", Slots(|cx| fourier(cx, Kind::Real, true, 2))),
    ("Imag", Slots(imaginary)),
    ("RFFT", Slots(|cx| fourier(cx, Kind::Real, false, 1))),
    ("RFFT2D", Slots(|cx| fourier(cx, Kind::Real, false, 2))),
    ("Real", Slots(|cx| Ok(vec![Slot::Tensor(parts(cx, 0)?.0)]))),
];

type Results<'p> = Lowered<Vec<Slot<'p>>>;

/// The parts of operand `k`.
fn parts(cx: &Cx<'_, '_, '_>, k: usize) -> Lowered<(ValueId, ValueId)> {
    match cx.slot(k)? {
        Slot::Complex(re, im) => Ok((re, im)),
        Slot::Refused => Err(Refusal::Follows),
        _ => Err(malformed!("operand {k} is no tensor of complex numbers")),
    }
}

fn imaginary<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    Ok(vec![Slot::Tensor(parts(cx, 0)?.1)])
}

/// √(a² + b²).
fn magnitude<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (re, im) = parts(cx, 0)?;
    let (re, im) = (cx.unary(Unary::Square, re)?, cx.unary(Unary::Square, im)?);
    let sum = cx.sum(re, im)?;
    Ok(vec![Slot::Tensor(cx.unary(Unary::Sqrt, sum)?)])
}

fn angle<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (re, im) = parts(cx, 0)?;
    Ok(vec![Slot::Tensor(cx.binary(Binary::Atan2, im, re)?)])
}

fn conjugate<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (re, im) = parts(cx, 0)?;
    Ok(vec![Slot::Complex(re, cx.unary(Unary::Neg, im)?)])
}

/// Arithmetic on complex numbers; `None` where no operand is one.
pub(super) fn arithmetic<'p>(cx: &mut Cx<'_, '_, 'p>) -> Lowered<Option<Vec<Slot<'p>>>> {
    if !cx.operands.iter().any(|slot| matches!(slot, Slot::Complex(..))) {
        return Ok(None);
    }
    if !matches!(cx.node.op, "Add" | "AddV2" | "Sub" | "Mul" | "RealDiv" | "Div") {
        return Ok(None);
    }
    let ((a, b), (c, d)) = (parts(cx, 0)?, parts(cx, 1)?);
    let slot = match cx.node.op {
        "Add" | "AddV2" => Slot::Complex(cx.sum(a, c)?, cx.sum(b, d)?),
        "Sub" => Slot::Complex(cx.difference(a, c)?, cx.difference(b, d)?),
        "Mul" => {
            let (re, im) = product(cx, (a, b), (c, d))?;
            Slot::Complex(re, im)
        }
        "RealDiv" | "Div" => {
            let less = cx.unary(Unary::Neg, d)?;
            let (re, im) = product(cx, (a, b), (c, less))?;
            let (c, d) = (cx.unary(Unary::Square, c)?, cx.unary(Unary::Square, d)?);
            let size = cx.sum(c, d)?;
            Slot::Complex(cx.quotient(re, size)?, cx.quotient(im, size)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(vec![slot]))
}

/// (a + bi) · (c + di).
fn product(
    cx: &mut Cx<'_, '_, '_>,
    x: (ValueId, ValueId),
    y: (ValueId, ValueId),
) -> Lowered<(ValueId, ValueId)> {
    let (ac, bd, ad, bc) =
        (cx.product(x.0, y.0)?, cx.product(x.1, y.1)?, cx.product(x.0, y.1)?, cx.product(x.1, y.0)?);
    Ok((cx.difference(ac, bd)?, cx.sum(ad, bc)?))
}

/// Which numbers are complex.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Those of both sides.
    Whole,
    /// Those of one side.
    Real,
}

fn fourier<'p>(cx: &mut Cx<'_, '_, 'p>, kind: Kind, inverse: bool, count: usize) -> Results<'p> {
    let (mut re, mut im) = match cx.slot(0)? {
        Slot::Complex(re, im) => (re, Some(im)),
        _ => (cx.float_x(0)?, None),
    };
    let rank = cx.dims(re).len();
    malformed_if!(rank < count, "{} has too few axes", cx.shown(re));
    let axes: Vec<usize> = (rank - count..rank).collect();
    let lengths = match kind {
        Kind::Real => cx.known_sizes(1, "lengths")?,
        Kind::Whole => axes.iter().map(|&axis| cx.dims(re)[axis]).collect(),
    };
    malformed_if!(lengths.len() != count || lengths.contains(&0), "its lengths are {lengths:?}");
    let last = rank - 1;
    for (&axis, &length) in axes.iter().zip(&lengths) {
        let own = if kind == Kind::Real && inverse && axis == last { length / 2 + 1 } else { length };
        re = fitted(&mut cx.means, re, axis, own)?;
        im = im.map(|im| fitted(&mut cx.means, im, axis, own)).transpose()?;
    }
    // A real transform begins with the axis of which it keeps one half; back, it ends with it.
    let mut order: Vec<(usize, usize)> = axes.into_iter().zip(lengths).collect();
    if !inverse {
        order.reverse();
    }
    for (axis, n) in order {
        let halves = kind == Kind::Real && axis == last;
        (re, im) = Transform { axis, n, inverse, halves }.of(&mut cx.means, re, im)?;
    }
    let slot = match im {
        Some(im) if !(kind == Kind::Real && inverse) => Slot::Complex(re, im),
        None if kind == Kind::Whole => {
            let dims = cx.dims(re);
            Slot::Complex(re, cx.zeros(DType::F32, &dims)?)
        }
        _ => Slot::Tensor(re),
    };
    Ok(vec![slot])
}
