//! Conv, of images and of sequences, which are images of one row.

use super::cx::NodeCx;
use super::{describe, Lowered, Refusal};
use crate::ir::{Clamp, Op, Padding, Rescale, ValueId, Window};

/// From \[n, c, h, w\] to \[n, h, w, c\].
const LAST: [usize; 4] = [0, 2, 3, 1];
/// And back.
const FIRST: [usize; 4] = [0, 3, 1, 2];

/// An image \[n, c, h, w\], or a sequence \[n, c, w\], channel-last.
pub(super) fn channel_last(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let image = match *cx.dims(x) {
        [n, c, w] => cx.reshaped(x, &[n, c, 1, w])?,
        [_, _, _, _] => x,
        _ => {
            let what = format!("{} is neither an image nor a sequence", describe(cx.ty(x)));
            return Err(Refusal::unsupported(what, "use two-dimensional convolutions and poolings"));
        }
    };
    cx.transposed(image, &LAST)
}

/// A channel-last image as one of so many axes, channel-first.
pub(super) fn channel_first(cx: &mut NodeCx<'_, '_, '_>, y: ValueId, rank: usize) -> Lowered<ValueId> {
    let image = cx.transposed(y, &FIRST)?;
    match *cx.dims(image) {
        [n, c, 1, w] if rank == 3 => cx.reshaped(image, &[n, c, w]),
        _ => Ok(image),
    }
}

/// The window of a convolution or pooling of an image of that height and width.
pub(super) fn window(
    cx: &NodeCx<'_, '_, '_>,
    size: [usize; 2],
    image: [usize; 2],
    rank: usize,
) -> Lowered<Window> {
    let axes = rank - 2;
    let pair = |name: &str, otherwise: usize| -> Lowered<[usize; 2]> {
        match cx.sizes(name)?.as_deref() {
            None => Ok([otherwise; 2]),
            Some(&[h, w]) if axes == 2 => Ok([h, w]),
            Some(&[w]) if axes == 1 => Ok([otherwise, w]),
            Some(list) => Err(Refusal::malformed(format!("its {name} are {list:?}"))),
        }
    };
    let (stride, dilation) = (pair("strides", 1)?, pair("dilations", 1)?);
    if stride.contains(&0) || dilation.contains(&0) || size.contains(&0) {
        return Err(Refusal::malformed("a stride, dilation or size of its window is 0"));
    }
    let reach =
        |axis: usize| (size[axis] - 1).checked_mul(dilation[axis]).and_then(|reach| reach.checked_add(1));
    let same = |axis: usize| -> Option<usize> {
        let out = image[axis].div_ceil(stride[axis]);
        Some(
            (out.checked_sub(1)?.checked_mul(stride[axis])?.checked_add(reach(axis)?)?)
                .saturating_sub(image[axis]),
        )
    };
    let too_large = || Refusal::malformed("its window is too large");
    let pad = match cx.text("auto_pad") {
        b"" | b"NOTSET" => match cx.sizes("pads")?.as_deref() {
            None => Padding::default(),
            Some(&[top, left, bottom, right]) if axes == 2 => Padding { top, bottom, left, right },
            Some(&[left, right]) if axes == 1 => Padding { left, right, ..Padding::default() },
            Some(list) => return Err(Refusal::malformed(format!("its pads are {list:?}"))),
        },
        b"VALID" => Padding::default(),
        kind @ (b"SAME_UPPER" | b"SAME_LOWER") => {
            let [h, w] = [same(0).ok_or_else(too_large)?, same(1).ok_or_else(too_large)?];
            let (top, left) =
                if kind == b"SAME_UPPER" { (h / 2, w / 2) } else { (h.div_ceil(2), w.div_ceil(2)) };
            Padding { top, bottom: h - top, left, right: w - left }
        }
        other => {
            return Err(Refusal::malformed(format!("its auto_pad is {:?}", String::from_utf8_lossy(other))));
        }
    };
    Ok(Window { size, stride, dilation, pad })
}

/// Conv.
pub(super) fn conv(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, w, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    cx.want_float(x)?;
    let rank = cx.dims(x).len();
    let image = channel_last(cx, x)?;
    let &[n, h, width, c] = &*cx.dims(image) else { return Err(Refusal::malformed("no image")) };
    let weights = match *cx.dims(w) {
        [o, c, kw] if rank == 3 => cx.reshaped(w, &[o, c, 1, kw])?,
        [_, _, _, _] if rank == 4 => w,
        _ => {
            let what = format!("weights {} do not fit {}", describe(cx.ty(w)), describe(cx.ty(x)));
            return Err(Refusal::malformed(what));
        }
    };
    let stored = cx.dequantized(weights).is_some();
    let Some(data) = cx.known(weights).or_else(|| cx.known(w)) else {
        let help = "export the model with constant weights";
        return Err(Refusal::unsupported("its weights are computed at run time", help));
    };
    let &[o, depth, kh, kw] = &*cx.dims(weights) else { return Err(Refusal::malformed("no weights")) };
    let groups = usize::try_from(cx.int("group", 1)).unwrap_or(0);
    if groups == 0 || c != depth * groups || o % groups != 0 {
        let what =
            format!("weights {} in {groups} groups do not fit {}", describe(cx.ty(w)), describe(cx.ty(x)));
        return Err(Refusal::malformed(what));
    }
    let weights = if stored {
        cx.transposed(weights, &LAST)?
    } else {
        let (from, taps) = (data.to_f32(), kh * kw);
        let filter =
            |o: usize| (0..taps).flat_map(move |tap| (0..depth).map(move |i| (o * depth + i) * taps + tap));
        let ordered: Vec<f32> = (0..o).flat_map(filter).filter_map(|at| from.get(at).copied()).collect();
        cx.float_constant("weights", &[o, kh, kw, depth], &ordered)?
    };
    let window = window(cx, [kh, kw], [h, width], rank)?;
    let Some([out_h, out_w]) = window.output([h, width]) else {
        return Err(Refusal::malformed(format!("a {kh}×{kw} window does not fit a {h}×{width} image")));
    };
    let mut operands = vec![image, weights];
    operands.extend(bias);
    let op = Op::Conv2d {
        window,
        groups,
        rescale: Rescale::Real,
        clamp: Clamp::NO_FLOAT,
        layout: Default::default(),
    };
    let y = cx.add_like(op, &operands, &[n, out_h, out_w, o])?;
    let y = channel_first(cx, y, rank)?;
    cx.bind(0, y)
}
