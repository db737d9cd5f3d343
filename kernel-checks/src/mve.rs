//! Convolutions and matrix products for cores with Helium.

use crate::affine::factors;
use crate::conv::{describe, run_any, run_overlaid};
use crate::reference::{affine, requantize, tap};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    conv2d_i8_mve, conv2d_i8_mve_points, conv2d_i8_mve_points_small, conv2d_i8_mve_small,
    conv2d_mve_work_words, dense_i8_mve, dense_i8_mve_small, depthwise2d_i8_mve, depthwise2d_i8_mve_columns,
    depthwise2d_mve_work_words, Band, Conv, Requant, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "conv2d_i8_mve", run: |rng, scratch| convolution(rng, scratch, false) },
    Check { name: "conv2d_i8_mve_small", run: |rng, scratch| convolution(rng, scratch, true) },
    Check { name: "conv2d_i8_mve_points", run: |rng, scratch| points(rng, scratch, false) },
    Check { name: "conv2d_i8_mve_points_small", run: |rng, scratch| points(rng, scratch, true) },
    Check { name: "depthwise2d_i8_mve", run: |rng, scratch| depthwise(rng, scratch, false) },
    Check { name: "depthwise2d_i8_mve_columns", run: |rng, scratch| depthwise(rng, scratch, true) },
    Check { name: "dense_i8_mve", run: |rng, scratch| dense(rng, scratch, false) },
    Check { name: "dense_i8_mve_small", run: |rng, scratch| dense(rng, scratch, true) },
];

/// A layer, and the kernels that are made for it.
struct Layer {
    k_h: usize,
    k_w: usize,
    in_c: usize,
    out_c: usize,
    /// Of affine forms.
    shift: u32,
    end: End,
    windows: [Windows; 2],
    single: Option<Single>,
}

type Windows = fn(&Conv, Rows<'_, i8>, &[i32], i8, &[Cell<i32>], Rows<'_, i8>, Band);
type Points = fn(&Conv, Rows<'_, i8>, &[i32], Rows<'_, i8>, Band);
type Dense = fn(Rows<'_, i8>, &[i32], Rows<'_, i8>, Band);

macro_rules! layer {
    ($k_h:literal x $k_w:literal, $in_c:literal -> $out_c:literal, shift $shift:literal $end:ident) => {
        layer!($k_h, $k_w, $in_c, $out_c, $shift, $end, None)
    };
    ($in_c:literal -> $out_c:literal, shift $shift:literal $end:ident) => {
        layer!(1, 1, $in_c, $out_c, $shift, $end, {
            const EXACT: bool = matches!(End::$end, End::Exact | End::Clamped);
            const CLAMPED: bool = matches!(End::$end, End::Clamped);
            Some(Single {
                points: [
                    conv2d_i8_mve_points::<$in_c, $shift, EXACT, CLAMPED>,
                    conv2d_i8_mve_points_small::<$shift, EXACT, CLAMPED>,
                ],
                dense: [
                    dense_i8_mve::<$in_c, $shift, EXACT, CLAMPED>,
                    dense_i8_mve_small::<$shift, EXACT, CLAMPED>,
                ],
            })
        })
    };
    ($k_h:literal, $k_w:literal, $in_c:literal, $out_c:literal, $shift:literal, $end:ident, $single:expr) => {{
        const TAPS: usize = $k_h * $k_w * $in_c;
        const EXACT: bool = matches!(End::$end, End::Exact | End::Clamped);
        const CLAMPED: bool = matches!(End::$end, End::Clamped);
        Layer {
            k_h: $k_h,
            k_w: $k_w,
            in_c: $in_c,
            out_c: $out_c,
            shift: $shift,
            end: End::$end,
            windows: [
                conv2d_i8_mve::<TAPS, $shift, EXACT, CLAMPED>,
                conv2d_i8_mve_small::<$shift, EXACT, CLAMPED>,
            ],
            single: $single,
        }
    }};
}

/// The kernels for single pixels.
struct Single {
    points: [Points; 2],
    dense: [Dense; 2],
}

const WINDOWS: &[Layer] = &[
    layer!(3 x 3, 3 -> 8, shift 6 Affine),
    layer!(3 x 3, 16 -> 6, shift 8 Clamped),
    layer!(10 x 4, 1 -> 12, shift 4 Affine),
    layer!(1 x 3, 2 -> 4, shift 22 Affine),
    layer!(3 x 3, 28 -> 9, shift 9 Clamped),
    layer!(2 x 1, 8 -> 5, shift 0 Affine),
];

