//! Blocks, and tiles of pixels: functions that are compiled for a number of vectors or of pixels, so that all of them stay in registers.

use super::BLOCK;

/// Blocks until channels begin again where pixels follow each other: the least common multiple of both numbers, in blocks. 0 for no channels.
#[inline(always)]
pub(crate) fn period(channels: usize) -> usize {
    channels >> channels.trailing_zeros().min(BLOCK.trailing_zeros())
}

/// An expression of the constant `$n`: the vectors of `$s` that a block is.
macro_rules! with_block {
    ($s:ident, $n:ident => $with:expr) => {
        match $s::LANES {
            16 => {
                const $n: usize = 1;
                $with
            }
            8 => {
                const $n: usize = 2;
                $with
            }
            _ => {
                const $n: usize = 4;
                $with
            }
        }
    };
}

/// An expression of the constant `$p`: the number of pixels that `$count` is. Only numbers for which there is a tile are compiled, of which `$is_tile` says so.
macro_rules! with_pixels {
    ($count:expr, $p:ident if $is_tile:expr => $with:expr) => {
        with_pixels!($count, $p of 1 2 3 4 5 6 7 8 9 10 11 12 if $is_tile => $with)
    };
    ($count:expr, $p:ident of $($number:literal)+ if $is_tile:expr => $with:expr) => {
        match $count {
            $($number => {
                const $p: usize = $number;
                if const { $is_tile } {
                    $with
                }
            })+
            _ => {}
        }
    };
}

pub(super) use {with_block, with_pixels};

/// Pixels in tiles of at most so many, which are as even as can be: the first pixel of each tile, and how many it has.
pub(crate) struct Even {
    pixels: usize,
    first: usize,
    tiles: usize,
}

impl Even {
    #[inline(always)]
    pub(crate) fn new(pixels: usize, most: usize) -> Even {
        Even { pixels, first: 0, tiles: pixels.div_ceil(most) }
    }
}

impl Iterator for Even {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.tiles == 0 {
            return None;
        }
        let first = self.first;
        let count = (self.pixels - first).div_ceil(self.tiles);
        self.first += count;
        self.tiles -= 1;
        Some((first, count))
    }
}
