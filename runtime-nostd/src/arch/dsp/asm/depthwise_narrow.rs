//! Rows of three to six pixels of a depthwise convolution 3 × 3 in assembly.
//!
//! The sums of all pixels of a channel's row are in registers, and the rows of the operand come one after the other. Each is loaded in two words
//! at most and widened to pairs of 16-bit numbers from which the padding is subtracted (`SXTAB16`), so that taps in the padding need nothing: neither those at
//! the ends of a row nor whole rows.
//!
//! | r0–r5 | r6–r8 | r9, r10 | r11 | r12 | lr |
//! |---|---|---|---|---|---|
//! | sums; r5 the result where there are fewer than six | pixels | (w₀, w₂), w₁ | weights | middle row | −padding twice |

use super::depthwise_planar::words_per_channel;
use crate::arch::dsp::depthwise::Window;
use crate::params::Conv;
use core::arch::asm;
use core::cell::Cell;

/// What the code finds on the stack. The offsets are in the assembly.
#[repr(C)]
struct Frame {
    /// 0: where the next channel is written.
    out: *mut i8,
    /// 4: from the middle row to the one above, 0 where that is padding.
    above: isize,
    /// 8: from the middle row to the one below, 0 where that is padding.
    below: isize,
    /// 12: end of the weights.
    end: *const i32,
    /// 16: from one channel of the result to the next.
    channel: usize,
    /// 20: from one pixel of the result to the next.
    pixel: usize,
}

/// One row of the result; nothing where it has another shape than this is written for.
#[inline(always)]
pub(crate) fn row<const WIDTH: usize, const PIXEL: usize, const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    rows: &Window<'_>,
    w: &[i32],
    pad: i8,
    out: &[Cell<i8>],
    channel: usize,
) -> bool {
    let shape = (p.k_h, p.k_w, p.stride_w, p.pad_left) == (3, 3, 1, 1) && (p.in_w, p.out_w) == (WIDTH, WIDTH);
    let (Some(middle), true) = (rows.row(1), shape && p.in_c > 0 && PIXEL <= 4095 / 5) else { return false };
    let words = words_per_channel(p, SIGNED);
    let pixel = if PIXEL == 0 { p.out_c } else { PIXEL };
    let (above, below) = (rows.row(0), rows.row(2));
    let length = p.in_c.saturating_mul(WIDTH);
    let fits = |row: Option<&[Cell<i8>]>| row.is_none_or(|row| row.len() >= length);
    let last = (WIDTH - 1).saturating_mul(pixel).saturating_add((p.in_c - 1).saturating_mul(channel));
    let enough = last < out.len() && w.len() >= p.in_c.saturating_mul(words);
    if !(fits(above) && fits(Some(middle)) && fits(below) && enough) {
        return false;
    }
    let from_middle = |row: Option<&[Cell<i8>]>| {
        row.map_or(0, |row| (row.as_ptr() as isize).wrapping_sub(middle.as_ptr() as isize))
    };
    let frame = Frame {
        out: out.as_ptr().cast_mut().cast(),
        above: from_middle(above),
        below: from_middle(below),
        end: w.as_ptr().wrapping_add(p.in_c * words),
        channel,
        pixel,
    };
    let zero = (-i32::from(pad) as u32 & 0xffff) * 0x1_0001;
    // SAFETY: all rows there are have `in_c` channels of `WIDTH` bytes, and only those are read. The result is written at `WIDTH` pixels of each channel, the
    // last of which lies in `out`, and the weights are read up to `end`. Cells may be written through a shared reference.
    unsafe {
        match WIDTH {
            3 => three::<PIXEL, SHIFT, SIGNED>(&frame, middle.as_ptr().cast(), w.as_ptr(), zero),
            4 => four::<PIXEL, SHIFT, SIGNED>(&frame, middle.as_ptr().cast(), w.as_ptr(), zero),
            5 => five::<PIXEL, SHIFT, SIGNED>(&frame, middle.as_ptr().cast(), w.as_ptr(), zero),
            6 => six::<PIXEL, SHIFT, SIGNED>(&frame, middle.as_ptr().cast(), w.as_ptr(), zero),
            _ => return false,
        }
    }
    true
}

/// Loads a row at `$at`. Three pixels are put together, as a word might leave the row.
macro_rules! load {
    (three, $at:literal) => {
        concat!("ldrh r6, [", $at, "]\n", "ldrb r7, [", $at, ", #2]\n")
    };
    (four, $at:literal) => {
        concat!("ldr r6, [", $at, "]\n")
    };
    (five, $at:literal) => {
        concat!("ldr r6, [", $at, "]\n", "ldr r7, [", $at, ", #1]\n")
    };
    (six, $at:literal) => {
        concat!("ldr r6, [", $at, "]\n", "ldr r7, [", $at, ", #2]\n")
    };
}

