//! A list that grows while what stands in it is borrowed.

use std::cell::{Cell, OnceCell};

/// Entries of the first chunk. Each further one has twice as many.
const FIRST: usize = 16;

/// Such a list.
pub(super) struct Arena<T> {
    chunks: [OnceCell<Box<[OnceCell<T>]>>; 32],
    count: Cell<usize>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena { chunks: [const { OnceCell::new() }; 32], count: Cell::new(0) }
    }
}

impl<T> Arena<T> {
    /// Adds an entry. The caller bounds how many there are.
    pub(super) fn add(&self, value: T) -> &T {
        let at = self.count.get();
        let chunk = (at / FIRST + 1).ilog2() as usize;
        let first = FIRST * ((1 << chunk) - 1);
        self.count.set(at + 1);
        let cells = || (0..FIRST << chunk).map(|_| OnceCell::new()).collect();
        self.chunks[chunk].get_or_init(cells)[at - first].get_or_init(|| value)
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn entries_stay_where_they_are() {
        let arena = Arena::default();
        let all: Vec<&usize> = (0..1000).map(|k| arena.add(k)).collect();
        assert!(all.into_iter().copied().eq(0..1000));
    }
}
