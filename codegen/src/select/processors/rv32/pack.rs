//! Weights as the kernels of RISC-V read them.

use crate::select::layer::Layer;
use crate::select::shape::Shape;

/// Most taps of a window in tiles of pixels. Longer ones are rare, and their code would be larger.
const MOST_OF_PIXELS: usize = 8;

/// Most taps of a window in tiles of one row.
const MOST_OF_ROW: usize = 12;

/// Whether sums of products with any bytes fit 16 bits.
fn fits(weights: &[i8]) -> bool {
    let (mut least, mut most) = (0i32, 0i32);
    for w in weights.iter().map(|&w| i32::from(w)) {
        let (a, b) = (-128 * w, 127 * w);
        (least, most) = (least + a.min(b), most + a.max(b));
    }
    i16::try_from(least).is_ok() && i16::try_from(most).is_ok()
}

/// Weights for tiles of three filters, and of two where one would be left, in windows that are as long as they can be.
pub(super) fn tiles(layer: &Layer) -> Vec<i8> {
    let count = layer.bias.len();
    let mut packed = Vec::with_capacity(layer.weights.len() * 5 / 4 + count);
    let mut o = 0;
    while o < count {
        let filters = if matches!(count - o, 2 | 4) { 2 } else { 3 };
        let tile: Vec<&[i8]> = (o..o + filters).map(|o| layer.filter(o)).collect();
        let mut at = 0;
        while at < tile[0].len() {
            let end = tile[0].len().min(at + MOST_OF_PIXELS);
            // A single tap always fits.
            let longer = (at + 2..=end).take_while(|&end| tile.iter().all(|filter| fits(&filter[at..end])));
            let end = longer.last().unwrap_or(at + 1);
            packed.extend([8 * (end - at) as i8, (2 + filters * (end - at)) as i8]);
            packed.extend((at..end).flat_map(|tap| tile.iter().map(move |filter| filter[tap])));
            at = end;
        }
        packed.push(0);
        o += filters;
    }
    packed
}

/// Weights for tiles of one row and eight filters, or four where no more are left.
pub(super) fn singles(layer: &Layer) -> Vec<i32> {
    let count = layer.bias.len();
    let size = layer.filter(0).len();
    let weight = |o: usize, tap: usize| if o < count { layer.filter(o)[tap] } else { 0 };
    let mut packed = Vec::with_capacity(layer.weights.len() / 3);
    let mut o = 0;
    while o < count {
        let words = if count - o <= 4 { 1 } else { 2 };
        let filters = o..count.min(o + 4 * words);
        let start = packed.len();
        packed.push(0);
        let mut at = 0;
        while at < size {
            let end = size.min(at + MOST_OF_ROW);
            // A single tap always fits.
            let fit = |&end: &usize| filters.clone().all(|o| fits(&layer.filter(o)[at..end]));
            let end = (at + 2..=end).take_while(fit).last().unwrap_or(at + 1);
            packed.push((end - at) as i32);
            for tap in at..end {
                for o in (o..o + 4 * words).step_by(4) {
                    // Each two of these are multiplied at once.
                    let bytes = [o, o + 2, o + 1, o + 3].map(|o| weight(o, tap) as u8 ^ 0x80);
                    packed.push(i32::from_le_bytes(bytes));
                }
            }
            packed[start] += 1;
            at = end;
        }
        o += 4 * words;
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

/// Whether each row of the result is a product of the same row of the operand.
pub(super) fn is_row(shape: &Shape) -> bool {
    let Shape { in_w, out_w, k_h, k_w, stride_h, pad_top, pad_left, .. } = *shape;
    [k_h, stride_h, out_w, pad_top, pad_left] == [1, 1, 1, 0, 0] && k_w == in_w && shape.dilation_w == 1
}

/// Whether each filter is as large as the image, so that its taps lie one behind the other.
pub(super) fn is_image(shape: &Shape) -> bool {
    let Shape { in_h, in_w, out_h, out_w, k_h, k_w, pad_top, pad_left, .. } = *shape;
    [k_h, k_w, out_h, out_w, pad_top, pad_left] == [in_h, in_w, 1, 1, 0, 0]
        && [shape.dilation_h, shape.dilation_w] == [1, 1]
}
