//! Poolings.

use super::conv::{channel_first, channel_last, window};
use super::cx::NodeCx;
use super::{describe, Lowered, Refusal};
use crate::ir::{Clamp, Op, Padding, Reduction, Rescale};

/// AveragePool.
pub(super) fn average(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    pool(cx, true)
}

/// MaxPool, without indices.
pub(super) fn max(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    if cx.node.outputs.get(1).is_some_and(|name| !name.is_empty()) {
        let help = "leave the indices out";
        return Err(Refusal::unsupported("the indices of the largest elements cannot be compiled", help));
    }
    pool(cx, false)
}

fn pool(cx: &mut NodeCx<'_, '_, '_>, average: bool) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let rank = cx.dims(x).len();
    let mut image = channel_last(cx, x)?;
    let &[n, mut h, mut w, c] = &*cx.dims(image) else { return Err(Refusal::malformed("no image")) };
    let size = match cx.sizes("kernel_shape")?.as_deref() {
        Some(&[kh, kw]) if rank == 4 => [kh, kw],
        Some(&[kw]) if rank == 3 => [1, kw],
        list => return Err(Refusal::malformed(format!("its kernel_shape is {:?}", list.unwrap_or(&[])))),
    };
    let mut window = window(cx, size, [h, w], rank)?;
    if window.dilation != [1, 1] {
        let help = "use a pooling without dilation";
        return Err(Refusal::unsupported("a pooling with gaps in its window cannot be compiled", help));
    }
    if average && cx.int("count_include_pad", 0) != 0 && window.pad != Padding::default() {
        // Zeros that count are elements of the image.
        let Padding { top, bottom, left, right } = window.pad;
        (h, w) = (h + top + bottom, w + left + right);
        let op = Op::Pad { before: vec![0, top, left, 0], after: vec![0, bottom, right, 0], value: 0 };
        image = cx.add_like(op, &[image], &[n, h, w, c])?;
        window.pad = Padding::default();
    }
    if cx.int("ceil_mode", 0) != 0 {
        // A last window that begins inside the image, or in the padding before it, may end beyond.
        let more = |image: usize, before: usize, after: usize, size: usize, stride: usize| {
            let room = (image + before + after).saturating_sub(size);
            let windows = room.div_ceil(stride);
            let begins_inside = windows * stride < image + before;
            let windows = if begins_inside { windows } else { windows.saturating_sub(1) };
            (windows * stride).saturating_sub(room)
        };
        let Padding { top, bottom, left, right } = window.pad;
        window.pad.bottom += more(h, top, bottom, size[0], window.stride[0]);
        window.pad.right += more(w, left, right, size[1], window.stride[1]);
    }
    let Some([out_h, out_w]) = window.output([h, w]).filter(|_| window.meets([h, w])) else {
        let what = format!("a {}×{} window does not fit {}", size[0], size[1], describe(cx.ty(x)));
        return Err(Refusal::malformed(what));
    };
    let clamp = Clamp::NO_FLOAT;
    let op = if average { Op::AvgPool2d { window, clamp } } else { Op::MaxPool2d { window, clamp } };
    let y = cx.add_like(op, &[image], &[n, out_h, out_w, c])?;
    let y = channel_first(cx, y, rank)?;
    cx.bind(0, y)
}

/// GlobalAveragePool.
pub(super) fn global_average(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    global(cx, |axes| Op::Mean { axes, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT })
}

/// GlobalMaxPool.
pub(super) fn global_max(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    global(cx, |axes| Op::Reduce { function: Reduction::Max, axes, rescale: Rescale::Real })
}

fn global(cx: &mut NodeCx<'_, '_, '_>, op: impl Fn(Vec<usize>) -> Op) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let mut dims = cx.dims(x);
    if dims.len() < 3 {
        return Err(Refusal::malformed(format!("{} is no image", describe(cx.ty(x)))));
    }
    dims[2..].fill(1);
    cx.emit(op((2..dims.len()).collect()), &[x], &dims)
}
