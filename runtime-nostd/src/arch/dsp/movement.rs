//! Moving words, many at once.
#![allow(unsafe_code)]

use super::blocks::movement::words;
use crate::rows::{Read, ReadSlice};
use crate::Element;
use core::cell::Cell;

/// Copies consecutive words, as many as `y` has; nothing if `x` has fewer, or elements are not words. Both may overlap where words move towards
/// lower addresses.
#[inline(always)]
pub fn copy_dsp<T: Element>(x: impl Read<T>, y: &[Cell<T>]) {
    if size_of::<T>() != size_of::<u32>() {
        return;
    }
    let Some(x) = x.slice().run(0, y.len()) else { return };
    // SAFETY: as many words as `y` has may be read from the start of `x`, which is aligned. Cells may be written through a shared reference.
    unsafe {
        words(x.start().cast(), y.as_ptr().cast_mut().cast(), y.len());
    }
}
