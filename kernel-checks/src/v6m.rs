//! Kernels of cores without DSP: tiles of two pixels, of one pixel, and tables of taps.

use crate::conv::{describe, run_any, run_rows};
use crate::reference::tap;
use crate::{cells, Case, Check, Mismatch, Rng, Scratch, CREW};
use core::cell::Cell;
use kiln::kernels::{
    add_i8_mve, add_i8_v6m, conv2d_i8_v6m_pairs, conv2d_i8_v6m_pairs_crew, conv2d_i8_v6m_pairs_wide,
    conv2d_i8_v6m_pairs_wide_crew, conv2d_i8_v6m_singles, dense_i8_v6m_wide, depthwise2d_i8_v6m,
    depthwise2d_i8_v6m_column, depthwise2d_i8_v6m_column_crew, depthwise2d_i8_v6m_rolling,
    depthwise2d_i8_v6m_rolling_crew, AddLinear, Band, Conv, HalfRequant, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "conv2d_i8_v6m_pairs, by definition",
        run: |rng, scratch| convolution(rng, scratch, Pixels::Pairs),
    },
    Check {
        name: "conv2d_i8_v6m_pairs_wide, by definition",
        run: |rng, scratch| convolution(rng, scratch, Pixels::Wide),
    },
    Check {
        name: "conv2d_i8_v6m_singles, by definition",
        run: |rng, scratch| convolution(rng, scratch, Pixels::Singles),
    },
    Check { name: "dense_i8_v6m_wide, by definition", run: dense },
    Check { name: "depthwise2d_i8_v6m, by definition", run: depthwise },
    Check { name: "depthwise2d_i8_v6m_rolling, by definition", run: rolling },
    Check { name: "depthwise2d_i8_v6m_column, by definition", run: column },
    Check {
        name: "add_i8_v6m, by definition",
        run: |rng, scratch| add(rng, scratch, |p, a, b, y| add_i8_v6m::<17>(p, a, b, y)),
    },
    Check {
        name: "add_i8_mve, by definition",
        run: |rng, scratch| add(rng, scratch, |p, a, b, y| add_i8_mve::<17>(p, a, b, y)),
    },
];

/// Filters whose accumulators are kept at once.
const PAIR_BLOCK: usize = 33;
const SINGLE_BLOCK: usize = 64;

/// How pixels are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pixels {
    Pairs,
    /// In windows of four taps, with rests.
    Wide,
    Singles,
}

