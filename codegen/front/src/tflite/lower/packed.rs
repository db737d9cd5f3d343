//! Constants that are stored in another way than their arithmetic wants them: float16 becomes float32, int4 and uint8 become int8, all exactly.

use crate::half::widen;

/// `TensorType` of uint8.
pub(super) const UINT8: i8 = 3;

/// How a constant is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packed {
    /// IEEE 754 half precision.
    Float16,
    /// Two's complement of 4 bits, two to a byte, the first in the low half; the tensor as a whole fills whole bytes.
    Int4,
    /// 128 more than the signed element.
    Unsigned,
}

impl Packed {
    /// By the schema's `TensorType`; `None` for elements that are stored as they are, or may be.
    pub(super) fn of(element: i8) -> Option<Self> {
        match element {
            1 => Some(Packed::Float16),
            17 => Some(Packed::Int4),
            _ => None,
        }
    }

    /// The `TensorType` of the elements once they are unpacked.
    pub(super) fn element(self) -> i8 {
        match self {
            Packed::Float16 => 0,
            Packed::Int4 => 9,
            Packed::Unsigned => UINT8,
        }
    }

    /// Bytes in the file that `count` elements take.
    pub(super) fn bytes(self, count: usize) -> usize {
        match self {
            Packed::Float16 => count.saturating_mul(2),
            Packed::Int4 => count.div_ceil(2),
            Packed::Unsigned => count,
        }
    }

    /// The bytes of the unpacked elements.
    pub(super) fn unpack(self, bytes: &[u8], count: usize) -> Vec<u8> {
        match self {
            Packed::Float16 => {
                let halves = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
                halves.take(count).flat_map(|half| widen(half).to_le_bytes()).collect()
            }
            Packed::Int4 => {
                let nibbles = bytes.iter().flat_map(|&b| [(b << 4) as i8 >> 4, b as i8 >> 4]);
                nibbles.take(count).map(|nibble| nibble as u8).collect()
            }
            Packed::Unsigned => bytes.iter().take(count).map(|byte| byte ^ 0x80).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_widened() {
        let single = [1f32, -2.0].map(f32::to_le_bytes).concat();
        assert_eq!(Packed::Float16.unpack(&[0, 0x3c, 0, 0xc0], 2), single);
    }

    #[test]
    fn nibbles_are_signed_and_the_low_one_comes_first() {
        let bytes = Packed::Int4.unpack(&[0x87, 0xf0, 0x0d], 5);
        assert_eq!(bytes.iter().map(|&b| b as i8).collect::<Vec<_>>(), [7, -8, 0, -1, -3]);
        assert_eq!((Packed::Int4.bytes(5), Packed::Int4.bytes(6), Packed::Float16.bytes(3)), (3, 3, 6));
    }
}
