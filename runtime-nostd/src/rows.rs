//! Activations as rows, so that a kernel can compute some of them from a buffer that does not hold all.

use core::cell::Cell;

/// A tensor as rows of equal length, of which the last `ring` are held.
///
/// A row is one index of the second axis of an NHWC tensor (`width · channels` elements), or of the first axis of a matrix.
#[derive(Clone, Copy)]
pub struct Rows<'a, T> {
    cells: &'a [Cell<T>],
    row: usize,
    /// How many rows are held. Where row 0 is in another slot than 0, both numbers are [`packed`], which makes it negative: so the most frequent case costs no more than without.
    ring: usize,
}

/// Bits of each of the numbers that are packed.
const PACKED_BITS: u32 = 15;

/// The number of slots and the slot of row 0 as one negative number. Both are below 2¹⁵.
const fn packed(ring: usize, first: usize) -> usize {
    !(ring | first << PACKED_BITS)
}

/// The number of slots, and the slot of row 0.
#[inline(always)]
const fn unpacked(ring: usize) -> (usize, usize) {
    if (ring as isize) < 0 {
        let both = !ring;
        (both & ((1 << PACKED_BITS) - 1), both >> PACKED_BITS)
    } else {
        (ring, 0)
    }
}

/// The slot of a row that is not on the first lap around its ring, or whose ring is packed.
#[inline(never)]
fn far_slot(ring: usize, r: usize) -> usize {
    let next_lap = r.wrapping_sub(ring);
    // Without a division. With signs: of packed numbers it is not true.
    if (next_lap as isize) < ring as isize {
        return next_lap;
    }
    let (ring, first) = unpacked(ring);
    r.wrapping_add(first).checked_rem(ring).unwrap_or(0)
}

impl<'a, T> Rows<'a, T> {
    /// A whole tensor in rows of `row` elements.
    #[inline(always)]
    pub const fn whole(cells: &'a [Cell<T>], row: usize) -> Self {
        let ring = match cells.len().checked_div(row) {
            Some(rows) => rows,
            None => 0,
        };
        Rows { cells, row, ring }
    }

    /// Row `r` is at `(r % ring) · row`.
    #[inline(always)]
    pub const fn ring(cells: &'a [Cell<T>], row: usize, ring: usize) -> Self {
        // More than any memory has, and not negative.
        let ring = if ring > isize::MAX as usize { isize::MAX as usize } else { ring };
        Rows { cells, row, ring }
    }

    /// The same memory with row 0 in slot `first` instead of slot 0: row `r` is at `((r + first) % ring) · row`. So several tensors share a ring. `ring` and `first` are below 2¹⁵: otherwise
    /// nothing is held.
    #[inline(always)]
    pub const fn from_slot(self, first: usize) -> Self {
        let (ring, most) = (self.ring, 1 << PACKED_BITS);
        if first == 0 {
            self
        } else if ring < most && first < most {
            Rows { ring: packed(ring, first), ..self }
        } else {
            Rows { cells: &[], ..self }
        }
    }

    /// The slot of row 0.
    // Only assembly asks for it.
    #[allow(dead_code)]
    #[inline(always)]
    pub(crate) const fn first_slot(&self) -> usize {
        unpacked(self.ring).1
    }

    /// Elements per row.
    #[inline(always)]
    pub const fn row_len(&self) -> usize {
        self.row
    }

    /// The elements of row `r`; empty where the memory does not hold it.
    #[inline(always)]
    pub fn row(&self, r: usize) -> &'a [Cell<T>] {
        let start = self.slot(r).wrapping_mul(self.row);
        self.cells.get(start..start.wrapping_add(self.row)).unwrap_or(&[])
    }

    /// The slot that row `r` is in; `r` itself where it is above [`isize::MAX`] and row 0 is in slot 0.
    #[inline(always)]
    fn slot(&self, r: usize) -> usize {
        // With signs: of packed numbers it is not true.
        if (r as isize) < self.ring as isize {
            r
        } else {
            far_slot(self.ring, r)
        }
    }

    /// How many rows are held, if the memory is as large.
    #[inline(always)]
    const fn slots(&self) -> usize {
        unpacked(self.ring).0
    }
}

