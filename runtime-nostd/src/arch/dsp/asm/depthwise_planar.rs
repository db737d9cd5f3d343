//! Rows of a depthwise convolution 3 × 3 in assembly.
//!
//! Two pixels at a time. Of each row of the operand one load brings the four pixels x₀ … x₃ that they read, `SXTB16` makes the pairs (x₀, x₂) and
//! (x₁, x₃) of them, and with (w₀, w₂) and w₁ in halves of registers the sums are
//!
//! ```text
//! y0 += (x0, x2)·(w0, w2) + x1·w1      SMLAD, SMLABB
//! y1 += (x1, x3)·(w0, w2) + x2·w1      SMLAD, SMLATB
//! ```
//!
//! With a stride of two, y1 reads (x₂, x₄) and x₃; a second load brings the pixel x₄. The first and the last two pixels of a row shift the padding into what they load. Everything that a turn of the loop needs is in the fourteen registers:
//!
//! | r0–r2 | r3–r5 | r6, r7 | r8, r9 | r10 | r11 | r12, lr |
//! |---|---|---|---|---|---|---|
//! | next pixels of the three rows | (w₀, w₂) of each | w₁ of each; turns that are left | sums | result | M, C | pixels |

use crate::arch::dsp::depthwise::Window;
use crate::params::Conv;
use core::arch::asm;
use core::cell::Cell;

/// What the loops find on the stack. The offsets are in the assembly.
#[repr(C)]
struct Frame {
    /// 0: the sum's first value.
    first: i32,
    /// 4: the padding, in the low byte only.
    pad: u32,
    /// 8: the padding, in both halves.
    pads: u32,
    /// 12: turns of the loop but one, in the high half.
    turns: u32,
    /// 16: bytes from where the loop ends to the end of a channel's row.
    rest: usize,
    /// 20: from where the loop ends in the result to the next channel.
    next: usize,
    /// 24: end of the weights.
    end: *const i32,
    /// 28: bits by which the last word of a channel's row is shifted.
    shift: u32,
    /// 32: the padding, in as many high bits.
    last: u32,
    /// 36: pixels behind the loop, 0 to 2.
    behind: usize,
    /// 40: pairs of pixels in the loop.
    pairs: usize,
    /// 44: whether the first row of the filter (1) or the last one (2) reads padding.
    clipped: u32,
    /// 48: whether the first pixel reads padding.
    left: usize,
    /// 52: the padding, in the high byte only.
    high: u32,
    /// 56: from one pixel of the result to the next.
    pixel: usize,
}

/// Assembly that is made for one distance of a result's pixels, or for any (0).
pub(crate) struct Block {
    stride: usize,
    pixel: usize,
    signed: bool,
    row: unsafe fn(*const Frame, *const i8, *const i8, *const i8, *const i32, *mut i8),
}

impl Block {
    pub(crate) const fn of<const STRIDE: usize, const PIXEL: usize, const SHIFT: u32, const SIGNED: bool>(
    ) -> Self {
        let row = match STRIDE {
            1 => stride_1::<PIXEL, SHIFT, SIGNED>,
            _ => stride_2::<PIXEL, SHIFT, SIGNED>,
        };
        Block { stride: STRIDE, pixel: PIXEL, signed: SIGNED, row }
    }
}

