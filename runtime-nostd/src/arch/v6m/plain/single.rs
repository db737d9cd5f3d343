//! Tiles of one pixel and four filters in plain Rust.

use crate::kernels::HalfRequant;
use core::cell::Cell;

/// The products of `windows` windows, at least one, for so many tiles.
pub(crate) fn run(words: &[Cell<i32>], windows: usize, w: &[i32], sums: &[Cell<i32>], tiles: usize) {
    for (w, sums) in w.chunks_exact(2 * windows).zip(sums.chunks_exact(4)).take(tiles) {
        for (words, w) in words.chunks_exact(3).zip(w.chunks_exact(2)) {
            let ([x0, x1, correction], [w0, w1], [q0, h0, q1, h1]) = (words, w, sums) else { return };
            for (shift, q, h) in [(0, q0, h0), (8, q1, h1)] {
                let product = |x: &Cell<i32>, w: i32| x.get().wrapping_mul(w >> shift & 0x00ff_00ff);
                let window = product(x0, *w0).wrapping_add(product(x1, *w1)).wrapping_add(correction.get());
                q.set(q.get().wrapping_add(window));
                h.set(h.get().wrapping_add((window as u32 >> 16) as i32));
            }
        }
    }
}

/// As [`run`], with `windows` windows of eight taps, at least one, and rests. `words` has as many words as a byte can name.
pub(crate) fn run_wide(
    words: &[Cell<i32>],
    windows: usize,
    w: &[i32],
    rests: &[i8],
    sums: &[Cell<i32>],
    tiles: usize,
) {
    let mut rests = rests.chunks_exact(2);
    for (w, sums) in w.chunks_exact(8 * windows + 1).zip(sums.chunks_exact(4)).take(tiles) {
        let (Some((numbers, w)), [q0, h0, q1, h1]) = (w.split_last(), sums) else { return };
        for (words, w) in words.chunks_exact(9).zip(w.chunks_exact(8)) {
            let Some((correction, words)) = words.split_last() else { return };
            for (shift, q, h) in [(0, q0, h0), (8, q1, h1)] {
                let product = |(x, w): (&Cell<i32>, &i32)| x.get().wrapping_mul(w >> shift & 0x00ff_00ff);
                let window = words.iter().zip(w).map(product).fold(correction.get(), i32::wrapping_add);
                q.set(q.get().wrapping_add(window));
                h.set(h.get().wrapping_add((window as u32 >> 16) as i32));
            }
        }
        for ((filter, number), (q, h)) in
            numbers.to_le_bytes().iter().enumerate().zip([(q0, h0), (q0, h0), (q1, h1), (q1, h1)])
        {
            for rest in rests.by_ref().take(usize::from(*number)) {
                let [word, weight] = *rest else { return };
                let x = words.get(usize::from(word as u8)).map_or(0, Cell::get);
                let product = x.wrapping_mul(i32::from(weight));
                if filter % 2 == 0 {
                    q.set(q.get().wrapping_add(product));
                } else {
                    q.set(q.get().wrapping_add(product << 16));
                    h.set(h.get().wrapping_add(product));
                }
            }
        }
    }
}

/// Results of filters from their accumulators, `q` and `h` of each two, with the constants that `channels` begins with. Nothing is written where any are missing.
pub(crate) fn finish(q: &HalfRequant<'_>, channels: &[i32], sums: &[Cell<i32>], out: &[Cell<i8>]) {
    let fits = matches!(q.words, 3 | 5) && channels.len() / q.words.max(1) >= out.len();
    if !fits || sums.len() < out.len().next_multiple_of(2) {
        return;
    }
    let fields = sums.chunks_exact(2).flat_map(|pair| match pair {
        [q, h] => [q.get().wrapping_sub(h.get() << 16), h.get()],
        _ => [0; 2],
    });
    for ((v, out), channel) in fields.zip(out).zip(channels.chunks_exact(q.words)) {
        out.set(q.result(v, channel));
    }
}