const POINTS: &[Layer] = &[
    layer!(8 -> 16, shift 7 Affine),
    layer!(1 -> 4, shift 0 Affine),
    layer!(7 -> 9, shift 3 Exact),
    layer!(75 -> 18, shift 9 Affine),
    layer!(208 -> 11, shift 4 Clamped),
    layer!(267 -> 3, shift 22 Exact),
];

/// How sums become results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Affine,
    Exact,
    Clamped,
}

/// What requantises the sums of filters.
pub(crate) struct Ends<'a> {
    end: End,
    shift: u32,
    first: &'a [i32],
    /// M and C of affine forms.
    factors: [[i32; 3]; 40],
    q: Requant<'a>,
}

impl<'a> Ends<'a> {
    /// Of so many filters with so many products.
    pub(crate) fn new(
        rng: &mut Rng,
        scratch: &mut Scratch<'a>,
        filters: usize,
        size: usize,
        end: End,
        shift: u32,
    ) -> Self {
        let first = scratch.words.take(filters);
        rng.fill_i32(first, -20_000, 20_000);
        let (multipliers, shifts) = (scratch.words.take(filters), scratch.bytes.take(filters));
        for (multiplier, shift) in multipliers.iter_mut().zip(shifts.iter_mut()) {
            let scale = rng.scale(size as u32 * 8192 + 20_000);
            (*multiplier, *shift) = (scale.multiplier, scale.shift.clamp(-22, -1) as i8);
        }
        let zero_point = rng.i8().into();
        let (lo, hi) = match end {
            End::Clamped => rng.clamp(zero_point),
            End::Affine | End::Exact => (-128, 127),
        };
        let q = Requant { multipliers, shifts, zero_point, lo, hi };
        Ends { end, shift, first, factors: factors(rng, size, shift, false, |_| 0), q }
    }

    pub(crate) fn result(&self, o: usize, sum: i32) -> i8 {
        match self.end {
            End::Affine => affine(self.first[o] + sum, 0, self.factors[o], self.shift),
            End::Exact | End::Clamped => requantize(self.first[o] + sum, o, &self.q),
        }
    }

    /// Smallest and largest result.
    pub(crate) fn clamp(&self) -> [i32; 2] {
        [self.q.lo, self.q.hi]
    }

    /// Words of each filter.
    pub(crate) fn words(&self) -> usize {
        match self.end {
            End::Affine => 3,
            End::Exact => 4,
            End::Clamped => 6,
        }
    }

    /// First value, multiplier, constant, shift, clamp; 0 where there is no such filter.
    pub(crate) fn word(&self, o: usize, what: usize) -> i32 {
        let Some(&first) = self.first.get(o) else { return 0 };
        let ([m, c, _], q) = (self.factors[o], &self.q);
        let shift = i32::from(q.shifts[o]);
        let constant = (q.zero_point << -shift) + (1 << (-shift - 1));
        match self.end {
            End::Affine => [first, m, c][what],
            End::Exact | End::Clamped => [first, q.multipliers[o], constant, shift, q.lo, q.hi][what],
        }
    }
}

/// What a kernel computes, by definition.
struct Operands<'a> {
    layer: &'static Layer,
    filters: &'a [i8],
    ends: Ends<'a>,
}

impl<'a> Operands<'a> {
    fn new(layer: &'static Layer, rng: &mut Rng, scratch: &mut Scratch<'a>) -> Self {
        let size = layer.k_h * layer.k_w * layer.in_c;
        let filters = scratch.bytes.take(layer.out_c * size);
        rng.fill_i8(filters);
        let ends = Ends::new(rng, scratch, layer.out_c, size, layer.end, layer.shift);
        Operands { layer, filters, ends }
    }

    /// The result of a filter, from the operand's taps in the filter's order.
    fn result(&self, o: usize, x: impl Fn(usize) -> i8) -> i8 {
        let size = self.layer.k_h * self.layer.k_w * self.layer.in_c;
        let products = self.filters[o * size..][..size].iter().enumerate();
        self.ends.result(o, products.map(|(at, w)| i32::from(x(at)) * i32::from(*w)).sum())
    }

