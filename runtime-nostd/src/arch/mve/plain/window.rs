//! Runs of bytes.
#![allow(unsafe_code)]

/// Copies `runs` runs of `run` bytes, which follow each other in `from` and begin `step` bytes from each other in `to`.
///
/// # Safety
///
/// Both have so many bytes, in one thread's memory that may be read and written. Where they overlap, what is copied may have been written before.
pub(crate) unsafe fn copy_runs(from: *const u8, to: *mut u8, runs: usize, run: usize, step: usize) {
    for r in 0..runs {
        // SAFETY: as the caller promises.
        unsafe { core::ptr::copy(from.add(r * run), to.add(r * step), run) }
    }
}

/// Copies runs of one byte or three, which follow each other in `from` and begin `step` bytes from each other in `to`: `vectors` of eight bytes at a time.
///
/// # Safety
///
/// As [`copy_runs`], with `bytes` in all runs together, and `offsets` of the first ones in `to`, eight for each vector, as many vectors as come together. They move on by `next`.
pub(crate) unsafe fn scatter(
    from: *const u8,
    to: *mut u8,
    bytes: usize,
    offsets: &[u16; 24],
    vectors: usize,
    next: usize,
) {
    for at in 0..bytes {
        let (group, lane) = (at / (8 * vectors), at % (8 * vectors));
        let offset = offsets.get(lane).copied().unwrap_or(0);
        // SAFETY: as the caller promises.
        unsafe { *to.add(group * next + usize::from(offset)) = *from.add(at) };
    }
}
