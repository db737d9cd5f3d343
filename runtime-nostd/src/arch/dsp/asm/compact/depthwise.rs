//! Depthwise convolution in assembly, for layers of any shape.

use super::super::pieces::shifts;
use crate::arch::dsp::compact::Taps;
use crate::params::{CompactConv, Conv};
use crate::rows::Rows;
use core::cell::Cell;

/// What the block reads, in its order.
#[repr(C)]
struct Frame {
    /// 0: the first tap inside of the image.
    x: *const Cell<i8>,
    /// 4: the result.
    y: *const Cell<i8>,
    /// 8, 12, 16: bytes of weights that are left out before the first row of taps, behind each, and behind the last one.
    before: usize,
    between: usize,
    behind: usize,
    /// 20: rows of taps.
    rows: usize,
    /// 24: taps of a row, not 0 if there are rows.
    columns: usize,
    /// 28: bytes from behind a row of taps to the next one.
    down: usize,
    /// 32: behind the ring of rows, and 36: its bytes.
    end: *const Cell<i8>,
    lap: usize,
    /// 40: the channel with which the last four begin.
    last: usize,
    /// 44: the last shift.
    shift: u32,
    /// 48: whether negative sums are corrected.
    signed: usize,
    /// The weights, in r9.
    w: *const i32,
    /// The padding, negative, twice, in r10.
    zero: u32,
    /// Bytes from one tap to the next, in r11.
    step: usize,
}

/// All channels of a pixel; `row` has its first row of taps.
#[inline(always)]
pub(crate) fn pixel(
    p: &CompactConv<'_>,
    x: Rows<'_, i8>,
    row: &[Cell<i8>],
    rows: &Taps,
    columns: &Taps,
    upright: bool,
    out: &[Cell<i8>],
) {
    let Conv { in_c, k_h, k_w, dilation_h, dilation_w, .. } = p.conv;
    let (Some(first), Some(lap)) = (row.get(columns.at * in_c..), x.lap()) else { return };
    let (across, down) = (dilation_w.wrapping_mul(in_c), dilation_h.wrapping_mul(x.row_len()));
    let none = rows.count == 0 || columns.count == 0;
    let (count, columns_count, step) = match upright {
        _ if none => (0, 0, 0),
        true => (1, rows.count, down),
        false => (rows.count, columns.count, across),
    };
    let before = rows.first * k_w + columns.first;
    let between = if upright { 0 } else { k_w - columns_count };
    let behind = (k_h * k_w).wrapping_sub(before).wrapping_sub(count * (columns_count + between));
    let frame = Frame {
        x: first.as_ptr(),
        y: out.as_ptr(),
        before: 4 * before,
        between: 4 * between,
        behind: behind.wrapping_mul(4),
        rows: count,
        columns: columns_count,
        down: down.wrapping_sub(columns_count.wrapping_mul(step)),
        end: lap.as_ptr_range().end,
        lap: lap.len(),
        last: in_c - 4,
        shift: shifts(p.shift, p.signed)[0],
        signed: p.signed.into(),
        w: p.weights.as_ptr(),
        zero: (-i32::from(p.pad) as u32 & 0xffff) * 0x1_0001,
        step,
    };
    // SAFETY: all taps are pixels of the image (`Taps::inside`), whose rows `fits` has found to be as long as it is wide and to lie in the ring, no more than a lap from each other, or behind
    // each other where they are `upright`; channels go up to `last` + 4 = `in_c`, which is the length of `out`, and so many weights there are (`fits`). Cells may be written through a shared reference.
    unsafe { block(&frame) }
}

/// The assembly of [`pixel`].
///
/// | r0–r3 | r4, r6 | r5, r7 | r8 | r9 | r12 | lr |
/// |---|---|---|---|---|---|---|
/// | sums | pixels | weights | next tap | next weights | taps of the row that are left | rows that are left |
///
/// # Safety
/// The frame describes taps, weights and results that are there.
#[inline(always)]
unsafe fn block(frame: &Frame) {
    // SAFETY: as the caller promises. The stack pointer, r6 and r7 are as they were when the block ends.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            // 52: the channel.
            "movs r4, #0",
            "push {{r4}}",
            "ldm lr!, {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            "push {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            "ldm lr, {{r9, r10, r11}}",
            "movs r5, #0",
            // Four channels.
            "2:",
            "ldm r9!, {{r0, r1, r2, r3}}",
            "ldr r8, [sp, #0]",
            "ldr r6, [sp, #8]",
            "ldr lr, [sp, #20]",
            "add r8, r8, r5",
            "add r9, r9, r6",
            "b 5f",
            // A row of taps.
            "3:",
            "ldr r12, [sp, #24]",
            "4:",
            "ldr r4, [r8]",
            "ldr r5, [r9], #4",
            "add r8, r8, r11",
            "sxtab16 r6, r10, r4",
            "sxtab16 r4, r10, r4, ror #8",
            "sxtb16 r7, r5",
            "sxtb16 r5, r5, ror #8",
            "smlabb r0, r6, r7, r0",
            "smlatt r2, r6, r7, r2",
            "smlabb r1, r4, r5, r1",
            "smlatt r3, r4, r5, r3",
            "subs r12, r12, #1",
            "bne 4b",
            "ldr r6, [sp, #28]",
            "ldr r4, [sp, #32]",
            "ldr r5, [sp, #36]",
            "ldr r7, [sp, #12]",
            "add r8, r8, r6",
            "cmp r8, r4",
            "it hs",
            "subhs r8, r8, r5",
            "add r9, r9, r7",
            "5:",
            "subs lr, lr, #1",
            "bge 3b",
            "ldr r6, [sp, #16]",
            "add r9, r9, r6",
            // Results.
            "ldr r4, [sp, #48]",
            "cbz r4, 6f",
            "ldm r9!, {{r4, r5, r6, r7}}",
            corrected!(even "r0" by "r4" in "r4", even "r1" by "r5" in "r5"),
            corrected!(even "r2" by "r6" in "r6", even "r3" by "r7" in "r7"),
            "6:",
            "ldm r9!, {{r4, r5, r6, r7}}",
            "smmlar r0, r0, r4, r5",
            "smmlar r1, r1, r6, r7",
            "ldm r9!, {{r4, r5, r6, r7}}",
            "smmlar r2, r2, r4, r5",
            "smmlar r3, r3, r6, r7",
            "ldr r7, [sp, #44]",
            "asrs r0, r7",
            "asrs r1, r7",
            "asrs r2, r7",
            "asrs r3, r7",
            "ssat r0, #8, r0",
            "ssat r1, #8, r1",
            "ssat r2, #8, r2",
            "ssat r3, #8, r3",
            "ldr r4, [sp, #4]",
            "ldr r5, [sp, #52]",
            "ldr r6, [sp, #40]",
            "add r4, r4, r5",
            "strb r0, [r4, #0]",
            "strb r1, [r4, #1]",
            "strb r2, [r4, #2]",
            "strb r3, [r4, #3]",
            "cmp r5, r6",
            "beq 7f",
            "adds r5, #4",
            "cmp r5, r6",
            "it hi",
            "movhi r5, r6",
            "str r5, [sp, #52]",
            "b 2b",
            "7:",
            "add sp, sp, #56",
            "pop {{r6, r7}}",
            inout("lr") frame => _,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
        );
    }
}