    /// Weights as kernels read them that take so many filters at a time.
    fn pack(&self, scratch: &mut Scratch<'a>, at_once: usize) -> &'a [i32] {
        let Layer { k_h, k_w, in_c, out_c, .. } = *self.layer;
        let size = k_h * k_w * in_c;
        let tile = at_once * (4 * size.div_ceil(16) + self.ends.words());
        let words = scratch.words.take(out_c.div_ceil(at_once) * tile);
        let none = (size.next_multiple_of(16) - size) % 16;
        for (t, words) in words.chunks_exact_mut(tile).enumerate() {
            let (taps, end) = words.split_at_mut(4 * at_once * size.div_ceil(16));
            for (at, word) in taps.iter_mut().enumerate() {
                let (vector, o) = (at / (4 * at_once), t * at_once + at / 4 % at_once);
                *word = (0..4).fold(0, |word, byte| {
                    let place = 16 * vector + at % 4 * 4 + byte;
                    // The first vector has what is left of full ones.
                    let tap = match vector {
                        0 if place < 16 - none => Some(place),
                        0 => None,
                        _ => Some(place - none),
                    };
                    let weight = tap.filter(|_| o < out_c).map_or(0, |tap| {
                        // Columns first.
                        let (k, c) = (tap / in_c, tap % in_c);
                        self.filters[o * size + (k % k_h * k_w + k / k_h) * in_c + c]
                    });
                    word | i32::from(weight as u8) << (8 * byte)
                });
            }
            for (at, word) in end.iter_mut().enumerate() {
                let (what, lane) = (at / at_once, at % at_once);
                // Of eight filters those with even indices come first.
                *word = self.ends.word(t * at_once + lane / 4 + lane % 4 * (at_once / 4), what);
            }
        }
        words
    }
}

fn convolution(rng: &mut Rng, mut scratch: Scratch<'_>, small: bool) -> Result<(), Mismatch> {
    let layer = match rng.one_in(3) {
        true => &POINTS[rng.size(0, 3)],
        false => &WINDOWS[rng.size(0, WINDOWS.len() - 1)],
    };
    let Layer { k_h, k_w, in_c, out_c, .. } = *layer;
    let (out_w, out_h) = (rng.size(1, 7), rng.size(1, 4));
    let (stride_w, pad_left) = (rng.size(1, 2), rng.size(0, k_w - 1));
    // As much to the right of the last pixel as there happens to be, padding or image.
    let covered = (out_w - 1) * stride_w + k_w;
    let in_w = (covered + rng.size(0, 3)).saturating_sub(pad_left + rng.size(0, 2)).max(1);
    let p = Conv {
        in_h: rng.size(1, 5),
        in_w,
        in_c,
        out_w,
        out_c,
        k_h,
        k_w,
        stride_h: rng.size(1, 2),
        stride_w,
        dilation_h: rng.size(1, 2),
        dilation_w: 1,
        pad_top: rng.size(0, k_h - 1),
        pad_left,
        groups: 1,
    };
    let t = Operands::new(layer, rng, &mut scratch);
    let (w, pad) = (t.pack(&mut scratch, 4), rng.i8());
    let x = scratch.bytes.take_at(p.in_h * in_w * in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let (row, offset) = (out_w * out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * row, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / out_c, index % out_c);
        y.set(t.result(o, |at| {
            let k = [at / in_c / k_w, at / in_c % k_w];
            tap(&p, [pixel / out_w, pixel % out_w], k, at % in_c).map_or(pad, |at| x[at].get())
        }));
    }
    let pixels = rng.size(1, out_w);
    let work = cells(scratch.words.take(conv2d_mve_work_words(&p, pixels)));
    let kernel = layer.windows[usize::from(small)];
    let call = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| kernel(&p, x, w, pad, work, y, band);
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, out_h), x, y.got(), call);
    let case = describe(&p).with("offset", offset).with("pixels", pixels).with("split", split);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}

