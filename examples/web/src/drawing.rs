//! From a drawing to what the network was trained on: the digit fills the image, and a pixel is the ink of 4x4 dots of a finer one.

use crate::PIXELS;

/// Width and height of a drawing.
pub const SIDE: usize = 128;

/// Dots of the finer image along each side.
const DOTS: usize = 32;

/// The least size that is enlarged to a whole image: a dot of the pen is no digit.
const LEAST: usize = 24;

/// The ink of each pixel, 0 to 16; `None` where nothing is drawn. `drawing` has the opacity of each of its points, row by row.
pub fn ink_of(drawing: &[u8; SIDE * SIDE]) -> Option<[u8; PIXELS]> {
    let is_drawn = |x: usize, y: usize| x < SIDE && y < SIDE && drawing[y * SIDE + x] >= 128;
    let columns = extent(|x| (0..SIDE).any(|y| is_drawn(x, y)))?;
    let rows = extent(|y| (0..SIDE).any(|x| is_drawn(x, y)))?;
    let size = (columns.1 - columns.0).max(rows.1 - rows.0).max(LEAST);
    // A square around the middle of the digit, which may stand out of the drawing. Twice the coordinate, so that halves are integers.
    let left = (columns.0 + columns.1) as isize - size as isize;
    let top = (rows.0 + rows.1) as isize - size as isize;
    // The point in the middle of a dot.
    let at = |first: isize, dot: usize| {
        let twice = first + ((2 * dot + 1) * size / DOTS) as isize;
        usize::try_from(twice).map_or(SIDE, |twice| twice / 2)
    };
    let mut ink = [0; PIXELS];
    for y in 0..DOTS {
        for x in 0..DOTS {
            if is_drawn(at(left, x), at(top, y)) {
                ink[y / 4 * 8 + x / 4] += 1;
            }
        }
    }
    Some(ink)
}

/// The first of those with ink, and behind the last.
fn extent(has_ink: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let first = (0..SIDE).find(|&i| has_ink(i))?;
    let last = (0..SIDE).rfind(|&i| has_ink(i))?;
    Some((first, last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drawing of a box.
    fn drawn(columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> [u8; SIDE * SIDE] {
        let mut drawing = [0; SIDE * SIDE];
        for y in rows {
            drawing[y * SIDE..][columns.clone()].fill(255);
        }
        drawing
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(ink_of(&[0; SIDE * SIDE]), None);
        assert_eq!(ink_of(&[127; SIDE * SIDE]), None);
    }

    #[test]
    fn digits_fill_the_image_wherever_they_are_drawn() {
        for (columns, rows) in [(0..128, 0..128), (3..99, 30..126), (90..122, 5..37)] {
            assert_eq!(ink_of(&drawn(columns, rows)), Some([16; PIXELS]));
        }
    }

    #[test]
    fn narrow_digits_stay_narrow_and_in_the_middle() {
        for left in [0, 50, 112] {
            let ink = ink_of(&drawn(left..left + 16, 40..104)).unwrap();
            for row in ink.chunks(8) {
                assert_eq!(row, [0, 0, 0, 16, 16, 0, 0, 0]);
            }
        }
        let ink = ink_of(&drawn(0..128, 56..72)).unwrap();
        assert_eq!(ink.map(usize::from).iter().sum::<usize>(), 128 * 16 / 16);
    }

    #[test]
    fn a_dot_stays_small() {
        let ink = ink_of(&drawn(60..66, 60..66)).unwrap();
        assert_eq!(ink[27..29], [16, 16]);
        assert_eq!(ink.map(usize::from).iter().sum::<usize>(), 4 * 16);
    }
}
