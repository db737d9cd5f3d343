//! Moving bytes in assembly.

/// Sixteen bytes in three instructions.
///
/// # Safety
/// `n` bytes may be read and written, one at least.
#[inline(never)]
pub(crate) unsafe fn bytes(x: *const u8, y: *mut u8, n: usize) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "dlstp.8 lr, {n}",
            "2:",
            "vldrb.8 q0, [r0], #16",
            "vstrb.8 q0, [r1], #16",
            "letp lr, 2b",
            n = in(reg) n,
            inout("r0") x => _, inout("r1") y => _, out("lr") _, out("d0") _, out("d1") _,
        );
    }
}
