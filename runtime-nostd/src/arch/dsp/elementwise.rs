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
    const { assert!(SHIFT >= 1 && SHIFT <= 31) };
    add::<SHIFT>(p, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add<const SHIFT: u32>(p: &AddLinear, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let n = a.each().len().min(b.each().len()).min(y.len());
    let blocks = n / 4;
    // SAFETY: each slice has `n` elements at least, which are no fewer than 4 · blocks.
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
    // r0, r1: operands; r2: result; r4, r5: factors; r8: start; r9: mask; r10, r11 and r12, lr: elements (0, 2) and (1, 3) of the operands.
    #[rustfmt::skip]
    macro_rules! element {
        ($half:literal, $a:literal, $b:literal) => {
            concat!(
                "smlaw", $half, " r6, r4, ", $a, ", r8\n",
                "smlaw", $half, " r6, r5, ", $b, ", r6\n",
                "ssat r6, #8, r6, asr #{shift}\n",
                "strb r6, [r2], #1\n",
            )
        };
    }
    macro_rules! block {
        () => {
            concat!(
                "ldr r10, [r0], #4\n",
                "ldr r12, [r1], #4\n",
                "and r11, r9, r10\n",
                "and r10, r9, r10, lsl #8\n",
                "and lr, r9, r12\n",
                "and r12, r9, r12, lsl #8\n",
                element!("b", "r10", "r12"),
                element!("b", "r11", "lr"),
                element!("t", "r10", "r12"),
                element!("t", "r11", "lr"),
            )
        };
    }
    // SAFETY: it reads and writes what the caller allows; r6, which operands never are in, is as before at the end.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "subs r3, #4",
            "blo 3f",
            "2:",
            block!(), block!(), block!(), block!(),
            "subs r3, #4",
            "bhs 2b",
            "3:",
            "adds r3, #4",
            "beq 5f",
            "4:",
            block!(),
            "subs r3, #1",
            "bne 4b",
            "5:",
            "pop {{r6, r7}}",
            inout("r0") a => _,
            inout("r1") b => _,
            inout("r2") y => _,
            inout("r3") blocks => _,
            in("r4") p.x,
            in("r5") p.y,
            in("r8") p.start,
            in("r9") 0xff00_ff00_u32,
            out("r10") _,
            out("r11") _,
            out("r12") _,
            out("lr") _,
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
