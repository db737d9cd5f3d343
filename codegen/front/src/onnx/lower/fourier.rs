//! Fourier transforms, as products with matrices and convolutions with waves: of these, passes and kernels make fast transforms where the length allows it. And the filter banks behind them.

use super::cx::NodeCx;
use super::image::convolution;
use super::{stacked, Lowered, One, Operators, Refusal};
use kiln_ir::{Padding, ValueId, Window};
use std::f64::consts::TAU;

pub(super) const OPERATORS: Operators =
    &[("DFT", One(discrete)), ("MelWeightMatrix", One(mel_weights)), ("STFT", One(short_time))];

/// Most numbers along an axis that are transformed by a matrix.
const LONGEST: usize = 2048;

/// Most numbers of a frame of STFT, and of real numbers whose spectrum is one-sided.
const LONGEST_FRAME: usize = 4096;

/// A transform of one axis.
pub(crate) struct Transform {
    pub(crate) axis: usize,
    /// Its length.
    pub(crate) n: usize,
    pub(crate) inverse: bool,
    /// Whether one side is real, so that the other has but one half.
    pub(crate) halves: bool,
}

impl Transform {
    /// Real and imaginary parts of the transform of what has these parts; a part that is left out is 0, or is not computed.
    pub(crate) fn of(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        re: ValueId,
        im: Option<ValueId>,
    ) -> Lowered<(ValueId, Option<ValueId>)> {
        let &Transform { axis, n, inverse, halves } = self;
        let half = n / 2 + 1;
        let (inputs, outputs) = match (halves, inverse) {
            (true, true) => (half, n),
            (true, false) => (n, half),
            _ => (n, n),
        };
        malformed_if!(cx.dims(re).get(axis) != Some(&inputs), "its length {n} does not fit {}", cx.shown(re));
        let is_spectrum = halves && !inverse && im.is_none();
        let (most, bytes) = (if is_spectrum { LONGEST_FRAME } else { LONGEST }, 8 * inputs * outputs);
        if n > most {
            return Err(too_long(n, most));
        }
        if !is_spectrum || !cx.importer.budget.waves(bytes) {
            check_size(cx, bytes)?;
        }
        let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
        let direction = if inverse { 1.0 } else { -1.0 };
        // Of a half, each number but the first and the middle one stands for two.
        let weight = |k: usize| match halves && inverse && k != 0 && 2 * k != n {
            true => 2.0,
            false => 1.0,
        };
        let entry = |j: usize, k: usize, function: fn(f64) -> f64| -> f32 {
            let angle = 2.0 * std::f64::consts::PI * ((j * k) % n) as f64 / n as f64;
            (function(direction * angle) * scale * weight(k)) as f32
        };
        let matrix = |function: fn(f64) -> f64| -> Vec<f32> {
            (0..outputs)
                .flat_map(|j| (0..inputs).map(move |k| (j, k)))
                .map(|(j, k)| entry(j, k, function))
                .collect()
        };
        let (cos, sin) = (matrix(libm::cos), matrix(libm::sin));
        let cos = cx.float_constant("cosines", &[outputs, inputs], &cos)?;
        let sin = cx.float_constant("sines", &[outputs, inputs], &sin)?;
        let rows = |cx: &mut NodeCx<'_, '_, '_>, x: ValueId, matrix: ValueId| -> Lowered<ValueId> {
            let turned = cx.swapped(x, axis)?;
            cx.layer(turned, matrix)
        };
        let (mut y_re, mut y_im) = (rows(cx, re, cos)?, None);
        if !(inverse && halves) {
            y_im = Some(rows(cx, re, sin)?);
        }
        if let Some(im) = im {
            let part = rows(cx, im, sin)?;
            y_re = cx.difference(y_re, part)?;
            if let Some(own) = y_im {
                let part = rows(cx, im, cos)?;
                y_im = Some(cx.sum(own, part)?);
            }
        }
        let im = y_im.map(|y| cx.swapped(y, axis)).transpose()?;
        Ok((cx.swapped(y_re, axis)?, im))
    }
}

