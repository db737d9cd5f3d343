//! Products of floats with sparse filters, such as filter banks.

use super::sum::clip;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution of floats whose filters have weights other than 0 in one run of taps only, without padding: by single pixels and without strides, or along an image one pixel wide.
///
/// `runs` has two numbers for each filter: the first tap of its run, and how many there are. `w` has the weights of all runs, one after the other. Products are summed in order, the bias comes last, and
/// the result is clamped to `lo..=hi`. Results are not computed from where weights are missing on; what is missing of the operand does not count.
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
        let top = row.wrapping_mul(p.stride_h);
        // The taps lie behind each other, as far as a ring goes.
        let (taps, rows) = x.rows_from(top, p.k_h);
        let (taps, left) = (taps.unwrap_or(&[]), p.k_h.saturating_sub(rows));
        let rest = (left > 0).then(|| x.rows_from(top.wrapping_add(rows), left).0);
        let rest = rest.flatten().unwrap_or(&[]);
        let size = if p.k_h > 1 { taps.len() } else { p.in_c };
        for (taps, out) in taps.chunks_exact(size.max(1)).zip(out.chunks_exact(p.out_c.max(1))) {
            let mut weights = w;
            for ((out, bias), run) in out.iter().zip(bias).zip(runs.chunks_exact(2)) {
                let &[first, count] = run else { return };
                let first = usize::from(first);
                let Some((own, behind)) = weights.split_at_checked(count.into()) else { return };
                weights = behind;
                let sum = match taps.get(first..first.wrapping_add(own.len())) {
                    Some(run) => dot(0.0, run, own),
                    None => apart(taps, rest, first, own),
                };
                out.set(clip(sum + bias, lo, hi));
            }
        }
    }
}

/// Adds products in order.
#[inline(always)]
fn dot(sum: f32, x: &[Cell<f32>], w: &[f32]) -> f32 {
    x.iter().zip(w).fold(sum, |sum, (x, w)| sum + x.get() * w)
}

/// The sum of a run that ends where a ring begins again, or behind that.
#[cold]
#[inline(never)]
fn apart(taps: &[Cell<f32>], rest: &[Cell<f32>], first: usize, own: &[f32]) -> f32 {
    let run = taps.get(first..).unwrap_or(&[]);
    let (before, behind) = own.split_at_checked(run.len()).unwrap_or((own, &[]));
    let sum = dot(0.0, run, before);
    dot(sum, rest.get(first.saturating_sub(taps.len())..).unwrap_or(&[]), behind)
}
