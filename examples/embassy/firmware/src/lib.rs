//! What every board does: it reads handwritten digits with a network that takes long, in turns with other tasks.
#![no_std]

use kiln::post::argmax;
pub use kiln::yield_now;

kiln::include_model!(pub Digits = "../models/digits32_int8.tflite");

/// Pixels of an image: 32 rows of 32.
pub const PIXELS: usize = 1024;

static PIXELS_OF_ALL: &[u8] = include_bytes!("../data/images.bin");
static LABELS: &[u8] = include_bytes!("../data/labels.bin");

/// A handwritten digit.
#[derive(Clone, Copy)]
pub struct Image {
    /// Its pixels, row by row, each an `i8` of the network's input.
    pixels: &'static [u8],
    /// The digit that was meant.
    pub label: u8,
}

/// All images.
pub fn images() -> impl ExactSizeIterator<Item = Image> + Clone {
    PIXELS_OF_ALL.chunks_exact(PIXELS).zip(LABELS).map(|(pixels, &label)| Image { pixels, label })
}

/// The digit that the network sees. Other tasks of the executor run after each step of the inference.
pub async fn classify(digits: &mut Digits, image: &Image) -> u8 {
    write(digits.input_mut(), image);
    digits.invoke_async().await;
    best(digits)
}

/// The same in one go: nothing else runs meanwhile.
pub fn classify_in_one_go(digits: &mut Digits, image: &Image) -> u8 {
    write(digits.input_mut(), image);
    digits.invoke();
    best(digits)
}

/// Writes an image to the network's input.
pub fn write(input: &mut [i8], image: &Image) {
    for (x, &pixel) in input.iter_mut().zip(image.pixels) {
        *x = pixel as i8;
    }
}

fn best(digits: &Digits) -> u8 {
    argmax(digits.output()).map_or(u8::MAX, |best| best.index as u8)
}
