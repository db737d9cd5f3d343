//! Float weights that are integers with scales, as quantised weights are once they are dequantised.
//!
//! It does not matter how the file stores them, nor what passes made of them. Integers and scales are looked for in the floats: for each group of weights a scale of which all of them are multiples,
//! rounded as kernels round. So kernels compute with the same floats. Weights that a pass has multiplied by something else have no such scale in general. They stay floats.

use super::conv::whole;
use super::shape::Shape;
use super::{Arg, Selector};
use crate::ir::Node;
use kiln_ir::error::Problem;

/// Integers are differences of two bytes: of a weight and a zero point.
const MOST: u32 = 255;
/// The smallest group that is looked for within a filter.
const SMALLEST_GROUP: usize = 16;
/// Weights that are compared at most: so many for each weight, and some.
const WORK: usize = 64;
const MORE_WORK: usize = 1 << 20;

/// Weights of one filter after the other as integers with scales.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scaled {
    /// An integer for each weight: of 4 bits, if all of them are so small.
    pub(super) ints: Vec<i8>,
    /// Whether all integers have 4 bits.
    pub(super) are_nibbles: bool,
    /// Of each group.
    pub(super) scales: Vec<f32>,
    /// Of each group; none where all are 0.
    pub(super) zero_points: Vec<i8>,
    /// Weights of a group.
    pub(super) group: usize,
}

impl Scaled {
    /// The integers that so many filters of floats are; `None` where they are none. Groups are filters or all of them, or also parts of filters (`by_parts`).
    pub(super) fn of(weights: &[f32], filters: usize, by_parts: bool) -> Option<Scaled> {
        let size = weights.len().checked_div(filters).filter(|&size| size > 0)?;
        let mut work = weights.len().saturating_mul(WORK).saturating_add(MORE_WORK);
        let whole = [weights.len(), size].into_iter().filter_map(|group| grouped(weights, group, &mut work));
        let whole = whole.min_by_key(Scaled::bytes);
        whole.or_else(|| {
            let most = if by_parts { size / 2 } else { 0 };
            let parts = (SMALLEST_GROUP..=most).rev().filter(|part| size % part == 0);
            parts.into_iter().find_map(|part| grouped(weights, part, &mut work))
        })
    }

    /// Bytes in flash.
    pub(super) fn bytes(&self) -> usize {
        let ints = if self.are_nibbles { self.ints.len().div_ceil(2) } else { self.ints.len() };
        ints + 4 * self.scales.len() + self.zero_points.len()
    }
}

impl<'a> Selector<'a> {
    /// The rows of a matrix product as the pixels of one row, so that they share the floats of weights: the convolution that it then is, operand and result. `None` where there is one row, and
    /// where the result lies over the operand: several pixels are written before all of their operands are read.
    pub(super) fn rows_as_pixels(&self, node: &'a Node) -> Result<Option<[Arg; 3]>, Problem> {
        let (rx, ry) = (self.region(node.operands[0])?, self.region(node.result)?);
        let end = |region: super::Region| region.offset + region.len * region.element.bytes();
        let apart = rx.memory != ry.memory || end(rx) <= ry.offset || end(ry) <= rx.offset;
        let shape =
            Shape::of_dense(self.graph, node).filter(|shape| shape.in_w > 1 && apart && !self.in_loop);
        let Some(shape) = shape else { return Ok(None) };
        Ok(Some([Arg::Struct(self.conv_params(&shape)), whole(rx, rx.len), whole(ry, ry.len)]))
    }
}

/// The integers in groups of so many.
fn grouped(weights: &[f32], group: usize, work: &mut usize) -> Option<Scaled> {
    let groups = weights.chunks(group).map(|group| Group::of(group, work)).collect::<Option<Vec<_>>>()?;
    let are_nibbles = groups.iter().all(|group| group.span() < 16);
    let (least, most) = if are_nibbles { (-8, 7) } else { (i8::MIN.into(), i8::MAX.into()) };
    let mut zero_points = Vec::with_capacity(groups.len());
    let mut ints = Vec::with_capacity(weights.len());
    for group in &groups {
        // Zero, if the integers fit as they are.
        let zero = if group.lo < least { least - group.lo } else { (most - group.hi).min(0) };
        zero_points.push(i8::try_from(zero).ok()?);
        for int in &group.ints {
            ints.push(i8::try_from(int + zero).ok()?);
        }
    }
    if zero_points.iter().all(|&zero| zero == 0) {
        zero_points.clear();
    }
    let scales = groups.iter().map(|group| group.scale).collect();
    Some(Scaled { ints, are_nibbles, scales, zero_points, group })
}

/// Weights with one scale.
struct Group {
    scale: f32,
    /// Multiples of the scale.
    ints: Vec<i32>,
    lo: i32,
    hi: i32,
}

