//! What every board does with the digits network: it runs all held-out images and counts the right answers.
#![no_std]

use digits_data::{best, images, right_with_tflm, FULL_INK};
use static_cell::ConstStaticCell;

kiln::include_model!(pub Digits = "../models/digits_int8.tflite");

// Const-initialised: it never stands on the stack.
static DIGITS: ConstStaticCell<Digits> = ConstStaticCell::new(Digits::new());

// RAM is known while the firmware compiles.
const _: () = assert!(Digits::ARENA_BYTES <= 16 * 1024);

/// One image, classified.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Which image.
    pub image: usize,
    /// The digit that was written.
    pub label: u8,
    /// The digit that the network sees.
    pub seen: u8,
    /// Its score, 0 to 1.
    pub score: f32,
}

/// All images, classified.
#[derive(Clone, Copy)]
pub struct Total {
    /// Number of images.
    pub images: usize,
    /// Right answers.
    pub right: usize,
    /// Right answers of TensorFlow Lite Micro, on a host, with the same model.
    pub right_with_tflm: Option<usize>,
    /// Bytes of RAM the model works in.
    pub arena_bytes: usize,
}

impl Total {
    /// Whether TensorFlow Lite Micro gets as many right.
    pub fn agrees(&self) -> bool {
        self.right_with_tflm == Some(self.right)
    }

    /// Right answers in hundredths of a percent.
    pub fn accuracy(&self) -> usize {
        self.right * 10_000 / self.images
    }
}

/// Classifies every image and tells `each` about it. To be called once.
pub fn run(mut each: impl FnMut(Answer)) -> Total {
    let digits = DIGITS.take();
    let mut right = 0;
    for (index, image) in images().enumerate() {
        for (x, &ink) in digits.input_mut().iter_mut().zip(image.ink) {
            *x = Digits::quantize_input(f32::from(ink) / FULL_INK);
        }
        digits.invoke();
        let scores = digits.output();
        let seen = best(scores);
        let score = Digits::dequantize_output(scores[usize::from(seen)]);
        right += usize::from(seen == image.label);
        each(Answer { image: index, label: image.label, seen, score });
    }
    let right_with_tflm = right_with_tflm("digits_int8");
    Total { images: images().len(), right, right_with_tflm, arena_bytes: Digits::ARENA_BYTES }
}
