//! Depthwise convolution: a table of taps for each pixel, and a loop over the channels.

use super::operand::Pixel;
use super::steps::HalfRequant;
use crate::arch::extent::{product, span};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Channels that one table serves: as many as there is padding for.
const CHANNELS: usize = 64;

/// Most taps of a table: three for each of nine groups.
const TAPS: usize = 27;

/// Depthwise convolution of one `i8` image, as many channels in the result as in the operand, with at most 27 taps.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · in_c`. `w` is \[taps\]\[in_c\], filled up with zeros to a number of taps that
/// three divides. Padding reads as `pad`. `q` has four or six words for each channel.
#[inline(never)]
pub fn depthwise2d_i8_v6m(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let padding = [const { Cell::new(0) }; CHANNELS];
    padding.iter().for_each(|cell| cell.set(pad));
    let full = product(p.in_w, p.in_c) <= x.row_len();
    let layer = Layer { p, x, w, padding: &padding, full, reach: span(p.k_w, p.dilation_w) };
    for (row, out) in y.of_band(band) {
        let mut c = 0;
        while c < p.in_c && p.in_c <= out.len() {
            let count = CHANNELS.min(p.in_c - c);
            let mut table = Table { taps: [Tap::NONE; TAPS], len: 0 };
            let channels = q.channels.get(q.words.wrapping_mul(c)..).unwrap_or(&[]);
            if layer.weights(c, count, &mut table).is_none() {
                return;
            }
            // Whether no tap of the pixel before was left or right of the image.
            let mut inside = false;
            for (column, out) in out.chunks_exact(p.in_c.max(1)).take(p.out_w).enumerate() {
                let out = out.get(c..c.wrapping_add(count)).unwrap_or(&[]);
                let pixel = Pixel::new(p, x, row, column);
                let was_inside = inside && column > 0;
                inside = layer.is_inside(pixel);
                if was_inside && inside {
                    layer.advance(pixel, &mut table);
                } else {
                    layer.elements(pixel, c, count, &mut table);
                }
                sum(&table, channels, q, out);
            }
            c += count;
        }
    }
}

/// What the channels of a block read. The number of taps is a multiple of three.
struct Table<'a> {
    taps: [Tap<'a>; TAPS],
    len: usize,
}

struct Layer<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    w: &'a [i8],
    padding: &'a [Cell<i8>],
    /// Whether rows of the operand have all of its columns.
    full: bool,
    /// Columns from the first tap of a row to the last one.
    reach: usize,
}

impl<'a> Layer<'a> {
    /// The taps of `count` channels from `c` on, with their weights; `None` where there is no such thing.
    fn weights(&self, c: usize, count: usize, table: &mut Table<'a>) -> Option<()> {
        let padding = self.padding.get(..count)?;
        // A filter without taps may have any number of rows.
        let taps =
            self.p.k_h.checked_mul(self.p.k_w).filter(|&taps| taps > 0)?.checked_next_multiple_of(3)?;
        let mut at = c;
        for tap in table.taps.get_mut(..taps)? {
            *tap = Tap::new(padding, self.w.get(at..at.wrapping_add(count))?);
            at = at.wrapping_add(self.p.in_c);
        }
        table.len = taps;
        Some(())
    }

    /// Whether no tap of a pixel is left or right of the image.
    #[inline(always)]
    fn is_inside(&self, pixel: Pixel) -> bool {
        let (in_w, left) = (self.p.in_w, pixel.column(0));
        self.full && left < in_w && self.reach < in_w.wrapping_sub(left)
    }

    /// From a pixel inside the image to the next one in its row, which is inside as well: taps move, but for those above and below the image.
    #[inline(never)]
    fn advance(&self, pixel: Pixel, table: &mut Table<'a>) {
        let Conv { in_c, k_h, k_w, stride_w, dilation_h, .. } = *self.p;
        let step = stride_w.wrapping_mul(in_c);
        let mut taps = table.taps.iter_mut();
        for ky in 0..k_h {
            let is_image = !pixel.row(self.x, ky.wrapping_mul(dilation_h)).is_empty();
            for _ in 0..k_w {
                let Some(tap) = taps.next() else { return };
                if is_image {
                    tap.advance(step);
                }
            }
        }
    }

