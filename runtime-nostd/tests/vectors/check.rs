//! Operands, guarded memory, and calls of a kernel in all the ways in which generated code may call it.

use super::layers::held;
use super::simd::{cells, Random};
use kiln::kernels::{Band, Conv, FilterBlocks, FloatRequant, Requant, Rounding, Rows};
use std::cell::Cell;

/// Products of a layer, at most: twins are not optimised in tests.
const MOST_PRODUCTS: usize = 40_000;

impl Random {
    /// From `least` to `most`.
    pub(crate) fn within(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most + 1 - least)
    }

    /// Bytes of all values, of extreme ones, or of the smallest only, whose products are the largest.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<i8> {
        let kind = self.below(8);
        let byte = |random: &mut Random| match kind {
            0 => -128,
            1 => [-128, 127, -1, 0][random.below(4)],
            _ => random.next() as i8,
        };
        (0..count).map(|_| byte(self)).collect()
    }

    /// The same, of which half have no −128; and whether these have none.
    pub(crate) fn weights(&mut self, count: usize) -> (Vec<i8>, bool) {
        let mut weights = self.bytes(count);
        if self.below(2) == 0 {
            weights.iter_mut().for_each(|w| *w = (*w).max(-127));
        }
        let symmetric = !weights.contains(&-128);
        (weights, symmetric)
    }

    /// Small first values of sums, or any.
    pub(crate) fn bias(&mut self, count: usize) -> Vec<i32> {
        let shift = [16, 0][self.below(8) / 7];
        (0..count).map(|_| self.next() as i32 >> shift).collect()
    }
}

/// How sums become results, as [`Rounding`] documents it: both constants of each channel as the bits of words.
#[derive(Debug)]
pub(crate) struct Scaling {
    pub(crate) rounding: Rounding,
    pub(crate) constants: Vec<[u32; 2]>,
    pub(crate) zero_point: i32,
    pub(crate) lo: i32,
    pub(crate) hi: i32,
}

impl Scaling {
    pub(crate) fn random(random: &mut Random, channels: usize) -> Scaling {
        let rounding = [Rounding::Nearest, Rounding::Away, Rounding::Even, Rounding::Twice][random.below(4)];
        let constants = (0..channels).map(|_| Scaling::pair(random, rounding)).collect();
        let (a, b) = (random.next() as i8, random.next() as i8);
        let (lo, hi) = if random.below(2) == 0 { (-128, 127) } else { (a.min(b).into(), a.max(b).into()) };
        Scaling { rounding, constants, zero_point: (random.next() as i8).into(), lo, hi }
    }

    fn pair(random: &mut Random, rounding: Rounding) -> [u32; 2] {
        if rounding == Rounding::Twice {
            let multiplier = match random.below(8) {
                0 => i32::MAX as u32,
                1 => 0,
                2 => 1 << 30,
                _ => (1 << 30) + (random.next() >> 2),
            };
            let shift = if random.below(4) == 0 { random.below(31) } else { random.within(4, 14) };
            return [multiplier, shift as u32];
        }
        // At most a half, so that no sum leaves the range of 32 bits; of few significant bits now and then, for results halfway between integers.
        let significant = if random.below(2) == 0 { 1 + random.below(8) } else { random.below(1 << 24) };
        let size = (significant.max(1) as f32).log2().ceil() as i32;
        let factor = significant as f32 * 2f32.powi(-size - 1 - random.below(18) as i32);
        let constant = match rounding {
            Rounding::Nearest => random.within(0, 2048) as f32 / 8.0 - 128.0,
            _ => [0.5, 0.499_999_97, 0.0, 0.25][random.below(4)],
        };
        [factor.to_bits(), constant.to_bits()]
    }

