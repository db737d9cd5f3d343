//! Draws hostile arguments. Most of a call fits together, so that it gets past the first check; some of it does not.

use crate::memory::{watch, Beside, Kept, Place, Plain, Region, BYTES};
use kiln::kernels::{Band, Conv, Rows};
use kiln::Crew;
use kiln_kernel_checks::Rng;
use std::cell::{Cell, RefCell};

/// Operands of a call at most.
const OPERANDS: usize = 12;

/// Half of the bits: the product of two wraps to 0.
const HALF: usize = 1 << (usize::BITS / 2);

/// Sizes that no compiler would write.
const ODD: [usize; 26] = [
    0,
    1,
    2,
    3,
    5,
    7,
    13,
    16,
    17,
    31,
    64,
    127,
    255,
    256,
    1009,
    HALF - 1,
    HALF,
    HALF + 1,
    usize::MAX / 16 + 1,
    usize::MAX / 4,
    usize::MAX / 4 + 1,
    usize::MAX / 2,
    usize::MAX / 2 + 1,
    u32::MAX as usize,
    usize::MAX - 1,
    usize::MAX,
];

/// Where the arguments of a call come from.
pub(crate) struct Draw {
    rng: RefCell<Rng>,
    kept: Kept,
    cells: Vec<Region>,
    constants: Vec<Region>,
    taken_cells: Cell<usize>,
    taken_constants: Cell<usize>,
    taken_rows: Cell<usize>,
    beside: RefCell<Vec<Beside>>,
    /// How many in a thousand draws are hostile.
    hostile: Cell<i32>,
    /// The layer that arguments are those of, and how many rows its result has.
    pub(crate) layer: Cell<(Conv, usize)>,
    /// Elements that operands may still have, if no layer asks for more.
    budget: Cell<usize>,
    /// Whether no operand lies over another one.
    apart: Cell<bool>,
    crew: Crew,
}

impl Draw {
    pub(crate) fn new() -> Self {
        let regions = |count: usize| (0..count).map(|_| Region::new(BYTES)).collect::<Vec<_>>();
        let mut draw = Draw {
            rng: RefCell::new(Rng::new("operands", 0)),
            kept: Kept::new(),
            cells: regions(OPERANDS),
            constants: regions(OPERANDS),
            taken_cells: Cell::new(0),
            taken_constants: Cell::new(0),
            taken_rows: Cell::new(0),
            beside: RefCell::new(Vec::new()),
            hostile: Cell::new(0),
            layer: Cell::new((conv(1, 1, 1), 1)),
            budget: Cell::new(0),
            apart: Cell::new(true),
            crew: Crew::new(),
        };
        let rng = draw.rng.get_mut();
        for region in draw.cells.iter_mut().chain(&mut draw.constants) {
            // Bytes are cheaper than a generator for each: a few thousand of them, again and again.
            let some: Vec<u8> = (0..4099).map(|_| rng.i8() as u8).collect();
            let mut all = some.iter().cycle();
            region.fill(|| *all.next().unwrap());
        }
        draw
    }

    /// Begins the arguments of another call.
    pub(crate) fn begin(&mut self, name: &str, round: u32, preset: Option<fn(&mut Conv)>) {
        *self.rng.get_mut() = Rng::new(name, round);
        self.kept.forget();
        for taken in [&self.taken_cells, &self.taken_constants, &self.taken_rows] {
            taken.set(0);
        }
        self.beside.get_mut().clear();
        self.budget.set(BYTES);
        let hostile = self.pick(&[0, 0, 20, 60, 200, 500]);
        self.hostile.set(hostile);
        self.apart.set(!self.one_in(8));
        let layer = self.draw_layer(preset);
        self.layer.set(layer);
    }

    /// Whether nothing beside the operands was written.
    pub(crate) fn is_clean(&self) -> bool {
        self.beside.borrow().iter().all(Beside::is_untouched)
    }

    pub(crate) fn one_in(&self, n: i32) -> bool {
        self.rng.borrow_mut().one_in(n)
    }

