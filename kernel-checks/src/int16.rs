//! Layers of 16-bit elements with weights of 8 bits, for cores with Helium, against their portable twins.

use crate::conv::{describe, pack_by_fours};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    conv2d_i16, conv2d_i16_mve, conv2d_i16_mve_long, conv2d_i16_mve_points, conv2d_i16_narrow,
    conv2d_mve_work_words, dense_i16_mve, dense_i16_mve_long, depthwise2d_i16, depthwise2d_i16_mve,
    depthwise2d_mve_padding_words, Band, Conv, Requant, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "conv2d_i16_mve", run: |rng, scratch| filters(rng, scratch, Way::Windows) },
    Check { name: "conv2d_i16_mve_points", run: |rng, scratch| filters(rng, scratch, Way::Points) },
    Check { name: "dense_i16_mve", run: |rng, scratch| filters(rng, scratch, Way::Rows) },
    Check { name: "depthwise2d_i16_mve", run: channels },
];

/// How the taps of a pixel are found.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Windows,
    Points,
    Rows,
}

/// How sums become results.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// As the reference's with 32 bits, modulo 2³².
    Narrow,
    /// As the reference's with 64 bits; 32 are enough.
    Wide,
    /// As the reference's with 64 bits.
    Long,
}

/// Filters at most.
const MOST: usize = 40;

/// What makes results of sums: a bias, a multiplier and a shift of each filter.
struct Ends {
    bias: [i64; MOST],
    narrow: [i32; MOST],
    multipliers: [i32; MOST],
    shifts: [i8; MOST],
    lo: i32,
    hi: i32,
}

impl Ends {
    fn new(rng: &mut Rng, form: Form) -> Self {
        let mut ends = Ends {
            bias: [0; MOST],
            narrow: [0; MOST],
            multipliers: [0; MOST],
            shifts: [0; MOST],
            lo: rng.pick(&[-32768, 0, -3000]),
            hi: rng.pick(&[32767, 20_000]),
        };
        let least = rng.pick(&[-31, -20, -14]);
        for o in 0..MOST {
            // Products of 200 taps and a bias have 31 bits; the sums of narrow kernels may wrap.
            ends.narrow[o] =
                if form == Form::Wide { rng.int(-(1 << 28), 1 << 28) } else { rng.word() as i32 };
            ends.bias[o] = ends.narrow[o].into();
            if form == Form::Long {
                ends.bias[o] <<= rng.int(0, 10);
            }
            ends.multipliers[o] = match rng.int(0, 9) {
                0 => rng.pick(&[0, 1 << 30, 0x7ffe_ffff, 0x7fff_0000, i32::MAX]),
                _ => rng.int(1 << 30, i32::MAX),
            };
            let most = match form {
                Form::Narrow => -1,
                Form::Wide => -2,
                Form::Long => 7,
            };
            ends.shifts[o] = rng.int(least, most) as i8;
        }
        ends
    }

    fn requant(&self, count: usize) -> Requant<'_> {
        let (multipliers, shifts) = (&self.multipliers[..count], &self.shifts[..count]);
        Requant { multipliers, shifts, zero_point: 0, lo: self.lo, hi: self.hi }
    }

    /// What the kernels read of a filter: first value, multiplier, shift. Of long sums both halves of the bias, multiplier, shift.
    fn words(&self, o: usize, form: Form) -> [i32; 4] {
        let (multiplier, shift) = (self.multipliers[o], i32::from(self.shifts[o]));
        let mantissa = if multiplier < 0x7fff_0000 { (multiplier + (1 << 15)) >> 16 } else { 0x7fff };
        match form {
            Form::Narrow => [self.narrow[o], multiplier, shift, 0],
            Form::Wide => [self.narrow[o], mantissa << 16, shift + 1, 0],
            Form::Long => [self.bias[o] as i32, (self.bias[o] >> 32) as i32, multiplier, shift],
        }
    }
}

