//! What is Cortex-M about a firmware: its start, its faults, its way to a debugger.
use crate::platform;
use core::arch::asm;
pub use cortex_m_rt::entry;
use cortex_m_rt::{exception, ExceptionFrame};

/// Second-stage boot loader, which the RP2040's ROM copies to RAM and runs.
#[cfg(feature = "boot2-w25q080")]
#[link_section = ".boot2"]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    platform::print(c"kiln-harness: hard fault");
    platform::exit(102)
}

#[exception]
unsafe fn DefaultHandler(_: i16) -> ! {
    platform::print(c"kiln-harness: unexpected exception");
    platform::exit(103)
}

/// Asks the debugger to do `operation`.
///
/// # Safety
/// `argument` is what `operation` takes, and buffers it names are valid.
pub(crate) unsafe fn semihosting(operation: usize, argument: usize) -> usize {
    let answer;
    // SAFETY: the caller vouches for the arguments; the debugger changes r0 and the named buffers only.
    unsafe {
        asm!("bkpt 0xab", inout("r0") operation => answer, in("r1") argument, options(nostack, preserves_flags));
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
            "mov {top}, sp",
            "2:",
            "cmp {word}, {top}",
            "bhs 3f",
            "str {value}, [{word}]",
            "adds {word}, #4",
            "b 2b",
            "3:",
            top = out(reg) top,
            word = inout(reg) bottom => _,
            value = in(reg) value,
        );
    }
    top
}
