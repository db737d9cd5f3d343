//! Bytes seen as elements: the arena that activations live in, and constants in flash.
#![allow(unsafe_code)]

use core::cell::Cell;
use core::mem::size_of;

/// The element types of tensors: `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `i64`, `u64` and `f32`.
///
/// Sealed, because [`Memory`] relies on every pattern of bits being a valid element.
pub trait Element: Copy + sealed::Plain + 'static {}

mod sealed {
    /// # Safety
    ///
    /// Every pattern of `size_of::<Self>()` bytes is a value of the type, without padding, and its alignment is at most 16.
    pub unsafe trait Plain {}
}

macro_rules! elements {
    ($($t:ty),*) => { $(
        // SAFETY: integers and IEEE floats have no invalid patterns and no padding, and are aligned to at most 8 bytes.
        unsafe impl sealed::Plain for $t {}
        impl Element for $t {}
    )* };
}
elements!(i8, u8, i16, u16, i32, u32, i64, u64, f32);

/// `N` bytes of working memory, aligned to 16; on x86-64 to 64, a vector.
///
/// Const-constructible, so that a model can live in a `static` without ever being on the stack. All-zero at first.
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(16)))]
#[cfg_attr(target_arch = "x86_64", repr(C, align(64)))]
pub struct Arena<const N: usize>([u8; N]);

impl<const N: usize> Arena<N> {
    /// A zeroed arena.
    pub const fn new() -> Self {
        Arena([0; N])
    }

    /// An arena with that content: retained state that does not start at zero.
    pub const fn from_bytes(bytes: [u8; N]) -> Self {
        Arena(bytes)
    }

    /// The arena as memory whose regions may be borrowed several times at once.
    #[inline(always)]
    pub fn memory(&mut self) -> Memory<'_, N> {
        Memory(Cell::from_mut(self))
    }

    /// The first `BYTES` bytes as an arena of their own, for a model that needs no more. Larger than this one does not compile.
    #[inline(always)]
    pub fn first_mut<const BYTES: usize>(&mut self) -> &mut Arena<BYTES> {
        const { assert!(BYTES <= N, "the arena is too small for the model") };
        // SAFETY: both are bytes, aligned alike, with the size rounded up to that, so the smaller lies inside the larger (checked
        // above); any bytes are a valid arena, and the exclusive borrow of `self` keeps all others away.
        unsafe { &mut *core::ptr::from_mut(self).cast() }
    }

    /// The `LEN` elements that start at byte `OFFSET`.
    ///
    /// A region that leaves the arena or is not aligned for `T` does not compile.
    #[inline(always)]
    pub const fn get<T: Element, const OFFSET: usize, const LEN: usize>(&self) -> &[T; LEN] {
        const { check_region::<T>(N, OFFSET, LEN) };
        // SAFETY: the region lies inside the arena and is aligned (checked above; the arena is aligned to 16 at least), any bytes
        // are valid elements, and the borrow of `self` keeps writers away.
        unsafe { &*self.0.as_ptr().add(OFFSET).cast() }
    }

    /// As [`Arena::get`], to be written.
    #[inline(always)]
    pub fn get_mut<T: Element, const OFFSET: usize, const LEN: usize>(&mut self) -> &mut [T; LEN] {
        const { check_region::<T>(N, OFFSET, LEN) };
        // SAFETY: as in `get`; the exclusive borrow of `self` keeps readers away, and any elements are valid bytes.
        unsafe { &mut *self.0.as_mut_ptr().add(OFFSET).cast() }
    }
}

impl<const N: usize> Default for Arena<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory of an exclusively borrowed [`Arena`] of `N` bytes. Copies of it share the bytes.
#[derive(Clone, Copy)]
pub struct Memory<'a, const N: usize>(&'a Cell<Arena<N>>);

impl<'a, const N: usize> Memory<'a, N> {
    /// The `LEN` elements that start at byte `OFFSET`, as cells: regions may overlap, with other element types as well.
    ///
    /// A region that leaves the arena or is not aligned for `T` does not compile:
    ///
    /// ```compile_fail
    /// let mut arena = kiln::Arena::<16>::new();
    /// arena.memory().cells::<i32, 4, 4>();
    /// ```
    #[inline(always)]
    pub fn cells<T: Element, const OFFSET: usize, const LEN: usize>(self) -> &'a [Cell<T>; LEN] {
        const { check_region::<T>(N, OFFSET, LEN) };
        // SAFETY: the region lies inside the arena and is aligned (checked above; the arena is aligned to 16 at least), and any bytes
        // are valid elements, so every cell may be read and written as any `Element`. All access for `'a` goes through
        // cells of one thread (`Cell` is not `Sync`), because the arena is exclusively borrowed by the one in `self`.
        unsafe { &*self.0.as_ptr().cast::<u8>().add(OFFSET).cast() }
    }
}

