//! Transposed convolutions, as a convolution followed by a rearrangement.
//!
//! Pixel `s·i + k − p` of the result (stride s, padding p) sums pixel `i` of the operand times tap `k`. Of the pixels whose
//! index plus p leaves r when divided by s, all sum taps r, r + s, r + 2s, …: an ordinary convolution of stride 1 with those taps, backwards. So
//! one convolution with a filter for every r computes all pixels of a block side by side as channels, which are then spread over the image. No product is
//! computed for a zero between pixels, and sums, bias and rescaling are those of the operator.

use kiln_ir::{Padding, Window};

/// One axis, of rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// From a pixel of the operand to the next one in the result.
    pub(crate) stride: usize,
    dilation: usize,
    /// Taps of the filter.
    pub(crate) taps: usize,
    /// Taps of the convolution: those of one remainder.
    pub(crate) reach: usize,
    /// Pixels cut off at the beginning.
    pub(crate) lead: usize,
    /// Blocks of `stride` pixels that are computed.
    pub(crate) blocks: usize,
    /// Pixels of the operand.
    size: usize,
    /// Pixels of the result.
    pub(crate) out: usize,
}

impl Axis {
    /// `None` for sizes that do not fit together.
    pub(crate) fn new(
        stride: usize,
        dilation: usize,
        taps: usize,
        size: usize,
        lead: usize,
        out: usize,
    ) -> Option<Axis> {
        if [stride, dilation, taps, size, out].contains(&0) {
            return None;
        }
        let reach = (taps - 1).checked_mul(dilation)?.checked_add(1)?.div_ceil(stride);
        let blocks = out.checked_add(lead)?.div_ceil(stride).max(size);
        Some(Axis { stride, dilation, taps, reach, lead, blocks, size, out })
    }

    /// The filter's tap that the convolution's tap `t` is for remainder `r`: backwards, and every stride-th one only.
    fn tap(&self, r: usize, t: usize) -> Option<usize> {
        let at = r + (self.reach - 1 - t) * self.stride;
        let tap = at / self.dilation;
        (at % self.dilation == 0 && tap < self.taps).then_some(tap)
    }
}

/// The window of the convolution.
pub(crate) fn window([rows, columns]: [Axis; 2]) -> Window {
    let pad = |axis: Axis| (axis.reach - 1, axis.blocks - axis.size);
    let ((top, bottom), (left, right)) = (pad(rows), pad(columns));
    let pad = Padding { top, bottom, left, right };
    Window { size: [rows.reach, columns.reach], stride: [1; 2], dilation: [1; 2], pad }
}

/// Where the taps of the convolution's filters are among those of a filter, for each pair of remainders; `None` for taps that are missing, which are zero.
pub(crate) fn taps([rows, columns]: [Axis; 2]) -> impl Iterator<Item = Vec<Option<usize>>> {
    let pairs = |a: usize, b: usize| (0..a).flat_map(move |i| (0..b).map(move |j| (i, j)));
    pairs(rows.stride, columns.stride).map(move |(r, q)| {
        let place = |(t, u)| Some(rows.tap(r, t)? * columns.taps + columns.tap(q, u)?);
        pairs(rows.reach, columns.reach).map(place).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_result() {
        let a = Axis::new(2, 1, 3, 4, 0, 9).unwrap();
        assert_eq!(
            (a.reach, a.blocks, a.tap(0, 0), a.tap(0, 1), a.tap(1, 0)),
            (2, 5, Some(2), Some(0), None)
        );
        // Two taps with a gap between them, of which each is met by one remainder.
        let a = Axis::new(3, 2, 2, 4, 1, 10).unwrap();
        assert_eq!(
            (a.reach, a.blocks, a.tap(0, 0), a.tap(1, 0), a.tap(2, 0)),
            (1, 4, Some(0), None, Some(1))
        );
        assert!(Axis::new(0, 1, 1, 1, 0, 1).is_none());
    }
}
