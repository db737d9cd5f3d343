//! Layers of 16-bit elements in assembly.
//!
//! A vector of taps takes seventeen instructions for 64 products: a load of the pixel, eight of filters, which widens them, eight multiplications.
//! A tap of eight channels takes nine.

use crate::arch::mve::channels::Run;
use crate::arch::mve::int16::{taps_words, Pixels, EIGHT, HEAD};
use core::cell::Cell;

/// What the block for filters reads, in its order: addresses, bytes and counts. It moves `x` and `y` on, and counts `pixels`.
#[repr(C)]
struct Registers {
    x: usize,
    y: usize,
    x_step: usize,
    y_step: usize,
    pixels: usize,
    w: usize,
    filters: usize,
    /// Taps of the first vector, and full vectors behind it.
    first: usize,
    others: usize,
    lo: i32,
    hi: i32,
}

/// Assembly: the next vector of a pixel in q0 times the next vectors of eight filters. `$mac` sums or, for the first vectors, begins to.
#[rustfmt::skip]
macro_rules! vectors {
    ($mac:literal) => {
        concat!(
            "vldrb.s16 q1, [r5], #8\n",
            $mac, " r0, q0, q1\n",
            "vldrb.s16 q2, [r5], #8\n",
            $mac, " r2, q0, q2\n",
            "vldrb.s16 q3, [r5], #8\n",
            $mac, " r4, q0, q3\n",
            "vldrb.s16 q4, [r5], #8\n",
            $mac, " r6, q0, q4\n",
            "vldrb.s16 q1, [r5], #8\n",
            $mac, " r8, q0, q1\n",
            "vldrb.s16 q2, [r5], #8\n",
            $mac, " r10, q0, q2\n",
            "vldrb.s16 q3, [r5], #8\n",
            $mac, " r12, q0, q3\n",
            "vldrb.s16 q4, [r5], #8\n",
            $mac, " lr, q0, q4\n",
        )
    };
}

