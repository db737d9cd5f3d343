//! Ops that have the same results as what the file has for them, for all operands.
//!
//! Of expressions of two bytes all 65,536 results are compared. So no derivation is trusted: whatever does not agree is computed in plain integers.

use super::cx::Cx;
use super::lazy::{Kind, LazyId, Pair};
use super::scale::Scale;
use super::Lowered;
use kiln_interp::rescaled;
use kiln_ir::{AddRescale, Binary, Clamp, DType, Multiplier, Op, Real, Rescale, Shape, Type, ValueId};

/// Neighbours of a factor that are tried on either side.
const TRIED: i64 = 96;

impl Cx<'_, '_, '_> {
    /// An expression that becomes bytes, or a layer that becomes narrow integers: as an op. `None` where there is none.
    pub(super) fn narrowed(&mut self, id: LazyId, scale: &Scale) -> Lowered<Option<ValueId>> {
        let lazy = self.importer.lazies.get(id);
        let (kind, dims) = (lazy.kind.clone(), lazy.dims.clone());
        match &kind {
            Kind::Sums(sums) => return self.layer(sums, scale),
            Kind::Product(product) => return self.product(product, scale),
            Kind::Total(total) => return self.total(total, &dims, scale),
            _ if scale.dtypes[1] != DType::I8 || !scale.is_single() => return Ok(None),
            _ => {}
        }
        if let Some(x) = self.importer.lazies.leaf(id) {
            let list: Vec<i64> =
                (-128..128).map(|byte| scale.apply(self.importer.lazies.at(id, byte))).collect();
            let of = |byte: i64| {
                usize::try_from(byte + 128).ok().and_then(|at| list.get(at)).copied().unwrap_or(0)
            };
            let y = self.tabulated(x, of, scale)?;
            return self.spread(y, &dims).map(Some);
        }
        match kind {
            Kind::Pair(function, x, y) if !scale.unsigned[1] => self.pair(function, x, y, scale, &dims),
            _ => Ok(None),
        }
    }

    /// A tensor of so many elements under another shape, or repeated to it.
    fn spread(&mut self, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
        let own = self.ty(x).shape.numel();
        match own == dims.iter().product::<usize>() {
            true => self.means().reshaped(x, dims),
            false => self.means().repeated(x, dims),
        }
    }

    /// A function of two tensors of bytes.
    fn pair(
        &mut self,
        function: Pair,
        x: LazyId,
        y: LazyId,
        scale: &Scale,
        dims: &[usize],
    ) -> Lowered<Option<ValueId>> {
        let lazies = &self.importer.lazies;
        let (Some(a), Some(b)) = (lazies.leaf(x), lazies.leaf(y)) else { return Ok(None) };
        if Shape::common(&self.dims(a), &self.dims(b)).as_deref() != Some(dims) {
            return Ok(None);
        }
        let list = |id: LazyId| (-128..128).map(|byte| lazies.at(id, byte)).collect::<Vec<i64>>();
        let pairs = Pairs { a: list(x), b: list(y), function, scale };
        if let Pair::Max | Pair::Min = function {
            return self.chosen(a, b, &pairs, dims).map(Some);
        }
        let (Some(a_by), Some(b_by)) = (Line::of(&pairs.a), Line::of(&pairs.b)) else { return Ok(None) };
        let op = match function {
            Pair::Add | Pair::Sub => pairs.sum(a_by, b_by),
            _ => pairs.product(a_by, b_by),
        };
        let Some(op) = op else { return Ok(None) };
        let operands = [self.stored(a, a_by.zero)?, self.stored(b, b_by.zero)?];
        let ty = Type::quantized(DType::I8, dims, 1.0, scale.zeros[1] as i32);
        self.means().add(op, &operands, ty).map(Some)
    }

    /// The larger or smaller one. What is done to it can be done to both, because it keeps their order.
    fn chosen(&mut self, a: ValueId, b: ValueId, pairs: &Pairs<'_>, dims: &[usize]) -> Lowered<ValueId> {
        let of = |list: &[i64], byte: i64| {
            let at = usize::try_from(byte + 128).ok();
            pairs.scale.apply(at.and_then(|at| list.get(at)).copied().unwrap_or(0))
        };
        let a = self.tabulated(a, |byte| of(&pairs.a, byte), pairs.scale)?;
        let b = self.tabulated(b, |byte| of(&pairs.b, byte), pairs.scale)?;
        let function = if pairs.function == Pair::Max { Binary::Max } else { Binary::Min };
        let op = Op::Binary { function, rescale: Rescale::Real, clamp: Clamp::I8 };
        self.means().add_like(op, &[a, b], dims)
    }

    /// The operands of a comparison of expressions as stored bytes, where that is the same.
    pub(super) fn compared_bytes(&mut self, x: LazyId, y: LazyId) -> Lowered<Option<[ValueId; 2]>> {
        let lazies = &self.importer.lazies;
        let (Some((a, zero, by)), Some((b, own, other))) = (lazies.centred(x), lazies.centred(y)) else {
            return Ok(None);
        };
        if (zero, by) != (own, other) {
            return Ok(None);
        }
        Ok(Some([self.stored(a, zero)?, self.stored(b, zero)?]))
    }
}

