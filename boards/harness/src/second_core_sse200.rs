//! The second core of Arm's SSE-200, and the instructions by which Arm's cores wait for each other.
use super::{help, Stack, STACK};
use core::arch::{asm, global_asm};
use core::ptr;
use kiln::{Crew, Signal};

/// Where the cores meet.
pub(super) const fn crew() -> Crew {
    Crew::with_signal(&Events)
}

/// Events, which one core sets and the other one waits for.
struct Events;

impl Signal for Events {
    fn wait(&self) {
        // SAFETY: waits until another core, or an interrupt, sets the event of this one; has no other effect.
        unsafe { asm!("wfe", options(nomem, nostack, preserves_flags)) }
    }

    fn wake(&self) {
        // SAFETY: sets the events of all cores; has no other effect. What was written before is seen before the event.
        unsafe { asm!("dsb", "sev", options(nostack, preserves_flags)) }
    }
}

/// What the second core reads when it starts: its stack pointer and its first instruction, and what answers its faults.
#[repr(C, align(512))]
struct Vectors {
    stack: *const Stack,
    handlers: [unsafe extern "C" fn() -> !; 15],
}

// SAFETY: nothing is written through the pointer but by the second core, whose stack it is.
unsafe impl Sync for Vectors {}

static VECTORS: Vectors = Vectors {
    stack: (&raw const STACK).wrapping_add(1),
    handlers: {
        let mut handlers: [unsafe extern "C" fn() -> !; 15] = [fault; 15];
        handlers[0] = kiln_second_core_start;
        handlers
    },
};

// Turns the floating-point unit on, which is off after a reset: the first thing that a function does may be to save its registers.
global_asm!(
    ".global kiln_second_core_start",
    ".thumb_func",
    "kiln_second_core_start:",
    "ldr r0, =0xe000ed88",
    "ldr r1, [r0]",
    "orr r1, r1, #0xf00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "b {help}",
    help = sym help,
);

unsafe extern "C" {
    fn kiln_second_core_start() -> !;
}

extern "C" fn fault() -> ! {
    crate::platform::print(c"kiln-harness: the second core has a fault");
    crate::platform::exit(104)
}

/// Starts the second core of Arm's SSE-200 (Technical Reference Manual, system control registers): tells it where its vectors are, and lets it go.
///
/// # Safety
/// It has not been started.
pub(super) unsafe fn start() {
    const INITSVTOR1: *mut u32 = 0x5002_1114 as *mut u32;
    const CPUWAIT: *mut u32 = 0x5002_1118 as *mut u32;
    // SAFETY: these are registers of the chip that the board's feature names.
    unsafe {
        ptr::write_volatile(INITSVTOR1, (&raw const VECTORS) as u32);
        ptr::write_volatile(CPUWAIT, 0);
    }
}
