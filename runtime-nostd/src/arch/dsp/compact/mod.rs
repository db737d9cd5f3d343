//! Kernels that are small rather than fast, for `optimize = "size"`: one function for all layers of a kind.
//!
//! What the fast kernels know when they are compiled is told at run time here, shifts and signs as well, and nothing has a second way of being computed:
//! no pairs of pixels across rows, no rows that stay in the work space, no plain Rust beside the assembly of a target that has it.

pub(crate) mod add;
pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod mean;

mod tile;

/// Words of a quad of filters before those of its pairs of taps: first values.
const FIRST_WORDS: usize = 4;

/// The same at the end of a quad: factors and constants, behind the corrections of signed layers.
const fn requant_words(signed: bool) -> usize {
    if signed {
        12
    } else {
        8
    }
}

/// Result of a sum that is multiplied by 2^`gain` already, as the assembly computes it. Words are corrections, then M and C.
#[cfg(not(kiln_dsp))]
fn requantised(sum: i32, f: usize, gain: u32, tail: &[i32], shift: u32, signed: bool) -> i8 {
    let word = |at: usize| tail.get(at).copied().unwrap_or(0);
    let (d, shift, at) = if signed {
        let d = sum.wrapping_shl(8 - gain).wrapping_add(word(f) & (sum >> 31));
        (d, shift + 8, 4 + 2 * f)
    } else {
        (sum, shift + gain, 2 * f)
    };
    let product = i64::from(d)
        .wrapping_mul(word(at).into())
        .wrapping_add(i64::from(word(at + 1)) << 32)
        .wrapping_add(1 << 31);
    ((product >> 32) as i32 >> shift.min(31)).clamp(-128, 127) as i8
}