/// One row of the result; nothing where it has another shape than the block is made for.
#[inline(never)]
pub(crate) fn row(
    p: &Conv,
    rows: &Window<'_>,
    w: &[i32],
    pad: i8,
    out: &[Cell<i8>],
    channel: usize,
    block: &Block,
) -> bool {
    let Conv { in_w, in_c, out_w, pad_left: left, stride_w: stride, .. } = *p;
    let shape = (p.k_h, p.k_w) == (3, 3)
        && stride == block.stride
        && matches!(stride, 1 | 2)
        && left <= 1
        && block.pixel < 2048;
    let pixel = if block.pixel == 0 { p.out_c } else { block.pixel };
    let sizes = (4..1 << 16).contains(&in_w) && in_c > 0 && out_w > 0 && out_w >= 2 * left;
    let (Some(middle), true) = (rows.row(1), shape && sizes) else { return false };
    let (above, below) = (rows.row(0), rows.row(2));
    // The first pair of the loop reads the operand from `start` on.
    let (start, step) = (left * (2 * stride - 1), 2 * stride);
    let fit = (in_w + step).saturating_sub(start + stride + 3).checked_div(step).unwrap_or(0);
    let pairs = fit.min((out_w - 2 * left) / 2);
    let done = left + pairs;
    let (at, behind) = (start + pairs * step, out_w - 2 * done);
    // The word that the last pixels read ends with the row, or behind it by the padding.
    let beyond = match (at + 4).checked_sub(in_w) {
        _ if behind == 0 => 0,
        Some(beyond) if behind <= 3 && beyond + stride * (behind - 1) <= 2 => beyond,
        _ => return false,
    };
    let words = words_per_channel(p, block.signed);
    let length = in_c.saturating_mul(in_w);
    let fits = |row: Option<&[Cell<i8>]>| row.is_none_or(|row| row.len() >= length);
    let last = (out_w - 1).saturating_mul(pixel).saturating_add((in_c - 1).saturating_mul(channel));
    if !(fits(above)
        && fits(Some(middle))
        && fits(below)
        && last < out.len()
        && w.len() >= in_c.saturating_mul(words))
    {
        return false;
    }
    let byte = u32::from(pad as u8);
    let shift = 8 * beyond as u32;
    let frame = Frame {
        first: 0,
        pad: byte,
        pads: (pad as i16 as u16 as u32) * 0x1_0001,
        turns: (pairs.div_ceil(2).saturating_sub(1) as u32) << 16,
        rest: in_w.wrapping_sub(at),
        next: channel.wrapping_sub(2 * done * pixel),
        end: w.as_ptr_range().start.wrapping_add(in_c * words),
        shift,
        last: (byte * 0x0101_0101).checked_shl(32 - shift).unwrap_or(0),
        behind,
        pairs,
        clipped: u32::from(above.is_none()) + 2 * u32::from(below.is_none()),
        left,
        high: byte << 24,
        pixel,
    };
    let [above, middle, below] =
        [above.unwrap_or(middle), middle, below.unwrap_or(middle)].map(<[_]>::as_ptr);
    let out = out.as_ptr().cast_mut().cast();
    // SAFETY: all three rows have `in_c` channels of `in_w` bytes. Words are read at pixel 0, then from `start` on in steps of `step`, `pairs` times, where the
    // last of the four or five pixels of a pair lies in the channel's row, and at `in_w − 4 ≥ 0`. The result is written at `out_w` pixels of each channel,
    // the last of which lies in `out`, and the weights are read up to `end`. Cells may be written through a shared reference.
    unsafe { (block.row)(&frame, above.cast(), middle.cast(), below.cast(), w.as_ptr(), out) }
    true
}

/// Words of `w` for each channel.
#[inline(always)]
pub(super) fn words_per_channel(p: &Conv, signed: bool) -> usize {
    p.k_h + p.k_h.div_ceil(2) + 3 + usize::from(signed)
}

/// Adds what a row of the operand at `$at` contributes to both sums: to their first value in r9 if it is the `first` row, whose sum r8 is free until then.
/// `$outer` holds (w₀, w₂), half `$half` of `$middle` w₁. In r12 are the four pixels from the first one of y0 on.
#[rustfmt::skip]
macro_rules! add {
    (stride_1 first, $outer:literal, $middle:literal, $half:literal) => {
        concat!(
            "sxtb16 lr, r12\n",
            "sxtb16 r12, r12, ror #8\n",
            "smlad r8, lr, ", $outer, ", r9\n",
            "smlad r9, r12, ", $outer, ", r9\n",
            "smlab", $half, " r8, r12, ", $middle, ", r8\n",
            "smlat", $half, " r9, lr, ", $middle, ", r9\n",
        )
    };
    (stride_1 further, $outer:literal, $middle:literal, $half:literal) => {
        concat!(
            "sxtb16 lr, r12\n",
            "sxtb16 r12, r12, ror #8\n",
            "smlad r8, lr, ", $outer, ", r8\n",
            "smlad r9, r12, ", $outer, ", r9\n",
            "smlab", $half, " r8, r12, ", $middle, ", r8\n",
            "smlat", $half, " r9, lr, ", $middle, ", r9\n",
        )
    };
    // In lr is (x₂, x₄).
    (stride_2 first, $outer:literal, $middle:literal, $half:literal) => {
        concat!(
            "sxtb16 r8, r12\n",
            "smlad r8, r8, ", $outer, ", r9\n",
            "smlad r9, lr, ", $outer, ", r9\n",
            "sxtb16 r12, r12, ror #8\n",
            "smlab", $half, " r8, r12, ", $middle, ", r8\n",
            "smlat", $half, " r9, r12, ", $middle, ", r9\n",
        )
    };
    (stride_2 further, $outer:literal, $middle:literal, $half:literal) => {
        concat!(
            "smlad r9, lr, ", $outer, ", r9\n",
            "sxtb16 lr, r12\n",
            "smlad r8, lr, ", $outer, ", r8\n",
            "sxtb16 r12, r12, ror #8\n",
            "smlab", $half, " r8, r12, ", $middle, ", r8\n",
            "smlat", $half, " r9, r12, ", $middle, ", r9\n",
        )
    };
}

