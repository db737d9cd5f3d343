//! Layers with 16-bit elements on one side, and long short-term memory.

use crate::reference::rescale;
use crate::scratch::Pool;
use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    conv1_i16_i8, conv1_i16_i8_dsp, conv1_i16_i8_mve, dense_i8_i16, dense_i8_i16_dsp, dense_i8_i16_mve,
    lstm_i8, lstm_i8_dsp, lstm_i8_mve, Band, Conv, Lstm, Rescale, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "dense_i8_i16", run: |rng, scratch| dense(rng, scratch, Isa::Portable) },
    Check { name: "dense_i8_i16_dsp", run: |rng, scratch| dense(rng, scratch, Isa::Dsp) },
    Check { name: "dense_i8_i16_mve", run: |rng, scratch| dense(rng, scratch, Isa::Mve) },
    Check { name: "conv1_i16_i8", run: |rng, scratch| conv(rng, scratch, conv1_i16_i8) },
    Check { name: "conv1_i16_i8_dsp", run: |rng, scratch| conv(rng, scratch, conv1_i16_i8_dsp) },
    Check { name: "conv1_i16_i8_mve", run: |rng, scratch| conv(rng, scratch, conv1_i16_i8_mve) },
    Check { name: "lstm_i8_dsp", run: |rng, scratch| lstm(rng, scratch, Isa::Dsp) },
    Check { name: "lstm_i8_mve", run: |rng, scratch| lstm(rng, scratch, Isa::Mve) },
];

/// Whose kernel is checked.
#[derive(Clone, Copy, PartialEq)]
enum Isa {
    Portable,
    Dsp,
    Mve,
}

/// What `by` makes of a sum.
pub(crate) fn result(sum: i32, by: &Rescale) -> i32 {
    (i64::from(rescale(sum, by.by)) + i64::from(by.zero_point)).clamp(by.lo.into(), by.hi.into()) as i32
}

/// Packs each of the rows of so many bytes in words, the last one completed by zeros.
fn words(to: &mut [i32], bytes: &[i8], row: usize) {
    let rows = bytes.chunks(row).flat_map(|row| row.chunks(4));
    for (word, bytes) in to.iter_mut().zip(rows) {
        *word = (0..4).fold(0, |word, i| word | i32::from(*bytes.get(i).unwrap_or(&0) as u8) << (8 * i));
    }
}

/// Packs filters in fours, element by element; what is left follows one by one.
fn alternating(to: &mut [i8], filters: &[i8], size: usize) {
    let mut at = to.iter_mut();
    for four in filters.chunks(4 * size) {
        let lanes = if four.len() == 4 * size { 4 } else { 1 };
        for some in four.chunks(lanes * size) {
            for element in (0..size).flat_map(|i| (0..lanes).map(move |lane| some[lane * size + i])) {
                *at.next().unwrap() = element;
            }
        }
    }
}

/// What units have of each of so many gates, `size` numbers, gate by gate of each four units.
fn in_fours<'a, T: Copy + Default>(
    pool: &mut Pool<'a, T>,
    units: &[T],
    gates: usize,
    size: usize,
) -> &'a [T] {
    let unit = gates * size;
    let to = pool.take(units.len().div_ceil(4 * unit) * 4 * unit);
    for (at, to) in to.iter_mut().enumerate() {
        let (four, gate, lane, i) = (at / (4 * unit), at / (4 * size) % gates, at / size % 4, at % size);
        *to = units.get((4 * four + lane) * unit + gate * size + i).copied().unwrap_or_default();
    }
    to
}

/// Packs filters of so many bytes in eights, vector by vector: the first vector has what is left of full ones.
fn eights(to: &mut [i32], filters: &[i8], size: usize) {
    let none = (size.next_multiple_of(16) - size) % 16;
    let eight = 32 * size.div_ceil(16);
    for (at, word) in to.iter_mut().enumerate() {
        let (tile, vector, o) = (at / eight, at % eight / 32, at % 32 / 4);
        *word = (0..4).fold(0, |word, byte| {
            let place = 16 * vector + at % 4 * 4 + byte;
            let tap = match vector {
                0 => Some(place).filter(|place| place + none < 16),
                _ => Some(place - none),
            };
            let weight = tap.and_then(|tap| filters.get((8 * tile + o) * size + tap)).copied().unwrap_or(0);
            word | i32::from(weight as u8) << (8 * byte)
        });
    }
}

