//! Many elements made one: means, sums, largest and smallest ones, and where these are.

use super::number::{Arithmetic, Count, Ordered};
use super::sum::clip;
use super::walk::Walk;
use crate::arch::extent::{product, product_of};
use crate::arch::opaque;
use crate::fixed::to_i8;
use crate::params::{Along, Reduce, Scale};

use core::cell::Cell;

/// Mean of `i8` elements, as TFLite Micro's `MEAN` computes it: `Σ (x − x_zero)` rescaled by `scale`, which contains 1 / count, plus `out_zero`, clamped to `lo..=hi`.
#[inline(never)]
pub fn mean_i8(
    p: &Reduce,
    x_zero: i32,
    scale: &Scale,
    out_zero: i32,
    lo: i32,
    hi: i32,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
) {
    let add = |sum: i32, x: i8| sum.wrapping_add(x.into()).wrapping_sub(x_zero);
    reduce(p, x, y, 0, add, |sum| to_i8(scale.apply(sum), out_zero, lo, hi));
}

/// As [`mean_i8`], but `Σ (x − x_zero)` is rescaled as a float, and rounded half to even: ONNX Runtime's `QLinearGlobalAveragePool`.
#[inline(never)]
pub fn mean_i8_float(
    p: &Reduce,
    x_zero: i32,
    factor: f32,
    out_zero: i32,
    lo: i32,
    hi: i32,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
) {
    let factor = opaque(factor);
    let add = |sum: i32, x: i8| sum.wrapping_add(x.into()).wrapping_sub(x_zero);
    reduce(p, x, y, 0, add, |sum| to_i8(super::math::round_even(sum as f32 * factor), out_zero, lo, hi));
}

/// Mean of floats, summed in the operand's order, clamped to `lo..=hi`.
#[inline(never)]
pub fn mean_f32(p: &Reduce, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let count = p.inner.iter().fold(1usize, |n, &dim| n.wrapping_mul(dim));
    reduce(p, x, y, 0.0, |sum: f32, x: f32| sum + x, |sum| clip(sum / count as f32, lo, hi));
}

/// Sum of plain numbers, in the operand's order.
#[inline(never)]
pub fn reduce_sum<T: Arithmetic>(p: &Reduce, x: &[Cell<T>], y: &[Cell<T>]) {
    reduce(p, x, y, T::ZERO, T::plus, |sum| sum);
}

/// Product of plain numbers, in the operand's order.
#[inline(never)]
pub fn reduce_product<T: Arithmetic>(p: &Reduce, x: &[Cell<T>], y: &[Cell<T>]) {
    reduce(p, x, y, T::ONE, T::times, |product| product);
}

/// Product of `i8` elements, as LiteRT's `REDUCE_PROD`: of `x − x_zero`, rescaled by `scale` after each factor but the first, and in the end; plus `out_zero`.
#[inline(never)]
pub fn reduce_product_i8(
    p: &Reduce,
    x_zero: i32,
    scale: &Scale,
    out_zero: i32,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
) {
    let times = |product: Option<i32>, x: i8| {
        let x = i32::from(x).wrapping_sub(x_zero);
        Some(product.map_or(x, |product| scale.apply_wide(i64::from(product).wrapping_mul(x.into()))))
    };
    let finish =
        |product: Option<i32>| to_i8(scale.apply_wide(product.unwrap_or(1).into()), out_zero, -128, 127);
    reduce(p, x, y, None, times, finish);
}

/// The largest element.
#[inline(never)]
pub fn reduce_max<T: Ordered>(p: &Reduce, x: &[Cell<T>], y: &[Cell<T>]) {
    reduce(p, x, y, T::LOWEST, |most, x| if x > most { x } else { most }, |most| most);
}

/// The smallest element.
#[inline(never)]
pub fn reduce_min<T: Ordered>(p: &Reduce, x: &[Cell<T>], y: &[Cell<T>]) {
    reduce(p, x, y, T::HIGHEST, |least, x| if x < least { x } else { least }, |least| least);
}

/// Of each row of `depth` elements, the indices of the `k` largest ones, the largest first, and of equal ones the first.
#[inline(never)]
pub fn top_k<T: Ordered>(depth: usize, k: usize, x: &[Cell<T>], y: &[Cell<i32>]) {
    // What is no number is below all numbers, and like itself.
    let is_number = |x: T| x.partial_cmp(&x).is_some();
    let above = |a: T, b: T| a > b || (is_number(a) && !is_number(b));
    for (x, y) in x.chunks_exact(depth.max(1)).zip(y.chunks_exact(k.max(1))) {
        let mut last: Option<(T, usize)> = None;
        for y in y {
            let mut best: Option<(T, usize)> = None;
            for (i, x) in x.iter().enumerate() {
                let x = x.get();
                let behind = last.is_none_or(|(most, at)| above(most, x) || (!above(x, most) && i > at));
                if behind && best.is_none_or(|(most, _)| above(x, most)) {
                    best = Some((x, i));
                }
            }
            let Some((_, at)) = best else { break };
            y.set(at as i32);
            last = best;
        }
    }
}