/// All filters for some pixels, which come one after the other. Nothing happens where the slices are too short.
///
/// r0, r2, r4, r6, r8, r10, r12, lr are the sums of the filters; r9 points to the taps, r5 to the weights, r1 to the results; r3 counts filters, r7 pairs of vectors.
#[inline(never)]
pub(crate) fn filters_of_pixels<const WIDE: bool>(t: Pixels<'_>, taps: usize) {
    let Some((&[lo, hi, ..], w)) = t.w.split_first_chunk::<HEAD>().filter(|_| t.fit(taps)) else { return };
    let first = (taps - 1) % EIGHT + 1;
    let mut registers = Registers {
        x: t.x.as_ptr() as usize,
        y: t.y.as_ptr() as usize,
        // No more than the slices have, where there are several pixels.
        x_step: t.x_step.wrapping_mul(2),
        y_step: t.y_step.wrapping_mul(2),
        pixels: t.pixels,
        w: w.as_ptr() as usize,
        filters: t.filters,
        first,
        others: (taps - first) / EIGHT,
        lo,
        hi,
    };
    // SAFETY: `fit` has compared what the block reads and writes with the slices, in sums that do not wrap. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "mov r11, r0",
            "ldrd r0, r1, [r11, #36]",
            "vdup.16 q6, r0",
            "vdup.16 q7, r1",
            // Each pixel.
            "2:",
            "ldr r1, [r11, #4]",
            "ldrd r5, r3, [r11, #20]",
            // Each eight: the first vector of taps, which may not be full.
            "3:",
            "ldr r9, [r11]",
            "ldrd r0, r7, [r11, #28]",
            "vctp.16 r0",
            "vpst",
            "vldrht.u16 q0, [r9]",
            "add r9, r9, r0, lsl #1",
            vectors!("vmladav.s16"),
            // One of an odd number of others.
            "lsrs r7, r7, #1",
            "bcc 4f",
            "vldrh.u16 q0, [r9], #16",
            vectors!("vmladava.s16"),
            "4:",
            "cmp r7, #0",
            "beq 6f",
            "5:",
            "vldrh.u16 q0, [r9], #16",
            vectors!("vmladava.s16"),
            "vldrh.u16 q0, [r9], #16",
            vectors!("vmladava.s16"),
            "subs r7, r7, #1",
            "bne 5b",
            "6:",
            // Results: even filters, then odd ones.
            "vmov q0[2], q0[0], r0, r8",
            "vmov q0[3], q0[1], r4, r12",
            "vmov q1[2], q1[0], r2, r10",
            "vmov q1[3], q1[1], r6, lr",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q3",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            ".if {wide}",
            "vmulh.s32 q0, q0, q2",
            "vmulh.s32 q1, q1, q3",
            ".else",
            "movs r0, #1",
            "vqrdmulh.s32 q0, q0, q2",
            "vqrdmulh.s32 q1, q1, q3",
            // What is negative becomes less by one: the upper half of its product with two.
            "vqdmlah.s32 q0, q0, r0",
            "vqdmlah.s32 q1, q1, r0",
            ".endif",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vrshl.s32 q0, q0, q2",
            "vrshl.s32 q1, q1, q3",
            "vqmovnb.s32 q0, q0",
            "vqmovnt.s32 q0, q1",
            "vmax.s16 q0, q0, q6",
            "vmin.s16 q0, q0, q7",
            // As many as there are.
            "vctp.16 r3",
            "vpst",
            "vstrht.16 q0, [r1], #16",
            "subs r3, r3, #8",
            "bhi 3b",
            // The next pixel.
            "ldrd r0, r1, [r11]",
            "ldrd r2, r3, [r11, #8]",
            "ldr r4, [r11, #16]",
            "add r0, r0, r2",
            "add r1, r1, r3",
            "strd r0, r1, [r11]",
            "subs r4, r4, #1",
            "str r4, [r11, #16]",
            "bne 2b",
            "pop {{r6, r7}}",
            wide = const WIDE as usize,
            inout("r0") &mut registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        )
    }
}

/// Assembly: the next vector of a pixel in q0 times the next vectors of four filters, of each eight.
#[rustfmt::skip]
macro_rules! long_vectors {
    ($mac:literal) => {
        concat!(
            "vldrb.s16 q1, [r4]\n",
            $mac, " r0, r1, q0, q1\n",
            "vldrb.s16 q2, [r4, #8]\n",
            $mac, " r2, r3, q0, q2\n",
            "vldrb.s16 q3, [r4, #16]\n",
            $mac, " r8, r9, q0, q3\n",
            "vldrb.s16 q4, [r4, #24]\n",
            $mac, " r10, r11, q0, q4\n",
            "adds r4, r4, #64\n",
        )
    };
}

/// The sums of eight filters in 64 bits, without biases; zeros where there are fewer weights.
#[inline(never)]
pub(crate) fn long_sums_of_eight(w: &[i32], x: &[Cell<i16>]) -> [i64; EIGHT] {
    let mut sums = [0; EIGHT];
    if x.is_empty() || w.len() < taps_words(x.len()) {
        return sums;
    }
    let first = (x.len() - 1) % EIGHT + 1;
    for (half, sums) in sums.chunks_exact_mut(4).enumerate() {
        let (mut low, mut high) = ([0u32; 4], [0u32; 4]);
        // SAFETY: there are eight weights of each filter for each vector of elements, by the comparison above. Every register is declared.
        unsafe {
            core::arch::asm!(
                "vctp.16 r10",
                "vpst",
                "vldrht.u16 q0, [r5]",
                "add r5, r5, r10, lsl #1",
                long_vectors!("vmlaldav.s16"),
                "wls lr, r12, 3f",
                "2:",
                "vldrh.u16 q0, [r5], #16",
                long_vectors!("vmlaldava.s16"),
                "le lr, 2b",
                "3:",
                out("r0") low[0], out("r1") high[0], out("r2") low[1], out("r3") high[1],
                out("r8") low[2], out("r9") high[2], inout("r10") first => low[3], out("r11") high[3],
                inout("r5") x.as_ptr() => _,
                inout("r4") w.as_ptr().cast::<i8>().wrapping_add(half * 4 * EIGHT) => _,
                inout("r12") (x.len() - first) / EIGHT => _,
                out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                out("d6") _, out("d7") _, out("d8") _, out("d9") _,
                options(nostack, readonly),
            )
        }
        for (sum, (low, high)) in sums.iter_mut().zip(low.into_iter().zip(high)) {
            *sum = (i64::from(high) << 32) | i64::from(low);
        }
    }
    sums
}

