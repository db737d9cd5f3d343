//! What is RISC-V about a firmware: its start, its faults, its way to a debugger.
use crate::platform;
use core::arch::asm;
pub use riscv_rt::entry;

/// Instead of riscv-rt's, which loops.
#[export_name = "ExceptionHandler"]
extern "C" fn exception(_: &riscv_rt::TrapFrame) -> ! {
    platform::print(c"kiln-harness: exception");
    platform::exit(102)
}

/// Instead of riscv-rt's, which loops.
#[export_name = "DefaultHandler"]
extern "C" fn interrupt() -> ! {
    platform::print(c"kiln-harness: unexpected interrupt");
    platform::exit(103)
}

/// Asks the debugger to do `operation` ("RISC-V Semihosting", version 0.3: three instructions, none of them compressed, in one page).
///
/// # Safety
/// `argument` is what `operation` takes, and buffers it names are valid.
pub(crate) unsafe fn semihosting(operation: usize, argument: usize) -> usize {
    let answer;
    // SAFETY: the caller vouches for the arguments; the debugger changes a0 and the named buffers only.
    unsafe {
        asm!(
            ".balign 16",
            ".option push",
            ".option norvc",
            "slli x0, x0, 0x1f",
            "ebreak",
            "srai x0, x0, 7",
            ".option pop",
            inout("a0") operation => answer,
            in("a1") argument,
            options(nostack, preserves_flags),
        );
    }
    answer
}

/// Writes `value` to every word from `bottom` up to the stack pointer, which is returned.
///
/// # Safety
/// What lies between belongs to nobody.
#[inline(always)]
pub(crate) unsafe fn fill_to_stack(bottom: *mut u32, value: u32) -> *mut u32 {
    let top: *mut u32;
    // SAFETY: the caller vouches for the words, and no call is made that could need the stack below.
    unsafe {
        asm!(
            "mv {top}, sp",
            "2:",
            "bgeu {word}, {top}, 3f",
            "sw {value}, 0({word})",
            "addi {word}, {word}, 4",
            "j 2b",
            "3:",
            top = out(reg) top,
            word = inout(reg) bottom => _,
            value = in(reg) value,
        );
    }
    top
}
