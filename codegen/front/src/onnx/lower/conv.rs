//! Conv, of images, of sequences, which are images of one row, and of [volumes](super::volume).

use super::cx::NodeCx;
use super::image::{
    channel_first, channel_last, computed_convolution, convolution, groups, under_windows, weights, window,
    Axis, LAST,
};
use super::{volume, All, Lowered, Operators};

pub(super) const OPERATORS: Operators = &[("Conv", All(conv))];

/// Conv.
fn conv(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, w, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    cx.want_float(x)?;
    let (dims, shape, groups) = (cx.dims(x), cx.dims(w), groups(cx)?);
    let misfit = |cx: &NodeCx<'_, '_, '_>| {
        let (w, x) = (cx.shown(w), cx.shown(x));
        malformed!("weights {w} in {groups} groups do not fit {x}")
    };
    let rank = dims.len();
    let (&[o, depth, ref size @ ..], true) = (&*shape, shape.len() == rank && rank >= 3) else {
        return Err(misfit(cx));
    };
    if dims[1] != depth * groups || o % groups != 0 {
        return Err(misfit(cx));
    }
    if bias.is_some_and(|bias| cx.dims(bias) != [o]) {
        return Err(misfit(cx));
    }
    cx.want_float(w)?;
    let x = under_windows(cx, x, size)?;
    let axes = window(cx, size, &cx.dims(x)[2..])?;
    let (kh, kw) = if rank == 4 { (size[0], size[1]) } else { (1, size[0]) };
    if cx.known(w).is_none() && rank < 5 {
        let image = channel_last(cx, x)?;
        let filters = cx.reshaped(w, &[o, depth, kh, kw])?;
        let filters = cx.transposed(filters, &LAST)?;
        let y = computed_convolution(cx, image, filters, bias, Axis::window(&axes), groups)?;
        let y = channel_first(cx, y, rank)?;
        return cx.bind(0, y);
    }
    let data = weights(cx, w)?;
    if rank == 5 {
        return volume::conv(cx, x, &data, &shape, bias, &axes, groups);
    }
    let image = channel_last(cx, x)?;
    let taps: usize = size.iter().product();
    // What is stored as integers stays so.
    let filters = if cx.dequantized(w).is_some() {
        let images = cx.reshaped(w, &[o, depth, kh, kw])?;
        cx.transposed(images, &LAST)?
    } else {
        let filter =
            |o: usize| (0..taps).flat_map(move |tap| (0..depth).map(move |i| (o * depth + i) * taps + tap));
        let ordered: Vec<f32> = (0..o).flat_map(filter).filter_map(|at| data.get(at).copied()).collect();
        cx.float_constant("weights", &[o, kh, kw, depth], &ordered)?
    };
    let y = convolution(cx, image, filters, bias, Axis::window(&axes), groups)?;
    let y = channel_first(cx, y, rank)?;
    cx.bind(0, y)
}
