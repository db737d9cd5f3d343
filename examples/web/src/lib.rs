//! What the page calls: the digits network, and what makes its input of a drawing.
//!
//! The module has functions of plain numbers for exports, and no imports. Drawing, ink and scores lie in its memory, where JavaScript
//! finds them: see `page/digits.js`.
#![cfg_attr(target_arch = "wasm32", no_std)]

mod drawing;
mod exports;

pub use drawing::{ink_of, SIDE};
use kiln::post::argmax;

kiln::include_model!(Digits = "../digits/models/digits_int8.tflite");

/// Pixels that the network sees: 8 rows of 8.
pub const PIXELS: usize = 64;

/// Ink of a full black pixel; no ink is 0.
pub const FULL_INK: u8 = 16;

/// What the network says of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The digit that it is most likely.
    pub digit: usize,
    /// The network's outputs, one for each digit.
    pub stored: [i8; 10],
}

impl Seen {
    /// The probability of each digit.
    pub fn probabilities(&self) -> [f32; 10] {
        self.stored.map(Digits::dequantize_output)
    }
}

/// Classifies an image, which is given as the ink of its pixels, row by row.
pub fn classify(ink: &[u8; PIXELS]) -> Seen {
    let mut digits = Digits::new();
    *digits.input_mut() = ink.map(|ink| Digits::quantize_input(f32::from(ink) / f32::from(FULL_INK)));
    digits.invoke();
    let stored = *digits.output();
    Seen { digit: argmax(&stored).map_or(0, |best| best.index), stored }
}

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
