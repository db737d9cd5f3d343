//! Means and largest elements of windows in plain Rust.

use crate::arch::mve::pool::{Largest, Sums};
use crate::params::MeanLinear;
use core::cell::Cell;

/// Adds the taps of so many channels, `c` elements from one to the next.
///
/// # Safety
///
/// None: the assembly needs what its caller compares.
#[allow(unsafe_code)]
pub(crate) unsafe fn add_taps(x: &[Cell<i8>], c: usize, taps: usize, channels: usize, sums: &mut Sums) {
    for tap in 0..taps {
        for (channel, sum) in sums.0.iter_mut().take(channels).enumerate() {
            *sum = sum.wrapping_add(x.get(tap * c + channel).map_or(0, |x| x.get().into()));
        }
    }
}

/// The means of as many channels as there are results.
///
/// # Safety
///
/// None, as above.
#[allow(unsafe_code)]
pub(crate) unsafe fn rescale(mean: &MeanLinear, sums: &Sums, y: &[Cell<i8>]) {
    y.iter().zip(sums.0).for_each(|(y, sum)| y.set(mean.apply(sum.into())));
}

/// The largest elements of `windows` windows, `p.step` elements from one to the next, with so many rows and columns, clamped; of each, what is in its place counts as well if `MORE`.
///
/// # Safety
///
/// Each row has the taps of all windows, which are `p.c` elements at each of `p.columns`, and `y` as many results.
#[allow(unsafe_code)]
pub(crate) unsafe fn largest<const K_H: usize, const K_W: usize, const MORE: bool>(
    p: &Largest,
    rows: [*const i8; K_H],
    windows: usize,
    y: *mut i8,
) {
    let ([second, third], [lo, hi]) = (p.columns, p.clamp);
    for i in 0..windows * p.c {
        let at = i / p.c * p.step + i % p.c;
        // SAFETY: as the caller promises.
        let before = if MORE { unsafe { *y.add(i) } } else { i8::MIN };
        let taps = rows.iter().flat_map(|row| {
            let columns = [0, second, third].into_iter().take(K_W);
            // SAFETY: as above.
            columns.map(move |column| unsafe { *row.add(at + column) })
        });
        let largest = i32::from(taps.fold(before, i8::max));
        // SAFETY: as above.
        unsafe { *y.add(i) = largest.max(lo).min(hi) as i8 };
    }
}