    pub(crate) fn pick<T: Copy>(&self, from: &[T]) -> T {
        self.rng.borrow_mut().pick(from)
    }

    pub(crate) fn within(&self, lo: usize, hi: usize) -> usize {
        self.rng.borrow_mut().size(lo, hi)
    }

    pub(crate) fn word(&self) -> u32 {
        self.rng.borrow_mut().word()
    }

    pub(crate) fn is_hostile(&self) -> bool {
        let limit = self.hostile.get();
        limit > 0 && self.rng.borrow_mut().int(0, 999) < limit
    }

    /// A size that fits, or one that does not.
    pub(crate) fn size(&self, fitting: usize) -> usize {
        if !self.is_hostile() {
            return fitting;
        }
        match self.word() % 8 {
            0 => fitting.wrapping_add(1),
            1 => fitting.wrapping_sub(1),
            2 => fitting.wrapping_mul(2),
            3 => self.word() as usize,
            4 => self.within(0, 300),
            _ => self.pick(&ODD),
        }
    }

    pub(crate) fn keep<T: Copy>(&self, value: T) -> &T {
        self.kept.keep(value)
    }

    pub(crate) fn crew(&self) -> &Crew {
        &self.crew
    }

    /// A layer whose sizes fit each other, and the rows of its result.
    fn draw_layer(&self, preset: Option<fn(&mut Conv)>) -> (Conv, usize) {
        let few = |most: usize| self.within(1, most);
        let (k_h, k_w) = if self.one_in(3) { (1, 1) } else { (few(4), few(4)) };
        let (stride_h, stride_w) = (few(3), few(3));
        let (dilation_h, dilation_w) = if self.one_in(4) { (few(3), few(3)) } else { (1, 1) };
        let channels = || match self.word() % 6 {
            0 => few(3),
            1 | 2 => 4 * few(5),
            3 => 16 * few(3),
            _ => few(40),
        };
        let (in_c, out_c) = (channels(), channels());
        let depthwise = self.one_in(3);
        let mut layer = Conv {
            in_h: few(9),
            in_w: few(9),
            in_c,
            out_w: 1,
            out_c: if depthwise { in_c * self.pick(&[1, 1, 1, 2]) } else { out_c },
            k_h,
            k_w,
            stride_h,
            stride_w,
            dilation_h,
            dilation_w,
            pad_top: self.within(0, k_h - 1),
            pad_left: self.within(0, k_w - 1),
            groups: if depthwise { in_c } else { 1 },
        };
        if let Some(preset) = preset.filter(|_| !self.one_in(8)) {
            preset(&mut layer);
        }
        let fit = |size: &mut usize, k: usize, dilation: usize, stride: usize, pad: usize| {
            *size = (*size).max((k - 1) * dilation + 1);
            (*size + 2 * pad - (k - 1) * dilation - 1) / stride.max(1) + 1
        };
        let out_h = fit(&mut layer.in_h, layer.k_h, layer.dilation_h, layer.stride_h, layer.pad_top);
        layer.out_w = fit(&mut layer.in_w, layer.k_w, layer.dilation_w, layer.stride_w, layer.pad_left);
        (layer, out_h)
    }

