//! The inner blocks of kernels in assembly.

#![allow(unsafe_code)]

use crate::arch::extent::product;
use crate::arch::rv32::operand::{Run, ROWS};
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::rv32::windows::Windows;
use core::cell::Cell;
use core::marker::PhantomData;

/// Assembly: defines `kiln_short_add`, an addition of two bytes.
macro_rules! define_short_add {
    () => {
        "
        .macro kiln_short_add to, s
        .option rvc
        c.add \\to, \\s
        .option norvc
        .endm
        "
    };
}

/// What the code of tiles reads, in this order. Of weights, results and constants, the next tile's.
#[repr(C)]
struct State<'a> {
    words: *const i32,
    w: *const i8,
    /// Of the first pixel.
    y: *const i8,
    /// From there to those of the others.
    apart: [usize; 3],
    channel: *const i32,
    /// 0 if constants are common to the channels.
    own: usize,
    /// Results of sums above and, in the second byte, below all steps.
    ends: u32,
    spread: u32,
    shift: u32,
    /// Bytes of a channel's constants.
    bytes: usize,
    /// Where the constants of tiles of three filters end, and those of tiles of two behind them.
    behind: [*const i32; 2],
    /// Where the first tile's are.
    first_w: *const i8,
    first_channel: *const i32,
    /// As many as results of a pixel.
    filters: usize,
    /// Tiles of pixels.
    tiles: usize,
    /// Of the operand, for each of which there are elements below. 0 if the words are written.
    rows: usize,
    /// Elements of a row that a pixel reads, from those of a pixel to those of the next one, and from those of a tile to those of the next one.
    run: usize,
    step: usize,
    next: usize,
    /// From the end of the first pixel's results to those of the next tile.
    skipped: usize,
    /// Of the next tile, in each row. None where the words are written.
    elements: [*const i8; ROWS],
    /// Taps of a filter, for which there are words.
    size: usize,
    of: PhantomData<&'a ()>,
}

impl<'a> State<'a> {
    /// Of all tiles, with so many words of operands for each tap. `None` where something is missing.
    #[inline(always)]
    fn new(
        tiles: &Windows<'a>,
        words: &'a [Cell<i32>],
        each: usize,
        q: &'a UpperRequant<'a>,
    ) -> Option<Self> {
        let filters = tiles.left();
        let channels = q.channels(filters)?.as_ptr();
        if words.len() / each < tiles.size() {
            return None;
        }
        Some(State {
            words: words.as_ptr().cast(),
            w: core::ptr::null(),
            y: core::ptr::null(),
            apart: [0; 3],
            channel: core::ptr::null(),
            own: q.is_own().into(),
            ends: q.ends(),
            spread: q.spread,
            shift: q.shift,
            bytes: 4 * q.words,
            behind: [tiles.threes(), filters].map(|count| channels.wrapping_add(count * q.words)),
            first_w: tiles.bytes().as_ptr(),
            first_channel: channels,
            filters,
            tiles: 1,
            rows: 0,
            run: 0,
            step: 0,
            next: 0,
            skipped: 0,
            elements: [core::ptr::null(); ROWS],
            size: tiles.size(),
            of: PhantomData,
        })
    }

    /// Begins with the first tile, for pixels of which some may be the same. `None` where results are missing.
    #[inline(always)]
    fn begin<const PIXELS: usize>(&mut self, out: &[&[Cell<i8>]; PIXELS]) -> Option<()> {
        (self.w, self.channel) = (self.first_w, self.first_channel);
        if out.iter().any(|out| out.len() < self.filters) {
            return None;
        }
        let [first, others @ ..] = out.as_slice() else { return None };
        self.y = first.as_ptr().cast();
        for (apart, other) in self.apart.iter_mut().zip(others) {
            *apart = (other.as_ptr() as usize).wrapping_sub(self.y as usize);
        }
        (self.tiles, self.rows) = (1, 0);
        Some(())
    }

