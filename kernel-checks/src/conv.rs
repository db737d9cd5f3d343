//! Convolutions.

use crate::reference::{requantize, tap};
use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{conv2d_i8, Band, Conv, Requant, Rows};

pub(crate) const CHECKS: &[Check] =
    &[Check { name: "conv2d_i8, by definition", run: conv2d_i8_by_definition }];

/// The portable kernel, whose filters are packed four by four: what other kernels are compared with is itself right on this machine.
fn conv2d_i8_by_definition(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (p, out_h) = shape(rng);
    let size = p.k_h * p.k_w * p.in_c;
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    // Filters one after the other.
    let filters = scratch.bytes.take(p.out_c * size);
    rng.fill_i8(filters);
    let bias = scratch.words.take(p.out_c);
    rng.fill_i32(bias, -20_000, 20_000);
    let (multipliers, shifts) = (scratch.words.take(p.out_c), scratch.bytes.take(p.out_c));
    for (multiplier, shift) in multipliers.iter_mut().zip(shifts.iter_mut()) {
        let scale = rng.scale(size as u32 * 8192);
        (*multiplier, *shift) = (scale.multiplier, scale.shift as i8);
    }
    let (zero_point, pad) = (rng.i8().into(), rng.i8());
    let (lo, hi) = rng.clamp(zero_point);
    let q = Requant { multipliers, shifts, zero_point, lo, hi };
    let (row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * row, offset, rng.i8());

    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let mut acc = bias[o];
        for (at, w) in filters[o * size..][..size].iter().enumerate() {
            let (k, c) = (at / p.in_c, at % p.in_c);
            let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [k / p.k_w, k % p.k_w], c);
            acc = acc.wrapping_add(i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w));
        }
        y.set(requantize(acc, o, &q));
    }

    let packed = scratch.bytes.take(filters.len());
    pack_by_fours(filters, size, packed);
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| conv2d_i8(&p, x, packed, bias, pad, &q, y, band);
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, out_h), x, y.got(), run);
    let case = describe(&p).with("offset", offset).with("zero_point", zero_point).with("split", split);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}

/// A random convolution without groups, and its number of result rows.
pub(crate) fn shape(rng: &mut Rng) -> (Conv, usize) {
    let (k_h, k_w) = (rng.size(1, 4), rng.size(1, 4));
    let p = Conv {
        in_h: rng.size(k_h, k_h + 4),
        in_w: rng.size(k_w, k_w + 5),
        in_c: rng.size(1, 9),
        out_w: 0,
        out_c: rng.size(1, 9),
        k_h,
        k_w,
        stride_h: rng.size(1, 2),
        stride_w: rng.size(1, 2),
        dilation_h: 1,
        dilation_w: 1,
        pad_top: rng.size(0, k_h - 1),
        pad_left: rng.size(0, k_w - 1),
        groups: 1,
    };
    // As much padding behind as before.
    let out = |size: usize, pad: usize, k: usize, stride: usize| (size + 2 * pad - k) / stride + 1;
    let out_h = out(p.in_h, p.pad_top, p.k_h, p.stride_h);
    (Conv { out_w: out(p.in_w, p.pad_left, p.k_w, p.stride_w), ..p }, out_h)
}

/// Runs a kernel with the result over the operand, or apart from it in two bands, so that one that does not begin at the top is tried too. Returns where they part, and whether it was over it.
pub(crate) fn run_any(
    rng: &mut Rng,
    scratch: &mut Scratch<'_>,
    sizes: (&Conv, usize),
    x: &[Cell<i8>],
    y: &[Cell<i8>],
    run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
) -> (usize, bool) {
    run_rows(rng, scratch, sizes, 1, x, y, run)
}

/// As [`run_any`] for a kernel that computes so many rows at a time, from the first one of a band.
pub(crate) fn run_rows(
    rng: &mut Rng,
    scratch: &mut Scratch<'_>,
    (p, out_h): (&Conv, usize),
    at_once: usize,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
    run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
) -> (usize, bool) {
    let (split, overlaid) = (rng.size(0, out_h), rng.one_in(3));
    if overlaid {
        run_over(rng, scratch, (p, out_h), at_once, x, y, run);
    } else {
        let (x, y) = (Rows::whole(x, p.in_w * p.in_c), Rows::whole(y, y.len() / out_h.max(1)));
        for band in [Band { first: 0, rows: split }, Band { first: split, rows: out_h - split }] {
            run(x, y, band);
        }
    }
    (split, overlaid)
}

/// Runs a kernel with the result in the place of the operand, as far up as what is still to be read allows: a row of the result lies over what only rows before it read.
pub(crate) fn run_overlaid(
    rng: &mut Rng,
    scratch: &mut Scratch<'_>,
    sizes: (&Conv, usize),
    x: &[Cell<i8>],
    y: &[Cell<i8>],
    run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
) {
    run_over(rng, scratch, sizes, 1, x, y, run);
}

/// The same for one that computes so many rows at a time.
fn run_over(
    rng: &mut Rng,
    scratch: &mut Scratch<'_>,
    (p, out_h): (&Conv, usize),
    at_once: usize,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
    run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
) {
    let (len, row) = (p.in_w * p.in_c, y.len() / out_h.max(1));
    let read = |r: usize| ((r * p.stride_h).saturating_sub(p.pad_top) * len).min(x.len());
    let written = |r: usize| (r + at_once).min(out_h) * row;
    let gap = (0..out_h).step_by(at_once).map(|r| written(r).saturating_sub(read(r))).max().unwrap_or(0);
    let memory = cells(scratch.bytes.take_at((gap + x.len()).max(y.len()), rng.size(0, 3)));
    let (operand, result) = (&memory[gap..][..x.len()], &memory[..y.len()]);
    operand.iter().zip(x).for_each(|(to, x)| to.set(x.get()));
    run(Rows::whole(operand, len), Rows::whole(result, row), Band { first: 0, rows: out_h });
    y.iter().zip(result).for_each(|(y, result)| y.set(result.get()));
}

/// What there is to say of a convolution.
pub(crate) fn describe(p: &Conv) -> Case {
    Case::new()
        .with("in_h", p.in_h)
        .with("in_w", p.in_w)
        .with("in_c", p.in_c)
        .with("out_w", p.out_w)
        .with("out_c", p.out_c)
        .with("k_h", p.k_h)
        .with("k_w", p.k_w)
        .with("stride_h", p.stride_h)
        .with("stride_w", p.stride_w)
        .with("pad_top", p.pad_top)
        .with("pad_left", p.pad_left)
}

/// Filters of `size` weights as the portable kernel reads them: four alternate as long as there are four, the others follow.
pub(crate) fn pack_by_fours(filters: &[i8], size: usize, packed: &mut [i8]) {
    let count = filters.len() / size.max(1);
    for (o, filter) in filters.chunks_exact(size.max(1)).enumerate() {
        let grouped = o / 4 * 4 + 4 <= count;
        for (k, w) in filter.iter().enumerate() {
            packed[if grouped { o / 4 * 4 * size + k * 4 + o % 4 } else { o * size + k }] = *w;
        }
    }
}
