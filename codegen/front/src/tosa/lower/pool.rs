//! AVG_POOL2D and MAX_POOL2D.

use super::conv::{filtered, Filtering};
use super::cx::Cx;
use super::reduce::Total;
use super::scale::Scale;
use super::{Lowered, One, Operators, Slot};
use kiln_ir::{Clamp, DType, Data, Op, Padding, Type, ValueId, Window};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[("AVG_POOL2D", One(average)), ("MAX_POOL2D", One(largest))];

/// The window of attributes: size, stride and padding; and the shape of the result.
fn window(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<(Window, [usize; 4])> {
    let &[n, h, w, c] = &*cx.dims(x) else { return Err(malformed!("{} is no image", cx.ty(x))) };
    let (size, stride) = (cx.size_list(0, "window", 1)?, cx.size_list(1, "stride", 1)?);
    let [top, bottom, left, right] = cx.size_list(2, "padding", 0)?;
    let window = Window { size, stride, dilation: [1; 2], pad: Padding { top, bottom, left, right } };
    let Some([out_h, out_w]) = window.output([h, w]).filter(|_| window.meets([h, w])) else {
        return Err(malformed!("a window of {size:?} does not fit a {h}×{w} image"));
    };
    let dims = [n, out_h, out_w, c];
    crate::onnx::lower::check_size(DType::I64, &dims)?;
    Ok((window, dims))
}

/// MAX_POOL2D.
fn largest(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let (window, dims) = window(cx, x)?;
    let clamp = cx.ty(x).dtype.whole_range();
    cx.means().add_like(Op::MaxPool2d { window, clamp }, &[x], &dims)
}

/// AVG_POOL2D: of what is inside the image.
fn average(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let (own, out) = (cx.zero_point(1)?, cx.zero_point(2)?);
    let (window, dims) = window(cx, x)?;
    let dtype = cx.ty(x).dtype;
    let clamp = dtype.whole_range();
    if dtype == DType::F32 {
        return cx.means().add_like(Op::AvgPool2d { window, clamp }, &[x], &dims);
    }
    malformed_if!(!matches!(dtype, DType::I8 | DType::I16), "an average of {}", dtype.name());
    let [kh, kw] = window.size;
    let count = kh.saturating_mul(kw);
    let is_whole = window.pad == Padding::default();
    let of = |count: usize| Scale {
        zeros: [0, out],
        dtypes: [if dtype == DType::I16 { DType::I64 } else { DType::I32 }, dtype],
        ..reciprocal(count)
    };
    // Means are rounded half away from the zero point, those of the graph half away from 0. Without a middle both are the same.
    if own == out && (own == 0 || (is_whole && count % 2 == 1)) && count < 1 << 16 {
        let x = cx.stored(x, own)?;
        return cx.means().add_like(Op::AvgPool2d { window, clamp }, &[x], &dims);
    }
    let all = cx.dims(x);
    if is_whole && [kh, kw] == [all[1], all[2]] {
        let total = Total { x, zero: own, axes: vec![1, 2], factor: 1 };
        if let Some(y) = cx.total(&total, &dims, &of(count))? {
            return Ok(y);
        }
    }
    if is_whole {
        return as_layer(cx, x, own, window, &of(count));
    }
    counted(cx, x, [own, out], window, dims)
}

/// 1 / count, as the specification has it: a multiplier and a shift.
fn reciprocal(count: usize) -> Scale {
    let count = count.clamp(1, 1 << 24) as i64;
    let bits = 64 - (count - 1).leading_zeros();
    Scale {
        multipliers: Rc::from([(((1i64 << 30) + 1) << bits) / count]),
        shifts: Rc::from([30 + bits]),
        twice: false,
        zeros: [0; 2],
        dtypes: [DType::I32, DType::I8],
        unsigned: [false; 2],
    }
}

/// A depthwise convolution with ones for weights.
fn as_layer(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    zero: i64,
    window: Window,
    scale: &Scale,
) -> Lowered<ValueId> {
    let c = cx.dims(x).last().copied().unwrap_or(1);
    let ([kh, kw], groups) = (window.size, c);
    cx.importer.means.budget.charge(c.saturating_mul(kh).saturating_mul(kw))?;
    let ones = Data::from_i8(&vec![1; c * kh * kw]);
    let filters = cx.importer.means.graph.add_const("ones", Type::plain(DType::I8, &[c, kh, kw, 1]), ones);
    let bias = cx.means().int_constant("no bias", DType::I32, &[c], &vec![0; c])?;
    let zeros = [zero, 0];
    let sums = filtered(
        cx,
        Filtering { image: x, filters, bias, zeros, window, groups, then: Vec::new(), copies: 1 },
    )?;
    let Slot::Lazy(id) = sums else { return Err(malformed!("an average without sums")) };
    if let Some(y) = cx.narrowed(id, scale)? {
        return Ok(y);
    }
    let sums = cx.computed(id)?;
    cx.rescaled(sums, scale)
}

/// Averages at edges are of fewer numbers: each place has a factor of its own.
fn counted(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    [own, out]: [i64; 2],
    window: Window,
    dims: [usize; 4],
) -> Lowered<ValueId> {
    let all = cx.dims(x);
    let dtype = cx.ty(x).dtype;
    let inside = |axis: usize, at: usize, before: usize| {
        let begin = at * window.stride[axis];
        let end = (begin + window.size[axis]).saturating_sub(before).min(all[axis + 1]);
        end.saturating_sub(begin.saturating_sub(before))
    };
    let place = |k: usize| {
        let (row, column) = (k / dims[2], k % dims[2]);
        reciprocal(inside(0, row, window.pad.top) * inside(1, column, window.pad.left))
    };
    let places: Vec<Scale> = (0..dims[1] * dims[2]).map(place).collect();
    cx.importer.means.budget.charge(64 * places.len())?;
    let c = dims[3];
    let [kh, kw] = window.size;
    let x = cx.plain(x)?;
    let mut means = cx.means();
    let wide = means.cast(x, DType::I32)?;
    let centred = means.plus(wide, -(own as f64))?;
    // Bytes have sums that floats hold; of 16 bits, the upper ones and the lower ones by themselves.
    let step = means.number(centred, 256.0)?;
    let parts = match dtype {
        DType::I16 => {
            let high = means.binary(kiln_ir::Binary::FloorDiv, centred, step)?;
            vec![(high, 256.0), (means.binary(kiln_ir::Binary::FloorMod, centred, step)?, 1.0)]
        }
        _ => vec![(centred, 1.0)],
    };
    let ones = means.float_constant("ones", &[c, kh, kw, 1], &vec![1.0; c * kh * kw])?;
    let mut sum = None;
    for (part, factor) in parts {
        let part = means.cast(part, DType::F32)?;
        let op = Op::Conv2d {
            window,
            groups: c,
            rescale: kiln_ir::Rescale::Real,
            clamp: Clamp::NO_FLOAT,
            layout: Default::default(),
        };
        let y = means.add_like(op, &[part, ones], &dims)?;
        let y = means.cast(y, DType::I64)?;
        let y = means.times(y, factor)?;
        sum = Some(match sum {
            Some(sum) => means.sum(sum, y)?,
            None => y,
        });
    }
    let sum = sum.ok_or_else(|| malformed!("an average without sums"))?;
    let map = [1, dims[1], dims[2], 1];
    let list = |of: &dyn Fn(&Scale) -> i64| places.iter().map(of).collect::<Vec<i64>>();
    let by = means.int_constant("multipliers", DType::I64, &map, &list(&|scale| scale.of(0).0))?;
    let half = means.int_constant("halves", DType::I64, &map, &list(&|scale| 1i64 << (scale.of(0).1 - 1)))?;
    let step = means.int_constant("steps", DType::I64, &map, &list(&|scale| 1i64 << scale.of(0).1))?;
    let product = means.product(sum, by)?;
    let moved = means.sum(product, half)?;
    let y = means.binary(kiln_ir::Binary::FloorDiv, moved, step)?;
    let y = means.plus(y, out as f64)?;
    let (lo, hi) = dtype.int_range().unwrap_or((0, 0));
    let (lo, hi) = (means.number(y, lo as f64)?, means.number(y, hi as f64)?);
    let y = means.binary(kiln_ir::Binary::Max, y, lo)?;
    let y = means.binary(kiln_ir::Binary::Min, y, hi)?;
    let y = means.cast(y, dtype)?;
    cx.stored(y, out)
}