impl<'a, T> Rows<'a, T> {
    /// The elements of `count` rows from row `first` on, if the memory holds them one behind the other.
    #[inline(always)]
    pub(crate) fn run(&self, first: usize, count: usize) -> Option<&'a [Cell<T>]> {
        let (start, len) = (self.slot(first).wrapping_mul(self.row), count.checked_mul(self.row)?);
        self.cells.get(start..start.checked_add(len)?)
    }

    /// The elements of row `r` and of the rows behind it, as far as they lie behind each other and are at most `most`, and how many rows they are: at least one.
    #[inline(always)]
    pub(crate) fn rows_from(&self, r: usize, most: usize) -> (Option<&'a [Cell<T>]>, usize) {
        let rows = self.slots().wrapping_sub(self.slot(r)).min(most).max(1);
        (self.run(r, rows), rows)
    }

    /// The rows of a result that a band asks for, with their indices. They end with the first one that is empty or not there, and before the ring begins again: kernels that go through
    /// them do no more than there is memory for, whatever the band.
    #[inline(always)]
    pub(crate) fn of_band(self, band: Band) -> impl Iterator<Item = (usize, &'a [Cell<T>])> {
        self.within(band)
            .range()
            .map_while(move |row| Some((row, self.row(row))).filter(|(_, y)| !y.is_empty()))
    }

    /// As many of a band's rows as the ring has.
    #[inline(always)]
    pub(crate) fn within(&self, band: Band) -> Band {
        Band { rows: band.rows.min(self.slots().max(1)), ..band }
    }

    /// Whether so many consecutive rows are held at a time, and each row has at least `len` elements.
    #[inline(always)]
    pub(crate) fn holds(&self, rows: usize, len: usize) -> bool {
        rows == 0 || (self.row >= len && self.held().is_some_and(|held| held >= rows))
    }

    /// All of the memory.
    #[inline(always)]
    pub(crate) fn cells(&self) -> &'a [Cell<T>] {
        self.cells
    }

    /// Whether some of the memory is that of other rows.
    #[inline(always)]
    pub(crate) fn overlaps(&self, other: &Rows<'_, T>) -> bool {
        let (own, other) = (self.cells.as_ptr_range(), other.cells.as_ptr_range());
        own.start < other.end && other.start < own.end
    }

    /// How many rows are held; `None` if the memory is smaller. They are no more than the memory has elements, also where they are empty.
    #[inline(always)]
    pub(crate) fn held(&self) -> Option<usize> {
        let len = self.slots().checked_mul(self.row.max(1))?;
        (len <= self.cells.len()).then_some(self.slots())
    }

    /// All rows that are held, in the order of the memory.
    // Only assembly asks for it.
    #[allow(dead_code)]
    #[inline(always)]
    pub(crate) fn lap(&self) -> Option<&'a [Cell<T>]> {
        self.cells.get(..self.slots().checked_mul(self.row)?)
    }

    /// How many rows from row `r` on lie one behind the other, up to the end of the ring: none where `r` is more than any memory has.
    // As above.
    #[allow(dead_code)]
    #[inline(always)]
    pub(crate) fn run_from(&self, r: usize) -> usize {
        self.slots().saturating_sub(self.slot(r))
    }

    /// How many of the rows before row `r` are whole laps around the ring. Row `r` and as many behind it as are held are found under indices that do not count them,
    /// without a division where row 0 is in slot 0.
    #[inline(always)]
    pub(crate) fn laps_before(&self, r: usize) -> usize {
        if (r as isize) < self.ring as isize {
            0
        } else {
            r.wrapping_sub(r.checked_rem(self.slots()).unwrap_or(0))
        }
    }
}

/// Some rows of a result: all that one call of a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Band {
    /// The first row.
    pub first: usize,
    /// Number of rows.
    pub rows: usize,
}

impl Band {
    /// The rows' indices.
    #[inline(always)]
    pub fn range(self) -> core::ops::Range<usize> {
        self.first..self.first.saturating_add(self.rows)
    }
}

