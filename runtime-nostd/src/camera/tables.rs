//! Which pixels and lines make those of the result, computed at compile time as OpenCV and Pillow compute it.

// Evaluated at compile time: an index that is out of range does not compile.
#![allow(clippy::indexing_slicing)]

/// What is seen of a frame, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct View {
    /// Lines of a frame.
    pub lines: usize,
    /// Pixels to the left of what is seen.
    pub left: usize,
    /// Lines above it.
    pub top: usize,
    /// Pixels of a line that are seen.
    pub width: usize,
    /// Lines that are seen.
    pub height: usize,
    /// Whether left and right are exchanged.
    pub mirrored: bool,
}

impl View {
    /// Longest side of what is seen.
    const MOST: usize = 4095;

    /// # Panics
    /// If nothing is seen, or too much, or more than there is.
    pub(super) const fn check(&self) {
        assert!(self.width > 0 && self.height > 0, "a view has at least one pixel");
        assert!(
            self.width <= Self::MOST && self.height <= Self::MOST,
            "a view has at most 4095 pixels on a side"
        );
        assert!(self.left <= 1 << 16, "a line has at most 65536 pixels");
        assert!(self.top <= self.lines && self.height <= self.lines - self.top, "a view ends with the frame");
    }
}

/// Two places, and the weight of the second one: of 2048 in all.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Tap {
    pub(super) at: u16,
    pub(super) next: u16,
    pub(super) weight: u16,
}

/// Places that count.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Span<const TAPS: usize> {
    pub(super) at: u16,
    pub(super) taps: u16,
    /// In 22 bits of fraction.
    pub(super) weights: [i32; TAPS],
}

/// The filters that Pillow shrinks images with. All pixels count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Filter {
    /// `BILINEAR`: less, the further away.
    Triangle,
    /// `BOX`: all the same.
    Box,
}

/// Where the table of a mirrored axis has an entry.
const fn place(index: usize, count: usize, mirrored: bool) -> usize {
    if mirrored {
        count - 1 - index
    } else {
        index
    }
}

/// The largest whole number that is not larger.
const fn floor(x: f64) -> i64 {
    let whole = x as i64;
    if whole as f64 > x {
        whole - 1
    } else {
        whole
    }
}

/// OpenCV's INTER_NEAREST.
pub(super) const fn nearest<const TO: usize>(from: usize, mirrored: bool) -> [u16; TO] {
    let (mut table, mut i) = ([0; TO], 0);
    let scale = 1.0 / (TO as f64 / from as f64);
    while i < TO {
        let at = floor(i as f64 * scale) as usize;
        table[place(i, TO, mirrored)] = (if at < from { at } else { from - 1 }) as u16;
        i += 1;
    }
    table
}

/// Pillow's NEAREST, which adds up the scale.
pub(super) const fn nearest_centre<const TO: usize>(from: usize, mirrored: bool) -> [u16; TO] {
    let (mut table, mut i) = ([0; TO], 0);
    let scale = from as f64 / TO as f64;
    let mut centre = scale * 0.5;
    while i < TO {
        let at = centre as usize;
        table[place(i, TO, mirrored)] = (if at < from { at } else { from - 1 }) as u16;
        centre += scale;
        i += 1;
    }
    table
}

/// OpenCV's INTER_LINEAR. Beyond the first and the last place is that place.
pub(super) const fn linear<const TO: usize>(from: usize, mirrored: bool) -> [Tap; TO] {
    let (mut table, mut i) = ([Tap { at: 0, next: 0, weight: 0 }; TO], 0);
    let scale = 1.0 / (TO as f64 / from as f64);
    let last = from as i64 - 1;
    while i < TO {
        let centre = ((i as f64 + 0.5) * scale - 0.5) as f32;
        let at = floor(centre as f64);
        let weight = rounded((centre - at as f32) * 2048.0);
        table[place(i, TO, mirrored)] = Tap { at: within(at, last), next: within(at + 1, last), weight };
        i += 1;
    }
    table
}

const fn within(at: i64, last: i64) -> u16 {
    (if at < 0 {
        0
    } else if at > last {
        last
    } else {
        at
    }) as u16
}

/// To the nearest whole number, to the even one of two.
const fn rounded(x: f32) -> u16 {
    let whole = x as u16;
    let rest = x - whole as f32;
    if rest > 0.5 || (rest == 0.5 && whole % 2 == 1) {
        whole + 1
    } else {
        whole
    }
}

/// How many places count for one of the result at most.
pub const fn most_taps(filter: Filter, from: usize, to: usize) -> usize {
    let (mut i, mut most) = (0, 1);
    while i < to {
        let (first, end, _, _) = reach(filter, from, to, i);
        if end - first > most {
            most = end - first;
        }
        i += 1;
    }
    most
}

/// The places that count for one of the result, its centre and the scale of the filter.
const fn reach(filter: Filter, from: usize, to: usize, index: usize) -> (usize, usize, f64, f64) {
    let scale = from as f64 / to as f64;
    let shrink = if scale < 1.0 { 1.0 } else { scale };
    let support = match filter {
        Filter::Triangle => shrink,
        Filter::Box => 0.5 * shrink,
    };
    let centre = (index as f64 + 0.5) * scale;
    // Conversions cut off, as in C.
    let first = (centre - support + 0.5) as usize;
    let end = (centre + support + 0.5) as usize;
    (first, if end < from { end } else { from }, centre, 1.0 / shrink)
}

const fn filtered(filter: Filter, x: f64) -> f64 {
    match filter {
        Filter::Triangle if x < 0.0 => {
            if x > -1.0 {
                1.0 + x
            } else {
                0.0
            }
        }
        Filter::Triangle => {
            if x < 1.0 {
                1.0 - x
            } else {
                0.0
            }
        }
        Filter::Box => {
            if x > -0.5 && x <= 0.5 {
                1.0
            } else {
                0.0
            }
        }
    }
}

/// Pillow's weights of 8-bit images.
pub(super) const fn spans<const TO: usize, const TAPS: usize>(
    filter: Filter,
    from: usize,
    mirrored: bool,
) -> [Span<TAPS>; TO] {
    let mut table = [Span { at: 0, taps: 0, weights: [0; TAPS] }; TO];
    let mut i = 0;
    while i < TO {
        let (first, end, centre, scale) = reach(filter, from, TO, i);
        let (mut weights, mut sum, mut k) = ([0.0; TAPS], 0.0, 0);
        while k < end - first {
            weights[k] = filtered(filter, ((k + first) as f64 - centre + 0.5) * scale);
            sum += weights[k];
            k += 1;
        }
        let mut fixed = [0; TAPS];
        k = 0;
        while k < end - first {
            let weight = if sum != 0.0 { weights[k] / sum } else { weights[k] };
            fixed[k] = (0.5 + weight * (1u32 << 22) as f64) as i32;
            k += 1;
        }
        table[place(i, TO, mirrored)] = Span { at: first as u16, taps: (end - first) as u16, weights: fixed };
        i += 1;
    }
    table
}
