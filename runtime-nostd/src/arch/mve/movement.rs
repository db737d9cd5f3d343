//! Moving elements, sixteen bytes at a time.
#![allow(unsafe_code)]

use super::blocks::movement::bytes;
use crate::rows::{Read, ReadSlice};
use crate::Element;
use core::cell::Cell;

/// Copies consecutive elements, as many as `y` has; nothing if `x` has fewer. Both may overlap where elements move towards lower addresses.
#[inline(always)]
pub fn copy_mve<T: Element>(x: impl Read<T>, y: &[Cell<T>]) {
    let Some(x) = x.slice().run(0, y.len()) else { return };
    if !y.is_empty() {
        // SAFETY: as many elements as `y` has may be read from the start of `x`. Elements have no padding, and cells may be written through a shared reference.
        unsafe { bytes(x.start().cast(), y.as_ptr().cast_mut().cast(), size_of_val(y)) }
    }
}