    /// Begins with the first of some tiles side by side, for whose words there is `work`. `None` where something is missing.
    #[inline(never)]
    fn begin_run(&mut self, run: &Run<'_, '_, 4>, work: &[Cell<i32>], out: &[Cell<i8>]) -> Option<()> {
        let (tiles, rows, filters) = (run.tiles, run.rows(), self.filters);
        [self.run, self.step] = run.lengths();
        if tiles == 0
            || out.len() < product(product(tiles, 4), filters)
            || product(rows, self.run) > self.size
        {
            return None;
        }
        for (row, elements) in self.elements.get_mut(..rows)?.iter_mut().enumerate() {
            let row = run.row(row, work)?;
            *elements = if row.is_empty() { core::ptr::null() } else { row.as_ptr().cast() };
        }
        (self.y, self.tiles, self.rows) = (out.as_ptr().cast(), tiles, rows);
        (self.apart, self.next) = ([filters, 2 * filters, 3 * filters], self.step.wrapping_mul(4));
        self.skipped = 3 * filters;
        Some(())
    }
}

/// Ends what windows are made of.
macro_rules! purge_windows {
    () => {
        "
        .purgem kiln_next
        .purgem kiln_last
        .purgem kiln_tap
        .purgem kiln_split
        .purgem kiln_sum
        .purgem kiln_short_add
        "
    };
}

/// The windows of a tile. Their code has the most taps that there are, the last one first; a jump skips those that a window has not. `$base` puts the end of this code in `base`, where it is not yet there. `kiln_next` moves `x` behind the window, of which `u` is `8·n`, and makes it the bytes of code of `n` taps, each of which has as many as the argument says. `kiln_last` multiplies the last tap,
/// `kiln_tap` adds those before it, `kiln_split` parts the fields.
macro_rules! tile_windows {
    ($base:literal, $tap:literal) => {
        concat!(
            "
        .option push
        .option norvc
        ",
            $base,
            "
        lbu {u}, 0({w})
        2:
        lbu {x0}, 1({w})
        kiln_next
        add {w}, {w}, {x0}
        sub {t}, {base}, {u}
        kiln_last
        jalr zero, ",
            $tap,
            "({t})
        .irp at, 8, 7, 6, 5, 4, 3, 2
        kiln_tap \\at
        .endr
        3:
        kiln_split
        lbu {u}, 0({w})
        bnez {u}, 2b
        .option pop
        ",
            purge_windows!(),
        )
    };
}

/// `kiln_sum`: the sum of a window to its two accumulators.
macro_rules! define_sum {
    () => {
        "
        .macro kiln_sum s, q, h
        add \\q, \\q, \\s
        add \\s, \\s, {half}
        srai \\s, \\s, 16
        add \\h, \\h, \\s
        .endm
        "
    };
}

/// `kiln_result`: `v` as a result, so many bytes behind `y`. The registers of limit, constant, multiplier, both shifts, and of the [`State`] are named; `$constant` adds more to `t`.
#[rustfmt::skip]
macro_rules! define_result {
    ($state:literal, $limit:literal, $constant:literal, $multiplier:literal, $spread:literal, $shift:literal, $more:expr) => {
        concat!(
            ".macro kiln_result v, at, y\n",
            "bltu \\v, {", $limit, "}, 8f\n",
            "srli \\v, \\v, 31\n",
            "add \\v, \\v, {", $state, "}\n",
            "lbu {t}, 32(\\v)\n",
            "j 9f\n",
            "8:\n",
            "sll {t}, \\v, {", $spread, "}\n",
            "mulhu {t}, {t}, {", $multiplier, "}\n",
            $more,
            "add {t}, {t}, {", $constant, "}\n",
            "sra {t}, {t}, {", $shift, "}\n",
            "9:\n",
            "sb {t}, \\at(\\y)\n",
            ".endm\n",
        )
    };
}

/// Of `kiln_result`: another constant where `v` is below the origin. The registers of the origin and of the difference between the constants are named.
#[rustfmt::skip]
macro_rules! below_origin {
    ($origin:literal, $difference:literal) => {
        concat!(
            "bge \\v, {", $origin, "}, 7f\n",
            "add {t}, {t}, {", $difference, "}\n",
            "7:\n",
        )
    };
}

const _: () = assert!(super::rv32::windows::MOST == 8, "the taps of `tile_windows`");

pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pairs;
pub(crate) mod quads;
pub(crate) mod rolling;
pub(crate) mod singles;
pub(crate) mod wide;
#[macro_use]
pub(crate) mod winograd;
pub(crate) mod winograd_4x4;
