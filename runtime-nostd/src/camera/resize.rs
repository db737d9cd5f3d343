//! The ways to another size, each for one line at a time.

use super::format::Format;
use super::tables::{self, Filter, Span, Tap, View};
use super::Line;
use core::array::from_fn;

mod sealed {
    /// Keeps the traits of this module to it.
    pub trait Sealed {}
}
use sealed::Sealed;

/// A way to another size.
pub trait Resize: Sealed {
    /// Pixels of a row of the result.
    const WIDTH: usize;
    /// Its rows.
    const HEIGHT: usize;
    /// Rows that are held.
    const ROWS: usize;
    /// An element of these.
    #[cfg(not(feature = "defmt"))]
    type Cell: Copy + core::fmt::Debug;
    /// An element of these.
    #[cfg(feature = "defmt")]
    type Cell: Copy + core::fmt::Debug + defmt::Format;
    /// Before there is one.
    const EMPTY: Self::Cell;

    /// Holds what later rows need of a line, while `row` is the next.
    #[doc(hidden)]
    fn take<F: Format, const C: usize>(&self, line: Line<'_>, row: usize, held: &mut [Self::Cell]);

    /// Whether `row` is complete with line `y`.
    #[doc(hidden)]
    fn completes(&self, y: usize, row: usize) -> bool;

    /// The pixels of `row`, which the line has completed.
    #[doc(hidden)]
    fn write<F: Format, const C: usize>(
        &self,
        line: Line<'_>,
        row: usize,
        held: &mut [Self::Cell],
        emit: impl FnMut([u8; C]),
    );
}

impl Line<'_> {
    /// A pixel of what is seen, from the left of the frame.
    #[inline(always)]
    fn pixel<F: Format, const C: usize>(&self, x: usize) -> [u8; C] {
        F::pixel(self.bytes, self.left.wrapping_add(x))
    }
}

/// Row `index` of those that are held.
#[inline(always)]
fn row_of<T>(held: &[T], index: usize, len: usize) -> &[T] {
    let start = index.wrapping_mul(len);
    held.get(start..start.wrapping_add(len)).unwrap_or(&[])
}

#[inline(always)]
fn row_mut<T>(held: &mut [T], index: usize, len: usize) -> &mut [T] {
    let start = index.wrapping_mul(len);
    held.get_mut(start..start.wrapping_add(len)).unwrap_or(&mut [])
}

/// One pixel for each: OpenCV's `INTER_NEAREST`, or Pillow's `NEAREST`. Also for images that keep their size.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Nearest<const W: usize, const H: usize> {
    x: [u16; W],
    y: [u16; H],
}

impl<const W: usize, const H: usize> Nearest<W, H> {
    /// As OpenCV.
    ///
    /// # Panics
    /// If the view is not within the frame.
    pub const fn new(view: &View) -> Self {
        view.check();
        Nearest { x: tables::nearest(view.width, view.mirrored), y: tables::nearest(view.height, false) }
    }

    /// As Pillow: the pixel in the middle.
    ///
    /// # Panics
    /// If the view is not within the frame.
    pub const fn centre(view: &View) -> Self {
        view.check();
        Nearest {
            x: tables::nearest_centre(view.width, view.mirrored),
            y: tables::nearest_centre(view.height, false),
        }
    }
}

impl<const W: usize, const H: usize> Sealed for Nearest<W, H> {}

impl<const W: usize, const H: usize> Resize for Nearest<W, H> {
    const WIDTH: usize = W;
    const HEIGHT: usize = H;
    const ROWS: usize = 0;
    type Cell = u8;
    const EMPTY: u8 = 0;

    fn take<F: Format, const C: usize>(&self, _line: Line<'_>, _row: usize, _held: &mut [u8]) {}

    fn completes(&self, y: usize, row: usize) -> bool {
        self.y.get(row).is_some_and(|&at| usize::from(at) <= y)
    }

    fn write<F: Format, const C: usize>(
        &self,
        line: Line<'_>,
        _row: usize,
        _held: &mut [u8],
        mut emit: impl FnMut([u8; C]),
    ) {
        for &x in &self.x {
            emit(line.pixel::<F, C>(x.into()));
        }
    }
}

/// Between two pixels of two lines each: OpenCV's `INTER_LINEAR`, with its 11 bits of fraction.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Linear<const W: usize, const H: usize> {
    x: [Tap; W],
    y: [Tap; H],
}