/// A line through the values of a function of a byte: factor · (byte − zero).
#[derive(Clone, Copy)]
struct Line {
    zero: i64,
    factor: f64,
}

impl Line {
    /// `None` of functions that are no lines through zero, rounded.
    fn of(list: &[i64]) -> Option<Line> {
        let zero = list.iter().position(|&value| value == 0)? as i64 - 128;
        let (first, last) = (*list.first()?, *list.last()?);
        let factor = (last - first) as f64 / 255.0;
        let is_near = |(at, &value): (usize, &i64)| {
            ((at as i64 - 128 - zero) as f64 * factor - value as f64).abs() <= 2.0
        };
        (factor > 0.0 && list.iter().enumerate().all(is_near)).then_some(Line { zero, factor })
    }
}

/// A function of all pairs of bytes.
struct Pairs<'s> {
    a: Vec<i64>,
    b: Vec<i64>,
    function: Pair,
    scale: &'s Scale,
}

impl Pairs<'_> {
    /// Whether another function has the same results: of bytes, by their places.
    fn are_those_of(&self, of: impl Fn(usize, usize) -> i64) -> bool {
        (0..self.a.len()).all(|i| (0..self.b.len()).all(|j| self.at(i, j) == of(i, j)))
    }

    fn at(&self, i: usize, j: usize) -> i64 {
        self.scale.apply(self.function.apply(self.a[i], self.b[j]))
    }

    /// What becomes of a result without zero point and clamp.
    fn finished(&self, result: Option<i32>) -> i64 {
        let (lo, hi) = self.scale.range();
        result.map_or(i64::MAX, |result| (i64::from(result) + self.scale.zeros[1]).clamp(lo, hi))
    }

    /// ADD or SUB with a factor for each operand.
    fn sum(&self, a: Line, b: Line) -> Option<Op> {
        let out = self.scale.factor(0);
        let largest = a.factor.max(b.factor);
        let by = [a.factor, b.factor].map(|factor| Multiplier::of(factor / (2.0 * largest)));
        let [Some(x), Some(y)] = by else { return None };
        let sign = if self.function == Pair::Sub { -1 } else { 1 };
        for left_shift in [20, 21, 19, 18, 17, 16] {
            let whole = Multiplier::of(2.0 * largest * out / f64::from(1 << left_shift))?;
            let scaled = |zero: i64, by: Multiplier| -> Vec<i32> {
                let by = Rescale::FixedPoint(vec![by]);
                let of = |byte: i64| rescaled(&by, ((byte - zero) << left_shift) as i32, 0).unwrap_or(0);
                (-128..128).map(of).collect()
            };
            let (xs, ys) = (scaled(a.zero, x), scaled(b.zero, y));
            for step in around(8) {
                let value = i64::from(whole.value) + step;
                let Some(by) = i32::try_from(value).ok().filter(|&value| value >= 1 << 30) else { continue };
                let by = Multiplier { value: by, ..whole };
                let rounded = Rescale::FixedPoint(vec![by]);
                let of = |i: usize, j: usize| {
                    self.finished(rescaled(&rounded, xs[i].wrapping_add(sign * ys[j]), 0))
                };
                if self.are_those_of(of) {
                    let rescale = AddRescale::FixedPoint { left_shift, x, y, out: by };
                    let clamp = Clamp::I8;
                    return Some(match self.function {
                        Pair::Sub => Op::Sub { rescale, clamp },
                        _ => Op::Add { rescale, clamp },
                    });
                }
            }
        }
        None
    }

    /// MUL.
    fn product(&self, a: Line, b: Line) -> Option<Op> {
        let shift = match self.function {
            Pair::Mul(shift) => shift,
            _ => 0,
        };
        let by = a.factor * b.factor * self.scale.factor(0) / f64::from(shift).exp2();
        let product = |i: usize, j: usize| ((i as i64 - 128 - a.zero) * (j as i64 - 128 - b.zero)) as i32;
        let fits =
            |rescale: &Rescale| self.are_those_of(|i, j| self.finished(rescaled(rescale, product(i, j), 0)));
        let fixed = Multiplier::of(by).map(|by| Rescale::FixedPoint(vec![by]));
        let rescale = factors(by).map(|by| Rescale::Float(vec![by])).chain(fixed).find(fits)?;
        Some(Op::Mul { rescale, clamp: Clamp::I8 })
    }
}

/// The floats nearest to a factor, the nearest one first.
pub(super) fn factors(by: f64) -> impl Iterator<Item = Real> {
    let nearest = (by as f32).to_bits();
    let at =
        move |step: i64| u32::try_from(i64::from(nearest) + step).ok().map(|bits| Real(f32::from_bits(bits)));
    around(TRIED).filter_map(at).filter(|real| real.0.is_finite() && real.0 > 0.0)
}

/// 0, 1, −1, 2, −2, …
fn around(most: i64) -> impl Iterator<Item = i64> {
    (0..=2 * most).map(|k| if k % 2 == 1 { (k + 1) / 2 } else { -(k / 2) })
}