fn filters(rng: &mut Rng, mut scratch: Scratch<'_>, way: Way) -> Result<(), Mismatch> {
    let form = match way {
        Way::Points => rng.pick(&[Form::Narrow, Form::Wide]),
        _ => rng.pick(&[Form::Narrow, Form::Wide, Form::Long]),
    };
    let (k_h, k_w) = if way == Way::Windows { (rng.size(1, 3), rng.size(1, 3)) } else { (1, 1) };
    let in_c = match (way, rng.one_in(3)) {
        (Way::Windows, false) => rng.size(1, 20),
        (_, false) => rng.size(1, 70),
        (Way::Rows, true) if form == Form::Long => rng.size(500, 700),
        (_, true) => rng.pick(&[1, 2, 7, 8, 16]),
    };
    let (out_w, stride_w) = if way == Way::Rows { (1, 1) } else { (rng.size(1, 5), rng.size(1, 2)) };
    let (stride_h, out_h) = (if way == Way::Rows { 1 } else { rng.size(1, 2) }, rng.size(1, 3));
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, k_w - 1));
    let dilation_h = if way == Way::Windows { rng.size(1, 2) } else { 1 };
    let image = |rng: &mut Rng, reach: usize, pad: usize| match way {
        Way::Windows => (reach + rng.size(0, 3)).saturating_sub(pad + rng.size(0, 2)).max(1),
        Way::Points => reach + rng.size(0, 2),
        Way::Rows => reach,
    };
    let p = Conv {
        in_h: image(rng, (out_h - 1) * stride_h + (k_h - 1) * dilation_h + 1, pad_top),
        in_w: image(rng, (out_w - 1) * stride_w + k_w, pad_left),
        in_c,
        out_w,
        out_c: rng.size(1, 20),
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h,
        dilation_w: 1,
        pad_top,
        pad_left,
        groups: 1,
    };
    let taps = k_h * k_w * in_c;
    let weights = scratch.bytes.take(p.out_c * taps);
    rng.fill_i8(weights);
    let ends = Ends::new(rng, form);
    let (x, row) = (operand(rng, &mut scratch, &p), out_w * p.out_c);
    let (offset, fill) = (rng.size(0, 7), rng.word() as i16);
    let y = scratch.halves.twins(out_h * row, offset, fill);
    let packed = scratch.bytes.take(weights.len());
    pack_by_fours(weights, taps, packed);
    let (all, expected) = (Band { first: 0, rows: out_h }, Rows::whole(y.expected(), row));
    let (of_x, requant) = (Rows::whole(x, p.in_w * in_c), ends.requant(p.out_c));
    match form {
        Form::Narrow => conv2d_i16_narrow(&p, of_x, packed, &ends.narrow[..p.out_c], &requant, expected, all),
        _ => conv2d_i16(&p, of_x, packed, &ends.bias[..p.out_c], &requant, expected, all),
    }
    let w = pack(&mut scratch, weights, &ends, &p, form);
    let (lo, hi) = (ends.lo, ends.hi);
    let of_bytes = Conv { in_c: 2 * in_c, ..p };
    let work = cells(scratch.words.take(conv2d_mve_work_words(&of_bytes, rng.size(1, out_w))));
    let call = |x: Rows<'_, i16>, y: Rows<'_, i16>, band: Band| match (way, form) {
        (Way::Windows, Form::Wide) => conv2d_i16_mve::<true>(&p, x, w, work, y, band),
        (Way::Windows, Form::Narrow) => conv2d_i16_mve::<false>(&p, x, w, work, y, band),
        (Way::Points, Form::Wide) => conv2d_i16_mve_points::<true>(&p, x, w, y, band),
        (Way::Points, _) => conv2d_i16_mve_points::<false>(&p, x, w, y, band),
        (Way::Windows, Form::Long) => conv2d_i16_mve_long(&p, x, w, lo, hi, work, y, band),
        (Way::Rows, Form::Wide) => dense_i16_mve::<true>(x, w, y, band),
        (Way::Rows, Form::Narrow) => dense_i16_mve::<false>(x, w, y, band),
        (Way::Rows, Form::Long) => dense_i16_mve_long(x, w, lo, hi, y, band),
    };
    run(rng, &mut scratch, (&p, out_h), x, y.got(), call);
    y.compare(describe(&p).with("form", form as i32))
}

