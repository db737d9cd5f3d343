//! From microphone samples to the features of a speech model: the front end that TensorFlow Lite Micro's micro_speech example and micro-wake-word models are trained with.
//!
//! Windows of samples that overlap become energies of frequencies, and these the loudness of channels that are as wide as the ear hears them (mel), less the noise, with an automatic gain (PCAN), as logarithms. All of
//! it is integer arithmetic, by the [`kernels`] that compiled models use for TensorFlow Lite Micro's audio operators: the features are those of its `audio_preprocessor` models, bit
//! for bit. [`Tables`] are computed while the firmware compiles.
//!
//! ```
//! use kiln::frontend::{to_i8, Frontend, MicroSpeech, Tables, MICRO_SPEECH};
//!
//! static TABLES: Tables<480, 257, 40> = Tables::new(&MICRO_SPEECH);
//!
//! // A window of 30 ms every 20 ms, at 16 kHz; FFT of 512 samples, 257 frequencies; 40 channels.
//! let mut frontend: MicroSpeech = Frontend::new(&TABLES);
//!
//! let block = [0i16; 1000]; // what the microphone gave, of any length
//! let mut rest = &block[..];
//! let mut rows = 0;
//! while let Some(features) = frontend.push(&mut rest) {
//!     let row: [i8; 40] = features.map(to_i8); // for an int8 model: model.push_row(&row)
//!     assert_eq!(row, [-128; 40]); // silence
//!     rows += 1;
//! }
//! assert_eq!(rows, 2); // samples 0 to 479 and 320 to 799
//! ```
//!
//! Features of other packages (librosa, torchaudio, Kaldi, TensorFlow) are computed by types that `kiln::features!` makes.

mod frames;
mod math;
mod tables;

use crate::arch::portable::signal::filter_bank_of;
use crate::kernels;
use core::cell::Cell;
use core::iter::once;
pub use frames::Frames;
pub use tables::{Parameters, Tables, MICRO_SPEECH};

/// The front end of TensorFlow Lite Micro's micro_speech example: a row of 40 features for every 20 ms (320 samples), of windows of 30 ms.
pub type MicroSpeech = Frontend<480, 320, 257, 40>;

/// The front end of micro-wake-word models: the same, with a row for every 10 ms (160 samples).
pub type MicroWakeWord = Frontend<480, 160, 257, 40>;

/// What is left of a stream of samples: those of the next window, and the noise so far; and the memory to compute in. 4.7 KB for [`MicroSpeech`].
///
/// Windows are of `WINDOW` samples, each `STEP` behind the one before, and have `BINS` frequencies: half the length of the transform and one more, where the length is a power of two, at least 8, and not
/// less than `WINDOW`. A row has `CHANNELS` features. All of this is checked while the firmware compiles.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frontend<const WINDOW: usize, const STEP: usize, const BINS: usize, const CHANNELS: usize> {
    tables: &'static Tables<WINDOW, BINS, CHANNELS>,
    frames: Frames<i16, WINDOW, STEP>,
    noise: [i32; CHANNELS],
    windowed: [i16; WINDOW],
    spectrum: [[i16; 2]; BINS],
    energies: [i32; BINS],
    sums: [i64; CHANNELS],
    levels: [i32; CHANNELS],
    features: [i16; CHANNELS],
}

impl<const WINDOW: usize, const STEP: usize, const BINS: usize, const CHANNELS: usize>
    Frontend<WINDOW, STEP, BINS, CHANNELS>
{
    /// A front end that has heard nothing yet.
    pub const fn new(tables: &'static Tables<WINDOW, BINS, CHANNELS>) -> Self {
        Frontend {
            tables,
            frames: Frames::new(0),
            noise: [0; CHANNELS],
            windowed: [0; WINDOW],
            spectrum: [[0; 2]; BINS],
            energies: [0; BINS],
            sums: [0; CHANNELS],
            levels: [0; CHANNELS],
            features: [0; CHANNELS],
        }
    }

    /// Forgets all samples and the noise.
    pub fn reset(&mut self) {
        self.frames = Frames::new(0);
        self.noise = [0; CHANNELS];
    }

    /// Takes samples from the beginning of `samples` until a window is complete, and returns its features: logarithms of loudness, 0 to about 670 ([`to_i8`], [`to_f32`]). `None` once all samples are taken, so that
    /// a loop until then takes them all.
    pub fn push(&mut self, samples: &mut &[i16]) -> Option<&[i16; CHANNELS]> {
        self.frames.push(samples)?;
        self.window();
        Some(&self.features)
    }

    /// The features of the complete window.
    fn window(&mut self) {
        let t = self.tables;
        let length = BINS.wrapping_sub(1).wrapping_mul(2);
        let bits = [Cell::new(0)];
        let samples = self.frames.cells();
        let windowed = cells(&mut self.windowed);
        let spectrum = Cell::from_mut(self.spectrum.as_flattened_mut()).as_slice_of_cells();
        let energies = cells(&mut self.energies);
        let (sums, levels) = (cells(&mut self.sums), cells(&mut self.levels));
        let (noise, features) = (cells(&mut self.noise), cells(&mut self.features));
        kernels::window_i16(t.window_bits, &t.window, samples, windowed);
        kernels::headroom_i16(windowed, &bits);
        kernels::shift_left_i16(windowed, &bits, windowed);
        let (twiddles, halves) = (t.twiddles.as_flattened(), t.halves.as_flattened());
        kernels::rfft_i16(length, WINDOW, twiddles, halves, windowed, spectrum);
        kernels::energy_i16(t.start, t.end, spectrum, energies);
        filter_bank_of(once(&t.first).chain(&t.channels), t.weights.as_flattened(), energies, sums);
        kernels::square_root_i64(sums, &bits, levels);
        kernels::noise_estimate_i32(&t.noise, levels, noise, noise);
        kernels::subtract_noise_i32(&t.floor, levels, noise, levels);
        kernels::pcan_i32(t.snr_shift, &t.gains, levels, noise, levels);
        kernels::log_i32_i16(t.scale, t.correction_bits, levels, features);
    }
}

fn cells<T, const N: usize>(values: &mut [T; N]) -> &[Cell<T>] {
    Cell::from_mut(&mut values[..]).as_slice_of_cells()
}

/// A feature as int8 models take it, whose step is 0.1015625 and whose zero point is −128: 256/666 of it less 128, rounded and not above 127.
pub const fn to_i8(feature: i16) -> i8 {
    let scaled = (feature as i32).wrapping_mul(256).wrapping_add(333) / 666 - 128;
    if scaled > 127 {
        127
    } else if scaled < -128 {
        -128
    } else {
        scaled as i8
    }
}

/// A feature as float models take it: divided by 25.6, so that features go from 0 to about 26.
pub fn to_f32(feature: i16) -> f32 {
    f32::from(feature) * 0.0390625
}
