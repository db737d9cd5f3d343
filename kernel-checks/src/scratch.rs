//! Memory for operands and results, handed out anew each round.

use crate::{Case, Mismatch};
use core::cell::Cell;

/// All the memory that checks have: fixed in size, and small enough for the RAM of a microcontroller.
#[repr(C, align(16))]
pub struct Storage {
    words: [i32; 10 * 1024],
    halves: [i16; 8 * 1024],
    bytes: [i8; 32 * 1024],
}

impl Storage {
    /// Zeroed memory: a `static` of it takes no flash.
    pub const fn new() -> Self {
        Storage { words: [0; 10 * 1024], halves: [0; 8 * 1024], bytes: [0; 32 * 1024] }
    }

    /// All of it, for one round. It holds what earlier rounds left.
    pub fn scratch(&mut self) -> Scratch<'_> {
        Scratch {
            words: Pool { rest: &mut self.words, used: 0 },
            halves: Pool { rest: &mut self.halves, used: 0 },
            bytes: Pool { rest: &mut self.bytes, used: 0 },
        }
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self::new()
    }
}

/// Memory for one round.
pub struct Scratch<'a> {
    /// 32-bit elements: sums, biases, multipliers, packed weights, work buffers.
    pub words: Pool<'a, i32>,
    /// 16-bit elements.
    pub halves: Pool<'a, i16>,
    /// Activations and weights.
    pub bytes: Pool<'a, i8>,
}

/// Elements that have not been handed out.
pub struct Pool<'a, T> {
    rest: &'a mut [T],
    used: usize,
}

impl<'a, T: Copy> Pool<'a, T> {
    /// `len` elements, aligned to 16 bytes.
    ///
    /// # Panics
    /// Where there are not as many left: the check draws too large a case.
    pub fn take(&mut self, len: usize) -> &'a mut [T] {
        self.take_at(len, 0)
    }

    /// `len` elements that begin `offset` elements behind an address aligned to 16 bytes.
    ///
    /// # Panics
    /// As [`Pool::take`].
    pub fn take_at(&mut self, len: usize, offset: usize) -> &'a mut [T] {
        let line = 16 / size_of::<T>();
        let skipped = self.used.next_multiple_of(line) - self.used + offset;
        let rest = core::mem::take(&mut self.rest);
        let (_, rest) = rest.split_at_mut(skipped);
        let (taken, rest) = rest.split_at_mut(len);
        self.rest = rest;
        self.used += skipped + len;
        taken
    }

    /// A copy of a slice, aligned to 16 bytes.
    ///
    /// # Panics
    /// As [`Pool::take`].
    pub fn copy(&mut self, from: &[T]) -> &'a mut [T] {
        let to = self.take(from.len());
        to.copy_from_slice(from);
        to
    }
}

/// Elements around each result that have to stay as they are.
const MARGIN: usize = 16;

impl<'a, T: Copy + PartialEq + Into<i32>> Pool<'a, T> {
    /// Two results of `len` elements: the kernel's, `offset` elements behind an address aligned to 16 bytes, and its
    /// twin's. Both hold `fill` at first, and so do the elements around them.
    ///
    /// # Panics
    /// As [`Pool::take`].
    pub fn twins(&mut self, len: usize, offset: usize, fill: T) -> Twins<'a, T> {
        let mut fenced = |offset| {
            let cells = self.take_at(len + 2 * MARGIN, offset);
            cells.fill(fill);
            self::cells(cells)
        };
        Twins { got: fenced(offset), expected: fenced(0) }
    }
}

/// The result of a kernel, and what it should be.
pub struct Twins<'a, T> {
    got: &'a [Cell<T>],
    expected: &'a [Cell<T>],
}

impl<'a, T: Copy + PartialEq + Into<i32>> Twins<'a, T> {
    /// Where the kernel writes.
    pub fn got(&self) -> &'a [Cell<T>] {
        &self.got[MARGIN..self.got.len() - MARGIN]
    }

    /// Where its twin writes.
    pub fn expected(&self) -> &'a [Cell<T>] {
        &self.expected[MARGIN..self.expected.len() - MARGIN]
    }

    /// Compares all elements, and those around them.
    ///
    /// # Errors
    /// The first element that differs.
    pub fn compare(&self, case: Case) -> Result<(), Mismatch> {
        let pairs = self.got.iter().zip(self.expected);
        match pairs.map(|(got, expected)| (got.get(), expected.get())).enumerate().find(|(_, (a, b))| a != b)
        {
            None => Ok(()),
            Some((at, (got, expected))) => Err(Mismatch {
                case,
                index: at as i32 - MARGIN as i32,
                expected: expected.into(),
                got: got.into(),
                outside: !(MARGIN..self.got.len() - MARGIN).contains(&at),
            }),
        }
    }
}

/// The elements as cells, as kernels take activations.
pub fn cells<T>(elements: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(elements).as_slice_of_cells()
}
