//! What happens in a model while it runs: how long each layer takes, and the range of its values.
//!
//! Code that was compiled with `events = "layers"` tells about each layer it has computed, to the one [`Observer`] of the program, if there
//! is one. Without that option nothing of this is in a model; with it, but without an observer, a layer costs a few instructions more.
//!
//! ```
//! use kiln::events::{observe, Layer, Observer};
//!
//! // Firmware: clock: || cortex_m::peripheral::DWT::cycle_count(), sink: kiln::events::to_defmt
//! static OBSERVER: Observer = Observer { clock: || 0, sink: |layer: &Layer| println!("{layer:?}") };
//! observe(&OBSERVER);
//! // kws.invoke();
//! ```
//!
//! With the feature `defmt`, `to_defmt` is a sink that prints a frame for each layer; names are interned, and take no room on the target.
//!
//! Taking the range of a layer's values, and the sink, take time of their own. It is not in [`Layer::cycles`], but between the end of a layer and the
//! start of the next.

use crate::arch::observer;
use crate::{Band, Element, Rows};

/// Who is told about layers.
#[derive(Clone, Copy, Debug)]
pub struct Observer {
    /// A clock that counts up, and wraps at 2³²: on a Cortex-M3 and larger cores the cycle counter of the DWT.
    pub clock: fn() -> u32,
    /// What is called after each layer, by the code that computes the model.
    pub sink: fn(&Layer),
}

/// Tells the observer about the layers of all models from now on.
pub fn observe(observer: &'static Observer) {
    observer::set(Some(observer));
}

/// Tells nobody from now on.
pub fn ignore() {
    observer::set(None);
}

/// A layer was computed, or, where layers take turns, some rows of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Its index: that of the step, as `cargo kiln plan` prints it.
    pub index: usize,
    /// What it computes.
    pub name: Name,
    /// Which rows: all of them, unless layers take turns.
    pub rows: Band,
    /// When it began, by the observer's clock.
    pub start: u32,
    /// How long it took, by the observer's clock.
    pub cycles: u32,
    /// The values it computed.
    pub range: Range,
}

/// The least and the greatest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// There is no value, or no number among them.
    Empty,
    /// Integers as they are stored, those of 64 bits saturated.
    Stored {
        /// The least.
        min: i32,
        /// The greatest.
        max: i32,
    },
    /// Floats.
    Real {
        /// The least.
        min: f32,
        /// The greatest.
        max: f32,
    },
}

impl Range {
    /// With one more value.
    fn with(self, value: Range) -> Range {
        use Range::{Real, Stored};
        match (self, value) {
            (Stored { min, max }, Stored { min: a, max: b }) => Stored { min: min.min(a), max: max.max(b) },
            (Real { min, max }, Real { min: a, max: b }) => Real { min: min.min(a), max: max.max(b) },
            (Range::Empty, value) => value,
            (range, _) => range,
        }
    }
}

/// Elements that have a range: all that layers compute.
#[doc(hidden)]
pub trait Measure: Element {
    /// The range of this element alone.
    fn range(self) -> Range;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Measure for $t {
            #[inline]
            fn range(self) -> Range {
                Range::Stored { min: i32::from(self), max: i32::from(self) }
            }
        }
    )* };
}
integers!(i8, u8, i16, u16, i32);

impl Measure for i64 {
    fn range(self) -> Range {
        let value = self.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        Range::Stored { min: value, max: value }
    }
}

impl Measure for f32 {
    fn range(self) -> Range {
        match self.is_nan() {
            true => Range::Empty,
            false => Range::Real { min: self, max: self },
        }
    }
}

/// The name of a layer: its operator, and the name of its result in the model file.
#[derive(Clone, Copy)]
pub struct Name {
    text: &'static str,
    #[cfg(feature = "defmt")]
    interned: defmt::Str,
}

impl Name {
    /// The name as text.
    pub const fn as_str(&self) -> &'static str {
        self.text
    }

    #[doc(hidden)]
    #[cfg(not(feature = "defmt"))]
    pub const fn new(text: &'static str) -> Self {
        Name { text }
    }

    #[doc(hidden)]
    #[cfg(feature = "defmt")]
    pub const fn new(text: &'static str, interned: defmt::Str) -> Self {
        Name { text, interned }
    }
}

impl core::fmt::Debug for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

/// A name in generated code.
#[cfg(not(feature = "defmt"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __layer_name {
    ($text:literal) => {
        $crate::events::Name::new($text)
    };
}

