//! What every board does with the digits network: it runs all held-out images and counts the right answers.
#![no_std]

use digits_data::{images, right_with_tflm, FULL_INK};
use kiln::post::{Labelled, Labels};
use static_cell::ConstStaticCell;

kiln::include_model!(pub Digits = "../models/digits_int8.tflite");

// Const-initialised: it never stands on the stack.
static DIGITS: ConstStaticCell<Digits> = ConstStaticCell::new(Digits::new());

// RAM is known while the firmware compiles.
const _: () = assert!(Digits::ARENA_BYTES <= 16 * 1024);

/// The network's classes. As many as it has scores, or it would not compile.
const DIGIT: Labels<10> =
    Labels(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]);

/// One image, classified.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Which image.
    pub image: usize,
    /// The digit that was written.
    pub written: &'static str,
    /// The digit that the network sees, with its score, 0 to 1.
    pub seen: Labelled<f32>,
    /// What it would see otherwise.
    pub otherwise: Labelled<f32>,
}

impl Answer {
    /// Whether the network is right.
    pub fn is_right(&self) -> bool {
        self.seen.label == self.written
    }
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
        if let Ok([seen, otherwise]) = DIGIT.top_k::<_, 2>(digits.output()).into_array() {
            let written = DIGIT.name(usize::from(image.label));
            let [seen, otherwise] = [seen, otherwise].map(|guess| guess.real(&Digits::OUTPUT));
            let answer = Answer { image: index, written, seen, otherwise };
            right += usize::from(answer.is_right());
            each(answer);
        }
    }
    let right_with_tflm = right_with_tflm("digits_int8");
    Total { images: images().len(), right, right_with_tflm, arena_bytes: Digits::ARENA_BYTES }
}