fn convolution(rng: &mut Rng, mut scratch: Scratch<'_>, pixels: Pixels) -> Result<(), Mismatch> {
    let (pairs, window) = (pixels != Pixels::Singles, if pixels == Pixels::Wide { 4 } else { 2 });
    let (p, out_h) = shape(rng, pairs);
    let row = (p.k_w * p.in_c).next_multiple_of(window);
    let size = p.k_h * row;
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    // Filters one after the other, with rows of whole windows. Two weights of −128 would not fit one of two taps.
    let filters = scratch.bytes.take(p.out_c * size);
    // In large layers windows of four taps have at most one rest, else three: there has to be memory for them.
    let is_large = filters.len() > 1500;
    let (least, most, rest_count) = match pixels {
        Pixels::Wide if is_large => (-80, 80, 1),
        Pixels::Wide => (-128, 127, 3),
        _ => (-127, 127, 0),
    };
    rng.fill_i8_in(filters, least, most);
    let rest_count = rest_count * p.out_c * size / window;
    for row in filters.chunks_mut(row) {
        row[p.k_w * p.in_c..].fill(0);
    }
    let bias = scratch.words.take(p.out_c);
    rng.fill_i32(bias, -20_000, 20_000);
    let words = if rng.one_in(2) { 3 } else { 5 };
    let channels = scratch.words.take(p.out_c * words);
    channels.chunks_mut(words).for_each(|channel| draw_channel(rng, channel));
    let (lo, hi) = rng.clamp(0);
    let q = HalfRequant { channels, words, shift: rng.int(0, 24) as u32, lo, hi };
    let pad = rng.i8();
    let (out_row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * out_row, offset, rng.i8());

    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let mut v = bias[o];
        for (at, w) in filters[o * size..][..size].iter().enumerate() {
            let (ky, k) = (at / row, at % row);
            if k < p.k_w * p.in_c {
                let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [ky, k / p.in_c], k % p.in_c);
                v += i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w);
            }
        }
        y.set(requantize(v, &channels[o * words..][..words], &q));
    }

    let part = if rng.one_in(3) { window * rng.size(1, 144 / window) } else { 144 };
    let lift = 32_640 * (size / window) as i32;
    let rests = scratch.bytes.take(2 * rest_count);
    // Windows of four taps have a number of rests for each filter and part.
    let packed = scratch.bytes.take((p.out_c + 3) * size + size.div_ceil(part) * (p.out_c + 3));
    let mut packer = Packer { filters, size, part, window, packed, len: 0, rests, rests_len: 0 };
    let count = if pairs { 2 * p.out_c } else { p.out_c.next_multiple_of(4) };
    let first = scratch.words.take(count);
    first.fill(0);
    if pairs {
        for (first, bias) in first.chunks_mut(2).zip(bias.iter()) {
            first.copy_from_slice(&[bias.wrapping_add(bias << 16).wrapping_sub(lift), *bias]);
        }
        packer.pairs(p.out_c, size > part);
    } else {
        for (first, bias) in first.chunks_mut(2).zip(bias.chunks(2)) {
            let upper = bias.get(1).unwrap_or(&0) - lift;
            first.copy_from_slice(&[(bias[0] - lift).wrapping_add(upper << 16), upper]);
        }
        packer.singles(p.out_c);
    }
    let len = packer.len;
    let (bytes, rests) = (&packer.packed[..len], &packer.rests[..packer.rests_len]);
    let w = words_of(bytes, scratch.words.take(len / 4));
    let on_crew = rng.one_in(3);
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| match (pixels, on_crew) {
        (Pixels::Pairs, false) => conv2d_i8_v6m_pairs(&p, x, bytes, first, part, pad, &q, y, band),
        (Pixels::Pairs, true) => {
            conv2d_i8_v6m_pairs_crew(&CREW, 2, &p, x, bytes, first, part, pad, &q, y, band);
        }
        (Pixels::Wide, false) => {
            conv2d_i8_v6m_pairs_wide(&p, x, bytes, rests, first, part, pad, &q, y, band);
        }
        (Pixels::Wide, true) => {
            conv2d_i8_v6m_pairs_wide_crew(&CREW, 2, &p, x, bytes, rests, first, part, pad, &q, y, band);
        }
        (Pixels::Singles, _) => conv2d_i8_v6m_singles(&p, x, w, first, part, pad, &q, y, band),
    };
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, out_h), x, y.got(), run);
    let case = describe(&p).with("offset", offset).with("part", part).with("words", words);
    let case = case.with("overlaid", i32::from(overlaid));
    y.compare(case.with("split", split).with("dilation_h", p.dilation_h).with("dilation_w", p.dilation_w))
}

