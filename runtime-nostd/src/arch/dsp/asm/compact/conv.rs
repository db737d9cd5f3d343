//! Convolution in tiles in assembly, for layers of any shape.

use super::super::pieces::{entry, shifts, STEP, UNROLL};
use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::compact::Pixels;
use crate::arch::dsp::tile::FIRST_WORDS;
use crate::params::CompactConv;
use core::cell::Cell;

/// What the block reads, in its order.
#[repr(C)]
struct Frame {
    /// 0: the next result of the first pixel.
    y: *const Cell<i8>,
    /// 4: the first taps, and 8: behind the first pixel's.
    x: usize,
    x_end: usize,
    /// 12: the weights.
    w: *const i32,
    /// 16: pairs of pixels.
    count: usize,
    /// 20: [`Pixels::step`].
    step: usize,
    /// 24: where the loop is entered, in bytes from its first step; odd, as addresses of code are.
    entry: usize,
    /// 28: filters.
    filters: usize,
    /// 32 and 36: shifts of even and odd filters.
    shifts: [u32; 2],
    /// 40: whether negative sums are corrected.
    signed: usize,
    /// 44: filters that are left, a variable of the block.
    left: usize,
    /// 48: from a result of the first pixel to that of the second.
    second: usize,
}

/// All filters for some pixels, requantised, channel after channel and pixel after pixel to `out`. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn tiles(p: &CompactConv<'_>, pairs: usize, pixels: Pixels<'_>, out: &[Cell<i8>]) {
    let filters = p.conv.out_c;
    let Some(last) = pixels.count.checked_sub(1) else { return };
    // Pairs of taps are no more than there are words for, so that what is counted in them does not wrap.
    if pairs > pixels.taps.len() {
        return;
    }
    let quad = FIRST_WORDS + 2 * pairs + requant_words(p.signed);
    let fits = p.weights.len() >= filters.div_ceil(4).saturating_mul(quad)
        && 4 * pixels.taps.len()
            >= last.saturating_mul(pixels.step).saturating_add(pixels.from).saturating_add(4 * pairs)
        && out.len() >= pixels.count.saturating_mul(filters)
        && (last == 0 || last % 2 == 1);
    if !fits || pairs == 0 || filters == 0 {
        return;
    }
    let x = pixels.taps.as_ptr() as usize + pixels.from;
    // A single pixel is its own neighbour.
    let (step, second) = if last == 0 { (0, 0) } else { (pixels.step, filters) };
    let frame = Frame {
        y: out.as_ptr(),
        x,
        x_end: x + 4 * pairs,
        w: p.weights.as_ptr(),
        count: pixels.count.div_ceil(2),
        step,
        entry: entry(pairs) + 1,
        filters,
        shifts: shifts(p.shift, p.signed),
        signed: p.signed.into(),
        left: 0,
        second,
    };
    // SAFETY: the slices hold all that the block reads and writes, through cells or constants: `fits` has compared weights, taps and results, in sums that do not wrap.
    unsafe { block(&frame) }
}

