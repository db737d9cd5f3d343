//! Kernels of RISC-V: tiles of pixels, tables of taps, rolling filters.

use crate::conv::{describe, run_any};
use crate::reference::tap;
use crate::v6m::{add, resize, shape};
use crate::wide::{conv, result};
use crate::winograd::work;
use crate::{cells, Case, Check, Mismatch, Rng, Scratch, CREW};
use kiln::kernels::{
    add_i8_rv32, conv1_i16_i8_rv32, conv2d_i8_rv32_mixed, conv2d_i8_rv32_mixed_crew, conv2d_i8_rv32_pairs,
    conv2d_i8_rv32_pairs_crew, conv2d_i8_rv32_quads, conv2d_i8_rv32_quads_crew, dense_i8_i16_rv32,
    dense_i8_i16_rv32_singles, dense_i8_rv32_pairs, dense_i8_rv32_quads, dense_i8_rv32_singles,
    depthwise2d_i8_rv32, depthwise2d_i8_rv32_crew, depthwise2d_i8_rv32_rolling,
    depthwise2d_i8_rv32_rolling_crew, Band, Conv, Rescale, Rows, UpperRequant,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "add_i8_rv32",
        run: |rng, scratch| add(rng, scratch, |p, a, b, y| add_i8_rv32(p, 17, a, b, y)),
    },
    Check { name: "conv1_i16_i8_rv32", run: |rng, scratch| conv(rng, scratch, conv1_i16_i8_rv32) },
    Check { name: "conv2d_i8_rv32_mixed", run: |rng, scratch| convolution(rng, scratch, 2, true) },
    Check { name: "conv2d_i8_rv32_pairs", run: |rng, scratch| convolution(rng, scratch, 1, false) },
    Check { name: "conv2d_i8_rv32_quads", run: |rng, scratch| convolution(rng, scratch, 2, false) },
    Check { name: "dense_i8_rv32_pairs", run: |rng, scratch| dense(rng, scratch, 1) },
    Check { name: "dense_i8_rv32_quads", run: |rng, scratch| dense(rng, scratch, 2) },
    Check { name: "dense_i8_rv32_singles", run: |rng, scratch| dense(rng, scratch, 0) },
    Check { name: "dense_i8_i16_rv32", run: |rng, scratch| dense_wide(rng, scratch, true) },
    Check { name: "dense_i8_i16_rv32_singles", run: |rng, scratch| dense_wide(rng, scratch, false) },
    Check { name: "depthwise2d_i8_rv32", run: |rng, scratch| depthwise(rng, scratch, false) },
    Check { name: "depthwise2d_i8_rv32_rolling", run: |rng, scratch| depthwise(rng, scratch, true) },
];

fn convolution(rng: &mut Rng, mut scratch: Scratch<'_>, each: usize, mixed: bool) -> Result<(), Mismatch> {
    let (p, out_h) = shape(rng, true);
    let size = p.k_h * p.k_w * p.in_c;
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let (filters, w) = filters(rng, &mut scratch, p.out_c, size);
    let own = rng.one_in(2);
    let (channels, q) = requant(rng, &mut scratch, p.out_c, own);
    let pad = rng.i8();
    let (out_row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * out_row, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let products = filters[o * size..][..size].iter().enumerate().map(|(at, w)| {
            let (k, c) = (at / p.in_c, at % p.in_c);
            let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [k / p.k_w, k % p.k_w], c);
            i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w)
        });
        y.set(requantize(products.sum(), &channels[o * q.words..][..q.words], &q));
    }
    let on_crew = rng.one_in(3);
    let work = match on_crew {
        // One for each core.
        true => work(rng, &mut scratch, 2 * (each * size).next_multiple_of(16)),
        false => work(rng, &mut scratch, each * size),
    };
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| match (each, on_crew) {
        (1, false) => conv2d_i8_rv32_pairs(&p, x, w, pad, &q, work, y, band),
        (1, true) => conv2d_i8_rv32_pairs_crew(&CREW, 2, &p, x, w, pad, &q, work, y, band),
        (_, false) if mixed => conv2d_i8_rv32_mixed(&p, x, w, pad, &q, work, y, band),
        (_, true) if mixed => conv2d_i8_rv32_mixed_crew(&CREW, 2, &p, x, w, pad, &q, work, y, band),
        (_, false) => conv2d_i8_rv32_quads(&p, x, w, pad, &q, work, y, band),
        (_, true) => conv2d_i8_rv32_quads_crew(&CREW, 2, &p, x, w, pad, &q, work, y, band),
    };
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, out_h), x, y.got(), run);
    let case = describe(&p).with("offset", offset).with("words", q.words).with("split", split);
    let case = case.with("work", work.len()).with("overlaid", i32::from(overlaid));
    y.compare(case.with("dilation_h", p.dilation_h).with("dilation_w", p.dilation_w))
}

