//! Means of windows in plain Rust.

use crate::arch::mve::pool::Sums;
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
