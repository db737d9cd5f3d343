//! Depthwise convolutions of channels one after the other.

use crate::arch::mve::affine::End;
use crate::arch::mve::depthwise::{Group, Space, Tile};
use core::cell::Cell;

/// What the block reads of channels: their words.
pub(crate) struct Prepared<'a>(&'a [i32]);

impl<'a> Prepared<'a> {
    pub(crate) fn of(_: &Space<'_>, w: &'a [i32]) -> Self {
        Prepared(w)
    }
}

/// All pixels of a group's channels. With `TURNS`, the first line of a window is its `phase`th.
pub(crate) fn eights_of_pixels<
    const LINES: usize,
    const ALONG: usize,
    const STRIDE: usize,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
    const TURNS: bool,
>(
    group: &Group<'_>,
    phase: usize,
) {
    let (tile, end) = (Tile::of(LINES, ALONG, STRIDE), End::of(SHIFT, EXACT, CLAMPED));
    let Group { space, channels, prepared: Prepared(w), .. } = *group;
    let (windows, results) =
        (space.windows.chunks_exact(space.window), space.results.chunks_exact(space.row));
    for ((w, x), y) in w.chunks_exact(tile.words(end)).zip(windows).zip(results).take(channels) {
        let (words, taps) = w.split_at(end.words());
        let taps = taps.iter().flat_map(|word| word.to_le_bytes()).skip(tile.before()).take(tile.taps);
        for (pixel, y) in y.iter().enumerate() {
            let place = |tap: usize| tap / LINES * LINES + (tap % LINES + phase) % LINES;
            let x = (0..).map(|tap| x.get(pixel * tile.step + place(tap)).map_or(0, Cell::get));
            let sum = taps
                .clone()
                .zip(x)
                .fold(0, |sum: i32, (w, x)| sum.wrapping_add(i32::from(w as i8) * i32::from(x)));
            // The constant comes before the multiplier here.
            let place = |what: usize| if matches!(what, 1 | 2) { 3 - what } else { what };
            let word = |what: usize| words.get(place(what)).copied().unwrap_or(0);
            y.set(end.result(sum, word));
        }
    }
}
