//! Convolutions, with all their dimension numbers.

use super::super::module::Element;
use super::attributes;
use super::cx::Cx;
use super::shape;
use super::slot::{self, Tensor};
use super::{convert, dot, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators =
    &[("convolution", One(convolution)), ("dynamic_conv", One(convolution))];

/// Where the axes of an image or of weights are: batch, features and the others; of weights the outputs, inputs and the others.
fn order(cx: &Cx<'_, '_, '_>, first: &str, second: &str, others: &str, rank: usize) -> Lowered<Vec<usize>> {
    let parts = attributes::parts(&cx.operation.attributes, "dimension_numbers")?;
    let mut order = attributes::sizes(parts, first)?;
    order.extend(attributes::sizes(parts, second)?);
    order.extend(attributes::sizes(parts, others)?);
    let mut seen = order.clone();
    seen.sort_unstable();
    malformed_if!(!seen.into_iter().eq(0..rank), "its {others} do not fit {rank} axes");
    Ok(order)
}

fn convolution(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let (rank, out, element) = (x.dims.len(), cx.result_dims(0)?, cx.element(0)?);
    malformed_if!(
        rank < 2 || w.dims.len() != rank || out.len() != rank,
        "{:?} and {:?} do not fit",
        x.dims,
        w.dims
    );
    let axes = rank - 2;
    let x_order =
        order(cx, "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", rank)?;
    let w_order = order(
        cx,
        "kernel_output_feature_dimension",
        "kernel_input_feature_dimension",
        "kernel_spatial_dimensions",
        rank,
    )?;
    let y_order =
        order(cx, "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", rank)?;
    let (image, filters) = (shape::transposed(cx, &x, &x_order)?, shape::transposed(cx, &w, &w_order)?);
    let mut window = Window {
        strides: cx.sizes_or("window_strides", 1, axes)?,
        pads: cx.pairs("padding", axes)?,
        spread: cx.sizes_or("lhs_dilation", 1, axes)?,
        dilations: cx.sizes_or("rhs_dilation", 1, axes)?,
        groups: cx.size("feature_group_count")?.unwrap_or(1),
    };
    let lists = [&window.strides, &window.spread, &window.dilations];
    malformed_if!(lists.iter().any(|list| list.contains(&0)), "a stride or dilation is 0");
    let batches = cx.size("batch_group_count")?.unwrap_or(1);
    malformed_if!(window.groups == 0 || batches == 0, "it has no groups");
    if out.contains(&0) {
        let dtype = slot::dtype(&element)?;
        let value = cx.means().empty(dtype, &out);
        return Ok(Tensor::of(value, &out, &element));
    }
    let turned: Vec<usize> = match cx.list("window_reversal")? {
        Some(list) => (0..list.len()).filter(|&k| list[k] != 0).map(|k| k + 2).collect(),
        None => Vec::new(),
    };
    malformed_if!(turned.iter().any(|&axis| axis >= rank), "its window_reversal does not fit");
    let (image, filters) = floats(cx, image, filters, &element)?;
    let (mut image, filters) = (cx.spread(&image)?, cx.spread(&filters)?);
    let filters = shape::reversed(cx, filters, &turned)?;
    if batches > 1 {
        // Groups of images are groups of channels.
        let dims = cx.dims(image);
        malformed_if!(dims[0] % batches != 0 || window.groups != 1, "{batches} groups do not fit {dims:?}");
        let apart = [&[batches, dims[0] / batches], &dims[1..]].concat();
        image = cx.reshaped(image, &apart)?;
        let perm: Vec<usize> = [1, 0].into_iter().chain(2..apart.len()).collect();
        image = cx.means().transposed(image, &perm)?;
        image = cx.reshaped(image, &[&[dims[0] / batches, batches * dims[1]], &dims[2..]].concat())?;
        window.groups = batches;
    }
    let y = window.convolution(cx, image, filters)?;
    let ordered: Vec<usize> = y_order.iter().map(|&axis| out[axis]).collect();
    malformed_if!(cx.dims(y) != ordered, "its result is {:?}, but the file has {out:?} for it", cx.dims(y));
    let mut back = vec![0; rank];
    y_order.iter().enumerate().for_each(|(k, &axis)| back[axis] = k);
    let y = cx.means().transposed(y, &back)?;
    let y = cx.means().cast(y, slot::dtype(&element)?)?;
    Ok(Tensor::of(y, &out, &element))
}

/// Operands as floats. Sums of bytes have to be exact.
fn floats(cx: &mut Cx<'_, '_, '_>, x: Tensor, w: Tensor, result: &Element) -> Lowered<(Tensor, Tensor)> {
    let single = Element::Float(32);
    if slot::is_float(&x.element) && slot::is_float(&w.element) {
        return Ok((x, w));
    }
    let is_small = [&x, &w].iter().all(|x| x.element.bytes() == Some(1));
    if !is_small || !is_exact(cx, &x, &w) || slot::is_part_of_byte(result) {
        let what = format!("a convolution of {:?} with {:?} cannot be compiled", x.element, w.element);
        return Err(Refusal::unsupported(what, "convert its operands to float32"));
    }
    Ok((convert::converted(cx, &x, &single)?, convert::converted(cx, &w, &single)?))
}

/// Whether no sum is above 2²⁴, by the number of products or by the weights.
fn is_exact(cx: &mut Cx<'_, '_, '_>, x: &Tensor, w: &Tensor) -> bool {
    let products = w.dims.iter().skip(1).product::<usize>();
    if products <= dot::most_exact(x, w) {
        return true;
    }
    let known = cx.known_ints(w.value).filter(|known| known.len() == w.numel());
    let most = if slot::is_unsigned(&x.element) { 255 } else { 128 };
    known.is_some_and(|known| {
        let reach = known.chunks(products).map(|filter| filter.iter().map(|w| w.abs() * most).sum::<i64>());
        reach.fold(0, i64::max) <= 1 << 24
    })
}

struct Window {
    strides: Vec<usize>,
    pads: Vec<(i64, i64)>,
    /// Steps between the elements of the image.
    spread: Vec<usize>,
    dilations: Vec<usize>,
    groups: usize,
}

fn list(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&size| size as i64).collect()
}

