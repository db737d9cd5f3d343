//! Layers of integers: sums of products with constant weights, and how they become narrow integers.

use super::cx::Cx;
use super::scale::Scale;
use super::Lowered;
use kiln_ir::{Clamp, DType, Data, Multiplier, Op, Quant, Rescale, Type, ValueId, Window};
use std::rc::Rc;

/// The sums of a convolution \[n, h, w, o\] of an image with constant filters.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// \[n, h, w, c\], of 8 or 16 bits.
    pub(super) image: ValueId,
    /// The stored value of 0.
    pub(super) zero: i64,
    /// Filters \[o, kh, kw, c / groups\], less their zero point.
    pub(super) filters: Rc<[i16]>,
    pub(super) filter_dims: [usize; 4],
    /// One for each filter.
    pub(super) bias: Rc<[i64]>,
    pub(super) window: Window,
    pub(super) groups: usize,
    /// The shape of the sums.
    pub(super) dims: [usize; 4],
    /// How the result is arranged in the end.
    pub(super) then: Vec<Move>,
    /// How many filters each channel of the result has, of which all have the same factor.
    pub(super) copies: usize,
}

/// What moves elements.
#[derive(Clone, Debug)]
pub(super) enum Move {
    Reshape(Vec<usize>),
    Transpose(Vec<usize>),
    /// The part of a shape that begins there.
    Slice(Vec<usize>, Vec<usize>),
}

impl Sums {
    /// The smallest and largest sum of each filter.
    pub(super) fn reach(&self, dtype: DType) -> Vec<(i64, i64)> {
        let (lo, hi) = dtype.int_range().unwrap_or((0, 0));
        let (lo, hi) = ((lo - self.zero).min(0), (hi - self.zero).max(0));
        let filter = self.filter_dims[1..].iter().product::<usize>().max(1);
        let of = |(filter, &bias): (&[i16], &i64)| {
            filter.iter().fold((bias, bias), |(least, most), &w| {
                let (a, b) = (i64::from(w) * lo, i64::from(w) * hi);
                (least.saturating_add(a.min(b)), most.saturating_add(a.max(b)))
            })
        };
        self.filters.chunks(filter).zip(self.bias.iter()).map(of).collect()
    }
}

impl Cx<'_, '_, '_> {
    /// Sums that become narrow integers, as a layer; `None` where no layer has the same results.
    pub(super) fn layer(&mut self, sums: &Sums, scale: &Scale) -> Lowered<Option<ValueId>> {
        let dtype = self.ty(sums.image).dtype;
        if scale.unsigned[1] || scale.dtypes[1] != dtype || scale.zeros[0] != 0 {
            return Ok(None);
        }
        let found = match dtype {
            DType::I8 => bytes(sums, scale),
            DType::I16 if sums.zero == 0 && scale.zeros[1] == 0 => words(sums, scale),
            _ => None,
        };
        let Some((rescale, bias)) = found else { return Ok(None) };
        let narrow = sums.filters.iter().all(|&w| i8::try_from(w).is_ok());
        let fits = narrow || dtype == DType::I8;
        let (lo, hi) = scale.range();
        let within = |zero: i64| (lo..=hi).contains(&zero);
        if !fits || !within(sums.zero) || !within(scale.zeros[1]) {
            return Ok(None);
        }
        let image = self.stored(sums.image, sums.zero)?;
        let weights = self.weights(sums, if narrow { DType::I8 } else { DType::I16 })?;
        let bias = self.means().int_constant("bias", bias, &[sums.bias.len()], &sums.bias)?;
        let ty = Type::quantized(dtype, &sums.dims, 1.0, scale.zeros[1] as i32);
        let clamp = Clamp::Int { lo: lo as i32, hi: hi as i32 };
        let [_, kh, kw, depth] = sums.filter_dims;
        let [_, h, w, _] = sums.dims;
        let is_point = [kh, kw, h, w] == [1; 4] && self.dims(image)[1..] == [1, 1, depth] && sums.groups == 1;
        let y = if is_point {
            let n = sums.dims[0];
            let x = self.means().reshaped(image, &[n, depth])?;
            let weights = self.means().reshaped(weights, &[sums.bias.len(), depth])?;
            let op = Op::Dense { rescale, clamp };
            let y = self.means().add(op, &[x, weights, bias], ty.with_shape(&[n, sums.bias.len()]))?;
            self.means().reshaped(y, &sums.dims)?
        } else {
            let (window, groups) = (sums.window, sums.groups);
            let op = Op::Conv2d { window, groups, rescale, clamp, layout: Default::default() };
            self.means().add(op, &[image, weights, bias], ty)?
        };
        self.moved(y, &sums.then).map(Some)
    }

    /// The filters as a constant around 0.
    fn weights(&mut self, sums: &Sums, dtype: DType) -> Lowered<ValueId> {
        let quant = Some(Quant::per_tensor(1.0, 0));
        let ty = Type { quant, ..Type::plain(dtype, &sums.filter_dims) };
        self.importer.means.budget.charge(ty.bytes())?;
        let data = Data::from_ints(dtype, sums.filters.iter().copied().map(i64::from));
        Ok(self.importer.means.graph.add_const("weights", ty, data))
    }

    /// Moves elements, one way after the other.
    pub(super) fn moved(&mut self, x: ValueId, moves: &[Move]) -> Lowered<ValueId> {
        let mut y = x;
        for step in moves {
            let mut cx = self.means();
            y = match step {
                Move::Reshape(dims) => cx.reshaped(y, dims)?,
                Move::Transpose(perm) => cx.transposed(y, perm)?,
                Move::Slice(begin, dims) if cx.dims(y) == *dims && begin.iter().all(|&at| at == 0) => y,
                Move::Slice(begin, dims) => {
                    let op = Op::Slice { begin: begin.clone(), step: vec![1; dims.len()] };
                    cx.add_like(op, &[y], dims)?
                }
            };
        }
        Ok(y)
    }
}

