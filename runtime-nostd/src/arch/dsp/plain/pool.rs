//! Windows in plain Rust.

use crate::params::MeanLinear;
use core::cell::Cell;

/// # Safety
/// `taps` times eight elements may be read, `c` elements from one to the next.
#[inline(always)]
pub(crate) unsafe fn add_taps(x: *const i8, c: usize, taps: usize, sums: [u32; 4]) -> [u32; 4] {
    let [mut a, mut b, mut d, mut e] = sums;
    let add = |pair: u32, low: i8, high: i8| {
        let low = (pair as u16).wrapping_add(low as u16);
        let high = ((pair >> 16) as u16).wrapping_add(high as u16);
        u32::from(low) | u32::from(high) << 16
    };
    for tap in 0..taps {
        // SAFETY: the caller allows it; nothing aligned is asked for.
        let [x0, x1, x2, x3, x4, x5, x6, x7] = unsafe { x.add(tap * c).cast::<[i8; 8]>().read() };
        (a, b, d, e) = (add(a, x0, x2), add(b, x1, x3), add(d, x4, x6), add(e, x5, x7));
    }
    [a, b, d, e]
}

/// # Safety
/// Eight elements may be written.
#[inline(always)]
pub(crate) unsafe fn rescale(mean: &MeanLinear, sums: [u32; 4], out: *mut i8) {
    let [a, b, d, e] = sums;
    let low = |pair: u32| mean.apply((pair as i16).into());
    let high = |pair: u32| mean.apply(((pair >> 16) as i16).into());
    let eight = [low(a), low(b), high(a), high(b), low(d), low(e), high(d), high(e)];
    // SAFETY: the caller allows it; nothing aligned is asked for.
    unsafe { out.cast::<[i8; 8]>().write(eight) };
}

/// # Safety
/// `rows` may be read as far as the last window's last tap, and `out` holds the results.
#[inline(always)]
pub(crate) unsafe fn words<const K_H: usize, const K_W: usize>(
    rows: [*const i8; K_H],
    c: usize,
    step: usize,
    windows: usize,
    words: usize,
    out: &[Cell<i8>],
) {
    for (index, out) in out.iter().take(windows * 4 * words).enumerate() {
        let (window, channel) = (index / (4 * words), index % (4 * words));
        let taps = rows
            .iter()
            .flat_map(|&row| (0..K_W).map(move |tap| row.wrapping_add(window * step + tap * c + channel)));
        // SAFETY: the caller allows it.
        out.set(taps.map(|tap| unsafe { *tap }).fold(i8::MIN, i8::max));
    }
}
