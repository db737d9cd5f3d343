//! Runs of bytes in assembly.

/// Copies `runs` runs of `run` bytes, which follow each other in `from` and begin `step` bytes from each other in `to`.
///
/// # Safety
///
/// Both have so many bytes, in one thread's memory that may be read and written. Where they overlap, what is copied may have been written before. `runs` and `run` are not 0.
#[inline(never)]
pub(crate) unsafe fn copy_runs(from: *const u8, to: *mut u8, runs: usize, run: usize, step: usize) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        if run == 16 {
            core::arch::asm!(
                "2:",
                "vldrb.8 q0, [{from}], #16",
                "vstrb.8 q0, [{to}]",
                "add {to}, {to}, {step}",
                "le lr, 2b",
                step = in(reg) step, from = inout(reg) from => _, to = inout(reg) to => _,
                inout("lr") runs => _, out("d0") _, out("d1") _,
            );
        } else if run < 16 {
            core::arch::asm!(
                "vctp.8 {run}",
                "2:",
                "vpstt",
                "vldrbt.8 q0, [{from}]",
                "vstrbt.8 q0, [{to}]",
                "add {from}, {from}, {run}",
                "add {to}, {to}, {step}",
                "le lr, 2b",
                run = in(reg) run, step = in(reg) step,
                from = inout(reg) from => _, to = inout(reg) to => _,
                inout("lr") runs => _, out("d0") _, out("d1") _,
            );
        } else {
            core::arch::asm!(
                "2:",
                "mov {at}, {to}",
                "dlstp.8 lr, {run}",
                "3:",
                "vldrb.8 q0, [{from}], #16",
                "vstrb.8 q0, [{at}], #16",
                "letp lr, 3b",
                // The last vector may not have been full.
                "add {from}, {start}, {run}",
                "mov {start}, {from}",
                "add {to}, {to}, {step}",
                "subs {runs}, {runs}, #1",
                "bne 2b",
                run = in(reg) run, step = in(reg) step, at = out(reg) _, start = inout(reg) from => _,
                from = inout(reg) from => _, to = inout(reg) to => _, runs = inout(reg) runs => _,
                out("lr") _, out("d0") _, out("d1") _,
            );
        }
    }
}

/// Copies runs of one byte or three, which follow each other in `from` and begin `step` bytes from each other in `to`: `vectors` of eight bytes at a time.
///
/// # Safety
///
/// As [`copy_runs`], with `bytes` in all runs together, and `offsets` of the first ones in `to`, eight for each vector, as many vectors as come together. They move on by `next`.
#[inline(never)]
pub(crate) unsafe fn scatter(
    from: *const u8,
    to: *mut u8,
    bytes: usize,
    offsets: &[u16; 24],
    vectors: usize,
    next: usize,
) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        if vectors == 1 {
            core::arch::asm!(
                "vldrh.16 q2, [{offsets}]",
                "dlstp.16 lr, {bytes}",
                "2:",
                "vldrb.u16 q0, [r0], #8",
                "vstrb.16 q0, [{to}, q2]",
                "add {to}, {to}, {next}",
                "letp lr, 2b",
                offsets = in(reg) offsets.as_ptr(), bytes = in(reg) bytes, next = in(reg) next,
                to = inout(reg) to => _, inout("r0") from => _,
                out("lr") _, out("d0") _, out("d1") _, out("d4") _, out("d5") _,
            );
            return;
        }
        let (groups, rest) = (bytes / 24, bytes % 24);
        core::arch::asm!(
            "vldrh.16 q3, [{offsets}]",
            "vldrh.16 q4, [{offsets}, #16]",
            "vldrh.16 q5, [{offsets}, #32]",
            "cbz r3, 3f",
            "mov lr, r3",
            "2:",
            "vldrb.u16 q0, [r0]",
            "vldrb.u16 q1, [r0, #8]",
            "vldrb.u16 q2, [r0, #16]",
            "vstrb.16 q0, [{to}, q3]",
            "vstrb.16 q1, [{to}, q4]",
            "vstrb.16 q2, [{to}, q5]",
            "adds r0, #24",
            "add {to}, {to}, {next}",
            "le lr, 2b",
            "3:",
            // Behind the last whole group.
            "vctp.16 {rest}",
            "vpstt",
            "vldrbt.u16 q0, [r0]",
            "vstrbt.16 q0, [{to}, q3]",
            "subs {rest}, {rest}, #8",
            "ble 4f",
            "vctp.16 {rest}",
            "vpstt",
            "vldrbt.u16 q0, [r0, #8]",
            "vstrbt.16 q0, [{to}, q4]",
            "subs {rest}, {rest}, #8",
            "ble 4f",
            "vctp.16 {rest}",
            "vpstt",
            "vldrbt.u16 q0, [r0, #16]",
            "vstrbt.16 q0, [{to}, q5]",
            "4:",
            offsets = in(reg) offsets.as_ptr(), rest = inout(reg) rest => _, next = in(reg) next,
            to = inout(reg) to => _, inout("r0") from => _, inout("r3") groups => _,
            out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        );
    }
}
