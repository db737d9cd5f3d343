//! The constants of a front end, computed at compile time as TensorFlow Lite Micro's Python tools compute them.

// Evaluated at compile time: an index that is out of range does not compile.
#![allow(clippy::indexing_slicing)]

use super::math::{cos, exp, ln, sin};
use crate::params::{Noise, NoiseFloor};
use core::f64::consts::PI;

/// What a front end is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Parameters {
    /// Samples per second.
    pub sample_rate: u32,
    /// Where the lowest channel begins, in hertz.
    pub lower: f32,
    /// Where the highest channel ends, in hertz; below half of the sample rate.
    pub upper: f32,
    /// How fast the estimate of noise follows in channels of even index, 0 to 1.
    pub even_smoothing: f64,
    /// The same in channels of odd index.
    pub odd_smoothing: f64,
    /// What is left of the signal at least, 0 to 1.
    pub min_signal_remaining: f64,
    /// Whether the estimate of noise never exceeds the signal.
    pub clamping: bool,
    /// Strength of the automatic gain: the exponent of the noise.
    pub strength: f32,
    /// Offset of the automatic gain, added to the noise.
    pub offset: f32,
    /// Bits of fraction of the gain.
    pub gain_bits: u32,
    /// Bits of fraction of the logarithm.
    pub log_bits: u32,
}

/// The parameters of micro_speech and of micro-wake-word models.
pub const MICRO_SPEECH: Parameters = Parameters {
    sample_rate: 16000,
    lower: 125.0,
    upper: 7500.0,
    even_smoothing: 0.025,
    odd_smoothing: 0.06,
    min_signal_remaining: 0.05,
    clamping: false,
    strength: 0.95,
    offset: 80.0,
    gain_bits: 21,
    log_bits: 6,
};

/// Bits of fraction of the window, of the weights of channels, of smoothing factors and of estimates of noise.
const WINDOW_BITS: u32 = 12;
const WEIGHT_BITS: u32 = 12;
const SMOOTHING_BITS: u32 = 10;
const FACTOR_BITS: u32 = 14;
/// Bits of fraction behind the automatic gain.
const SNR_BITS: u32 = 12;
/// Two gains, and four numbers for each number of bits from 2 to 32, but for the last, which is 0.
const GAINS: usize = 125;

/// The constants of a front end: 4.6 KB for windows of 480 samples, 257 frequencies and 40 channels.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tables<const WINDOW: usize, const BINS: usize, const CHANNELS: usize> {
    pub(super) window_bits: u32,
    pub(super) window: [i16; WINDOW],
    pub(super) twiddles: [[i16; 2]; BINS],
    pub(super) halves: [[i16; 2]; BINS],
    /// The frequencies that count.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Of the channel in front of the first, which has no sum, and of all others: first frequency, first weight and the number of both.
    pub(super) first: [i16; 3],
    pub(super) channels: [[i16; 3]; CHANNELS],
    pub(super) weights: [[i16; 2]; BINS],
    pub(super) noise: Noise,
    pub(super) floor: NoiseFloor,
    pub(super) snr_shift: u32,
    pub(super) gains: [i16; GAINS],
    pub(super) scale: u32,
    pub(super) correction_bits: u32,
}

impl<const WINDOW: usize, const BINS: usize, const CHANNELS: usize> Tables<WINDOW, BINS, CHANNELS> {
    const CHECKED: () = {
        assert!(
            BINS >= 33 && (BINS - 1).is_power_of_two(),
            "BINS is half the length of the transform, a power of two from 64 on, and 1"
        );
        assert!(WINDOW > 0 && WINDOW <= 2 * (BINS - 1), "a window is not longer than the transform");
        assert!(BINS <= 1 << 14, "the transform is not longer than 32768");
        assert!(CHANNELS > 0);
    };

    /// Computes them. Meant for a `static` or a `const`, where parameters that make no sense do not compile.
    ///
    /// # Panics
    /// If the range of frequencies is empty or reaches half of the sample rate, or if the gain has too few or too many bits.
    pub const fn new(p: &Parameters) -> Self {
        let () = Self::CHECKED;
        let length = 2 * (BINS - 1);
        let nyquist = p.sample_rate as f32 / 2.0;
        assert!(
            p.lower >= 0.0 && p.lower < p.upper && p.upper < nyquist,
            "the range of frequencies is empty or too high"
        );
        // Energies have WEIGHT_BITS more bits than the spectrum's squares, which lost as many as the length has; roots have half of these.
        let correction_bits = length.trailing_zeros() - WEIGHT_BITS / 2;
        assert!(
            p.gain_bits > correction_bits + SNR_BITS && p.gain_bits < 32,
            "the gain has too few or too many bits"
        );
        let (first, channels, weights, start, end) = channels(p);
        Tables {
            window_bits: WINDOW_BITS,
            window: window(),
            twiddles: twiddles(),
            halves: halves(),
            start,
            end,
            first,
            channels,
            weights,
            noise: Noise {
                even: smoothing(p.even_smoothing),
                odd: smoothing(p.odd_smoothing),
                smoothing_bits: SMOOTHING_BITS,
                bits: FACTOR_BITS,
                clamping: p.clamping,
            },
            floor: NoiseFloor {
                min_signal_remaining: factor_of(p.min_signal_remaining),
                smoothing_bits: SMOOTHING_BITS,
                bits: FACTOR_BITS,
            },
            snr_shift: p.gain_bits - correction_bits - SNR_BITS,
            gains: gains(p, SMOOTHING_BITS - correction_bits),
            scale: 1 << p.log_bits,
            correction_bits,
        }
    }
}

