//! Starts the second core of Arm's SSE-200, which the MPS2 AN521 has. Chips differ here: on RP2040 and RP2350 the crates of the chip do it
//! (`rp2040_hal::multicore`, `embassy_rp::multicore::spawn_core1`).
use core::arch::global_asm;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// What the second core runs.
static RUN: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Its stack.
#[repr(C, align(8))]
struct Stack([u32; 1024]);

static mut STACK: Stack = Stack([0; 1024]);

/// What it reads when it starts: its stack pointer, its first instruction, and what answers its faults.
#[repr(C, align(512))]
struct Vectors {
    stack: *const Stack,
    handlers: [unsafe extern "C" fn() -> !; 15],
}

// SAFETY: only the second core writes through the pointer, and it is its stack.
unsafe impl Sync for Vectors {}

static VECTORS: Vectors =
    Vectors { stack: (&raw const STACK).wrapping_add(1), handlers: [second_core_start; 15] };

// The floating-point unit is off after a reset. It goes on before any function may save its registers.
global_asm!(
    ".global second_core_start",
    ".thumb_func",
    "second_core_start:",
    "ldr r0, =0xe000ed88",
    "ldr r1, [r0]",
    "orr r1, r1, #0xf00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "b {main}",
    main = sym second_main,
);

unsafe extern "C" {
    fn second_core_start() -> !;
}

extern "C" fn second_main() -> ! {
    let run = RUN.load(Ordering::Acquire);
    // SAFETY: `start` stored a function of that type before it let the core go.
    let run: fn() -> ! = unsafe { core::mem::transmute(run) };
    run()
}

/// Has the second core run a function.
///
/// # Safety
/// Nobody has started it yet.
pub unsafe fn start(run: fn() -> !) {
    // System control registers of the SSE-200.
    const INITSVTOR1: *mut u32 = 0x5002_1114 as *mut u32;
    const CPUWAIT: *mut u32 = 0x5002_1118 as *mut u32;
    RUN.store(run as *mut (), Ordering::Release);
    // SAFETY: these are registers of the board that this firmware is linked for.
    unsafe {
        ptr::write_volatile(INITSVTOR1, &raw const VECTORS as u32);
        ptr::write_volatile(CPUWAIT, 0);
    }
}
