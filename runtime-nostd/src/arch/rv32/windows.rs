//! Windows of tiles, as the compiler packs them.

/// Most taps of a window.
pub(crate) const MOST: usize = 8;

/// The tiles of a layer: of three filters, and of two where a single one would be left.
///
/// Each tile is a sequence of windows. A window of `n` taps begins with the bytes `8·n` and `2 + FILTERS·n`, and is as long as the second one says. For each tap it has
/// a weight of each filter. Behind the last window of a tile is a 0.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'a> {
    /// From the next tile on. It begins a tile of `size` taps and as many filters as [`Windows::filters`] says, or is at the end.
    w: &'a [i8],
    /// Taps of a filter.
    size: usize,
    /// Filters from the next tile on.
    left: usize,
}

// Assembly asks for the number of tiles, plain Rust goes from one to the next.
#[allow(dead_code)]
impl<'a> Windows<'a> {
    /// The tiles of `filters` filters, at least two, of `size` taps; `None` if `w` has something else.
    #[inline(never)]
    pub(crate) fn new(w: &'a [i8], size: usize, filters: usize) -> Option<Self> {
        if filters < 2 || size == 0 {
            return None;
        }
        let (mut behind, mut left) = (w, filters);
        while left > 0 {
            let tile = tile_of(left);
            let mut taps = 0usize;
            loop {
                let n = match *behind {
                    [0, ..] if taps == size => break,
                    [n, ..] => n as u8 as usize / 8,
                    [] => return None,
                };
                let len = 2 + tile * n;
                let fits = matches!(*behind, [eight, step, ..] if eight as u8 as usize == 8 * n && step as u8 as usize == len);
                if !fits || n == 0 || n > MOST {
                    return None;
                }
                behind = behind.get(len..)?;
                // A window has bytes for its taps: no more taps than bytes.
                taps += n;
            }
            behind = behind.get(1..)?;
            left -= tile;
        }
        Some(Windows { w, size, left: filters })
    }

    /// Taps of a filter.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Filters from the next tile on.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Tiles of three filters, and those of two behind them.
    #[inline(always)]
    pub(crate) fn tiles(&self) -> [usize; 2] {
        match self.left % 3 {
            0 => [self.left / 3, 0],
            1 => [(self.left - 4) / 3, 2],
            _ => [self.left / 3, 1],
        }
    }

    /// Filters of the next tile; 0 at the end.
    #[inline(always)]
    pub(crate) fn filters(&self) -> usize {
        tile_of(self.left)
    }

    /// Bytes from the next tile on.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [i8] {
        self.w
    }

    /// Goes on behind a tile, of which `len` bytes are all windows and the 0 behind them.
    #[inline(always)]
    pub(crate) fn skip(&mut self, len: usize) {
        self.left -= self.filters();
        self.w = self.w.get(len..).unwrap_or(&[]);
    }
}

/// Filters of a tile, of which with those behind it there are `left`.
#[inline(always)]
fn tile_of(left: usize) -> usize {
    match left {
        0..=2 => left,
        4 => 2,
        _ => 3,
    }
}