impl<const W: usize, const H: usize> Linear<W, H> {
    /// # Panics
    /// If the view is not within the frame.
    pub const fn new(view: &View) -> Self {
        view.check();
        Linear { x: tables::linear(view.width, view.mirrored), y: tables::linear(view.height, false) }
    }
}

impl<const W: usize, const H: usize> Sealed for Linear<W, H> {}

/// The weights of two places.
fn weights(tap: &Tap) -> [u32; 2] {
    let weight = u32::from(tap.weight);
    [2048u32.saturating_sub(weight), weight]
}

impl<const W: usize, const H: usize> Resize for Linear<W, H> {
    const WIDTH: usize = W;
    const HEIGHT: usize = H;
    const ROWS: usize = 2;
    /// 7 bits of fraction.
    type Cell = u16;
    const EMPTY: u16 = 0;

    fn take<F: Format, const C: usize>(&self, line: Line<'_>, row: usize, held: &mut [u16]) {
        if self.y.get(row).is_none_or(|tap| line.y < usize::from(tap.at)) {
            return;
        }
        let row = row_mut(held, line.y & 1, W.wrapping_mul(C));
        for (tap, cells) in self.x.iter().zip(row.chunks_exact_mut(C)) {
            let [a, b] = [tap.at, tap.next].map(|x| line.pixel::<F, C>(x.into()));
            let [first, second] = weights(tap);
            for (cell, (a, b)) in cells.iter_mut().zip(a.into_iter().zip(b)) {
                *cell = ((u32::from(a) * first + u32::from(b) * second) >> 4) as u16;
            }
        }
    }

    fn completes(&self, y: usize, row: usize) -> bool {
        self.y.get(row).is_some_and(|tap| usize::from(tap.next) <= y)
    }

    fn write<F: Format, const C: usize>(
        &self,
        _line: Line<'_>,
        row: usize,
        held: &mut [u16],
        mut emit: impl FnMut([u8; C]),
    ) {
        let Some(tap) = self.y.get(row) else { return };
        let [above, below] =
            [tap.at, tap.next].map(|y| row_of(held, usize::from(y & 1), W.wrapping_mul(C)).chunks_exact(C));
        let [first, second] = weights(tap);
        for (a, b) in above.zip(below) {
            let mut pairs = a.iter().zip(b);
            emit(from_fn(|_| {
                let (&a, &b) = pairs.next().unwrap_or((&0, &0));
                ((((u32::from(a) * first) >> 16) + ((u32::from(b) * second) >> 16) + 2) >> 2) as u8
            }));
        }
    }
}

/// The mean of all pixels, those at the edges by the share that counts: OpenCV's `INTER_AREA`, for smaller images. Computed in integers, where OpenCV has floats unless both sides shrink by whole
/// numbers. Then the bits are the same, otherwise at most one step lies between.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Area<const W: usize, const H: usize> {
    x: Share,
    y: Share,
    round: Round,
}

/// Parts of an axis: as many as there are in a place of the result, and in one of the frame.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Share {
    to: u32,
    from: u32,
}

impl Share {
    const fn new(from: usize, to: usize) -> Self {
        assert!(to > 0 && to <= from, "means are for smaller images");
        let (mut a, mut b) = (from, to);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Share { to: (from / a) as u32, from: (to / a) as u32 }
    }
}

/// Adds so many parts of a pixel.
#[inline(always)]
fn add<const C: usize>(sums: &mut [u32; C], parts: u32, pixel: [u8; C]) {
    for (sum, value) in sums.iter_mut().zip(pixel) {
        *sum = sum.wrapping_add(parts.wrapping_mul(value.into()));
    }
}