    /// What they read for a pixel.
    #[inline(never)]
    fn elements(&self, pixel: Pixel, c: usize, count: usize, table: &mut Table<'a>) {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let padding = self.padding.get(..count).unwrap_or(&[]);
        let mut taps = table.taps.iter_mut().take(table.len);
        let step = dilation_w.wrapping_mul(in_c);
        let left = pixel.column(0);
        let first = left.wrapping_mul(in_c).wrapping_add(c);
        for ky in 0..k_h {
            let image = pixel.row(self.x, ky.wrapping_mul(dilation_h));
            let (mut ix, mut at) = (left, first);
            for _ in 0..k_w {
                let Some(tap) = taps.next() else { return };
                let x = if ix < in_w { image.get(at..) } else { None };
                tap.read(x.filter(|x| x.len() >= count).unwrap_or(padding));
                (ix, at) = (ix.wrapping_add(dilation_w), at.wrapping_add(step));
            }
        }
    }
}

/// One tap: elements and weights, of all channels of the block and more. The elements are those of a row of the image from some on, or padding.
#[cfg(not(kiln_v6m))]
#[derive(Clone, Copy)]
struct Tap<'a> {
    x: &'a [Cell<i8>],
    w: &'a [i8],
}

#[cfg(not(kiln_v6m))]
impl<'a> Tap<'a> {
    const NONE: Self = Tap { x: &[], w: &[] };

    fn new(x: &'a [Cell<i8>], w: &'a [i8]) -> Self {
        Tap { x, w }
    }

    fn read(&mut self, x: &'a [Cell<i8>]) {
        self.x = x;
    }

    fn advance(&mut self, step: usize) {
        self.x = self.x.get(step..).unwrap_or(&[]);
    }
}

/// Results of the channels of a block, with the constants that `channels` begins with.
#[cfg(not(kiln_v6m))]
fn sum(table: &Table<'_>, channels: &[i32], q: &HalfRequant<'_>, out: &[Cell<i8>]) {
    for (c, (out, channel)) in out.iter().zip(channels.chunks_exact(q.words.max(4))).enumerate() {
        let [first, limit, constant, multiplier, ref signed @ ..] = *channel else { return };
        let product = |tap: &Tap<'_>| match (tap.x.get(c), tap.w.get(c)) {
            (Some(x), Some(&w)) => i32::from(x.get()) * i32::from(w),
            _ => 0,
        };
        let v = table.taps.iter().take(table.len).map(product).fold(first, i32::wrapping_add);
        let constant = match *signed {
            [origin, below] if v < origin => below,
            _ => constant,
        };
        out.set(q.apply(v, limit, constant, multiplier));
    }
}

/// One tap: where elements and weights of the block's first channel are. Those of the others are behind.
#[cfg(kiln_v6m)]
#[repr(C)]
#[derive(Clone, Copy)]
struct Tap<'a> {
    x: *const Cell<i8>,
    w: *const i8,
    of: core::marker::PhantomData<&'a [Cell<i8>]>,
}

#[cfg(kiln_v6m)]
impl<'a> Tap<'a> {
    const NONE: Self = Tap { x: core::ptr::null(), w: core::ptr::null(), of: core::marker::PhantomData };

    fn new(x: &'a [Cell<i8>], w: &'a [i8]) -> Self {
        Tap { x: x.as_ptr(), w: w.as_ptr(), of: core::marker::PhantomData }
    }

    fn read(&mut self, x: &'a [Cell<i8>]) {
        self.x = x.as_ptr();
    }

    /// Where that many elements more are in the row.
    fn advance(&mut self, step: usize) {
        self.x = self.x.wrapping_add(step);
    }
}