fn channels(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let c = if rng.one_in(2) { 8 * rng.size(1, 3) } else { rng.size(8, 30) };
    let (k_h, k_w) = (rng.size(1, 5), rng.size(1, 4));
    let (out_h, out_w) = (rng.size(1, 3), rng.size(1, 4));
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, k_w - 1));
    let (stride_h, stride_w) = (rng.size(1, 2), rng.size(1, 2));
    let (dilation_h, dilation_w) = (rng.size(1, 2), rng.size(1, 2));
    let image = |rng: &mut Rng, reach: usize, pad: usize| {
        (reach + rng.size(0, 3)).saturating_sub(pad + rng.size(0, 2)).max(1)
    };
    let p = Conv {
        in_h: image(rng, (out_h - 1) * stride_h + (k_h - 1) * dilation_h + 1, pad_top),
        in_w: image(rng, (out_w - 1) * stride_w + (k_w - 1) * dilation_w + 1, pad_left).min(9),
        in_c: c,
        out_w,
        out_c: c,
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h,
        dilation_w,
        pad_top,
        pad_left,
        groups: c,
    };
    let size = k_h * k_w;
    // Tap by tap, as the portable kernel reads them.
    let weights = scratch.bytes.take(size * c);
    rng.fill_i8(weights);
    let ends = Ends::new(rng, Form::Wide);
    let (x, row) = (operand(rng, &mut scratch, &p), out_w * c);
    let (offset, fill) = (rng.size(0, 7), rng.word() as i16);
    let y = scratch.halves.twins(out_h * row, offset, fill);
    let (all, expected) = (Band { first: 0, rows: out_h }, Rows::whole(y.expected(), row));
    let of_x = Rows::whole(x, p.in_w * c);
    depthwise2d_i16(&p, of_x, weights, &ends.bias[..c], &ends.requant(c), expected, all);
    let w = pack_channels(&mut scratch, weights, &ends, c);
    let work = cells(scratch.words.take(depthwise2d_mve_padding_words(2 * c)));
    let call = |x: Rows<'_, i16>, y: Rows<'_, i16>, band: Band| depthwise2d_i16_mve(&p, x, w, work, y, band);
    run(rng, &mut scratch, (&p, out_h), x, y.got(), call);
    y.compare(describe(&p).with("dilation_h", dilation_h).with("dilation_w", dilation_w))
}

/// An image, the ends of the range too.
fn operand<'a>(rng: &mut Rng, scratch: &mut Scratch<'a>, p: &Conv) -> &'a [Cell<i16>] {
    let x = scratch.halves.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 7));
    let same = rng.one_in(16).then(|| rng.pick(&[i16::MIN, i16::MAX]));
    for x in x.iter_mut() {
        *x = match (same, rng.int(0, 9)) {
            (Some(same), _) => same,
            (None, 0) => i16::MIN,
            (None, 1) => i16::MAX,
            _ => rng.word() as i16,
        };
    }
    cells(x)
}

/// Calls a kernel with the whole image, in two bands; with a ring of rows, row by row; or with results over rows that are no longer read.
fn run(
    rng: &mut Rng,
    scratch: &mut Scratch<'_>,
    (p, out_h): (&Conv, usize),
    x: &[Cell<i16>],
    y: &[Cell<i16>],
    call: impl Fn(Rows<'_, i16>, Rows<'_, i16>, Band),
) {
    let (len, row) = (p.in_w * p.in_c, y.len() / out_h);
    let first = |oy: usize| (oy * p.stride_h).saturating_sub(p.pad_top);
    match rng.int(0, 2) {
        0 => {
            let (x, y, first) = (Rows::whole(x, len), Rows::whole(y, row), rng.size(0, out_h));
            for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
                call(x, y, band);
            }
        }
        1 => {
            let held = ((p.k_h - 1) * p.dilation_h + 1 + rng.size(0, 1)).min(p.in_h);
            let ring = cells(scratch.halves.take_at(held * len, rng.size(0, 7)));
            for oy in 0..out_h {
                for r in (first(oy)..p.in_h).take(held) {
                    let (to, from) = (&ring[r % held * len..][..len], &x[r * len..][..len]);
                    to.iter().zip(from).for_each(|(to, x)| to.set(x.get()));
                }
                call(Rows::ring(ring, len, held), Rows::whole(y, row), Band { first: oy, rows: 1 });
            }
        }
        _ => {
            let gap = |oy: usize| ((oy + 1) * row).saturating_sub((first(oy) * len).min(x.len()));
            let gap = (0..out_h).map(gap).max().unwrap_or(0);
            let memory = cells(scratch.halves.take_at((gap + x.len()).max(y.len()), rng.size(0, 7)));
            let (operand, result) = (&memory[gap..][..x.len()], &memory[..y.len()]);
            operand.iter().zip(x).for_each(|(to, x)| to.set(x.get()));
            let band = Band { first: 0, rows: out_h };
            call(Rows::whole(operand, len), Rows::whole(result, row), band);
            y.iter().zip(result).for_each(|(y, result)| y.set(result.get()));
        }
    }
}

