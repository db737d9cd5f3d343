//! Rows of an operand in the workspace: padding written out, in phases where columns are strided.

use crate::arch::extent::{product, rounded_up, span, sum, sum_of};
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Bytes behind the last row that vectors may read.
pub(crate) const SLACK: usize = 256;

/// Runs of taps that kernels keep account of, which are read where they lie: k_h, or k_h · k_w.
pub(crate) const MOST_RUNS: usize = 64;

/// What of an operand a band of results reads, as rows in a workspace: a ring of as many as a filter covers.
pub(crate) struct Ring {
    /// Elements of a row, padding included.
    pub(crate) row: usize,
    /// Rows.
    pub(crate) rows: usize,
    /// Columns are in so many phases: the columns `c` of phase `f` are those of the padded row's columns `c · phases + f`.
    pub(crate) phases: usize,
    /// Elements of a phase.
    pub(crate) phase: usize,
    /// The first row of the padded operand behind those that were copied.
    filled: usize,
}

impl Ring {
    /// The ring of a convolution, whose columns come in that many phases.
    #[inline(always)]
    pub(crate) fn new(p: &Conv, phases: usize) -> Ring {
        let phases = phases.max(1);
        let reach = sum_of([span(p.out_w, p.stride_w), span(p.k_w, p.dilation_w), 1]);
        let columns = reach.max(sum(p.in_w, p.pad_left));
        let phase = product(columns.div_ceil(phases), p.in_c);
        let rows = sum(span(p.k_h, p.dilation_h), 1);
        let row = rounded_up(product(phase, phases), 64);
        Ring { row, rows, phases, phase, filled: 0 }
    }

    /// Elements of all rows, and of what may be read behind them.
    #[inline(always)]
    pub(crate) fn elements(&self) -> usize {
        // Rows without elements take room as well: there are no more of them than can be gone through.
        sum(product(self.rows, self.row.max(1)), SLACK)
    }

    /// Where a column of the padded operand is in a row, in elements of so many channels.
    #[inline(always)]
    pub(crate) fn column(&self, column: usize, channels: usize) -> usize {
        match self.phases {
            0 | 1 => column * channels,
            phases => column % phases * self.phase + column / phases * channels,
        }
    }

    /// Where a row of the padded operand is, in elements.
    #[inline(always)]
    pub(crate) fn at(&self, padded_row: usize) -> usize {
        padded_row.checked_rem(self.rows).unwrap_or(0) * self.row
    }

    /// Copies the rows of the padded operand from `top` on that a filter covers to their places, but those that are there already: each element turned by `turn`;
    /// `pad` is turned already. From call to call `top` does not become less.
    ///
    /// # Safety
    ///
    /// `p` is the convolution that the ring is of, and `work` is valid for all its rows.
    #[inline(always)]
    pub(crate) unsafe fn fill<T: Copy, U: Copy>(
        &mut self,
        p: &Conv,
        x: Rows<'_, T>,
        top: usize,
        work: *mut U,
        pad: U,
        turn: impl Fn(T) -> U + Copy,
    ) {
        self.filled = self.filled.max(top);
        while self.filled < top.saturating_add(self.rows) {
            // SAFETY: the caller's.
            unsafe { fill_row(p, self, x, self.filled, work.add(self.at(self.filled)), pad, turn) };
            self.filled += 1;
        }
    }

    /// Where a filter's runs of taps begin in the rows from `top` on: so many columns of each of its rows.
    ///
    /// # Safety
    ///
    /// `p` is the convolution that the ring is of, and `work` is valid for all its rows.
    #[inline(always)]
    pub(crate) unsafe fn runs<U>(
        &self,
        p: &Conv,
        top: usize,
        columns: usize,
        work: *const U,
        runs: &mut [*const U; MOST_RUNS],
    ) {
        for ky in 0..p.k_h {
            // SAFETY: the filter's rows and columns are within the ring. Distances that wrap are those of pixels without channels.
            unsafe {
                let from = work.add(self.at(top.wrapping_add(ky.wrapping_mul(p.dilation_h))));
                for kx in 0..columns {
                    runs[ky * columns + kx] = from.add(self.column(kx.wrapping_mul(p.dilation_w), p.in_c));
                }
            }
        }
    }
}

/// Where rows begin in a workspace of floats: on a multiple of 64 bytes, so that no vector of them lies in two lines of a cache where it need not.
#[inline(always)]
pub(crate) fn aligned(work: &[Cell<f32>]) -> *mut f32 {
    let start = work.as_ptr().cast_mut().cast::<f32>();
    // At most sixteen elements, which [`SLACK`] has to spare.
    start.wrapping_add((start as usize).wrapping_neg() % 64 / 4)
}

/// Copies a row of the padded operand to its place.
///
/// # Safety
///
/// `to` is valid for a row of the ring.
#[inline(always)]
unsafe fn fill_row<T: Copy, U: Copy>(
    p: &Conv,
    ring: &Ring,
    x: Rows<'_, T>,
    padded_row: usize,
    to: *mut U,
    pad: U,
    turn: impl Fn(T) -> U + Copy,
) {
    let source: &[Cell<T>] = match padded_row.checked_sub(p.pad_top) {
        Some(row) if row < p.in_h => x.row(row),
        _ => &[],
    };
    // SAFETY: phases lie within a row of the ring, and so do the columns within them.
    unsafe {
        if source.len() < p.in_row() {
            return put(to, ring.row, pad);
        }
        let x = source.as_ptr().cast::<T>();
        if ring.phases <= 1 {
            let (left, all) = (p.pad_left * p.in_c, p.in_w * p.in_c);
            put(to, left, pad);
            let middle = to.add(left);
            for i in 0..all {
                *middle.add(i) = turn(*x.add(i));
            }
            return put(middle.add(all), ring.row - left - all, pad);
        }
        let columns = ring.phase / p.in_c.max(1) * ring.phases;
        let (mut phase, mut behind) = (0, 0);
        for column in 0..columns {
            let to = to.add(phase * ring.phase + behind);
            match column.checked_sub(p.pad_left) {
                Some(column) if column < p.in_w => {
                    let x = x.add(column * p.in_c);
                    for i in 0..p.in_c {
                        *to.add(i) = turn(*x.add(i));
                    }
                }
                _ => put(to, p.in_c, pad),
            }
            phase += 1;
            if phase == ring.phases {
                (phase, behind) = (0, behind + p.in_c);
            }
        }
    }
}

#[inline(always)]
unsafe fn put<U: Copy>(to: *mut U, count: usize, value: U) {
    for i in 0..count {
        // SAFETY: the caller's pointer is valid for `count` elements.
        unsafe { *to.add(i) = value };
    }
}
