//! Conv of volumes \[n, c, d, h, w\]: the sum of convolutions of their slices, one for each slice of the weights.

use super::cx::NodeCx;
use super::image::{convolution, Axis};
use super::Lowered;
use kiln_ir::ValueId;

/// Conv with `weights` \[o, c / groups, kd, kh, kw\].
pub(super) fn conv(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    weights: &[f32],
    shape: &[usize],
    bias: Option<ValueId>,
    axes: &[Axis],
    groups: usize,
) -> Lowered {
    let (&[n, c, _, h, w], &[o, depth, kd, kh, kw]) = (&*cx.dims(x), shape) else {
        return Err(malformed!("{} is not a volume", cx.shown(x)));
    };
    let deep = axes[0];
    let out = deep.windows().filter(|&out| out > 0);
    let out = out.ok_or_else(|| malformed!("its window does not fit {}", cx.shown(x)))?;
    let slices = cx.transposed(x, &[0, 2, 3, 4, 1])?;
    let slices = cx.padded(slices, &[0, deep.pad.0, 0, 0, 0], &[0, deep.pad.1, 0, 0, 0], 0)?;
    let window = Axis::window(&axes[1..]);
    let taps = kh * kw;
    let mut all = None;
    for slice in 0..kd {
        let images = cx.part(slices, 1, slice * deep.dilation, out, deep.stride as i64)?;
        let images = cx.reshaped(images, &[n * out, h, w, c])?;
        let filter = |o: usize| {
            (0..taps)
                .flat_map(move |tap| (0..depth).map(move |i| ((o * depth + i) * kd + slice) * taps + tap))
        };
        let ordered: Vec<f32> = (0..o).flat_map(filter).filter_map(|at| weights.get(at).copied()).collect();
        let filters = cx.float_constant("weights", &[o, kh, kw, depth], &ordered)?;
        let bias = bias.filter(|_| slice == 0);
        let y = convolution(cx, images, filters, bias, window, groups)?;
        all = Some(all.map_or(Ok(y), |all| cx.sum(all, y))?);
    }
    let Some(y) = all else { return Err(malformed!("its window is empty")) };
    let &[_, out_h, out_w, _] = &*cx.dims(y) else { return Err(malformed!("no image")) };
    let y = cx.reshaped(y, &[n, out, out_h, out_w, o])?;
    let y = cx.transposed(y, &[0, 4, 1, 2, 3])?;
    cx.bind(0, y)
}
