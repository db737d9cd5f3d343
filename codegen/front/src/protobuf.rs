//! Protocol buffers: messages as fields with numbers. Nothing is copied, and no length is believed.

use std::fmt;

/// A message that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken(&'static str);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A field's contents, as the wire has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// Integers and truth values.
    Varint(u64),
    /// Doubles and integers of fixed size.
    Fixed64(u64),
    /// Messages, texts, bytes and packed lists.
    Bytes(&'a [u8]),
    /// Floats and integers of fixed size.
    Fixed32(u32),
}

impl<'a> Value<'a> {
    /// A message, a text or bytes.
    pub(crate) fn bytes(self) -> Result<&'a [u8], Broken> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(Broken("a number where a message is expected")),
        }
    }

    /// An integer.
    pub(crate) fn int(self) -> Result<i64, Broken> {
        match self {
            Value::Varint(bits) => Ok(bits as i64),
            _ => Err(Broken("an integer is expected")),
        }
    }

    /// A float.
    pub(crate) fn float(self) -> Result<f32, Broken> {
        match self {
            Value::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(Broken("a float is expected")),
        }
    }
}

/// A message: an iterator over its fields, in the order of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Message<'a> {
    type Item = Result<(u32, Value<'a>), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Message<'a> {
    fn field(&mut self) -> Result<(u32, Value<'a>), Broken> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| Broken("a field's number is too large"))?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let len = self.varint()?;
                let len = usize::try_from(len).map_err(|_| Broken("a length is too large"))?;
                Value::Bytes(self.take(len)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(Broken("a field has an unknown wire type")),
        };
        match number {
            0 => Err(Broken("a field has the number 0")),
            _ => Ok((number, value)),
        }
    }

    /// Takes an integer of seven bits a byte.
    pub(crate) fn varint(&mut self) -> Result<u64, Broken> {
        let mut bits = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            bits |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(bits);
            }
        }
        Err(Broken("an integer has more than 64 bits"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        self.take(N)?.try_into().map_err(|_| Broken("the file is cut short"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        if len > self.0.len() {
            return Err(Broken("the file is cut short"));
        }
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok(taken)
    }
}

/// The elements of a repeated field of integers: packed, or one by one.
pub(crate) fn ints(value: Value<'_>, mut each: impl FnMut(i64) -> Result<(), Broken>) -> Result<(), Broken> {
    match value {
        Value::Bytes(bytes) => {
            let mut packed = Message(bytes);
            while !packed.0.is_empty() {
                each(packed.varint()? as i64)?;
            }
            Ok(())
        }
        one => each(one.int()?),
    }
}

/// The elements of a repeated field of floats: packed, or one by one.
pub(crate) fn floats(
    value: Value<'_>,
    mut each: impl FnMut(f32) -> Result<(), Broken>,
) -> Result<(), Broken> {
    match value {
        Value::Bytes(bytes) => {
            let mut packed = Message(bytes);
            while !packed.0.is_empty() {
                each(f32::from_le_bytes(packed.array()?))?;
            }
            Ok(())
        }
        one => each(one.float()?),
    }
}

/// Adds a field of bytes.
pub(crate) fn put(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    for mut bits in [u64::from(number) << 3 | 2, bytes.len() as u64] {
        while bits >= 0x80 {
            message.push(bits as u8 | 0x80);
            bits >>= 7;
        }
        message.push(bits as u8);
    }
    message.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u32, Value<'_>)>, Broken> {
        Message(bytes).collect()
    }

    #[test]
    fn fields_of_all_kinds() {
        let bytes = b"\x08\x96\x01\x12\x03abc\x1d\0\0\x80\x3f\x21\x01\0\0\0\0\0\0\0";
        let wanted = [
            (1, Value::Varint(150)),
            (2, Value::Bytes(b"abc")),
            (3, Value::Fixed32(1f32.to_bits())),
            (4, Value::Fixed64(1)),
        ];
        assert_eq!(fields(bytes).unwrap(), wanted);
        // Cut anywhere, there are the fields before, or an error.
        for len in 0..bytes.len() {
            assert!(fields(&bytes[..len]).is_err() || [0, 3, 8, 13].contains(&len), "{len}");
        }
    }

    #[test]
    fn negative_integers_have_ten_bytes() {
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let mut found = Vec::new();
        ints(Value::Bytes(&minus_one), |x| {
            found.push(x);
            Ok(())
        })
        .unwrap();
        ints(Value::Varint(7), |x| {
            found.push(x);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [-1, 7]);
    }

    #[test]
    fn what_is_no_message() {
        // Groups, a field 0, a length beyond the end, an endless integer.
        for bytes in [&b"\x0b"[..], b"\x00\x01", b"\x0a\x7f", &[0xff; 11]] {
            assert!(fields(bytes).is_err(), "{bytes:?}");
        }
        let mut found = Vec::new();
        floats(Value::Bytes(b"\0\0\x80\x3f"), |x| {
            found.push(x);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [1.0]);
        assert!(floats(Value::Bytes(b"\0\0\x80"), |_| Ok(())).is_err());
    }
}
