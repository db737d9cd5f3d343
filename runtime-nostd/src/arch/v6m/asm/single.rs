//! Tiles of one pixel and four filters in assembly.

use core::cell::Cell;

/// The products of `windows` windows, at least one, for so many tiles.
#[inline(never)]
pub(crate) fn run(words: &[Cell<i32>], windows: usize, w: &[i32], sums: &[Cell<i32>], tiles: usize) {
    if tiles == 0 {
        return;
    }
    let parameters: [usize; 3] =
        [sums.as_ptr() as usize, words.as_ptr() as usize, words.as_ptr() as usize + 12 * windows];
    // SAFETY: each of `tiles` tiles reads the words of `windows` windows and two words of weights for each, and adds to four accumulators: `add`
    // has compared all of them, few enough for no product to wrap; what is written are cells. r6, r7, r11 and the stack are restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "mov r6, r11",
            "push {{r1, r6}}",
            "ldm r0!, {{r4, r5, r6}}",
            "mov lr, r6",
            "push {{r4, r5}}",
            "mov r7, r3",
            // A tile. On the stack: accumulators, words, tiles.
            "2:",
            "ldr r0, [sp, #0]",
            "ldm r0!, {{r3, r4, r5, r6}}",
            "mov r9, r3",
            "mov r10, r4",
            "mov r11, r5",
            "mov r12, r6",
            "ldr r3, [sp, #4]",
            // A window: 24 instructions for 8 products.
            "3:",
            "ldm r3!, {{r0, r4}}",
            "ldm r2!, {{r5}}",
            "lsrs r6, r5, #8",
            "ands r6, r6, r7",
            "muls r6, r0, r6",
            "muls r5, r0, r5",
            "ldm r2!, {{r0}}",
            "lsrs r1, r0, #8",
            "ands r1, r1, r7",
            "muls r1, r4, r1",
            "muls r0, r4, r0",
            "adds r6, r6, r1",
            "adds r5, r5, r0",
            // The first product with all four bytes, less 256 times that with the upper ones.
            "lsls r0, r6, #8",
            "subs r5, r5, r0",
            "ldm r3!, {{r0}}",
            "adds r5, r5, r0",
            "adds r6, r6, r0",
            "add r9, r5",
            "lsrs r5, r5, #16",
            "add r10, r5",
            "add r11, r6",
            "lsrs r6, r6, #16",
            "add r12, r6",
            "cmp r3, lr",
            "bne 3b",
            "ldr r0, [sp, #0]",
            "mov r3, r9",
            "mov r4, r10",
            "mov r5, r11",
            "mov r6, r12",
            "stm r0!, {{r3, r4, r5, r6}}",
            "str r0, [sp, #0]",
            "ldr r0, [sp, #8]",
            "subs r0, r0, #1",
            "str r0, [sp, #8]",
            "bne 2b",
            "add sp, #12",
            "pop {{r6}}",
            "mov r11, r6",
            "pop {{r6, r7}}",
            inout("r0") parameters.as_ptr() => _,
            inout("r1") tiles => _,
            inout("r2") w.as_ptr() => _,
            inout("r3") 0x00ff_00ff => _,
            out("r4") _, out("r5") _,
            out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