    /// The result of a sum of a channel.
    pub(crate) fn apply(&self, channel: usize, sum: i32) -> i8 {
        let [first, second] = self.constants[channel];
        let (factor, constant, float) = (f32::from_bits(first), f32::from_bits(second), sum as f32);
        let result = match self.rounding {
            Rounding::Nearest => (float * factor + constant).round_ties_even() as i64,
            Rounding::Away => (float * factor + constant.copysign(float)).trunc() as i64,
            Rounding::Even => (float * factor).round_ties_even() as i64,
            Rounding::Twice => {
                let product = (i64::from(sum) * i64::from(first) + (1 << 30)) >> 31;
                // Half away from zero.
                product.signum() * ((product.abs() + (1 << second)) >> (second + 1))
            }
        };
        (result + i64::from(self.zero_point)).clamp(self.lo.into(), self.hi.into()) as i8
    }

    /// What a block begins with, of these sixteen channels.
    pub(crate) fn header(
        &self,
        channels: &[Option<usize>],
        bias: &[i32],
        sums: &[i32],
        packed: &mut Vec<i8>,
    ) {
        let word = |of: &dyn Fn(usize) -> u32| -> Vec<i8> {
            let words = channels.iter().map(|channel| channel.map_or(0, of));
            words.flat_map(|word| word.to_le_bytes().map(|byte| byte as i8)).collect()
        };
        packed.extend(word(&|o| bias[o].wrapping_sub(128 * sums[o]) as u32));
        packed.extend(word(&|o| bias[o] as u32));
        packed.extend(word(&|o| self.constants[o][0]));
        packed.extend(word(&|o| self.constants[o][1]));
    }

    pub(crate) fn filters<'a>(&self, blocks: &'a [i8]) -> FilterBlocks<'a> {
        let Scaling { rounding, zero_point, lo, hi, .. } = *self;
        FilterBlocks { blocks, rounding, zero_point, lo, hi }
    }

    /// Calls what the rounding has for a twin: one that rounds twice, or one that rounds floats half to even.
    pub(crate) fn twin(&self, twice: impl Fn(&Requant<'_>), even: impl Fn(&FloatRequant<'_>)) -> bool {
        let Scaling { rounding, zero_point, lo, hi, .. } = *self;
        match rounding {
            Rounding::Twice => {
                let multipliers: Vec<i32> = self.constants.iter().map(|of| of[0] as i32).collect();
                let shifts: Vec<i8> = self.constants.iter().map(|of| -1 - of[1] as i8).collect();
                twice(&Requant { multipliers: &multipliers, shifts: &shifts, zero_point, lo, hi });
                true
            }
            Rounding::Even => {
                let factors: Vec<f32> = self.constants.iter().map(|of| f32::from_bits(of[0])).collect();
                even(&FloatRequant { factors: &factors, zero_point, lo, hi });
                true
            }
            _ => false,
        }
    }
}

/// A random convolution and the rows of its result, with filters of at most such a size.
pub(crate) fn random_conv(
    random: &mut Random,
    in_c: usize,
    out_c: usize,
    groups: usize,
    k: [usize; 2],
) -> (Conv, usize) {
    let (k_h, k_w) = (random.within(1, k[0]), random.within(1, k[1]));
    let point = random.below(5) == 0;
    let (k_h, k_w) = if point { (1, 1) } else { (k_h, k_w) };
    let small = |random: &mut Random| if random.below(2) == 0 { 1 } else { random.within(1, 3) };
    let (dilation_h, dilation_w) = (small(random), small(random));
    let (stride_h, stride_w) = (small(random), small(random));
    let (reach_h, reach_w) = ((k_h - 1) * dilation_h + 1, (k_w - 1) * dilation_w + 1);
    let (in_h, in_w) = (random.within(1, 9), random.within(1, 30));
    // Before the operand, and behind it.
    let padded = random.below(2);
    let padding = |random: &mut Random, reach: usize| padded * random.below(reach + 1);
    let (pad_top, pad_left) = (padding(random, reach_h), padding(random, reach_w));
    let (height, width) =
        (pad_top + in_h + padding(random, reach_h), pad_left + in_w + padding(random, reach_w));
    let results = |len: usize, reach: usize, stride: usize| len.saturating_sub(reach) / stride + 1;
    let (out_h, out_w) = (results(height, reach_h, stride_h), results(width, reach_w, stride_w));
    let conv = Conv {
        in_h,
        in_w,
        in_c,
        out_w,
        out_c,
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h,
        dilation_w,
        pad_top,
        pad_left,
        groups,
    };
    (conv, out_h)
}

