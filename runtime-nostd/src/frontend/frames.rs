//! Frames of a stream of samples that overlap.

use core::cell::Cell;

/// The samples of the next frame, as far as they are there. Frames are of `LENGTH` samples, each `HOP` behind the one before. Samples between frames that do not touch are passed over.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frames<T, const LENGTH: usize, const HOP: usize> {
    samples: [T; LENGTH],
    held: usize,
    /// Samples to be passed over before the next frame.
    skip: usize,
    /// Whether the first half of the first frame is yet to be mirrored.
    mirrors: bool,
    /// Whether the caller has seen the frame that is held.
    seen: bool,
}

impl<T: Copy, const LENGTH: usize, const HOP: usize> Frames<T, LENGTH, HOP> {
    const CHECKED: () = assert!(HOP > 0 && LENGTH > 0, "frames have samples and follow each other");

    /// The first frame begins with the first sample. `silence` is a sample of 0.
    pub const fn new(silence: T) -> Self {
        let () = Self::CHECKED;
        Frames { samples: [silence; LENGTH], held: 0, skip: 0, mirrors: false, seen: false }
    }

    /// The first frame begins with so many samples of silence, fewer than `LENGTH`.
    pub const fn behind_silence(silence: T, count: usize) -> Self {
        Frames { held: if count < LENGTH { count } else { LENGTH - 1 }, ..Self::new(silence) }
    }

    /// The first frame begins behind so many samples.
    pub const fn behind_samples(silence: T, count: usize) -> Self {
        Frames { skip: count, ..Self::new(silence) }
    }

    /// The first sample is in the middle of the first frame, whose first half mirrors the samples behind it. `LENGTH` is even.
    pub const fn mirrored(silence: T) -> Self {
        Frames { held: LENGTH / 2, mirrors: true, ..Self::new(silence) }
    }

    /// Takes samples from the beginning of `samples` until a frame is complete, and returns it. `None` once all samples are taken, so that a loop until then takes them all.
    pub fn push(&mut self, samples: &mut &[T]) -> Option<&[T; LENGTH]> {
        if self.seen {
            self.advance();
        }
        let (passed, rest) = samples.split_at_checked(self.skip).unwrap_or((*samples, &[]));
        self.skip = self.skip.wrapping_sub(passed.len());
        let free = self.samples.get_mut(self.held..).unwrap_or_default();
        let taken = free.len().min(rest.len());
        free.iter_mut().zip(rest).for_each(|(held, sample)| *held = *sample);
        *samples = rest.get(taken..).unwrap_or_default();
        self.held = self.held.wrapping_add(taken);
        if self.held < LENGTH {
            return None;
        }
        if self.mirrors {
            // The next frame takes this sample.
            self.mirror(*samples.first()?);
        }
        self.seen = true;
        Some(&self.samples)
    }

    /// The samples of the frame that is held.
    fn cells(&mut self) -> &[Cell<T>] {
        Cell::from_mut(&mut self.samples[..]).as_slice_of_cells()
    }

    /// Keeps what the next frame shares with this one.
    fn advance(&mut self) {
        let shared = self.cells();
        let from = shared.get(HOP..).unwrap_or_default();
        from.iter().zip(shared).for_each(|(from, to)| to.set(from.get()));
        self.held = from.len();
        self.skip = HOP.saturating_sub(LENGTH);
        self.seen = false;
    }

    /// Fills the first half of the first frame. `behind` is the sample behind the frame.
    fn mirror(&mut self, behind: T) {
        let (first, second) = self.cells().split_at_checked(LENGTH / 2).unwrap_or_default();
        let mut first = first.iter();
        if let Some(first) = first.next() {
            first.set(behind);
        }
        first.zip(second.iter().rev()).for_each(|(to, from)| to.set(from.get()));
        self.mirrors = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    /// Frames of the samples 1, 2, 3, …, in blocks of that length.
    fn frames<const LENGTH: usize, const HOP: usize>(
        mut frames: Frames<i16, LENGTH, HOP>,
        count: i16,
        block: usize,
    ) -> Vec<[i16; LENGTH]> {
        let samples: Vec<i16> = (1..=count).collect();
        let mut found = Vec::new();
        for block in samples.chunks(block) {
            let mut rest = block;
            while let Some(frame) = frames.push(&mut rest) {
                found.push(*frame);
            }
            assert!(rest.is_empty());
        }
        found
    }

    #[test]
    fn frames_overlap() {
        for block in [1, 2, 3, 4, 9] {
            assert_eq!(
                frames(Frames::<i16, 4, 2>::new(0), 9, block),
                [[1, 2, 3, 4], [3, 4, 5, 6], [5, 6, 7, 8]]
            );
            assert_eq!(frames(Frames::<i16, 2, 3>::new(0), 9, block), [[1, 2], [4, 5], [7, 8]]);
            assert_eq!(frames(Frames::<i16, 2, 2>::behind_samples(0, 5), 9, block), [[6, 7], [8, 9]]);
            assert_eq!(
                frames(Frames::<i16, 4, 3>::behind_silence(0, 3), 5, block),
                [[0, 0, 0, 1], [1, 2, 3, 4]]
            );
        }
    }

    #[test]
    fn beginnings_are_mirrored() {
        for block in [1, 2, 3, 5, 6, 9] {
            let frames = frames(Frames::<i16, 4, 1>::mirrored(0), 9, block);
            assert_eq!(frames[..3], [[3, 2, 1, 2], [2, 1, 2, 3], [1, 2, 3, 4]], "{block}");
            assert_eq!(frames.len(), 8);
        }
    }
}
