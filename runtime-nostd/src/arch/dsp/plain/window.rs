//! Widening elements in plain Rust.

use core::cell::Cell;

/// Copies nothing: all are others.
pub(crate) unsafe fn copy_down<'a>(from: &'a [Cell<i16>], _: &[Cell<i16>]) -> &'a [Cell<i16>] {
    from
}

/// Widens `runs` runs of `words` times four elements, of which the middle two change places; `skip` bytes lie between their results.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
pub(crate) unsafe fn fours(from: *const i8, to: *mut i16, words: usize, runs: usize, skip: usize) {
    for (run, word) in (0..runs).flat_map(|run| (0..words).map(move |word| (run, word))) {
        for (i, j) in [(0, 0), (1, 2), (2, 1), (3, 3)] {
            let at = 4 * (run * words + word);
            // SAFETY: the caller allows it.
            unsafe { to.byte_add(run * skip).add(at + i).write((*from.add(at + j)).into()) };
        }
    }
}

/// Widens `fours` times four runs of three elements, `step` bytes from each other.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
pub(crate) unsafe fn threes(from: *const i8, to: *mut i16, fours: usize, step: usize) {
    for (run, i) in (0..4 * fours).flat_map(|run| (0..3).map(move |i| (run, i))) {
        // SAFETY: the caller allows it.
        unsafe { to.byte_add(run * step).add(i).write((*from.add(3 * run + i)).into()) };
    }
}

/// Widens `runs` elements to places `step` bytes from each other.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
pub(crate) unsafe fn ones(from: *const i8, to: *mut i16, runs: usize, step: usize) {
    for run in 0..runs {
        // SAFETY: the caller allows it.
        unsafe { to.byte_add(run * step).write((*from.add(run)).into()) };
    }
}
