//! What kernels do, counted, and what that takes on a core.

/// Makes the counts and their number.
macro_rules! counts {
    ($( $(#[doc = $doc:literal])+ $name:ident, )*) => {
        /// What a kernel does several times, as far as its cycles depend on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Count {
            $( $(#[doc = $doc])+ $name, )*
        }

        impl Count {
            /// All of them.
            pub const ALL: &'static [Count] = &[$( Count::$name, )*];
        }
    };
}

counts! {
    /// Calls.
    Call,
    /// Products of an operand and a weight, with those that fill up tiles.
    Product,
    /// Elements of the result, with those that fill up tiles.
    Result,
    /// Results that take one more step of requantisation.
    Corrected,
    /// Elements of windows: for each pixel of the result as many as a filter has weights. Without filters, elements that are read.
    Tap,
    /// Lines of windows: for each pixel of the result as many as a filter is high. With one filter for each channel, lines of channels of the result.
    Line,
    /// Turns of a loop over taps.
    Turn,
    /// Pixels of the result that tiles compute, with those that fill up tiles.
    Pixel,
    /// Calls of the block that computes tiles.
    Tile,
    /// Filters of a tile that is not full, or of a pixel that is alone.
    Left,
    /// Their products.
    LeftProduct,
    /// Windows of operands that are filled.
    Window,
    /// Rows of the operand of which windows take a part.
    Piece,
    /// Runs of elements that windows take from these rows.
    Run,
    /// Elements of runs that are whole words or vectors.
    Word,
    /// Elements of runs of one.
    One,
    /// Elements of runs of three.
    Three,
    /// Elements of other runs.
    Other,
    /// Elements that stay in a window, and move.
    Moved,
    /// Columns of padding in windows.
    Padding,
    /// Pixels whose taps are looked for one by one.
    Border,
    /// Products that windows leave over, of two pixels each.
    Rest,
    /// Rows of a ring that are found by a call and a division.
    Far,
}

const COUNTS: usize = Count::ALL.len();

/// What a kernel does to compute something, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work([u64; COUNTS]);

impl Work {
    /// Of one call.
    pub fn of_call() -> Work {
        Work::default().with(Count::Call, 1)
    }

    /// How many there are.
    pub fn of(&self, count: Count) -> u64 {
        // There is one for each.
        self.0[count as usize]
    }

    /// Counts some more.
    pub fn add(&mut self, count: Count, more: usize) {
        let sum = &mut self.0[count as usize];
        *sum = sum.saturating_add(more as u64);
    }

    /// With so many of them.
    pub fn with(mut self, count: Count, number: usize) -> Work {
        self.0[count as usize] = number as u64;
        self
    }

    /// So many times as much.
    pub fn times(self, factor: usize) -> Work {
        Work(self.0.map(|count| count.saturating_mul(factor as u64)))
    }

    /// Together with what is done besides.
    pub fn and(mut self, other: &Work) -> Work {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count = count.saturating_add(more));
        self
    }

    /// The part of it that `part` of `whole` rows are, in so many calls.
    pub fn part(self, part: usize, whole: usize, calls: usize) -> Work {
        let scaled = |count: u64| (u128::from(count) * part as u128 / whole.max(1) as u128) as u64;
        Work(self.0.map(scaled)).with(Count::Call, calls)
    }
}

/// What a kernel takes on a core for each of what it does, in thousandths of a cycle. `cargo kiln bench --per-layer` measures it; `host-tests/tests/predictions.rs` holds these to the
/// measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles([u32; COUNTS]);

impl Cycles {
    /// Cycles of so much work.
    pub fn of(&self, work: &Work) -> u64 {
        let each = self.0.iter().zip(work.0).map(|(&cycles, count)| count.saturating_mul(cycles.into()));
        each.fold(0, u64::saturating_add) / 1000
    }

    /// With thousandths of a cycle for each of these.
    pub(crate) const fn each(mut self, cycles: &[(Count, u32)]) -> Cycles {
        let mut i = 0;
        while i < cycles.len() {
            let (count, cycles) = cycles[i];
            self.0[count as usize] = cycles;
            i += 1;
        }
        self
    }

    /// With those of the elements of windows, and of their lines.
    pub(crate) const fn and(self, tap: u32, line: u32) -> Cycles {
        self.each(&[(Count::Tap, tap), (Count::Line, line)])
    }
}

/// What rows of the table say of cycles: those of a product and of a result, in thousandths, and those of a call.
pub(crate) const fn cycles(product: u32, result: u32, call: u32) -> Cycles {
    let none = Cycles([0; COUNTS]);
    none.each(&[(Count::Product, product), (Count::Result, result), (Count::Call, 1000 * call)])
}