fn dense(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (rows, k, n) = match rng.one_in(4) {
        true => (1, rng.size(140, 320), rng.size(1, 10)),
        false => (rng.size(1, 3), rng.size(1, 40), rng.size(1, 70)),
    };
    let x = scratch.bytes.take_at(rows * k, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let size = k.next_multiple_of(8);
    let filters = scratch.bytes.take(n * size);
    // Most windows have no rest, or few.
    let most = rng.int(20, 127) as i8;
    rng.fill_i8_in(filters, -most - 1, most);
    filters.chunks_mut(size).for_each(|filter| filter[k..].fill(0));
    let first = scratch.words.take(n.next_multiple_of(4));
    first.fill(0);
    let bias = scratch.words.take(n);
    rng.fill_i32(bias, -20_000, 20_000);
    let lift = 32_640 * (size / 8) as i32;
    for (first, bias) in first.chunks_mut(2).zip(bias.chunks(2)) {
        let upper = bias.get(1).unwrap_or(&0) - lift;
        first.copy_from_slice(&[(bias[0] - lift).wrapping_add(upper << 16), upper]);
    }
    let words = if rng.one_in(2) { 3 } else { 5 };
    let channels = scratch.words.take(n * words);
    channels.chunks_mut(words).for_each(|channel| draw_channel(rng, channel));
    let (lo, hi) = rng.clamp(0);
    let q = HalfRequant { channels, words, shift: rng.int(0, 24) as u32, lo, hi };
    let y = scratch.bytes.twins(rows * n, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (row, o) = (index / n, index % n);
        let products = (0..k).map(|c| i32::from(x[row * k + c].get()) * i32::from(filters[o * size + c]));
        y.set(requantize(bias[o] + products.sum::<i32>(), &channels[o * words..][..words], &q));
    }

    // A window has at most as many rests as the largest one of them needs.
    let packed = scratch.bytes.take(n.next_multiple_of(4) * (size + size.div_ceil(144)));
    let rests = scratch.bytes.take(2 * filters.len());
    let mut packer = Packer { filters, size, part: 144, window: 8, packed, len: 0, rests, rests_len: 0 };
    packer.singles(n);
    let (bytes, rests) = (&packer.packed[..packer.len], &packer.rests[..packer.rests_len]);
    let w = words_of(bytes, scratch.words.take(bytes.len() / 4));
    let (x, y_rows) = (Rows::whole(x, k), Rows::whole(y.got(), n));
    dense_i8_v6m_wide(x, w, rests, first, &q, y_rows, Band { first: 0, rows });
    y.compare(Case::new().with("rows", rows as i32).with("k", k as i32).with("n", n).with("words", words))
}

/// Words of bytes, the lowest one first.
fn words_of<'a>(bytes: &[i8], words: &'a mut [i32]) -> &'a [i32] {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | i32::from(byte as u8));
    }
    words
}

fn depthwise(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (mut p, mut out_h) = shape(rng, false);
    if rng.one_in(6) {
        // More than one table serves.
        (p.in_c, p.in_h, p.in_w) = (rng.size(60, 140), 5, 5);
        out_h = resize(&mut p);
    }
    (p.out_c, p.groups) = (p.in_c, p.in_c);
    let taps = p.k_h * p.k_w;
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let w = scratch.bytes.take_at(taps.next_multiple_of(3) * p.in_c, rng.size(0, 3));
    rng.fill_i8(w);
    w[taps * p.in_c..].fill(0);
    let words = if rng.one_in(2) { 4 } else { 6 };
    let channels = draw_channels(rng, &mut scratch, p.in_c, words);
    let (lo, hi) = rng.clamp(0);
    let q = HalfRequant { channels, words, shift: rng.int(0, 24) as u32, lo, hi };
    let pad = rng.i8();
    let (out_row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * out_row, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let channel = &channels[words * o..][..words];
        let v = (0..taps).fold(channel[0], |v, k| {
            let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [k / p.k_w, k % p.k_w], o);
            v + i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(w[k * p.in_c + o])
        });
        y.set(requantize_depthwise(v, channel, &q));
    }
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| depthwise2d_i8_v6m(&p, x, w, pad, &q, y, band);
    let (split, overlaid) = run_any(rng, &mut scratch, (&p, out_h), x, y.got(), run);
    let case = describe(&p).with("offset", offset).with("split", split).with("words", words);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}