/// Filters \[o\]\[k_h\]\[k_w\]\[in_c\] as the kernels read them.
fn pack<'a>(scratch: &mut Scratch<'a>, weights: &[i8], ends: &Ends, p: &Conv, form: Form) -> &'a [i32] {
    let taps = p.k_h * p.k_w * p.in_c;
    let long = form == Form::Long;
    let (words_of_ends, before) = if long { (32, 0) } else { (24, 4) };
    let (first, eight) = ((taps - 1) % 8 + 1, 16 * taps.div_ceil(8) + words_of_ends);
    let w = scratch.words.take(before + p.out_c.div_ceil(8) * eight);
    let (head, eights) = w.split_at_mut(before);
    head.copy_from_slice(&[ends.lo, ends.hi, 0, 0][..before]);
    let weight = |o: usize, vector: usize, lane: usize| {
        // In the order of a window.
        let tap = if vector == 0 { lane } else { first + 8 * (vector - 1) + lane };
        if o >= p.out_c || (vector == 0 && lane >= first) {
            return 0;
        }
        let (column, c) = (tap / p.in_c, tap % p.in_c);
        let (kx, ky) = (column / p.k_h, column % p.k_h);
        weights[o * taps + (ky * p.k_w + kx) * p.in_c + c] as u8
    };
    for (at, words) in eights.chunks_exact_mut(eight).enumerate() {
        let (vectors, words) = words.split_at_mut(eight - words_of_ends);
        for (i, word) in vectors.iter_mut().enumerate() {
            let byte = |lane: usize| weight(8 * at + i % 16 / 2, i / 16, i % 2 * 4 + lane);
            *word = i32::from_le_bytes([0, 1, 2, 3].map(byte));
        }
        for (i, word) in words.iter_mut().enumerate() {
            // Even filters first, or one after the other.
            let (o, what) =
                if long { (8 * at + i / 4, i % 4) } else { (8 * at + i % 8 / 4 + i % 4 * 2, i / 8) };
            *word = if o < p.out_c { ends.words(o, form)[what] } else { 0 };
        }
    }
    w
}

/// Weights \[tap\]\[c\] as the kernel reads them.
fn pack_channels<'a>(scratch: &mut Scratch<'a>, weights: &[i8], ends: &Ends, c: usize) -> &'a [i32] {
    let size = weights.len() / c;
    let group = 2 * size + 24;
    let w = scratch.words.take(4 + c.div_ceil(8) * group);
    let (head, groups) = w.split_at_mut(4);
    head.copy_from_slice(&[ends.lo, ends.hi, 0, 0]);
    for (at, words) in groups.chunks_exact_mut(group).enumerate() {
        let first = (8 * at).min(c - 8);
        for (i, word) in words.iter_mut().enumerate() {
            *word = if i < 8 {
                ends.words(first + i / 4 + i % 4 * 2, Form::Wide)[0]
            } else if i < 8 + 2 * size {
                let (tap, from) = ((i - 8) / 2, first + i % 2 * 4);
                i32::from_le_bytes([0, 1, 2, 3].map(|lane| weights[tap * c + from + lane] as u8))
            } else {
                let i = i - 8 - 2 * size;
                ends.words(first + i / 8 + i % 4 * 2, Form::Wide)[1 + i / 4 % 2]
            };
        }
    }
    w
}