/// One that is not too large.
pub(crate) fn moderate(random: &mut Random, draw: impl Fn(&mut Random) -> (Conv, usize)) -> (Conv, usize) {
    loop {
        let (p, out_h) = draw(random);
        let products = out_h * p.out_w * p.out_c * p.k_h * p.k_w * p.in_c / p.groups;
        if products <= MOST_PRODUCTS {
            return (p, out_h);
        }
    }
}

/// Rows of an operand, row by row with what lies behind each, and what padding reads as.
#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) x: Vec<i8>,
    pub(crate) row: usize,
    pub(crate) pad: i8,
}

impl Operand {
    pub(crate) fn random(random: &mut Random, rows: usize, elements: usize) -> Operand {
        let row = elements + [0, 0, 5][random.below(3)];
        Operand { x: random.bytes(rows * row), row, pad: random.next() as i8 }
    }

    /// The element of a channel of a pixel, which may be in the padding.
    pub(crate) fn at(&self, p: &Conv, y: usize, x: usize, c: usize) -> i32 {
        match (y.checked_sub(p.pad_top), x.checked_sub(p.pad_left)) {
            (Some(y), Some(x)) if y < p.in_h && x < p.in_w => self.x[y * self.row + x * p.in_c + c].into(),
            _ => self.pad.into(),
        }
    }
}

/// Memory with bytes around it that nothing may change.
pub(crate) struct Guarded<T> {
    all: Vec<T>,
    before: Vec<T>,
    margin: usize,
}

impl<T: Copy + PartialEq + std::fmt::Debug> Guarded<T> {
    /// Of that content. Half of them fill an allocation to its end, so that tools notice what is read beyond it.
    pub(crate) fn new(random: &mut Random, content: &[T], value: impl Fn(&mut Random) -> T) -> Guarded<T> {
        let margin = 70 * random.below(2);
        let mut all: Vec<T> = (0..margin).map(|_| value(random)).collect();
        all.extend(content);
        all.extend((0..margin).map(|_| value(random)));
        Guarded { before: all.clone(), all, margin }
    }

    pub(crate) fn cells(&mut self) -> &[Cell<T>] {
        let end = self.all.len() - self.margin;
        &cells(&mut self.all)[self.margin..end]
    }

    /// Nothing changed but in the middle, which is now `content`.
    pub(crate) fn assert(&self, content: &[T], what: &str) {
        let (margin, end) = (self.margin, self.all.len() - self.margin);
        assert_eq!(&self.all[margin..end], content, "{what}");
        assert_eq!(self.all[..margin], self.before[..margin], "{what}: before");
        assert_eq!(self.all[end..], self.before[end..], "{what}: behind");
    }
}

/// A kernel and what surrounds its calls. Of the shape counts which rows of the operand a row of the result reads.
pub(crate) struct Check<'a> {
    pub(crate) p: &'a Conv,
    pub(crate) out_h: usize,
    pub(crate) operand: &'a Operand,
    /// Rows of results.
    pub(crate) expected: &'a [i8],
    pub(crate) filters: FilterBlocks<'a>,
    /// Bytes of the workspace; none for kernels that have neither workspace nor filters.
    pub(crate) work: usize,
    /// Whether rows of results may be longer than what is written of them.
    pub(crate) longer: bool,
    pub(crate) what: String,
}

