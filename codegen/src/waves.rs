//! Filters that are the waves of a Fourier transform: networks write spectrograms as convolutions or matrix products with cosines and sines.
//!
//! Filters of a layer are waves if there are a window w and a length L such that filter `o` is ±w(t)·cos(2π·k·t / L) or ±w(t)·sin(2π·k·t / L) with a whole number k of its own, as exactly as floats have it.

use crate::ir::Data;
use std::f64::consts::TAU;

/// How far a weight may be from its wave, of the largest element of the window.
const NEAR: f64 = 4e-6;

/// Lengths of transforms.
const SHORTEST: usize = 16;
const LONGEST: usize = 8192;

/// The radices of butterflies, in the order in which they are computed: the first ones have no factors.
const RADICES: [usize; 4] = [5, 4, 3, 2];

/// The radices whose product is that number, if there are any.
pub(crate) fn radices(n: usize) -> Option<Vec<u8>> {
    let (mut left, mut all) = (n, Vec::new());
    for radix in RADICES {
        while left % radix == 0 {
            left /= radix;
            all.push(radix as u8);
        }
    }
    (left == 1 && n > 1).then_some(all)
}

/// Filters that are waves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waves {
    /// Length of the transform.
    pub(crate) length: usize,
    /// A factor for each tap.
    pub(crate) window: Vec<f32>,
    /// What each filter computes: 2·k the real part of frequency k, 2·k + 1 the imaginary part, −1 − v the opposite of v.
    pub(crate) parts: Vec<i16>,
}

impl Waves {
    /// The waves that so many filters are.
    pub(crate) fn of(weights: &Data, filters: usize) -> Option<Waves> {
        let bytes = weights.bytes();
        let taps = (bytes.len() / 4).checked_div(filters).filter(|taps| (4..=LONGEST).contains(taps))?;
        // Fewer are computed as they are.
        if filters < SHORTEST {
            return None;
        }
        let rows = Rows { bytes, taps, filters };
        let mut windows = rows.windows();
        windows.find_map(|window| Waves::with_window(&rows, &window))
    }

    /// Cycles for one transform of which so many filters take a part, about.
    pub(crate) fn cycles(&self, filters: usize) -> u64 {
        let length = self.length as u64;
        8 * length * u64::from(length.ilog2()) + 10 * filters as u64
    }

    /// Whether a transform is faster than the products with so many filters, two cycles each.
    pub(crate) fn is_faster(&self, filters: usize) -> bool {
        self.cycles(filters) <= 2 * (filters * self.window.len()) as u64
    }

    /// With that window.
    fn with_window(rows: &Rows<'_>, window: &[f64]) -> Option<Waves> {
        let most = window.iter().fold(0.0, |most: f64, w| most.max(*w));
        // No wave leaves the window, whatever its length. That refuses filters of other layers at their first taps.
        let inside = |row: Vec<f64>| {
            row.iter().zip(window).all(|(w, most_here)| w.abs() <= most_here.abs() + 2.0 * NEAR * most)
        };
        if !(0..rows.filters).all(|o| rows.row(o).is_some_and(inside)) {
            return None;
        }
        let shortest = window.len().max(SHORTEST).next_multiple_of(2);
        let lengths = (shortest..=LONGEST.min(4 * shortest.next_power_of_two())).step_by(2);
        lengths.filter(|length| radices(length / 2).is_some()).find_map(|length| {
            // Of filters that are no waves, the first one shows it.
            let part = |o| part(&rows.row(o)?, window, length, most);
            let parts = (0..rows.filters).map(part).collect::<Option<Vec<i16>>>()?;
            let window = window.iter().map(|&w| w as f32).collect();
            Some(Waves { length, window, parts })
        })
    }
}

/// The filters of a layer, as floats are stored.
struct Rows<'a> {
    bytes: &'a [u8],
    taps: usize,
    filters: usize,
}

impl Rows<'_> {
    /// The weights of a filter, if there is one.
    fn row(&self, o: usize) -> Option<Vec<f64>> {
        let size = 4 * self.taps;
        let row = self.bytes.get(o * size..(o + 1) * size)?;
        let weight = |word: &[u8]| word.try_into().ok().map(|word| f64::from(f32::from_le_bytes(word)));
        row.chunks_exact(4).map(weight).collect()
    }

    /// Windows that filters may have: a filter of frequency 0, or what the cosine and the sine of a frequency make together.
    fn windows(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        let half = self.filters / 2;
        let pairs = [(0, 1), (2, 3), (0, half), (1, half + 1)];
        let squares = pairs.into_iter().filter_map(|(re, im)| {
            let (re, im) = (self.row(re)?, self.row(im)?);
            Some(re.iter().zip(im).map(|(re, im)| re.hypot(im)).collect())
        });
        let constant = [0, half].into_iter().filter_map(|o| self.row(o));
        constant.chain(squares).filter(|window: &Vec<f64>| {
            let most = window.iter().fold(0.0, |most: f64, &w| most.max(w));
            let is_positive = window.iter().all(|&w| w >= -NEAR * most);
            // One that is 0 nearly everywhere says nothing of frequencies.
            is_positive && most.is_finite() && window.iter().filter(|&&w| w > NEAR * most).count() >= 4
        })
    }
}

