//! The held-out images of the digits example, for host and firmware alike. `../train.py` writes the files.
#![no_std]

use core::str::FromStr;

/// Pixels of an image: 8 rows of 8.
pub const PIXELS: usize = 64;

/// Ink of a full black pixel; no ink is 0. The network takes pixels as ink / FULL_INK.
pub const FULL_INK: f32 = 16.0;

static INK: &[u8] = include_bytes!("images.bin");
static LABELS: &[u8] = include_bytes!("labels.bin");
static TFLM: &str = include_str!("tflm.txt");

/// A handwritten digit.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Ink of each pixel, 0 to 16, row by row.
    pub ink: &'static [u8],
    /// The digit that was meant.
    pub label: u8,
}

/// All held-out images.
pub fn images() -> impl ExactSizeIterator<Item = Image> {
    INK.chunks_exact(PIXELS).zip(LABELS).map(|(ink, &label)| Image { ink, label })
}

/// How many of the images TensorFlow Lite Micro gets right with the model of that name.
pub fn right_with_tflm(model: &str) -> Option<usize> {
    TFLM.lines().find_map(|line| usize::from_str(line.strip_prefix(model)?.trim()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_belong_together() {
        assert_eq!(INK.len(), PIXELS * LABELS.len());
        assert!(images().all(|image| image.label < 10 && image.ink.iter().all(|&ink| ink <= 16)));
        assert!(images().len() == 360 && (0..10).all(|digit| images().any(|image| image.label == digit)));
    }

    #[test]
    fn the_record_is_read() {
        assert_eq!(right_with_tflm("digits_int8"), Some(354));
        assert_eq!(right_with_tflm("digits_f64"), None);
    }
}
