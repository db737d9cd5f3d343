//! What expressions are in plain integers: exact, whatever they are made of.

use super::cx::Cx;
use super::lazy::{Kind, Pair, Single};
use super::scale::Scale;
use super::Lowered;
use kiln_ir::{Binary, Comparison, DType, ValueId};

impl Cx<'_, '_, '_> {
    /// An expression of these dimensions, in plain integers.
    pub(super) fn made(&mut self, kind: &Kind, dims: &[usize]) -> Lowered<ValueId> {
        match kind {
            Kind::Leaf(x) => Ok(*x),
            Kind::Known(number) => {
                let ones = vec![1; dims.len()];
                let known = self.means().int_constant("number", DType::I32, &ones, &[*number])?;
                self.means().repeated(known, dims)
            }
            Kind::Rescaled(x, scale) => {
                let x = self.computed(*x)?;
                self.rescaled(x, scale)
            }
            Kind::Pair(function, x, y) => {
                let (x, y) = (self.computed(*x)?, self.computed(*y)?);
                self.of_pair(*function, x, y)
            }
            Kind::Single(function, x) => {
                let x = self.computed(*x)?;
                self.of_single(*function, x)
            }
            Kind::Sums(sums) => self.plain_sums(sums),
            Kind::Product(product) => self.plain_product(product),
            Kind::Total(total) => self.plain_total(total, dims),
        }
    }

    /// An operator's function of two integers of 32 bits.
    pub(super) fn of_pair(&mut self, function: Pair, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        let mut cx = self.means();
        match function {
            Pair::Add => cx.sum(x, y),
            Pair::Sub => cx.difference(x, y),
            Pair::Max => cx.binary(Binary::Max, x, y),
            Pair::Min => cx.binary(Binary::Min, x, y),
            Pair::Mul(0) => cx.product(x, y),
            Pair::Mul(shift) => {
                let (x, y) = (cx.cast(x, DType::I64)?, cx.cast(y, DType::I64)?);
                let product = cx.product(x, y)?;
                let y = self.shifted_down(product, shift)?;
                self.means().cast(y, DType::I32)
            }
        }
    }

    fn of_single(&mut self, function: Single, x: ValueId) -> Lowered<ValueId> {
        match function {
            Single::Abs => self.magnitude(x),
            Single::Clamp(lo, hi) => {
                let mut cx = self.means();
                let lo = cx.int_constant("least", DType::I32, &[], &[lo])?;
                let hi = cx.int_constant("most", DType::I32, &[], &[hi])?;
                let x = cx.binary(Binary::Max, x, lo)?;
                cx.binary(Binary::Min, x, hi)
            }
        }
    }

    /// The magnitude of integers.
    pub(super) fn magnitude(&mut self, x: ValueId) -> Lowered<ValueId> {
        let mut cx = self.means();
        let zero = cx.number(x, 0.0)?;
        let less = cx.difference(zero, x)?;
        cx.binary(Binary::Max, x, less)
    }

    /// An integer of 64 bits by 2^−shift, rounded half up.
    pub(super) fn shifted_down(&mut self, x: ValueId, shift: u32) -> Lowered<ValueId> {
        if shift == 0 {
            return Ok(x);
        }
        let mut cx = self.means();
        let half = cx.int_constant("half", DType::I64, &[], &[1i64 << (shift - 1)])?;
        let step = cx.int_constant("step", DType::I64, &[], &[1i64 << shift])?;
        let moved = cx.sum(x, half)?;
        cx.binary(Binary::FloorDiv, moved, step)
    }

    /// RESCALE of a computed tensor: in integers of 64 bits.
    pub(super) fn rescaled(&mut self, x: ValueId, scale: &Scale) -> Lowered<ValueId> {
        let wide = self.as_number(x, scale)?;
        let (lo, hi) = scale.range();
        let mut cx = self.means();
        let zero = cx.int_constant("zero point", DType::I64, &[], &[scale.zeros[0]])?;
        let centred = if scale.zeros[0] == 0 { wide } else { cx.difference(wide, zero)? };
        let mut y = match scale.whole() {
            Some(1) => centred,
            Some(whole) => {
                let factor = cx.int_constant("factor", DType::I64, &[], &[whole])?;
                cx.product(centred, factor)?
            }
            None => self.scaled(centred, scale)?,
        };
        let mut cx = self.means();
        if scale.zeros[1] != 0 {
            let zero = cx.int_constant("zero point", DType::I64, &[], &[scale.zeros[1]])?;
            y = cx.sum(y, zero)?;
        }
        // Sums of 32 bits that are multiplied by whole numbers are meant to fit.
        if scale.whole().is_none() || scale.dtypes[1] != DType::I32 {
            let lo = cx.int_constant("least", DType::I64, &[], &[lo])?;
            let hi = cx.int_constant("most", DType::I64, &[], &[hi])?;
            y = cx.binary(Binary::Max, y, lo)?;
            y = cx.binary(Binary::Min, y, hi)?;
        }
        let narrow = cx.cast(y, scale.dtypes[1])?;
        match (scale.dtypes[1], scale.unsigned[1]) {
            (DType::I8 | DType::I16, false) => self.stored(narrow, scale.zeros[1]),
            _ => Ok(narrow),
        }
    }

    /// Stored integers as numbers of 64 bits.
    fn as_number(&mut self, x: ValueId, scale: &Scale) -> Lowered<ValueId> {
        let mut cx = self.means();
        let wide = cx.cast(x, DType::I64)?;
        let size = match (scale.dtypes[0], scale.unsigned[0]) {
            (DType::I8, true) => 256,
            (DType::I16, true) => 65536,
            _ => return Ok(wide),
        };
        let size = cx.int_constant("size", DType::I64, &[], &[size])?;
        cx.binary(Binary::FloorMod, wide, size)
    }

    /// Integers of 64 bits times the factors of a scale.
    fn scaled(&mut self, x: ValueId, scale: &Scale) -> Lowered<ValueId> {
        let count = scale.multipliers.len();
        let dims: &[usize] = if count == 1 { &[] } else { &[count] };
        let list =
            |of: &dyn Fn(u32) -> i64| scale.shifts.iter().map(|&shift| of(shift)).collect::<Vec<i64>>();
        let halves = list(&|shift| 1i64 << (shift - 1));
        let steps = list(&|shift| 1i64 << shift);
        let firsts = list(&|shift| if shift > 31 { 1 << 30 } else { 0 });
        let mut cx = self.means();
        let by = cx.int_constant("multipliers", DType::I64, dims, &scale.multipliers)?;
        let half = cx.int_constant("halves", DType::I64, dims, &halves)?;
        let step = cx.int_constant("steps", DType::I64, dims, &steps)?;
        let product = cx.product(x, by)?;
        let mut moved = cx.sum(product, half)?;
        if scale.twice && firsts.iter().any(|&first| first != 0) {
            let first = cx.int_constant("firsts", DType::I64, dims, &firsts)?;
            let zero = cx.number(x, 0.0)?;
            let less = cx.difference(zero, first)?;
            let is_below = cx.compared(Comparison::Less, x, zero)?;
            let first = cx.choice(is_below, less, first)?;
            moved = cx.sum(moved, first)?;
        }
        cx.binary(Binary::FloorDiv, moved, step)
    }
}