/// Results of the channels of a block, with the constants that `channels` begins with.
#[cfg(kiln_v6m)]
#[inline(never)]
#[allow(unsafe_code)]
fn sum(table: &Table<'_>, channels: &[i32], q: &HalfRequant<'_>, out: &[Cell<i8>]) {
    if table.len == 0 || table.len % 3 != 0 || out.is_empty() {
        return;
    }
    if !matches!(q.words, 4 | 6) || channels.len() < q.words * out.len() {
        return;
    }
    // The loop takes two groups of three taps at a time, behind the first: it begins with the second one if their number is odd.
    let jump = match table.len / 3 {
        1 => 56,
        groups if groups % 2 == 0 => 26,
        _ => 0,
    };
    let taps = table.taps.as_ptr_range().start as usize;
    let parameters: [usize; 10] = [
        q.shift as usize,
        out.len(),
        q.hi as usize,
        q.hi.wrapping_sub(q.lo) as usize,
        q.words - 4,
        taps,
        jump,
        taps + 8 * table.len,
        channels.as_ptr() as usize,
        out.as_ptr() as usize,
    ];
    // SAFETY: each tap has as many elements and weights as there are results: `Layer` made both for as many channels, and only lets taps
    // advance in rows that have all columns (`full`), to columns that they have (`is_inside`, whose `reach` does not wrap); `words` constants are read
    // (compared above) and one result, a cell, is written for each. r6, r7, r11 and the stack are restored.
    unsafe {
        core::arch::asm!(
            // Three taps: 13 instructions.
            "
            .macro kiln_taps first
            ldm r0!, {{r2, r3, r4, r5, r6, r7}}
            ldrsb r2, [r2, r1]
            ldrsb r3, [r3, r1]
            muls r2, r3, r2
            .if \\first
            mov r8, r2
            .else
            add r8, r2
            .endif
            ldrsb r4, [r4, r1]
            ldrsb r5, [r5, r1]
            muls r4, r5, r4
            add r8, r4
            ldrsb r6, [r6, r1]
            ldrsb r7, [r7, r1]
            muls r6, r7, r6
            add r8, r6
            .endm

            push {{r6, r7}}
            mov r6, r11
            push {{r6}}
            ldm r0!, {{r1, r2, r3, r4, r5}}
            push {{r1, r2, r3, r4, r5}}
            ldm r0!, {{r1, r2, r3, r4, r5}}
            mov r9, r1
            mov r10, r2
            mov r11, r3
            mov r12, r4
            mov lr, r5
            movs r1, #0

            2:
            mov r0, r9
            kiln_taps 1
            add pc, r10
            nop
            3:
            kiln_taps 0
            kiln_taps 0
            cmp r0, r11
            bne 3b

            mov r0, r12
            ldm r0!, {{r2, r3, r4, r5}}
            mov r12, r0
            ldr r6, [sp, #16]
            cmp r6, #0
            bne 6f
            mov r0, r8
            adds r0, r0, r2
            7:
            cmp r0, r3
            blo 4f
            ldr r2, [sp, #12]
            asrs r0, r0, #31
            ands r0, r0, r2
            ldr r2, [sp, #8]
            subs r2, r2, r0
            b 5f
            4:
            uxth r2, r5
            muls r2, r0, r2
            lsrs r2, r2, #14
            lsrs r5, r5, #16
            muls r5, r0, r5
            adds r2, r2, r5
            adds r2, r2, r4
            ldr r3, [sp, #0]
            asrs r2, r2, r3
            5:
            mov r3, lr
            strb r2, [r3, r1]
            adds r1, r1, #1
            ldr r3, [sp, #4]
            cmp r1, r3
            bne 2b
            b 8f

            // Signed layers: origin and the constant below.
            6:
            ldm r0!, {{r6, r7}}
            mov r12, r0
            mov r0, r8
            adds r0, r0, r2
            cmp r0, r6
            bge 7b
            mov r4, r7
            b 7b

            8:
            add sp, #20
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            .purgem kiln_taps
            ",
            inout("r0") parameters.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
