//! Finds handwritten digits in a picture: a network that says something about each of 288 anchors, and what makes boxes of that.
#![no_std]

pub mod scenes;

use kiln::post::{Anchor, BoxOrder, Detections, Score, SsdHead, Variances};
use kiln::TensorInfo;
use scenes::Picture;

kiln::include_model!(
    pub FindDigits = "../models/find_digits_int8.tflite",
    source = "gray8 320x240, crop = centre, resize = area"
);

/// Width and height of a picture in pixels.
pub const SIZE: usize = 48;

/// Brightness of the brightest pixel; the network takes pixels as brightness / FULL_BRIGHTNESS.
pub const FULL_BRIGHTNESS: f32 = 255.0;

/// From this score on something is a digit.
pub const LEAST_SCORE: f32 = 0.5;

/// Boxes of the same digit that overlap by more are of one object.
pub const MOST_OVERLAP: f32 = 0.45;

/// What is found on a picture.
pub type Found = Detections<16>;

/// How the network was trained: `../train.py` has the same anchors.
pub const HEAD: SsdHead = SsdHead {
    anchors: &ANCHORS,
    variances: Variances::SSD,
    order: BoxOrder::Yxhw,
    classes: 10,
    background: None,
    logits: true,
};

/// Cells of the grid, along each edge.
const GRID: usize = 12;

/// Width and height of the two anchors of each cell, in pixels: narrow digits, and wide ones.
const SHAPES: [[f32; 2]; 2] = [[9.0, 16.0], [15.0, 20.0]];

static ANCHORS: [Anchor; GRID * GRID * SHAPES.len()] = anchors();

/// Of the cells row by row, both shapes. Computed while the firmware compiles.
const fn anchors() -> [Anchor; GRID * GRID * SHAPES.len()] {
    let mut anchors = [Anchor { x: 0.0, y: 0.0, width: 0.0, height: 0.0 }; GRID * GRID * SHAPES.len()];
    let mut index = 0;
    while index < anchors.len() {
        let cell = index / SHAPES.len();
        let [width, height] = SHAPES[index % SHAPES.len()];
        anchors[index] = Anchor {
            x: ((cell % GRID) as f32 + 0.5) / GRID as f32,
            y: ((cell / GRID) as f32 + 0.5) / GRID as f32,
            width: width / SIZE as f32,
            height: height / SIZE as f32,
        };
        index += 1;
    }
    anchors
}

/// What the outputs of the network mean, as it stores them: of digits with `least_score` (0 to 1) or more, best first.
pub fn found<T: Score>(
    (offsets, offsets_info): (&[T], &TensorInfo),
    (logits, logits_info): (&[T], &TensorInfo),
    least_score: f32,
) -> Found {
    let mut found = Found::new();
    HEAD.decode(offsets, offsets_info, logits, logits_info, least_score, |digit| found.push(digit));
    found.suppress(MOST_OVERLAP);
    found
}

/// The network: to be put into a `static`.
pub struct Finder {
    network: FindDigits,
}

impl Finder {
    /// Nothing was looked at yet.
    pub const fn new() -> Self {
        Finder { network: FindDigits::new() }
    }

    /// The digits on a picture with that score or more, best first.
    pub fn find(&mut self, picture: &Picture, least_score: f32) -> Found {
        for (x, &pixel) in self.network.input_mut().iter_mut().zip(picture.as_flattened()) {
            *x = FindDigits::quantize_input(f32::from(pixel) / FULL_BRIGHTNESS);
        }
        self.network.invoke();
        self.found(least_score)
    }

    /// Takes a line of a camera with 320 × 240 pixels. With the line that completes the picture in the middle of the frame, it gives the digits on it.
    pub fn push_line(&mut self, line: &[u8; FindDigits::LINE_BYTES], least_score: f32) -> Option<Found> {
        self.network.push_line(line).then(|| self.found(least_score))
    }

    fn found(&self, least_score: f32) -> Found {
        found(
            (self.network.output_0(), &FindDigits::OUTPUT_0),
            (self.network.output_1(), &FindDigits::OUTPUT_1),
            least_score,
        )
    }
}

impl Default for Finder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenes::{agrees, frame, scenes, Tally};

    #[test]
    fn generated_code_means_what_the_model_means() {
        kiln_test::assert_equivalent!(FindDigits, "../models/find_digits_int8.tflite", cases = 50);
    }

    #[test]
    fn it_finds_what_tflite_micro_and_a_plain_reference_find() {
        let mut finder = Finder::new();
        let mut tally = Tally::default();
        for (index, scene) in scenes().enumerate() {
            let found = finder.find(&scene.draw(), LEAST_SCORE);
            assert!(agrees(index, &found), "scene {index}: {found:?}");
            tally.count(scene, &found);
        }
        assert!(tally.is_good(), "{tally:?}");
    }

    #[test]
    fn a_camera_sees_the_same() {
        let mut finder = Finder::new();
        for (index, scene) in scenes().enumerate().take(40) {
            let picture = scene.draw();
            let mut all = frame(&picture).filter_map(|line| finder.push_line(&line, LEAST_SCORE));
            let found = all.next().unwrap();
            assert!(agrees(index, &found) && all.next().is_none(), "scene {index}: {found:?}");
        }
    }
}
