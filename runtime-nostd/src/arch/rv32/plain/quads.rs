//! Tiles of four pixels in plain Rust.

use crate::arch::rv32::pairs;
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::rv32::windows::Windows;
use core::cell::Cell;

/// Results of all filters for four pixels, some of which may be the same, of two words of operands for each tap. `None` where something is missing.
pub(crate) fn finish(
    tiles: Windows<'_>,
    words: &[Cell<i32>],
    q: &UpperRequant<'_>,
    out: [&[Cell<i8>]; 4],
) -> Option<()> {
    pairs::finish::<2>(tiles, words, q, out)
}
