//! Eight filters of single pixels in assembly.

use super::pieces::shifts;
use crate::arch::dsp::taps::Taps;
use core::cell::Cell;

/// Results of eights of filters, requantised.
///
/// # Safety
///
/// There are taps, eights of cells, at least one, and weights of all.
#[inline(always)]
pub(crate) unsafe fn eights<const SHIFT: u32, const SIGNED: bool>(
    taps: &Taps<'_>,
    w: &[i32],
    y: &[Cell<i8>],
) {
    let (y, y_end) = (y.as_ptr() as usize, y.as_ptr() as usize + y.len());
    let [first, end, rest] = taps.registers();
    // SAFETY: as the caller promises.
    unsafe { block::<SHIFT, SIGNED>(&[y, y_end, first, end, rest, w.as_ptr() as usize]) }
}

/// Pairs of words of four elements in a turn of the loop, and the bytes of code of each.
const UNROLL: usize = 8;

const STEP: usize = 242;

/// Bytes of code of the step for a single word, with what leads on to the loop.
const SINGLE: usize = 156;

/// Assembly: of the length of a run of words in r0 makes how many bytes of the loop it skips, in r1.
macro_rules! skipped {
    () => {
        "lsrs r1, r0, #3
        rsb r1, r1, #0
        ite ne
        andne r1, r1, #({unroll} - 1)
        moveq r1, #{unroll}
        mov r2, #{step}
        mul r1, r1, r2"
    };
}

/// Assembly: the first word of four elements, but for the weights of the last pair of filters for its second pair of taps, which are the next to be loaded.
/// Leaves that pair of taps in r3.
macro_rules! seven_of_eight {
    () => {
        "ldr r3, [r5], #4
        ldr r0, [r4], #4
        ldr r1, [r4], #4
        sxtb16 r2, r3
        smlad r7, r2, r0, r7
        sxtb16 r0, r0
        smlad r9, r2, r1, r9
        sxtb16 r1, r1
        smlad r6, r2, r0, r6
        smlad r8, r2, r1, r8
        ldm r4!, {{r0, r1}}
        smlad r11, r2, r0, r11
        sxtb16 r0, r0
        smlad lr, r2, r1, lr
        sxtb16 r1, r1
        smlad r10, r2, r0, r10
        smlad r12, r2, r1, r12
        sxtb16 r3, r3, ror #8
        ldm r4!, {{r0, r1, r2}}
        smlad r7, r3, r0, r7
        sxtb16 r0, r0
        smlad r9, r3, r1, r9
        sxtb16 r1, r1
        smlad r11, r3, r2, r11
        sxtb16 r2, r2
        smlad r6, r3, r0, r6
        smlad r8, r3, r1, r8
        smlad r10, r3, r2, r10"
    };
}

/// Assembly: what is left of the first word, and all of a second one.
macro_rules! nine_of_eight {
    () => {
        "ldr r0, [r4], #4
        ldr r2, [r5], #4
        ldr r1, [r4], #4
        smlad lr, r3, r0, lr
        sxtb16 r0, r0
        smlad r12, r3, r0, r12
        sxtb16 r3, r2
        smlad r7, r3, r1, r7
        sxtb16 r1, r1
        smlad r6, r3, r1, r6
        ldm r4!, {{r0, r1}}
        smlad r9, r3, r0, r9
        sxtb16 r0, r0
        smlad r11, r3, r1, r11
        sxtb16 r1, r1
        smlad r8, r3, r0, r8
        smlad r10, r3, r1, r10
        ldm r4!, {{r0, r1}}
        smlad lr, r3, r0, lr
        sxtb16 r0, r0
        smlad r12, r3, r0, r12
        sxtb16 r3, r2, ror #8
        smlad r7, r3, r1, r7
        sxtb16 r1, r1
        smlad r6, r3, r1, r6
        ldm r4!, {{r0, r1, r2}}
        smlad r9, r3, r0, r9
        sxtb16 r0, r0
        smlad r11, r3, r1, r11
        sxtb16 r1, r1
        smlad lr, r3, r2, lr
        sxtb16 r2, r2
        smlad r8, r3, r0, r8
        smlad r10, r3, r1, r10
        smlad r12, r3, r2, r12"
    };
}

