//! Lines of sensors that have one colour in each pixel.

use super::{Camera, Format, Resize, Source};

/// A camera of the formats [`Mosaic`](super::Mosaic): it holds three lines of the sensor, as many bytes as `RAW` less one, since the colours of a pixel are those of its neighbours. Each line is seen with the one after it; those at
/// the edges as their neighbours.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bayer<R: Resize, const CHANNELS: usize, const HELD: usize, const RAW: usize> {
    camera: Camera<R, CHANNELS, HELD>,
    /// The latest three lines, and whether the line in the middle is an odd one.
    raw: [u8; RAW],
    /// Lines of the frame that are there.
    lines: usize,
    /// How many lines are still to be seen.
    due: u8,
    /// Whether the line that is being taken is there already.
    taken: bool,
}

impl<R: Resize, const CHANNELS: usize, const HELD: usize, const RAW: usize> Bayer<R, CHANNELS, HELD, RAW> {
    const CHECKED: () = assert!(RAW % 3 == 1 && RAW > 9, "three lines of at least three bytes, and one more");

    /// Before the first line of a frame.
    pub const fn new() -> Self {
        let () = Self::CHECKED;
        Bayer { camera: Camera::new(), raw: [0; RAW], lines: 0, due: 0, taken: false }
    }

    /// As [`Camera::push`].
    pub fn push<F: Format, T>(
        &mut self,
        source: &Source<F, R>,
        line: &[u8],
        to: &mut [T],
        map: impl Fn(usize, u8) -> T,
    ) -> bool {
        if !self.taken {
            self.take(line);
            // The first line is seen as the second, and the last as the one before.
            let is_last = self.lines >= source.view.lines;
            self.due = match self.lines {
                ..=2 => 0,
                3 => 2,
                _ => 1,
            };
            self.due = self.due.saturating_add(is_last.into());
            self.taken = true;
        }
        while self.due > 0 {
            if self.camera.push(source, &self.raw, to, &map) {
                return true;
            }
            self.due = self.due.saturating_sub(1);
        }
        self.taken = false;
        if self.lines >= source.view.lines {
            self.restart();
        }
        false
    }

    /// Puts a line below the two before it.
    fn take(&mut self, line: &[u8]) {
        let width = RAW / 3;
        self.raw.copy_within(width..width.wrapping_mul(3), 0);
        let below = self.raw.get_mut(width.wrapping_mul(2)..).unwrap_or_default();
        let (below, odd) = below.split_at_mut_checked(width).unwrap_or_default();
        let pixels = line.iter().copied().chain(core::iter::repeat(0));
        for (to, pixel) in below.iter_mut().zip(pixels) {
            *to = pixel;
        }
        for odd in odd {
            *odd = u8::from(self.lines % 2 == 0);
        }
        self.lines = self.lines.wrapping_add(1);
    }

    /// As [`Camera::row`].
    pub fn row(&self) -> usize {
        self.camera.row()
    }

    /// As [`Camera::restart`].
    pub fn restart(&mut self) {
        self.camera.restart();
        self.lines = 0;
        self.due = 0;
        self.taken = false;
    }
}

impl<R: Resize, const CHANNELS: usize, const HELD: usize, const RAW: usize> Default
    for Bayer<R, CHANNELS, HELD, RAW>
{
    fn default() -> Self {
        Self::new()
    }
}