/// A name in generated code, interned.
#[cfg(feature = "defmt")]
#[doc(hidden)]
#[macro_export]
macro_rules! __layer_name {
    ($text:literal) => {{
        // What `intern!` expands to says `defmt`, which need not be a dependency of the crate around the model.
        use $crate::__defmt as defmt;
        $crate::events::Name::new($text, defmt::intern!($text))
    }};
}

/// A layer that is being computed.
#[doc(hidden)]
pub struct Started(Option<(&'static Observer, u32)>);

/// Generated code calls it before a layer.
#[doc(hidden)]
#[inline]
pub fn begin() -> Started {
    Started(observer::get().map(|observer| (observer, (observer.clock)())))
}

impl Started {
    /// Generated code calls it after a layer, with the rows of its result of which it has computed some.
    #[inline]
    pub fn end<T: Measure>(self, index: usize, name: Name, values: Rows<'_, T>, rows: Band) {
        if let Some((observer, start)) = self.0 {
            let cycles = (observer.clock)().wrapping_sub(start);
            (observer.sink)(&Layer { index, name, rows, start, cycles, range: range(values, rows) });
        }
    }
}

/// The range of some rows.
#[inline(never)]
fn range<T: Measure>(values: Rows<'_, T>, band: Band) -> Range {
    let cells = band.range().flat_map(|row| values.row(row));
    cells.fold(Range::Empty, |range, cell| range.with(cell.get().range()))
}

/// A sink that prints each layer, whatever `DEFMT_LOG` says:
/// `layer 3 conv2d "mix": rows 0..8, -128 to 97, 5120 cycles from 90412`.
#[cfg(feature = "defmt")]
pub fn to_defmt(layer: &Layer) {
    defmt::println!("{}", layer);
}

#[cfg(feature = "defmt")]
mod formats {
    use super::{Layer, Name, Observer, Range};
    use defmt::{write, Format, Formatter};

    impl Format for Observer {
        fn format(&self, f: Formatter<'_>) {
            // Where the two functions are.
            let (clock, sink) = (self.clock as *const (), self.sink as *const ());
            write!(f, "Observer {{ clock: {}, sink: {} }}", clock, sink);
        }
    }

    impl Format for Layer {
        fn format(&self, f: Formatter<'_>) {
            let Layer { index, name, rows, start, cycles, range } = self;
            let rows = rows.range();
            write!(
                f,
                "layer {=usize} {=istr}: rows {=usize}..{=usize}, {}, {=u32} cycles from {=u32}",
                *index, name.interned, rows.start, rows.end, range, *cycles, *start
            );
        }
    }

    impl Format for Range {
        fn format(&self, f: Formatter<'_>) {
            match self {
                Range::Empty => write!(f, "no values"),
                Range::Stored { min, max } => write!(f, "{=i32} to {=i32}", *min, *max),
                Range::Real { min, max } => write!(f, "{=f32} to {=f32}", *min, *max),
            }
        }
    }

    impl Format for Name {
        fn format(&self, f: Formatter<'_>) {
            write!(f, "{=istr}", self.interned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn ranges_are_of_the_rows_that_were_computed() {
        let cells = [5i8, -3, 9, 100, -128, 127].map(Cell::new);
        let of = |first, rows| range(Rows::whole(&cells[..], 2), Band { first, rows });
        assert_eq!(of(0, 1), Range::Stored { min: -3, max: 5 });
        assert_eq!(of(0, 2), Range::Stored { min: -3, max: 100 });
        assert_eq!(of(2, 1), Range::Stored { min: -128, max: 127 });
        assert_eq!(of(1, 0), Range::Empty);
        // Row 4 of a ring of three is its second.
        let ring = range(Rows::ring(&cells[..], 2, 3), Band { first: 4, rows: 1 });
        assert_eq!(ring, Range::Stored { min: 9, max: 100 });
    }

    #[test]
    fn what_is_no_number_has_no_range() {
        let cells = [f32::NAN, 2.0, -1.5, f32::NAN].map(Cell::new);
        let of = |first, rows| range(Rows::whole(&cells[..], 1), Band { first, rows });
        assert_eq!((of(0, 4), of(3, 1)), (Range::Real { min: -1.5, max: 2.0 }, Range::Empty));
        assert_eq!((1i64 << 40).range(), Range::Stored { min: i32::MAX, max: i32::MAX });
    }
}
