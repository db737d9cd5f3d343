//! Tiles of one or two words of pixels and two or three filters.

// Indices of arrays are below constants.
#![allow(unsafe_code, clippy::indexing_slicing)]

use super::blocks::pairs::{add, Sums};
use super::upper::{Channels, UpperRequant};
use super::windows::Windows;
use core::cell::Cell;

/// Results of all filters for `2 · EACH` pixels, some of which may be the same, of words of operands, `EACH` for each tap. `None` where something is missing.
#[inline(always)]
pub(crate) fn finish<const EACH: usize>(
    mut tiles: Windows<'_>,
    words: &[Cell<i32>],
    q: &UpperRequant<'_>,
    out: [&[Cell<i8>]; 4],
) -> Option<()> {
    let count = tiles.left();
    let mut channels = q.channels(count)?;
    if out.iter().take(2 * EACH).any(|out| out.len() < count) {
        return None;
    }
    let mut out = Results(out.map(<[_]>::as_ptr));
    loop {
        // SAFETY: there are constants and results for all filters (compared above), and each tile takes those of its own.
        unsafe {
            match tiles.filters() {
                0 => return Some(()),
                2 => tile::<EACH, 2>(&mut tiles, words, &mut channels, q, &mut out),
                _ => tile::<EACH, 3>(&mut tiles, words, &mut channels, q, &mut out),
            }
        }
    }
}

/// Where the results of the next filter are, of up to four pixels.
struct Results([*const Cell<i8>; 4]);

/// Results of the next `FILTERS` filters.
///
/// # Safety
/// There are constants for so many filters, and results of `2 · EACH` pixels.
#[inline(never)]
unsafe fn tile<const EACH: usize, const FILTERS: usize>(
    tiles: &mut Windows<'_>,
    words: &[Cell<i32>],
    channels: &mut Channels<'_>,
    q: &UpperRequant<'_>,
    out: &mut Results,
) {
    let mut sums: Sums = [[0; 2]; 6];
    for f in 0..FILTERS {
        // SAFETY: as the caller says.
        let first = unsafe { channels.first(f) };
        for at in 0..EACH {
            sums[f * EACH + at] = [first.wrapping_add(first << 16), first];
        }
    }
    let sums = add::<EACH, FILTERS>(tiles, words, sums);
    for f in 0..FILTERS {
        let mut v = [0; 4];
        for at in 0..EACH {
            let [sum, h] = sums[f * EACH + at];
            [v[2 * at], v[2 * at + 1]] = [sum.wrapping_sub(h << 16), h];
        }
        // SAFETY: as the caller says.
        unsafe {
            let channel = channels.next();
            if q.is_own() {
                let own = channels.own();
                (0..2 * EACH).for_each(|at| (*out.0[at].add(f)).set(q.own(v[at], channel, own)));
            } else {
                (0..2 * EACH).for_each(|at| (*out.0[at].add(f)).set(q.common(v[at], channel)));
            }
        }
    }
    out.0.iter_mut().take(2 * EACH).for_each(|out| *out = out.wrapping_add(FILTERS));
}
