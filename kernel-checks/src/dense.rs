//! Matrix products, and convolutions of images one column wide.

use crate::affine::factors;
use crate::conv::{describe, run_any};
use crate::reference::{affine, requantize, tap};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    conv1_i8_dsp, conv1_i8_dsp_eights, conv1_i8_dsp_exact, dense_i8_dsp, dense_i8_dsp_compact,
    dense_i8_dsp_dot, dense_i8_dsp_eights, dense_i8_dsp_exact, CompactDense, Conv, Requant, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "dense_i8_dsp", run: |rng, scratch| check(rng, scratch, false, Kind::Quads) },
    Check { name: "dense_i8_dsp_eights", run: |rng, scratch| check(rng, scratch, false, Kind::Eights) },
    Check { name: "dense_i8_dsp_dot", run: |rng, scratch| check(rng, scratch, false, Kind::Dots) },
    Check { name: "dense_i8_dsp_exact", run: |rng, scratch| check(rng, scratch, false, Kind::Exact) },
    Check { name: "dense_i8_dsp_compact", run: |rng, scratch| check(rng, scratch, false, Kind::Compact) },
    Check { name: "conv1_i8_dsp", run: |rng, scratch| check(rng, scratch, true, Kind::Quads) },
    Check { name: "conv1_i8_dsp_eights", run: |rng, scratch| check(rng, scratch, true, Kind::Eights) },
    Check { name: "conv1_i8_dsp_exact", run: |rng, scratch| check(rng, scratch, true, Kind::Exact) },
];

/// How many filters are taken at a time, and how their sums are requantised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quads,
    Eights,
    Dots,
    Exact,
    /// As quads, with rows of which the length is a multiple of four.
    Compact,
}

/// Last shifts, and which of them stand for a signed form.
const SHIFTS: [u32; 5] = [0, 3, 8, 5, 9];
const SIGNED_FROM: usize = 3;

