//! Hears one handwritten digit in a stream of rows: a network whose window slides over the rows, and a detector of what its scores mean.
#![no_std]

pub mod strip;

use kiln::post::StreamDetector;

kiln::include_model!(pub WakeDigit = "../models/wake_digit_int8.tflite", input = "sliding");

/// The digit that is listened for.
pub const WAKE_DIGIT: u16 = 0;

/// Ink of a full black pixel; no ink is 0. The network takes pixels as ink / FULL_INK.
const FULL_INK: f32 = 16.0;

/// Reports where the average of two scores is 0.75 or more, and then nothing for six rows: the digit is in the window for three of them.
const DETECTOR: StreamDetector<i8, 2> = StreamDetector::new(&WakeDigit::OUTPUT, 0.75, 6);

/// Network and detector: to be put into a `static`.
pub struct Reader {
    network: WakeDigit,
    detector: StreamDetector<i8, 2>,
}

impl Reader {
    /// Nothing was read yet.
    pub const fn new() -> Self {
        Reader { network: WakeDigit::new(), detector: DETECTOR }
    }

    /// Takes the next row, as the ink of its pixels. Says once when the wake digit has been read, and how sure that is, 0 to 1.
    pub fn row(&mut self, ink: &[u8; 8]) -> Option<f32> {
        let frame = ink.map(|ink| WakeDigit::quantize_input(f32::from(ink) / FULL_INK));
        // None until the first window is full.
        let score = self.network.slide(&frame)?;
        self.detector.push(score).map(|heard| heard.score)
    }
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_model_means() {
        kiln_test::assert_equivalent!(WakeDigit, "../models/wake_digit_int8.tflite", cases = 300);
    }

    #[test]
    fn it_reports_where_tflite_micro_does() {
        let mut reader = Reader::new();
        let reports = strip::rows().enumerate().filter_map(|(row, ink)| reader.row(ink).map(|_| row));
        assert!(reports.eq(strip::reported_with_tflm()));
    }

    #[test]
    fn most_digits_are_heard_and_few_others() {
        let mut tally = strip::Tally::default();
        strip::reported_with_tflm().for_each(|row| tally.count(row));
        assert!(tally.is_good(), "{tally:?}");
    }
}
