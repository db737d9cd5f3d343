//! Images, which are channel-first in ONNX and channel-last in the graph; windows over them, and convolutions.

use super::cx::NodeCx;
use super::{Lowered, Refusal};
use kiln_ir::{Clamp, Op, Padding, Rescale, ValueId, Window};

/// From \[n, c, h, w\] to \[n, h, w, c\].
pub(super) const LAST: [usize; 4] = [0, 2, 3, 1];
/// And back.
const FIRST: [usize; 4] = [0, 3, 1, 2];

/// An image \[n, c, h, w\], or a sequence \[n, c, w\], channel-last.
pub(super) fn channel_last(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let image = match *cx.dims(x) {
        [n, c, w] => cx.reshaped(x, &[n, c, 1, w])?,
        [_, _, _, _] => x,
        _ => {
            let what = format!("{} is neither an image nor a sequence", cx.shown(x));
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

/// A window along one axis of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Elements of the image.
    pub(crate) image: usize,
    /// Taps.
    pub(crate) size: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    /// Elements in front of the image, and behind it.
    pub(crate) pad: (usize, usize),
}

impl Axis {
    /// Elements from the first tap to the last one.
    fn reach(&self) -> Option<usize> {
        self.size.checked_sub(1)?.checked_mul(self.dilation)?.checked_add(1)
    }

    /// How many windows there are.
    pub(super) fn windows(&self) -> Option<usize> {
        let all = self.image.checked_add(self.pad.0)?.checked_add(self.pad.1)?;
        Some(all.checked_sub(self.reach()?)? / self.stride + 1)
    }

    /// Lets a window that is larger than its image end beyond it, by less than a stride: ONNX Runtime's poolings have one.
    pub(super) fn hold(&mut self) {
        let Some(all) = self.image.checked_add(self.pad.0).and_then(|all| all.checked_add(self.pad.1)) else {
            return;
        };
        let beyond = self.reach().map_or(0, |reach| reach.saturating_sub(all));
        if beyond < self.stride && self.image > 0 {
            self.pad.1 += beyond;
        }
    }

    /// Lets a last window that begins inside the image, or in the padding before it, end beyond.
    pub(super) fn reach_out(&mut self) {
        let Some(reach) = self.reach() else { return };
        let room = (self.image + self.pad.0 + self.pad.1).saturating_sub(reach);
        let last = room.div_ceil(self.stride);
        let begins_inside = last * self.stride < self.image + self.pad.0;
        let last = if begins_inside { last } else { last.saturating_sub(1) };
        let (end, own) = ((last * self.stride).saturating_sub(room), room / self.stride);
        self.pad.1 += end;
        // A window in the padding behind the image is none.
        if last < own {
            self.pad.1 = self.pad.1.saturating_sub((own - last) * self.stride);
        }
    }

    /// Whether every window has an element of the image in it.
    pub(super) fn always_inside(&self) -> bool {
        let Some(last) = self.windows().and_then(|windows| windows.checked_sub(1)) else { return false };
        self.pad.0 < self.size && last * self.stride < self.pad.0 + self.image
    }

    /// The window of an image, or of a sequence.
    pub(crate) fn window(axes: &[Axis]) -> Window {
        let rows = Axis { image: 1, size: 1, stride: 1, dilation: 1, pad: (0, 0) };
        let (h, w) = match *axes {
            [h, w] => (h, w),
            [w] => (rows, w),
            _ => (rows, rows),
        };
        let pad = Padding { top: h.pad.0, bottom: h.pad.1, left: w.pad.0, right: w.pad.1 };
        let [size, stride, dilation] = [[h.size, w.size], [h.stride, w.stride], [h.dilation, w.dilation]];
        Window { size, stride, dilation, pad }
    }
}

/// A list with an entry for each axis; as many of one number if there is none.
fn list(cx: &NodeCx<'_, '_, '_>, name: &str, otherwise: usize, len: usize) -> Lowered<Vec<usize>> {
    match cx.sizes(name)? {
        None => Ok(vec![otherwise; len]),
        Some(list) if list.len() == len => Ok(list),
        // Some programs write an empty list.
        Some(list) if list.is_empty() => Ok(vec![otherwise; len]),
        Some(list) => Err(malformed!("its {name} are {list:?}")),
    }
}

/// The window of a convolution along the axes of an image.
pub(super) fn window(cx: &NodeCx<'_, '_, '_>, size: &[usize], image: &[usize]) -> Lowered<Vec<Axis>> {
    padded(cx, size, image, Axis::reach)
}

/// The window of a pooling. ONNX Runtime counts no dilation where it pads so that the result is as large as the image: then it is smaller.
pub(super) fn pool_window(cx: &NodeCx<'_, '_, '_>, size: &[usize], image: &[usize]) -> Lowered<Vec<Axis>> {
    padded(cx, size, image, |axis| Some(axis.size))
}

/// A window that reaches so far where its padding follows from the image.
fn padded(
    cx: &NodeCx<'_, '_, '_>,
    size: &[usize],
    image: &[usize],
    reach: impl Fn(&Axis) -> Option<usize>,
) -> Lowered<Vec<Axis>> {
    let count = size.len();
    let (strides, dilations) = (list(cx, "strides", 1, count)?, list(cx, "dilations", 1, count)?);
    if [size, &strides, &dilations].iter().any(|list| list.contains(&0)) {
        return Err(malformed!("a stride, dilation or size of its window is 0"));
    }
    let mut axes: Vec<Axis> = (0..count)
        .map(|k| Axis {
            image: image[k],
            size: size[k],
            stride: strides[k],
            dilation: dilations[k],
            pad: (0, 0),
        })
        .collect();
    match cx.text("auto_pad") {
        b"" | b"NOTSET" => {
            let pads = list(cx, "pads", 0, 2 * count)?;
            axes.iter_mut().enumerate().for_each(|(k, axis)| axis.pad = (pads[k], pads[k + count]));
        }
        b"VALID" => {}
        kind @ (b"SAME_UPPER" | b"SAME_LOWER") => {
            for axis in &mut axes {
                let out = axis.image.div_ceil(axis.stride);
                let all = out
                    .checked_sub(1)
                    .and_then(|last| last.checked_mul(axis.stride)?.checked_add(reach(axis)?));
                let all = all.ok_or_else(|| malformed!("its window is too large"))?;
                let pad = all.saturating_sub(axis.image);
                let before = if kind == b"SAME_UPPER" { pad / 2 } else { pad.div_ceil(2) };
                axis.pad = (before, pad - before);
            }
        }
        other => {
            return Err(malformed!("its auto_pad is {:?}", String::from_utf8_lossy(other)));
        }
    }
    Ok(axes)
}

/// The part of a channel-first image that windows of a convolution lie on. Where steps are longer than windows, the padding for a result that is as large as the
/// image is negative: elements at its edges belong to no window.
pub(super) fn under_windows(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, size: &[usize]) -> Lowered<ValueId> {
    let kind = cx.text("auto_pad");
    if kind != b"SAME_UPPER" && kind != b"SAME_LOWER" {
        return Ok(x);
    }
    let image = cx.dims(x);
    let axes = window(cx, size, image.get(2..).unwrap_or_default())?;
    let mut part = x;
    for (k, axis) in axes.iter().enumerate() {
        let last = (axis.image.div_ceil(axis.stride)).saturating_sub(1);
        let Some(all) = axis.reach().and_then(|reach| reach.checked_add(last.checked_mul(axis.stride)?))
        else {
            continue;
        };
        // As ONNX Runtime divides them between both sides.
        let over = axis.image.saturating_sub(all);
        let before = over.saturating_sub(if kind == b"SAME_UPPER" { 1 } else { 2 }) / 2;
        part = cx.part(part, k + 2, before, axis.image - over, 1)?;
    }
    Ok(part)
}

/// The weights, which must be constant.
pub(super) fn weights(cx: &NodeCx<'_, '_, '_>, w: ValueId) -> Lowered<Vec<f32>> {
    cx.want_float(w)?;
    match cx.known(w) {
        Some(data) => Ok(data.to_f32()),
        None => {
            let help = "store them in the model, or use Conv of images or sequences";
            Err(Refusal::unsupported("its weights are computed at run time", help))
        }
    }
}

/// The number of groups of channels.
pub(super) fn groups(cx: &NodeCx<'_, '_, '_>) -> Lowered<usize> {
    let groups = usize::try_from(cx.int("group", 1)).ok().filter(|&groups| groups > 0);
    groups.ok_or_else(|| malformed!("it has no groups"))
}

/// Adds a convolution of a channel-last image with constant filters \[o, kh, kw, c / groups\].
pub(crate) fn convolution(
    cx: &mut NodeCx<'_, '_, '_>,
    image: ValueId,
    filters: ValueId,
    bias: Option<ValueId>,
    window: Window,
    groups: usize,
) -> Lowered<ValueId> {
    let dims = result_dims(cx, image, filters, &window)?;
    let (rescale, clamp) = (Rescale::Real, Clamp::NO_FLOAT);
    let late = bias.filter(|&bias| cx.known(bias).is_none());
    let operands: Vec<ValueId> =
        [image, filters].into_iter().chain(bias.filter(|_| late.is_none())).collect();
    let op = Op::Conv2d { window, groups, rescale, clamp, layout: Default::default() };
    let y = cx.add_like(op, &operands, &dims)?;
    match late {
        Some(bias) => cx.sum(y, bias),
        None => Ok(y),
    }
}

/// As [`convolution`] with filters that are computed at run time.
pub(super) fn computed_convolution(
    cx: &mut NodeCx<'_, '_, '_>,
    image: ValueId,
    filters: ValueId,
    bias: Option<ValueId>,
    window: Window,
    groups: usize,
) -> Lowered<ValueId> {
    let dims = result_dims(cx, image, filters, &window)?;
    let bias = match bias {
        Some(bias) => bias,
        None => cx.float_constant("no bias", &dims[3..], &vec![0.0; dims[3]])?,
    };
    let op = Op::ComputedConv2d { window, groups, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    cx.add_like(op, &[image, filters, bias], &dims)
}

/// The dimensions of a convolution's result, channel-last.
fn result_dims(
    cx: &NodeCx<'_, '_, '_>,
    image: ValueId,
    filters: ValueId,
    window: &Window,
) -> Lowered<[usize; 4]> {
    let (&[n, h, w, _], &[o, kh, kw, _]) = (&*cx.dims(image), &*cx.dims(filters)) else {
        return Err(malformed!("no image"));
    };
    let Some([out_h, out_w]) = window.output([h, w]) else {
        return Err(malformed!("a {kh}×{kw} window does not fit a {h}×{w} image"));
    };
    Ok([n, out_h, out_w, o])
}