/// The rows of a step of a pipeline that are due at `tick`, if any: at tick `first` the first `band` rows, and every `every` ticks from
/// then on the next ones, as long as there are any of all `rows`.
///
/// Emitted code calls it with constants, of which little more than a comparison remains.
#[inline(always)]
pub const fn due(tick: usize, first: usize, every: usize, band: usize, rows: usize) -> Option<Band> {
    let since = tick.wrapping_sub(first);
    let (Some(turn), Some(0)) = (since.checked_div(every), since.checked_rem(every)) else { return None };
    let start = turn.wrapping_mul(band);
    if tick < first || start >= rows {
        return None;
    }
    let left = rows.wrapping_sub(start);
    Some(Band { first: start, rows: if band < left { band } else { left } })
}

/// Rows of a step of a pipeline that computes rows more than once: each time all rows that one row of its reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Again {
    /// How many times.
    pub times: usize,
    /// Rows from one time to the next.
    pub stride: usize,
    /// Rows before the first one that the first time asks for.
    pub before: usize,
}

impl Again {
    /// The rows that are due at `tick`, if any: at tick `first`, and every `every` ticks from then on, the next `times` times, the `band` rows from
    /// `n * stride - before` on, those of them that are among `rows`.
    #[inline(always)]
    pub const fn due(
        self,
        tick: usize,
        first: usize,
        every: usize,
        band: usize,
        rows: usize,
    ) -> Option<Band> {
        let since = tick.wrapping_sub(first);
        let (Some(turn), Some(0)) = (since.checked_div(every), since.checked_rem(every)) else { return None };
        if tick < first || turn >= self.times {
            return None;
        }
        let start = turn.wrapping_mul(self.stride);
        let end = start.wrapping_add(band).saturating_sub(self.before);
        let (start, end) = (start.saturating_sub(self.before), if end < rows { end } else { rows });
        if start >= end {
            return None;
        }
        Some(Band { first: start, rows: end.wrapping_sub(start) })
    }
}

/// Row `row` of a constant with `len` elements per row; empty where it has no such row.
#[inline(always)]
pub fn constant_row<T>(all: &[T], len: usize, row: usize) -> &[T] {
    let start = row.wrapping_mul(len);
    all.get(start..start.wrapping_add(len)).unwrap_or(&[])
}

/// Operands of elementwise and movement kernels: cells of an arena, or constants.
///
/// Implemented for slices and arrays of either. Arrays are read as slices, so that a kernel is compiled once per kind of
/// operand and not once per length.
///
/// Sealed, because kernels in vectors read where [`ReadSlice::start`] says:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Nowhere;
/// impl kiln::kernels::Read<i8> for Nowhere {
///     type Slice = &'static [i8];
///     fn slice(self) -> &'static [i8] {
///         &[]
///     }
/// }
/// ```
pub trait Read<T>: Copy + sealed::Operand {
    /// The operand as a slice.
    type Slice: ReadSlice<T>;

    /// The operand as a slice.
    fn slice(self) -> Self::Slice;
}

/// A slice of cells or of constants. Sealed as [`Read`] is.
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Nowhere;
/// impl kiln::kernels::ReadSlice<i8> for Nowhere {
///     fn at(self, _: usize) -> Option<i8> {
///         None
///     }
///     fn run(self, _: usize, _: usize) -> Option<Self> {
///         Some(self)
///     }
///     fn each(self) -> impl ExactSizeIterator<Item = i8> {
///         (0..1024i32).map(|_| 0i8)
///     }
///     fn four(self) -> Option<([i8; 4], Self)> {
///         None
///     }
///     fn start(self) -> *const i8 {
///         8 as *const i8
///     }
/// }
/// ```
pub trait ReadSlice<T>: Copy + sealed::Operand {
    /// Element `i`, if there is one.
    fn at(self, i: usize) -> Option<T>;

    /// The `len` elements from `start`, if they are all there.
    fn run(self, start: usize, len: usize) -> Option<Self>;

    /// The elements, one by one.
    fn each(self) -> impl ExactSizeIterator<Item = T>;

    /// The first four elements, and what is behind them.
    fn four(self) -> Option<([T; 4], Self)>;

