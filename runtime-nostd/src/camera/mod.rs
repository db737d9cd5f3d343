//! From the lines of a camera to the rows of a model's input: colours, crop, size and flip, one line at a time. There is never a frame in RAM.
//!
//! A [`Source`] says what is done to a frame, and has the tables for it, which are computed while the firmware compiles. A [`Camera`] is what is kept between lines: with [`Linear`] two rows of
//! the result, with [`Area`] one, with [`Nearest`] none. The option `source` of `include_model!` puts both in front of a model. By hand:
//!
//! ```
//! use kiln::camera::{Camera, Linear, OpenCv, Rgb565, Source, View};
//!
//! // The square in the middle of 40 × 30 pixels, as 12 × 12 pixels in grey.
//! const VIEW: View = View { lines: 30, left: 5, top: 0, width: 30, height: 30, mirrored: false };
//! static SOURCE: Source<Rgb565<OpenCv, true>, Linear<12, 12>> = Source::new(VIEW, Linear::new(&VIEW));
//!
//! let mut camera: Camera<Linear<12, 12>, 1, 24> = Camera::new(); // 1 channel, 2 rows of 12
//! let mut rows = 0;
//! let mut row = [0u8; 12];
//! for _ in 0..30 {
//!     let line = [0xff; 80]; // from the sensor
//!     while camera.push(&SOURCE, &line, &mut row, |_channel, value| value) {
//!         assert_eq!(row, [250; 12]); // OpenCV's white of 5, 6 and 5 bits
//!         rows += 1;
//!     }
//! }
//! assert_eq!(rows, 12);
//! ```

mod bayer;
mod format;
mod resize;
mod tables;

pub use bayer::Bayer;
pub use format::{Bgr, Bgr888, Format, Gray8, Like, Mosaic, OpenCv, Pillow, Rgb565, Rgb888, Yuv422};
pub use resize::{Area, Filtered, Linear, Nearest, Resize};
pub use tables::{most_taps, Filter, View};

use core::marker::PhantomData;

/// A line of a frame, as much of it as is seen.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    /// The first pixel that is seen, and how many are.
    pub(crate) left: usize,
    pub(crate) width: usize,
    /// Whether the last pixel that is seen is the first.
    pub(crate) mirrored: bool,
    /// Lines that are seen above.
    pub(crate) y: usize,
}

/// What is done to the frames of a sensor: pixels in the format `F`, resized by `R`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Source<F, R> {
    view: View,
    resize: R,
    format: PhantomData<F>,
}

impl<F: Format, R: Resize> Source<F, R> {
    /// With the tables of `resize`, which are those of the same view.
    pub const fn new(view: View, resize: R) -> Self {
        Source { view, resize, format: PhantomData }
    }
}

/// What is kept from one line to the next, of an image with `CHANNELS` (1 or 3) channels. `HELD` is the number of elements in that: `R::ROWS · R::WIDTH · CHANNELS`. All of it is zero at first.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Camera<R: Resize, const CHANNELS: usize, const HELD: usize> {
    held: [R::Cell; HELD],
    /// The line of the frame that comes next, or is being taken.
    line: usize,
    /// The row of the result that comes next.
    row: usize,
    /// Whether the line is held already.
    taken: bool,
}

impl<R: Resize, const CHANNELS: usize, const HELD: usize> Camera<R, CHANNELS, HELD> {
    const CHECKED: () = {
        assert!(CHANNELS == 1 || CHANNELS == 3, "images have 1 or 3 channels");
        assert!(HELD == R::ROWS * R::WIDTH * CHANNELS, "HELD is R::ROWS · R::WIDTH · CHANNELS");
    };

    /// Before the first line of a frame.
    pub const fn new() -> Self {
        let () = Self::CHECKED;
        Camera { held: [R::EMPTY; HELD], line: 0, row: 0, taken: false }
    }

    /// Takes the next line of the sensor. If it completes a row of the result, the row is written to `to`, channels side by side, and `true` is given: the same line is then given again, until the answer is `false`. Behind
    /// the last line of a frame comes the first of the next.
    ///
    /// `map` makes an element of a channel and its value, 0 to 255. Pixels that a line is too short for are black.
    pub fn push<F: Format, T>(
        &mut self,
        source: &Source<F, R>,
        line: &[u8],
        to: &mut [T],
        map: impl Fn(usize, u8) -> T,
    ) -> bool {
        let View { lines, left, top, width, height, mirrored } = source.view;
        let (resize, y) = (&source.resize, self.line.wrapping_sub(top));
        if y < height && self.row < R::HEIGHT {
            let line = Line { bytes: line, left, width, mirrored, y };
            if !self.taken {
                resize.take::<F, CHANNELS>(line, self.row, &mut self.held);
                self.taken = true;
            }
            if resize.completes(y, self.row) {
                let mut pixels = to.chunks_exact_mut(CHANNELS);
                resize.write::<F, CHANNELS>(line, self.row, &mut self.held, |pixel| {
                    let to = pixels.next().unwrap_or_default();
                    for (channel, (to, value)) in to.iter_mut().zip(pixel).enumerate() {
                        *to = map(channel, value);
                    }
                });
                self.row = self.row.wrapping_add(1);
                return true;
            }
        }
        self.taken = false;
        self.line = self.line.wrapping_add(1);
        if self.line >= lines {
            self.restart();
        }
        false
    }

    /// The row of the result that comes next; its height when all rows of a frame are there, and lines of it are still to come.
    pub fn row(&self) -> usize {
        self.row
    }

    /// Drops the lines of a frame that is not complete: the next line is the first of a new one.
    pub fn restart(&mut self) {
        self.line = 0;
        self.row = 0;
        self.taken = false;
    }
}

impl<R: Resize, const CHANNELS: usize, const HELD: usize> Default for Camera<R, CHANNELS, HELD> {
    fn default() -> Self {
        Self::new()
    }
}
