//! Models that take their input row by row.

/// How a model is given its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Feed {
    /// All of it at once.
    #[default]
    Whole,
    /// Row by row, where a row is one index of the second axis of the model's only input: camera lines, audio frames.
    Rows,
    /// As `Rows`, without end: the input is the window of the latest rows, as many as the input's shape says.
    Sliding,
}

/// Row `index` of a ring of rows of `row` elements: the one at `(index % rows held) · row`. Empty if no row is held.
#[inline]
pub fn row_mut<T>(ring: &mut [T], row: usize, index: usize) -> &mut [T] {
    let held = ring.len().checked_div(row).unwrap_or(0);
    let start = index.checked_rem(held).unwrap_or(0).wrapping_mul(row);
    ring.get_mut(start..start.wrapping_add(row)).unwrap_or(&mut [])
}

/// Writes row `index` of a ring of rows as long as `row`.
#[inline]
pub fn write_row<T: Copy>(ring: &mut [T], index: usize, row: &[T]) {
    for (to, from) in row_mut(ring, row.len(), index).iter_mut().zip(row) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_take_the_place_of_those_a_ring_before() {
        let mut ring = [0; 7];
        for index in 0..5u8 {
            write_row(&mut ring, index.into(), &[index, 10 + index]);
        }
        // Three rows are held, and one element is no row.
        assert_eq!(ring, [3, 13, 4, 14, 2, 12, 0]);
        assert_eq!(row_mut(&mut ring, 2, 5), [2, 12]);
    }

    #[test]
    fn impossible_rows_are_empty() {
        assert_eq!(row_mut(&mut [1, 2], 0, 1), []);
        assert_eq!(row_mut(&mut [1, 2], 3, 0), []);
        assert_eq!(row_mut::<u8>(&mut [], usize::MAX, usize::MAX), []);
        write_row(&mut [1, 2], 7, &[]);
    }
}
