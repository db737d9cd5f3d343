//! Depthwise convolutions.

use crate::affine::Forms;
use crate::conv::describe;
use crate::reference::{requantize, tap};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    depthwise2d_i8_dsp_planar as planar, depthwise2d_i8_dsp_planar_exact, Band, Conv, Requant, Rows, Stride,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "depthwise2d_i8_dsp_planar", run: planar_dsp },
    Check { name: "depthwise2d_i8_dsp_planar_exact", run: planar_dsp_exact },
];

/// How a planar kernel is called.
type Planar = fn(&Conv, Rows<'_, i8>, &[i32], i8, Rows<'_, i8>, usize, Band);

/// Width of rows (0: any), stride, distance of the pixels of the result, shift, signed form, and the kernel for them.
const PLANAR: &[(usize, usize, usize, u32, bool, Planar)] = &[
    (0, 1, 1, 6, false, planar::<0, 1, 1, 6, false>),
    (0, 1, 5, 0, false, planar::<0, 1, 5, 0, false>),
    (0, 1, 8, 3, true, planar::<0, 1, 8, 3, true>),
    (0, 1, 300, 7, false, planar::<0, 1, 300, 7, false>),
    (0, 2, 8, 9, false, planar::<0, 2, 8, 9, false>),
    (0, 2, 300, 0, true, planar::<0, 2, 300, 0, true>),
    (0, 1, 0, 6, true, planar::<0, 1, 0, 6, true>),
    (0, 2, 0, 7, false, planar::<0, 2, 0, 7, false>),
    (3, 1, 0, 5, false, planar::<3, 1, 0, 5, false>),
    (4, 1, 0, 6, true, planar::<4, 1, 0, 6, true>),
    (5, 1, 0, 7, false, planar::<5, 1, 0, 7, false>),
    (6, 1, 0, 8, false, planar::<6, 1, 0, 8, false>),
    (3, 1, 8, 6, false, planar::<3, 1, 8, 6, false>),
    (4, 1, 1, 5, false, planar::<4, 1, 1, 5, false>),
    (5, 1, 8, 7, false, planar::<5, 1, 8, 7, false>),
    (6, 1, 300, 8, false, planar::<6, 1, 300, 8, false>),
    (3, 1, 1, 0, true, planar::<3, 1, 1, 0, true>),
    (4, 1, 300, 8, true, planar::<4, 1, 300, 8, true>),
    (5, 1, 8, 6, true, planar::<5, 1, 8, 6, true>),
    (6, 1, 8, 9, true, planar::<6, 1, 8, 9, true>),
];

fn planar_dsp(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let &(width, stride, pixel, shift, signed, kernel) = &rng.pick(PLANAR);
    let any = rng.size(2, 7);
    let (p, out_h) = shape(rng, width, stride, if pixel == 0 { any } else { pixel });
    // Told by the number of channels, where it is not known.
    let p = if pixel == 0 { Conv { in_c: any, out_c: any, groups: any, ..p } } else { p };
    let pixel = if pixel == 0 { any } else { pixel };
    let pad = rng.i8();
    let weights = scratch.bytes.take(p.k_h * p.k_w * p.in_c);
    rng.fill_i8(weights);
    let forms = Forms::draw(rng, &mut scratch, p.in_c, shift, signed);
    let finish = |sum: i32, c: usize| forms.result(sum.wrapping_add(forms.first(c)), c);
    let stream = scratch.words.take((p.k_h + p.k_h.div_ceil(2) + 4) * p.in_c);
    let len = pack(&p, weights, stream, |c, tail| {
        let words = forms.words(c);
        tail[..words.len()].copy_from_slice(words);
        if width > 0 {
            let sum: i32 = weights.iter().skip(c).step_by(p.in_c).map(|&w| i32::from(w)).sum();
            tail[0] += i32::from(pad) * sum;
        }
        words.len()
    });
    let out = Stride { pixel, channel: if pixel == 1 { p.out_w } else { 1 } };
    let run =
        |x: Rows<'_, i8>, y: Rows<'_, i8>, band| kernel(&p, x, &stream[..len], pad, y, out.channel, band);
    compare(rng, scratch, (&p, out_h, out), (weights, pad), finish, run)
}