/// A row's share of two pixels amid the row.
macro_rules! amid {
    (stride_1 $which:ident, $at:literal, $($weights:literal),*) => {
        concat!("ldr r12, [", $at, "], #2\n", add!(stride_1 $which, $($weights),*))
    };
    (stride_2 $which:ident, $at:literal, $($weights:literal),*) => {
        concat!(
            "ldr lr, [", $at, ", #1]\n",
            "ldr r12, [", $at, "], #4\n",
            "sxtb16 lr, lr, ror #8\n",
            add!(stride_2 $which, $($weights),*),
        )
    };
}

/// A row's share of the first two pixels, the first of which reads padding.
macro_rules! left {
    (stride_1 $which:ident, $at:literal, $($weights:literal),*) => {
        concat!(
            "ldr r12, [", $at, "], #1\n",
            "ldr lr, [sp, #4]\n",
            "orr r12, lr, r12, lsl #8\n",
            add!(stride_1 $which, $($weights),*),
        )
    };
    (stride_2 first, $at:literal, $($weights:literal),*) => {
        concat!(
            "ldr r12, [", $at, "], #3\n",
            "ldr r8, [sp, #4]\n",
            "sxtb16 lr, r12, ror #8\n",
            "orr r12, r8, r12, lsl #8\n",
            add!(stride_2 first, $($weights),*),
        )
    };
    (stride_2 further, $at:literal, $outer:literal, $middle:literal, $half:literal) => {
        concat!(
            "ldr r12, [", $at, "], #3\n",
            "sxtb16 lr, r12, ror #8\n",
            "smlad r9, lr, ", $outer, ", r9\n",
            "ldr lr, [sp, #4]\n",
            "orr r12, lr, r12, lsl #8\n",
            "sxtb16 lr, r12\n",
            "smlad r8, lr, ", $outer, ", r8\n",
            "sxtb16 r12, r12, ror #8\n",
            "smlab", $half, " r8, r12, ", $middle, ", r8\n",
            "smlat", $half, " r9, r12, ", $middle, ", r9\n",
        )
    };
}

/// A row's share of the last one or two pixels. The row ends at `$at`.
macro_rules! right {
    (load $at:literal) => {
        concat!(
            "ldr r12, [", $at, ", #-4]\n",
            "ldr lr, [sp, #28]\n",
            "lsr r12, r12, lr\n",
            "ldr lr, [sp, #32]\n",
            "orr r12, r12, lr\n",
        )
    };
    (stride_1 $which:ident, $at:literal, $($weights:literal),*) => {
        concat!(right!(load $at), add!(stride_1 $which, $($weights),*))
    };
    (stride_2 $which:ident, $at:literal, $($weights:literal),*) => {
        concat!(
            right!(load $at),
            "ldr lr, [sp, #52]\n",
            "orr lr, lr, r12, lsr #8\n",
            "sxtb16 lr, lr, ror #8\n",
            add!(stride_2 $which, $($weights),*),
        )
    };
}

/// The sums of two pixels, somewhere in the row.
macro_rules! sums {
    ($where:ident, $stride:ident) => {
        concat!(
            "ldr r9, [sp]\n",
            $where!($stride first, "r0", "r3", "r6", "b"),
            $where!($stride further, "r1", "r4", "r6", "t"),
            $where!($stride further, "r2", "r5", "r7", "b"),
        )
    };
}

/// Both sums become results.
macro_rules! rescale {
    () => {
        concat!(
            ".if {signed}\n",
            "ldr r12, [r11, #8]\n",
            corrected!(even "r8" by "r12" in "lr", even "r9" by "r12" in "lr"),
            ".endif\n",
            "ldr r12, [r11]\n",
            "ldr lr, [r11, #4]\n",
            "smmlar r8, r8, r12, lr\n",
            "smmlar r9, r9, r12, lr\n",
            saturated!("{shift}": "r8" "r9"),
        )
    };
}

