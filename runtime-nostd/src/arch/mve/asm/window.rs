//! Runs of bytes in assembly.

/// Copies `runs` runs of `run` bytes, which follow each other in `from` and begin `step` bytes from each other in `to`.
///
/// # Safety
///
/// Both have so many bytes, in one thread's memory that may be read and written. They do not overlap. `runs` and `run` are not 0.
pub(crate) unsafe fn copy_runs(from: *const u8, to: *mut u8, runs: usize, run: usize, step: usize) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        if run <= 16 {
            core::arch::asm!(
                "vctp.8 {run}",
                "2:",
                "vpst",
                "vldrbt.8 q0, [{from}]",
                "add {from}, {from}, {run}",
                "vpst",
                "vstrbt.8 q0, [{to}]",
                "add {to}, {to}, {step}",
                "subs {runs}, {runs}, #1",
                "bne 2b",
                run = in(reg) run, step = in(reg) step,
                from = inout(reg) from => _, to = inout(reg) to => _, runs = inout(reg) runs => _,
                out("d0") _, out("d1") _,
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
