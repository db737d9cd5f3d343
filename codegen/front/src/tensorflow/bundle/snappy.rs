//! Blocks compressed with Snappy (its format description: `format_description.txt` of google/snappy).

use super::super::proto::{Failure, Parsed};
use crate::budget::Budget;
use crate::protobuf::Message;

/// The bytes of a block. How many they are is charged before they are made.
pub(super) fn decompressed(block: &[u8], budget: &mut Budget) -> Parsed<Vec<u8>> {
    let broken = || Failure::Broken("a compressed block of the table of variables is damaged".into());
    let mut rest = Message(block);
    let len = usize::try_from(rest.varint()?).map_err(|_| broken())?;
    budget.charge(len)?;
    let mut bytes = Vec::with_capacity(len);
    let mut rest = rest.0;
    while let Some((&tag, behind)) = rest.split_first() {
        rest = behind;
        let number = |rest: &mut &[u8], count: usize| -> Parsed<usize> {
            let (own, behind) = rest.split_at_checked(count).ok_or_else(broken)?;
            *rest = behind;
            Ok(own.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
        };
        let upper = usize::from(tag >> 2);
        let (count, distance) = match tag & 3 {
            0 => {
                let count = match upper {
                    0..60 => upper,
                    _ => number(&mut rest, upper - 59)?,
                };
                (count + 1, None)
            }
            1 => ((upper & 7) + 4, Some((upper >> 3) << 8 | number(&mut rest, 1)?)),
            2 => (upper + 1, Some(number(&mut rest, 2)?)),
            _ => (upper + 1, Some(number(&mut rest, 4)?)),
        };
        if count > len - bytes.len() {
            return Err(broken());
        }
        match distance {
            None => {
                let (own, behind) = rest.split_at_checked(count).ok_or_else(broken)?;
                bytes.extend_from_slice(own);
                rest = behind;
            }
            Some(distance) => {
                let from = bytes.len().checked_sub(distance).filter(|_| distance > 0).ok_or_else(broken)?;
                // What is copied may begin with what is being written.
                for k in from..from + count {
                    let byte = bytes.get(k).copied().ok_or_else(broken)?;
                    bytes.push(byte);
                }
            }
        }
    }
    match bytes.len() == len {
        true => Ok(bytes),
        false => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(block: &[u8]) -> Option<Vec<u8>> {
        decompressed(block, &mut Budget::new(block.len())).ok()
    }

    #[test]
    fn literals_and_copies() {
        assert_eq!(of(b"\x03\x08abc").unwrap(), b"abc");
        // Two bytes again and again, by each form of a copy.
        assert_eq!(of(b"\x0a\x04ab\x11\x02").unwrap(), b"ababababab");
        assert_eq!(of(b"\x0a\x04ab\x1e\x02\0").unwrap(), b"ababababab");
        assert_eq!(of(b"\x0a\x04ab\x1f\x02\0\0\0").unwrap(), b"ababababab");
        assert_eq!(of(b"\x06\x04ab\x01\x02").unwrap(), b"ababab");
        assert_eq!(of(b"\x03\xf0\x02abc").unwrap(), b"abc");
    }

    #[test]
    fn damaged_blocks() {
        // Too long, too short, from before the beginning, at no distance, cut, more than the budget.
        for block in [
            &b"\x02\x08abc"[..],
            b"\x04\x08abc",
            b"\x06\x04ab\x01\x03",
            b"\x06\x04ab\x01\0",
            b"\x03\x08a",
            b"\xff\xff\xff\x7f\0a",
        ] {
            assert!(of(block).is_none(), "{block:?}");
        }
    }
}
