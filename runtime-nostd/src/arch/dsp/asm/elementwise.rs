//! Sums of tensors in assembly.

use crate::params::AddLinear;

/// Four elements a block: all of them are read before the first of their sums is written.
///
/// Elements are multiplied where they are in the upper half of a half-word, so that a factor times an element has 24 bits behind the result's last one.
///
/// # Safety
/// `4 · blocks` elements of each operand may be read, and of `y` written.
#[inline(always)]
pub(crate) unsafe fn add_blocks<const SHIFT: u32>(
    p: &AddLinear,
    a: *const i8,
    b: *const i8,
    y: *mut i8,
    blocks: usize,
) {
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
