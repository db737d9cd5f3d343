//! Bytes that are elements, and elements as bytes: for code that learns at run time what a model's tensors are made of.
#![allow(unsafe_code)]

use super::memory::Element;
use core::mem::size_of_val;

/// The bytes as elements; `None` where they are not aligned for them, or no whole number of them.
pub(crate) fn elements<T: Element>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: every pattern of bits is a valid element.
    let (before, elements, after) = unsafe { bytes.align_to() };
    (before.is_empty() && after.is_empty()).then_some(elements)
}

/// As [`elements`], to be written.
pub(crate) fn elements_mut<T: Element>(bytes: &mut [u8]) -> Option<&mut [T]> {
    // SAFETY: every pattern of bits is a valid element, and elements have no padding: whatever is written are valid bytes.
    let (before, elements, after) = unsafe { bytes.align_to_mut() };
    (before.is_empty() && after.is_empty()).then_some(elements)
}

/// The bytes of elements.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, so all of their bytes are initialised; bytes need no alignment.
    unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// As [`bytes_of`], to be written.
pub(crate) fn bytes_of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; whatever is written are valid elements.
    unsafe { core::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arena;

    #[test]
    fn bytes_are_elements_where_they_can_be() {
        let mut arena = Arena::<16>::new();
        let bytes = arena.get_mut::<u8, 0, 16>();
        elements_mut::<i32>(&mut bytes[4..12]).unwrap()[1] = -2;
        assert_eq!(elements::<i16>(&bytes[6..12]), Some(&[0, -2, -1][..]));
        assert_eq!(elements::<i16>(&bytes[7..11]), None);
        assert_eq!(elements::<i32>(&bytes[4..10]), None);
        assert_eq!(elements::<i64>(&bytes[8..8]), Some(&[][..]));
    }

    #[test]
    fn elements_are_bytes() {
        let mut elements = [1i16, -2];
        assert_eq!(bytes_of(&elements), [1, 0, 0xfe, 0xff]);
        bytes_of_mut(&mut elements)[3] = 0x7f;
        assert_eq!(elements, [1, 0x7ffe]);
    }
}
