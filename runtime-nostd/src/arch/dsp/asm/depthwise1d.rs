//! Depthwise convolution along one axis in assembly.
//!
//! Four channels at a time, two taps at a time. The words of two pixels, with a byte for each channel, become two words with the first and the last two channels
//! of both (`PKHBT`, `PKHTB`), and those four pairs of taps, one for each channel (`SXTB16`), which one `SMLAD` each multiplies: 17 cycles for eight products.
//!
//! | r0–r3 | r4, r5, r12 | r6, r7, r10, r11 | r8 | r9 | lr |
//! |---|---|---|---|---|---|
//! | sums | pixels | weights | next tap | next weights | next result |

use core::arch::asm;
use core::cell::Cell;

/// As many pixels of the result, at least one.
#[inline(always)]
pub(crate) fn pixels<
    const CHANNELS: usize,
    const TAPS: usize,
    const STRIDE: usize,
    const DILATION: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    x: &[Cell<i8>],
    w: &[i32],
    y: &[Cell<i8>],
    pixels: usize,
) {
    let (x, y) = (x.as_ptr().cast(), y.as_ptr().cast_mut().cast());
    // SAFETY: the caller has compared all sizes: every tap of every pixel is in `x`, `w` has the weights of all channels, and `y` has `pixels` pixels. Cells may
    // be written through a shared reference.
    unsafe { all::<CHANNELS, TAPS, STRIDE, DILATION, SHIFT, SIGNED>(x, w.as_ptr(), y, pixels) }
}

/// Two sums become results, and those are stored.
#[rustfmt::skip]
macro_rules! results {
    ($a:literal, $b:literal) => {
        concat!(
            ".if {signed}\n",
            "ldmia r9!, {{r4, r5, r6, r7, r10, r11}}\n",
            ".else\n",
            "ldmia r9!, {{r4, r5, r7, r10}}\n",
            ".endif\n",
            affine!($a, "r4", "r5", "r6"),
            affine!($b, "r7", "r10", "r11"),
            "strb ", $a, ", [lr], #1\n",
            "strb ", $b, ", [lr], #1\n",
        )
    };
}

/// All pixels.
///
/// # Safety
/// Everything that the sizes speak of is there; pixels and channels of four at least; distances of at most 4095 bytes.
// Never inlined: the compiler does not know how long repeated code is, and might place constants out of reach.
#[inline(never)]
unsafe fn all<
    const CHANNELS: usize,
    const TAPS: usize,
    const STRIDE: usize,
    const DILATION: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    x: *const i8,
    w: *const i32,
    y: *mut i8,
    pixels: usize,
) {
    // SAFETY: as the caller promises. The stack pointer, r6, r7 and r11 are as they were when the block ends.
    unsafe {
        asm!(
            "push {{r6, r7, r11}}",
            "mov r8, r0",
            "mov r9, r1",
            "mov lr, r2",
            // On the stack: last tap of the last four channels, weights, pixels that are left.
            "addw r0, r0, #{last}",
            "addw r0, r0, #{back}",
            "push {{r0, r1, r3}}",
            // Four channels.
            "2:",
            four_words!("r0" "r1" "r2" "r3" from "r9"),
            // Two taps.
            ".rept {taps} / 2",
            ".if {step} < 256",
            "ldr.w r4, [r8], #{step}",
            "ldr.w r5, [r8], #{step}",
            ".else",
            "ldr.w r4, [r8]",
            "ldr.w r5, [r8, #{step}]",
            ".endif",
            four_words!("r6" "r7" "r10" "r11" from "r9"),
            ".if {step} >= 256",
            "addw r8, r8, #{step}",
            "addw r8, r8, #{step}",
            ".endif",
            "pkhbt r12, r4, r5, lsl #16",
            "pkhtb r5, r5, r4, asr #16",
            "sxtb16 r4, r12",
            "sxtb16 r12, r12, ror #8",
            "smlad r0, r4, r6, r0",
            "sxtb16 r4, r5",
            "smlad r1, r12, r7, r1",
            "sxtb16 r5, r5, ror #8",
            "smlad r2, r4, r10, r2",
            "smlad r3, r5, r11, r3",
            ".endr",
            // One more.
            ".if {taps} & 1",
            "ldr.w r4, [r8]",
            "ldr.w r6, [r9], #8",
            "ldr r7, [r9, #-4]",
            "sxtb16 r5, r4",
            "sxtb16 r4, r4, ror #8",
            "smlabb r0, r5, r6, r0",
            "smlatt r2, r5, r6, r2",
            "smlabb r1, r4, r7, r1",
            "smlatt r3, r4, r7, r3",
            ".endif",
            results!("r0", "r1"),
            results!("r2", "r3"),
            "ldr r4, [sp]",
            "cmp r8, r4",
            ".if ({channels} & 3) || {back} == 0",
            "beq 3f",
            // The last four channels may begin before these end.
            "add r8, r8, #4",
            "cmp r8, r4",
            "itt hi",
            "movhi r8, r4",
            "subhi lr, lr, #4 - ({channels} & 3)",
            "subw r8, r8, #{back}",
            "b 2b",
            ".else",
            "subw r8, r8, #{back} - 4",
            "bne 2b",
            ".endif",
            // Another pixel.
            "3:",
            "ldr r9, [sp, #4]",
            "ldr r5, [sp, #8]",
            "subs r5, r5, #1",
            "beq 4f",
            "str r5, [sp, #8]",
            "addw r4, r4, #{stride}",
            "str r4, [sp]",
            "subw r8, r4, #{last}",
            "subw r8, r8, #{back}",
            "b 2b",
            "4:",
            "add sp, sp, #12",
            "pop {{r6, r7, r11}}",
            channels = const CHANNELS,
            taps = const TAPS,
            step = const CHANNELS * DILATION,
            // From the first tap to where r8 is behind all of them.
            back = const (TAPS - TAPS % 2) * CHANNELS * DILATION,
            last = const CHANNELS - 4,
            stride = const STRIDE * CHANNELS,
            signed = const SIGNED as u32,
            shift = const SHIFT + if SIGNED { 8 } else { 0 },
            inout("r0") x => _, inout("r1") w => _, inout("r2") y => _, inout("r3") pixels => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
