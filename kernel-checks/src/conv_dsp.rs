//! Convolutions for cores with the DSP extension.

use crate::affine::factors;
use crate::conv::{describe, run_overlaid};
use crate::reference::{affine, requantize, tap};
use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    conv2d_i8_dsp, conv2d_i8_dsp_compact, conv2d_i8_dsp_exact, conv2d_i8_dsp_patches, conv2d_i8_dsp_points,
    conv2d_i8_dsp_points_small, conv2d_i8_dsp_small, conv2d_work_words, patches_work_words, Band,
    CompactConv, Conv, Requant, Rows, Stride,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "conv2d_i8_dsp", run: |rng, scratch| requantised(rng, scratch, Which::Special) },
    Check { name: "conv2d_i8_dsp_small", run: |rng, scratch| requantised(rng, scratch, Which::Small) },
    Check { name: "conv2d_i8_dsp_points", run: |rng, scratch| requantised(rng, scratch, Which::Points) },
    Check {
        name: "conv2d_i8_dsp_points_small",
        run: |rng, scratch| requantised(rng, scratch, Which::PointsSmall),
    },
    Check { name: "conv2d_i8_dsp_patches", run: |rng, scratch| requantised(rng, scratch, Which::Patches) },
    Check { name: "conv2d_i8_dsp_compact", run: |rng, scratch| requantised(rng, scratch, Which::Compact) },
    Check { name: "conv2d_i8_dsp_exact", run: exact },
];

/// A kernel that is made for a layer, or one of those that are made for several.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Special,
    Small,
    /// Filters 1 × 1 in fours, without padding.
    Points,
    PointsSmall,
    /// Rows of filters that are whole words.
    Patches,
    /// Channel-last results only.
    Compact,
}

/// Rows, columns, channels, stride and filters of a layer, the width of its result, and the kernel that is made for it.
struct Layer {
    p: Conv,
    out: Stride,
    shift: u32,
    signed: bool,
    kernel: Kernel,
    exact: ExactKernel,
    small: SmallKernel,
    points: Kernel,
    patches: SmallKernel,
    patches_of_any: SmallKernel,
    points_small: SmallKernel,
}

impl Layer {
    fn is_points(&self) -> bool {
        let Conv { k_h, k_w, in_c, out_c, .. } = self.p;
        (k_h, k_w, in_c % 4, out_c % 4) == (1, 1, 0, 0)
    }

    fn is_patches(&self) -> bool {
        let Conv { k_h, k_w, in_c, out_c, .. } = self.p;
        (k_w * in_c % 4, out_c % 4) == (0, 0) && k_h * k_w * in_c <= 160
    }
}

