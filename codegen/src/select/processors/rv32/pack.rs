//! Weights as the kernels of RISC-V read them.

use crate::select::layer::Layer;
use crate::select::shape::Shape;

/// Most taps of a window.
pub(super) const MOST_WINDOW: usize = 8;

/// Taps of windows, and about how many instructions windows of four pixels and three filters take.
const WINDOWS: [(usize, usize); 3] = [(2, 54), (4, 88), (8, 156)];

/// Whether sums of products with any bytes fit 16 bits, for windows of so many taps of a filter.
fn fits_window(filter: &[i8], taps: usize) -> bool {
    filter.chunks(taps).all(|window| {
        let (mut least, mut most) = (0i32, 0i32);
        for w in window.iter().map(|&w| i32::from(w)) {
            let (a, b) = (-128 * w, 127 * w);
            (least, most) = (least + a.min(b), most + a.max(b));
        }
        i16::try_from(least).is_ok() && i16::try_from(most).is_ok()
    })
}

/// Whether there is a window for each filter.
pub(super) fn fits(layer: &Layer) -> bool {
    (0..layer.bias.len()).all(|o| fits_window(layer.filter(o), WINDOWS[0].0))
}

/// Taps of the windows of a tile.
fn window(filters: &[&[i8]]) -> usize {
    let fitting = WINDOWS.into_iter().filter(|(taps, _)| filters.iter().all(|f| fits_window(f, *taps)));
    let size = filters.first().map_or(0, |filter| filter.len());
    let cheapest = fitting.min_by_key(|(taps, cost)| size.div_ceil(*taps) * cost);
    cheapest.map_or(WINDOWS[0].0, |(taps, _)| taps)
}

/// Weights for tiles of three filters, and of two where one would be left. Each begins with the taps of its windows.
pub(super) fn tiles(layer: &Layer) -> Vec<i8> {
    let count = layer.bias.len();
    let mut packed = Vec::with_capacity(layer.weights.len() + count);
    let mut o = 0;
    while o < count {
        let filters = if matches!(count - o, 2 | 4) { 2 } else { 3 };
        let tile: Vec<&[i8]> = (o..o + filters).map(|o| layer.filter(o)).collect();
        let window = window(&tile);
        packed.push(window as i8);
        for tap in 0..tile[0].len().next_multiple_of(window) {
            packed.extend(tile.iter().map(|filter| filter.get(tap).copied().unwrap_or(0)));
        }
        o += filters;
    }
    packed
}

/// Depthwise weights `[o][taps]` as `[o / 4][taps][4]`.
pub(super) fn channels_in_fours(weights: &[i8], channels: usize) -> Vec<i8> {
    let taps = weights.len() / channels.max(1);
    let weight = |o: usize, tap: usize| if o < channels { weights[o * taps + tap] } else { 0 };
    let blocks = (0..channels).step_by(4).flat_map(|o| (0..taps).map(move |tap| (o, tap)));
    blocks.flat_map(|(o, tap)| (o..o + 4).map(move |o| weight(o, tap))).collect()
}

/// Whether the kernel for filters of 3 × 3 computes it.
pub(super) fn rolls(shape: &Shape) -> bool {
    let Shape { k_h, k_w, dilation_h, dilation_w, stride_w, in_w, out_w, .. } = *shape;
    let columns = (out_w.max(1) - 1) * stride_w + 3;
    [k_h, k_w, dilation_h, dilation_w] == [3, 3, 1, 1]
        && (1..=2).contains(&stride_w)
        && shape.pad_left <= 1
        && columns <= in_w + shape.pad_left + 1
        && columns > shape.pad_left + 1
}
