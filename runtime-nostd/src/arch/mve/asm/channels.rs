//! Depthwise convolutions of sixteen channels at a time in assembly.
//!
//! A tap takes fifteen instructions for sixteen products, which are widened in pairs of even and odd channels.

use crate::arch::mve::channels::{ends, Run, HEAD, MOST_TAPS};
use crate::arch::mve::LANES;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Where the taps of a pixel are.
pub(crate) struct Taps<'a> {
    at: [MaybeUninit<usize>; MOST_TAPS],
    of: PhantomData<&'a Cell<i8>>,
}

impl<'a> Taps<'a> {
    pub(crate) fn new() -> Self {
        Taps { at: [MaybeUninit::uninit(); MOST_TAPS], of: PhantomData }
    }

    /// Where the block finds them.
    pub(super) fn start(&self) -> usize {
        self.at.as_ptr() as usize
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, tap: usize, x: &'a [Cell<i8>]) {
        if let Some(place) = self.at.get_mut(tap) {
            place.write(x.as_ptr() as usize);
        }
    }
}

/// What the block reads, in its order: addresses, bytes and counts.
#[repr(C)]
struct Registers {
    taps: usize,
    count: usize,
    w: usize,
    y: usize,
    /// The first of the last sixteen channels.
    last: usize,
    pixels: usize,
    x_step: usize,
    y_step: usize,
    /// The last shift of affine forms, negated.
    shift: i32,
    lo: i32,
    hi: i32,
}

/// Assembly: the sums of four channels in `$sums` requantised. q0 is overwritten. `$shift` is the shift of affine forms, `$one` is 1.
#[rustfmt::skip]
macro_rules! requantised {
    ($sums:literal) => {
        concat!(
            "vldrw.32 q0, [r5], #16\n",
            ".if {exact}\n",
            "vqrdmulh.s32 ", $sums, ", ", $sums, ", q0\n",
            "vldrw.32 q0, [r5], #16\n",
            "vqdmlah.s32 ", $sums, ", ", $sums, ", r4\n",
            "vadd.i32 ", $sums, ", ", $sums, ", q0\n",
            "vldrw.32 q0, [r5], #16\n",
            "vshl.s32 ", $sums, ", ", $sums, ", q0\n",
            ".else\n",
            "vrmulh.s32 ", $sums, ", ", $sums, ", q0\n",
            "vldrw.32 q0, [r5], #16\n",
            "vadd.i32 ", $sums, ", ", $sums, ", q0\n",
            "vshl.s32 ", $sums, ", r3\n",
            ".endif\n",
        )
    };
}

/// All channels of some pixels.
///
/// r9 counts pixels, r10 is where they are behind the first, r1 points to results, r12 is the channel, r5 points to its words, r4 to taps; q4 to q7 are sums of even and odd channels.
///
/// # Safety
///
/// There are one to [`MOST_TAPS`] taps, all of which have been set and have the channels of all pixels, as `y` has; `w` has the words of all channels, of which there are sixteen at least; there is a pixel.
pub(crate) unsafe fn pixels<const EXACT: bool, const CLAMPED: bool>(run: &Run<'_>) {
    let Some((&[shift, lo, hi, _], w)) = run.w.split_first_chunk::<HEAD>() else { return };
    let registers = Registers {
        taps: run.taps.at.as_ptr() as usize,
        count: run.count,
        w: w.as_ptr() as usize,
        y: run.y.as_ptr() as usize,
        last: run.channels - LANES,
        pixels: run.pixels,
        x_step: run.x_step,
        y_step: run.y_step,
        shift: -shift.clamp(0, 31),
        lo,
        hi,
    };
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "mov r11, r0",
            "ldr r9, [r11, #20]",
            "ldr r1, [r11, #12]",
            "ldr r8, [r11, #4]",
            "ldr r3, [r11, #32]",
            "mov r10, #0",
            // Each pixel.
            "2:",
            "ldr r5, [r11, #8]",
            "mov r12, #0",
            // Each sixteen channels.
            "3:",
            "vldrw.32 q4, [r5], #16",
            "vldrw.32 q5, [r5], #16",
            "vldrw.32 q6, [r5], #16",
            "vldrw.32 q7, [r5], #16",
            "ldr r4, [r11]",
            "mov lr, r8",
            "add r0, r10, r12",
            // Each tap.
            "4:",
            "ldr r2, [r4], #4",
            "add r2, r2, r0",
            "vldrb.s16 q0, [r2]",
            "vldrb.s16 q1, [r5], #8",
            "vmullb.s16 q2, q0, q1",
            "vldrb.s16 q3, [r2, #8]",
            "vmullt.s16 q0, q0, q1",
            "vadd.i32 q4, q4, q2",
            "vldrb.s16 q1, [r5], #8",
            "vmullb.s16 q2, q3, q1",
            "vadd.i32 q5, q5, q0",
            "vmullt.s16 q3, q3, q1",
            "vadd.i32 q6, q6, q2",
            "vadd.i32 q7, q7, q3",
            "le lr, 4b",
            // Results.
            ".if {exact}",
            "movs r4, #1",
            ".endif",
            requantised!("q4"),
            requantised!("q5"),
            requantised!("q6"),
            requantised!("q7"),
            "add r2, r1, r12",
            "vqmovnb.s32 q4, q4",
            "vqmovnb.s32 q6, q6",
            "vqmovnt.s32 q4, q5",
            "vqmovnt.s32 q6, q7",
            "vqmovnb.s16 q4, q4",
            "vqmovnb.s16 q6, q6",
            ".if {clamped}",
            "ldrd r0, r4, [r11, #36]",
            "vdup.8 q0, r0",
            "vdup.8 q1, r4",
            "vmax.s8 q4, q4, q0",
            "vmax.s8 q6, q6, q0",
            "vmin.s8 q4, q4, q1",
            "vmin.s8 q6, q6, q1",
            ".endif",
            "vstrb.16 q4, [r2]",
            "vstrb.16 q6, [r2, #8]",
            // The next sixteen, or the last ones.
            "ldr r0, [r11, #16]",
            "cmp r12, r0",
            "beq 5f",
            "add r12, r12, #16",
            "cmp r12, r0",
            "csel r12, r12, r0, lo",
            "b 3b",
            // The next pixel.
            "5:",
            "ldrd r6, r7, [r11, #24]",
            "add r10, r10, r6",
            "add r1, r1, r7",
            "subs r9, r9, #1",
            "bne 2b",
            "pop {{r6, r7}}",
            exact = const EXACT as usize,
            clamped = const CLAMPED as usize,
            inout("r0") &registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        )
    }
    const { assert!(ends(EXACT) == if EXACT { 3 } else { 2 }) };
}
