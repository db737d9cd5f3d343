//! Vectors of 32-bit lanes: the operations that kernels of [`simd`](super::simd) consist of, and that instruction sets implement.
// What reads and writes memory is unsafe, and its default rests on its caller.
#![allow(unsafe_code)]

/// Filters in a block.
pub(crate) const BLOCK: usize = 16;

/// Vectors of a kind of processor.
///
/// # Safety
///
/// All functions need the processor's support: they are called behind a check of the [`Level`](super::level::Level), within functions compiled for it. Pointers
/// need not be aligned; they have to be valid for a vector, or for what the function says.
pub(crate) unsafe trait Simd: Copy {
    /// 32-bit lanes of a vector: 4, 8 or 16.
    const LANES: usize;
    /// What bytes of operands are exclusive-or'ed with in the workspace: `0x80` where the processor multiplies unsigned bytes with signed ones, and 0 where it
    /// multiplies signed ones.
    const FLIP: u8;
    /// Pixels of a tile of an integer convolution, at most 8, for a tile of two vectors or of one block, whichever is wider.
    const PIXELS: usize;
    /// The same of floats.
    const FLOAT_PIXELS: usize;

    /// The same processor's vectors of half as many lanes; itself where there are none.
    type Half: Simd;
    /// `i32` lanes.
    type I: Copy;
    /// `f32` lanes.
    type F: Copy;
    /// Four bytes of an operand in each lane, ready to be multiplied.
    type X: Copy;
    /// Four weights in each lane, ready to be multiplied.
    type W: Copy;

    /// Loads lanes.
    unsafe fn load_i(from: *const i32) -> Self::I;
    /// Stores lanes.
    unsafe fn store_i(x: Self::I, to: *mut i32);
    /// One value in all lanes.
    unsafe fn splat_i(x: i32) -> Self::I;
    /// Sums, modulo 2³².
    unsafe fn add_i(a: Self::I, b: Self::I) -> Self::I;
    /// The low halves of products.
    unsafe fn mul_i(a: Self::I, b: Self::I) -> Self::I;
    /// Arithmetic shift to the right, by at most 31.
    unsafe fn shift_right_i(x: Self::I, by: u32) -> Self::I;
    /// As many bytes as there are lanes, sign-extended.
    unsafe fn widen(from: *const i8) -> Self::I;

    /// The same four bytes of an operand in all lanes.
    unsafe fn broadcast(from: *const u8) -> Self::X;
    /// Four bytes of an operand for each lane.
    unsafe fn operand(from: *const u8) -> Self::X;
    /// Four weights for each lane.
    unsafe fn weights(from: *const i8) -> Self::W;
    /// `acc` plus the products of the four bytes of each lane.
    unsafe fn dot(acc: Self::I, x: Self::X, w: Self::W) -> Self::I;
    /// Four rows of bytes, of which each has as many as a vector: `to` gets, for byte after byte, that of each row.
    unsafe fn interleave(rows: [*const u8; 4], to: *mut u8);

    /// `acc · factor`, rounded to `f32`, plus `half` with the sign of `acc`, rounded to `f32`, without its fraction. Beyond the range of `i32` whatever is
    /// beyond that of 16 bits.
    unsafe fn round_away(acc: Self::I, factor: Self::F, half: Self::F) -> Self::I;
    /// `acc · factor`, rounded to `f32`, rounded half to even. Beyond the range of `i32` as in [`round_away`](Self::round_away).
    unsafe fn round_even(acc: Self::I, factor: Self::F) -> Self::I;
    /// `acc · factor`, rounded to `f32`, plus `constant`, rounded to `f32`, rounded half to even. Beyond the range of `i32` as in
    /// [`round_away`](Self::round_away).
    unsafe fn round_nearest(acc: Self::I, factor: Self::F, constant: Self::F) -> Self::I;
    /// `acc · multiplier / 2³¹`, rounded half up, and that by 2^(`shift` + 1), rounded half away from zero: TensorFlow Lite's double rounding. Multipliers are not negative; shifts are 0..=30.
    unsafe fn round_twice(acc: Self::I, multiplier: Self::I, shift: Self::I) -> Self::I;
    /// The lanes of a block, each plus `zero_point`, clamped to `lo..=hi`, as sixteen bytes. `x` has the vectors of a block.
    unsafe fn narrow(x: &[Self::I], clamp: &Clamp, to: *mut i8);

    /// Loads lanes.
    unsafe fn load(from: *const f32) -> Self::F;
    /// Stores lanes.
    unsafe fn store(x: Self::F, to: *mut f32);
    /// Loads the first `count` lanes, fewer than all of them; the others are `rest`.
    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize, rest: f32) -> Self::F {
        let mut all = [rest; BLOCK];
        // SAFETY: no vector has more lanes than a block, and the caller's pointer is valid for `count` of them.
        unsafe {
            for (i, x) in all.iter_mut().enumerate().take(count) {
                *x = *from.add(i);
            }
            Self::load(all.as_ptr())
        }
    }
    /// Stores the first `count` lanes, fewer than all of them.
    #[inline(always)]
    unsafe fn store_some(x: Self::F, to: *mut f32, count: usize) {
        let mut all = [0.0; BLOCK];
        // SAFETY: no vector has more lanes than a block, and the caller's pointer is valid for `count` of them.
        unsafe {
            Self::store(x, all.as_mut_ptr());
            for (i, x) in all.into_iter().enumerate().take(count) {
                *to.add(i) = x;
            }
        }
    }
    /// One value in all lanes.
    unsafe fn splat(x: f32) -> Self::F;
    /// `acc + a · b`, with one rounding or with two.
    unsafe fn mul_add(acc: Self::F, a: Self::F, b: Self::F) -> Self::F;
    /// Sums.
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F;
    /// Differences.
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F;
    /// Products.
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F;
    /// Quotients.
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F;
    /// The larger ones; `b` where one is NaN.
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F;
    /// Square roots.
    unsafe fn sqrt(x: Self::F) -> Self::F;
    /// 2ⁿ of whole numbers in −126..=127.
    unsafe fn power(n: Self::F) -> Self::F;
    /// `x` clamped to `lo..=hi`; NaN stays NaN.
    unsafe fn clip(x: Self::F, lo: Self::F, hi: Self::F) -> Self::F;
}

/// Defines operations of [`Simd`] as expressions.
macro_rules! operations {
    ($( fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)? = $body:expr; )+) => {$(
        #[inline(always)]
        #[allow(unused_unsafe)] // where an operation is plain Rust
        unsafe fn $name($($arg: $ty),*) $(-> $result)? {
            // SAFETY: the caller's: the processor has the instructions, and pointers are valid for what `Simd` says of the operation.
            unsafe { $body }
        }
    )+};
}
pub(crate) use operations;

/// The end of a requantisation.
#[derive(Clone, Copy)]
pub(crate) struct Clamp {
    /// Added.
    pub(crate) zero_point: i16,
    /// Smallest result.
    pub(crate) lo: i8,
    /// Largest result.
    pub(crate) hi: i8,
}
