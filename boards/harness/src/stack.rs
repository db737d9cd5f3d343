//! How deep the stack grew, by painting what is free of it.
use crate::arch::fill_to_stack;

const PAINT: u32 = 0x4b49_4c4e;

extern "C" {
    /// First word above the statics (from the linker script of cortex-m-rt or riscv-rt). The stack grows towards it.
    static mut __sheap: u32;
}

/// Bytes of stack that `run` had in use at most.
///
/// Everything between the statics and the stack pointer is painted before, and searched from below for the first word that
/// changed after. Exact to the word as long as the deepest word written is not the paint itself.
#[inline(never)]
pub(crate) fn used_by(run: impl FnOnce()) -> u32 {
    let bottom = &raw mut __sheap;
    // SAFETY: nothing lives between the end of the statics and the stack pointer. All of it is RAM by construction of the linker script.
    let top = unsafe { fill_to_stack(bottom, PAINT) };
    run();
    let mut word = bottom;
    // SAFETY: reads of the words painted above; volatile, because the compiler does not know that they are the stack.
    while word < top && unsafe { word.read_volatile() } == PAINT {
        word = word.wrapping_add(1);
    }
    (top as usize - word as usize) as u32
}
