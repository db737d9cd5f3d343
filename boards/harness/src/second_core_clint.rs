//! The second hart of a machine with a core-local interruptor (CLINT).
//!
//! It sleeps until its software interrupt is pending. Interrupts stay off, so this one does nothing but end `WFI`.
use super::{help, Stack, STACK};
use core::arch::global_asm;
use kiln::Crew;

/// Where the cores meet. They look again and again: an emulated hart that sleeps is late for the next step.
pub(super) const fn crew() -> Crew {
    Crew::new()
}

// Both harts come here when they start. The first one goes on: it has RAM to initialise. The second one waits for it, with a stack of its own from then on.
global_asm!(
    ".global _mp_hook",
    "_mp_hook:",
    "bnez a0, 1f",
    "li a0, 1",
    "ret",
    "1:",
    "li t0, 8",
    "csrw mie, t0",
    "2:",
    "wfi",
    "csrr t0, mip",
    "andi t0, t0, 8",
    "beqz t0, 2b",
    "la t0, _start_trap",
    "csrw mtvec, t0",
    "la sp, {stack}",
    "li t0, {size}",
    "add sp, sp, t0",
    "j {help}",
    stack = sym STACK,
    size = const size_of::<Stack>(),
    help = sym help,
);

/// Starts the second hart.
///
/// # Safety
/// It has not been started.
pub(super) unsafe fn start() {
    // Its register `msip`, where SiFive's chips and QEMU's `virt` have it.
    const MSIP1: *mut u32 = 0x0200_0004 as *mut u32;
    // SAFETY: a register of the machine that the board's feature names.
    unsafe { MSIP1.write_volatile(1) };
}