fn dense(rng: &mut Rng, mut scratch: Scratch<'_>, each: usize) -> Result<(), Mismatch> {
    let (size, n, rows) = (rng.size(1, 150), rng.size(if each == 0 { 1 } else { 2 }, 20), rng.size(1, 6));
    let x = scratch.bytes.take_at(rows * size, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let (filters, w) = filters(rng, &mut scratch, n, size);
    let words = singles(rng, &mut scratch, filters, size);
    let own = rng.one_in(2);
    let (channels, q) = requant(rng, &mut scratch, n, own);
    let offset = rng.size(0, 3);
    let y = scratch.bytes.twins(rows * n, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (row, o) = (index / n, index % n);
        let products = filters[o * size..][..size].iter().zip(&x[row * size..]);
        let sum = products.map(|(w, x)| i32::from(*w) * i32::from(x.get())).sum();
        y.set(requantize(sum, &channels[o * q.words..][..q.words], &q));
    }
    let work = work(rng, &mut scratch, each * size);
    let (x, got, split) = (Rows::whole(x, size), Rows::whole(y.got(), n), rng.size(0, rows));
    for band in [Band { first: 0, rows: split }, Band { first: split, rows: rows - split }] {
        match each {
            0 => dense_i8_rv32_singles(x, words, &q, got, band),
            1 => dense_i8_rv32_pairs(x, w, &q, work, got, band),
            _ => dense_i8_rv32_quads(x, w, &q, work, got, band),
        }
    }
    let case = Case::new().with("size", size).with("n", n).with("rows", rows).with("split", split);
    y.compare(case.with("offset", offset).with("words", q.words).with("work", work.len()))
}

fn dense_wide(rng: &mut Rng, mut scratch: Scratch<'_>, in_fours: bool) -> Result<(), Mismatch> {
    let (size, n, rows) = (rng.size(1, 70), rng.size(1, 20), rng.size(1, 3));
    let x = scratch.bytes.take_at(rows * size, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let (filters, _) = filters(rng, &mut scratch, n, size);
    let words = singles(rng, &mut scratch, filters, size);
    let fours = scratch.bytes.take(n.next_multiple_of(4) * size);
    for (at, weight) in fours.iter_mut().enumerate() {
        let (tap, o) = (at / 4 % size, at / 4 / size * 4 + at % 4);
        *weight = filters.get(o * size + tap).copied().unwrap_or(0);
    }
    let bias = scratch.words.take(n.next_multiple_of(4));
    rng.fill_i32(bias, -20_000, 20_000);
    let (zero_point, lo, hi) = (rng.int(-100, 100), rng.pick(&[-32768, 0]), rng.pick(&[32767, 1000]));
    let mut by = Rescale { by: rng.scale(size as u32 * 32), zero_point, lo, hi };
    if rng.one_in(4) {
        by.by.shift = rng.int(0, 4);
    }
    let by = by;
    let y = scratch.halves.twins(rows * n, rng.size(0, 3), 77);
    for (index, y) in y.expected().iter().enumerate() {
        let (row, o) = (index / n, index % n);
        let products = filters[o * size..][..size].iter().zip(&x[row * size..]);
        let sum = products.fold(bias[o], |sum, (w, x)| sum + i32::from(*w) * i32::from(x.get()));
        y.set(result(sum, &by) as i16);
    }
    let band = Band { first: 0, rows };
    let (x, got) = (Rows::whole(x, size), Rows::whole(y.got(), n));
    match in_fours {
        true => dense_i8_i16_rv32(x, fours, bias, &by, got, band),
        false => dense_i8_i16_rv32_singles(x, words, bias, &by, got, band),
    }
    y.compare(Case::new().with("size", size).with("n", n).with("rows", rows))
}

fn depthwise(rng: &mut Rng, mut scratch: Scratch<'_>, rolling: bool) -> Result<(), Mismatch> {
    let (mut p, mut out_h) = shape(rng, false);
    if rolling {
        p = Conv { k_h: 3, k_w: 3, dilation_h: 1, dilation_w: 1, pad_left: rng.size(0, 1), ..p };
        (p.pad_top, p.in_c, p.in_w) = (rng.size(0, 2), rng.size(1, 20), rng.size(1, 12));
        out_h = resize(&mut p);
        // As much behind the last pixel as there happens to be, a column of padding or image.
        let most = (p.in_w + p.pad_left + 1 - 3) / p.stride_w + 1;
        p.out_w = rng.size(1, most);
    } else if rng.one_in(6) {
        // More than one table serves.
        (p.in_c, p.in_h, p.in_w) = (rng.size(60, 140), 5, 5);
        out_h = resize(&mut p);
    }
    (p.out_c, p.groups) = (p.in_c, p.in_c);
    let taps = p.k_h * p.k_w;
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let filters = scratch.bytes.take(taps * p.in_c);
    rng.fill_i8(filters);
    // Blocks of four channels, filled up with zeros.
    let w = scratch.bytes.take_at(taps * p.in_c.next_multiple_of(4), rng.size(0, 3));
    for (at, w) in w.iter_mut().enumerate() {
        let (block, tap, lane) = (at / (4 * taps), at / 4 % taps, at % 4);
        *w = filters.get((4 * block + lane) * taps + tap).copied().unwrap_or(0);
    }
    let own = !rolling && rng.one_in(2);
    let (channels, q) = requant(rng, &mut scratch, p.in_c, own);
    let pad = rng.i8();
    let (out_row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * out_row, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let products = filters[o * taps..][..taps].iter().enumerate().map(|(k, w)| {
            let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [k / p.k_w, k % p.k_w], o);
            i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w)
        });
        y.set(requantize(products.sum(), &channels[o * q.words..][..q.words], &q));
    }
    let on_crew = rng.one_in(3);
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| match (rolling, on_crew) {
        (true, false) => depthwise2d_i8_rv32_rolling(&p, x, filters, pad, &q, y, band),
        (true, true) => depthwise2d_i8_rv32_rolling_crew(&CREW, 2, &p, x, filters, pad, &q, y, band),
        (false, false) => depthwise2d_i8_rv32(&p, x, w, pad, &q, y, band),
        (false, true) => depthwise2d_i8_rv32_crew(&CREW, 2, &p, x, w, pad, &q, y, band),
    };
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, out_h), x, y.got(), run);
    let case = describe(&p).with("offset", offset).with("split", split).with("words", q.words);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}

