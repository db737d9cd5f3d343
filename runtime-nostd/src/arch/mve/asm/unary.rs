//! Tables in assembly.

/// The entries of a table that `n` bytes name, sixteen bytes at a time.
///
/// # Safety
///
/// `n` bytes may be read and written, one at least. Results may lie over operands at the same place or before.
pub(crate) unsafe fn entries(table: &[u8; 256], x: *const u8, y: *mut u8, n: usize) {
    // SAFETY: as the caller promises. No byte is an index beyond the table. Every register is declared.
    unsafe {
        core::arch::asm!(
            // Two vectors at a time: a gather waits for its addresses.
            "lsrs {pairs}, {n}, #5",
            "beq 3f",
            "dls lr, {pairs}",
            "2:",
            "vldrb.8 q0, [r0], #16",
            "vldrb.8 q1, [r0], #16",
            "vldrb.u8 q2, [{table}, q0]",
            "vldrb.u8 q3, [{table}, q1]",
            "vstrb.8 q2, [r1], #16",
            "vstrb.8 q3, [r1], #16",
            "le lr, 2b",
            "3:",
            "ands {n}, {n}, #31",
            "beq 5f",
            "dlstp.8 lr, {n}",
            "4:",
            "vldrb.8 q0, [r0], #16",
            "vldrb.u8 q2, [{table}, q0]",
            "vstrb.8 q2, [r1], #16",
            "letp lr, 4b",
            "5:",
            table = in(reg) table.as_ptr(), n = inout(reg) n => _, pairs = out(reg) _,
            inout("r0") x => _, inout("r1") y => _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
        );
    }
}
