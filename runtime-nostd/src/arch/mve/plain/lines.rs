//! Lines of an image to the windows of its channels, and results back to pixels.

use core::cell::Cell;

/// Copies so many channels of columns that are `step` elements from each other to the windows of the channels: each `window` elements from the next, with columns `lines` from each other.
///
/// # Safety
///
/// None: the assembly needs what its caller compares.
#[allow(unsafe_code)]
pub(crate) unsafe fn spread(
    x: &[Cell<i8>],
    step: usize,
    columns: usize,
    channels: usize,
    windows: &[Cell<i8>],
    lines: usize,
    window: usize,
) {
    for column in 0..columns {
        for channel in 0..channels {
            if let (Some(x), Some(to)) =
                (x.get(column * step + channel), windows.get(channel * window + column * lines))
            {
                to.set(x.get());
            }
        }
    }
}

/// Copies results, of which each channel has `row`, to pixels that are `step` elements from each other.
///
/// # Safety
///
/// None: the assembly needs what its caller compares.
#[allow(unsafe_code)]
pub(crate) unsafe fn collect(
    results: &[Cell<i8>],
    row: usize,
    pixels: usize,
    channels: usize,
    y: &[Cell<i8>],
    step: usize,
) {
    for pixel in 0..pixels {
        for channel in 0..channels {
            if let (Some(result), Some(y)) =
                (results.get(channel * row + pixel), y.get(pixel * step + channel))
            {
                y.set(result.get());
            }
        }
    }
}
