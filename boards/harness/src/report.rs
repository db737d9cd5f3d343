//! Lines of text without `core::fmt`, which would be the larger part of a small firmware.
use crate::platform;
use core::ffi::CStr;

const CAPACITY: usize = 96;

/// One line in the making. What does not fit is cut off.
pub(crate) struct Line {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Line {
    pub(crate) fn new(text: &str) -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }.text(text)
    }

    /// Appends text.
    pub(crate) fn text(mut self, text: &str) -> Self {
        // The last byte stays zero: it ends the string.
        let free = self.bytes.iter_mut().take(CAPACITY - 1).skip(self.len);
        self.len += free.zip(text.bytes()).map(|(slot, byte)| *slot = byte).count();
        self
    }

    /// Appends a decimal number.
    pub(crate) fn number(mut self, mut value: u32) -> Self {
        let mut digits = [0u8; 10];
        let mut count = 0;
        for digit in &mut digits {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
            count += 1;
            if value == 0 {
                break;
            }
        }
        let free = self.bytes.iter_mut().take(CAPACITY - 1).skip(self.len);
        let written = free.zip(digits.iter().take(count).rev()).map(|(slot, digit)| *slot = *digit).count();
        self.len += written;
        self
    }

    /// Prints the line.
    pub(crate) fn print(self) {
        if let Ok(line) = CStr::from_bytes_until_nul(&self.bytes) {
            platform::print(line);
        }
    }
}

/// Prints why the run cannot go on, and ends it with status 2.
pub(crate) fn fail(reason: &str) -> ! {
    Line::new("kiln-harness: ").text(reason).print();
    platform::exit(2)
}