type Kernel = fn(&Conv, Rows<'_, i8>, &[i32], i8, &[Cell<i32>], Rows<'_, i8>, Band);
type SmallKernel = fn(&Conv, Rows<'_, i8>, &[i32], i8, &[Cell<i32>], Rows<'_, i8>, &Stride, Band);
type ExactKernel =
    fn(&Conv, Rows<'_, i8>, &[i32], i8, &[Cell<i32>], &Requant<'_>, Rows<'_, i8>, &Stride, Band);

macro_rules! layer {
    ($k_h:literal x $k_w:literal / $stride:literal, $in_c:literal -> $out_w:literal x $out_c:literal $planar:literal, unroll $unroll:literal, shift $shift:literal $signed:literal) => {{
        const XD: usize = 2 * $stride * $k_h * $in_c;
        const PAIRS: usize = usize::div_ceil($k_h * $k_w * $in_c, 2);
        const PIXEL: usize = if $planar { 1 } else { $out_c };
        const CHANNEL: usize = if $planar { $out_w } else { 1 };
        Layer {
            p: Conv {
                in_h: 0,
                in_w: 0,
                in_c: $in_c,
                out_w: $out_w,
                out_c: $out_c,
                k_h: $k_h,
                k_w: $k_w,
                stride_h: 1,
                stride_w: $stride,
                dilation_h: 1,
                dilation_w: 1,
                pad_top: 0,
                pad_left: 0,
                groups: 1,
            },
            out: Stride { pixel: PIXEL, channel: CHANNEL },
            shift: $shift,
            signed: $signed,
            kernel: conv2d_i8_dsp::<XD, PAIRS, $unroll, PIXEL, CHANNEL, $shift, $signed>,
            exact: conv2d_i8_dsp_exact,
            small: conv2d_i8_dsp_small::<$shift, $signed>,
            points: conv2d_i8_dsp_points::<PAIRS, PIXEL, CHANNEL, $shift, $signed>,
            patches: conv2d_i8_dsp_patches::<PAIRS, CHANNEL, $shift, $signed>,
            patches_of_any: conv2d_i8_dsp_patches::<0, 0, $shift, $signed>,
            points_small: conv2d_i8_dsp_points_small::<$shift, $signed>,
        }
    }};
}

const LAYERS: &[Layer] = &[
    layer!(1 x 1 / 1, 8 -> 6 x 16 true, unroll 8, shift 7 false),
    layer!(1 x 1 / 1, 16 -> 5 x 8 false, unroll 3, shift 5 true),
    layer!(1 x 1 / 1, 8 -> 5 x 8 true, unroll 3, shift 5 true),
    layer!(1 x 1 / 1, 12 -> 3 x 12 true, unroll 9, shift 5 false),
    layer!(1 x 1 / 1, 4 -> 3 x 4 false, unroll 9, shift 6 false),
    layer!(1 x 1 / 1, 16 -> 1 x 16 false, unroll 4, shift 7 true),
    layer!(1 x 1 / 2, 12 -> 5 x 8 true, unroll 6, shift 6 false),
    layer!(1 x 1 / 1, 136 -> 3 x 8 false, unroll 16, shift 9 true),
    layer!(1 x 1 / 1, 1 -> 4 x 4 false, unroll 4, shift 0 false),
    layer!(1 x 1 / 2, 7 -> 3 x 9 true, unroll 2, shift 3 true),
    layer!(1 x 1 / 1, 68 -> 2 x 70 false, unroll 16, shift 9 false),
    layer!(3 x 3 / 1, 3 -> 7 x 8 false, unroll 31, shift 6 false),
    layer!(3 x 3 / 2, 3 -> 4 x 8 true, unroll 13, shift 6 true),
    layer!(3 x 3 / 1, 12 -> 4 x 6 true, unroll 8, shift 8 false),
    layer!(3 x 3 / 2, 4 -> 1 x 8 false, unroll 5, shift 8 true),
    layer!(10 x 4 / 2, 1 -> 5 x 12 true, unroll 6, shift 4 false),
    layer!(5 x 8 / 3, 1 -> 3 x 8 false, unroll 19, shift 5 true),
    layer!(3 x 2 / 1, 2 -> 4 x 4 false, unroll 5, shift 3 false),
    layer!(2 x 5 / 3, 5 -> 6 x 3 false, unroll 1, shift 2 true),
    layer!(1 x 3 / 4, 2 -> 80 x 4 true, unroll 4, shift 22 false),
];

/// Operands of a layer, and its accumulators by definition.
struct Operands<'a> {
    p: Conv,
    out_h: usize,
    x: &'a [Cell<i8>],
    filters: &'a [i8],
    first: &'a [i32],
    pad: i8,
}

impl<'a> Operands<'a> {
    /// `inside`: nothing is read outside of the image.
    fn new(layer: &Layer, rng: &mut Rng, scratch: &mut Scratch<'a>, inside: bool) -> Self {
        let (pad_left, pad_top, stride_h) =
            (rng.size(0, layer.p.k_w - 1), rng.size(0, layer.p.k_h - 1), rng.size(1, 2));
        // As much to the right of the last pixel as there happens to be, padding or image.
        let covered = (layer.p.out_w - 1) * layer.p.stride_w + layer.p.k_w;
        let in_w = match rng.one_in(2) {
            true => covered - pad_left,
            false => (covered - pad_left + rng.size(0, 3)).saturating_sub(rng.size(0, 2)).max(1),
        };
        let (in_h, dilation_h, out_h) = (rng.size(1, 5), rng.size(1, 2), rng.size(1, 4));
        let rows = (out_h - 1) * stride_h + (layer.p.k_h - 1) * dilation_h + 1;
        let (in_h, in_w) = if inside { (in_h.max(rows), in_w.max(covered)) } else { (in_h, in_w) };
        let p = Conv { in_h, in_w, pad_left, pad_top, stride_h, dilation_h, ..layer.p };
        let size = p.k_h * p.k_w * p.in_c;
        let x = scratch.bytes.take_at(in_h * in_w * p.in_c, rng.size(0, 3));
        rng.fill_i8(x);
        let filters = scratch.bytes.take(p.out_c.next_multiple_of(4) * size);
        let (real, none) = filters.split_at_mut(p.out_c * size);
        rng.fill_i8(real);
        none.fill(0);
        // What does not fit a halfword together.
        for (a, b) in
            (0..size).flat_map(|k| (0..p.out_c / 2).map(move |o| (2 * o * size + k, (2 * o + 1) * size + k)))
        {
            if real[a] < 0 {
                real[b] = real[b].max(-127);
            }
        }
        let first = scratch.words.take(p.out_c.next_multiple_of(4));
        rng.fill_i32(first, -20_000, 20_000);
        Operands { p, out_h, x: cells(x), filters, first, pad: rng.i8() }
    }