/// What a filter computes of a transform of that length, if it is a wave. `most` is the largest element of the window.
fn part(row: &[f64], window: &[f64], length: usize, most: f64) -> Option<i16> {
    let near = NEAR * most;
    if row.iter().all(|w| w.abs() <= near) {
        // The imaginary part of frequency 0.
        return Some(1);
    }
    let k = (turn(row, window, most)? * length as f64).round() as usize;
    let is = |function: fn(f64) -> f64, sign: f64| {
        row.iter().zip(window).enumerate().all(|(t, (w, window))| {
            let wave = function(TAU * ((k * t) % length) as f64 / length as f64);
            (w - sign * window * wave).abs() <= near
        })
    };
    let re = i16::try_from(2 * k).ok()?;
    let im = re.checked_add(1)?;
    // X(k) has e^(−iωt), so its imaginary part has −sin.
    match () {
        () if is(f64::cos, 1.0) => Some(re),
        () if is(f64::cos, -1.0) => Some(!re),
        () if is(f64::sin, -1.0) => Some(im),
        () if is(f64::sin, 1.0) => Some(!im),
        () => None,
    }
}

/// The frequency of a wave in turns per tap, 0 to 1/2. `None` where the window has no three elements side by side that are large enough.
///
/// Of a wave u, u(t − 1) + u(t + 1) = 2·cos(ω)·u(t).
fn turn(row: &[f64], window: &[f64], most: f64) -> Option<f64> {
    let waves: Vec<Option<f64>> =
        row.iter().zip(window).map(|(row, window)| (*window > 0.05 * most).then(|| row / window)).collect();
    // The least squares of all of them.
    let (mut products, mut squares) = (0.0, 0.0);
    for three in waves.windows(3) {
        if let [Some(before), Some(at), Some(behind)] = three {
            products += (before + behind) * at;
            squares += 2.0 * at * at;
        }
    }
    (squares > 1e-6).then(|| (products / squares).clamp(-1.0, 1.0).acos() / TAU)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cosines and sines of the frequencies `first..end` of a transform, times a window of Hann; a wave is ±, as `sign` says.
    fn basis(
        length: usize,
        taps: usize,
        frequencies: std::ops::Range<usize>,
        sign: f64,
    ) -> (Vec<f32>, usize) {
        let hann = |t: usize| 0.5 - 0.5 * (TAU * t as f64 / taps as f64).cos();
        let wave = |k: usize, function: fn(f64) -> f64, sign: f64| {
            (0..taps).map(move |t| (sign * hann(t) * function(TAU * (k * t) as f64 / length as f64)) as f32)
        };
        let cosines = frequencies.clone().flat_map(|k| wave(k, f64::cos, 1.0));
        let sines = frequencies.clone().flat_map(|k| wave(k, f64::sin, sign));
        (cosines.chain(sines).collect(), 2 * frequencies.len())
    }

    #[test]
    fn waves_are_found() {
        for (length, taps, frequencies) in [
            (64, 64, 0..33),
            (64, 50, 0..33),
            (64, 64, 3..20),
            (256, 256, 1..129),
            (60, 60, 0..31),
            (400, 400, 0..201),
            (480, 399, 1..200),
        ] {
            for sign in [1.0, -1.0] {
                let (weights, filters) = basis(length, taps, frequencies.clone(), sign);
                let waves = Waves::of(&Data::from_f32(&weights), filters).unwrap();
                let sine = |k: i16| if sign < 0.0 { 2 * k + 1 } else { !(2 * k + 1) };
                let all = || frequencies.clone().map(|k| k as i16);
                // Sines of 0 and of half of the length are 0.
                let sines = all().map(|k| if k == 0 || 2 * k as usize == length { 1 } else { sine(k) });
                assert_eq!(waves.length, length, "{taps} taps");
                let zero = |part: &i16| [1, !1].contains(part);
                let expected: Vec<i16> = all().map(|k| 2 * k).chain(sines).collect();
                let same = waves
                    .parts
                    .iter()
                    .zip(&expected)
                    .all(|(got, wanted)| got == wanted || zero(got) && zero(wanted));
                assert!(same, "{length}, {taps}: {:?}", waves.parts);
            }
        }
    }

    #[test]
    fn other_filters_are_none() {
        let of = |weights: &[f32], filters| Waves::of(&Data::from_f32(weights), filters);
        let (mut weights, filters) = basis(64, 64, 0..33, -1.0);
        weights[1000] += 1e-4;
        assert_eq!(of(&weights, filters), None);
        // Of 98 numbers: 7 is a factor.
        let (weights, filters) = basis(98, 98, 0..50, -1.0);
        assert_eq!(of(&weights, filters), None);
        assert_eq!((of(&[0.0; 1024], 32), of(&[f32::NAN; 1024], 32)), (None, None));
        // Elements that stand alone are of any frequency, and one filter has another one.
        let comb: Vec<f32> = (0..32 * 32).map(|at| if at % 4 == 0 { 1.0 } else { 0.0 }).collect();
        assert_eq!(of(&comb, 32), None);
        let mut waves = basis(64, 64, 0..33, -1.0).0;
        waves.iter_mut().skip(5 * 64).take(64).for_each(|w| *w = if *w > 0.0 { 1e-3 } else { 0.0 });
        assert_eq!(of(&waves, 66), None);
    }
}
