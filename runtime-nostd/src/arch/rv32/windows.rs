//! Windows of tiles, as the compiler packs them.

/// Most taps of a window.
pub(crate) const MOST: usize = 8;

/// By the first byte of a window: its bytes, 0 where there is no such window. Of tiles of two filters and of three.
static LENGTHS: [[u8; 8 * MOST + 1]; 2] = [lengths(2), lengths(3)];

// Only the compiler evaluates it.
#[allow(clippy::indexing_slicing)]
const fn lengths(filters: usize) -> [u8; 8 * MOST + 1] {
    let mut lengths = [0; 8 * MOST + 1];
    let mut taps = 1;
    while taps <= MOST {
        lengths[8 * taps] = (2 + filters * taps) as u8;
        taps += 1;
    }
    lengths
}

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
    /// Those in tiles of three: these come first.
    threes: usize,
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
        let (mut behind, mut left, mut threes) = (w, filters, 0);
        while left > 0 {
            let tile = tile_of(left);
            threes += if tile == 3 { 3 } else { 0 };
            let [of_two, of_three] = &LENGTHS;
            let lengths = if tile == 3 { of_three } else { of_two };
            // Eight times the taps. A window has bytes for its taps: no more taps than bytes.
            let mut taps = 0usize;
            let mut first = usize::from(*behind.first()? as u8);
            loop {
                let len = usize::from(*lengths.get(first)?);
                if len == 0 {
                    break;
                }
                // Something is behind the window, at least a 0.
                let next = usize::from(*behind.get(len)? as u8);
                if usize::from(*behind.get(1)? as u8) != len {
                    return None;
                }
                (behind, taps) = (behind.get(len..)?, taps.wrapping_add(first));
                first = next;
            }
            if first != 0 || taps != size.checked_mul(8)? {
                return None;
            }
            behind = behind.get(1..)?;
            left -= tile;
        }
        Some(Windows { w, size, left: filters, threes })
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

    /// Filters in tiles of three from the first tile on, behind which there are tiles of two.
    #[inline(always)]
    pub(crate) fn threes(&self) -> usize {
        self.threes
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