/// What the block for channels reads, in its order: addresses, bytes and counts.
#[repr(C)]
struct Depthwise {
    taps: usize,
    count: usize,
    w: usize,
    y: usize,
    /// Where the last eight channels begin.
    last: usize,
    pixels: usize,
    x_step: usize,
    y_step: usize,
    lo: i32,
    hi: i32,
}

/// All channels of some pixels.
///
/// r9 counts pixels, r10 is where they are behind the first, r1 points to results, r12 is the channel, in bytes, r5 points to its words, r4 to taps; q4 and q5 are sums of even and odd channels.
///
/// # Safety
///
/// As that of the block for sixteen channels of bytes, with eight channels of 16 bytes.
pub(crate) unsafe fn channels_of_pixels(run: &Run<'_>) {
    let Some((&[lo, hi, ..], w)) = run.w.split_first_chunk::<HEAD>() else { return };
    let registers = Depthwise {
        taps: run.taps.start(),
        count: run.count,
        w: w.as_ptr() as usize,
        y: run.y.as_ptr() as usize,
        last: run.channels - 2 * EIGHT,
        pixels: run.pixels,
        x_step: run.x_step,
        y_step: run.y_step,
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
            "ldrd r2, r3, [r11, #32]",
            "vdup.16 q6, r2",
            "vdup.16 q7, r3",
            "mov r10, #0",
            // Each pixel.
            "2:",
            "ldr r5, [r11, #8]",
            "mov r12, #0",
            // Each eight channels.
            "3:",
            "vldrw.32 q4, [r5], #16",
            "vldrw.32 q5, [r5], #16",
            "ldr r4, [r11]",
            "vmov.i32 q2, #0",
            "mov lr, r8",
            "vmov.i32 q3, #0",
            "add r0, r10, r12",
            // Each tap, and the products of the one before.
            "4:",
            "ldr r2, [r4], #4",
            "vldrb.s16 q1, [r5], #8",
            "add r2, r2, r0",
            "vldrh.u16 q0, [r2]",
            "vadd.i32 q4, q4, q2",
            "vmullb.s16 q2, q0, q1",
            "vadd.i32 q5, q5, q3",
            "vmullt.s16 q3, q0, q1",
            "le lr, 4b",
            "vadd.i32 q4, q4, q2",
            "vadd.i32 q5, q5, q3",
            // Results.
            "vldrw.32 q0, [r5], #16",
            "vldrw.32 q1, [r5], #16",
            "vmulh.s32 q4, q4, q0",
            "vldrw.32 q2, [r5], #16",
            "vmulh.s32 q5, q5, q2",
            "vldrw.32 q3, [r5], #16",
            "vrshl.s32 q4, q4, q1",
            "vrshl.s32 q5, q5, q3",
            "vqmovnb.s32 q4, q4",
            "vqmovnt.s32 q4, q5",
            "vmax.s16 q4, q4, q6",
            "vmin.s16 q4, q4, q7",
            "add r2, r1, r12",
            "vstrh.16 q4, [r2]",
            // The next eight, or the last ones.
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
            inout("r0") &registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        )
    }
}