/// Filters of `size` weights, and the same as tiles. Windows are as long as weights allow, or shorter.
fn filters<'a>(rng: &mut Rng, scratch: &mut Scratch<'a>, count: usize, size: usize) -> (&'a [i8], &'a [i8]) {
    let filters = scratch.bytes.take(count * size);
    let most = rng.pick(&[4, 15, 31, 63, 127]);
    rng.fill_i8_in(filters, -most, most);
    let packed = scratch.bytes.take_at(2 * count * size + count, rng.size(0, 3));
    let longest = (255 / usize::from(most.unsigned_abs())).min(8);
    let (mut o, mut len) = (0, 0);
    let mut put = |byte| {
        packed[len] = byte;
        len += 1;
    };
    while o < count && count > 1 {
        let tile = if matches!(count - o, 2 | 4) { 2 } else { 3 };
        let mut at = 0;
        while at < size {
            let taps = rng.size(1, longest).min(size - at);
            put((8 * taps) as i8);
            put((2 + taps * tile) as i8);
            (at..at + taps).for_each(|tap| (o..o + tile).for_each(|o| put(filters[o * size + tap])));
            at += taps;
        }
        put(0);
        o += tile;
    }
    (filters, &packed[..len])
}

/// Filters of `size` weights as tiles of eight, and of four where no more are left. Windows are as long as weights allow, or shorter.
fn singles<'a>(rng: &mut Rng, scratch: &mut Scratch<'a>, filters: &[i8], size: usize) -> &'a [i32] {
    let count = filters.len() / size;
    let most = filters.iter().map(|w| w.unsigned_abs()).max().unwrap_or(0).max(1);
    let longest = (255 / usize::from(most)).min(12);
    let packed = scratch.words.take(count.next_multiple_of(4) * size + count);
    let (mut o, mut len) = (0, 0);
    while o < count {
        let (tile, start) = (if count - o <= 4 { 4 } else { 8 }, len);
        (packed[start], len) = (0, len + 1);
        let mut at = 0;
        while at < size {
            let taps = rng.size(1, longest).min(size - at);
            (packed[len], packed[start], len) = (taps as i32, packed[start] + 1, len + 1);
            for tap in at..at + taps {
                for o in (o..o + tile).step_by(4) {
                    let weight = |o: usize| filters.get(o * size + tap).map_or(0x80, |&w| w as u8 ^ 0x80);
                    packed[len] = i32::from_le_bytes([o, o + 2, o + 1, o + 3].map(weight));
                    len += 1;
                }
            }
            at += taps;
        }
        o += tile;
    }
    &packed[..len]
}

