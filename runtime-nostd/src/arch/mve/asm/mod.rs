//! The inner blocks of kernels in assembly.
//!
//! [`arch`](crate::arch) chooses between these and those of `plain`, file by file with the same functions.
//!
//! Functions that set the predicate (`VCTP`) are never inlined: assembly cannot declare that register, and no caller expects it to be kept.
#![allow(unsafe_code)]

pub(crate) mod channels;
pub(crate) mod conv;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod int16;
pub(crate) mod lines;
pub(crate) mod movement;
pub(crate) mod pool;
pub(crate) mod recurrent;
pub(crate) mod single;
pub(crate) mod softmax;
pub(crate) mod unary;
pub(crate) mod wide;
pub(crate) mod window;

/// Assembly: 1 in `$register`, where [`multiplied`] needs it.
#[rustfmt::skip]
macro_rules! one {
    ($register:literal) => {
        concat!(".if {exact} && {left} == 0\n", "movs ", $register, ", #1\n", ".endif\n")
    };
}
use one;

/// Assembly: multiplies the vector `$sums`, to which first values have been added, by `$multipliers`, and adds `$constants`. `$one` is a register that [`one`] has set.
///
/// What is negative becomes less by one: the upper half of its product with two.
#[rustfmt::skip]
macro_rules! multiplied {
    ($sums:literal, $multipliers:literal, $constants:literal, $one:literal) => {
        concat!(
            ".if {exact}\n",
            "vqrdmulh.s32 ", $sums, ", ", $sums, ", ", $multipliers, "\n",
            ".if {left} == 0\n",
            "vqdmlah.s32 ", $sums, ", ", $sums, ", ", $one, "\n",
            ".endif\n",
            ".else\n",
            "vrmulh.s32 ", $sums, ", ", $sums, ", ", $multipliers, "\n",
            ".endif\n",
            "vadd.i32 ", $sums, ", ", $sums, ", ", $constants, "\n",
        )
    };
}
use multiplied;

/// Assembly: shifts the vector `$sums` to the right, and saturates it to halves of words: the lower ones of `$narrow`, or the upper ones, as `$half` says (`b`, `t`).
#[rustfmt::skip]
macro_rules! narrowed {
    ($half:literal, $narrow:literal, $sums:literal) => {
        concat!(
            ".if {exact} || {shift} == 0\n",
            "vqmovn", $half, ".s32 ", $narrow, ", ", $sums, "\n",
            ".elseif {shift} > 16\n",
            "vshr.s32 ", $sums, ", ", $sums, ", #({shift} - 16)\n",
            "vqshrn", $half, ".s32 ", $narrow, ", ", $sums, ", #16\n",
            ".else\n",
            "vqshrn", $half, ".s32 ", $narrow, ", ", $sums, ", #{shift}\n",
            ".endif\n",
        )
    };
}
use narrowed;

/// Assembly: the next vector of a pixel in q0 times the next vectors of eight filters: four at r5, and four at `$second`, which may be r5 as well. `$mac` sums or, for the first
/// vectors, begins to.
#[rustfmt::skip]
macro_rules! eight_vectors {
    ($mac:literal, $second:literal) => {
        concat!(
            "vldrb.8 q1, [r5], #16\n",
            $mac, " r0, q0, q1\n",
            "vldrb.8 q2, [r5], #16\n",
            $mac, " r2, q0, q2\n",
            "vldrb.8 q3, [r5], #16\n",
            $mac, " r4, q0, q3\n",
            "vldrb.8 q4, [r5], #16\n",
            $mac, " r6, q0, q4\n",
            "vldrb.8 q1, [", $second, "], #16\n",
            $mac, " r8, q0, q1\n",
            "vldrb.8 q2, [", $second, "], #16\n",
            $mac, " r10, q0, q2\n",
            "vldrb.8 q3, [", $second, "], #16\n",
            $mac, " r12, q0, q3\n",
            "vldrb.8 q4, [", $second, "], #16\n",
            $mac, " lr, q0, q4\n",
        )
    };
}
use eight_vectors;

/// The last shift of an affine form: the assembler takes no larger ones, and there are no other results for them.
const fn last_shift(shift: u32) -> u32 {
    if shift < 31 {
        shift
    } else {
        31
    }
}

/// How many vectors of taps come before the loop, and how often the loop runs through `unroll` of them.
const fn turns(vectors: usize, most: usize, unroll: usize) -> (usize, usize) {
    if vectors <= most {
        return (vectors, 0);
    }
    let first = (vectors - 1) % unroll + 1;
    (first, (vectors - first) / unroll)
}
