//! Products of 16-bit elements in plain Rust.

use core::cell::Cell;

/// Adds the products of four channels in each of so many rows, at least one, with four weights for each.
///
/// # Safety
///
/// In each of the rows, `channels` elements apart, four elements are readable, and four weights for each.
#[inline(always)]
pub(crate) unsafe fn rows_of_pairs(
    x: *const Cell<i16>,
    channels: usize,
    w: *const i16,
    rows: usize,
    sums: [i32; 4],
) -> [i32; 4] {
    let [mut a, mut b, mut c, mut d] = sums;
    for row in 0..rows {
        // SAFETY: as the caller promises.
        let ([xa, xb, xc, xd], [wa, wb, wc, wd]) = unsafe {
            let x = x.add(row * channels).cast::<[i16; 4]>().read();
            (x, w.add(4 * row).cast::<[i16; 4]>().read())
        };
        let product = |x: i16, w: i16| i32::from(x) * i32::from(w);
        (a, b) = (a.wrapping_add(product(xa, wa)), b.wrapping_add(product(xb, wb)));
        (c, d) = (c.wrapping_add(product(xc, wc)), d.wrapping_add(product(xd, wd)));
    }
    [a, b, c, d]
}
