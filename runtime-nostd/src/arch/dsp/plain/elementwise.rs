//! Sums of tensors in plain Rust.

use crate::arch::dsp::elementwise::sum;
use crate::params::AddLinear;

/// Four elements a block.
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
    for block in 0..blocks {
        // SAFETY: the caller allows it; nothing aligned is asked for.
        let read = |from: *const i8| unsafe { from.add(4 * block).cast::<[i8; 4]>().read() };
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (read(a), read(b));
        let sums = [(a0, b0), (a1, b1), (a2, b2), (a3, b3)].map(|(a, b)| sum::<SHIFT>(p, a, b));
        // SAFETY: as above.
        unsafe { y.add(4 * block).cast::<[i8; 4]>().write(sums) };
    }
}