/// How a mean is rounded.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum Round {
    /// Halves upwards: a sum of so many.
    Up(u32),
    /// The product with that in floats, halves to even numbers.
    Product(f32),
}

impl Round {
    fn mean(self, sum: u32) -> u8 {
        match self {
            Round::Up(count) => (sum.wrapping_add(count / 2)).checked_div(count).unwrap_or(0) as u8,
            Round::Product(scale) => {
                let mean = sum as f32 * scale;
                let whole = mean as u8;
                let rest = mean - f32::from(whole);
                let up = rest > 0.5 || (rest == 0.5 && whole % 2 == 1);
                whole.saturating_add(up.into())
            }
        }
    }
}

impl<const W: usize, const H: usize> Area<W, H> {
    /// # Panics
    /// If the view is not within the frame, or smaller than the result.
    pub const fn new(view: &View) -> Self {
        view.check();
        let (x, y) = (Share::new(view.width, W), Share::new(view.height, H));
        let count = x.to * y.to;
        let whole = x.from == 1 && y.from == 1;
        // OpenCV has a rule of its own for halves.
        let is_half = x.to == 2 && y.to == 2;
        let round = if whole && !is_half { Round::Product(1.0 / count as f32) } else { Round::Up(count) };
        Area { x, y, round }
    }

    /// The sums of a line, for each pixel of the result.
    #[inline(always)]
    fn sums<F: Format, const C: usize>(&self, line: Line<'_>, mut emit: impl FnMut([u32; C])) {
        let Share { to, from } = self.x;
        let (mut at, step) = match line.mirrored {
            false => (0usize, 1),
            true => (line.width.wrapping_sub(1), usize::MAX),
        };
        let mut next = || {
            let pixel = line.pixel::<F, C>(at);
            at = at.wrapping_add(step);
            pixel
        };
        // What is left of a pixel that counts for two.
        let (mut left, mut pixel) = (0, [0; C]);
        for _ in 0..W {
            let (mut missing, mut whole) = (to.wrapping_sub(left), [0u32; C]);
            while missing >= from {
                for (sum, value) in whole.iter_mut().zip(next()) {
                    *sum = sum.wrapping_add(value.into());
                }
                missing = missing.wrapping_sub(from);
            }
            let mut sums = whole.map(|sum| sum.wrapping_mul(from));
            add(&mut sums, left, pixel);
            left = 0;
            if missing > 0 {
                pixel = next();
                add(&mut sums, missing, pixel);
                left = from.wrapping_sub(missing);
            }
            emit(sums);
        }
    }

    /// How many parts the row ends behind the beginning of a line.
    fn parts_left(&self, y: usize, row: usize) -> u32 {
        let end = (row as u32).wrapping_add(1).wrapping_mul(self.y.to);
        end.wrapping_sub((y as u32).wrapping_mul(self.y.from))
    }
}

impl<const W: usize, const H: usize> Sealed for Area<W, H> {}

impl<const W: usize, const H: usize> Resize for Area<W, H> {
    const WIDTH: usize = W;
    const HEIGHT: usize = H;
    const ROWS: usize = 1;
    /// Sums of the row that is next.
    type Cell = u32;
    const EMPTY: u32 = 0;

    fn take<F: Format, const C: usize>(&self, line: Line<'_>, row: usize, held: &mut [u32]) {
        if self.completes(line.y, row) {
            return;
        }
        let mut cells = held.iter_mut();
        self.sums::<F, C>(line, |sums| {
            for (sum, cell) in sums.into_iter().zip(&mut cells) {
                let before = if line.y == 0 { 0 } else { *cell };
                *cell = before.wrapping_add(sum.wrapping_mul(self.y.from));
            }
        });
    }

    fn completes(&self, y: usize, row: usize) -> bool {
        self.parts_left(y, row) <= self.y.from
    }

