//! Runs of bytes.
#![allow(unsafe_code)]

/// Copies `runs` runs of `run` bytes, which follow each other in `from` and begin `step` bytes from each other in `to`.
///
/// # Safety
///
/// Both have so many bytes, in one thread's memory that may be read and written. They do not overlap.
pub(crate) unsafe fn copy_runs(from: *const u8, to: *mut u8, runs: usize, run: usize, step: usize) {
    for r in 0..runs {
        // SAFETY: as the caller promises.
        unsafe { core::ptr::copy_nonoverlapping(from.add(r * run), to.add(r * step), run) }
    }
}
