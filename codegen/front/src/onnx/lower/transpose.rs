//! ConvTranspose, as [`transposed`](crate::transposed) says.

use super::cx::NodeCx;
use super::image::{channel_first, channel_last, convolution, groups, weights};
use super::{Lowered, One, Operators, Refusal};
use crate::transposed::{self, Axis};
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[("ConvTranspose", One(conv_transpose))];

/// The axes, from attributes.
fn axes(cx: &NodeCx<'_, '_, '_>, size: &[usize], image: &[usize]) -> Lowered<Vec<Axis>> {
    let count = image.len();
    let list = |name: &str, otherwise: usize, len: usize| -> Lowered<Vec<usize>> {
        match cx.sizes(name)?.filter(|list| !list.is_empty()) {
            None => Ok(vec![otherwise; len]),
            Some(list) if list.len() == len => Ok(list),
            Some(list) => Err(malformed!("its {name} are {list:?}")),
        }
    };
    let (strides, dilations) = (list("strides", 1, count)?, list("dilations", 1, count)?);
    let (more, pads) = (list("output_padding", 0, count)?, list("pads", 0, 2 * count)?);
    let (auto, shape) = (cx.text("auto_pad"), cx.sizes("output_shape")?);
    let axis = |k: usize| -> Option<Axis> {
        let all = image[k].checked_sub(1)?.checked_mul(strides[k])?.checked_add(more[k])?;
        let all = all.checked_add(size[k].checked_sub(1)?.checked_mul(dilations[k])?)?.checked_add(1)?;
        // The last two of the sizes, where there are those of all axes.
        let asked = shape.as_ref().and_then(|shape| shape.get(shape.len().checked_sub(count)? + k).copied());
        let same = matches!(auto, b"SAME_UPPER" | b"SAME_LOWER");
        // As ONNX Runtime: padding is cut off where there is too much, and nothing is added where a filter smaller than the stride gives less. (The specification's text has one
        // size for both.)
        let same = if same { Some(image[k].checked_mul(strides[k])?.min(all)) } else { None };
        let (lead, out) = match asked.or(same) {
            Some(out) => {
                let pad = all.saturating_sub(out);
                (if auto == b"SAME_UPPER" { pad / 2 } else { pad.div_ceil(2) }, out)
            }
            None if auto == b"VALID" => (0, all),
            None => (pads[k], all.checked_sub(pads[k].checked_add(pads[k + count])?)?),
        };
        Axis::new(strides[k], dilations[k], size[k], image[k], lead, out)
    };
    let axes: Option<Vec<Axis>> = (0..count).map(axis).collect();
    axes.ok_or_else(|| malformed!("a filter of {size:?} does not fit an image of {image:?}"))
}

/// ConvTranspose, of images and sequences.
fn conv_transpose(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, w, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    cx.want_float(x)?;
    let (dims, shape, groups) = (cx.dims(x), cx.dims(w), groups(cx)?);
    let rank = dims.len();
    if rank > 4 {
        let what = format!("{} is neither an image nor a sequence", cx.shown(x));
        return Err(Refusal::unsupported(what, "use two-dimensional convolutions"));
    }
    let (&[c, depth, ref size @ ..], true) = (&*shape, shape.len() == rank && rank >= 3) else {
        return Err(malformed!("its weights are {}", cx.shown(w)));
    };
    let o = depth * groups;
    if dims[1] != c || c % groups != 0 || bias.is_some_and(|bias| cx.dims(bias) != [o]) {
        let (w, x) = (cx.shown(w), cx.shown(x));
        return Err(malformed!("weights {w} in {groups} groups do not fit {x}"));
    }
    let data = weights(cx, w)?;
    let mut axes = axes(cx, size, &dims[2..])?;
    if rank == 3 {
        axes.extend(Axis::new(1, 1, 1, 1, 0, 1));
        axes.rotate_right(1);
    }
    let &[rows, columns] = &*axes else { return Err(malformed!("no image")) };

    let filters = filters(cx, &data, [c, depth, groups], rows, columns)?;
    let copies = rows.stride * columns.stride;
    let image = channel_last(cx, x)?;
    let window = transposed::window([rows, columns]);
    let known = bias.and_then(|bias| cx.known(bias)).map(|data| data.to_f32());
    let repeated = match &known {
        Some(bias) => {
            let group = |g: usize| bias[g * depth..(g + 1) * depth].repeat(copies);
            let list: Vec<f32> = (0..groups).flat_map(group).collect();
            Some(cx.float_constant("repeated bias", &[list.len()], &list)?)
        }
        None => None,
    };
    let blocks = convolution(cx, image, filters, repeated, window, groups)?;

    let (n, h, w) = (dims[0], rows.blocks * rows.stride, columns.blocks * columns.stride);
    let split = [n * rows.blocks, columns.blocks, groups, rows.stride, columns.stride, depth];
    let parts = cx.reshaped(blocks, &split)?;
    let spread = cx.transposed(parts, &[0, 3, 1, 4, 2, 5])?;
    let mut y = cx.reshaped(spread, &[n, h, w, o])?;
    y = cx.part(y, 1, rows.lead, rows.out, 1)?;
    y = cx.part(y, 2, columns.lead, columns.out, 1)?;
    if let (Some(bias), None) = (bias, &known) {
        y = cx.sum(y, bias)?;
    }
    channel_first(cx, y, rank)
}

/// The filters of all remainders, group by group; missing taps are zero. `shape` is channels of the operand, of the result's groups, and groups.
fn filters(
    cx: &mut NodeCx<'_, '_, '_>,
    weights: &[f32],
    shape: [usize; 3],
    rows: Axis,
    columns: Axis,
) -> Lowered<ValueId> {
    let [c, depth, groups] = shape;
    let own = c / groups;
    let count =
        groups.checked_mul(rows.stride).and_then(|n| n.checked_mul(columns.stride)?.checked_mul(depth));
    let dims = [count.unwrap_or(usize::MAX), rows.reach, columns.reach, own];
    super::tensor::check_size(kiln_ir::DType::F32, &dims)?;
    cx.importer.budget.charge(4 * dims.iter().product::<usize>())?;
    let mut list = Vec::with_capacity(dims.iter().product());
    for g in 0..groups {
        for taps in transposed::taps([rows, columns]) {
            for (o, tap) in (0..depth).flat_map(|o| taps.iter().map(move |tap| (o, *tap))) {
                let filter = |i: usize| ((g * own + i) * depth + o) * rows.taps * columns.taps;
                list.extend((0..own).map(|i| tap.map_or(0.0, |tap| weights[filter(i) + tap])));
            }
        }
    }
    cx.float_constant("transposed weights", &dims, &list)
}
