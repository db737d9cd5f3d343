//! Sums of tensors.
#![allow(unsafe_code)]

use crate::params::AddLinear;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Sum or difference of `i8` operands of the same shape: [`AddLinear`] with that shift, 1 to 31.
///
/// About six cycles an element.
#[inline(always)]
pub fn add_i8_dsp<const SHIFT: u32>(p: &AddLinear, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    add::<SHIFT>(p, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add<const SHIFT: u32>(p: &AddLinear, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let n = a.each().len().min(b.each().len()).min(y.len());
    let blocks = n / 4;
    // SAFETY: each slice has 4 · blocks elements.
    unsafe { add_blocks::<SHIFT>(p, a.start(), b.start(), y.as_ptr().cast_mut().cast(), blocks) };
    for i in blocks * 4..n {
        let (Some(a), Some(b), Some(y)) = (a.at(i), b.at(i), y.get(i)) else { return };
        y.set(sum::<SHIFT>(p, a, b));
    }
}

/// One element.
#[inline(always)]
fn sum<const SHIFT: u32>(p: &AddLinear, a: i8, b: i8) -> i8 {
    let part = |factor: i32, x: i8| ((i64::from(factor) * i64::from(x) * 256) >> 16) as i32;
    let sum = p.start.wrapping_add(part(p.x, a)).wrapping_add(part(p.y, b));
    (sum >> SHIFT).clamp(-128, 127) as i8
}

/// Four elements a block: all of them are read before the first of their sums is written.
///
/// Elements are multiplied where they are in the upper half of a half-word, so that a factor times an element has 24 bits behind the result's last one.
///
/// # Safety
/// `4 · blocks` elements of each operand may be read, and of `y` written.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn add_blocks<const SHIFT: u32>(p: &AddLinear, a: *const i8, b: *const i8, y: *mut i8, blocks: usize) {
    // One element: r6 = its sum.
    macro_rules! element {
        ($half:literal, $a:literal, $b:literal) => {
            concat!(
                "smlaw",
                $half,
                " r6, {fx}, {",
                $a,
                "}, {start}\n",
                "smlaw",
                $half,
                " r6, {fy}, {",
                $b,
                "}, r6\n",
                "ssat r6, #8, r6, asr #{shift}\n",
                "strb r6, [{y}], #1\n",
            )
        };
    }
    macro_rules! block {
        () => {
            concat!(
                "ldr {a0}, [{a}], #4\n",
                "ldr {b0}, [{b}], #4\n",
                "and {a1}, {upper}, {a0}\n",
                "and {a0}, {upper}, {a0}, lsl #8\n",
                "and {b1}, {upper}, {b0}\n",
                "and {b0}, {upper}, {b0}, lsl #8\n",
                element!("b", "a0", "b0"),
                element!("b", "a1", "b1"),
                element!("t", "a0", "b0"),
                element!("t", "a1", "b1"),
            )
        };
    }
    // SAFETY: it reads and writes what the caller allows; r6, which operands never are in, is as before at the end.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "subs {left}, #4",
            "blo 3f",
            "2:",
            block!(), block!(), block!(), block!(),
            "subs {left}, #4",
            "bhs 2b",
            "3:",
            "adds {left}, #4",
            "beq 5f",
            "4:",
            block!(),
            "subs {left}, #1",
            "bne 4b",
            "5:",
            "pop {{r6, r7}}",
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            y = inout(reg) y => _,
            left = inout(reg) blocks => _,
            fx = in(reg) p.x,
            fy = in(reg) p.y,
            start = in(reg) p.start,
            upper = in(reg) 0xff00_ff00_u32,
            a0 = out(reg) _,
            a1 = out(reg) _,
            b0 = out(reg) _,
            b1 = out(reg) _,
            shift = const SHIFT,
        );
    }
}

/// The same in plain Rust.
///
/// # Safety
/// `4 · blocks` elements of each operand may be read, and of `y` written.
#[cfg(not(kiln_dsp))]
#[inline(always)]
unsafe fn add_blocks<const SHIFT: u32>(p: &AddLinear, a: *const i8, b: *const i8, y: *mut i8, blocks: usize) {
    for block in 0..blocks {
        // SAFETY: the caller allows it; nothing aligned is asked for.
        let read = |from: *const i8| unsafe { from.add(4 * block).cast::<[i8; 4]>().read() };
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (read(a), read(b));
        let sums = [(a0, b0), (a1, b1), (a2, b2), (a3, b3)].map(|(a, b)| sum::<SHIFT>(p, a, b));
        // SAFETY: as above.
        unsafe { y.add(4 * block).cast::<[i8; 4]>().write(sums) };
    }
}