/// Fails to compile unless `len` elements at byte `offset` are an aligned region of `bytes` bytes.
const fn check_region<T>(bytes: usize, offset: usize, len: usize) {
    assert!(offset % align_of_element::<T>() == 0, "the region is not aligned for its elements");
    assert!(offset <= bytes && len <= (bytes - offset) / size_of::<T>(), "the region leaves the arena");
}

/// Elements are aligned to their size on every target, also where the type itself asks for less.
const fn align_of_element<T>() -> usize {
    size_of::<T>()
}

/// `N` constant bytes, aligned to 16 (on x86-64 to 64), that hold elements in little-endian order.
///
/// ```
/// static BIAS: kiln::Bytes<8> = kiln::Bytes(*b"\x01\0\0\0\xff\xff\xff\xff");
/// assert_eq!(BIAS.as_i32(), [1, -1]);
/// ```
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(16)))]
#[cfg_attr(target_arch = "x86_64", repr(C, align(64)))]
pub struct Bytes<const N: usize>(pub [u8; N]);

macro_rules! views {
    ($($name:ident $t:ty),*) => { $(
        #[doc = concat!("The bytes as `", stringify!($t), "`. Does not compile unless `N` is a multiple of its size.")]
        #[inline(always)]
        pub const fn $name(&self) -> &[$t] {
            self.elements::<$t>()
        }
    )* };
}

impl<const N: usize> Bytes<N> {
    views!(as_i8 i8, as_u8 u8, as_i16 i16, as_u16 u16, as_i32 i32, as_u32 u32, as_i64 i64, as_u64 u64, as_f32 f32);

    #[inline(always)]
    const fn elements<T: Element>(&self) -> &[T] {
        const { assert!(N % size_of::<T>() == 0, "the length is not a multiple of the element's size") };
        // SAFETY: the elements cover exactly the bytes (checked above), which are aligned to 16 at least and valid as any `Element`.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), N / size_of::<T>()) }
    }
}

/// Words as their bytes.
pub(crate) fn bytes_of_words(words: &[Cell<i32>]) -> &[Cell<i8>] {
    // SAFETY: the bytes cover exactly the words, are less aligned, and any bits are valid; all access is through cells of one thread.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_overlap() {
        let mut arena = Arena::<32>::new();
        let memory = arena.memory();
        let words = memory.cells::<i32, 4, 2>();
        let bytes = memory.cells::<u8, 6, 4>();
        words[0].set(0x4433_2211);
        assert_eq!(bytes[0].get(), 0x33);
        bytes[2].set(0xff);
        assert_eq!(words[1].get(), 0xff);
        assert_eq!(arena.get::<u8, 3, 6>(), &[0, 0x11, 0x22, 0x33, 0x44, 0xff]);
    }

    #[test]
    fn io_is_typed() {
        let mut arena = Arena::<24>::from_bytes([1; 24]);
        arena.get_mut::<i16, 2, 3>()[1] = -2;
        assert_eq!(arena.get::<u8, 4, 2>(), &[0xfe, 0xff]);
        assert_eq!(arena.get::<u64, 16, 1>(), &[0x0101_0101_0101_0101]);
        assert_eq!((arena.get::<u8, 0, 1>().as_ptr() as usize) % 16, 0);
    }

    #[test]
    fn smaller_arenas_lie_at_the_front() {
        let mut arena = Arena::<40>::new();
        arena.first_mut::<33>().get_mut::<u8, 0, 33>().fill(7);
        arena.first_mut::<0>().memory().cells::<u8, 0, 0>();
        assert_eq!((arena.get::<u8, 32, 1>(), arena.get::<u8, 33, 7>()), (&[7], &[0; 7]));
    }

    #[test]
    fn constants_are_little_endian() {
        static C: Bytes<8> = Bytes(*b"\0\0\x80\x3f\x80\xff\x00\x01");
        static F: &[f32] = C.as_f32();
        assert_eq!(F[0], 1.0);
        assert_eq!(C.as_i16(), [0, 0x3f80, -128, 256]);
        assert_eq!(C.as_i8()[4], -128);
        assert_eq!(C.as_i64().len(), 1);
    }
}
