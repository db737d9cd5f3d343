//! Matrix products, and convolutions of images one column wide.

use crate::conv::describe;
use crate::reference::{requantize, tap};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    conv1_i8_dsp, conv1_i8_dsp_exact, dense_i8_dsp, dense_i8_dsp_exact, Band, Conv, Requant, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "dense_i8_dsp", run: |rng, scratch| check(rng, scratch, false, false) },
    Check { name: "dense_i8_dsp_exact", run: |rng, scratch| check(rng, scratch, false, true) },
    Check { name: "conv1_i8_dsp", run: |rng, scratch| check(rng, scratch, true, false) },
    Check { name: "conv1_i8_dsp_exact", run: |rng, scratch| check(rng, scratch, true, true) },
];

/// Last shifts, and which of them stand for a signed form.
const SHIFTS: [u32; 5] = [0, 3, 8, 5, 9];
const SIGNED_FROM: usize = 3;

fn check(rng: &mut Rng, mut scratch: Scratch<'_>, column: bool, exact: bool) -> Result<(), Mismatch> {
    let (in_h, k_h) = if column { (rng.size(1, 14), rng.size(1, 9)) } else { (isize::MAX as usize, 1) };
    let rows = if column { rng.size(1, 6) } else { rng.size(1, 3) };
    let p = Conv {
        in_h,
        in_w: 1,
        in_c: if rng.one_in(2) { rng.size(1, 18) * 4 } else { rng.size(1, 70) },
        out_w: 1,
        out_c: rng.size(1, 13),
        k_h,
        k_w: 1,
        stride_h: if column { rng.size(1, 2) } else { 1 },
        stride_w: 1,
        dilation_h: if column { rng.size(1, 2) } else { 1 },
        dilation_w: 1,
        pad_top: if column { rng.size(0, k_h - 1) } else { 0 },
        pad_left: 0,
        groups: 1,
    };
    let size = p.k_h * p.in_c;
    let held = if column { in_h } else { rows };
    // Of a ring, what is read has to be held; where the ring begins anew is anywhere.
    let x = scratch.bytes.take_at(held * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let quads = p.out_c.div_ceil(4);
    let filters = scratch.bytes.take(4 * quads * size);
    rng.fill_i8(&mut filters[..p.out_c * size]);
    filters[p.out_c * size..].fill(0);
    // What does not fit a halfword together.
    for o in (1..4 * quads).step_by(2) {
        for k in 0..size {
            if filters[(o - 1) * size + k] < 0 {
                filters[o * size + k] = filters[o * size + k].max(-127);
            }
        }
    }
    let first = scratch.words.take(4 * quads);
    rng.fill_i32(first, -20_000, 20_000);
    let pad = rng.i8();
    let form = rng.size(0, SHIFTS.len() - 1);
    let (shift, signed) = (SHIFTS[form], form >= SIGNED_FROM && !exact);
    let bits = 32 - (size as u32 * 8192).leading_zeros();
    let exponent = (39 + shift - bits).min(30);
    let mut factors = [[0; 3]; 16];
    for (o, [m, c, correction]) in factors.iter_mut().enumerate() {
        let constant = 1 << (shift + 6 + if o % 2 == 1 || signed { 8 } else { 0 }).min(30);
        *m = rng.int(1 << (exponent - 1), 1 << exponent);
        *c = rng.int(-constant, constant);
        *correction = -rng.int(0, 1000);
    }
    let (multipliers, shifts) = (scratch.words.take(p.out_c), scratch.bytes.take(p.out_c));
    for (multiplier, shift) in multipliers.iter_mut().zip(shifts.iter_mut()) {
        let scale = rng.scale(size as u32 * 8192);
        (*multiplier, *shift) = (scale.multiplier, scale.shift as i8);
    }
    let zero_point = rng.i8().into();
    let (lo, hi) = rng.clamp(zero_point);
    let q = Requant { multipliers, shifts, zero_point, lo, hi };

    let y = scratch.bytes.twins(rows * p.out_c, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (oy, o) = (index / p.out_c, index % p.out_c);
        let mut acc = first[o];
        for (at, w) in filters[o * size..][..size].iter().enumerate() {
            let at = tap(&p, [oy, 0], [at / p.in_c, 0], at % p.in_c);
            acc += i32::from(at.map_or(pad, |at| x[at])) * i32::from(*w);
        }
        y.set(if exact {
            requantize(acc, o, &q)
        } else {
            let gain = if o % 2 == 1 || signed { 8 } else { 0 };
            let [m, c, correction] = factors[o];
            let d = (acc << gain) + if acc < 0 && signed { correction } else { 0 };
            let x = (i64::from(d) * i64::from(m) + (i64::from(c) << 32) + (1 << 31)) >> 32;
            (x >> (shift + gain)).clamp(-128, 127) as i8
        });
    }

    // Quads of filters.
    let pairs = p.k_h * p.in_c.div_ceil(2);
    let tail = if exact {
        0
    } else if signed {
        12
    } else {
        8
    };
    let w = scratch.words.take(quads * (4 + 2 * pairs + tail));
    let mut words = w.iter_mut();
    let mut push = |word| *words.next().unwrap() = word;
    for a in (0..4 * quads).step_by(4) {
        for o in [a, a + 2] {
            push(first[o]);
            push(first[o] + (first[o + 1] << 8));
        }
        for k in (0..p.k_h).flat_map(|ky| (0..p.in_c.div_ceil(2)).map(move |pair| (ky, pair))) {
            let (ky, pair) = k;
            let (i, j) = match pair < p.in_c / 4 * 2 {
                true => (pair / 2 * 4 + pair % 2, pair / 2 * 4 + pair % 2 + 2),
                false => (2 * pair, 2 * pair + 1),
            };
            for o in [a, a + 2] {
                let half = |c| {
                    let weight = |o: usize| {
                        if c < p.in_c {
                            i32::from(filters[o * size + ky * p.in_c + c])
                        } else {
                            0
                        }
                    };
                    i16::try_from(weight(o) + 256 * weight(o + 1)).unwrap() as u16 as u32
                };
                push((half(i) | half(j) << 16) as i32);
            }
        }
        if !exact {
            factors[a..a + 4].iter().filter(|_| signed).for_each(|&[_, _, correction]| push(correction));
            factors[a..a + 4].iter().for_each(|&[m, c, _]| {
                push(m);
                push(c);
            });
        }
    }

    let (x, got) = (Rows::whole(cells(x), p.in_c), Rows::whole(y.got(), p.out_c));
    let split = rng.size(0, rows);
    for band in [Band { first: 0, rows: split }, Band { first: split, rows: rows - split }] {
        match (column, exact, form) {
            (true, true, _) => conv1_i8_dsp_exact(&p, x, w, pad, &q, got, band),
            (false, true, _) => dense_i8_dsp_exact(x, w, &q, got, band),
            (true, _, 0) => conv1_i8_dsp::<0, false>(&p, x, w, pad, got, band),
            (true, _, 1) => conv1_i8_dsp::<3, false>(&p, x, w, pad, got, band),
            (true, _, 2) => conv1_i8_dsp::<8, false>(&p, x, w, pad, got, band),
            (true, _, 3) => conv1_i8_dsp::<5, true>(&p, x, w, pad, got, band),
            (true, ..) => conv1_i8_dsp::<9, true>(&p, x, w, pad, got, band),
            (_, _, 0) => dense_i8_dsp::<0, false>(x, w, got, band),
            (_, _, 1) => dense_i8_dsp::<3, false>(x, w, got, band),
            (_, _, 2) => dense_i8_dsp::<8, false>(x, w, got, band),
            (_, _, 3) => dense_i8_dsp::<5, true>(x, w, got, band),
            _ => dense_i8_dsp::<9, true>(x, w, got, band),
        }
    }
    y.compare(describe(&p).with("rows", rows).with("shift", shift as i32).with("signed", signed as i32))
}