fn planar_dsp_exact(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let pixel = rng.pick(&[1, 8]);
    let stride = rng.size(1, 2);
    let (p, out_h) = shape(rng, 0, stride, pixel);
    let pad = rng.i8();
    let weights = scratch.bytes.take(p.k_h * p.k_w * p.in_c);
    rng.fill_i8(weights);
    let bias = scratch.words.take(p.in_c);
    rng.fill_i32(bias, -20_000, 20_000);
    let (multipliers, shifts) = (scratch.words.take(p.in_c), scratch.bytes.take(p.in_c));
    for (multiplier, shift) in multipliers.iter_mut().zip(shifts.iter_mut()) {
        let scale = rng.scale(9 * 8192);
        (*multiplier, *shift) = (scale.multiplier, scale.shift as i8);
    }
    let zero_point = rng.i8().into();
    let (lo, hi) = rng.clamp(zero_point);
    let q = Requant { multipliers, shifts, zero_point, lo, hi };
    let finish = |sum: i32, c: usize| requantize(sum.wrapping_add(bias[c]), c, &q);
    let stream = scratch.words.take((p.k_h + p.k_h.div_ceil(2) + 1) * p.in_c);
    let len = pack(&p, weights, stream, |c, tail| {
        tail[0] = bias[c];
        1
    });
    let out = Stride { pixel, channel: if pixel == 1 { p.out_w } else { 1 } };
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| {
        depthwise2d_i8_dsp_planar_exact(&p, x, &stream[..len], pad, &q, y, &out, band)
    };
    compare(rng, scratch, (&p, out_h, out), (weights, pad), finish, run)
}

/// A depthwise convolution with a filter of three columns, and its number of result rows: 3 × 3 with rows of `width` pixels unless
/// that is 0. The pixels of the result are `pixel` elements apart (1: planar).
fn shape(rng: &mut Rng, width: usize, stride_w: usize, pixel: usize) -> (Conv, usize) {
    let k_h = if rng.one_in(3) { rng.size(1, 4) } else { 3 };
    let (in_h, in_w) = (rng.size(1, 6), if rng.one_in(6) { rng.size(1, 49) } else { rng.size(1, 12) });
    let stride_h = rng.size(1, 2);
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, 2));
    let channels = if pixel == 1 { rng.size(1, 7) } else { rng.size(1, pixel.min(7)) };
    let (k_h, in_w, pad_left) = if width > 0 { (3, width, 1) } else { (k_h, in_w, pad_left) };
    // Up to all there is, with at most two columns of padding on the right.
    let out =
        |size: usize, pad: usize, k: usize, stride: usize| (size + 2 * pad).saturating_sub(k) / stride + 1;
    let (out_h, out_w) = (out(in_h, pad_top, k_h, stride_h), out(in_w, pad_left, 3, stride_w));
    let out_w = if width == 0 && rng.one_in(4) { rng.size(1, out_w) } else { out_w };
    let p = Conv {
        in_h,
        in_w,
        in_c: channels,
        out_w: if pixel > 255 { out_w.min(6) } else { out_w },
        out_c: channels,
        k_h,
        k_w: 3,
        stride_h,
        stride_w,
        dilation_h: 1,
        dilation_w: 1,
        pad_top,
        pad_left,
        groups: channels,
    };
    (p, if pixel > 255 { out_h.min(3) } else { out_h })
}

/// Weights \[k_h\]\[3\]\[c\] as planar kernels read them. `tail` writes what follows those of a channel, and says how many words that is.
fn pack(p: &Conv, weights: &[i8], stream: &mut [i32], tail: impl Fn(usize, &mut [i32]) -> usize) -> usize {
    let mut at = 0;
    for c in 0..p.in_c {
        let w = |ky: usize, kx: usize| match ky < p.k_h {
            true => i32::from(weights[(ky * 3 + kx) * p.in_c + c]),
            false => 0,
        };
        let pairs = (0..p.k_h).map(|ky| (w(ky, 0), w(ky, 2)));
        let middles = (0..p.k_h).step_by(2).map(|ky| (w(ky, 1), w(ky + 1, 1)));
        for (low, high) in pairs.chain(middles) {
            stream[at] = low & 0xffff | high << 16;
            at += 1;
        }
        at += tail(c, &mut stream[at..]);
    }
    at
}

