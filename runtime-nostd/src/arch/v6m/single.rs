//! Tiles of one pixel and four filters.
//!
//! A tap has one word of weights, 128 more than they are: filters 0, 2, 1, 3 from the lowest byte on. With every second byte taken out, the word is
//! weights 1 · 2¹⁶ + 0, or 3 · 2¹⁶ + 2, of which one multiplication makes two products.

use super::operand::Words;
use core::cell::Cell;

/// Adds the products of `windows` windows to the accumulators of tiles: `q` and `h` of filters 0 and 1, then those of 2 and 3. Weights that are missing end it.
pub(super) fn add(words: &Words, windows: usize, w: &[i32], sums: &[Cell<i32>]) {
    let size = 2 * windows;
    let tiles = sums.len() / 4;
    if windows == 0 || windows > words.len() / 3 || w.len() < size * tiles {
        return;
    }
    run(words, windows, w, sums, tiles);
}

#[cfg(not(kiln_v6m))]
fn run(words: &Words, windows: usize, w: &[i32], sums: &[Cell<i32>], tiles: usize) {
    for (w, sums) in w.chunks_exact(2 * windows).zip(sums.chunks_exact(4)).take(tiles) {
        for (words, w) in words.chunks_exact(3).zip(w.chunks_exact(2)) {
            let ([x0, x1, correction], [w0, w1], [q0, h0, q1, h1]) = (words, w, sums) else { return };
            for (shift, q, h) in [(0, q0, h0), (8, q1, h1)] {
                let product = |x: &Cell<i32>, w: i32| x.get().wrapping_mul(w >> shift & 0x00ff_00ff);
                let window = product(x0, *w0).wrapping_add(product(x1, *w1)).wrapping_add(correction.get());
                q.set(q.get().wrapping_add(window));
                h.set(h.get().wrapping_add((window as u32 >> 16) as i32));
            }
        }
    }
}

#[cfg(kiln_v6m)]
#[inline(never)]
#[allow(unsafe_code)]
fn run(words: &Words, windows: usize, w: &[i32], sums: &[Cell<i32>], tiles: usize) {
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