    /// How long a slice is: what some kernel wants of this layer, a little less or more, or anything. At most `capacity`.
    fn len(&self, capacity: usize) -> usize {
        // Of what takes the product of several lengths, only one is large.
        let most = capacity;
        let capacity = capacity.min(self.budget.get());
        let (p, out_h) = self.layer.get();
        let (taps, pairs) = (p.k_h * p.k_w * p.in_c, (p.k_h * p.k_w * p.in_c).div_ceil(2));
        let fitting = match self.word() % 16 {
            0 => p.in_h * p.in_w * p.in_c,
            1 => out_h * p.out_w * p.out_c,
            2 => taps * p.out_c,
            3 => p.k_h * p.k_w * p.out_c,
            4 => p.out_c,
            5 => p.out_c.div_ceil(4) * (4 + 2 * pairs + self.pick(&[0, 8, 12])),
            6 => p.in_c.div_ceil(4) * (4 + p.k_h * p.k_w + self.pick(&[0, 8, 12])),
            7 => p.out_c.div_ceil(16) * (16 + 16 * taps),
            8 => p.out_c.div_ceil(16) * (256 + 16 * self.pick(&[1, 4]) * taps),
            9 => p.in_c,
            10 => p.out_w * p.out_c,
            11 => p.in_w * p.in_c,
            12 => self.within(0, 40),
            13 => self.within(0, 1000),
            14 => capacity / 4,
            _ => capacity,
        };
        let len = match self.word() % 6 {
            0 if self.hostile.get() > 0 => fitting.saturating_sub(self.within(0, 4)),
            1 if self.hostile.get() > 0 => self.within(0, 2 * fitting.min(capacity)),
            2 => fitting + self.within(0, 4),
            _ => fitting,
        };
        let len = len.min(most);
        if len > 1000 {
            self.budget.set(200);
        }
        len
    }

    fn place(&self) -> Place {
        if self.one_in(4) {
            Place::Start
        } else {
            Place::End
        }
    }

    /// Constants.
    pub(crate) fn constants<T: Plain>(&self) -> &[T] {
        let region = &self.constants[self.taken_constants.get()];
        self.taken_constants.set(self.taken_constants.get() + 1);
        region.constants(self.len(region.capacity::<T>()), self.place())
    }

    /// Cells, now and then those of another operand.
    pub(crate) fn cells<T: Plain>(&self) -> &[Cell<T>] {
        let capacity = self.cells[0].capacity::<T>();
        self.cells_of(self.len(capacity))
    }

    fn cells_of<T: Plain>(&self, len: usize) -> &[Cell<T>] {
        let taken = self.taken_cells.get();
        self.taken_cells.set(taken + 1);
        let (index, place) = match taken > 0 && !self.apart.get() {
            true => (self.within(0, taken), Place::End),
            false => (taken, self.place()),
        };
        let region = &self.cells[index];
        if self.apart.get() {
            self.beside.borrow_mut().extend(region.mark(len * size_of::<T>(), place));
        }
        region.cells(len, place)
    }

    /// Rows: the first ones of a call are those of the layer's operand, all others those of its result.
    pub(crate) fn rows<T: Plain>(&self) -> Rows<'_, T> {
        let (p, out_h) = self.layer.get();
        let index = self.taken_rows.get();
        self.taken_rows.set(index + 1);
        let (mut row, mut count) = match index {
            0 => (p.in_w * p.in_c, p.in_h),
            _ => (p.out_w * p.out_c, out_h),
        };
        if self.one_in(6) {
            // A kernel without a layer: rows of vectors.
            row = if index == 0 { p.in_c } else { p.out_c };
        }
        if self.one_in(4) {
            count = self.within(1, count);
        }
        let capacity = self.cells[0].capacity::<T>();
        let len = (row * count).min(capacity);
        let len = if self.is_hostile() { self.within(0, len) } else { len };
        let cells = self.cells_of(len);
        let row = self.size(row);
        match self.one_in(3) {
            true => Rows::ring(cells, row, self.size(count)).from_slot(self.size(count)),
            false => Rows::whole(cells, row),
        }
    }

    pub(crate) fn band(&self) -> Band {
        let (_, out_h) = self.layer.get();
        let first = if self.one_in(2) { 0 } else { self.within(0, out_h - 1) };
        Band { first: self.size(first), rows: self.size(out_h.saturating_sub(first)) }
    }

    /// Announces the call.
    pub(crate) fn announce(name: &'static str, round: u32) {
        watch::call(name, round);
    }
}

/// A point.
fn conv(in_c: usize, out_c: usize, out_w: usize) -> Conv {
    Conv {
        in_h: 1,
        in_w: 1,
        in_c,
        out_w,
        out_c,
        k_h: 1,
        k_w: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
    }
}