fn rolling(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (p, _) = shape(rng, false);
    let stride = rng.size(1, 2);
    let mut p = Conv { k_h: 3, k_w: 3, dilation_h: 1, dilation_w: 1, pad_left: rng.size(0, 1), ..p };
    (p.stride_h, p.stride_w, p.pad_top) = (stride, stride, rng.size(0, 2));
    // Few columns of many channels have padding at once.
    (p.in_c, p.in_w) =
        if rng.one_in(4) { (rng.size(60, 140), 6) } else { (rng.size(1, 20), rng.size(1, 12)) };
    let out_h = resize(&mut p);
    // As much behind the last pixel as there happens to be, a column of padding or image.
    let most = (p.in_w + p.pad_left + 1 - 3) / stride + 1;
    (p.out_w, p.out_c, p.groups) = (rng.size(1, most), p.in_c, p.in_c);
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let filters = scratch.bytes.take(9 * p.in_c);
    rng.fill_i8(filters);
    for filter in filters.chunks_mut(9) {
        // No two weights of −128 in a window.
        (0..3).for_each(|k| filter[k] = filter[k].max(-127));
    }
    let w = scratch.words.take(3 * p.in_c);
    for (words, filter) in w.chunks_mut(3).zip(filters.chunks(9)) {
        for (k, word) in words.iter_mut().rev().enumerate() {
            let [a, b, c] = [0, 3, 6].map(|row| filter[row + k] as u8);
            *word = i32::from_le_bytes([a, b, rng.i8() as u8, c]);
        }
    }
    let channels = draw_channels(rng, &mut scratch, p.in_c, 4);
    let (lo, hi) = rng.clamp(0);
    let q = HalfRequant { channels, words: 4, shift: rng.int(0, 24) as u32, lo, hi };
    let pad = rng.i8();
    let (out_row, offset) = (p.out_w * p.out_c, rng.size(0, 3));
    let y = scratch.bytes.twins(out_h * out_row, offset, rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let [first, channel @ ..] = &channels[4 * o..][..4] else { continue };
        let v = filters[9 * o..][..9].iter().enumerate().fold(*first, |v, (k, w)| {
            let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [k / 3, k % 3], o);
            v + i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w)
        });
        y.set(requantize(v, channel, &q));
    }
    let on_crew = rng.one_in(3);
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band| match on_crew {
        false => depthwise2d_i8_v6m_rolling(&p, x, w, pad, &q, y, band),
        true => depthwise2d_i8_v6m_rolling_crew(&CREW, 2, &p, x, w, pad, &q, y, band),
    };
    let (split, overlaid) = run_rows(rng, &mut scratch, (&p, out_h), 2, x, y.got(), run);
    let case = describe(&p).with("offset", offset).with("split", split);
    y.compare(case.with("overlaid", i32::from(overlaid)))
}

fn column(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (p, _) = shape(rng, false);
    let k_h = if rng.one_in(4) { rng.size(4, 30) } else { rng.size(1, 4) };
    let mut p = Conv { k_h, k_w: 1, stride_h: 1, stride_w: 1, dilation_h: 1, pad_left: 0, ..p };
    (p.in_c, p.in_w) = if rng.one_in(4) { (rng.size(60, 140), 1) } else { (rng.size(1, 20), rng.size(1, 4)) };
    (p.in_h, p.pad_top) = (rng.size(1, 6), rng.size(0, 2));
    let out_h = resize(&mut p);
    (p.out_w, p.out_c, p.groups) = (rng.size(1, p.in_w), p.in_c, p.in_c);
    let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
    rng.fill_i8(x);
    let x = cells(x);
    let filters = scratch.bytes.take(k_h * p.in_c);
    rng.fill_i8(filters);
    let w = scratch.words.take(filters.len());
    w.iter_mut().zip(filters.iter()).for_each(|(word, &weight)| *word = weight.into());
    let words = if rng.one_in(2) { 4 } else { 6 };
    let channels = draw_channels(rng, &mut scratch, p.in_c, words);
    let (lo, hi) = rng.clamp(0);
    let q = HalfRequant { channels, words, shift: rng.int(0, 24) as u32, lo, hi };
    let pad = rng.i8();
    let y = scratch.bytes.twins(out_h * p.out_w * p.out_c, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let channel = &channels[words * o..][..words];
        let v = filters[k_h * o..][..k_h].iter().enumerate().fold(channel[0], |v, (k, w)| {
            let at = tap(&p, [pixel / p.out_w, pixel % p.out_w], [k, 0], o);
            v + i32::from(at.map_or(pad, |at| x[at].get())) * i32::from(*w)
        });
        y.set(requantize_depthwise(v, channel, &q));
    }
    let on_crew = rng.one_in(3);
    let run = |x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band| match on_crew {
        false => depthwise2d_i8_v6m_column(&p, x, w, pad, &q, y, band),
        true => depthwise2d_i8_v6m_column_crew(&CREW, 2, &p, x, w, pad, &q, y, band),
    };
    let (x, y_rows) = (Rows::whole(x, p.in_w * p.in_c), Rows::whole(y.got(), p.out_w * p.out_c));
    let split = rng.size(0, out_h);
    for band in [Band { first: 0, rows: split }, Band { first: split, rows: out_h - split }] {
        run(x, y_rows, band);
    }
    y.compare(describe(&p).with("split", split).with("words", words).with("on_crew", i32::from(on_crew)))
}

