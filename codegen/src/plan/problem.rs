//! Packing buffers with lifetimes into one arena: `Problem` → `Solution`.

/// One buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its size.
    pub bytes: usize,
    /// Its offset is a multiple of this.
    pub align: usize,
    /// First time at which it is live.
    pub first: usize,
    /// Last time at which it is live, inclusive.
    pub last: usize,
}

impl Item {
    /// Whether both need memory of their own: some time belongs to both lifetimes.
    pub fn conflicts(&self, other: &Item) -> bool {
        self.bytes > 0 && other.bytes > 0 && self.first <= other.last && other.first <= self.last
    }
}

/// A permission for two conflicting items: they may overlap if `upper` begins at least `gap` bytes behind the beginning of `lower`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// Index of the item at the higher offset: its first bytes are done with before `lower` fills up.
    pub upper: usize,
    /// Index of the item at the lower offset.
    pub lower: usize,
    /// Bytes between their beginnings, fewer than the bytes of `lower`.
    pub gap: usize,
}

/// Buffers to be packed. The sum of all sizes and alignments must not overflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The buffers.
    pub items: Vec<Item>,
    /// Which of them may overlap; any number for the same two, of which one must hold.
    pub overlays: Vec<Overlay>,
    /// What is known from elsewhere: no solution has fewer bytes.
    pub floor: usize,
}

/// A packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The offset of each item.
    pub offsets: Vec<usize>,
    /// The end of the item that reaches farthest.
    pub bytes: usize,
    /// No packing has fewer bytes, as has been proved: by a sum of what is live at one time, or by trying all that have fewer.
    pub bound: usize,
}

impl Solution {
    /// Whether no other solution is smaller.
    pub fn is_optimal(&self) -> bool {
        self.bytes <= self.bound
    }
}

impl Problem {
    /// A problem in which no items may overlap.
    pub fn new(items: Vec<Item>) -> Self {
        Problem { items, ..Problem::default() }
    }

    /// Whether the solution is one: aligned, inside its bytes, and no two conflicting items overlap but where they may. Quadratic;
    /// for tests.
    pub fn accepts(&self, solution: &Solution) -> bool {
        let range = |i: usize| (solution.offsets[i], solution.offsets[i] + self.items[i].bytes);
        let overlaid = |i: usize, j: usize| {
            let mut overlays = self.overlays.iter().filter(|o| (o.upper, o.lower) == (i, j));
            overlays.any(|o| range(i).0 >= range(j).0 + o.gap)
        };
        let n = self.items.len();
        solution.offsets.len() == n
            && (0..n).all(|i| range(i).0 % self.items[i].align == 0 && range(i).1 <= solution.bytes)
            && (0..n).all(|i| {
                (0..i).all(|j| {
                    let ((a, b), (c, d)) = (range(i), range(j));
                    let apart = !self.items[i].conflicts(&self.items[j]) || b <= c || d <= a;
                    apart || overlaid(i, j) || overlaid(j, i)
                })
            })
    }
}
