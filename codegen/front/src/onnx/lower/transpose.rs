//! ConvTranspose, as a convolution followed by a rearrangement.
//!
//! Pixel `s·i + k − p` of the result (stride s, padding p) sums pixel `i` of the operand times tap `k`. Of the pixels whose index plus p leaves r when divided by s, all
//! sum taps r, r + s, r + 2s, …: an ordinary convolution of stride 1 with those taps, backwards. So one convolution with a filter for every r computes all
//! pixels of a block side by side as channels, which are then spread over the image.

use super::cx::NodeCx;
use super::image::{channel_first, channel_last, convolution, groups, weights};
use super::{describe, Lowered, Operators, Refusal};
use kiln_ir::{Padding, ValueId, Window};

pub(super) const OPERATORS: Operators = &[("ConvTranspose", conv_transpose)];

/// One axis, of rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    stride: usize,
    dilation: usize,
    /// Taps of the filter.
    taps: usize,
    /// Taps of the convolution: those of one remainder.
    reach: usize,
    /// Pixels cut off at the beginning.
    lead: usize,
    /// Blocks of `stride` pixels that are computed.
    blocks: usize,
    /// Pixels of the operand.
    size: usize,
    /// Pixels of the result.
    out: usize,
}

impl Axis {
    /// `None` for sizes that do not fit together.
    fn new(
        stride: usize,
        dilation: usize,
        taps: usize,
        size: usize,
        lead: usize,
        out: usize,
    ) -> Option<Axis> {
        if stride == 0 || dilation == 0 || taps == 0 || size == 0 || out == 0 {
            return None;
        }
        let reach = (taps - 1).checked_mul(dilation)?.checked_add(1)?.div_ceil(stride);
        let blocks = out.checked_add(lead)?.div_ceil(stride).max(size);
        Some(Axis { stride, dilation, taps, reach, lead, blocks, size, out })
    }

    /// The filter's tap that the convolution's tap `t` is for remainder `r`: backwards, and every stride-th one only.
    fn tap(&self, r: usize, t: usize) -> Option<usize> {
        let at = r + (self.reach - 1 - t) * self.stride;
        let tap = at / self.dilation;
        (at % self.dilation == 0 && tap < self.taps).then_some(tap)
    }
}

/// The axes, from attributes.
fn axes(cx: &NodeCx<'_, '_, '_>, size: &[usize], image: &[usize]) -> Lowered<Vec<Axis>> {
    let count = image.len();
    let list = |name: &str, otherwise: usize, len: usize| -> Lowered<Vec<usize>> {
        match cx.sizes(name)?.filter(|list| !list.is_empty()) {
            None => Ok(vec![otherwise; len]),
            Some(list) if list.len() == len => Ok(list),
            Some(list) => Err(Refusal::malformed(format!("its {name} are {list:?}"))),
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
    axes.ok_or_else(|| Refusal::malformed(format!("a filter of {size:?} does not fit an image of {image:?}")))
}

/// ConvTranspose, of images and sequences.
fn conv_transpose(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, w, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    cx.want_float(x)?;
    let (dims, shape, groups) = (cx.dims(x), cx.dims(w), groups(cx)?);
    let rank = dims.len();
    if rank > 4 {
        let what = format!("{} is neither an image nor a sequence", describe(cx.ty(x)));
        return Err(Refusal::unsupported(what, "use two-dimensional convolutions"));
    }
    let (&[c, depth, ref size @ ..], true) = (&*shape, shape.len() == rank && rank >= 3) else {
        return Err(Refusal::malformed(format!("its weights are {}", describe(cx.ty(w)))));
    };
    let o = depth * groups;
    if dims[1] != c || c % groups != 0 || bias.is_some_and(|bias| cx.dims(bias) != [o]) {
        let (w, x) = (describe(cx.ty(w)), describe(cx.ty(x)));
        return Err(Refusal::malformed(format!("weights {w} in {groups} groups do not fit {x}")));
    }
    let data = weights(cx, w)?;
    let mut axes = axes(cx, size, &dims[2..])?;
    if rank == 3 {
        axes.insert(
            0,
            Axis { stride: 1, dilation: 1, taps: 1, reach: 1, lead: 0, blocks: 1, size: 1, out: 1 },
        );
    }
    let &[rows, columns] = &*axes else { return Err(Refusal::malformed("no image")) };

    let filters = filters(cx, &data, [c, depth, groups], rows, columns)?;
    let copies = rows.stride * columns.stride;
    let image = channel_last(cx, x)?;
    let pad = Padding {
        top: rows.reach - 1,
        bottom: rows.blocks - rows.size,
        left: columns.reach - 1,
        right: columns.blocks - columns.size,
    };
    let window = Window { size: [rows.reach, columns.reach], stride: [1; 2], dilation: [1; 2], pad };
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
    let y = channel_first(cx, y, rank)?;
    cx.bind(0, y)
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
        for (r, q) in (0..rows.stride).flat_map(|r| (0..columns.stride).map(move |q| (r, q))) {
            for o in 0..depth {
                for (t, u) in (0..rows.reach).flat_map(|t| (0..columns.reach).map(move |u| (t, u))) {
                    let tap = rows.tap(r, t).zip(columns.tap(q, u));
                    list.extend((0..own).map(|i| match tap {
                        Some((y, x)) => {
                            let filter = (g * own + i) * depth + o;
                            weights[(filter * rows.taps + y) * columns.taps + x]
                        }
                        None => 0.0,
                    }));
                }
            }
        }
    }
    cx.float_constant("transposed weights", &dims, &list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_result() {
        let a = Axis::new(2, 1, 3, 4, 0, 9).unwrap();
        assert_eq!(
            (a.reach, a.blocks, a.tap(0, 0), a.tap(0, 1), a.tap(1, 0)),
            (2, 5, Some(2), Some(0), None)
        );
        // Two taps with a gap between them, of which each is met by one remainder.
        let a = Axis::new(3, 2, 2, 4, 1, 10).unwrap();
        assert_eq!(
            (a.reach, a.blocks, a.tap(0, 0), a.tap(1, 0), a.tap(2, 0)),
            (1, 4, Some(0), None, Some(1))
        );
        assert!(Axis::new(0, 1, 1, 1, 0, 1).is_none());
    }
}