fn dense(rng: &mut Rng, mut scratch: Scratch<'_>, isa: Isa) -> Result<(), Mismatch> {
    let (rows, size, filters) = (rng.size(1, 3), rng.size(1, 70), rng.size(1, 11));
    let x = scratch.bytes.take_at(rows * size, rng.size(0, 3));
    let w = scratch.bytes.take(filters * size);
    rng.fill_i8(x);
    rng.fill_i8(w);
    let bias = scratch.words.take(filters);
    rng.fill_i32(bias, -20_000, 20_000);
    let zero_point = rng.int(-100, 100);
    let lo = rng.pick(&[-32768, 0]);
    let mut by = Rescale { by: rng.scale(size as u32 * 32), zero_point, lo, hi: rng.pick(&[32767, 1000]) };
    let left = isa == Isa::Mve && rng.one_in(3);
    if isa == Isa::Mve {
        by.by.shift = if left { rng.int(0, 8) } else { by.by.shift.clamp(-22, -1) };
    }
    let by = by;
    let y = scratch.halves.twins(rows * filters, rng.size(0, 3), 77);
    for (index, y) in y.expected().iter().enumerate() {
        let (row, o) = (index / filters, index % filters);
        let taps = x[row * size..].iter().zip(&w[o * size..][..size]);
        let sum = taps.fold(bias[o], |sum, (x, w)| sum + i32::from(*x) * i32::from(*w));
        y.set(result(sum, &by) as i16);
    }
    let band = Band { first: 0, rows };
    let got = Rows::whole(y.got(), filters);
    let x = Rows::whole(cells(x), size);
    match isa {
        Isa::Portable => {
            let packed = scratch.bytes.take(filters * size);
            alternating(packed, w, size);
            dense_i8_i16(x, packed, bias, &by, got, band);
        }
        Isa::Dsp => {
            let packed = scratch.words.take(filters * size.div_ceil(4));
            words(packed, w, size);
            dense_i8_i16_dsp(x, packed, bias, &by, got, band);
        }
        Isa::Mve => {
            // Behind the taps of each eight its biases, multipliers, constants, shifts and clamps, of even filters first.
            let taps = 32 * size.div_ceil(16);
            let packed = scratch.words.take(filters.div_ceil(8) * (taps + 6 * 8));
            let shift = by.by.shift;
            let constant = if left { by.zero_point } else { (by.zero_point << -shift) + (1 << (-shift - 1)) };
            for (tile, packed) in packed.chunks_exact_mut(taps + 6 * 8).enumerate() {
                let (packed, ends) = packed.split_at_mut(taps);
                eights(packed, w.get(8 * tile * size..).unwrap_or(&[]), size);
                for (at, word) in ends.iter_mut().enumerate() {
                    let o = 8 * tile + at % 8 / 4 + at % 4 * 2;
                    let first = bias.get(o).copied().unwrap_or(0);
                    *word = [first, by.by.multiplier, constant, shift, by.lo, by.hi][at / 8];
                }
            }
            let kernel = if left { dense_i8_i16_mve::<true, true> } else { dense_i8_i16_mve::<true, false> };
            kernel(x, packed, got, band);
        }
    }
    y.compare(Case::new().with("rows", rows).with("size", size).with("filters", filters))
}

/// A convolution of a column.
type Conv1 = fn(&Conv, Rows<'_, i16>, &[i16], &[i32], &Rescale, Rows<'_, i8>, Band);