/// A number as a whole one, rounded to the nearest; upwards where there are two.
const fn rounded(x: f64) -> i16 {
    let above = x + 0.5;
    let whole = above as i32;
    (if whole as f64 > above { whole - 1 } else { whole }) as i16
}

/// A window of von Hann, between samples.
const fn window<const WINDOW: usize>() -> [i16; WINDOW] {
    let (mut window, mut i) = ([0; WINDOW], 0);
    while i < WINDOW {
        let weight = 0.5 - 0.5 * cos(PI * 2.0 / WINDOW as f64 * (i as f64 + 0.5));
        window[i] = rounded(weight * (1 << WINDOW_BITS) as f64);
        i += 1;
    }
    window
}

/// A point of the unit circle, in 15 bits of fraction.
const fn point(phase: f64) -> [i16; 2] {
    [rounded(i16::MAX as f64 * cos(phase)), rounded(i16::MAX as f64 * sin(phase))]
}

/// The twiddles of `rfft_i16`, three quarters of a turn.
const fn twiddles<const BINS: usize>() -> [[i16; 2]; BINS] {
    let n = BINS - 1;
    let (mut twiddles, mut i) = ([[0; 2]; BINS], 0);
    while i < n - n / 4 {
        twiddles[i] = point(-2.0 * PI * i as f64 / n as f64);
        i += 1;
    }
    twiddles
}

/// Those for the spectrum of real numbers.
const fn halves<const BINS: usize>() -> [[i16; 2]; BINS] {
    let n = BINS - 1;
    let (mut halves, mut k) = ([[0; 2]; BINS], 1);
    while k <= n / 2 {
        halves[k - 1] = point(-PI * (k as f64 / n as f64 + 0.5));
        k += 1;
    }
    halves
}

/// The pitch of a frequency, in mel.
const fn mel(hertz: f32) -> f32 {
    1127.0 * ln(1.0 + (hertz / 700.0) as f64) as f32
}

type Channels<const BINS: usize, const CHANNELS: usize> =
    ([i16; 3], [[i16; 3]; CHANNELS], [[i16; 2]; BINS], usize, usize);

/// Channels that are equally wide in mel, each a triangle that overlaps with its neighbours: a frequency counts for the channel that it lies in as much less as it is near its end, and the rest of it
/// for the next channel.
const fn channels<const BINS: usize, const CHANNELS: usize>(p: &Parameters) -> Channels<BINS, CHANNELS> {
    let step = p.sample_rate as f64 / 2.0 / (BINS - 1) as f64;
    let (lowest, highest) = (mel(p.lower), mel(p.upper));
    let width = (highest - lowest) / (CHANNELS + 1) as f32;
    let (mut first, mut channels, mut weights) = ([0; 3], [[0; 3]; CHANNELS], [[0; 2]; BINS]);
    // The frequency 0 does not count.
    let start = rounded(1.0 + p.lower as f64 / step) as usize;
    let (mut bin, mut weight, mut channel, mut begin) = (start, 0, 0, lowest);
    while channel <= CHANNELS {
        let end = lowest + width * (channel + 1) as f32;
        let place = [bin as i16, weight as i16];
        let mut pitch = mel((bin as f64 * step) as f32);
        while pitch <= end && bin < BINS - 1 {
            let share = (end - pitch) / (end - begin);
            let unit = (1 << WEIGHT_BITS) as f32;
            weights[weight] = [(share * unit) as i16, ((1.0 - share) * unit) as i16];
            bin += 1;
            weight += 1;
            pitch = mel((bin as f64 * step) as f32);
        }
        let row = [place[0], place[1], bin as i16 - place[0]];
        if channel == 0 {
            first = row;
        } else {
            channels[channel - 1] = row;
        }
        begin = end;
        channel += 1;
    }
    (first, channels, weights, start, bin)
}

const fn factor_of(share: f64) -> u32 {
    (share * (1u32 << FACTOR_BITS) as f64) as u32
}

/// Weights of what is new and of what was before.
const fn smoothing(share: f64) -> [u32; 2] {
    let new = factor_of(share);
    [new, (1 << FACTOR_BITS) - new]
}

/// The gain of a noise with so many bits of fraction.
const fn gain(p: &Parameters, bits: u32, noise: u32) -> i32 {
    let noise = noise as f32 / (1u32 << bits) as f32 + p.offset;
    let gain = (1u32 << p.gain_bits) as f32 * exp(-(p.strength as f64) * ln(noise as f64)) as f32;
    if gain > i16::MAX as f32 {
        i16::MAX as i32
    } else {
        (gain + 0.5) as i32
    }
}

/// Gains of noises 0 and 1, then for each number of bits the parabola through the gains of its first, its middle and the next one's first noise.
const fn gains(p: &Parameters, bits: u32) -> [i16; GAINS] {
    let mut gains = [0; GAINS];
    gains[0] = gain(p, bits, 0) as i16;
    gains[1] = gain(p, bits, 1) as i16;
    let mut interval = 2;
    while interval <= 32 {
        let first = 1u32 << (interval - 1);
        let next = if interval == 32 { u32::MAX } else { 2 * first };
        let low = gain(p, bits, first);
        let half = gain(p, bits, first + first / 2) - low;
        let whole = gain(p, bits, next) - low;
        let slope = 4 * half - whole;
        let at = 4 * interval - 6;
        gains[at] = low as i16;
        gains[at + 1] = slope as i16;
        gains[at + 2] = (whole - slope) as i16;
        interval += 1;
    }
    gains
}
