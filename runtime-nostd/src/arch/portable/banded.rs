//! Products of floats with sparse filters, such as filter banks.

use crate::params::Conv;
use crate::rows::{Band, Rows};

/// Convolution of floats by single pixels, without padding and strides, whose filters have weights other than 0 in one run of channels only.
///
/// `runs` has two numbers for each filter: the first channel of its run, and how many there are. `w` has the weights of all runs, one after the other. Products are summed in order, the bias comes last, and
/// the result is clamped to `lo..=hi`. A result is not computed if its numbers are missing.
#[inline(never)]
pub fn banded_f32(
    p: &Conv,
    x: Rows<'_, f32>,
    runs: &[u16],
    w: &[f32],
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    for (row, out) in y.of_band(band) {
        for (x, out) in x.row(row).chunks_exact(p.in_c.max(1)).zip(out.chunks_exact(p.out_c.max(1))) {
            let mut weights = w;
            for ((out, bias), run) in out.iter().zip(bias).zip(runs.chunks_exact(2)) {
                let &[first, count] = run else { return };
                let (Some(run), Some((own, rest))) =
                    (x.get(first.into()..), weights.split_at_checked(count.into()))
                else {
                    return;
                };
                weights = rest;
                let sum = run.iter().zip(own).fold(0.0, |sum: f32, (x, w)| sum + x.get() * w);
                out.set((sum + bias).max(lo).min(hi));
            }
        }
    }
}
