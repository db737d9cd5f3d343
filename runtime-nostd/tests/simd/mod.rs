//! What tests of kernels in vectors have in common: numbers, cells, and every level that this processor has.

use kiln::{is_available, limit_level, Level};
use std::cell::Cell;

/// A generator of shapes and operands.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 1) as usize % n
    }
}

/// Calls a test with numbers of their own at each level. The level is the whole program's, which has no other test for that reason.
pub(crate) fn at_each_level(test: impl Fn(&mut Random)) {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|&level| is_available(level)).collect();
    assert!(levels.contains(&Level::Portable));
    for level in levels {
        assert_eq!(limit_level(level), level);
        test(&mut Random(level as u64));
    }
}

/// The elements as cells.
pub(crate) fn cells<T>(values: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(values).as_slice_of_cells()
}
