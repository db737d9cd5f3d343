//! Tiles of one pixel and four filters in assembly.

use crate::kernels::HalfRequant;
use core::arch::asm;
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
        asm!(
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

/// As [`run`], with `windows` windows of eight taps, at least one, and rests. `words` has as many words as a byte can name.
#[inline(never)]
pub(crate) fn run_wide(
    words: &[Cell<i32>],
    windows: usize,
    w: &[i32],
    rests: &[i8],
    sums: &[Cell<i32>],
    tiles: usize,
) {
    if tiles == 0 {
        return;
    }
    let first = words.as_ptr() as usize;
    let parameters: [usize; 4] =
        [sums.as_ptr() as usize, first, rests.as_ptr() as usize, first + 36 * windows];
    // SAFETY: each of `tiles` tiles reads the words of `windows` windows, eight words of weights for each and one behind them, and the rests that this one counts, any of which names a word. It adds to four accumulators: `add_wide`
    // has compared all of them, few enough for no product to wrap; what is written are cells. r6, r7, r11 and the stack are restored.
    unsafe {
        asm!(
            "
            .macro kiln_tap
            ldm r3!, {{r0}}
            ldm r2!, {{r1}}
            lsrs r4, r1, #8
            ands r4, r4, r7
            muls r4, r0, r4
            muls r1, r0, r1
            adds r6, r6, r4
            adds r5, r5, r1
            .endm
            // The rests of filter `at`, r4 being the product of one.
            .macro kiln_rests at
            ldrb r1, [r2, #\\at]
            cmp r1, #0
            beq 5f
            4:
            ldrb r0, [r3, #0]
            lsls r0, r0, #2
            ldr r0, [r6, r0]
            ldrb r4, [r3, #1]
            sxtb r4, r4
            muls r4, r0, r4
            .if \\at == 0
            add r9, r4
            .elseif \\at == 2
            add r11, r4
            .else
            lsls r5, r4, #16
            .if \\at == 1
            add r10, r4
            add r9, r5
            .else
            add r12, r4
            add r11, r5
            .endif
            .endif
            adds r3, r3, #2
            subs r1, r1, #1
            bne 4b
            5:
            .endm

            push {{r6, r7}}
            mov r6, r11
            push {{r1, r6}}
            ldm r0!, {{r4, r5, r6}}
            ldr r0, [r0]
            mov lr, r0
            push {{r4, r5, r6}}
            mov r7, r3
            // A tile. On the stack: accumulators, words, rests, tiles.
            2:
            ldr r0, [sp, #0]
            ldm r0!, {{r3, r4, r5, r6}}
            mov r9, r3
            mov r10, r4
            mov r11, r5
            mov r12, r6
            ldr r3, [sp, #4]
            // A window: 75 instructions for 32 products.
            3:
            ldm r3!, {{r0}}
            ldm r2!, {{r5}}
            lsrs r6, r5, #8
            ands r6, r6, r7
            muls r6, r0, r6
            muls r5, r0, r5
            .rept 7
            kiln_tap
            .endr
            // The product with all four bytes, less 256 times that with the upper ones.
            lsls r0, r6, #8
            subs r5, r5, r0
            ldm r3!, {{r0}}
            adds r5, r5, r0
            adds r6, r6, r0
            add r9, r5
            lsrs r5, r5, #16
            add r10, r5
            add r11, r6
            lsrs r6, r6, #16
            add r12, r6
            cmp r3, lr
            bne 3b
            ldr r3, [sp, #8]
            ldr r6, [sp, #4]
            kiln_rests 0
            kiln_rests 1
            kiln_rests 2
            kiln_rests 3
            str r3, [sp, #8]
            adds r2, r2, #4
            ldr r0, [sp, #0]
            mov r3, r9
            mov r4, r10
            mov r5, r11
            mov r6, r12
            stm r0!, {{r3, r4, r5, r6}}
            str r0, [sp, #0]
            ldr r0, [sp, #12]
            subs r0, r0, #1
            str r0, [sp, #12]
            beq 6f
            b 2b
            6:
            add sp, #16
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            .purgem kiln_tap
            .purgem kiln_rests
            ",
            inout("r0") parameters.as_ptr() => _,
            inout("r1") tiles => _,
            inout("r2") w.as_ptr() => _,
            inout("r3") 0x00ff_00ff => _,
            out("r4") _, out("r5") _,
            out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}

/// Results of filters from their accumulators, `q` and `h` of each two, with the constants that `channels` begins with. Nothing is written where any are missing.
#[inline(never)]
pub(crate) fn finish(q: &HalfRequant<'_>, channels: &[i32], sums: &[Cell<i32>], out: &[Cell<i8>]) {
    let fits = matches!(q.words, 3 | 5) && channels.len() / q.words.max(1) >= out.len();
    if out.is_empty() || !fits || sums.len() < out.len().next_multiple_of(2) {
        return;
    }
    let parameters: [usize; 7] = [
        q.shift as usize,
        channels.as_ptr() as usize,
        sums.as_ptr() as usize,
        out.as_ptr() as usize,
        out.len(),
        q.hi.wrapping_sub(q.lo) as usize,
        q.hi as usize,
    ];
    // SAFETY: there are constants, accumulators and a place for each result: see above. What is written are cells. r6, r7, r11 and the stack are restored.
    unsafe {
        asm!(
            requantised!("#0", "#4"),
            "
            .macro kiln_result
            mov r6, r12
            cmp r6, #3
            bne 5f
            ldm r0!, {{r1, r2, r3}}
            b 6f
            5:
            ldr r1, [r0, #0]
            ldr r2, [r0, #12]
            cmp r4, r1
            bge 5f
            ldr r2, [r0, #4]
            5:
            ldr r1, [r0, #8]
            ldr r3, [r0, #16]
            adds r0, r0, #20
            6:
            kiln_requantised
            mov r6, r9
            strb r5, [r6, #0]
            adds r6, r6, #1
            mov r9, r6
            mov r6, r10
            subs r6, r6, #1
            mov r10, r6
            .endm

            push {{r6, r7}}
            mov r6, r11
            push {{r6}}
            mov r12, r1
            ldm r0!, {{r1, r2, r3, r4, r5, r6, r7}}
            push {{r6, r7}}
            mov r7, r1
            mov r8, r3
            mov r9, r4
            mov r10, r5
            mov r0, r2
            2:
            mov r6, r8
            ldm r6!, {{r4, r5}}
            mov r8, r6
            mov r11, r5
            lsls r5, r5, #16
            subs r4, r4, r5
            kiln_result
            beq 7f
            mov r4, r11
            kiln_result
            beq 7f
            b 2b
            7:
            add sp, #8
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            .purgem kiln_requantised
            .purgem kiln_result
            ",
            inout("r0") parameters.as_ptr() => _,
            inout("r1") q.words => _,
            out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _,
        );
    }
}
