//! Steps in parts, for whatever kernel: each part is a call of the kernel itself, for other rows of the result or for some of the operand's and the result's pixels. So the results
//! are the same bits.
#![allow(unsafe_code)]

use super::{Crew, Step, PARTS};
use crate::arch::extent::{product, product_of, span};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::ops::Range;

/// Rows that make a part of [`divide`], at least: a part has its own beginning.
const FEW_ROWS: usize = 4;

/// Pixels of a part of [`convolution`] are a multiple of this, but at the end: kernels compute them in pairs.
const PAIR: usize = 2;

/// Operand and result with pixels as rows, where filters are points, every pixel of the operand has its result, and the band's lie one behind the other.
pub(crate) fn pixels<'a, T>(
    p: &Conv,
    x: Rows<'a, T>,
    y: Rows<'a, T>,
    band: Band,
) -> Option<[Rows<'a, T>; 2]> {
    let points = product_of([p.k_h, p.k_w, p.stride_h, p.stride_w]) == 1 && p.pad_top == 0 && p.pad_left == 0;
    let whole = p.in_w == p.out_w
        && x.row_len() == p.in_w.checked_mul(p.in_c)?
        && y.row_len() == p.out_w.checked_mul(p.out_c)?
        && band.range().end <= p.in_h;
    let (xs, ys) = (x.run(band.first, band.rows)?, y.run(band.first, band.rows)?);
    (points && whole).then(|| [Rows::whole(xs, p.in_c), Rows::whole(ys, p.out_c)])
}

/// The only row of a band, of operand and result.
pub(crate) fn single<'a, T>(x: Rows<'a, T>, y: Rows<'a, T>, band: Band) -> Option<[Rows<'a, T>; 2]> {
    let row = |of: Rows<'a, T>| Rows::whole(of.row(band.first), of.row_len());
    (band.rows == 1).then(|| [row(x), row(y)])
}

pub(crate) fn band_of(part: Range<usize>) -> Band {
    Band { first: part.start, rows: part.len() }
}

/// What a step is divided into.
pub(crate) struct Units {
    pub(crate) all: Range<usize>,
    /// How many make a part, at least and at most; 0 where parts cannot be computed at all.
    pub(crate) few: usize,
    pub(crate) most: usize,
}

impl Units {
    /// The rows of a band, where the result has a place for each of them.
    pub(crate) fn rows<T>(y: Rows<'_, T>, band: Band) -> Units {
        let apart = y.held().is_some_and(|held| band.rows <= held);
        Units { all: band.range(), few: FEW_ROWS, most: if apart { usize::MAX } else { 0 } }
    }

    /// Into how many parts, for so many threads.
    fn parts(&self, threads: usize) -> usize {
        let count = self.all.len();
        let even = threads.saturating_mul((count / threads.saturating_mul(self.few).max(1)).clamp(1, PARTS));
        even.max(count.div_ceil(self.most.max(1))).min(count)
    }
}

/// Elements of one of `cores` workspaces, each of which begins on a multiple of 64 bytes if the first one does.
pub(crate) fn chunk<W>(work: &[Cell<W>], cores: usize) -> usize {
    work.len() / cores.max(1) / 16 * 16
}

/// What computes some units, in a workspace.
pub(crate) type Compute<'c, T, W> = dyn Fn([Rows<'_, T>; 2], &[Cell<W>], Range<usize>) + Sync + 'c;