/// Refuses waves that are too many numbers, for a transform that takes few bytes of a file.
fn check_size(cx: &mut NodeCx<'_, '_, '_>, bytes: usize) -> Lowered {
    if bytes >= 4096 && !cx.importer.budget.inline(bytes.div_ceil(2048)) {
        let what = "it would be written out as too many numbers";
        return Err(Refusal::unsupported(what, "use fewer, or store them in the model"));
    }
    Ok(())
}

/// The parts of complex numbers, which are the last axis; the imaginary one is left out where there is none.
fn parts(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<(ValueId, Option<ValueId>)> {
    let dims = cx.dims(x);
    let Some((&count @ (1 | 2), front)) = dims.split_last() else {
        return Err(malformed!("{} has no last axis of 1 or 2 parts", cx.shown(x)));
    };
    let mut part = |at: usize| {
        let part = cx.part(x, front.len(), at, 1, 1)?;
        cx.reshaped(part, front)
    };
    Ok((part(0)?, if count == 2 { Some(part(1)?) } else { None }))
}

/// An operand of one number that follows from constants, if it is there.
fn size(cx: &mut NodeCx<'_, '_, '_>, k: usize, what: &str) -> Lowered<Option<usize>> {
    let Some(list) = cx.ints(k, what)? else { return Ok(None) };
    match list[..] {
        [one] if one > 0 => Ok(usize::try_from(one).ok()),
        _ => Err(malformed!("its {what} is {list:?}")),
    }
}

/// DFT of an axis.
fn discrete(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let rank = cx.dims(x).len();
    let axis = match cx.opset() {
        ..20 => cx.int("axis", 1),
        _ => cx.ints(2, "axis")?.and_then(|list| list.first().copied()).unwrap_or(-2),
    };
    let axis = cx.axis(axis, rank)?;
    malformed_if!(axis + 1 == rank, "its axis {axis} is that of the parts of complex numbers");
    let (inverse, halves) = (cx.int("inverse", 0) != 0, cx.int("onesided", 0) != 0);
    let length = size(cx, 1, "length")?;
    let (mut re, mut im) = parts(cx, x)?;
    malformed_if!(halves && inverse == im.is_none(), "one side of {} is no spectrum", cx.shown(x));
    let own = cx.dims(re)[axis];
    let n = length.unwrap_or(if inverse && halves { 2 * own.saturating_sub(1) } else { own }).max(1);
    let wanted = if inverse && halves { n / 2 + 1 } else { n };
    re = fitted(cx, re, axis, wanted)?;
    im = im.map(|im| fitted(cx, im, axis, wanted)).transpose()?;
    let (re, im) = Transform { axis, n, inverse, halves }.of(cx, re, im)?;
    match im {
        Some(im) => stacked(cx, &[re, im], rank - 1),
        None => stacked(cx, &[re], rank - 1),
    }
}

/// An axis of that length: what is beyond is cut off, and what is missing is 0.
pub(crate) fn fitted(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    axis: usize,
    length: usize,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    if dims[axis] >= length {
        return cx.part(x, axis, 0, length, 1);
    }
    if length > LONGEST_FRAME {
        return Err(too_long(length, LONGEST_FRAME));
    }
    let (before, mut after) = (vec![0; dims.len()], vec![0; dims.len()]);
    after[axis] = length - dims[axis];
    cx.padded(x, &before, &after, 0)
}

fn too_long(n: usize, most: usize) -> Refusal {
    let what = format!("a Fourier transform of {n} numbers cannot be compiled");
    Refusal::unsupported(what, format!("use at most {most} numbers"))
}

/// STFT: a convolution of \[batch, time, parts\] with waves. Real and imaginary parts alternate.
fn short_time(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let signal = cx.input(0)?;
    cx.want_float(signal)?;
    // PyTorch writes real signals without the axis of parts, which ONNX Runtime takes.
    let (batch, time, parts) = match *cx.dims(signal) {
        [batch, time] => (batch, time, 1),
        [batch, time, parts @ (1 | 2)] => (batch, time, parts),
        _ => return Err(malformed!("{} is no batch of signals of 1 or 2 parts", cx.shown(signal))),
    };
    let step = size(cx, 1, "step")?.ok_or_else(|| malformed!("its step is missing"))?;
    let window = match cx.optional(2)? {
        Some(_) => Some(cx.floats(2, "window")?),
        None => None,
    };
    let own = window.as_ref().map_or(time, Vec::len);
    let length = size(cx, 3, "length of a frame")?.unwrap_or(own);
    malformed_if!(window.as_ref().is_some_and(|w| w.len() != length), "its window is not {length} long");
    malformed_if!(length == 0 || length > time, "a frame of {length} does not fit {}", cx.shown(signal));
    let halves = cx.int("onesided", 1) != 0;
    malformed_if!(halves && parts == 2, "complex numbers have no one-sided spectrum");
    if length > LONGEST_FRAME {
        return Err(too_long(length, LONGEST_FRAME));
    }
    let bins = if halves { length / 2 + 1 } else { length };
    let bytes = 8 * bins * length * parts;
    if !halves || !cx.importer.budget.waves(bytes) {
        check_size(cx, bytes)?;
    }
    let angle = |turn: usize| TAU * turn as f64 / length as f64;
    let circle: Vec<_> = (0..length).map(|turn| (libm::cos(angle(turn)), libm::sin(angle(turn)))).collect();
    let mut filters = Vec::with_capacity(2 * bins * length * parts);
    for (k, imaginary) in (0..bins).flat_map(|k| [(k, false), (k, true)]) {
        for t in 0..length {
            let factor = window.as_ref().map_or(1.0, |window| f64::from(window[t]));
            let (cos, sin) = circle[(k * t) % length];
            let (cos, sin) = (factor * cos, factor * sin);
            // (a + bi) · (cos − i·sin).
            let of_parts = if imaginary { [-sin, cos] } else { [cos, sin] };
            filters.extend(of_parts.iter().take(parts).map(|&number| number as f32));
        }
    }
    let filters = cx.float_constant("waves", &[2 * bins, length, 1, parts], &filters)?;
    let image = cx.reshaped(signal, &[batch, time, 1, parts])?;
    let (size, stride, dilation) = ([length, 1], [step, 1], [1, 1]);
    let y =
        convolution(cx, image, filters, None, Window { size, stride, dilation, pad: Padding::default() }, 1)?;
    let frames = cx.dims(y)[1];
    cx.reshaped(y, &[batch, frames, bins, 2])
}

/// MelWeightMatrix: triangles over the frequencies of a transform, \[frequencies, triangles\]. Their corners are whole frequencies.
fn mel_weights(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let [count, length, rate] = [(0, "number of triangles"), (1, "length"), (2, "sample rate")]
        .map(|(k, what)| size(cx, k, what)?.ok_or_else(|| malformed!("its {what} is missing")));
    let (count, length, rate) = (count?, length?, rate?);
    let mut mel = |k: usize| -> Lowered<f64> {
        let edge = cx.floats(k, "edge")?.first().copied().unwrap_or(0.0);
        Ok(2595.0 * libm::log10(1.0 + f64::from(edge) / 700.0))
    };
    let (low, high) = (mel(3)?, mel(4)?);
    let bins = length / 2 + 1;
    if bins.saturating_mul(count) > 1 << 18 {
        let what = format!("{count} triangles over {bins} frequencies cannot be compiled");
        return Err(Refusal::unsupported(what, "store the matrix in the model"));
    }
    check_size(cx, 4 * bins * count)?;
    // As ONNX's reference has it, which divides by the number of corners.
    let step = (high - low) / (count + 2) as f64;
    let corner = |k: usize| {
        let hertz = 700.0 * (libm::pow(10.0, (low + k as f64 * step) / 2595.0) - 1.0);
        libm::floor((length + 1) as f64 * hertz / rate as f64).max(0.0) as usize
    };
    let mut weights = vec![0.0; bins * count];
    for triangle in 0..count {
        let [lower, centre, upper] = [corner(triangle), corner(triangle + 1), corner(triangle + 2)];
        malformed_if!(centre >= bins || upper > bins, "its triangles end above half of the sample rate");
        let mut set = |bin: usize, weight: f64| weights[bin * count + triangle] = weight as f32;
        if lower == centre {
            set(centre, 1.0);
        } else {
            (lower..=centre).for_each(|bin| set(bin, (bin - lower) as f64 / (centre - lower) as f64));
        }
        (centre..upper).filter(|_| upper > centre).for_each(|bin| {
            set(bin, (upper - bin) as f64 / (upper - centre) as f64);
        });
    }
    cx.float_constant("mel", &[bins, count], &weights)
}