impl Check<'_> {
    /// Calls it in bands of random heights, with operands that are whole, and rings; and with too small a workspace, filters and result.
    pub(crate) fn run(
        &self,
        random: &mut Random,
        kernel: impl Fn(Rows<'_, i8>, &FilterBlocks<'_>, &[Cell<i32>], Rows<'_, i8>, Band),
    ) {
        let (p, what) = (self.p, &self.what);
        let len = self.expected.len() / self.out_h;
        let row = len + if self.longer { [0, 0, 7][random.below(3)] } else { 0 };
        let mut content = random.bytes(self.out_h * row);
        let mut y = Guarded::new(random, &content, |random| random.next() as i8);
        let words: Vec<i32> = (0..self.work.div_ceil(4)).map(|_| random.next() as i32).collect();
        let mut work = Guarded::new(random, &words, |random| random.next() as i32);
        let mut all = self.operand.x.clone();
        let whole = Rows::whole(cells(&mut all), self.operand.row);
        let every = Band { first: 0, rows: self.out_h };

        if !words.is_empty() {
            let rows = Rows::ring(y.cells(), row, self.out_h);
            kernel(whole, &self.filters, &work.cells()[1..], rows, every);
            y.assert(&content, &format!("{what}: too small a workspace"));
        }
        if let Some((_, less)) = self.filters.blocks.split_last() {
            let filters = FilterBlocks { blocks: less, ..self.filters };
            kernel(whole, &filters, work.cells(), Rows::ring(y.cells(), row, self.out_h), every);
            y.assert(&content, &format!("{what}: too small filters"));
        }

        let mut first = 0;
        while first < self.out_h {
            let rows = random.within(1, self.out_h - first);
            let band = Band { first, rows };
            let results = Rows::ring(y.cells(), row, self.out_h);
            if random.below(2) == 0 {
                kernel(whole, &self.filters, work.cells(), results, band);
            } else {
                let (x, row) = (&self.operand.x, self.operand.row);
                let mut held = held(random, p, band, x, row, Random::bytes);
                let ring = held.len() / row.max(1);
                let x = Rows::ring(cells(&mut held), row, ring);
                kernel(x, &self.filters, work.cells(), results, band);
            }
            for r in band.range() {
                content[r * row..][..len].copy_from_slice(&self.expected[r * len..][..len]);
            }
            y.assert(&content, &format!("{what}: {band:?} of {p:?}"));
            first += rows;
        }
        // Nothing beside the workspace.
        let used: Vec<i32> = work.cells().iter().map(Cell::get).collect();
        work.assert(&used, what);
        self.without_last_row(random, row, &kernel);
    }

    /// The result's last row is not there.
    fn without_last_row(
        &self,
        random: &mut Random,
        row: usize,
        kernel: &impl Fn(Rows<'_, i8>, &FilterBlocks<'_>, &[Cell<i32>], Rows<'_, i8>, Band),
    ) {
        let len = self.expected.len() / self.out_h;
        let mut content = random.bytes(self.out_h * row - 1);
        let mut y = Guarded::new(random, &content, |random| random.next() as i8);
        let mut work = vec![0; self.work.div_ceil(4)];
        let mut x = self.operand.x.clone();
        let x = Rows::whole(cells(&mut x), self.operand.row);
        let every = Band { first: 0, rows: self.out_h };
        kernel(x, &self.filters, cells(&mut work), Rows::ring(y.cells(), row, self.out_h), every);
        for r in 0..self.out_h - 1 {
            content[r * row..][..len].copy_from_slice(&self.expected[r * len..][..len]);
        }
        y.assert(&content, &format!("{}: without a last row", self.what));
    }

    /// The operand's last row is not there: it reads as padding, of which `expected` computes the results.
    pub(crate) fn without_operand_row(
        &self,
        expected: impl Fn(&Operand) -> Vec<i8>,
        kernel: impl Fn(Rows<'_, i8>, &FilterBlocks<'_>, &[Cell<i32>], Rows<'_, i8>, Band),
    ) {
        let mut operand = self.operand.clone();
        let mut x = operand.x.clone();
        x.pop();
        operand.x[(self.p.in_h - 1) * operand.row..].fill(operand.pad);
        let (mut y, mut work) = (vec![0; self.expected.len()], vec![0; self.work.div_ceil(4)]);
        let x = Rows::ring(cells(&mut x), operand.row, self.p.in_h);
        let rows = Rows::whole(cells(&mut y), self.expected.len() / self.out_h);
        kernel(x, &self.filters, cells(&mut work), rows, Band { first: 0, rows: self.out_h });
        assert_eq!(y, expected(&operand), "{}: {:?} without a last row of the operand", self.what, self.p);
    }
}
