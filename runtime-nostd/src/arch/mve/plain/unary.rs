//! Tables in plain Rust.
#![allow(unsafe_code)]

/// The entries of a table that `n` bytes name.
///
/// # Safety
///
/// `n` bytes may be read and written. Results may lie over operands at the same place or before.
pub(crate) unsafe fn entries(table: &[u8; 256], x: *const u8, y: *mut u8, n: usize) {
    for i in 0..n {
        // SAFETY: as the caller promises.
        let x = unsafe { *x.add(i) };
        let entry = table.get(usize::from(x)).copied().unwrap_or(0);
        // SAFETY: as above.
        unsafe { *y.add(i) = entry };
    }
}
