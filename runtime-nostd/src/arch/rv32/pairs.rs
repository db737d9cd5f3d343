//! Tiles of two words of pixels and two or three filters.

use super::blocks::pairs::{add, Sums};
use super::upper::UpperRequant;
use core::cell::Cell;

/// What tiles read: words of operands, `EACH` for each tap, and weights. Each tile begins with a byte: taps of a window, 2, 4 or 8. Its weights follow: for each tap one of each filter, in whole windows.
pub(super) struct Tiles<'a> {
    pub words: &'a [Cell<i32>],
    /// Taps of a filter.
    pub size: usize,
    /// From the next tile on.
    pub w: &'a [i8],
}

impl Tiles<'_> {
    /// Results of all filters, at least two, for `2 · EACH` pixels, some of which may be the same. `None` where something is missing.
    #[inline(always)]
    pub(super) fn finish<const EACH: usize>(
        &mut self,
        filters: usize,
        q: &UpperRequant<'_>,
        out: [&[Cell<i8>]; 4],
    ) -> Option<()> {
        let mut o = 0;
        while o < filters {
            let left = filters.wrapping_sub(o);
            if left == 2 || left == 4 {
                self.tile::<EACH, 2>(o, q, out)?;
                o = o.wrapping_add(2);
            } else {
                self.tile::<EACH, 3>(o, q, out)?;
                o = o.wrapping_add(3);
            }
        }
        Some(())
    }

    /// Results of `FILTERS` filters from `o` on.
    #[inline(never)]
    fn tile<const EACH: usize, const FILTERS: usize>(
        &mut self,
        o: usize,
        q: &UpperRequant<'_>,
        out: [&[Cell<i8>]; 4],
    ) -> Option<()> {
        let (&window, w) = self.w.split_first()?;
        let window = window as u8 as usize;
        let taps = self.size.checked_next_multiple_of(window).filter(|_| matches!(window, 2 | 4 | 8))?;
        let len = taps.checked_mul(FILTERS).filter(|&len| len <= w.len())?;
        let (w, behind) = w.split_at(len);
        self.w = behind;
        let mut channels = [q.channel(o)?; FILTERS];
        for (at, channel) in channels.iter_mut().enumerate() {
            *channel = q.channel(o.wrapping_add(at))?;
        }
        let mut sums: Sums = [[0; 2]; 6];
        for (sums, channel) in sums.chunks_exact_mut(EACH).zip(&channels) {
            sums.fill([channel.first.wrapping_add(channel.first << 16), channel.first]);
        }
        let words = self.words.get(..taps.wrapping_mul(EACH))?;
        add::<EACH, FILTERS>(window, words, w, &mut sums);
        for at in 0..EACH {
            let out = [out[2 * at], out[2 * at + 1]].map(|out| out.get(o..)?.first_chunk::<FILTERS>());
            let [Some(lower), Some(upper)] = out else { return None };
            for f in 0..FILTERS {
                let [sum, h] = sums[f * EACH + at];
                upper[f].set(q.result(h, channels[f]));
                lower[f].set(q.result(sum.wrapping_sub(h << 16), channels[f]));
            }
        }
        Some(())
    }
}
