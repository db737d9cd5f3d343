//! For programs that run something else than a model.
use crate::platform;
use core::ffi::CStr;
use core::fmt::{self, Display, Write};

/// Prints one line. What goes beyond 1000 characters is cut off.
pub fn print(line: impl Display) {
    let mut text = Text { bytes: [0; CAPACITY], len: 0 };
    // The only error is that there is no more room.
    let _ = write!(text, "{line}");
    if let Ok(line) = CStr::from_bytes_until_nul(&text.bytes) {
        platform::print(line);
    }
}

const CAPACITY: usize = 1001;

/// A string in the making. Its last byte stays zero.
struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = self.bytes.iter_mut().take(CAPACITY - 1).skip(self.len);
        self.len += free.zip(text.bytes()).map(|(slot, byte)| *slot = byte).count();
        Ok(())
    }
}
