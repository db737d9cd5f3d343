//! Moving words in assembly.

/// Eight words by one load and eight stores, four times in a turn of the loop, which is entered where as many are left: 2.25 cycles a word. The rest in
/// steps of four, two and one.
///
/// # Safety
/// `n` words may be read and written.
#[inline(never)]
pub(crate) unsafe fn words(x: *const u32, y: *mut u32, n: usize) {
    // SAFETY: as the caller promises. The stack pointer and r6 are as they were when the block ends.
    unsafe {
        core::arch::asm!(
            "push {{r6}}",
            "lsrs r3, r2, #3",
            "beq 3f",
            "rsb r4, r3, #0",
            "and r4, r4, #3",
            "add r3, r3, r4",
            "adr r5, 2f",
            "movs r12, #36",
            "mla r5, r4, r12, r5",
            "orr r5, r5, #1",
            "bx r5",
            ".p2align 2",
            "2:",
            ".rept 4",
            "ldmia.w r0!, {{r4, r5, r6, r8, r9, r10, r12, lr}}",
            "str.w r4, [r1], #4",
            "str.w r5, [r1], #4",
            "str.w r6, [r1], #4",
            "str.w r8, [r1], #4",
            "str.w r9, [r1], #4",
            "str.w r10, [r1], #4",
            "str.w r12, [r1], #4",
            "str.w lr, [r1], #4",
            ".endr",
            ".if (. - 2b) != 4 * 36",
            ".error \"the groups of the loop are not as long as its entry assumes\"",
            ".endif",
            "subs r3, r3, #4",
            "bne 2b",
            "3:",
            // Bit 2 becomes the carry, bit 1 the sign.
            "lsls r3, r2, #30",
            "bcc 4f",
            "ldmia r0!, {{r4, r5, r8, r9}}",
            "stmia r1!, {{r4, r5, r8, r9}}",
            "4:",
            "bpl 5f",
            "ldmia r0!, {{r4, r5}}",
            "stmia r1!, {{r4, r5}}",
            "5:",
            "lsls r2, r2, #31",
            "beq 6f",
            "ldr r4, [r0]",
            "str r4, [r1]",
            "6:",
            "pop {{r6}}",
            inout("r0") x => _, inout("r1") y => _, inout("r2") n => _,
            out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