/// How sums of bytes become bytes, and the elements of the bias; `None` where no layer rounds so.
fn bytes(sums: &Sums, scale: &Scale) -> Option<(Rescale, DType)> {
    if sums.bias.iter().any(|&bias| i32::try_from(bias).is_err()) {
        return None;
    }
    let reach = sums.reach(DType::I8);
    let by = factors(sums, scale)?;
    let (lo, _) = scale.range();
    let is_exact = |(filter, &(least, most)): (usize, &(i64, i64))| {
        let by = by.get(if by.len() == 1 { 0 } else { filter });
        let fits = |sum: i64, by: &Multiplier| i32::try_from(sum << by.shift.clamp(0, 30)).is_ok();
        by.is_some_and(|by| {
            let is_sound = fits(least, by) && fits(most, by);
            // Rounding half away from zero is rounding half up, if no sum below zero is in the middle, or none has a result of its own.
            is_sound && (scale.twice || scale.zeros[1] <= lo || !has_middle(*by, least))
        })
    };
    let fits = reach.iter().enumerate().all(is_exact);
    let rescale = if scale.twice { Rescale::FixedPoint(by.clone()) } else { Rescale::Once(by.clone()) };
    fits.then_some((rescale, DType::I32))
}

/// Whether a sum from `least` to −1 is in the middle between two results.
pub(super) fn has_middle(by: Multiplier, least: i64) -> bool {
    let shift = 31 - by.shift;
    let zeros = by.value.trailing_zeros() as i32;
    if by.value == 0 || zeros >= shift {
        return false;
    }
    // Such a sum is an odd multiple of that.
    let step = shift - 1 - zeros;
    step < 62 && least <= -(1i64 << step)
}

/// How sums of integers of 16 bits become such: by 16 bits of a multiplier.
fn words(sums: &Sums, scale: &Scale) -> Option<(Rescale, DType)> {
    let count = if scale.is_single() { 1 } else { sums.bias.len() / sums.copies };
    let of = |channel: usize| {
        let (multiplier, shift) = scale.of(channel);
        // The graph's multiplier has 31 bits, of which the upper 16 count, and a shift of at most 7.
        let by = Multiplier { value: i32::try_from(multiplier << 16).ok()?, shift: 15 - shift as i32 };
        let is_sound = (1 << 14..0x7fff).contains(&multiplier) && (-31..=7).contains(&by.shift);
        is_sound.then_some(by)
    };
    let by = (0..count).map(of).collect::<Option<Vec<Multiplier>>>()?;
    let by = if count == 1 { by } else { by.repeat(sums.copies) };
    Some((Rescale::FixedPoint(by), DType::I64))
}

/// The factors of all filters.
fn factors(sums: &Sums, scale: &Scale) -> Option<Vec<Multiplier>> {
    let by = scale.normal(sums.bias.len() / sums.copies)?;
    Some(if by.len() == 1 { by } else { by.repeat(sums.copies) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_are_found() {
        // A half: −1 is in the middle between 0 and −1.
        assert!(has_middle(Multiplier { value: 1 << 30, shift: 0 }, -1));
        assert!(!has_middle(Multiplier { value: 1 << 30, shift: 0 }, 0));
        // An eighth: −4.
        let eighth = Multiplier { value: 1 << 30, shift: -2 };
        assert!(has_middle(eighth, -4) && !has_middle(eighth, -3));
        assert!(!has_middle(Multiplier::ONE, -1000));
        assert!(!has_middle(Multiplier { value: 1_395_353_561, shift: -6 }, -(1 << 30)));
    }
}