/// The assembly of [`eights`].
///
/// r6–r12 and lr accumulate A, A + 256 · B, C, C + 256 · D and so on; r4 is the next weight, r5 the next element; r0–r3 hold elements and their weights.
///
/// # Safety
///
/// `registers` are the addresses of results and of their end, which are eights and at least one, [`Taps::registers`], and the address of their weights.
#[inline(never)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool>(registers: &[usize; 6]) {
    // SAFETY: as the caller promises; the runs are what slices hold. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            size!("{repeated}"),
            "push {{r6, r7}}",
            "ldm r0, {{r6, r7, r8, r9, r10}}",
            "ldr r4, [r0, #20]",
            // Where each run enters the steps.
            "mov r3, r8",
            "bic r12, r9, #1",
            "8:",
            "ldr r0, [r3, #4]",
            "ldr r5, [r3, #8]",
            "sub r0, r0, r5",
            skipped!(),
            "addw r1, r1, #{single}",
            "tst r0, #4",
            "it ne",
            "movne r1, #0",
            "str r1, [r3], #12",
            "cmp r3, r12",
            "bne 8b",
            // On the stack: y, its end, the first run, the end of the runs, how much is behind their words; the next run, the end of this one.
            "sub sp, sp, #8",
            "push {{r6, r7, r8, r9, r10}}",
            // Each eight.
            "2:",
            "ldm r4!, {{r6, r7, r8, r9, r10, r11, r12, lr}}",
            "ldr r3, [sp, #8]",
            // Each run.
            "3:",
            "ldm r3!, {{r0, r2, r5}}",
            "str r3, [sp, #20]",
            "str r2, [sp, #24]",
            // The program counter reads as the address behind the next instruction.
            "add pc, r0",
            "nop",
            // A single word, where their number is odd.
            "4:",
            seven_of_eight!(),
            "ldr r0, [r4], #4",
            "smlad lr, r3, r0, lr",
            "sxtb16 r0, r0",
            "smlad r12, r3, r0, r12",
            "ldr r0, [sp, #24]",
            "sub r0, r0, r5",
            skipped!(),
            "add pc, r1",
            "nop",
            // Two words.
            "5:",
            ".rept {unroll}",
            seven_of_eight!(),
            nine_of_eight!(),
            ".endr",
            "6:",
            ".if (6b - 5b) != ({unroll} * {step}) || (5b - 4b) != {single}",
            ".error \"the steps are not as long as their entries assume\"",
            ".endif",
            "ldr r0, [sp, #24]",
            "cmp r5, r0",
            "bne 5b",
            "ldr r3, [sp, #20]",
            "ldr r0, [sp, #12]",
            "cmp r3, r0",
            "bne 9f",
            // Sums and results.
            "7:",
            "sub r7, r7, r6",
            "sub r9, r9, r8",
            "sub r11, r11, r10",
            "sub lr, lr, r12",
            ".if {signed}",
            "ldm r4!, {{r0, r1, r2, r3}}",
            corrected!(even "r6" by "r0" in "r0", odd "r7" by "r1" in "r1"),
            corrected!(even "r8" by "r2" in "r2", odd "r9" by "r3" in "r3"),
            "ldm r4!, {{r0, r1, r2, r3}}",
            corrected!(even "r10" by "r0" in "r0", odd "r11" by "r1" in "r1"),
            corrected!(even "r12" by "r2" in "r2", odd "lr" by "r3" in "r3"),
            ".endif",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r6, r6, r0, r1",
            "smmlar r7, r7, r2, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r8, r8, r0, r1",
            "smmlar r9, r9, r2, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r10, r10, r0, r1",
            "smmlar r11, r11, r2, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r12, r12, r0, r1",
            "smmlar lr, lr, r2, r3",
            "ldr r5, [sp]",
            "ldr r0, [sp, #4]",
            saturated!("{even_shift}": "r6" "r8" "r10" "r12"),
            saturated!("{odd_shift}": "r7" "r9" "r11" "lr"),
            "strb r6, [r5], #8",
            "strb r7, [r5, #-7]",
            "strb r8, [r5, #-6]",
            "strb r9, [r5, #-5]",
            "strb r10, [r5, #-4]",
            "strb r11, [r5, #-3]",
            "strb r12, [r5, #-2]",
            "strb lr, [r5, #-1]",
            "str r5, [sp]",
            "cmp r5, r0",
            "bne 2b",
            "b 14f",
            // Another run, if none has elements behind its words.
            "9:",
            "ldr r2, [sp, #16]",
            "cmp r2, #0",
            "beq 3b",
            // One to three elements; the end of the runs is odd then.
            "11:",
            "ldrsb r3, [r5], #1",
            "cmp r2, #1",
            "beq 12f",
            "ldrsb r0, [r5], #1",
            "pkhbt r3, r3, r0, lsl #16",
            "12:",
            "ldm r4!, {{r0, r1}}",
            "smlad r7, r3, r0, r7",
            "sxtb16 r0, r0",
            "smlad r9, r3, r1, r9",
            "sxtb16 r1, r1",
            "smlad r6, r3, r0, r6",
            "smlad r8, r3, r1, r8",
            "ldm r4!, {{r0, r1}}",
            "smlad r11, r3, r0, r11",
            "sxtb16 r0, r0",
            "smlad lr, r3, r1, lr",
            "sxtb16 r1, r1",
            "smlad r10, r3, r0, r10",
            "smlad r12, r3, r1, r12",
            "subs r2, r2, #2",
            "bgt 11b",
            "ldr r3, [sp, #20]",
            "ldr r0, [sp, #12]",
            "bic r0, r0, #1",
            "cmp r3, r0",
            "bne 3b",
            "b 7b",
            "14:",
            "add sp, sp, #28",
            "pop {{r6, r7}}",
            unroll = const UNROLL,
            step = const STEP,
            single = const SINGLE,
            repeated = const SINGLE + UNROLL * STEP,
            signed = const { SIGNED as usize },
            even_shift = const { shifts(SHIFT, SIGNED)[0] },
            odd_shift = const { shifts(SHIFT, SIGNED)[1] },
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