/// Has units computed in parts, and says whether it did: if not, nothing was computed, since nobody helps, or operand, result and workspace are not apart.
///
/// # Safety
///
/// `compute([x, y], work, part)` writes no memory but `work` and those elements of `y` that belong to the units in `part`, and reads no other memory that is written by any
/// call of it: of all rows, that is, only `x`.
pub(crate) unsafe fn divide<T: Copy, W>(
    crew: &Crew,
    cores: usize,
    [x, y]: [Rows<'_, T>; 2],
    work: &[Cell<W>],
    units: Units,
    compute: &Compute<'_, T, W>,
) -> bool {
    let threads = cores.min(crew.helpers().saturating_add(1));
    let places = [place(x.cells()), place(y.cells()), place(work)];
    let [a, b, c] = &places;
    if threads < 2 || units.all.len() < 2 || units.most == 0 || !(apart(a, b) && apart(a, c) && apart(b, c)) {
        return false;
    }
    let chunk = chunk(work, cores);
    let memory = Shared(([x, y], work));
    let first = units.all.start;
    let part = |slot: usize, part: Range<usize>| {
        let (rows, work) = memory.get();
        let start = slot.saturating_mul(chunk);
        let Some(work) = work.get(start..start.saturating_add(chunk)) else { return };
        compute(rows, work, first + part.start..first + part.end);
    };
    crew.lead(&Step::new(units.all.len(), units.parts(threads), threads, &part));
    true
}

/// A convolution of a kernel: of these parameters, with this workspace, these rows of the result.
pub(crate) type Convolution<'c> = dyn Fn(&Conv, [Rows<'_, i8>; 2], &[Cell<i32>], Band) + Sync + 'c;

/// Computes a band of a convolution by two cores, where `crew` has one that helps: in parts of rows or, with `by_pixel` and where filters are points, of pixels. `work` is empty or consists of
/// `cores` workspaces of equal length, a multiple of 64 bytes. Pixels of `y` are one behind the other with `by_pixel`. The kernel computes `at_once` rows at a time, from the first one of a band.
///
/// # Safety
///
/// `kernel(p, [x, y], work, band)` writes no memory but `work` and the rows of `y` in `band`. Of all memory that any call of it writes, it reads only those rows of `x` that lie in the windows of these
/// results, and of those behind them to a multiple of `at_once` rows.
#[inline(never)]
pub(crate) unsafe fn convolution(
    crew: &Crew,
    cores: usize,
    p: &Conv,
    [x, y]: [Rows<'_, i8>; 2],
    work: &[Cell<i32>],
    band: Band,
    (by_pixel, at_once): (bool, usize),
    kernel: &Convolution<'_>,
) {
    let divided = match pixels(p, x, y, band).filter(|_| by_pixel) {
        Some(rows) => {
            let compute = |[x, y]: [Rows<'_, i8>; 2], work: &[Cell<i32>], part: Range<usize>| {
                let count = part.len();
                let some = [x, y].map(|of| of.run(part.start, count));
                let [Some(x), Some(y)] = some else { return };
                let p = Conv { in_h: 1, in_w: count, out_w: count, ..*p };
                kernel(&p, [x, y].map(|of| Rows::whole(of, of.len())), work, Band { first: 0, rows: 1 });
            };
            let units = 0..rows[0].held().unwrap_or(0);
            // SAFETY: of the caller: a pixel's window is the pixel.
            unsafe { divide_in_beats(crew, cores, rows, work, units, PAIR, &|part| part, &compute) }
        }
        None => {
            // Some kernels are made for a dilation of 1, and do not look.
            let reach = span(p.k_h, p.dilation_h.max(1));
            let windows = |rows: Range<usize>| {
                let top = |row: usize| product(row, p.stride_h);
                let read = rows.start.saturating_add(rows.len().div_ceil(at_once).saturating_mul(at_once));
                let last = top(read.saturating_sub(1)).saturating_add(reach);
                let end = last.saturating_add(1).saturating_sub(p.pad_top).min(p.in_h);
                top(rows.start).saturating_sub(p.pad_top).min(end)..end
            };
            // Kernels compute the same in numbers that wrap.
            let end = band.range().end.saturating_add(at_once);
            let wraps = product(end, p.stride_h).saturating_add(reach) >= usize::MAX / 2;
            let compute = |rows: [Rows<'_, i8>; 2], work: &[Cell<i32>], part: Range<usize>| {
                kernel(p, rows, work, band_of(part));
            };
            // SAFETY: of the caller.
            !wraps
                && unsafe {
                    divide_in_beats(crew, cores, [x, y], work, band.range(), at_once, &windows, &compute)
                }
        }
    };
    if !divided {
        kernel(p, [x, y], work, band);
    }
}

/// Kernels of convolutions with the help of a crew: each has the arguments of the other one, behind the crew and how many cores it has at most. `if` says whether the pixels of a result lie one
/// behind the other; `rows` how many of them the kernel computes at a time, where these are several.
macro_rules! in_parts {
    ($(
        $vis:vis fn $name:ident = $kernel:ident <$($g:ident: $t:ty),*>
            ($($before:ident: $b:ty),*) $($work:ident)? ($($middle:ident: $m:ty),*) y ($($after:ident: $a:ty),*) if |$p:ident| $by_pixel:expr $(, rows = $rows:literal)?;
    )+) => {$(
        #[doc = concat!(
            "As [`", stringify!($kernel), "`](crate::kernels::", stringify!($kernel), "), with the help of a crew. A workspace consists of `cores` workspaces of equal length, a multiple of 64 bytes.",
        )]
        $vis fn $name<$(const $g: $t),*>(
            crew: &$crate::Crew,
            cores: usize,
            $p: &$crate::kernels::Conv,
            x: $crate::Rows<'_, i8>,
            $($before: $b,)*
            $($work: &[core::cell::Cell<i32>],)?
            $($middle: $m,)*
            y: $crate::Rows<'_, i8>,
            $($after: $a,)*
            band: $crate::Band,
        ) {
            let kernel = |
                p: &$crate::kernels::Conv,
                [x, y]: [$crate::Rows<'_, i8>; 2],
                work: &[core::cell::Cell<i32>],
                band: $crate::Band,
            | {
                $(let $work = work;)?
                // Some kernels have none.
                let _ = work;
                $kernel::<$($g),*>(p, x, $($before,)* $($work,)? $($middle,)* y, $($after,)* band);
            };
            let own: &[core::cell::Cell<i32>] = &[];
            $(let own = { let _ = own; $work };)?
            let at_once = usize::max(1, 0 $(+ $rows)?);
            // SAFETY: the kernel reads the rows of the operand that lie in the windows of as many rows as it computes at a time, and writes the rows of the band.
            unsafe {
                $crate::arch::crew::parts::convolution(crew, cores, $p, [x, y], own, band, ($by_pixel, at_once), &kernel)
            }
        }
    )+};
}
pub(crate) use in_parts;

