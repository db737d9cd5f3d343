//! The held-out strip: 360 digits one below the other, with blank rows between them. `../train.py` writes the files.

use crate::WAKE_DIGIT;
use core::str::FromStr;

static STRIP: &[u8] = include_bytes!("../../data/strip.bin");
static ENDS: &[u8] = include_bytes!("../../data/ends.bin");
static TFLM: &str = include_str!("../../data/tflm.txt");

/// How many rows behind a digit's last one a report still is about it.
const LATEST: usize = 4;

/// The rows, each as the ink of eight pixels, 0 to 16.
pub fn rows() -> impl ExactSizeIterator<Item = &'static [u8; 8]> {
    STRIP.chunks_exact(8).map(|row| row.first_chunk().unwrap_or(&[0; 8]))
}

/// The digits: the last row of each, and which it is.
pub fn digits() -> impl Iterator<Item = (usize, u16)> {
    ENDS.chunks_exact(4).map(|entry| {
        let number = |k: usize| u16::from_le_bytes([entry[k], entry[k + 1]]);
        (usize::from(number(0)), number(2))
    })
}

/// The rows at which the same detector reports with TensorFlow Lite Micro's scores.
pub fn reported_with_tflm() -> impl Iterator<Item = usize> {
    TFLM.lines().filter_map(|line| usize::from_str(line).ok())
}

/// Reports, by what they were worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Wake digits that were reported.
    pub heard: usize,
    /// Reports of something else.
    pub false_alarms: usize,
}

impl Tally {
    /// Takes a report at that row.
    pub fn count(&mut self, row: usize) {
        let is_right =
            |(end, digit): (usize, u16)| digit == WAKE_DIGIT && (end..=end + LATEST).contains(&row);
        match digits().any(is_right) {
            true => self.heard += 1,
            false => self.false_alarms += 1,
        }
    }

    /// Wake digits on the strip.
    pub fn wake_digits() -> usize {
        digits().filter(|&(_, digit)| digit == WAKE_DIGIT).count()
    }

    /// Whether nine in ten are heard, and there are fewer false alarms than one in a thousand rows.
    pub fn is_good(&self) -> bool {
        self.heard * 10 >= Self::wake_digits() * 9 && self.false_alarms * 1000 < rows().len()
    }
}