/// A kernel of sums.
type Add = fn(&AddLinear, &[Cell<i8>], &[i8], &[Cell<i8>]);

pub(crate) fn add(rng: &mut Rng, mut scratch: Scratch<'_>, kernel: Add) -> Result<(), Mismatch> {
    let n = rng.size(0, 40);
    let (a, b) = (scratch.bytes.take_at(n, rng.size(0, 3)), scratch.bytes.take_at(n, rng.size(0, 3)));
    rng.fill_i8(a);
    rng.fill_i8(b);
    let mut factor = || rng.int(-(1 << 20), 1 << 20);
    let p = AddLinear { x: factor(), y: factor(), start: factor() };
    let (offset, fill) = (rng.size(0, 3), rng.i8());
    let y = scratch.bytes.twins(n, offset, fill);
    for ((a, b), y) in a.iter().zip(b.iter()).zip(y.expected()) {
        let sum = i64::from(*a) * i64::from(p.x) + i64::from(*b) * i64::from(p.y) + i64::from(p.start);
        y.set((sum >> 17).clamp(-128, 127) as i8);
    }
    kernel(&p, cells(a), b, y.got());
    y.compare(Case::new().with("n", n).with("x", p.x).with("y", p.y).with("start", p.start))
}

/// A random convolution and its number of result rows: dilated now and then, with many filters or taps now and then.
pub(crate) fn shape(rng: &mut Rng, pairs: bool) -> (Conv, usize) {
    let (mut p, mut out_h) = crate::conv::shape(rng);
    if pairs {
        p.out_c = p.out_c.max(2);
    }
    match rng.int(0, 7) {
        0 => p.out_c = rng.size(30, 70),
        // Rows of one pixel, of which two are computed at once.
        3 => {
            (p.in_w, p.k_w, p.pad_left) = (1, 1, 0);
            (p.k_h, p.pad_top) = (p.k_h.min(2), p.pad_top.min(1));
            (p.in_c, p.out_c) = (rng.size(30, 50), rng.size(34, 70));
            out_h = resize(&mut p);
        }
        1 => {
            p.in_c = rng.size(30, 70);
            p.out_c = p.out_c.min(6);
        }
        2 => {
            (p.dilation_h, p.dilation_w) = (rng.size(1, 2), rng.size(1, 2));
            out_h = resize(&mut p);
        }
        _ => {}
    }
    (p, out_h)
}

/// Makes the operand large enough for one result, and returns the number of result rows.
pub(crate) fn resize(p: &mut Conv) -> usize {
    let reach = [(p.k_h - 1) * p.dilation_h + 1, (p.k_w - 1) * p.dilation_w + 1];
    (p.in_h, p.in_w) = (p.in_h.max(reach[0]), p.in_w.max(reach[1]));
    p.out_w = (p.in_w + 2 * p.pad_left - reach[1]) / p.stride_w + 1;
    (p.in_h + 2 * p.pad_top - reach[0]) / p.stride_h + 1
}

/// Constants of channels of so many words: the first value in front, and what is signed behind.
fn draw_channels<'a>(rng: &mut Rng, scratch: &mut Scratch<'a>, count: usize, words: usize) -> &'a [i32] {
    let channels = scratch.words.take(words * count);
    for channel in channels.chunks_mut(words) {
        draw_channel(rng, &mut channel[1..]);
        channel[1..].rotate_left(words - 4);
        channel[0] = rng.int(-20_000, 20_000);
    }
    channels
}

/// Constants of a channel: any that the arithmetic, which is modular, may meet.
pub(crate) fn draw_channel(rng: &mut Rng, channel: &mut [i32]) {
    channel.iter_mut().for_each(|word| *word = rng.word() as i32 >> rng.int(0, 20));
    let limit = channel.len() - 3;
    channel[limit] = match rng.int(0, 3) {
        0 => 0,
        1 => i32::MAX,
        _ => rng.int(1, 1 << 18),
    };
    if let [origin, _, _, _, _] = channel {
        *origin = rng.int(-1000, 20_000);
    }
}

