//! Windows, waves, mel filters and cosine transforms, as the packages compute them.

use super::like::{Scale, Triangles};
use std::f64::consts::{PI, TAU};

/// A window of that many samples.
pub(super) fn window(name: &str, length: usize, periodic: bool) -> Vec<f64> {
    let period = if periodic { length } else { length.saturating_sub(1).max(1) } as f64;
    let at = |t: usize| {
        let turn = TAU * t as f64 / period;
        match name {
            "hann" => 0.5 - 0.5 * turn.cos(),
            "hamming" => 0.54 - 0.46 * turn.cos(),
            "povey" => (0.5 - 0.5 * turn.cos()).powf(0.85),
            "blackman" => 0.42 - 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos(),
            _ => 1.0,
        }
    };
    (0..length).map(at).collect()
}

/// Cosines of some frequencies of a transform, then their sines turned round, each times the window.
pub(super) fn waves(window: &[f64], n_fft: usize, bins: std::ops::Range<usize>) -> Vec<f32> {
    let turns: Vec<(f64, f64)> =
        (0..n_fft).map(|t| (TAU * t as f64 / n_fft as f64).sin_cos()).map(|(s, c)| (c, -s)).collect();
    let row = |k: usize, part: fn(&(f64, f64)) -> f64| {
        let wave = |(t, w): (usize, &f64)| turns.get(k * t % n_fft).map_or(0.0, |turn| w * part(turn)) as f32;
        window.iter().enumerate().map(wave).collect::<Vec<f32>>()
    };
    let cosines = bins.clone().flat_map(|k| row(k, |turn| turn.0));
    cosines.chain(bins.flat_map(|k| row(k, |turn| turn.1))).collect()
}

/// Bands of mel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mel {
    pub(super) triangles: Triangles,
    /// Whether triangles have the same area, not the same height.
    pub(super) same_area: bool,
    pub(super) bands: usize,
    pub(super) f_min: f64,
    pub(super) f_max: f64,
}

impl Mel {
    /// What each band takes of each frequency of a transform.
    pub(super) fn filters(&self, rate: usize, n_fft: usize) -> Vec<Vec<f64>> {
        let bins = n_fft / 2 + 1;
        let hertz = |bin: usize| bin as f64 * rate as f64 / n_fft as f64;
        let (scale, straight_over_hertz) = match self.triangles {
            Triangles::Hertz(scale) => (scale, true),
            _ => (Scale::Htk, false),
        };
        let (low, high) = (scale.mel(self.f_min), scale.mel(self.f_max));
        let step = (high - low) / (self.bands + 1) as f64;
        let corner = |index: usize| low + step * index as f64;
        let band = |band: usize| {
            let corners = [corner(band), corner(band + 1), corner(band + 2)];
            let height = match self.same_area {
                true => 2.0 / (scale.hertz(corners[2]) - scale.hertz(corners[0])),
                false => 1.0,
            };
            let at = |bin: usize| match self.triangles {
                Triangles::Mel if bin == n_fft / 2 => 0.0,
                Triangles::MelWithoutConstant if bin == 0 => 0.0,
                Triangles::Whole => whole(
                    corners.map(|mel| ((n_fft + 1) as f64 * Scale::Htk.hertz(mel) / rate as f64).floor()),
                    bin as f64,
                ),
                _ if straight_over_hertz => triangle(corners.map(|mel| scale.hertz(mel)), hertz(bin)),
                _ => triangle(corners, scale.mel(hertz(bin))),
            };
            (0..bins).map(|bin| height * at(bin)).collect()
        };
        (0..self.bands).map(band).collect()
    }
}

/// A triangle that is 1 at its middle corner.
fn triangle([left, middle, right]: [f64; 3], at: f64) -> f64 {
    ((at - left) / (middle - left)).min((right - at) / (right - middle)).max(0.0)
}

/// The same with corners that may be one.
fn whole([left, middle, right]: [f64; 3], at: f64) -> f64 {
    match at {
        _ if at >= left && at < middle => (at - left) / (middle - left),
        _ if at >= middle && at < right => (right - at) / (right - middle),
        _ => 0.0,
    }
}

impl Scale {
    /// Slaney's scale: linear below 1000 Hz.
    const STEP: f64 = 200.0 / 3.0;
    const KNEE: f64 = 1000.0;

    fn log_step() -> f64 {
        6.4f64.ln() / 27.0
    }

    pub(super) fn mel(self, hertz: f64) -> f64 {
        match self {
            Scale::Htk => 2595.0 * (1.0 + hertz / 700.0).log10(),
            Scale::Slaney if hertz < Self::KNEE => hertz / Self::STEP,
            Scale::Slaney => Self::KNEE / Self::STEP + (hertz / Self::KNEE).ln() / Self::log_step(),
        }
    }

    pub(super) fn hertz(self, mel: f64) -> f64 {
        let knee = Self::KNEE / Self::STEP;
        match self {
            Scale::Htk => 700.0 * (10f64.powf(mel / 2595.0) - 1.0),
            Scale::Slaney if mel < knee => mel * Self::STEP,
            Scale::Slaney => Self::KNEE * (Self::log_step() * (mel - knee)).exp(),
        }
    }
}

/// Rows of the cosine transform of type II: `ortho` makes it a rotation, else the first row is as long as √2 of the others.
pub(super) fn cosines(rows: usize, columns: usize, ortho: bool) -> Vec<Vec<f64>> {
    let row = |k: usize| {
        let factor = if ortho && k == 0 { 1.0 } else { 2.0 } / columns as f64;
        let at = |n: usize| factor.sqrt() * (PI * k as f64 * (2 * n + 1) as f64 / (2 * columns) as f64).cos();
        (0..columns).map(at).collect()
    };
    (0..rows).map(row).collect()
}
