//! Tiles in plain Rust, of two pixels or, in two words for each tap, of four.

use crate::arch::rv32::conv::{run_by_tiles, Blocks};
use crate::arch::rv32::operand::Run;
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::rv32::windows::Windows;
use core::cell::Cell;

/// Accumulators of two pixels each: of the first filter with the first word of a tap, with the second one if there is one, of the next filter.
type Sums = [[i32; 2]; 6];

/// The tiles of a layer, of so many pixels.
pub(crate) struct Tiles<'a, const PIXELS: usize> {
    tiles: Windows<'a>,
    words: &'a [Cell<i32>],
    q: &'a UpperRequant<'a>,
}

/// Those of two pixels.
pub(crate) type Pairs<'a> = Tiles<'a, 2>;

impl<'a, const PIXELS: usize> Blocks<'a, PIXELS> for Tiles<'a, PIXELS> {
    fn new(tiles: Windows<'a>, words: &'a [Cell<i32>], q: &'a UpperRequant<'a>) -> Option<Self> {
        q.channels(tiles.left())?;
        (words.len() / (PIXELS / 2) >= tiles.size()).then_some(Tiles { tiles, words, q })
    }

    fn run(&mut self, run: Run<'_, '_, PIXELS>, work: &[Cell<i32>], out: &[Cell<i8>]) -> Option<()> {
        run_by_tiles(self, run, work, out)
    }

    fn finish(&mut self, out: &[&[Cell<i8>]; PIXELS]) -> Option<()> {
        let Tiles { mut tiles, words, q } = *self;
        let (each, count) = (PIXELS / 2, tiles.left());
        if out.iter().any(|out| out.len() < count) {
            return None;
        }
        let mut o = 0;
        while tiles.filters() > 0 {
            let filters = tiles.filters();
            let sums = add(&mut tiles, words, each);
            for f in 0..filters {
                let (first, result) = q.channel(o)?;
                for (at, out) in out.iter().enumerate() {
                    let [sum, upper] = *sums.get(f * each + at / 2)?;
                    let v = if at % 2 == 0 { sum.wrapping_sub(upper << 16) } else { upper };
                    out.get(o)?.set(result(first.wrapping_add(v)));
                }
                o += 1;
            }
        }
        Some(())
    }
}

/// The sums of the next tile, with `each` words of each tap.
fn add(tiles: &mut Windows<'_>, words: &[Cell<i32>], each: usize) -> Sums {
    let (filters, bytes, mut words) = (tiles.filters(), tiles.bytes(), words);
    let mut sums: Sums = [[0; 2]; 6];
    let mut len = 0;
    while let Some(&[eight, step, ..]) = bytes.get(len..).filter(|w| w.first() != Some(&0)) {
        let (taps, step) = (eight as u8 as usize / 8, step as u8 as usize);
        let w = bytes.get(len + 2..len + step).unwrap_or(&[]);
        let window = words.get(..taps * each).unwrap_or(&[]);
        for (at, [q, h]) in sums.iter_mut().enumerate().take(each * filters) {
            let weights = w.iter().skip(at / each).step_by(filters);
            let words = window.iter().skip(at % each).step_by(each);
            let product = |(x, &w): (&Cell<i32>, &i8)| x.get().wrapping_mul(w.into());
            let sum = words.zip(weights).map(product).fold(0, i32::wrapping_add);
            *q = q.wrapping_add(sum);
            *h = h.wrapping_add(sum.wrapping_add(1 << 15) >> 16);
        }
        words = words.get(taps * each..).unwrap_or(&[]);
        len += step;
    }
    tiles.skip(len + 1);
    sums
}
