//! Depthwise convolution: a table of taps for each pixel, and a loop over the channels.

use super::operand::Pixel;
use super::steps::HalfRequant;
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
/// three divides. Padding reads as `pad`. `q` has four words for each channel.
#[inline(never)]
pub fn depthwise2d_i8_taps(
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
    let layer = Layer { p, x, w, padding: &padding };
    for row in band.range() {
        for (column, out) in y.row(row).chunks_exact(p.in_c.max(1)).take(p.out_w).enumerate() {
            let pixel = Pixel::new(p, x, row, column);
            for (block, out) in out.chunks(CHANNELS).enumerate() {
                let c = block * CHANNELS;
                let mut table = Table { taps: [Tap::NONE; TAPS], len: 0 };
                let (Some(()), Some(channels)) =
                    (layer.fill(pixel, c, out.len(), &mut table), q.channels.get(4 * c..))
                else {
                    return;
                };
                sum(&table, channels, q, out);
            }
        }
    }
}

/// What the channels of a block read. The number of taps is a multiple of three.
struct Table<'a> {
    taps: [Tap<'a>; TAPS],
    len: usize,
}

impl<'a> Table<'a> {
    fn push(&mut self, tap: Tap<'a>) -> Option<()> {
        *self.taps.get_mut(self.len)? = tap;
        self.len += 1;
        Some(())
    }
}

struct Layer<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    w: &'a [i8],
    padding: &'a [Cell<i8>],
}

impl<'a> Layer<'a> {
    /// The taps of `count` channels from `c` on; `None` where there is no such thing.
    fn fill(&self, pixel: Pixel, c: usize, count: usize, table: &mut Table<'a>) -> Option<()> {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let padding = self.padding.get(..count)?;
        let mut weights = c;
        let mut weight = || {
            let w = self.w.get(weights..weights.wrapping_add(count));
            weights = weights.wrapping_add(in_c);
            w
        };
        for ky in 0..k_h {
            let image = pixel.row(self.x, ky.wrapping_mul(dilation_h));
            for kx in 0..k_w {
                let ix = pixel.column(kx.wrapping_mul(dilation_w));
                let at = ix.wrapping_mul(in_c).wrapping_add(c);
                let x = if ix < in_w { image.get(at..at.wrapping_add(count)) } else { None };
                table.push(Tap::new(x.unwrap_or(padding), weight()?))?;
            }
        }
        while table.len % 3 != 0 {
            table.push(Tap::new(padding, weight()?))?;
        }
        Some(())
    }
}

/// One tap: elements and weights, both of all channels of the block.
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
}

/// Results of the channels of a block. `channels` has four constants of each.
#[cfg(not(kiln_v6m))]
fn sum(table: &Table<'_>, channels: &[i32], q: &HalfRequant<'_>, out: &[Cell<i8>]) {
    for (c, (out, channel)) in out.iter().zip(channels.chunks_exact(4)).enumerate() {
        let [first, limit, constant, multiplier] = *channel else { return };
        let product = |tap: &Tap<'_>| match (tap.x.get(c), tap.w.get(c)) {
            (Some(x), Some(&w)) => i32::from(x.get()) * i32::from(w),
            _ => 0,
        };
        let v = table.taps.iter().take(table.len).map(product).fold(first, i32::wrapping_add);
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
}

/// Results of the channels of a block. `channels` has four constants of each.
#[cfg(kiln_v6m)]
#[inline(never)]
#[allow(unsafe_code)]
fn sum(table: &Table<'_>, channels: &[i32], q: &HalfRequant<'_>, out: &[Cell<i8>]) {
    if table.len == 0 || table.len % 3 != 0 || out.is_empty() || channels.len() < 4 * out.len() {
        return;
    }
    // The loop takes two groups of three taps at a time, behind the first: it begins with the second one if their number is odd.
    let jump = match table.len / 3 {
        1 => 56,
        groups if groups % 2 == 0 => 26,
        _ => 0,
    };
    let taps = table.taps.as_ptr_range().start as usize;
    let parameters: [usize; 9] = [
        q.shift as usize,
        out.len(),
        q.hi as usize,
        (q.hi - q.lo) as usize,
        taps,
        jump,
        taps + 8 * table.len,
        channels.as_ptr() as usize,
        out.as_ptr() as usize,
    ];
    // SAFETY: `Layer::fill` gave each tap as many elements and weights as there are results; four constants are read and one result, a cell,
    // is written for each. r6, r7, r11 and the stack are restored.
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
            ldm r0!, {{r1, r2, r3, r4}}
            push {{r1, r2, r3, r4}}
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
            mov r0, r8
            adds r0, r0, r2
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

            add sp, #16
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