pub(crate) fn conv(rng: &mut Rng, mut scratch: Scratch<'_>, kernel: Conv1) -> Result<(), Mismatch> {
    let share = if rng.one_in(3) { rng.size(2, 4) } else { 1 };
    let out_c = if rng.one_in(2) { 4 * rng.size(1, 4) } else { rng.size(1, 13) };
    let (in_c, k_h, stride_h, rows) = (share * out_c, rng.size(1, 9), rng.size(1, 2), rng.size(1, 3));
    let in_h = (rows - 1) * stride_h + k_h;
    let p = Conv {
        in_h,
        in_w: 1,
        in_c,
        out_w: 1,
        out_c,
        k_h,
        k_w: 1,
        stride_h,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: out_c,
    };
    // A ring may hold less than all rows, but those of a window.
    let held = if rng.one_in(2) { in_h } else { rng.size(k_h, in_h) };
    let rows_of_x = scratch.halves.take(in_h * in_c);
    let ring = scratch.halves.take_at(held * in_c, rng.size(0, 3));
    let w = scratch.halves.take(k_h * in_c);
    rows_of_x.iter_mut().chain(w.iter_mut()).for_each(|x| *x = rng.word() as i16);
    let bias = scratch.words.take(out_c);
    rng.fill_i32(bias, -20_000, 20_000);
    let zero_point = rng.i8().into();
    let (lo, hi) = rng.clamp(zero_point);
    let by = Rescale { by: rng.scale(1 << 30), zero_point, lo, hi };
    let blocks = in_c.div_ceil(4);
    let packed = scratch.halves.take(blocks * k_h * 4);
    for (index, packed) in packed.iter_mut().enumerate() {
        let (block, ky, lane) = (index / (4 * k_h), index / 4 % k_h, index % 4);
        let c = 4 * block + lane;
        *packed = if c < in_c { w[ky * in_c + c] } else { 0 };
    }
    let y = scratch.bytes.twins(rows * out_c, rng.size(0, 3), rng.i8());
    for row in 0..rows {
        for (o, &first) in bias.iter().enumerate() {
            let mut sum = first;
            for (ky, c) in (0..k_h).flat_map(|ky| (o * share..(o + 1) * share).map(move |c| (ky, c))) {
                let x = rows_of_x[(row * stride_h + ky) * in_c + c];
                sum = sum.wrapping_add(i32::from(x) * i32::from(w[ky * in_c + c]));
            }
            y.expected()[row * out_c + o].set(result(sum, &by) as i8);
        }
        // The rows that the ring holds while this one is computed.
        for of_x in row * stride_h..row * stride_h + k_h {
            let slot = of_x % held * in_c;
            ring[slot..slot + in_c].copy_from_slice(&rows_of_x[of_x * in_c..][..in_c]);
        }
        let x = Rows::ring(cells(ring), in_c, held);
        let (got, band) = (Rows::whole(y.got(), out_c), Band { first: row, rows: 1 });
        kernel(&p, x, packed, bias, &by, got, band);
    }
    let case = Case::new().with("k_h", k_h).with("in_c", in_c).with("out_c", out_c);
    y.compare(case.with("rows", rows).with("held", held))
}

/// Against the portable twin.
fn lstm(rng: &mut Rng, mut scratch: Scratch<'_>, isa: Isa) -> Result<(), Mismatch> {
    let (steps, inputs, units) = (rng.size(1, 4), rng.size(1, 40), rng.size(1, 9));
    let x = scratch.bytes.take_at(steps * inputs, rng.size(0, 3));
    let h = scratch.bytes.take_at(units, rng.size(0, 3));
    let c = scratch.bytes.take_at(2 * units, rng.size(0, 3));
    rng.fill_i8(x);
    rng.fill_i8(h);
    rng.fill_i8(c);
    let weights = [inputs, units].map(|size| {
        let filters = scratch.bytes.take(4 * units * size);
        rng.fill_i8(filters);
        let bytes = scratch.bytes.take(filters.len());
        alternating(bytes, filters, size);
        let packed = match isa {
            Isa::Mve => {
                let packed = scratch.words.take(units.div_ceil(4) * 64 * size.div_ceil(16));
                eights(packed, in_fours(&mut scratch.bytes, filters, 4, size), size);
                packed
            }
            _ => {
                let packed = scratch.words.take(4 * units * size.div_ceil(4));
                words(packed, filters, size);
                packed
            }
        };
        (bytes, packed)
    });
    let [(wx, packed_x), (wh, packed_h)] = weights;
    let bias = scratch.words.take(8 * units);
    rng.fill_i32(bias, -20_000, 20_000);
    let (multipliers, shifts) = (scratch.words.take(11), scratch.bytes.take(11));
    for (index, (multiplier, shift)) in multipliers.iter_mut().zip(shifts.iter_mut()).enumerate() {
        let magnitude = [inputs as u32 * 64, units as u32 * 64, 1 << 22, 1 << 30][index / 4 + index / 10];
        let scale = rng.scale(magnitude);
        (*multiplier, *shift) = (scale.multiplier, scale.shift as i8);
    }
    let hi = rng.int(1, 32767);
    let (zero_point, tanh_shift) = (rng.i8().into(), rng.int(-4, 4));
    let p = Lstm { inputs, units, multipliers, shifts, zero_point, tanh_shift, lo: -hi, hi };
    let y = scratch.bytes.twins(2 * units + steps * units, rng.size(0, 3), rng.i8());
    let (x, h, c) = (cells(x), cells(h), cells(c));
    lstm_i8(&p, x, h, c, wx, wh, bias, y.expected());
    match isa {
        Isa::Mve => {
            let bias = in_fours(&mut scratch.words, bias, 8, 1);
            lstm_i8_mve(&p, x, h, c, packed_x, packed_h, bias, y.got())
        }
        _ => lstm_i8_dsp(&p, x, h, c, packed_x, packed_h, bias, y.got()),
    }
    y.compare(Case::new().with("steps", steps).with("inputs", inputs).with("units", units))
}