/// A matrix product of a kernel: of a row, with these filters.
pub(crate) type Product<'c> = dyn Fn(Rows<'_, i8>, &[i32], Rows<'_, i8>) + Sync + 'c;

/// Computes the only row of a matrix product in parts of filters, as [`divide`] does, and says whether it did. `w` has blocks of so many words for so many filters, but for the last one, which may
/// have fewer of both.
///
/// # Safety
///
/// `kernel(x, w, y)` writes no memory but `y`, which has a cell for each filter in `w`, and reads no other cells than those of `x`.
pub(crate) unsafe fn filters_in_parts(
    crew: &Crew,
    cores: usize,
    [x, y]: [Rows<'_, i8>; 2],
    w: &[i32],
    (words, filters): (usize, usize),
    band: Band,
    kernel: &Product<'_>,
) -> bool {
    let all = y.row_len();
    let blocks = all.div_ceil(filters);
    let compute = |[x, y]: [Rows<'_, i8>; 2], _: &[Cell<i32>], part: Range<usize>| {
        let start = product(part.start, words);
        let end = if part.end == blocks { w.len() } else { product(part.end, words) };
        let results = product(part.start, filters)..product(part.end, filters).min(all);
        let (Some(w), Some(y)) = (w.get(start..end), y.row(0).get(results)) else { return };
        kernel(x, w, Rows::whole(y, y.len()));
    };
    let units = Units { all: 0..blocks, few: 1, most: usize::MAX };
    let Some(rows) = single(x, y, band) else { return false };
    // SAFETY: of the caller: each part writes the results of its own filters, and reads the operand.
    unsafe { divide(crew, cores, rows, &[], units, &compute) }
}

/// As [`divide`], for two cores, also where the result lies over the operand: as rows of the one are read for the last time, those of the other take their place. Then the units are computed in
/// beats: both cores are at units that lie next to each other, and neither begins a beat before both have done the last one. A beat is as long as no core writes what the other one reads.
/// Parts have a multiple of `few` units, but for the last ones.
///
/// # Safety
///
/// As of [`divide`]. Of `x`, `compute(…, part)` reads only the units `reads(part)`.
unsafe fn divide_in_beats(
    crew: &Crew,
    cores: usize,
    [x, y]: [Rows<'_, i8>; 2],
    work: &[Cell<i32>],
    units: Range<usize>,
    few: usize,
    reads: &dyn Fn(Range<usize>) -> Range<usize>,
    compute: &Compute<'_, i8, i32>,
) -> bool {
    let places = [place(x.cells()), place(y.cells()), place(work)];
    let [all_x, all_y, of_work] = &places;
    let rows_apart = apart(all_x, of_work) && apart(all_y, of_work);
    let held = |of: Rows<'_, i8>, units: &Range<usize>| of.run(units.start, units.len()).map(place);
    // In a ring, a row may lie where another one does.
    let no_ring = |of: Rows<'_, i8>, units: &Range<usize>| {
        of.held().is_some_and(|held| of.first_slot().saturating_add(units.end) <= held)
    };
    let all_held = no_ring(y, &units) && no_ring(x, &reads(units.clone()));
    if cores < 2 || crew.helpers() == 0 || units.len() < 2 * few || !rows_apart || !all_held {
        return false;
    }
    let chunk = chunk(work, cores);
    let memory = Shared(([x, y], work));
    // Whether neither core writes what the other one reads.
    let separate = |first: &Range<usize>, second: &Range<usize>| {
        let crossed = |writes: &Range<usize>, other: &Range<usize>| match (
            held(y, writes),
            held(x, &reads(other.clone())),
        ) {
            (Some(writes), Some(reads)) => apart(&writes, &reads),
            _ => false,
        };
        crossed(first, second) && crossed(second, first)
    };
    // As many units for each core as keep them apart, from a unit on.
    let longest = |next: usize| {
        let fits = |half: usize| {
            let (middle, end) = (next + half, units.end.min(next + 2 * half));
            middle < end && separate(&(next..middle), &(middle..end))
        };
        let most = (units.end - next).div_ceil(2);
        if fits(most) {
            return most;
        }
        let (mut apart, mut close) = (0, most);
        while close - apart > 1 {
            let half = apart + (close - apart) / 2;
            if fits(half) {
                apart = half;
            } else {
                close = half;
            }
        }
        apart
    };
    let mut next = units.start;
    while next < units.end {
        let half = longest(next) / few * few;
        if half == 0 {
            // Too few are left, or operand and result lie too close: this core alone goes on.
            let end = units.end.min(next + few.max(units.len() / 16 / few * few));
            compute([x, y], work, next..end);
            next = end;
            continue;
        }
        let (start, end) = (next, units.end.min(next + 2 * half));
        let part = |slot: usize, part: Range<usize>| {
            let (rows, work) = memory.get();
            let at = slot.saturating_mul(chunk);
            let Some(work) = work.get(at..at.saturating_add(chunk)) else { return };
            compute(rows, work, start + part.start..start + part.end);
        };
        // The first of two parts is not shorter, and no longer than `half`.
        crew.lead(&Step::new(end - start, 2, 2, &part));
        next = end;
    }
    true
}

/// Cells that several threads use.
struct Shared<T>(T);

// SAFETY: `divide` and `divide_in_beats` alone make one, of cells that only the calling thread has otherwise (they are not `Sync`), and that thread does nothing with them until `lead` returns: it runs no code of
// others, and afterwards no thread uses them any more. Meanwhile the operand is only read, since neither result nor workspaces lie over it; in a beat, what lies over it is not what the other
// core reads. Each unit of the result is written in the one part that it belongs to, which `Step` gives to one thread, and each workspace is one thread's: by the promise of the caller, no element is
// written by one thread and read or written by another. Elements are integers and floats, which belong to no thread.
unsafe impl<T> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn get(&self) -> T {
        self.0
    }
}

/// The addresses of cells.
fn place<T>(cells: &[Cell<T>]) -> Range<usize> {
    let cells = cells.as_ptr_range();
    cells.start as usize..cells.end as usize
}

fn apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.end <= b.start || b.end <= a.start
}