/// Adds a row's share to the sums, or to the first values that `$z0` … hold. `$half` is that of w₁.
#[rustfmt::skip]
macro_rules! add {
    (three, $half:literal, $z0:literal, $z1:literal, $z2:literal) => {
        concat!(
            "orr r6, r6, r7, lsl #16\n",
            "sxtab16 r8, lr, r6\n",         // 0, 2
            "sxtab16 r6, lr, r6, ror #8\n", // 1
            "smlab", $half, " r0, r8, r10, ", $z0, "\n",
            "smlabt r0, r6, r9, r0\n",
            "smlad r1, r8, r9, ", $z1, "\n",
            "smlab", $half, " r1, r6, r10, r1\n",
            "smlabb r2, r6, r9, ", $z2, "\n",
            "smlat", $half, " r2, r8, r10, r2\n",
        )
    };
    (four, $half:literal, $z0:literal, $z1:literal, $z2:literal, $z3:literal) => {
        concat!(
            "sxtab16 r8, lr, r6\n",         // 0, 2
            "sxtab16 r6, lr, r6, ror #8\n", // 1, 3
            "smlab", $half, " r0, r8, r10, ", $z0, "\n",
            "smlabt r0, r6, r9, r0\n",
            "smlad r1, r8, r9, ", $z1, "\n",
            "smlab", $half, " r1, r6, r10, r1\n",
            "smlad r2, r6, r9, ", $z2, "\n",
            "smlat", $half, " r2, r8, r10, r2\n",
            "smlatb r3, r8, r9, ", $z3, "\n",
            "smlat", $half, " r3, r6, r10, r3\n",
        )
    };
    (five, $half:literal, $z0:literal, $z1:literal, $z2:literal, $z3:literal, $z4:literal) => {
        concat!(
            "sxtab16 r6, lr, r6\n",         // 0, 2
            "sxtab16 r8, lr, r7\n",         // 1, 3
            "sxtab16 r7, lr, r7, ror #8\n", // 2, 4
            "smlab", $half, " r0, r6, r10, ", $z0, "\n",
            "smlabt r0, r8, r9, r0\n",
            "smlad r1, r6, r9, ", $z1, "\n",
            "smlab", $half, " r1, r8, r10, r1\n",
            "smlad r2, r8, r9, ", $z2, "\n",
            "smlat", $half, " r2, r6, r10, r2\n",
            "smlad r3, r7, r9, ", $z3, "\n",
            "smlat", $half, " r3, r8, r10, r3\n",
            "smlatb r4, r8, r9, ", $z4, "\n",
            "smlat", $half, " r4, r7, r10, r4\n",
        )
    };
    (six, $half:literal, $z0:literal, $z1:literal, $z2:literal, $z3:literal, $z4:literal, $z5:literal) => {
        concat!(
            "sxtab16 r8, lr, r6\n",         // 0, 2
            "sxtab16 r6, lr, r6, ror #8\n", // 1, 3
            "smlab", $half, " r0, r8, r10, ", $z0, "\n",
            "smlabt r0, r6, r9, r0\n",
            "smlad r1, r8, r9, ", $z1, "\n",
            "smlab", $half, " r1, r6, r10, r1\n",
            "smlad r2, r6, r9, ", $z2, "\n",
            "smlat", $half, " r2, r8, r10, r2\n",
            "sxtab16 r8, lr, r7\n",         // 2, 4
            "sxtab16 r7, lr, r7, ror #8\n", // 3, 5
            "smlad r3, r8, r9, ", $z3, "\n",
            "smlab", $half, " r3, r7, r10, r3\n",
            "smlad r4, r7, r9, ", $z4, "\n",
            "smlat", $half, " r4, r8, r10, r4\n",
            "smlatb r5, r8, r9, ", $z5, "\n",
            "smlat", $half, " r5, r7, r10, r5\n",
        )
    };
}

/// Sums become results.
#[rustfmt::skip]
macro_rules! rescale {
    ($($sum:literal)*) => {
        concat!(
            ".if {signed}\n",
            "ldr r6, [r11, #32]\n",
            corrected!($(even $sum by "r6" in "r7"),*),
            ".endif\n",
            "ldr r6, [r11, #24]\n",
            "ldr r7, [r11, #28]\n",
            $("smmlar ", $sum, ", ", $sum, ", r6, r7\n",)*
            saturated!("{shift}": $($sum)*),
        )
    };
}

/// Stores the sum of pixel `$at`. Where the distance of pixels is not known, it is in r9, and r10 is changed.
macro_rules! store {
    ($sum:literal, $out:literal, $at:literal) => {
        concat!(
            ".if {pixel}\n",
            "strb ",
            $sum,
            ", [",
            $out,
            ", #{pixel} * ",
            $at,
            "]\n",
            ".elseif ",
            $at,
            " == 0\n",
            "strb ",
            $sum,
            ", [",
            $out,
            "]\n",
            ".elseif ",
            $at,
            " == 1\n",
            "strb ",
            $sum,
            ", [",
            $out,
            ", r9]\n",
            ".elseif ",
            $at,
            " == 2\n",
            "strb ",
            $sum,
            ", [",
            $out,
            ", r9, lsl #1]\n",
            ".elseif ",
            $at,
            " == 3\n",
            "add r10, r9, r9, lsl #1\n",
            "strb ",
            $sum,
            ", [",
            $out,
            ", r10]\n",
            ".elseif ",
            $at,
            " == 4\n",
            "strb ",
            $sum,
            ", [",
            $out,
            ", r9, lsl #2]\n",
            ".else\n",
            "add r10, r9, r9, lsl #2\n",
            "strb ",
            $sum,
            ", [",
            $out,
            ", r10]\n",
            ".endif\n",
        )
    };
}

