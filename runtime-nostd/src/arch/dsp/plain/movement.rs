//! Moving words in plain Rust.

/// One word after the other.
///
/// # Safety
/// `n` words may be read and written.
pub(crate) unsafe fn words(x: *const u32, y: *mut u32, n: usize) {
    for i in 0..n {
        // SAFETY: the caller allows it.
        unsafe { y.add(i).write(x.add(i).read()) };
    }
}
