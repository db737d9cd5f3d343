//! Depthwise convolutions along one axis, for cores with DSP.

use crate::affine::Forms;
use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::depthwise1d_i8_dsp as kernel;

pub(crate) const CHECKS: &[Check] = &[Check { name: "depthwise1d_i8_dsp", run: dsp }];

/// How a kernel is called.
type Kernel = fn(&[Cell<i8>], &[i32], &[Cell<i8>]);

/// Channels, taps, stride, dilation, shift, signed form, and the kernel for them.
type Instance = (usize, usize, usize, usize, u32, bool, Kernel);

/// `instances![(channels, taps, stride, dilation, shift, signed) …]`
macro_rules! instances {
    ($(($c:literal, $taps:literal, $stride:literal, $dilation:literal, $shift:literal, $signed:literal))*) => {
        &[$(($c, $taps, $stride, $dilation, $shift, $signed, kernel::<$c, $taps, $stride, $dilation, $shift, $signed>)),*]
    };
}

const KERNELS: &[Instance] =
    instances![(4, 1, 1, 1, 0, false)(5, 1, 2, 1, 4, true)(6, 2, 1, 1, 4, true)(7, 3, 1, 2, 5, false)(
        8, 3, 1, 1, 6, true
    )(8, 4, 3, 1, 0, false)(9, 5, 1, 3, 8, true)(30, 15, 1, 1, 4, true)(64, 23, 1, 1, 4, true)(
        128, 10, 1, 1, 4, false
    )(260, 4, 2, 1, 7, true)(257, 3, 1, 2, 9, false)];

/// Draws operands with pixels to spare; the result has a place of its own, or takes that of pixels that have been read.
fn dsp(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (channels, taps, stride, dilation, shift, signed, kernel) = rng.pick(KERNELS);
    let pixels = if rng.one_in(2) { 1 } else { rng.size(1, if channels > 99 { 4 } else { 17 }) };
    let size = (pixels - 1) * stride + (taps - 1) * dilation + 1 + rng.size(0, 2);
    let weights = scratch.bytes.take(taps * channels);
    rng.fill_i8(weights);
    let forms = Forms::draw(rng, &mut scratch, channels, shift, signed);
    let stream = scratch.words.take(channels.div_ceil(4) * (4 + 2 * (taps + 1) + 16));
    let words = pack(weights, channels, stream, &forms);
    let image = scratch.bytes.take(size * channels);
    rng.fill_i8(image);
    let y = scratch.bytes.twins(pixels * channels, rng.size(0, 3), rng.i8());
    for (at, y) in y.expected().iter().enumerate() {
        let (first, c) = (at / channels * stride, at % channels);
        let element = |tap: usize| i32::from(image[(first + tap * dilation) * channels + c]);
        let sum = (0..taps).map(|tap| element(tap) * i32::from(weights[tap * channels + c])).sum::<i32>();
        y.set(forms.result(sum.wrapping_add(forms.first(c)), c));
    }
    let in_place = rng.one_in(2);
    if in_place {
        // The result lies where only pixels that have been computed read.
        let gap = channels;
        let memory = scratch.bytes.take_at((gap + image.len()).max(y.got().len()), rng.size(0, 3));
        memory[gap..][..image.len()].copy_from_slice(image);
        let memory = cells(memory);
        kernel(&memory[gap..][..image.len()], &stream[..words], &memory[..y.got().len()]);
        y.got().iter().zip(memory).for_each(|(to, from)| to.set(from.get()));
    } else {
        let x = scratch.bytes.take_at(image.len(), rng.size(0, 3));
        x.copy_from_slice(image);
        kernel(cells(x), &stream[..words], y.got());
    }
    let case = Case::new().with("channels", channels).with("taps", taps).with("stride", stride);
    y.compare(
        case.with("dilation", dilation)
            .with("pixels", pixels)
            .with("signed", signed as i32)
            .with("in_place", in_place as i32),
    )
}

/// Weights \[tap\]\[c\] as the kernel reads them; how many words these are.
fn pack(weights: &[i8], channels: usize, stream: &mut [i32], forms: &Forms<'_>) -> usize {
    let taps = weights.len() / channels;
    let weight = |tap: usize, c: usize| i32::from(weights[tap * channels + c]);
    let halves = |low: i32, high: i32| low & 0xffff | high << 16;
    let mut at = 0;
    let mut push = |word| {
        stream[at] = word;
        at += 1;
    };
    for quad in (0..channels).step_by(4).map(|quad| quad.min(channels - 4)) {
        let lanes = quad..quad + 4;
        lanes.clone().for_each(|c| push(forms.first(c)));
        for tap in (0..taps - taps % 2).step_by(2) {
            lanes.clone().for_each(|c| push(halves(weight(tap, c), weight(tap + 1, c))));
        }
        if taps % 2 == 1 {
            (quad..quad + 2).for_each(|c| push(halves(weight(taps - 1, c), weight(taps - 1, c + 2))));
        }
        lanes.for_each(|c| forms.words(c)[1..].iter().for_each(|&word| push(word)));
    }
    at
}
