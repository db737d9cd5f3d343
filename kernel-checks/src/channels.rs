//! Depthwise convolutions of sixteen channels at a time, for cores with Helium.

use crate::conv::{describe, run_overlaid};
use crate::mve::{expect, End, Ends};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{depthwise2d_i8_mve_channels as kernel, depthwise2d_mve_padding_words, Band, Conv, Rows};

pub(crate) const CHECKS: &[Check] = &[Check { name: "depthwise2d_i8_mve_channels", run: channels }];

type Kernel = fn(&Conv, Rows<'_, i8>, &[i32], i8, &[Cell<i32>], Rows<'_, i8>, Band);

const KERNELS: [(End, Kernel); 3] = [
    (End::Affine, kernel::<false, false>),
    (End::Exact, kernel::<true, false>),
    (End::Clamped, kernel::<true, true>),
];

fn channels(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (end, kernel) = KERNELS[rng.size(0, KERNELS.len() - 1)];
    let c = if rng.one_in(2) { rng.size(1, 2) * 16 } else { rng.size(16, 40) };
    let (k_h, k_w) = (rng.size(1, 5), rng.size(1, 4));
    let (out_h, out_w) = (rng.size(1, 3), rng.size(1, 5));
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, k_w - 1));
    let (stride_h, stride_w) = (rng.size(1, 2), rng.size(1, 2));
    let (dilation_h, dilation_w) = (rng.size(1, 2), rng.size(1, 2));
    // As much behind the last pixel as there happens to be, padding or image.
    let image = |rng: &mut Rng, reach: usize, pad: usize| {
        (reach + rng.size(0, 3)).saturating_sub(pad + rng.size(0, 2)).max(1)
    };
    let p = Conv {
        in_h: image(rng, (out_h - 1) * stride_h + (k_h - 1) * dilation_h + 1, pad_top),
        in_w: image(rng, (out_w - 1) * stride_w + (k_w - 1) * dilation_w + 1, pad_left),
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
    let filters = scratch.bytes.take(c * size);
    rng.fill_i8(filters);
    let shift = rng.size(0, 20) as u32;
    let ends = Ends::new(rng, &mut scratch, c, size, end, shift);
    let w = pack(&mut scratch, filters, &ends, shift, c);
    let x = scratch.bytes.take_at(p.in_h * p.in_w * c, rng.size(0, 3));
    rng.fill_i8(x);
    let (x, pad) = (cells(x), rng.i8());
    let (row, offset) = (out_w * c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * row, offset, rng.i8());
    expect(&p, filters, x, pad, &ends, y.expected());
    let work = cells(scratch.words.take(depthwise2d_mve_padding_words(c)));
    let call = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| kernel(&p, x, w, pad, work, y, band);
    let overlaid = rng.one_in(3);
    if overlaid {
        run_overlaid(rng, &mut scratch, (&p, out_h), x, y.got(), call);
    } else {
        let (x, got, first) = (Rows::whole(x, p.in_w * c), Rows::whole(y.got(), row), rng.size(0, out_h));
        for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
            call(x, got, band);
        }
    }
    let case = describe(&p).with("offset", offset).with("stride_h", stride_h).with("c", c);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}

/// Filters \[c\]\[tap\] and what requantises them, as the kernel reads them.
fn pack<'a>(scratch: &mut Scratch<'a>, filters: &[i8], ends: &Ends<'_>, shift: u32, c: usize) -> &'a [i32] {
    let (size, behind) = (filters.len() / c, if ends.words() == 3 { 2 } else { 3 });
    let group = 16 + 4 * size + 16 * behind;
    let w = scratch.words.take(4 + c.div_ceil(16) * group);
    let (head, groups) = w.split_at_mut(4);
    let [lo, hi] = ends.clamp();
    head.copy_from_slice(&[shift as i32, lo, hi, 0]);
    for (at, words) in groups.chunks_exact_mut(group).enumerate() {
        let first = (16 * at).min(c - 16);
        // Even and odd channels of each eight.
        let channel = |four: usize, lane: usize| first + four / 2 * 8 + 2 * lane + four % 2;
        for (at, word) in words.iter_mut().enumerate() {
            *word = if at < 16 {
                ends.word(channel(at / 4, at % 4), 0)
            } else if at < 16 + 4 * size {
                let (tap, from) = ((at - 16) / 4, first + (at - 16) % 4 * 4);
                (0..4).fold(0, |word, i| word | i32::from(filters[(from + i) * size + tap] as u8) << (8 * i))
            } else {
                let at = at - 16 - 4 * size;
                ends.word(channel(at / 4 / behind, at % 4), 1 + at / 4 % behind)
            };
        }
    }
    w
}