/// Index of the largest element along an axis, the first one of several.
#[inline(never)]
pub fn arg_max<T: Ordered, I: Count>(p: &Along, x: &[Cell<T>], y: &[Cell<I>]) {
    arg(p, x, y, |x, best| x > best);
}

/// Index of the smallest element along an axis, the first one of several.
#[inline(never)]
pub fn arg_min<T: Ordered, I: Count>(p: &Along, x: &[Cell<T>], y: &[Cell<I>]) {
    arg(p, x, y, |x, best| x < best);
}

#[inline(always)]
fn arg<T: Copy, I: Count>(p: &Along, x: &[Cell<T>], y: &[Cell<I>], better: impl Fn(T, T) -> bool) {
    let block = p.len.wrapping_mul(p.inner).max(1);
    for (x, y) in x.chunks_exact(block).zip(y.chunks_exact(p.inner.max(1))) {
        for (first, y) in y.iter().enumerate() {
            let mut run = x.iter().skip(first).step_by(p.inner.max(1)).map(Cell::get).enumerate();
            let Some((mut at, mut best)) = run.next() else { return };
            for (i, x) in run {
                if better(x, best) {
                    (at, best) = (i, x);
                }
            }
            y.set(I::count(at));
        }
    }
}

#[inline(always)]
fn cumsum<T: Arithmetic>(p: &Along, exclusive: bool, reverse: bool, x: &[Cell<T>], y: &[Cell<T>]) {
    let inner = p.inner.max(1);
    let block = product(p.len, inner);
    if block == 0 {
        return;
    }
    for (x, y) in x.chunks_exact(block).zip(y.chunks_exact(block)) {
        for first in 0..inner {
            let mut sum = T::ZERO;
            for i in 0..p.len {
                let i = if reverse { p.len.wrapping_sub(1).wrapping_sub(i) } else { i };
                let at = first.wrapping_add(i.wrapping_mul(inner));
                let (Some(x), Some(y)) = (x.get(at), y.get(at)) else { return };
                let with = sum.plus(x.get());
                y.set(if exclusive { sum } else { with });
                sum = with;
            }
        }
    }
}

macro_rules! cumulative {
    ($($vis:vis fn $name:ident: $t:ident;)+) => { $(
        /// Sums of all elements up to each one along an axis, from its end on if `REVERSE`, without the element itself if `EXCLUSIVE`.
        #[inline(never)]
        $vis fn $name<const EXCLUSIVE: bool, const REVERSE: bool>(p: &Along, x: &[Cell<$t>], y: &[Cell<$t>]) {
            cumsum(p, EXCLUSIVE, REVERSE, x, y);
        }
    )+ };
}

cumulative! { pub fn cumsum_f32: f32; pub fn cumsum_i32: i32; pub fn cumsum_i64: i64; }

/// Folds the reduced elements of each index of the kept axes.
#[inline(always)]
pub(crate) fn reduce<T: Copy, A: Copy>(
    p: &Reduce,
    x: &[Cell<T>],
    y: &[Cell<T>],
    start: A,
    fold: impl Fn(A, T) -> A,
    finish: impl Fn(A) -> T,
) {
    let [.., outer_n] = p.outer;
    let [.., outer_step] = p.outer_strides;
    let [.., inner_n] = p.inner;
    let [.., inner_step] = p.inner_strides;
    // Reduced axes have an element for each of their indices.
    if product_of(p.inner) > x.len() {
        return;
    }
    let kept = Walk::new(&p.outer, [(&p.outer_strides, 0)]);
    for (y, [mut first]) in y.chunks_exact(outer_n.max(1)).zip(kept) {
        for y in y {
            let mut acc = start;
            for [mut at] in Walk::new(&p.inner, [(&p.inner_strides, first)]) {
                for _ in 0..inner_n {
                    let Some(x) = x.get(at) else { return };
                    acc = fold(acc, x.get());
                    at = at.wrapping_add(inner_step);
                }
            }
            y.set(finish(acc));
            first = first.wrapping_add(outer_step);
        }
    }
}