    /// Where the first element is: as many as [`each`](Self::each) yields may be read from there.
    fn start(self) -> *const T;
}

mod sealed {
    /// What is an operand: slices and arrays, of cells or not.
    pub trait Operand {}

    impl<T> Operand for &[T] {}
    impl<T, const N: usize> Operand for &[T; N] {}
}

/// Operands that consist of `$element`, of which `$read` makes a number: slices, and arrays, which become slices.
macro_rules! operands {
    ($($element:ty, $read:expr;)+) => { $(
        impl<'a, T: Copy> Read<T> for &'a [$element] {
            type Slice = Self;

            #[inline(always)]
            fn slice(self) -> Self {
                self
            }
        }

        impl<'a, T: Copy, const N: usize> Read<T> for &'a [$element; N] {
            type Slice = &'a [$element];

            #[inline(always)]
            fn slice(self) -> Self::Slice {
                self
            }
        }

        impl<T: Copy> ReadSlice<T> for &[$element] {
            #[inline(always)]
            fn at(self, i: usize) -> Option<T> {
                self.get(i).map($read)
            }

            #[inline(always)]
            fn run(self, start: usize, len: usize) -> Option<Self> {
                self.get(start..start.checked_add(len)?)
            }

            #[inline(always)]
            fn each(self) -> impl ExactSizeIterator<Item = T> {
                self.iter().map($read)
            }

            #[inline(always)]
            fn four(self) -> Option<([T; 4], Self)> {
                let [a, b, c, d, behind @ ..] = self else { return None };
                // Not mapped: where code is to be small, that is a loop.
                let read = $read;
                Some(([read(a), read(b), read(c), read(d)], behind))
            }

            #[inline(always)]
            fn start(self) -> *const T {
                self.as_ptr().cast()
            }
        }
    )+ };
}