fn points(rng: &mut Rng, mut scratch: Scratch<'_>, small: bool) -> Result<(), Mismatch> {
    let layer = &POINTS[rng.size(0, POINTS.len() - 1)];
    let Layer { in_c, out_c, .. } = *layer;
    let (out_w, out_h) = (rng.size(1, 7), rng.size(1, 3));
    let (stride_w, stride_h) = (rng.size(1, 2), rng.size(1, 2));
    let p = Conv {
        in_h: (out_h - 1) * stride_h + 1 + rng.size(0, 1),
        in_w: (out_w - 1) * stride_w + 1 + rng.size(0, 1),
        in_c,
        out_w,
        out_c,
        k_h: 1,
        k_w: 1,
        stride_h,
        stride_w,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
    };
    let t = Operands::new(layer, rng, &mut scratch);
    let w = t.pack(&mut scratch, 4);
    let x = scratch.bytes.take_at(p.in_h * p.in_w * in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let (row, offset) = (out_w * out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * row, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / out_c, index % out_c);
        let at = (pixel / out_w * stride_h * p.in_w + pixel % out_w * stride_w) * in_c;
        y.set(t.result(o, |tap| x[at + tap].get()));
    }
    let Some(Single { points: kernels, .. }) = &layer.single else { return Ok(()) };
    let kernel = kernels[usize::from(small)];
    // The result of a pixel over what only pixels before it read, as far up as that allows.
    let overlaid = x.len() < 8192 && rng.one_in(2);
    if overlaid {
        let taps = |pixel: usize| (pixel / out_w * stride_h * p.in_w + pixel % out_w * stride_w) * in_c;
        let gaps = (0..out_h * out_w).map(|pixel| ((pixel + 1) * out_c).saturating_sub(taps(pixel)));
        let gap = gaps.max().unwrap_or(0);
        let memory = cells(scratch.bytes.take_at((gap + x.len()).max(out_h * row), rng.size(0, 3)));
        let (operand, result) = (&memory[gap..][..x.len()], &memory[..out_h * row]);
        operand.iter().zip(x).for_each(|(to, x)| to.set(x.get()));
        let (x, got) = (Rows::whole(operand, p.in_w * in_c), Rows::whole(result, row));
        kernel(&p, x, w, got, Band { first: 0, rows: out_h });
        y.got().iter().zip(result).for_each(|(y, result)| y.set(result.get()));
    } else {
        let (x, got, first) = (Rows::whole(x, p.in_w * in_c), Rows::whole(y.got(), row), rng.size(0, out_h));
        for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
            kernel(&p, x, w, got, band);
        }
    }
    y.compare(describe(&p).with("offset", offset).with("overlaid", i32::from(overlaid)))
}

fn dense(rng: &mut Rng, mut scratch: Scratch<'_>, small: bool) -> Result<(), Mismatch> {
    let layer = &POINTS[rng.size(0, POINTS.len() - 1)];
    let Layer { in_c, out_c, .. } = *layer;
    let t = Operands::new(layer, rng, &mut scratch);
    let w = t.pack(&mut scratch, 8);
    let rows = rng.size(1, 3);
    let x = scratch.bytes.take_at(rows * in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let offset = rng.size(0, 3);
    let y = scratch.bytes.twins(rows * out_c, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (row, o) = (index / out_c, index % out_c);
        y.set(t.result(o, |tap| x[row * in_c + tap].get()));
    }
    let Some(Single { dense: kernels, .. }) = &layer.single else { return Ok(()) };
    let kernel = kernels[usize::from(small)];
    kernel(Rows::whole(x, in_c), w, Rows::whole(y.got(), out_c), Band { first: 0, rows });
    let case = crate::Case::new().with("in_c", in_c).with("out_c", out_c).with("rows", rows);
    y.compare(case.with("offset", offset))
}

/// A depthwise layer: lines of a window, taps along them, the stride along them, and the kernels that are made for it.
struct Channels {
    lines: usize,
    along: usize,
    stride: usize,
    shift: u32,
    end: End,
    kernels: [Windows; 2],
}

macro_rules! channels {
    ($lines:literal x $along:literal / $stride:literal, shift $shift:literal $end:ident) => {{
        const EXACT: bool = matches!(End::$end, End::Exact | End::Clamped);
        const CLAMPED: bool = matches!(End::$end, End::Clamped);
        Channels {
            lines: $lines,
            along: $along,
            stride: $stride,
            shift: $shift,
            end: End::$end,
            kernels: [
                depthwise2d_i8_mve::<$lines, $along, $stride, $shift, EXACT, CLAMPED>,
                depthwise2d_i8_mve_columns::<$lines, $along, $stride, $shift, EXACT, CLAMPED>,
            ],
        }
    }};
}

const CHANNELS: &[Channels] = &[
    channels!(3 x 3 / 1, shift 6 Affine),
    channels!(3 x 3 / 2, shift 8 Exact),
    channels!(5 x 1 / 2, shift 18 Affine),
    channels!(1 x 8 / 2, shift 0 Affine),
    channels!(4 x 4 / 1, shift 5 Affine),
    channels!(5 x 5 / 1, shift 5 Affine),
    channels!(2 x 2 / 3, shift 0 Affine),
    channels!(2 x 3 / 2, shift 4 Exact),
];

/// The results of a depthwise convolution with filters \[c\]\[k_h\]\[k_w\].
pub(crate) fn expect(p: &Conv, filters: &[i8], x: &[Cell<i8>], pad: i8, ends: &Ends<'_>, y: &[Cell<i8>]) {
    let size = p.k_h * p.k_w;
    for (index, y) in y.iter().enumerate() {
        let (pixel, channel) = (index / p.out_c, index % p.out_c);
        let taps = filters[channel * size..][..size].iter().enumerate();
        let products = taps.map(|(at, w)| {
            let at = tap(p, [pixel / p.out_w, pixel % p.out_w], [at / p.k_w, at % p.k_w], channel);
            i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w)
        });
        y.set(ends.result(channel, products.sum()));
    }
}