/// Writes both results and goes to the next pair.
macro_rules! store {
    () => {
        ".if {pixel} == 0
        strb r8, [r10]
        ldr r12, [sp, #56]
        strb r9, [r10, r12]
        add r10, r10, r12, lsl #1
        .elseif {pixel} < 256
        strb r8, [r10], #{pixel}
        strb r9, [r10], #{pixel}
        .else
        strb r8, [r10]
        strb r9, [r10, #{pixel}]
        addw r10, r10, #{pixel} * 2
        .endif
        "
    };
}

macro_rules! channels {
    ($name:ident) => {
/// All channels.
///
/// # Safety
/// `frame` describes rows, weights and results that are there.
#[inline(never)]
unsafe fn $name<const PIXEL: usize, const SHIFT: u32, const SIGNED: bool>(
    frame: *const Frame,
    above: *const i8,
    middle: *const i8,
    below: *const i8,
    w: *const i32,
    out: *mut i8,
) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            "push {{r6, r7, r11}}",
            "mov r11, r3",
            "sub sp, sp, #60",
            "mov r5, sp",
            "ldmia r4!, {{r3, r6, r7, r8, r9, r12, lr}}",
            "stmia r5!, {{r3, r6, r7, r8, r9, r12, lr}}",
            "ldmia r4!, {{r3, r6, r7, r8, r9, r12, lr}}",
            "stmia r5!, {{r3, r6, r7, r8, r9, r12, lr}}",
            "ldr r3, [r4]",
            "str r3, [r5]",
            // A channel.
            "2:",
            "ldmia r11!, {{r3, r4, r5, r6, r7, r8}}",
            "ldr r12, [sp, #44]",
            "cmp r12, #0",
            "beq 3f",
            // Rows of the filter that read padding: it counts once and for all.
            "ldr lr, [sp, #8]",
            "tst r12, #1",
            "beq 4f",
            "smlad r8, lr, r3, r8",
            "smlabb r8, lr, r6, r8",
            "movs r3, #0",
            "lsrs r6, r6, #16",
            "lsls r6, r6, #16",
            "4:",
            "tst r12, #2",
            "beq 3f",
            "smlad r8, lr, r5, r8",
            "smlabb r8, lr, r7, r8",
            "movs r5, #0",
            "movs r7, #0",
            "3:",
            "str r8, [sp]",
            "ldr r9, [sp, #48]",
            "ldr r12, [sp, #12]",
            "pkhbt r7, r7, r12",
            "cmp r9, #0",
            "beq 4f",
            // The first two pixels.
            sums!(left, $name),
            rescale!(),
            store!(),
            "4:",
            // The others but for the last; an odd number of them begins amid the loop.
            "ldr r12, [sp, #40]",
            "cmp r12, #0",
            "beq 7f",
            "lsrs r12, r12, #1",
            "bcs 6f",
            "5:",
            sums!(amid, $name),
            rescale!(),
            store!(),
            "6:",
            sums!(amid, $name),
            rescale!(),
            store!(),
            "subs r7, r7, #65536",
            "bcs 5b",
            "7:",
            // The last one or two.
            "ldr r12, [sp, #16]",
            "add r0, r0, r12",
            "add r1, r1, r12",
            "add r2, r2, r12",
            "ldr r12, [sp, #36]",
            "cmp r12, #0",
            "beq 8f",
            sums!(right, $name),
            rescale!(),
            "ldr r12, [sp, #36]",
            "strb r8, [r10]",
            "lsrs r12, r12, #1",
            "beq 8f",
            ".if {pixel} == 0",
            "ldr r12, [sp, #56]",
            "strb r9, [r10, r12]",
            ".else",
            "strb r9, [r10, #{pixel}]",
            ".endif",
            "8:",
            "ldr r12, [sp, #20]",
            "ldr lr, [sp, #24]",
            "add r10, r10, r12",
            "add r11, r11, #8 + {signed} * 4",
            "cmp r11, lr",
            "bne 2b",
            "add sp, sp, #60",
            "pop {{r6, r7, r11}}",
            pixel = const PIXEL,
            signed = const SIGNED as u32,
            shift = const SHIFT + if SIGNED { 8 } else { 0 },
            inout("r0") above => _, inout("r1") middle => _, inout("r2") below => _,
            inout("r3") w => _, inout("r4") frame => _, inout("r10") out => _,
            out("r5") _, out("r8") _, out("r9") _, out("r12") _, out("lr") _,
        );
    }
}

    };
}

channels!(stride_1);

channels!(stride_2);