/// The assembly of [`tiles`].
///
/// r0–r7 accumulate A and A' (the second pixel's), A + 256 · B and its like, and the same of C and D; r8 is the next weight, r9 the next tap; r10, r11, r12 and lr
/// hold a pair of taps: weights, and both pixels' activations.
///
/// # Safety
///
/// The frame describes memory that is there.
#[inline(always)]
unsafe fn block(frame: &Frame) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            size!("{repeated}"),
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            // The entry as an address. (Where code is not aligned to four bytes, the assembler miscalculates it.)
            ".p2align 2",
            "adr.w lr, 4f",
            "add r6, r6, lr",
            "push {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            // Each pair of pixels.
            "2:",
            "ldr r8, [sp, #12]",
            "ldr r10, [sp, #28]",
            // Each quad.
            "3:",
            "str r10, [sp, #44]",
            "ldr r9, [sp, #4]",
            "ldm r8!, {{r0, r2, r4, r6}}",
            "mov r1, r0",
            "mov r3, r2",
            "mov r5, r4",
            "mov r7, r6",
            "ldr pc, [sp, #24]",
            steps!("20"),
            "ldr r10, [sp, #8]",
            "cmp r9, r10",
            "bne 4b",
            // Sums, factors, results.
            "sub r2, r2, r0",
            "sub r3, r3, r1",
            "sub r6, r6, r4",
            "sub r7, r7, r5",
            "ldr r10, [sp, #40]",
            "cmp r10, #0",
            "beq 5f",
            "ldm r8!, {{r10, r11, r12, lr}}",
            corrected_pair!(),
            "5:",
            "ldm r8!, {{r9, r10, r11, r12}}",
            "smmlar r0, r0, r9, r10",
            "smmlar r1, r1, r9, r10",
            "smmlar r2, r2, r11, r12",
            "smmlar r3, r3, r11, r12",
            "ldm r8!, {{r9, r10, r11, r12}}",
            "smmlar r4, r4, r9, r10",
            "smmlar r5, r5, r9, r10",
            "smmlar r6, r6, r11, r12",
            "smmlar r7, r7, r11, r12",
            "ldrd r9, r10, [sp, #32]",
            "asr r0, r0, r9",
            "asr r1, r1, r9",
            "asr r2, r2, r10",
            "asr r3, r3, r10",
            "asr r4, r4, r9",
            "asr r5, r5, r9",
            "asr r6, r6, r10",
            "asr r7, r7, r10",
            "ssat r0, #8, r0",
            "ssat r1, #8, r1",
            "ssat r2, #8, r2",
            "ssat r3, #8, r3",
            "ssat r4, #8, r4",
            "ssat r5, #8, r5",
            "ssat r6, #8, r6",
            "ssat r7, #8, r7",
            // As many results as there are filters.
            "ldr r9, [sp, #0]",
            "ldrd r10, r11, [sp, #44]",
            "strb r1, [r9, r11]",
            "strb r0, [r9], #1",
            "subs r10, r10, #2",
            "blt 6f",
            "strb r3, [r9, r11]",
            "strb r2, [r9], #1",
            "beq 6f",
            "strb r5, [r9, r11]",
            "strb r4, [r9], #1",
            "subs r10, r10, #2",
            "blt 6f",
            "strb r7, [r9, r11]",
            "strb r6, [r9], #1",
            "6:",
            "str r9, [sp, #0]",
            "bgt 3b",
            // The next pair of pixels: its results begin behind those of the second pixel.
            "add r9, r9, r11",
            "str r9, [sp, #0]",
            "ldr r10, [sp, #20]",
            "ldrd r11, r12, [sp, #4]",
            "add r11, r11, r10, lsl #1",
            "add r12, r12, r10, lsl #1",
            "strd r11, r12, [sp, #4]",
            "ldr r10, [sp, #16]",
            "subs r10, r10, #1",
            "str r10, [sp, #16]",
            "bne 2b",
            "add sp, sp, #52",
            "pop {{r6, r7}}",
            unroll = const UNROLL,
            step = const STEP,
            repeated = const UNROLL * STEP,
            inout("r0") frame => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}

/// Widens `channels` elements, at least one, of each of `columns` columns, between which `skip` elements of the result lie; gives where the next column's are. Where
/// `channels` is a multiple of four, the middle two of each four change places. If not `moving`, the first four elements are read again and again.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[inline(never)]
pub(crate) unsafe fn widen(
    from: *const u8,
    moving: bool,
    to: *mut i16,
    columns: usize,
    channels: usize,
    skip: usize,
) -> *mut i16 {
    if columns == 0 {
        return to;
    }
    let fours = channels % 4 == 0;
    let (mut to, step) = (to, if fours { 4 } else { 1 });
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "mov {n}, {channels}",
            "cmp {step}, #4",
            "bne 4f",
            "3:",
            "ldr {a}, [{from}]",
            "add {from}, {from}, {by}",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "str {b}, [{to}], #4",
            "str {a}, [{to}], #4",
            "subs {n}, {n}, #4",
            "bne 3b",
            "b 5f",
            "4:",
            "ldrsb {a}, [{from}]",
            "add {from}, {from}, {by}",
            "strh {a}, [{to}], #2",
            "subs {n}, {n}, #1",
            "bne 4b",
            "5:",
            "add {to}, {to}, {skip}",
            "subs {columns}, {columns}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to,
            columns = inout(reg) columns => _,
            channels = in(reg) channels,
            skip = in(reg) 2 * skip,
            step = in(reg) step,
            by = in(reg) if moving { step } else { 0 },
            n = out(reg) _, a = out(reg) _, b = out(reg) _,
            options(nostack),
        )
    }
    to
}
