//! Four filters of single pixels in assembly.

use super::pieces::shifts;
use crate::arch::dsp::taps::{Run, Taps};
use core::cell::Cell;

impl Taps<'_> {
    /// What the assembly is told of them: the first run, where the runs end, and how many elements are behind the words of each. That end is odd if there are any.
    #[inline(always)]
    pub(super) fn registers(&self) -> [usize; 3] {
        let first = self.runs.as_ptr() as usize;
        [first, first + self.len * size_of::<Run<'_>>() + usize::from(self.rest > 0), self.rest]
    }
}

/// Results of all filters, requantised.
///
/// # Safety
///
/// There are taps, weights of as many quads as `y` needs, and a cell.
#[inline(always)]
pub(crate) unsafe fn quads<const SHIFT: u32, const SIGNED: bool>(taps: &Taps<'_>, w: &[i32], y: &[Cell<i8>]) {
    let [first, end, rest] = taps.registers();
    let registers = [y.as_ptr() as usize, y.len(), first, end, rest, w.as_ptr() as usize];
    // SAFETY: as the caller promises.
    unsafe { block::<SHIFT, SIGNED, false>(&registers) }
}

/// Sums of the filters of one quad.
///
/// # Safety
///
/// There are taps, and weights of one quad.
#[inline(always)]
pub(crate) unsafe fn sums_of_quad(taps: &Taps<'_>, w: &[i32], sums: &mut [i32; 4]) {
    let [first, end, rest] = taps.registers();
    let registers = [sums.as_mut_ptr() as usize, 4, first, end, rest, w.as_ptr() as usize];
    // SAFETY: as the caller promises.
    unsafe { block::<0, false, true>(&registers) }
}

/// Words of four elements in a turn of the loop, and the bytes of code of each.
const UNROLL: usize = 16;

const STEP: usize = 76;

/// The assembly of [`quads`], and with `SUMS` of [`sums_of_quad`], which goes to `y` as words.
///
/// r0–r3 accumulate A, A + 256 · B, C and C + 256 · D; r8 is the next weight, r9 the next element, r6 where the run's words end, r7 the next run; r4 and
/// r5 hold four elements, r10, r11, r12 and lr their weights.
///
/// # Safety
///
/// `registers` are the address of results and how many they are, [`Taps::registers`], and the address of the weights of as many quads as they need.
#[inline(never)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool, const SUMS: bool>(registers: &[usize; 6]) {
    // SAFETY: as the caller promises; the runs are what slices hold. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            size!("{repeated}"),
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r8}}",
            "push {{r0, r1, r2, r3, r4}}",
            // Where each run enters the loop.
            "bic r3, r3, #1",
            "mov r6, #{step}",
            "2:",
            "ldr r4, [r2, #4]",
            "ldr r5, [r2, #8]",
            "sub r4, r4, r5",
            "lsrs r4, r4, #2",
            "rsb r4, r4, #0",
            "ite ne",
            "andne r4, r4, #({unroll} - 1)",
            "moveq r4, #{unroll}",
            "mul r4, r4, r6",
            "str r4, [r2], #12",
            "cmp r2, r3",
            "bne 2b",
            // Each quad.
            "22:",
            "ldr r7, [sp, #8]",
            four_words!("r0" "r1" "r2" "r3" from "r8"),
            // Each run.
            "3:",
            "ldr r5, [r7], #12",
            "ldr r6, [r7, #-8]",
            "ldr r9, [r7, #-4]",
            // The program counter reads as the address behind the next instruction.
            "add pc, r5",
            "nop",
            "4:",
            ".rept {unroll}",
            "ldr r4, [r9], #4",
            "ldr r10, [r8], #16",
            "ldr r11, [r8, #-12]",
            "ldr r12, [r8, #-8]",
            "ldr lr, [r8, #-4]",
            four_elements!(),
            ".endr",
            ".if (. - 4b) != ({unroll} * {step})",
            ".error \"the steps of the loop are not as long as their entries assume\"",
            ".endif",
            "cmp r9, r6",
            "bne 4b",
            "ldr r4, [sp, #12]",
            "cmp r7, r4",
            "bne 8f",
            // Sums and results.
            "5:",
            "sub r1, r1, r0",
            "sub r3, r3, r2",
            ".if {sums}",
            "ldr r9, [sp]",
            "stm r9, {{r0, r1, r2, r3}}",
            "b 7f",
            ".endif",
            ".if {signed}",
            four_words!("r4" "r5" "r6" "r7" from "r8"),
            corrected_single!(),
            ".endif",
            "ldr r4, [r8], #32",
            "ldr r5, [r8, #-28]",
            "ldr r6, [r8, #-24]",
            "ldr r7, [r8, #-20]",
            "ldr r10, [r8, #-16]",
            "ldr r11, [r8, #-12]",
            "ldr r12, [r8, #-8]",
            "ldr lr, [r8, #-4]",
            "ldr r9, [sp]",
            "smmlar r0, r0, r4, r5",
            "smmlar r1, r1, r6, r7",
            "smmlar r2, r2, r10, r11",
            "smmlar r3, r3, r12, lr",
            saturated!("{even_shift}": "r0" "r2"),
            saturated!("{odd_shift}": "r1" "r3"),
            "ldr r4, [sp, #4]",
            "subs r4, r4, #4",
            "blt 6f",
            "strb r0, [r9], #4",
            "strb r1, [r9, #-3]",
            "strb r2, [r9, #-2]",
            "strb r3, [r9, #-1]",
            "str r9, [sp]",
            "str r4, [sp, #4]",
            "bne 22b",
            "b 7f",
            // One to three results.
            "6:",
            "strb r0, [r9]",
            "cmp r4, #-3",
            "beq 7f",
            "strb r1, [r9, #1]",
            "cmp r4, #-2",
            "beq 7f",
            "strb r2, [r9, #2]",
            "b 7f",
            // Another run, if none has elements behind its words.
            "8:",
            "ldr r5, [sp, #16]",
            "cmp r5, #0",
            "beq 3b",
            // One to three elements; the end of the runs is odd then.
            "11:",
            "ldrsb r4, [r9], #1",
            "cmp r5, #1",
            "beq 9f",
            "ldrsb r12, [r9], #1",
            "pkhbt r4, r4, r12, lsl #16",
            "9:",
            "ldr r10, [r8], #8",
            "ldr r11, [r8, #-4]",
            "smlad r1, r4, r10, r1",
            "sxtb16 r10, r10",
            "smlad r3, r4, r11, r3",
            "sxtb16 r11, r11",
            "smlad r0, r4, r10, r0",
            "smlad r2, r4, r11, r2",
            "subs r5, r5, #2",
            "bgt 11b",
            "ldr r4, [sp, #12]",
            "sub r4, r4, #1",
            "cmp r7, r4",
            "bne 3b",
            "b 5b",
            "7:",
            "add sp, sp, #20",
            "pop {{r6, r7}}",
            unroll = const UNROLL,
            step = const STEP,
            repeated = const UNROLL * STEP,
            sums = const { SUMS as usize },
            signed = const { SIGNED as usize },
            even_shift = const { shifts(SHIFT, SIGNED)[0] },
            odd_shift = const { shifts(SHIFT, SIGNED)[1] },
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