/// The definition of `HalfRequant`, for the last three words of a channel, or all five.
pub(crate) fn requantize(v: i32, channel: &[i32], q: &HalfRequant<'_>) -> i8 {
    let (signed, own) = channel.split_at(channel.len() - 3);
    if v as u32 >= own[0] as u32 {
        return if v < 0 { q.lo as i8 } else { q.hi as i8 };
    }
    let constant = if signed.first().is_some_and(|&origin| v < origin) { signed[1] } else { own[1] };
    let (low, high) = (own[2] as u32 & 0xffff, own[2] as u32 >> 16);
    let sum = (v as u32).wrapping_mul(low) >> 14;
    let sum = sum.wrapping_add((v as u32).wrapping_mul(high)).wrapping_add(constant as u32);
    (sum as i32 >> q.shift) as i8
}

/// The same for all words of a depthwise channel.
fn requantize_depthwise(v: i32, channel: &[i32], q: &HalfRequant<'_>) -> i8 {
    match *channel {
        [_, limit, constant, multiplier] => requantize(v, &[limit, constant, multiplier], q),
        [_, limit, constant, multiplier, origin, below] => {
            requantize(v, &[origin, below, limit, constant, multiplier], q)
        }
        _ => 0,
    }
}

/// Packs filters, each of `size` taps, in parts of `part` taps.
struct Packer<'a> {
    filters: &'a [i8],
    size: usize,
    part: usize,
    /// Taps of a window.
    window: usize,
    packed: &'a mut [i8],
    len: usize,
    rests: &'a mut [i8],
    rests_len: usize,
}

impl Packer<'_> {
    fn push(&mut self, byte: i8) {
        self.packed[self.len] = byte;
        self.len += 1;
    }

    /// A weight, and its rest: in windows of four taps or eight, the first ones give what the absolute weights are more than 255 together.
    fn weight(&self, o: usize, tap: usize) -> (i8, i8) {
        let weight = |tap: usize| i32::from(self.filters.get(o * self.size + tap).copied().unwrap_or(0));
        let start = tap / self.window * self.window;
        let before: i32 = (start..tap).map(|tap| weight(tap).abs()).sum();
        let all: i32 = (start..start + self.window).map(|tap| weight(tap).abs()).sum();
        let taken = (all - 255 - before).clamp(0, weight(tap).abs());
        let rest = weight(tap).signum() * if self.window > 2 { taken } else { 0 };
        ((weight(tap) - rest) as i8, rest as i8)
    }

    /// For each tap of a part the weights of some filters, 128 more than they are; those that are missing are zeros. Behind them the numbers of rests, in the order of the filters.
    fn tile(&mut self, from: usize, filters: impl Iterator<Item = usize> + Clone) {
        let taps = from..(from + self.part).min(self.size);
        for tap in taps.clone() {
            for o in filters.clone() {
                self.push(self.weight(o, tap).0.wrapping_add(-128));
            }
        }
        let (window, first, count) = (self.window, filters.clone().min().unwrap_or(0), filters.count());
        for o in (first..first + count).filter(|_| window > 2) {
            let before = self.rests_len;
            for (at, tap) in taps.clone().enumerate() {
                let (_, rest) = self.weight(o, tap);
                if rest != 0 {
                    self.rests[self.rests_len] = (at + at / window) as i8;
                    self.rests[self.rests_len + 1] = rest;
                    self.rests_len += 2;
                }
            }
            self.push(((self.rests_len - before) / 2) as i8);
        }
    }

    fn pairs(&mut self, count: usize, staged: bool) {
        let mut first = 0;
        while first < count {
            let left = count - first;
            let block = match left {
                _ if !staged => left,
                34 => 31,
                _ => left.min(PAIR_BLOCK),
            };
            for from in (0..self.size).step_by(self.part) {
                let mut o = first;
                while o < first + block {
                    // As many threes as leave no single one.
                    let filters = if matches!(first + block - o, 2 | 4) { 2 } else { 3 };
                    self.tile(from, o..o + filters);
                    o += filters;
                }
            }
            first += block;
        }
    }

    fn singles(&mut self, count: usize) {
        for first in (0..count).step_by(SINGLE_BLOCK) {
            for from in (0..self.size).step_by(self.part) {
                for o in (first..count.min(first + SINGLE_BLOCK)).step_by(4) {
                    self.tile(from, [o, o + 2, o + 1, o + 3].into_iter());
                }
            }
        }
    }
}
