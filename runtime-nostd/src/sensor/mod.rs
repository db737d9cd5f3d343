//! From readings of sensors to the inputs of models: units, filters, other sampling rates.
//!
//! A sample is an array with a number for each channel, such as the three axes of an accelerometer. All types here take one sample after the other and need no heap. Windows that overlap are
//! [`Frames`](crate::frontend::Frames) of such samples; a model that slides needs no windows.
//!
//! ```
//! use kiln::frontend::Frames;
//! use kiln::sensor::{Biquads, Resampler, Units};
//!
//! // An accelerometer of ±4 g with three axes.
//! const UNITS: Units<3> = Units::full_scale([4.0; 3]);
//! // Half the rate: the mean of two samples.
//! let mut halved = Resampler::<1, 2, 2, 3>::new(&[[0.5], [0.5]]);
//! // scipy.signal.butter(1, 0.5, "highpass", fs=50, output="sos")
//! let mut gravity = Biquads::<1, 3>::new([[0.969531, -0.969531, 0.0, 1.0, -0.939063, 0.0]]);
//! let mut windows = Frames::<[f32; 3], 64, 32>::new([0.0; 3]);
//!
//! let mut count = 0;
//! for _ in 0..256 {
//!     let reading = [0, 0, 8192i16]; // from the sensor
//!     let sample = UNITS.of(&reading);
//!     assert_eq!(sample, [0.0, 0.0, 1.0]);
//!     let mut samples = &[sample][..];
//!     while let Some(sample) = halved.push(&mut samples) {
//!         let moved = [gravity.push(&sample)];
//!         let mut rest = &moved[..];
//!         while let Some(window) = windows.push(&mut rest) {
//!             let _input: &[f32] = window.as_flattened(); // [1, 64, 3], for the model
//!             count += 1;
//!         }
//!     }
//! }
//! assert_eq!(count, 3);
//! ```

mod biquads;
mod resampler;

pub use biquads::Biquads;
pub use resampler::Resampler;

/// What the numbers of a sensor mean: for each channel a zero, and the units of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Units<const CHANNELS: usize> {
    step: [f32; CHANNELS],
    zero: [f32; CHANNELS],
}

impl<const CHANNELS: usize> Units<CHANNELS> {
    /// One step is so many units, such as 0.061e-3 g: the sensitivity in data sheets.
    pub const fn new(step: [f32; CHANNELS]) -> Self {
        Units { step, zero: [0.0; CHANNELS] }
    }

    /// 32768 steps are so many units: a sensor with 16 bits of ±4 g has a full scale of 4.0.
    // The array has `CHANNELS` elements.
    #[allow(clippy::indexing_slicing)]
    pub const fn full_scale(most: [f32; CHANNELS]) -> Self {
        let mut step = most;
        let mut i = 0;
        while i < CHANNELS {
            step[i] /= 32768.0;
            i += 1;
        }
        Units::new(step)
    }

    /// With the reading of each channel, in steps, that means zero: the offset that calibration has found.
    pub const fn with_zero(self, zero: [f32; CHANNELS]) -> Self {
        Units { zero, ..self }
    }

    /// A reading in units: (reading − zero) · step, in float32.
    pub fn of(&self, reading: &[i16; CHANNELS]) -> [f32; CHANNELS] {
        let mut sample = reading.map(f32::from);
        for ((value, zero), step) in sample.iter_mut().zip(&self.zero).zip(&self.step) {
            *value = (*value - zero) * step;
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::Units;

    #[test]
    fn readings_have_units() {
        const UNITS: Units<2> = Units::full_scale([2.0, 500.0]);
        assert_eq!(UNITS.of(&[16384, -32768]), [1.0, -500.0]);
        assert_eq!(Units::new([0.5, 2.0]).with_zero([10.0, -1.0]).of(&[12, 3]), [1.0, 8.0]);
    }
}