    fn write<F: Format, const C: usize>(
        &self,
        line: Line<'_>,
        row: usize,
        held: &mut [u32],
        mut emit: impl FnMut([u8; C]),
    ) {
        let parts = self.parts_left(line.y, row);
        let rest = self.y.from.wrapping_sub(parts);
        let mut cells = held.chunks_exact_mut(C);
        self.sums::<F, C>(line, |sums| {
            let mut pairs = sums.into_iter().zip(cells.next().unwrap_or_default());
            emit(from_fn(|_| {
                let Some((sum, cell)) = pairs.next() else { return 0 };
                let before = if line.y == 0 { 0 } else { *cell };
                let whole = before.wrapping_add(sum.wrapping_mul(parts));
                *cell = sum.wrapping_mul(rest);
                self.round.mean(whole)
            }));
        });
    }
}

/// All pixels that a filter reaches: Pillow's `BILINEAR` (which is torchvision's for images of Pillow) and `BOX`. At most `X` pixels of a line and `Y` lines count: [`most_taps`](super::most_taps).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Filtered<const W: usize, const H: usize, const X: usize, const Y: usize> {
    x: [Span<X>; W],
    y: [Span<Y>; H],
}

impl<const W: usize, const H: usize, const X: usize, const Y: usize> Filtered<W, H, X, Y> {
    /// # Panics
    /// If the view is not within the frame, or more pixels count than `X` or `Y`.
    pub const fn new(view: &View, filter: Filter) -> Self {
        view.check();
        Filtered {
            x: tables::spans(filter, view.width, view.mirrored),
            y: tables::spans(filter, view.height, false),
        }
    }
}

impl<const W: usize, const H: usize, const X: usize, const Y: usize> Sealed for Filtered<W, H, X, Y> {}

/// A half, and the bits of fraction behind it.
const HALF: i32 = 1 << 21;

impl<const W: usize, const H: usize, const X: usize, const Y: usize> Resize for Filtered<W, H, X, Y> {
    const WIDTH: usize = W;
    const HEIGHT: usize = H;
    const ROWS: usize = Y;
    type Cell = u8;
    const EMPTY: u8 = 0;

    fn take<F: Format, const C: usize>(&self, line: Line<'_>, row: usize, held: &mut [u8]) {
        if self.y.get(row).is_none_or(|span| line.y < usize::from(span.at)) {
            return;
        }
        let slot = line.y.checked_rem(Y).unwrap_or(0);
        let row = row_mut(held, slot, W.wrapping_mul(C));
        for (span, cells) in self.x.iter().zip(row.chunks_exact_mut(C)) {
            let mut sums = [HALF; C];
            let places = usize::from(span.at)..;
            for (x, weight) in places.zip(span.weights.iter().take(span.taps.into())) {
                let pixel = line.pixel::<F, C>(x);
                for (sum, value) in sums.iter_mut().zip(pixel) {
                    *sum = sum.wrapping_add(weight.wrapping_mul(value.into()));
                }
            }
            for (cell, sum) in cells.iter_mut().zip(sums) {
                *cell = (sum >> 22).clamp(0, 255) as u8;
            }
        }
    }

    fn completes(&self, y: usize, row: usize) -> bool {
        self.y.get(row).is_some_and(|span| usize::from(span.at) + usize::from(span.taps) <= y + 1)
    }

    fn write<F: Format, const C: usize>(
        &self,
        _line: Line<'_>,
        row: usize,
        held: &mut [u8],
        mut emit: impl FnMut([u8; C]),
    ) {
        let Some(span) = self.y.get(row) else { return };
        let len = W.wrapping_mul(C);
        for x in (0..len).step_by(C.max(1)) {
            let mut sums = [HALF; C];
            let lines = usize::from(span.at)..;
            for (y, weight) in lines.zip(span.weights.iter().take(span.taps.into())) {
                let slot = y.checked_rem(Y).unwrap_or(0);
                let values = row_of(held, slot, len).get(x..).unwrap_or(&[]);
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum = sum.wrapping_add(weight.wrapping_mul(value.into()));
                }
            }
            emit(sums.map(|sum| (sum >> 22).clamp(0, 255) as u8));
        }
    }
}