    fn accumulator(&self, [oy, ox]: [usize; 2], o: usize) -> i32 {
        let p = &self.p;
        let size = p.k_h * p.k_w * p.in_c;
        let mut acc = self.first[o];
        for (at, w) in self.filters[o * size..][..size].iter().enumerate() {
            let (k, c) = (at / p.in_c, at % p.in_c);
            let x = tap(p, [oy, ox], [k / p.k_w, k % p.k_w], c).map_or(self.pad, |at| self.x[at].get());
            acc += i32::from(x) * i32::from(*w);
        }
        acc
    }

    /// Calls for each element of the result: where it is, the filter, and the accumulator.
    fn each(&self, out: Stride, mut element: impl FnMut(usize, usize, i32)) {
        let row = self.p.out_w * self.p.out_c;
        for (oy, ox, o) in (0..self.out_h)
            .flat_map(|oy| (0..self.p.out_w).map(move |ox| (oy, ox)))
            .flat_map(|(oy, ox)| (0..self.p.out_c).map(move |o| (oy, ox, o)))
        {
            element(oy * row + ox * out.pixel + o * out.channel, o, self.accumulator([oy, ox], o));
        }
    }

    /// Weights as the kernel reads them, with `factors` behind each quad if there are any. `rows_first`: in the order of the filters, all in fours.
    fn pack(&self, to: &mut [i32], factors: Option<&[[i32; 3]]>, signed: bool, rows_first: bool) {
        let p = &self.p;
        let size = p.k_h * p.k_w * p.in_c;
        let weight = |o: usize, tap: usize| {
            // Columns first.
            let (k, c) = (tap / p.in_c, tap % p.in_c);
            let tap = if rows_first { tap } else { (k % p.k_h * p.k_w + k / p.k_h) * p.in_c + c };
            i32::from(self.filters[o * size..][..size].get(tap).copied().unwrap_or(0))
        };
        let mut words = to.iter_mut();
        let mut push = |word| *words.next().unwrap() = word;
        for a in (0..p.out_c).step_by(4) {
            for o in [a, a + 2] {
                push(self.first[o]);
                push(self.first[o].wrapping_add(self.first[o + 1] << 8));
            }
            for pair in 0..size.div_ceil(2) {
                let (i, j) = match p.in_c % 4 {
                    _ if rows_first => (pair / 2 * 4 + pair % 2, pair / 2 * 4 + pair % 2 + 2),
                    0 => (pair / 2 * 4 + pair % 2, pair / 2 * 4 + pair % 2 + 2),
                    _ => (2 * pair, 2 * pair + 1),
                };
                for o in [a, a + 2] {
                    let half = |tap| {
                        let weight = |o| if tap < size { weight(o, tap) } else { 0 };
                        i16::try_from(weight(o) + 256 * weight(o + 1)).unwrap() as u16 as u32
                    };
                    push((half(i) | half(j) << 16) as i32);
                }
            }
            let factors = factors.map_or(&[][..], |factors| &factors[a..a + 4]);
            factors.iter().filter(|_| signed).for_each(|&[_, _, correction]| push(correction));
            for &[m, c, _] in factors {
                push(m);
                push(c);
            }
        }
    }

    /// Bands that make up the result, one of which may be empty.
    fn bands(&self, rng: &mut Rng) -> [Band; 2] {
        let first = rng.size(0, self.out_h);
        [Band { first: 0, rows: first }, Band { first, rows: self.out_h - first }]
    }

    fn describe(&self) -> Case {
        describe(&self.p)
    }
}