/// The code for rows of one length. `$last` is the last sum, `$out` the register with the result's address, which is on the stack if it is r8.
macro_rules! width {
    ($name:ident, $last:literal, $out:literal, $load:literal, $save:literal, $pixels:literal; $($sum:literal $at:literal $first:literal)*) => {
        /// All channels.
        ///
        /// # Safety
        /// `frame` and the others describe rows, weights and results that are there.
        #[inline(always)]
        unsafe fn $name<const PIXEL: usize, const SHIFT: u32, const SIGNED: bool>(
            frame: *const Frame,
            middle: *const i8,
            w: *const i32,
            zero: u32,
        ) {
            // SAFETY: as the caller promises. The stack pointer, r6, r7 and r11 are as they were when the block ends.
            unsafe {
                asm!(
                    // The second loop.
                    size!("400"),
                    "push {{r6, r7, r11}}",
                    "mov r11, r1",
                    "mov r12, r2",
                    "mov lr, r3",
                    "sub sp, sp, #24",
                    "ldmia r0, {{r1, r2, r3, r4, r5, r8}}",
                    "stmia sp, {{r1, r2, r3, r4, r5, r8}}",
                    "mov r5, r1",
                    // The loop over channels stands there twice: for three rows, and for rows at an edge.
                    "cmp r2, #0",
                    "it ne",
                    "cmpne r3, #0",
                    "beq 4f",
                    ".irp kiln_inside, 1, 0",
                    ".if \\kiln_inside == 0",
                    "4:",
                    ".endif",
                    // A channel, and its middle row.
                    "2:",
                    concat!("ldr ", $last, ", [r11, #20]"),
                    "ldr r9, [r11, #4]",
                    "ldr r10, [r11, #12]",
                    load!($name, "r12"),
                    add!($name, "t" $(, $first)*),
                    "ldr r8, [sp, #4]",
                    ".if \\kiln_inside == 0",
                    "cmp r8, #0",
                    "beq 3f",
                    ".endif",
                    "add r8, r8, r12",
                    "ldr r9, [r11]",
                    "ldr r10, [r11, #12]",
                    load!($name, "r8"),
                    add!($name, "b" $(, $sum)*),
                    "3:",
                    "ldr r8, [sp, #8]",
                    ".if \\kiln_inside == 0",
                    "cmp r8, #0",
                    "beq 3f",
                    ".endif",
                    "add r8, r8, r12",
                    "ldr r9, [r11, #8]",
                    "ldr r10, [r11, #16]",
                    load!($name, "r8"),
                    add!($name, "b" $(, $sum)*),
                    "3:",
                    rescale!($($sum)*),
                    "ldr r6, [sp, #12]",
                    "ldr r7, [sp, #16]",
                    $load,
                    ".if {pixel} == 0",
                    "ldr r9, [sp, #20]",
                    ".endif",
                    $(store!($sum, $out, $at),)*
                    concat!("add ", $out, ", ", $out, ", r7"),
                    $save,
                    "add r11, r11, #32 + {signed} * 4",
                    concat!("add r12, r12, #", $pixels),
                    "cmp r11, r6",
                    "bne 2b",
                    ".if \\kiln_inside",
                    "b 5f",
                    ".endif",
                    ".endr",
                    "5:",
                    "add sp, sp, #24",
                    "pop {{r6, r7, r11}}",
                    pixel = const PIXEL,
                    signed = const SIGNED as u32,
                    shift = const SHIFT + if SIGNED { 8 } else { 0 },
                    inout("r0") frame => _, inout("r1") w => _, inout("r2") middle => _, inout("r3") zero => _,
                    out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
                );
            }
        }
    };
}

width!(three, "r2", "r5", "", "", "3"; "r0" "0" "r2" "r1" "1" "r2" "r2" "2" "r2");

width!(four, "r3", "r5", "", "", "4"; "r0" "0" "r3" "r1" "1" "r3" "r2" "2" "r3" "r3" "3" "r3");

width!(five, "r4", "r5", "", "", "5"; "r0" "0" "r4" "r1" "1" "r4" "r2" "2" "r4" "r3" "3" "r4" "r4" "4" "r4");

width!(six, "r5", "r8", "ldr r8, [sp]", "str r8, [sp]", "6"; "r0" "0" "r5" "r1" "1" "r5" "r2" "2" "r5" "r3" "3" "r5" "r4" "4" "r5" "r5" "5" "r5");