fn check(rng: &mut Rng, mut scratch: Scratch<'_>, column: bool, kind: Kind) -> Result<(), Mismatch> {
    let exact = kind == Kind::Exact;
    let (in_h, k_h) = if column { (rng.size(1, 14), rng.size(1, 9)) } else { (isize::MAX as usize, 1) };
    let rows = if column { rng.size(1, 6) } else { rng.size(1, 3) };
    let p = Conv {
        in_h,
        in_w: 1,
        in_c: if kind == Kind::Compact || rng.one_in(2) { rng.size(1, 18) * 4 } else { rng.size(1, 70) },
        out_w: 1,
        out_c: match kind {
            Kind::Quads | Kind::Exact | Kind::Compact => rng.size(1, 13),
            Kind::Eights => rng.size(1, 20),
            Kind::Dots => rng.size(1, 3),
        },
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
    // Five to seven filters make an eight, four or fewer a quad.
    let eights = if kind == Kind::Eights { (p.out_c + 3) / 8 } else { 0 };
    let quads = p.out_c.saturating_sub(8 * eights).div_ceil(4);
    let all = 8 * eights + 4 * quads;
    let filters = scratch.bytes.take(all * size);
    rng.fill_i8(&mut filters[..p.out_c * size]);
    filters[p.out_c * size..].fill(0);
    // What does not fit a halfword together.
    for o in (1..all).step_by(2) {
        for k in 0..size {
            if filters[(o - 1) * size + k] < 0 {
                filters[o * size + k] = filters[o * size + k].max(-127);
            }
        }
    }
    let first = scratch.words.take(all);
    rng.fill_i32(first, -20_000, 20_000);
    let pad = rng.i8();
    let form = rng.size(0, SHIFTS.len() - 1);
    let (shift, signed) = (SHIFTS[form], form >= SIGNED_FROM && !exact);
    let gain = |o: usize| if signed || o % 2 == 1 && kind != Kind::Dots { 8 } else { 0 };
    let factors: [_; 24] = factors(rng, size, shift, signed, gain);
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
        y.set(if exact { requantize(acc, o, &q) } else { affine(acc, gain(o), factors[o], shift + gain(o)) });
    }

    // Eights and quads of filters.
    let pairs = p.k_h * p.in_c.div_ceil(2);
    let tail = if exact {
        0
    } else if signed {
        12
    } else {
        8
    };
    let w = match kind {
        Kind::Dots => scratch.words.take(p.out_c * (4 + size.div_ceil(4))),
        _ => scratch.words.take(all / 4 * (4 + 2 * pairs + tail)),
    };
    let mut words = w.iter_mut();
    let mut push = |word| *words.next().unwrap() = word;
    for o in (0..p.out_c).filter(|_| kind == Kind::Dots) {
        let [m, c, correction] = factors[o];
        push(first[o]);
        for taps in filters[o * size..][..size].chunks(4) {
            push((0..4).fold(0, |word, i| word | i32::from(*taps.get(i).unwrap_or(&0) as u8) << (8 * i)));
        }
        [correction, m, c].into_iter().skip(usize::from(!signed)).for_each(&mut push);
    }
    let tiled = if kind == Kind::Dots { 0 } else { all };
    let quads = (8 * eights..tiled).step_by(4).map(|a| a..a + 4);
    for tile in (0..8 * eights).step_by(8).map(|a| a..a + 8).chain(quads) {
        for o in tile.clone().step_by(2) {
            push(first[o]);
            push(first[o] + (first[o + 1] << 8));
        }
        for k in (0..p.k_h).flat_map(|ky| (0..p.in_c.div_ceil(2)).map(move |pair| (ky, pair))) {
            let (ky, pair) = k;
            let (i, j) = match pair < p.in_c / 4 * 2 {
                true => (pair / 2 * 4 + pair % 2, pair / 2 * 4 + pair % 2 + 2),
                false => (2 * pair, 2 * pair + 1),
            };
            for o in tile.clone().step_by(2) {
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
            let factors = &factors[tile];
            factors.iter().filter(|_| signed).for_each(|&[_, _, correction]| push(correction));
            factors.iter().for_each(|&[m, c, _]| {
                push(m);
                push(c);
            });
        }
    }

    let run = |x: Rows<'_, i8>, got: Rows<'_, i8>, band| {
        // The kernel in the drawn form.
        macro_rules! run {
            ($kernel:ident, $exact:ident, $([$($rest:tt)*])?, $($args:expr),*) => {
                match form {
                    _ if exact => $exact($($args,)* &q, got, band),
                    0 => $kernel::<0, false $($($rest)*)?>($($args,)* got, band),
                    1 => $kernel::<3, false $($($rest)*)?>($($args,)* got, band),
                    2 => $kernel::<8, false $($($rest)*)?>($($args,)* got, band),
                    3 => $kernel::<5, true $($($rest)*)?>($($args,)* got, band),
                    _ => $kernel::<9, true $($($rest)*)?>($($args,)* got, band),
                }
            };
        }
        match (column, kind, all > 8 * eights) {
            (_, Kind::Compact, _) => {
                dense_i8_dsp_compact(&CompactDense { weights: w, shift, signed }, x, got, band);
            }
            (true, Kind::Eights, true) => {
                run!(conv1_i8_dsp_eights, conv1_i8_dsp_exact, [, true], &p, x, w, pad)
            }
            (true, Kind::Eights, false) => {
                run!(conv1_i8_dsp_eights, conv1_i8_dsp_exact, [, false], &p, x, w, pad)
            }
            (true, ..) => run!(conv1_i8_dsp, conv1_i8_dsp_exact, , &p, x, w, pad),
            (false, Kind::Eights, true) => run!(dense_i8_dsp_eights, dense_i8_dsp_exact, [, true], x, w),
            (false, Kind::Eights, false) => run!(dense_i8_dsp_eights, dense_i8_dsp_exact, [, false], x, w),
            (false, Kind::Dots, _) => run!(dense_i8_dsp_dot, dense_i8_dsp_exact, , x, w),
            (false, ..) => run!(dense_i8_dsp, dense_i8_dsp_exact, , x, w),
        }
    };
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, rows), cells(x), y.got(), run);
    let case = describe(&p).with("rows", rows).with("shift", shift as i32).with("signed", signed as i32);
    y.compare(case.with("split", split).with("overlaid", i32::from(overlaid)))
}