fn requantised(rng: &mut Rng, mut scratch: Scratch<'_>, which: Which) -> Result<(), Mismatch> {
    let by_points = matches!(which, Which::Points | Which::PointsSmall);
    let mut layer = &LAYERS[rng.size(0, LAYERS.len() - 1)];
    while by_points && !layer.is_points() || which == Which::Patches && !layer.is_patches() {
        layer = &LAYERS[rng.size(0, LAYERS.len() - 1)];
    }
    let t = Operands::new(layer, rng, &mut scratch, by_points);
    let p = &t.p;
    let size = p.k_h * p.k_w * p.in_c;
    let gain = |o: usize| if layer.signed || o % 2 == 1 { 8 } else { 0 };
    let factors: [_; 72] = factors(rng, size, layer.shift, layer.signed, gain);
    let words = p.out_c.div_ceil(4) * (4 + size.div_ceil(2) * 2 + if layer.signed { 12 } else { 8 });
    let w = scratch.words.take(words);
    t.pack(w, Some(&factors), layer.signed, which == Which::Patches);
    let (row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(t.out_h * row, offset, rng.i8());
    let out = match which {
        Which::Compact => Stride { pixel: p.out_c, channel: 1 },
        _ => layer.out,
    };
    t.each(out, |at, o, acc| {
        y.expected()[at].set(affine(acc, gain(o), factors[o], layer.shift + gain(o)));
    });
    let pixels = match which {
        Which::Compact => rng.size(1, p.out_w),
        _ => rng.size(1, p.out_w.div_ceil(2)) * 2,
    };
    let words =
        if which == Which::Patches { patches_work_words(p, pixels) } else { conv2d_work_words(p, pixels) };
    let work = cells(scratch.words.take(words));
    let got = Rows::whole(y.got(), row);
    let (weights, shift, signed) = (&*w, layer.shift, layer.signed);
    let compact = CompactConv { conv: *p, weights, pad: t.pad, shift, signed, pixels };
    let any = rng.one_in(2);
    let call = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| match which {
        Which::Special => (layer.kernel)(p, x, w, t.pad, work, y, band),
        Which::Small => (layer.small)(p, x, w, t.pad, work, y, &out, band),
        Which::Points => (layer.points)(p, x, w, t.pad, work, y, band),
        Which::PointsSmall => (layer.points_small)(p, x, w, t.pad, work, y, &out, band),
        Which::Patches => match any {
            true => (layer.patches_of_any)(p, x, w, t.pad, work, y, &out, band),
            false => (layer.patches)(p, x, w, t.pad, work, y, &out, band),
        },
        Which::Compact => conv2d_i8_dsp_compact(&compact, x, work, y, band),
    };
    let (ring, overlaid) = (rng.one_in(3), rng.one_in(3));
    if overlaid {
        run_overlaid(rng, &mut scratch, (p, t.out_h), t.x, y.got(), call);
    } else if ring {
        // Row by row, from as many rows as one row of the result reads, and now and then one more.
        let held = (p.k_h - 1) * p.dilation_h + 1 + rng.size(0, 1);
        let (len, cells) =
            (p.in_w * p.in_c, cells(scratch.bytes.take_at(held * p.in_w * p.in_c, rng.size(0, 3))));
        for first in 0..t.out_h {
            let top = (first * p.stride_h).saturating_sub(p.pad_top);
            for r in top..(first * p.stride_h + held).saturating_sub(p.pad_top).min(p.in_h) {
                let to = &cells[r % held * len..][..len];
                to.iter().zip(&t.x[r * len..]).for_each(|(to, x)| to.set(x.get()));
            }
            call(Rows::ring(cells, len, held), got, Band { first, rows: 1 });
        }
    } else {
        t.bands(rng).into_iter().for_each(|band| call(Rows::whole(t.x, p.in_w * p.in_c), got, band));
    }
    y.compare(
        t.describe()
            .with("offset", offset)
            .with("pixels", pixels)
            .with("ring", i32::from(ring))
            .with("overlaid", i32::from(overlaid)),
    )
}

fn exact(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let layer = &LAYERS[rng.size(0, LAYERS.len() - 1)];
    let t = Operands::new(layer, rng, &mut scratch, false);
    let p = &t.p;
    let size = p.k_h * p.k_w * p.in_c;
    let (multipliers, shifts) = (scratch.words.take(p.out_c), scratch.bytes.take(p.out_c));
    for (multiplier, shift) in multipliers.iter_mut().zip(shifts.iter_mut()) {
        let scale = rng.scale(size as u32 * 8192);
        (*multiplier, *shift) = (scale.multiplier, scale.shift as i8);
    }
    let zero_point = rng.i8().into();
    let (lo, hi) = rng.clamp(zero_point);
    let q = Requant { multipliers, shifts, zero_point, lo, hi };
    let w = scratch.words.take(p.out_c.div_ceil(4) * (4 + size.div_ceil(2) * 2));
    t.pack(w, None, false, false);
    let (row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(t.out_h * row, offset, rng.i8());
    t.each(layer.out, |at, o, acc| y.expected()[at].set(requantize(acc, o, &q)));
    let pixels = rng.size(1, p.out_w.div_ceil(2)) * 2;
    let work = cells(scratch.words.take(conv2d_work_words(p, pixels)));
    let (x, got) = (Rows::whole(t.x, p.in_w * p.in_c), Rows::whole(y.got(), row));
    for band in t.bands(rng) {
        (layer.exact)(p, x, w, t.pad, work, &q, got, &layer.out, band);
    }
    y.compare(t.describe().with("offset", offset).with("pixels", pixels))
}
