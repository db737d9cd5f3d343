//! Another sampling rate, by a ratio of small numbers.

use core::mem::swap;

/// `UP` results for `DOWN` samples, each of `CHANNELS` channels, through a filter of `UP · TAPS` taps, in float32.
///
/// The results are those of scipy's `upfirdn(filter, samples, UP, DOWN)`: samples `UP` times as often, with zeros in between, go through the filter, and every `DOWN`th is a result. A result takes
/// `TAPS` products for each channel, because nothing is multiplied by the zeros. `TAPS` samples are held.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Resampler<const UP: usize, const DOWN: usize, const TAPS: usize, const CHANNELS: usize> {
    filter: &'static [[f32; UP]; TAPS],
    /// The last samples, from the newest to the oldest.
    held: [[f32; CHANNELS]; TAPS],
    /// Where the next result is behind the newest sample, in steps of a sample's `UP`th part.
    phase: usize,
}

impl<const UP: usize, const DOWN: usize, const TAPS: usize, const CHANNELS: usize>
    Resampler<UP, DOWN, TAPS, CHANNELS>
{
    const CHECKED: () = assert!(
        UP > 0 && DOWN > 0 && UP <= 1 << 15 && DOWN <= 1 << 15,
        "rates have a ratio of numbers from 1 to 32768"
    );

    /// With the taps of a filter in their order, `UP` in each row: numpy's `taps.reshape(-1, UP)`. Silence came before. Usable in a `static`.
    pub const fn new(filter: &'static [[f32; UP]; TAPS]) -> Self {
        let () = Self::CHECKED;
        // The first sample makes the first result.
        Resampler { filter, held: [[0.0; CHANNELS]; TAPS], phase: UP }
    }

    /// Takes samples from the beginning of `samples` until there is a result, and returns it. `None` once all samples are taken and have no more results, so that a loop until then takes them all.
    pub fn push(&mut self, samples: &mut &[[f32; CHANNELS]]) -> Option<[f32; CHANNELS]> {
        while self.phase >= UP {
            let (sample, rest) = samples.split_first()?;
            *samples = rest;
            let mut newest = *sample;
            self.held.iter_mut().for_each(|held| swap(held, &mut newest));
            self.phase = self.phase.saturating_sub(UP);
        }
        let mut result = [0.0; CHANNELS];
        for (held, taps) in self.held.iter().zip(self.filter) {
            let tap = taps.get(self.phase).copied().unwrap_or_default();
            result.iter_mut().zip(held).for_each(|(sum, value)| *sum += tap * value);
        }
        self.phase = self.phase.saturating_add(DOWN);
        Some(result)
    }

    /// As if silence had come before.
    pub fn reset(&mut self) {
        (self.held, self.phase) = ([[0.0; CHANNELS]; TAPS], UP);
    }
}

#[cfg(test)]
mod tests {
    use super::Resampler;
    extern crate std;
    use std::vec::Vec;

    fn resampled<const UP: usize, const DOWN: usize, const TAPS: usize>(
        resampler: &mut Resampler<UP, DOWN, TAPS, 1>,
        samples: &[[f32; 1]],
        block: usize,
    ) -> Vec<f32> {
        let mut found = Vec::new();
        for mut rest in samples.chunks(block) {
            found.extend(std::iter::from_fn(|| resampler.push(&mut rest)).map(|[value]| value));
            assert!(rest.is_empty());
        }
        found
    }

    #[test]
    fn zeros_in_between_are_filtered() {
        let samples: Vec<[f32; 1]> = (0..17u16).map(|i| [f32::from(i * i % 11) - 4.0]).collect();
        const FILTER: [[f32; 3]; 2] = [[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]];
        // As the definition has it.
        let spread = |i: usize| if i % 3 == 0 { samples[i / 3][0] } else { 0.0 };
        let taps = FILTER.as_flattened();
        let at = |i: usize| (0..6).filter(|&k| k <= i).map(|k| taps[k] * spread(i - k)).sum::<f32>();
        let expected: Vec<f32> = (0..3 * samples.len()).step_by(5).map(at).collect();
        for block in [1, 2, 4, 17] {
            let mut resampler = Resampler::<3, 5, 2, 1>::new(&FILTER);
            assert_eq!(resampled(&mut resampler, &samples, block), expected, "{block}");
            resampler.reset();
            assert_eq!(resampled(&mut resampler, &samples, block), expected, "{block}");
        }
    }

    #[test]
    fn samples_are_left_out_or_repeated() {
        let samples = [[1.0], [2.0], [3.0], [4.0], [5.0]];
        assert_eq!(resampled(&mut Resampler::<1, 2, 1, 1>::new(&[[1.0]]), &samples, 2), [1.0, 3.0, 5.0]);
        let twice = resampled(&mut Resampler::<2, 1, 1, 1>::new(&[[1.0, 1.0]]), &samples, 3);
        assert_eq!(twice, [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]);
    }
}