operands! {
    Cell<T>, Cell::get;
    T, |element: &T| *element;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_wrap() {
        let mut data = [0u8, 1, 2, 3, 4, 5, 6];
        let cells = Cell::from_mut(&mut data[..]).as_slice_of_cells();
        let ring = Rows::ring(cells, 2, 3);
        assert_eq!(ring.row(1)[0].get(), 2);
        assert_eq!(ring.row(5)[1].get(), 5);
        let whole = Rows::whole(cells, 2);
        assert_eq!(whole.ring, 3);
        assert!(Rows::ring(cells, 2, 4).row(3).is_empty());
        assert!(Rows::ring(cells, 2, 0).row(1).len() == 2);
        assert!(Rows::whole(cells, 0).row(7).is_empty());
        assert!(Rows::ring(cells, usize::MAX, 3).row(2).is_empty());
        for r in 0..20 {
            assert_eq!(ring.run_from(r), 3 - r % 3);
            let skipped = ring.laps_before(r);
            assert!(r - skipped < 3);
            for ahead in 0..4 {
                assert_eq!(ring.row(r - skipped + ahead)[0], ring.row(r + ahead)[0]);
            }
        }
        assert_eq!((whole.laps_before(2), Rows::ring(cells, 2, 0).laps_before(5)), (0, 5));
    }

    #[test]
    fn rings_begin_at_any_slot() {
        let mut data = [0u8, 1, 2, 3, 4, 5, 6];
        let cells = Cell::from_mut(&mut data[..]).as_slice_of_cells();
        let ring = Rows::ring(cells, 2, 3);
        for (first, r) in (0..3).flat_map(|first| (0..20).map(move |r| (first, r))) {
            let turned = ring.from_slot(first);
            assert_eq!(turned.row(r), ring.row(r + first));
            assert_eq!(turned.run_from(r), ring.run_from(r + first));
            let (run, rows) = turned.rows_from(r, 2);
            assert_eq!((run, rows), ring.rows_from(r + first, 2));
            let skipped = turned.laps_before(r);
            (0..4).for_each(|ahead| assert_eq!(turned.row(r - skipped + ahead), turned.row(r + ahead)));
        }
        // What makes no sense finds some row, or none.
        assert_eq!((ring.run_from(usize::MAX), ring.run_from(1 << (usize::BITS - 1))), (0, 0));
        assert_eq!(ring.from_slot(4).row(2), ring.row(0));
        assert!(ring.from_slot(usize::MAX).row(2).is_empty());
        assert!(Rows::ring(cells, 2, 4).from_slot(3).row(0).is_empty());
    }

    #[test]
    fn a_band_ends_with_the_memory() {
        let mut data = [0u8, 1, 2, 3, 4, 5, 6];
        let cells = Cell::from_mut(&mut data[..]).as_slice_of_cells();
        let firsts = |rows: Rows<'_, u8>, first, count| -> ([(usize, u8); 4], usize) {
            let (mut all, mut n) = ([(0, 0); 4], 0);
            for (row, y) in rows.of_band(Band { first, rows: count }) {
                all[n] = (row, y[0].get());
                n += 1;
            }
            (all, n)
        };
        assert_eq!(firsts(Rows::ring(cells, 2, 3), 2, 2), ([(2, 4), (3, 0), (0, 0), (0, 0)], 2));
        assert_eq!(firsts(Rows::ring(cells, 2, 3), 0, usize::MAX).1, 3);
        assert_eq!(firsts(Rows::ring(cells, 2, usize::MAX), 1, usize::MAX).1, 2);
        assert_eq!(firsts(Rows::ring(cells, 2, 0), 0, usize::MAX).1, 1);
        assert_eq!(firsts(Rows::ring(cells, 0, 3), 0, usize::MAX).1, 0);
        assert_eq!(firsts(Rows::whole(cells, 2), usize::MAX, usize::MAX).1, 0);
    }

    #[test]
    fn bands_are_due_in_turn() {
        let due =
            |tick, first, every, band, rows| super::due(tick, first, every, band, rows).map(Band::range);
        let ticks = |first, every, band, rows| {
            (0..9).filter_map(move |tick| Some((tick, due(tick, first, every, band, rows)?)))
        };
        assert!(ticks(2, 1, 1, 3).eq([(2, 0..1), (3, 1..2), (4, 2..3)]));
        assert!(ticks(1, 3, 2, 5).eq([(1, 0..2), (4, 2..4), (7, 4..5)]));
        assert!(ticks(4, 1, 7, 7).eq([(4, 0..7)]));
        assert!(ticks(7, 1, 1, usize::MAX).eq([(7, 0..1), (8, 1..2)]));
        assert_eq!(due(3, 0, 0, 1, 9), None);
        assert_eq!(due(0, usize::MAX, 2, 1, 9), None);
    }

    #[test]
    fn rows_of_windows_are_due_again() {
        let due = |tick, again: Again, first, every, band, rows| {
            again.due(tick, first, every, band, rows).map(Band::range)
        };
        let ticks = |again, first, every, band, rows| {
            (0..20).filter_map(move |tick| Some((tick, due(tick, again, first, every, band, rows)?)))
        };
        // Windows of three rows of four, with padding above and below.
        let same = Again { times: 4, stride: 1, before: 1 };
        assert!(ticks(same, 2, 3, 3, 4).eq([(2, 0..2), (5, 0..3), (8, 1..4), (11, 2..4)]));
        let halved = Again { times: 2, stride: 2, before: 0 };
        assert!(ticks(halved, 0, 1, 3, 4).eq([(0, 0..3), (1, 2..4)]));
        // Windows in the padding alone have no rows, and neither do any numbers that make no sense.
        assert!(ticks(Again { times: 3, stride: 1, before: 2 }, 0, 1, 2, 1).eq([(1, 0..1), (2, 0..1)]));
        let most = Again { times: usize::MAX, stride: usize::MAX, before: usize::MAX };
        assert!(ticks(most, 0, 1, usize::MAX, 9).all(|(_, rows)| rows.end <= 9));
        assert_eq!(due(3, same, 0, 0, 3, 4), None);
    }

    #[test]
    fn constants_have_rows() {
        assert_eq!(constant_row(&[1, 2, 3, 4, 5], 2, 1), [3, 4]);
        assert!(constant_row(&[1, 2, 3, 4, 5], 2, 2).is_empty());
        assert!(constant_row(&[1], usize::MAX, 2).is_empty());
    }
}