fn depthwise(rng: &mut Rng, mut scratch: Scratch<'_>, columns: bool) -> Result<(), Mismatch> {
    let layer = &CHANNELS[rng.size(0, CHANNELS.len() - 1)];
    let Channels { lines, along, stride, .. } = *layer;
    let (k_h, k_w) = if columns { (along, lines) } else { (lines, along) };
    let c = if rng.one_in(2) { rng.size(1, 2) * 16 } else { rng.size(1, 35) };
    let (out_h, out_w) =
        if columns { (rng.size(1, 11), rng.size(1, 3)) } else { (rng.size(1, 3), rng.size(1, 11)) };
    let other = rng.size(1, 2);
    let (stride_h, stride_w) = if columns { (stride, other) } else { (other, stride) };
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, k_w - 1));
    // As much behind the last pixel as there happens to be, padding or image.
    let image = |rng: &mut Rng, out: usize, stride: usize, k: usize, pad: usize| {
        ((out - 1) * stride + k + rng.size(0, 3)).saturating_sub(pad + rng.size(0, 2)).max(1)
    };
    let p = Conv {
        in_h: image(rng, out_h, stride_h, k_h, pad_top),
        in_w: image(rng, out_w, stride_w, k_w, pad_left),
        in_c: c,
        out_w,
        out_c: c,
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h: if columns { 1 } else { rng.size(1, 2) },
        dilation_w: if columns { rng.size(1, 2) } else { 1 },
        pad_top,
        pad_left,
        groups: c,
    };
    let size = k_h * k_w;
    let filters = scratch.bytes.take(c * size);
    rng.fill_i8(filters);
    let ends = Ends::new(rng, &mut scratch, c, size, layer.end, layer.shift);
    // Words of each channel, and its taps line by line, with zeros around them.
    let step = lines * stride;
    let before = if size <= 16 { ((16 - size) / step).min(2) * step } else { 0 };
    let bytes = (before + size.next_multiple_of(16)).next_multiple_of(4);
    let w = scratch.words.take(c * (ends.words() + bytes / 4));
    for (channel, w) in w.chunks_exact_mut(ends.words() + bytes / 4).enumerate() {
        let (end, taps) = w.split_at_mut(ends.words());
        for (what, word) in end.iter_mut().enumerate() {
            *word = ends.word(channel, [0, 2, 1, 3, 4, 5][what]);
        }
        for (at, word) in taps.iter_mut().enumerate() {
            *word = (0..4).fold(0, |word, byte| {
                let tap = (4 * at + byte).checked_sub(before).filter(|&tap| tap < size);
                let weight = tap.map_or(0, |tap| {
                    let (line, along) = (tap % lines, tap / lines);
                    let [ky, kx] = if columns { [along, line] } else { [line, along] };
                    filters[channel * size + ky * k_w + kx]
                });
                word | i32::from(weight as u8) << (8 * byte)
            });
        }
    }
    let x = scratch.bytes.take_at(p.in_h * p.in_w * c, rng.size(0, 3));
    rng.fill_i8(x);
    let (x, pad) = (cells(x), rng.i8());
    let (row, offset) = (out_w * c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * row, offset, rng.i8());
    expect(&p, filters, x, pad, &ends, y.expected());
    let pixels = if columns { out_h } else { out_w };
    let work = cells(scratch.words.take(depthwise2d_mve_work_words(c, pixels, lines, along, stride)));
    let kernel = layer.kernels[usize::from(columns)];
    let call = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| kernel(&p, x, w, pad, work, y, band);
    let overlaid = !columns && rng.one_in(3);
    if overlaid {
        run_overlaid(rng, &mut scratch, (&p, out_h), x, y.got(), call);
    } else {
        let (x, got) = (Rows::whole(x, p.in_w * c), Rows::whole(y.got(), row));
        let first = if columns { 0 } else { rng.size(0, out_h) };
        for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
            if band.rows > 0 {
                call(x, got, band);
            }
        }
    }
    let case = describe(&p).with("offset", offset).with("stride_h", stride_h).with("c", c);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}