/// Constants of channels: any that the arithmetic, which is modular, may meet.
pub(crate) fn requant<'a>(
    rng: &mut Rng,
    scratch: &mut Scratch<'a>,
    count: usize,
    own: bool,
) -> (&'a [i32], UpperRequant<'a>) {
    let words = if own { 8 } else { 4 };
    let channels = scratch.words.take(words * count);
    for channel in channels.chunks_mut(words) {
        channel.iter_mut().for_each(|word| *word = rng.word() as i32 >> rng.int(0, 20));
        channel[0] = rng.int(-20_000, 20_000);
        channel[1] = match rng.int(0, 3) {
            0 => 0,
            1 => i32::MAX,
            _ => rng.int(1, 1 << 18),
        };
        if let [_, _, _, _, origin, _, spread, shift] = channel {
            (*origin, *spread, *shift) = (rng.int(-1000, 20_000), rng.int(0, 31), rng.int(0, 31));
        }
    }
    let (lo, hi) = rng.clamp(0);
    let (spread, shift) = (rng.int(0, 18) as u32, rng.int(0, 24) as u32);
    (channels, UpperRequant { channels, words, spread, shift, lo, hi })
}

/// The definition of `UpperRequant`, for the sum of products and the words of a channel.
pub(crate) fn requantize(sum: i32, channel: &[i32], q: &UpperRequant<'_>) -> i8 {
    let [first, limit, constant, multiplier, ..] = *channel else { return 0 };
    let v = first.wrapping_add(sum);
    if v as u32 >= limit as u32 {
        return if v < 0 { q.lo as i8 } else { q.hi as i8 };
    }
    let (constant, spread, shift) = match *channel {
        [_, _, _, _, origin, below, spread, shift] => {
            (if v < origin { below } else { constant }, spread as u32, shift as u32)
        }
        _ => (constant, q.spread, q.shift),
    };
    let product = u64::from((v as u32).wrapping_shl(spread)) * u64::from(multiplier as u32);
    (((product >> 32) as u32).wrapping_add(constant as u32) as i32).wrapping_shr(shift) as i8
}
