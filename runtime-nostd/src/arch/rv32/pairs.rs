//! Tiles of one or two words of pixels and two or three filters.

use super::blocks::pairs::{add, Sums};
use super::upper::UpperRequant;
use super::windows::Windows;
use core::cell::Cell;

/// Results of all filters for `2 · EACH` pixels, some of which may be the same, of words of operands, `EACH` for each tap. `None` where something is missing.
#[inline(always)]
pub(super) fn finish<const EACH: usize>(
    mut tiles: Windows<'_>,
    words: &[Cell<i32>],
    q: &UpperRequant<'_>,
    out: [&[Cell<i8>]; 4],
) -> Option<()> {
    let mut o = 0;
    loop {
        match tiles.filters() {
            0 => return Some(()),
            2 => {
                tile::<EACH, 2>(&mut tiles, words, o, q, out)?;
                o = o.wrapping_add(2);
            }
            _ => {
                tile::<EACH, 3>(&mut tiles, words, o, q, out)?;
                o = o.wrapping_add(3);
            }
        }
    }
}

/// Results of `FILTERS` filters from `o` on.
#[inline(never)]
fn tile<const EACH: usize, const FILTERS: usize>(
    tiles: &mut Windows<'_>,
    words: &[Cell<i32>],
    o: usize,
    q: &UpperRequant<'_>,
    out: [&[Cell<i8>]; 4],
) -> Option<()> {
    let mut channels = [q.channel(o)?; FILTERS];
    for (at, channel) in channels.iter_mut().enumerate() {
        *channel = q.channel(o.wrapping_add(at))?;
    }
    let mut sums: Sums = [[0; 2]; 6];
    for (sums, channel) in sums.chunks_exact_mut(EACH).zip(&channels) {
        sums.fill([channel.first.wrapping_add(channel.first << 16), channel.first]);
    }
    add::<EACH, FILTERS>(tiles, words, &mut sums);
    for at in 0..EACH {
        let out = [out[2 * at], out[2 * at + 1]].map(|out| out.get(o..)?.first_chunk::<FILTERS>());
        let [Some(lower), Some(upper)] = out else { return None };
        for f in 0..FILTERS {
            let [sum, h] = sums[f * EACH + at];
            upper[f].set(q.result(h, channels[f]));
            lower[f].set(q.result(sum.wrapping_sub(h << 16), channels[f]));
        }
    }
    Some(())
}
