//! The options of custom operators: flexbuffers, as far as maps of whole numbers go.
//!
//! A flexbuffer is read from its end: the last byte is the width of the root, the one before its type, and in front of these the root itself, the distance back to a
//! map. A map is a vector of values, behind them a type for each; in front of the values stand their number, the width of keys, and the distance back to a vector of distances to
//! the keys, which end in a zero.

/// Most entries of a map, and most bytes of a key.
const MOST: usize = 256;

/// What is wrong with a flexbuffer.
pub(super) type Broken = &'static str;

/// The whole numbers (and truth values) of a map, by name; others are left out. No bytes are an empty map.
///
/// # Errors
/// If it is no map, or reaches outside of the bytes.
pub(super) fn numbers(bytes: &[u8]) -> Result<Vec<(&[u8], i64)>, Broken> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let map = Map::root(bytes)?;
    let mut all = Vec::new();
    for index in 0..map.len {
        if let Some(number) = map.number(index)? {
            all.push((map.key(index)?, number));
        }
    }
    Ok(all)
}

const OUTSIDE: Broken = "an offset points outside the options";

struct Map<'a> {
    bytes: &'a [u8],
    /// Where its values begin.
    values: usize,
    /// Bytes of a value.
    width: usize,
    /// How many there are.
    len: usize,
    /// Where the distances to its keys begin.
    keys: usize,
    /// Bytes of such a distance.
    key_width: usize,
}

impl<'a> Map<'a> {
    fn root(bytes: &'a [u8]) -> Result<Self, Broken> {
        let &[.., packed, root_width] = bytes else { return Err("the options are too short") };
        // The type of a map is 9, above two bits that tell the width of its values.
        if packed >> 2 != 9 {
            return Err("the options are not a map");
        }
        let root_width = usize::from(root_width);
        let root = bytes.len().checked_sub(2).and_then(|end| end.checked_sub(root_width)).ok_or(OUTSIDE)?;
        let values = back(bytes, root, root_width)?;
        let width = 1usize << (packed & 3);
        let field = |k: usize| values.checked_sub(k * width).ok_or(OUTSIDE);
        let len = usize::try_from(unsigned(bytes, field(1)?, width)?).ok().filter(|&len| len <= MOST);
        let key_width = usize::try_from(unsigned(bytes, field(2)?, width)?).map_err(|_| OUTSIDE)?;
        let keys = back(bytes, field(3)?, width)?;
        Ok(Map {
            bytes,
            values,
            width,
            len: len.ok_or("the options have too many entries")?,
            keys,
            key_width,
        })
    }

    fn key(&self, index: usize) -> Result<&'a [u8], Broken> {
        let at = index.checked_mul(self.key_width).and_then(|by| self.keys.checked_add(by)).ok_or(OUTSIDE)?;
        let key = self.bytes.get(back(self.bytes, at, self.key_width)?..).ok_or(OUTSIDE)?;
        let end = key.iter().take(MOST).position(|&byte| byte == 0);
        end.and_then(|end| key.get(..end)).ok_or("a name in the options is not terminated")
    }

    /// The value, if it is a whole number.
    fn number(&self, index: usize) -> Result<Option<i64>, Broken> {
        // Both fit: values and types lie in front of the end, or there is no byte to read.
        let (at, kind) = (self.values + index * self.width, self.values + self.len * self.width + index);
        let &packed = self.bytes.get(kind).ok_or(OUTSIDE)?;
        let inner = 1usize << (packed & 3);
        let signed = |at: usize, width: usize| -> Result<Option<i64>, Broken> {
            let bits = 64 - 8 * width as u32;
            Ok(Some((unsigned(self.bytes, at, width)? << bits) as i64 >> bits))
        };
        let plain = |at: usize, width: usize| Ok(i64::try_from(unsigned(self.bytes, at, width)?).ok());
        match packed >> 2 {
            1 => signed(at, self.width),
            // Unsigned, or true and false.
            2 | 26 => plain(at, self.width),
            6 => signed(back(self.bytes, at, self.width)?, inner),
            7 => plain(back(self.bytes, at, self.width)?, inner),
            _ => Ok(None),
        }
    }
}

/// What stands so many bytes in front of `at` as is written there.
fn back(bytes: &[u8], at: usize, width: usize) -> Result<usize, Broken> {
    let distance = usize::try_from(unsigned(bytes, at, width)?).map_err(|_| OUTSIDE)?;
    at.checked_sub(distance).ok_or(OUTSIDE)
}

/// A little-endian number.
fn unsigned(bytes: &[u8], at: usize, width: usize) -> Result<u64, Broken> {
    if ![1, 2, 4, 8].contains(&width) {
        return Err("a width in the options is invalid");
    }
    let number = at.checked_add(width).and_then(|end| bytes.get(at..end)).ok_or(OUTSIDE)?;
    Ok(number.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{end_index: 241, start_index: 5}`: the second width is that of two bytes, since 241 needs them.
    const ENERGY: &[u8] =
        b"end_index\0start_index\0\x02\x17\x0e\0\x03\0\x01\0\x02\0\xf1\0\x05\0\x05\x05\x06%\x01";

    #[test]
    fn maps_of_numbers() {
        assert_eq!(numbers(ENERGY).unwrap(), [(&b"end_index"[..], 241), (b"start_index", 5)]);
        let shift = b"shift\0\x01\x07\x01\x01\x01\xf4\x04\x02$\x01";
        assert_eq!(numbers(shift).unwrap(), [(&b"shift"[..], -12)]);
        assert_eq!(numbers(b"\0\0\x01\0\0$\x01").unwrap(), []);
        assert_eq!(numbers(b"").unwrap(), []);
    }

    #[test]
    fn damage_is_told() {
        for len in 1..ENERGY.len() {
            let _ = numbers(&ENERGY[..len]);
            assert!(numbers(&ENERGY[ENERGY.len() - len..]).is_err(), "{len}");
        }
        for at in 0..ENERGY.len() {
            for byte in 0..=255 {
                let mut bytes = ENERGY.to_vec();
                bytes[at] = byte;
                // Whatever comes of it: nothing panics.
                let _ = numbers(&bytes);
            }
        }
        assert_eq!(numbers(b"\x05\x04\x01"), Err("the options are not a map"));
    }
}
