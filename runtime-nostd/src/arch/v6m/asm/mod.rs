//! The inner blocks of kernels in assembly. [`arch`](crate::arch) chooses between these and those of `plain`, file by file with the same functions.
#![allow(unsafe_code)]

/// The assembler's macro `kiln_requantised`: result r5 of accumulator r4, with limit r1, constant r2, multiplier r3 and shift r7; destroys r4 and r6. On the stack, so many bytes on, are the largest result less the smallest, and
/// the largest.
macro_rules! requantised {
    ($span:literal, $hi:literal) => {
        concat!(
            "
            .macro kiln_requantised
            cmp r4, r1
            blo 3f
            ldr r6, [sp, ",
            $span,
            "]
            asrs r4, r4, #31
            ands r4, r4, r6
            ldr r5, [sp, ",
            $hi,
            "]
            subs r5, r5, r4
            b 4f
            3:
            uxth r5, r3
            muls r5, r4, r5
            lsrs r5, r5, #14
            lsrs r6, r3, #16
            muls r6, r4, r6
            adds r5, r5, r6
            adds r5, r5, r2
            asrs r5, r5, r7
            4:
            .endm
            "
        )
    };
}

pub(crate) mod column;
pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pair;
pub(crate) mod rolling;
pub(crate) mod single;
pub(crate) mod winograd;
