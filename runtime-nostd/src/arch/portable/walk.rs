//! Walks over up to six axes.

/// Visits all indices of the five outer axes of `dims` in ascending order, and yields where each of `K` tensors is at them.
///
/// Offsets wrap: a negative stride is its two's complement. Kernels check what they are used for.
pub(crate) struct Walk<const K: usize> {
    dims: [usize; 5],
    strides: [[usize; 5]; K],
    index: [usize; 5],
    at: [usize; K],
    done: bool,
}

impl<const K: usize> Walk<K> {
    /// A walk over `dims`, each tensor with its strides and the offset of its first element.
    pub(crate) fn new(dims: &[usize; 6], tensors: [(&[usize; 6], usize); K]) -> Self {
        Walk {
            dims: outer(dims),
            strides: tensors.map(|(strides, _)| outer(strides)),
            index: [0; 5],
            at: tensors.map(|(_, offset)| offset),
            done: dims.contains(&0),
        }
    }
}

/// All axes but the last.
fn outer(axes: &[usize; 6]) -> [usize; 5] {
    let [a, b, c, d, e, _] = *axes;
    [a, b, c, d, e]
}

/// All axes but the last, behind another one: a [`Walk`] over these leaves the last two to the caller.
pub(crate) fn behind_one(axes: [usize; 6], first: usize) -> [usize; 6] {
    let [a, b, c, d, e, _] = axes;
    [first, a, b, c, d, e]
}

/// The last element that a [`Walk`] comes to; `usize::MAX` where it is beyond that.
pub(crate) fn last(dims: &[usize; 6], strides: &[usize; 6]) -> usize {
    dims.iter().zip(strides).fold(0, |sum: usize, (&dim, &stride)| {
        sum.saturating_add(dim.saturating_sub(1).saturating_mul(stride))
    })
}

impl<const K: usize> Iterator for Walk<K> {
    type Item = [usize; K];

    #[inline(never)]
    fn next(&mut self) -> Option<[usize; K]> {
        if self.done {
            return None;
        }
        let at = self.at;
        self.done = true;
        for (axis, (index, &dim)) in self.index.iter_mut().zip(&self.dims).enumerate().rev() {
            let last = *index + 1 >= dim;
            // Back to the start of this axis, or one step along it.
            let steps = if last { index.wrapping_neg() } else { 1 };
            for (at, strides) in self.at.iter_mut().zip(&self.strides) {
                let stride = strides.get(axis).copied().unwrap_or(0);
                *at = at.wrapping_add(stride.wrapping_mul(steps));
            }
            *index = index.wrapping_add(steps);
            if !last {
                self.done = false;
                break;
            }
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn visits_outer_axes_in_order() {
        let walk = Walk::new(
            &[1, 1, 1, 2, 3, 9],
            [(&[0, 0, 0, 30, usize::MAX - 8, 1], 100), (&[0, 0, 0, 0, 1, 0], 0)],
        );
        let at: Vec<[usize; 2]> = walk.collect();
        assert_eq!(at, [[100, 0], [91, 1], [82, 2], [130, 0], [121, 1], [112, 2]]);
        assert_eq!(Walk::new(&[1; 6], [(&[0; 6], 7)]).collect::<Vec<_>>(), [[7]]);
        assert_eq!(Walk::new(&[1, 1, 1, 1, 2, 0], [(&[0; 6], 7)]).count(), 0);
    }
}
