//! Moving bytes in plain Rust.

/// One byte after the other.
///
/// # Safety
/// `n` bytes may be read and written.
#[allow(unsafe_code)]
pub(crate) unsafe fn bytes(x: *const u8, y: *mut u8, n: usize) {
    for i in 0..n {
        // SAFETY: the caller allows it.
        unsafe { y.add(i).write(x.add(i).read()) };
    }
}
