//! Protocol buffers: messages are written field by field, a message in a message as bytes.

/// A message under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// The bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// An integer.
    pub(super) fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    /// A float.
    pub(super) fn float(&mut self, field: u32, value: f32) -> &mut Self {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Bytes, or a text.
    pub(super) fn bytes(&mut self, field: u32, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A message.
    pub(super) fn message(&mut self, field: u32, message: Message) -> &mut Self {
        self.bytes(field, message.0)
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    fn varint(&mut self, mut bits: u64) {
        while bits >= 0x80 {
            self.0.push(bits as u8 | 0x80);
            bits >>= 7;
        }
        self.0.push(bits as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's documentation (protobuf.dev/programming-guides/encoding).
    #[test]
    fn fields_are_encoded() {
        let mut message = Message::default();
        message.int(1, 150);
        assert_eq!(message.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let mut outer = Message::default();
        outer.message(3, message).bytes(2, "testing");
        assert_eq!(outer.into_bytes(), *b"\x1a\x03\x08\x96\x01\x12\x07testing");
        let mut negative = Message::default();
        negative.int(1, -2).float(2, 1.0);
        assert_eq!(negative.into_bytes(), *b"\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x15\0\0\x80\x3f");
    }
}
