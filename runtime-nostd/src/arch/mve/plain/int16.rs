//! Layers of 16-bit elements.

use super::channels::taps_of;
use crate::arch::mve::channels::Run;
use crate::arch::mve::int16::{eight_words, group_words, taps_words, Pixels, EIGHT, ENDS, HEAD};
use crate::fixed::high_mul;
use core::cell::Cell;

/// All filters for some pixels. Nothing happens where the slices are too short.
pub(crate) fn filters_of_pixels<const WIDE: bool>(t: Pixels<'_>, taps: usize) {
    let Some((&[lo, hi, ..], w)) = t.w.split_first_chunk::<HEAD>().filter(|_| t.fit(taps)) else { return };
    for pixel in 0..t.pixels {
        let x = t.x.get(pixel * t.x_step..).unwrap_or(&[]);
        for (eight, w) in w.chunks_exact(eight_words(taps)).enumerate() {
            let (w, ends) = w.split_at(w.len() - ENDS);
            for f in (0..EIGHT).take_while(|f| EIGHT * eight + f < t.filters) {
                let word = |what: usize| ends.get(EIGHT * what + f % 2 * 4 + f / 2).copied().unwrap_or(0);
                let result = result::<WIDE>(sum(w, x, taps, f).wrapping_add(word(0)), word(1), word(2));
                if let Some(y) = t.y.get(pixel * t.y_step + EIGHT * eight + f) {
                    y.set(result.max(lo).min(hi) as i16);
                }
            }
        }
    }
}

/// The sum of a filter's products, modulo 2³².
fn sum(w: &[i32], x: &[Cell<i16>], taps: usize, f: usize) -> i32 {
    products(w, x, taps, f).fold(0, i32::wrapping_add)
}

/// The sums of eight filters in 64 bits, without biases; zeros where there are fewer weights.
pub(crate) fn long_sums_of_eight(w: &[i32], x: &[Cell<i16>]) -> [i64; EIGHT] {
    let mut sums = [0; EIGHT];
    if !x.is_empty() && w.len() >= taps_words(x.len()) {
        let sum = |f: usize| products(w, x, x.len(), f).map(i64::from).sum();
        sums.iter_mut().enumerate().for_each(|(f, of)| *of = sum(f));
    }
    sums
}

/// The products of the taps with filter `f` of eight, which alternate vector by vector: the first vector has what is left of whole ones, if something is.
fn products<'a>(w: &'a [i32], x: &'a [Cell<i16>], taps: usize, f: usize) -> impl Iterator<Item = i32> + 'a {
    let first = (taps - 1) % EIGHT + 1;
    let vectors = w.chunks(EIGHT * EIGHT / 4).enumerate();
    vectors.flat_map(move |(vector, w)| {
        let (from, len) = if vector == 0 { (0, first) } else { (first + EIGHT * (vector - 1), EIGHT) };
        let w = w.iter().skip(f * EIGHT / 4).flat_map(|word| word.to_le_bytes());
        let x = x.get(from..from + len).unwrap_or(&[]);
        x.iter().zip(w).map(|(x, w)| i32::from(x.get()) * i32::from(w as i8))
    })
}

/// What becomes of a sum, before it is clamped.
fn result<const WIDE: bool>(sum: i32, multiplier: i32, shift: i32) -> i32 {
    let x = if WIDE {
        ((i64::from(sum) * i64::from(multiplier)) >> 32) as i32
    } else {
        let x = high_mul(sum, multiplier);
        x.saturating_add(x >> 31)
    };
    let shift = shift.wrapping_neg().clamp(1, 31);
    ((i64::from(x) + (1 << (shift - 1))) >> shift) as i32
}

/// All channels of some pixels.
///
/// # Safety
///
/// None: the assembly needs what its caller compares.
#[allow(unsafe_code)]
pub(crate) unsafe fn channels_of_pixels(run: &Run<'_>) {
    let Some((&[lo, hi, ..], groups)) = run.w.split_first_chunk::<HEAD>() else { return };
    let channels = run.channels / 2;
    for pixel in 0..run.pixels {
        for (at, words) in groups.chunks_exact(group_words(run.count)).enumerate() {
            let first = (EIGHT * at).min(channels.saturating_sub(EIGHT));
            if EIGHT * at >= channels {
                break;
            }
            let (firsts, words) = words.split_at(EIGHT);
            let (weights, words) = words.split_at(run.count * EIGHT / 4);
            for channel in 0..EIGHT {
                let (four, lane) = (channel % 2, channel / 2);
                let products = taps_of(run).zip(weights.chunks_exact(EIGHT / 4)).map(|(x, w)| {
                    let w = w.get(channel / 4).map_or(0, |w| (w >> (channel % 4 * 8)) as i8);
                    let byte = |at: usize| x.get(at).map_or(0, |x| x.get() as u8);
                    let at = pixel * run.x_step + 2 * (first + channel);
                    i32::from(i16::from_le_bytes([byte(at), byte(at + 1)])) * i32::from(w)
                });
                let word = |words: &[i32], at: usize| words.get(at).copied().unwrap_or(0);
                let sum = products.fold(word(firsts, 4 * four + lane), i32::wrapping_add);
                let (multiplier, shift) = (word(words, 8 * four + lane), word(words, 8 * four + 4 + lane));
                let result = result::<true>(sum, multiplier, shift).max(lo).min(hi) as i16;
                let y = run.y.get(pixel * run.y_step + 2 * (first + channel)..).unwrap_or(&[]);
                y.iter().zip(result.to_le_bytes()).for_each(|(y, byte)| y.set(byte as i8));
            }
        }
    }
}
