//! What sensors say, sent to a host that writes it to files: `cargo kiln record`.
//!
//! [`record!`](crate::record!) makes a frame of a block of samples, or of a line of pixels, and gives its bytes to a function of the firmware.
//! That function writes them to whatever leads to the host: a channel of RTT, a UART, semihosting, defmt.
//!
//! ```
//! # let mut uart = Vec::<u8>::new();
//! let samples = [0i16; 160];
//! kiln::record!(|bytes: &[u8]| uart.extend_from_slice(bytes), "mic", &samples);
//! # assert_eq!(uart.len(), 14 + 3 + 320 + 4);
//! ```
//!
//! Nothing waits, nothing is kept, and nothing is sent a second time. A transport may drop bytes: each frame says how many bytes its stream has
//! sent before it, so that the host knows what is missing.
//!
//! A frame, in little-endian order:
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | `F5 4B 52 01`; `F5` is in no text of UTF-8 |
//! | 4 | type of the elements: 1 `u8`, 2 `i16`, 3 `f32` |
//! | 5 | channels, which are interleaved |
//! | 6–7 | length of the elements in bytes, at most [`MOST_BYTES`] |
//! | 8–11 | how many bytes of elements the stream has sent before, modulo 2³² |
//! | 12 | length of the name, at most [`MOST_NAME`] |
//! | 13 | sum of bytes 0 to 12, modulo 256 |
//! | then | the name, the elements, and the CRC-32 (IEEE 802.3) of everything before |

use core::sync::atomic::{AtomicU32, Ordering};

/// Most bytes of a stream's name. A longer one is cut off.
pub const MOST_NAME: usize = 32;

/// Most bytes of elements in a frame. A longer block becomes several frames.
pub const MOST_BYTES: usize = 8192;

/// Sends a block of a stream: `record!(SINK, NAME, BLOCK)`, or `record!(SINK, NAME, BLOCK, channels = N)` where elements of several channels
/// are interleaved.
///
/// The block is a slice of `i16`, `f32` or `u8`. The sink is a function or closure that takes `&[u8]`; it is called several times for each frame,
/// with at most 64 bytes. A place in the program that says `record!` is a stream of its own: two places have two names.
///
/// ```
/// fn send(bytes: &[u8]) {
///     // A channel of RTT, a UART …
/// }
///
/// kiln::record!(send, "mic", &[1i16, 2, 3]);
/// kiln::record!(send, "motion", &[0.0f32, 0.1, 9.8], channels = 3);
/// ```
#[macro_export]
macro_rules! record {
    ($sink:expr, $name:literal, $block:expr $(,)?) => {
        $crate::record!($sink, $name, $block, channels = 1)
    };
    ($sink:expr, $name:literal, $block:expr, channels = $channels:expr $(,)?) => {{
        const _: () = assert!(
            !$name.is_empty() && $name.len() <= $crate::record::MOST_NAME,
            "the name of a stream has 1 to 32 bytes"
        );
        const _: () = assert!($channels > 0, "a stream has at least one channel");
        static STREAM: $crate::record::Stream = $crate::record::Stream::new($name, $channels);
        STREAM.send($block, $sink)
    }};
}

/// A stream: its name, and how much of it was sent. [`record!`](crate::record!) makes one for itself.
#[derive(Debug)]
pub struct Stream {
    name: &'static str,
    channels: u8,
    sent: AtomicU32,
}

impl Stream {
    /// A stream of so many interleaved channels, of which nothing was sent.
    pub const fn new(name: &'static str, channels: u8) -> Self {
        Stream { name, channels, sent: AtomicU32::new(0) }
    }

    /// Sends a block. `sink` takes the bytes, at most 64 at a time.
    ///
    /// One task at a time sends a stream.
    pub fn send<T: Recorded>(&self, block: &[T], mut sink: impl FnMut(&[u8])) {
        for block in block.chunks(MOST_BYTES / T::SIZE) {
            self.send_frame(block, &mut sink);
        }
    }

    fn send_frame<T: Recorded>(&self, block: &[T], sink: &mut impl FnMut(&[u8])) {
        let name = self.name.as_bytes();
        let name = name.get(..MOST_NAME).unwrap_or(name);
        let bytes = block.len() * T::SIZE;
        let sent = self.sent.load(Ordering::Relaxed);
        // Not an addition in one: not every processor has that.
        self.sent.store(sent.wrapping_add(bytes as u32), Ordering::Relaxed);
        let [length_0, length_1] = (bytes as u16).to_le_bytes();
        let [sent_0, sent_1, sent_2, sent_3] = sent.to_le_bytes();
        let header = [
            0xf5,
            0x4b,
            0x52,
            0x01,
            T::KIND,
            self.channels.max(1),
            length_0,
            length_1,
            sent_0,
            sent_1,
            sent_2,
            sent_3,
            name.len() as u8,
        ];
        let mut frame = Frame { bytes: [0; 64], len: 0, crc: !0, sink };
        frame.push(&header);
        frame.push(&[header.iter().fold(0, |sum: u8, &byte| sum.wrapping_add(byte))]);
        frame.push(name);
        block.iter().for_each(|&element| frame.push(element.bytes().as_ref()));
        let crc = !frame.crc;
        frame.push(&crc.to_le_bytes());
        frame.flush();
    }
}

