//! Products of matrices and vectors, four filters at a time.
#![allow(unsafe_code)]

use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::tile::FIRST_WORDS;
#[cfg(kiln_dsp)]
use crate::arch::dsp::tile_asm::{corrected_single, four_elements, shifts};
use crate::params::CompactDense;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Product of the rows of `x`, whose length is a multiple of four, with filters as long, to rows of one result per filter, for cores with the DSP extension.
///
/// Weights and results are those of [`dense_i8_dsp`](crate::kernels::dense_i8_dsp), with the shift and the sign that `p` says. Nothing is written if these do not fit
/// each other.
#[inline(never)]
pub fn dense_i8_dsp_compact(p: &CompactDense<'_>, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
    for (row, y) in y.of_band(band) {
        vector(p, x.row(row), y);
    }
}

/// What the block reads, in its order.
#[repr(C)]
#[cfg(kiln_dsp)]
struct Frame {
    /// 0: the elements.
    x: *const Cell<i8>,
    /// 4: words of four elements.
    words: usize,
    /// 8: the next result.
    y: *const Cell<i8>,
    /// 12: results that are left.
    left: usize,
    /// 16: whether negative sums are corrected.
    signed: usize,
    /// 20 and 24: shifts of even and odd filters.
    shifts: [u32; 2],
    /// The weights, in r8.
    w: *const i32,
}

#[inline(always)]
fn vector(p: &CompactDense<'_>, x: &[Cell<i8>], y: &[Cell<i8>]) {
    let quad = FIRST_WORDS + x.len() + requant_words(p.signed);
    let fits = p.weights.len() >= y.len().div_ceil(4).saturating_mul(quad);
    if !fits || y.is_empty() || x.is_empty() || x.len() % 4 != 0 {
        return;
    }
    #[cfg(kiln_dsp)]
    {
        let frame = Frame {
            x: x.as_ptr(),
            words: x.len() / 4,
            y: y.as_ptr(),
            left: y.len(),
            signed: p.signed.into(),
            shifts: shifts(p.shift, p.signed),
            w: p.weights.as_ptr(),
        };
        // SAFETY: there are weights for all elements and results, which are cells: `fits` has compared them; a quad is no longer than a slice and a few words.
        unsafe { block(&frame) }
    }
    #[cfg(not(kiln_dsp))]
    for (y, w) in y.chunks(4).zip(p.weights.chunks_exact(quad)) {
        let (first, taps) = w.split_at(FIRST_WORDS);
        let mut sums = [0; 4];
        for (half, (sums, first)) in sums.chunks_exact_mut(2).zip(first.chunks_exact(2)).enumerate() {
            let (&mut [ref mut low, ref mut high], &[a, ab]) = (sums, first) else { return };
            let (mut even, mut both) = (a, ab);
            for (i, w) in taps.iter().take(x.len()).skip(half).step_by(2).enumerate() {
                // Of each four elements the first and the third, then the second and the fourth.
                for (tap, w) in [(i / 2 * 4 + i % 2, *w), (i / 2 * 4 + i % 2 + 2, w >> 16)] {
                    let x = x.get(tap).map_or(0, |x| i32::from(x.get()));
                    even = even.wrapping_add(x * i32::from(w as i8));
                    both = both.wrapping_add(x * i32::from(w as i16));
                }
            }
            (*low, *high) = (even, both.wrapping_sub(even));
        }
        let results = crate::arch::dsp::affine::quad(sums, 8, w, p.shift, p.signed);
        y.iter().zip(results).for_each(|(y, result)| y.set(result));
    }
}

/// The assembly of [`dense_i8_dsp_compact`].
///
/// r0–r3 accumulate A, A + 256 · B, C and C + 256 · D; r8 is the next weight, r9 the next element, r6 how many words are left; r4 and r5 hold four elements, r10, r11, r12
/// and lr their weights: 25 cycles for 16 products.
///
/// # Safety
///
/// The frame describes elements, weights and results that are there, one of each at least.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn block(frame: &Frame) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6, r8}}",
            "push {{r0, r1, r2, r3, r4, r5, r6}}",
            // Each quad.
            "2:",
            "ldrd r9, r6, [sp, #0]",
            "ldm r8!, {{r0, r1, r2, r3}}",
            "3:",
            "ldr r4, [r9], #4",
            "ldm r8!, {{r10, r11, r12, lr}}",
            four_elements!(),
            "subs r6, r6, #1",
            "bne 3b",
            // Sums and results.
            "subs r1, r1, r0",
            "subs r3, r3, r2",
            "ldr r4, [sp, #16]",
            "cbz r4, 4f",
            "ldm r8!, {{r4, r5, r6, r7}}",
            corrected_single!(),
            "4:",
            "ldm r8!, {{r4, r5, r6, r7}}",
            "smmlar r0, r0, r4, r5",
            "smmlar r1, r1, r6, r7",
            "ldm r8!, {{r4, r5, r6, r7}}",
            "smmlar r2, r2, r4, r5",
            "smmlar r3, r3, r6, r7",
            "ldrd r6, r7, [sp, #20]",
            "asrs r0, r6",
            "asrs r1, r7",
            "asrs r2, r6",
            "asrs r3, r7",
            "ssat r0, #8, r0",
            "ssat r1, #8, r1",
            "ssat r2, #8, r2",
            "ssat r3, #8, r3",
            "ldrd r4, r5, [sp, #8]",
            // As many results as there are filters.
            "strb r0, [r4, #0]",
            "subs r5, #2",
            "blt 5f",
            "strb r1, [r4, #1]",
            "beq 5f",
            "strb r2, [r4, #2]",
            "subs r5, #2",
            "blt 5f",
            "strb r3, [r4, #3]",
            "add r4, r4, #4",
            "strd r4, r5, [sp, #8]",
            "5:",
            "bgt 2b",
            "add sp, sp, #28",
            "pop {{r6, r7}}",
            inout("r0") frame => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
