//! Tiles of layers of any shape in assembly: what is an immediate in [`conv`](super::conv) is a word in memory here.

use super::pieces::{entry, shifts, STEP, UNROLL};
use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::tile::{Shape, Tiles, FIRST_WORDS};
use crate::arch::extent::product;

/// What the block reads, in its order: addresses, counts and distances.
#[repr(C)]
struct Registers {
    /// The result of the first filter of a quad for the first pixel.
    y: usize,
    /// The first taps.
    x: usize,
    /// Behind the last quad.
    w_end: usize,
    /// Behind the first pixel's taps.
    x_end: usize,
    /// Pairs of pixels.
    count: usize,
    /// From the result behind the last filter to the next pair's first.
    y_step: usize,
    /// The weights.
    w: usize,
    /// From a result of the first pixel to that of the second.
    second: usize,
    /// [`Shape::xd`].
    xd: usize,
    /// Where the loop is entered, in bytes from its first step.
    entry: usize,
    /// From one channel's result to the next.
    channel: usize,
}

/// All quads for pairs of pixels, requantised. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn pairs_of_any<const SHIFT: u32, const SIGNED: bool>(t: Tiles<'_>, shape: &Shape) {
    let &Shape { xd, pairs, out } = shape;
    let quad = FIRST_WORDS + 2 * pairs + requant_words(SIGNED);
    let (Some(last_pair), Some(last_channel)) =
        ((t.pixels / 2).checked_sub(1), t.quads.wrapping_mul(4).checked_sub(1))
    else {
        return;
    };
    // Where it wraps, there are fewer weights than `fits` asks for: four words at least of each quad.
    let last = product(2 * last_pair + 1, out.pixel).saturating_add(product(last_channel, out.channel));
    let x_end = (2 * last_pair + 1).saturating_mul(xd).saturating_add(t.x_at).saturating_add(4 * pairs);
    let fits = t.w.len() >= t.quads.saturating_mul(quad)
        && 4 * t.x.len() >= x_end
        && t.y.len() > t.at.saturating_add(last);
    if !fits || pairs == 0 {
        return;
    }
    let (x, w) = (t.x.as_ptr() as usize + t.x_at, t.w.as_ptr() as usize);
    let y = t.y.as_ptr() as usize + t.at;
    let registers = Registers {
        y,
        x,
        w_end: w + 4 * t.quads * quad,
        x_end: x + 4 * pairs,
        count: t.pixels / 2,
        y_step: (2 * out.pixel).wrapping_sub(4 * t.quads * out.channel),
        w,
        second: out.pixel,
        xd,
        entry: entry(pairs),
        channel: out.channel,
    };
    // SAFETY: the slices hold all that the block reads and writes, through cells or constants: `fits` has compared the ends of weights, taps and results, in sums that do not wrap;
    // that the taps of a pixel are no more than the work space has, the caller has.
    unsafe { block::<SHIFT, SIGNED>(&registers) }
}

/// The assembly of [`pairs_of_any`].
///
/// r0–r7 accumulate A and A' (the second pixel's), A + 256 · B and its like, and the same of C and D; r8 is the next weight, r9 the next tap; r10, r11, r12 and lr
/// hold a pair of taps: weights, and both pixels' activations.
///
/// # Safety
///
/// The addresses in `registers` are those of memory as large as [`pairs_of_any`] checks.
#[inline(always)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool>(registers: &Registers) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            size!("{repeated}"),
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10}}",
            // The entry as an address. (Where code is not aligned to four bytes, the assembler miscalculates it.)
            ".p2align 2",
            "adr.w r11, 4f",
            "add r9, r9, r11",
            "add r9, r9, #1",
            "push {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10}}",
            // Each pair of pixels.
            "2:",
            "ldr r8, [sp, #24]",
            "ldr r9, [sp, #4]",
            // Each quad.
            "3:",
            "ldr r0, [r8], #16",
            "ldr r2, [r8, #-12]",
            "ldr r4, [r8, #-8]",
            "ldr r6, [r8, #-4]",
            "mov r1, r0",
            "mov r3, r2",
            "mov r5, r4",
            "mov r7, r6",
            "ldr pc, [sp, #36]",
            steps!("32"),
            "ldr r10, [sp, #12]",
            "cmp r9, r10",
            "bne 4b",
            // Sums, factors, results.
            "sub r2, r2, r0",
            "sub r3, r3, r1",
            "sub r6, r6, r4",
            "sub r7, r7, r5",
            ".if {signed}",
            four_words!("r10" "r11" "r12" "lr" from "r8"),
            corrected_pair!(),
            ".endif",
            four_words!("r10" "r11" "r12" "lr" from "r8"),
            "smmlar r0, r0, r10, r11",
            "smmlar r1, r1, r10, r11",
            "smmlar r2, r2, r12, lr",
            "smmlar r3, r3, r12, lr",
            four_words!("r10" "r11" "r12" "lr" from "r8"),
            "ldr r9, [sp]",
            "smmlar r4, r4, r10, r11",
            "smmlar r5, r5, r10, r11",
            "smmlar r6, r6, r12, lr",
            "smmlar r7, r7, r12, lr",
            saturated!("{even_shift}": "r0" "r1" "r4" "r5"),
            saturated!("{odd_shift}": "r2" "r3" "r6" "r7"),
            "ldr r10, [sp, #28]",
            "ldr r11, [sp, #40]",
            "add r10, r10, r9",
            "add r12, r11, r11, lsl #1",
            "strb r0, [r9]",
            "strb r2, [r9, r11]",
            "strb r4, [r9, r11, lsl #1]",
            "strb r6, [r9, r12]",
            "strb r1, [r10]",
            "strb r3, [r10, r11]",
            "strb r5, [r10, r11, lsl #1]",
            "strb r7, [r10, r12]",
            "ldr r10, [sp, #8]",
            "add r9, r9, r11, lsl #2",
            "str r9, [sp]",
            "ldr r9, [sp, #4]",
            "cmp r8, r10",
            "bne 3b",
            // The next pair of pixels.
            "ldr r10, [sp, #16]",
            "ldr r11, [sp, #20]",
            "ldr r12, [sp]",
            "ldr lr, [sp, #12]",
            "ldr r8, [sp, #32]",
            "add lr, lr, r8, lsl #1",
            "add r9, r9, r8, lsl #1",
            "add r12, r12, r11",
            "str lr, [sp, #12]",
            "str r9, [sp, #4]",
            "str r12, [sp]",
            "subs r10, r10, #1",
            "str r10, [sp, #16]",
            "bne 2b",
            "add sp, sp, #44",
            "pop {{r6, r7}}",
            unroll = const UNROLL,
            step = const STEP,
            repeated = const UNROLL * STEP,
            even_shift = const { shifts(SHIFT, SIGNED)[0] },
            odd_shift = const { shifts(SHIFT, SIGNED)[1] },
            signed = const { SIGNED as usize },
            inout("r0") registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