impl Window {
    /// Of an image and weights that are channel-first.
    fn convolution(mut self, cx: &mut Cx<'_, '_, '_>, image: ValueId, filters: ValueId) -> Lowered<ValueId> {
        let (mut image, mut filters) = (image, filters);
        if self.strides.is_empty() {
            // Without other axes there is one of one element.
            let (x, w) = (cx.dims(image), cx.dims(filters));
            image = cx.reshaped(image, &[x[0], x[1], 1])?;
            filters = cx.reshaped(filters, &[w[0], w[1], 1])?;
            let y =
                Window { strides: vec![1], pads: vec![(0, 0)], spread: vec![1], dilations: vec![1], ..self }
                    .convolution(cx, image, filters)?;
            let dims = cx.dims(y);
            return cx.reshaped(y, &dims[..2]);
        }
        if self.spread.iter().any(|&step| step > 1) {
            if let Some(y) = self.transposed(cx, image, filters)? {
                return Ok(y);
            }
        }
        // What the window does not do itself is done before: elements apart, and edges cut off.
        let is_odd =
            self.spread.iter().any(|&step| step > 1) || self.pads.iter().any(|pad| pad.0 < 0 || pad.1 < 0);
        if is_odd {
            let element = Element::Float(32);
            let x = cx.whole(image, &element);
            let zero = cx.means().number(image, 0.0)?;
            let zero = Tensor::of(zero, &[], &element);
            let side = |of: fn(&(i64, i64)) -> i64| -> Vec<i64> {
                [0, 0].into_iter().chain(self.pads.iter().map(|pad| of(pad).min(0))).collect()
            };
            let between: Vec<i64> =
                [0, 0].into_iter().chain(self.spread.iter().map(|&step| step as i64 - 1)).collect();
            let (low, high) = (side(|pad| pad.0), side(|pad| pad.1));
            image = shape::padded(cx, &x, &zero, &low, &high, &between)?.value;
            self.pads.iter_mut().for_each(|pad| *pad = (pad.0.max(0), pad.1.max(0)));
        }
        let pads: Vec<i64> =
            self.pads.iter().map(|pad| pad.0).chain(self.pads.iter().map(|pad| pad.1)).collect();
        let attributes = [
            ("strides", Set::Ints(&list(&self.strides))),
            ("dilations", Set::Ints(&list(&self.dilations))),
            ("pads", Set::Ints(&pads)),
            ("group", Set::Int(self.groups as i64)),
        ];
        cx.means().call("Conv", &[Some(image), Some(filters)], &attributes)
    }

    /// A convolution over elements apart is a transposed one, if its padding is less than its window reaches.
    fn transposed(
        &self,
        cx: &mut Cx<'_, '_, '_>,
        image: ValueId,
        filters: ValueId,
    ) -> Lowered<Option<ValueId>> {
        let w = cx.dims(filters);
        let axes = self.strides.len();
        if axes > 2 || self.strides.iter().any(|&stride| stride != 1) || cx.data(filters).is_none() {
            return Ok(None);
        }
        let (mut pads, mut more) = (vec![0; 2 * axes], vec![0; axes]);
        for k in 0..axes {
            let reach = (self.dilations[k] * (w[k + 2] - 1)) as i64;
            let (before, after) = (reach - self.pads[k].0, reach - self.pads[k].1);
            if before < 0 || self.pads[k].0 < 0 || self.pads[k].1 < 0 || -after >= self.spread[k] as i64 {
                return Ok(None);
            }
            (pads[k], pads[axes + k], more[k]) = (before, after.max(0), (-after).max(0));
        }
        malformed_if!(w[0] % self.groups != 0, "{} outputs do not fit {} groups", w[0], self.groups);
        let spatial: Vec<usize> = (2..w.len()).collect();
        let turned = shape::reversed(cx, filters, &spatial)?;
        let apart = [&[self.groups, w[0] / self.groups, w[1]], &w[2..]].concat();
        let turned = cx.reshaped(turned, &apart)?;
        let perm: Vec<usize> = [0, 2, 1].into_iter().chain(3..apart.len()).collect();
        let turned = cx.means().transposed(turned, &perm)?;
        let turned = cx.reshaped(turned, &[&[self.groups * w[1], w[0] / self.groups], &w[2..]].concat())?;
        let attributes = [
            ("strides", Set::Ints(&list(&self.spread))),
            ("dilations", Set::Ints(&list(&self.dilations))),
            ("pads", Set::Ints(&pads)),
            ("output_padding", Set::Ints(&more)),
            ("group", Set::Int(self.groups as i64)),
        ];
        cx.means().call("ConvTranspose", &[Some(image), Some(turned), None], &attributes).map(Some)
    }
}