impl Group {
    /// A group whose largest integer is as small as possible; `None` where there is none.
    fn of(weights: &[f32], work: &mut usize) -> Option<Group> {
        let largest = weights.iter().fold(0.0, |largest: f32, w| largest.max(w.abs()));
        if !weights.iter().all(|w| w.is_finite()) {
            return None;
        }
        if largest == 0.0 {
            return Group::with(weights, 1.0, work);
        }
        (1..=MOST).find_map(|int| {
            // Of all numbers whose product is rounded to the largest weight, none is further from the quotient.
            let near = (largest / int as f32).to_bits();
            let scales = [near, near.wrapping_sub(1), near.wrapping_add(1)].map(f32::from_bits);
            scales.into_iter().find_map(|scale| Group::with(weights, scale, work))
        })
    }

    /// The group with that scale.
    fn with(weights: &[f32], scale: f32, work: &mut usize) -> Option<Group> {
        if !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        let is_multiple = |w: &f32| {
            *work = work.checked_sub(1)?;
            multiple(*w, scale)
        };
        let ints = weights.iter().map(is_multiple).collect::<Option<Vec<i32>>>()?;
        let (lo, hi) = ints.iter().fold((0, 0), |(lo, hi), &int| (int.min(lo), int.max(hi)));
        (hi - lo <= MOST as i32).then_some(Group { scale, ints, lo, hi })
    }

    fn span(&self) -> i32 {
        self.hi - self.lo
    }
}

/// The integer whose product with the scale is that weight, to the bit.
fn multiple(weight: f32, scale: f32) -> Option<i32> {
    let int = (weight / scale).round();
    let fits = int.abs() <= MOST as f32 && (scale * (int as i32) as f32).to_bits() == weight.to_bits();
    fits.then_some(int as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What kernels make of the integers.
    fn floats(scaled: &Scaled) -> Vec<f32> {
        let float = |(i, int): (usize, &i8)| {
            let group = i / scaled.group;
            let zero = scaled.zero_points.get(group).map_or(0, |&zero| i32::from(zero));
            scaled.scales[group] * (i32::from(*int) - zero) as f32
        };
        scaled.ints.iter().enumerate().map(float).collect()
    }

    /// Numbers from 0 to below a bound.
    fn numbers(mut seed: u64, below: u64) -> impl FnMut() -> u64 {
        move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        }
    }

    #[test]
    fn whatever_was_quantised_is_found() {
        let mut draw = numbers(3, 1 << 31);
        let mut below = |n: u64| draw() % n;
        for round in 0..300 {
            let (bits, parts) = (if round % 2 == 0 { 8 } else { 4 }, 1 + below(3) as usize);
            let (filters, size) = (1 + below(5) as usize, parts * (16 + below(40) as usize));
            let group = [size * filters, size, size / parts][round % 3];
            let groups = filters * size / group;
            let steps = 1u64 << bits;
            let least = -(steps as i32) / 2;
            let scales: Vec<f32> = (0..groups).map(|_| (1 + below(1 << 24)) as f32 * 1e-9).collect();
            let zeros: Vec<i32> =
                (0..groups).map(|_| if round % 5 < 3 { 0 } else { least + below(steps) as i32 }).collect();
            let weights: Vec<f32> = (0..filters * size)
                .map(|i| scales[i / group] * (least + below(steps) as i32 - zeros[i / group]) as f32)
                .collect();
            let found = Scaled::of(&weights, filters, true).unwrap();
            assert_eq!(floats(&found), weights);
            assert!(found.are_nibbles || bits == 8, "{found:?}");
            assert!(found.scales.len() <= groups);
        }
    }

    #[test]
    fn other_floats_are_no_integers() {
        let mut draw = numbers(5, 1 << 24);
        let mut weights: Vec<f32> = (0..256).map(|_| draw() as f32 / 1e7 - 0.8).collect();
        assert_eq!(Scaled::of(&weights, 4, true), None);
        weights.iter_mut().enumerate().for_each(|(i, w)| *w = (i % 100) as f32 * 0.3);
        let found = Scaled::of(&weights, 4, true).unwrap();
        assert_eq!((found.scales.len(), found.bytes(), found.zero_points.len()), (1, 260, 0));
        for other in [-0.0, f32::INFINITY, f32::NAN, 0.3000001] {
            weights[200] = other;
            assert_eq!(Scaled::of(&weights, 1, false), None, "{other}");
        }
        assert_eq!(Scaled::of(&weights, 0, true), None);
        assert_eq!(Scaled::of(&[], 1, true), None);
    }

    #[test]
    fn zeros_and_the_smallest_numbers_are_multiples() {
        assert_eq!(floats(&Scaled::of(&[0.0; 40], 2, true).unwrap()), [0.0; 40]);
        let tiny: Vec<f32> = (0..40).map(f32::from_bits).collect();
        assert_eq!(floats(&Scaled::of(&tiny, 2, true).unwrap()), tiny);
    }
}
