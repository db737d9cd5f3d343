//! FFT2D and RFFT2D of \[n, h, w\]: products with matrices of sines and cosines.

use super::cx::Cx;
use super::{All, Lowered, Operators, Slot};
use crate::onnx::lower::{check_size, NodeCx};
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[("FFT2D", All(complex)), ("RFFT2D", All(real))];

/// FFT2D: of a real and an imaginary part.
fn complex(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (re, im, inverse) = (cx.value(0)?, cx.value(1)?, cx.flag(0)?);
    let &[_, h, w] = &*cx.dims(re) else { return Err(malformed!("{} is no image", cx.ty(re))) };
    malformed_if!(cx.dims(im) != cx.dims(re), "parts {} and {}", cx.ty(re), cx.ty(im));
    transformed(cx, re, Some(im), [h, w], w, if inverse { 1.0 } else { -1.0 })
}

/// RFFT2D: of a real part alone. The second half of columns follows from the first.
fn real(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let re = cx.value(0)?;
    let &[_, h, w] = &*cx.dims(re) else { return Err(malformed!("{} is no image", cx.ty(re))) };
    transformed(cx, re, None, [h, w], w / 2 + 1, -1.0)
}

/// Σ x · e^(sign · 2πi · (row · y / h + column · x / w)), along columns first.
fn transformed(
    cx: &mut Cx<'_, '_, '_>,
    re: ValueId,
    im: Option<ValueId>,
    [h, w]: [usize; 2],
    columns: usize,
    sign: f64,
) -> Lowered<Vec<Slot>> {
    check_size(DType::F32, &[columns, w])?;
    check_size(DType::F32, &[h, h])?;
    let mut means = cx.means();
    means.want_float(re)?;
    let row = matrices(&mut means, columns, w, sign)?;
    let (re, im) = turned(&mut means, re, im, row)?;
    let (re, im) = (means.transposed(re, &[0, 2, 1])?, means.transposed(im, &[0, 2, 1])?);
    let column = matrices(&mut means, h, h, sign)?;
    let (re, im) = turned(&mut means, re, Some(im), column)?;
    let parts = [means.transposed(re, &[0, 2, 1])?, means.transposed(im, &[0, 2, 1])?];
    Ok(parts.map(Slot::Value).to_vec())
}

/// Cosines and sines \[out, size\].
fn matrices(cx: &mut NodeCx<'_, '_, '_>, out: usize, size: usize, sign: f64) -> Lowered<[ValueId; 2]> {
    let angle = |k: usize| {
        let turns = (k / size * (k % size)) % size;
        std::f64::consts::TAU * turns as f64 / size as f64
    };
    let cosines: Vec<f32> = (0..out * size).map(|k| libm::cos(angle(k)) as f32).collect();
    let sines: Vec<f32> = (0..out * size).map(|k| (sign * libm::sin(angle(k))) as f32).collect();
    Ok([
        cx.float_constant("cosines", &[out, size], &cosines)?,
        cx.float_constant("sines", &[out, size], &sines)?,
    ])
}

/// The products of complex rows with a complex matrix.
fn turned(
    cx: &mut NodeCx<'_, '_, '_>,
    re: ValueId,
    im: Option<ValueId>,
    [cosines, sines]: [ValueId; 2],
) -> Lowered<(ValueId, ValueId)> {
    let (a, b) = (cx.layer(re, cosines)?, cx.layer(re, sines)?);
    let Some(im) = im else { return Ok((a, b)) };
    let (c, d) = (cx.layer(im, sines)?, cx.layer(im, cosines)?);
    Ok((cx.difference(a, c)?, cx.sum(b, d)?))
}