/// A frame in the making.
struct Frame<'s, S> {
    bytes: [u8; 64],
    len: usize,
    crc: u32,
    sink: &'s mut S,
}

impl<S: FnMut(&[u8])> Frame<'_, S> {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.len == self.bytes.len() {
                self.flush();
            }
            if let Some(slot) = self.bytes.get_mut(self.len) {
                *slot = byte;
                self.len += 1;
            }
            self.crc = nibble(nibble(self.crc ^ u32::from(byte)));
        }
    }

    fn flush(&mut self) {
        if let Some(bytes) = self.bytes.get(..self.len) {
            (self.sink)(bytes);
        }
        self.len = 0;
    }
}

/// Four bits further in a CRC-32. A table of 16 words is 64 bytes; one for whole bytes would be a kilobyte.
fn nibble(crc: u32) -> u32 {
    const TABLE: [u32; 16] = [
        0x0000_0000,
        0x1db7_1064,
        0x3b6e_20c8,
        0x26d9_30ac,
        0x76dc_4190,
        0x6b6b_51f4,
        0x4db2_6158,
        0x5005_713c,
        0xedb8_8320,
        0xf00f_9344,
        0xd6d6_a3e8,
        0xcb61_b38c,
        0x9b64_c2b0,
        0x86d3_d2d4,
        0xa00a_e278,
        0xbdbd_f21c,
    ];
    TABLE.get((crc & 15) as usize).unwrap_or(&0) ^ (crc >> 4)
}

/// Types of elements that can be recorded: `u8`, `i16` and `f32`.
pub trait Recorded: Copy + sealed::Sealed {
    #[doc(hidden)]
    const KIND: u8;
    #[doc(hidden)]
    const SIZE: usize;
    #[doc(hidden)]
    type Bytes: AsRef<[u8]>;
    #[doc(hidden)]
    fn bytes(self) -> Self::Bytes;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! recorded {
    ($($t:ty = $kind:literal),*) => { $(
        impl sealed::Sealed for $t {}
        impl Recorded for $t {
            const KIND: u8 = $kind;
            const SIZE: usize = size_of::<$t>();
            type Bytes = [u8; size_of::<$t>()];
            #[inline]
            fn bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        }
    )* };
}
recorded!(u8 = 1, i16 = 2, f32 = 3);

/// A sink that prints frames by defmt, whatever `DEFMT_LOG` says: `kiln-record [f5, 4b, 52, …]`. Any transport of defmt carries them, and
/// `cargo kiln record` finds them in what a decoder prints.
#[cfg(feature = "defmt")]
pub fn to_defmt(bytes: &[u8]) {
    defmt::println!("kiln-record {=[u8]:02x}", bytes);
}

#[cfg(feature = "defmt")]
impl defmt::Format for Stream {
    fn format(&self, f: defmt::Formatter<'_>) {
        let sent = self.sent.load(Ordering::Relaxed);
        defmt::write!(
            f,
            "Stream {{ name: {=str}, channels: {=u8}, sent: {=u32} }}",
            self.name,
            self.channels,
            sent
        );
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn sent<T: Recorded>(stream: &Stream, block: &[T]) -> Vec<u8> {
        let mut bytes = Vec::new();
        stream.send(block, |part| {
            assert!(!part.is_empty() && part.len() <= 64);
            bytes.extend_from_slice(part);
        });
        bytes
    }

    #[test]
    fn a_frame_is_laid_out_as_documented() {
        let stream = Stream::new("mic", 2);
        let first = sent(&stream, &[1i16, -2]);
        assert_eq!(first[..14], [0xf5, 0x4b, 0x52, 1, 2, 2, 4, 0, 0, 0, 0, 0, 3, 0x9e]);
        assert_eq!(first[14..21], *b"mic\x01\x00\xfe\xff");
        assert_eq!(first.len(), 14 + 3 + 4 + 4);
        let second = sent(&stream, &[1i16]);
        assert_eq!(second[6..12], [2, 0, 4, 0, 0, 0]);
    }

    #[test]
    fn the_checksum_is_that_of_ethernet() {
        // The usual check value, of the text "123456789".
        let crc = b"123456789".iter().fold(!0, |crc, &byte| nibble(nibble(crc ^ u32::from(byte))));
        assert_eq!(!crc, 0xcbf4_3926);
    }

    #[test]
    fn long_blocks_become_several_frames_and_empty_ones_none() {
        let stream = Stream::new("a name that is longer than the 32 bytes of names", 0);
        assert!(sent(&stream, &[0f32; 0]).is_empty());
        let bytes = sent(&stream, &[0.5f32; 2049]);
        assert_eq!(bytes.len(), 2 * (14 + 32 + 4) + 4 * 2049);
        let second = &bytes[14 + 32 + 4 + 8192..];
        assert_eq!(second[..13], [0xf5, 0x4b, 0x52, 1, 3, 1, 4, 0, 0, 0x20, 0, 0, 32]);
    }

    #[test]
    fn the_macro_counts_what_it_has_sent() {
        let mut bytes = Vec::new();
        for _ in 0..2 {
            crate::record!(|part: &[u8]| bytes.extend_from_slice(part), "b", &[7u8; 3], channels = 3);
        }
        assert_eq!(bytes.len(), 2 * (14 + 1 + 3 + 4));
        assert_eq!(bytes[22 + 8], 3);
    }
}
