//! RESIZE of images \[n, h, w, c\].

use super::cx::Cx;
use super::{Lowered, One, Operators};
use crate::onnx::lower::check_size;
use kiln_ir::{DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[("RESIZE", One(resize))];

/// `NEAREST` and `BILINEAR` in the schema.
const NEAREST: i64 = 1;
const BILINEAR: i64 = 2;

/// One axis: element `i` of the result lies at (i · d + offset) / n of the operand.
struct Axis {
    size: usize,
    out: usize,
    n: i64,
    d: i64,
    offset: i64,
}

impl Axis {
    fn of(size: usize, n: i64, d: i64, offset: i64, border: i64) -> Option<Axis> {
        let sound = (1..=1 << 24).contains(&n) && (1..=1 << 24).contains(&d);
        if !sound || offset.abs() > 1 << 40 || border.abs() > 1 << 40 || size == 0 || size > 1 << 24 {
            return None;
        }
        let all = (size as i64 - 1).checked_mul(n)? - offset + border;
        let out = usize::try_from(all.div_euclid(d) + 1).ok().filter(|&out| (1..=1 << 24).contains(&out))?;
        Some(Axis { size, out, n, d, offset })
    }

    /// The element of the operand before element `i`, and how far behind it that is, of `n`.
    fn at(&self, i: usize) -> (i64, i64) {
        let place = i as i64 * self.d + self.offset;
        (place.div_euclid(self.n), place.rem_euclid(self.n))
    }

    fn inside(&self, at: i64) -> usize {
        at.clamp(0, self.size as i64 - 1) as usize
    }

    /// Whether a pixel counts as its corner, or its centre, or both images have the same corners; `None` in other cases.
    fn kind(&self) -> Option<(bool, bool)> {
        let (size, out) = (self.size as i64, self.out as i64);
        let is = |n: i64, d: i64, offset: i64| self.n * d == self.d * n && self.offset * n == offset * self.n;
        if is(2 * out, 2 * size, size - out) {
            return Some((false, true));
        }
        if is(out, size, 0) {
            return Some((false, false));
        }
        (out > 1 && size > 1 && is(out - 1, size - 1, 0)).then_some((true, false))
    }
}

/// RESIZE.
fn resize(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let (scale, offset, border) = (cx.sizes(1)?, cx.sizes(2)?, cx.sizes(3)?);
    let &[n, h, w, c] = &*cx.dims(x) else { return Err(malformed!("{} is no image", cx.ty(x))) };
    let (&[ny, dy, nx, dx], &[oy, ox], &[by, bx]) = (&*scale, &*offset, &*border) else {
        return Err(malformed!("its scale is {scale:?}, its offset {offset:?} and its border {border:?}"));
    };
    let misfit =
        || malformed!("a scale of {scale:?} with offset {offset:?} and border {border:?} does not fit");
    let rows = Axis::of(h, ny, dy, oy, by).ok_or_else(misfit)?;
    let columns = Axis::of(w, nx, dx, ox, bx).ok_or_else(misfit)?;
    let dims = [n, rows.out, columns.out, c];
    check_size(DType::I64, &dims)?;
    match (cx.int(0)?, cx.ty(x).dtype) {
        (NEAREST, _) => {
            let y = nearest(cx, x, 1, &rows)?;
            nearest(cx, y, 2, &columns)
        }
        (BILINEAR, DType::F32) => {
            if let (Some(own), Some(other)) = (rows.kind(), columns.kind()) {
                if own == other {
                    let op = Op::ResizeBilinear { align_corners: own.0, half_pixel: own.1 };
                    return cx.means().add_like(op, &[x], &dims);
                }
            }
            let y = between(cx, x, 1, &rows)?;
            between(cx, y, 2, &columns)
        }
        (BILINEAR, dtype) => {
            let x = cx.plain(x)?;
            let wide = if dtype == DType::I16 { DType::I64 } else { DType::I32 };
            let x = cx.means().cast(x, wide)?;
            let y = between(cx, x, 1, &rows)?;
            between(cx, y, 2, &columns)
        }
        (mode, _) => Err(malformed!("there is no mode {mode}")),
    }
}

/// The nearer one of two elements; of two as near, the second one.
fn nearest(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, along: &Axis) -> Lowered<ValueId> {
    let of = |i: usize| {
        let (first, rest) = along.at(i);
        along.inside(if 2 * rest >= along.n { first + 1 } else { first })
    };
    let list: Vec<usize> = (0..along.out).map(of).collect();
    cx.means().picked(x, axis, &list)
}

/// Two neighbours with their weights; integers are `n` times as large afterwards.
fn between(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, along: &Axis) -> Lowered<ValueId> {
    let places: Vec<(i64, i64)> = (0..along.out).map(|i| along.at(i)).collect();
    let first: Vec<usize> = places.iter().map(|&(at, _)| along.inside(at)).collect();
    let second: Vec<usize> = places.iter().map(|&(at, _)| along.inside(at + 1)).collect();
    let dtype = cx.ty(x).dtype;
    let mut shape = vec![1; 4];
    shape[axis] = along.out;
    let mut means = cx.means();
    let mut weights = |of: &dyn Fn(i64) -> i64| -> Lowered<ValueId> {
        let list: Vec<i64> = places.iter().map(|&(_, rest)| of(rest)).collect();
        match dtype {
            DType::F32 => {
                let list: Vec<f32> = list.iter().map(|&weight| weight as f32 / along.n as f32).collect();
                means.float_constant("weights", &shape, &list)
            }
            dtype => means.int_constant("weights", dtype, &shape, &list),
        }
    };
    let (before, behind) = (weights(&|rest| along.n - rest)?, weights(&|rest| rest)?);
    let a = means.picked(x, axis, &first)?;
    let b = means.picked(x, axis, &second)?;
    let (a, b) = (means.product(a, before)?, means.product(b, behind)?);
    means.sum(a, b)
}