/// Runs a kernel on a planar operand: in two calls on a whole tensor, whose place the result may take, or row by row on a ring.
fn compare(
    rng: &mut Rng,
    mut scratch: Scratch<'_>,
    (p, out_h, out): (&Conv, usize, Stride),
    (weights, pad): (&[i8], i8),
    finish: impl Fn(i32, usize) -> i8,
    run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
) -> Result<(), Mismatch> {
    let in_row = p.in_w * p.in_c;
    let image = scratch.bytes.take(p.in_h * in_row);
    rng.fill_i8(image);
    let out_row = if out.pixel == 1 { p.out_w * p.in_c } else { p.out_w * out.pixel };
    let y = scratch.bytes.twins(out_h * out_row, rng.size(0, 3), rng.i8());
    for (oy, row) in y.expected().chunks_exact(out_row).enumerate() {
        for (ox, c) in (0..p.out_w).flat_map(|ox| (0..p.in_c).map(move |c| (ox, c))) {
            let mut sum = 0;
            for (at, w) in weights.iter().skip(c).step_by(p.in_c).enumerate() {
                let at = tap(p, [oy, ox], [at / p.k_w, at % p.k_w], 0).map(|at| at / p.in_c);
                let x = at.map_or(pad, |at| image[at / p.in_w * in_row + c * p.in_w + at % p.in_w]);
                sum += i32::from(x) * i32::from(*w);
            }
            row[ox * out.pixel + c * out.channel].set(finish(sum, c));
        }
    }
    let lowest = |row: usize| (row * p.stride_h).saturating_sub(p.pad_top).min(p.in_h);
    let mode = rng.int(0, 2);
    let case = describe(p).with("pixel", out.pixel).with("mode", mode);
    match mode {
        0 => {
            let ring = rng.size(p.k_h, p.k_h + 2);
            let memory = cells(scratch.bytes.take_at(ring * in_row, rng.size(0, 3)));
            let mut filled = 0;
            for row in 0..out_h {
                while filled < (row * p.stride_h + p.k_h).saturating_sub(p.pad_top).min(p.in_h) {
                    let from = &image[filled * in_row..][..in_row];
                    let to = &memory[filled % ring * in_row..][..in_row];
                    to.iter().zip(from).for_each(|(to, from)| to.set(*from));
                    filled += 1;
                }
                run(
                    Rows::ring(memory, in_row, ring),
                    Rows::whole(y.got(), out_row),
                    Band { first: row, rows: 1 },
                );
            }
        }
        1 => {
            let first = rng.size(0, out_h);
            let x = scratch.bytes.take_at(image.len(), rng.size(0, 3));
            x.copy_from_slice(image);
            let x = Rows::whole(cells(x), in_row);
            for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
                run(x, Rows::whole(y.got(), out_row), band);
            }
        }
        _ => {
            // The result lies as far up into the operand as the contract allows. What it does not write is not compared.
            let needed = |row: usize| (row..out_h).map(lowest).min().unwrap_or(0) * in_row;
            let gap =
                (0..out_h).map(|row| ((row + 1) * out_row).saturating_sub(needed(row))).max().unwrap_or(0);
            let memory = scratch.bytes.take_at((gap + image.len()).max(out_h * out_row), rng.size(0, 3));
            memory[gap..][..image.len()].copy_from_slice(image);
            let memory = cells(memory);
            let (x, all) = (&memory[gap..][..image.len()], &memory[..out_h * out_row]);
            run(Rows::whole(x, in_row), Rows::whole(all, out_row), Band { first: 0, rows: out_h });
            for (row, from) in y.got().chunks_exact(out_row).zip(all.chunks_exact(out_row)) {
                for (ox, c) in (0..p.out_w).flat_map(|ox| (0..p.in_c).map(move |c| (ox, c))) {
                    let at = ox * out.pixel + c * out.channel;
                    row[at].set(from[at].get());
                }
            }
        }
    }
    y.compare(case)
}
