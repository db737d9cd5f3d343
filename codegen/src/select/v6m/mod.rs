//! Kernels of cores without DSP instructions and without a long multiplication: Cortex-M0, M0+ and M23.
//!
//! They need a cheap requantisation that is exact for every channel of a layer, and windows that fit 16 bits. A layer that has not gets the
//! portable kernel.

mod pack;

use super::*;
use crate::ir::{Clamp, Layout, Window};
use crate::requant::{choose_halves, folded_bias, reachable, Halves, HalvesForm, Products, Reference};
use crate::Target;
use pack::Filters;

/// An integer layer in numbers.
struct Layer {
    /// Of one filter after the other.
    weights: Vec<i8>,
    /// Of each filter: zero points are folded in, and what the requantisation adds.
    bias: Vec<i32>,
    form: HalvesForm,
    halves: Vec<Halves>,
}

impl<'a> Selector<'a> {
    /// Selects a kernel for such a core; `false` where there is none for the node.
    pub(super) fn v6m(&mut self, node: &'a Node) -> Result<bool, Problem> {
        if self.options.target() != Target::CortexM0 || self.packing(node).is_some() {
            return Ok(false);
        }
        match &node.op {
            Op::Conv2d { window, groups, rescale, clamp, .. } if node.op.layout() == Layout::default() => {
                let Some(layer) = self.halves(node, rescale, clamp) else { return Ok(false) };
                self.windowed(node, window, *groups, &layer)
            }
            Op::Dense { rescale, clamp } => {
                let Some(layer) = self.halves(node, rescale, clamp) else { return Ok(false) };
                self.dense_windowed(node, &layer)
            }
            Op::Add { .. } | Op::Sub { .. } => self.sum(node, Products::Low),
            _ => Ok(false),
        }
    }

    fn windowed(
        &mut self,
        node: &'a Node,
        window: &Window,
        groups: usize,
        layer: &Layer,
    ) -> Result<bool, Problem> {
        let (x, y) = (node.operands[0], node.result);
        let ([batch, _, _, in_c], [_, out_h, out_w, out_c]) = self.images(node)?;
        let (kernel, weights) = if groups == 1 {
            let filters = Filters::new(&layer.weights, out_c, window.size[1] * in_c);
            if !filters.fit_windows() {
                return Ok(false);
            }
            let rows = if self.in_loop { self.schedule.steps[self.step].beat.band } else { out_h };
            let pairs = in_pairs(rows * out_w, out_c);
            let weights = self.filters(&filters, layer, pairs);
            (if pairs { KernelId::Conv2dI8V6mPairs } else { KernelId::Conv2dI8V6mSingles }, weights)
        } else if groups == in_c && groups == out_c && window.size[0] * window.size[1] <= MOST_TAPS {
            let weights = Data::from_i8(&pack::taps_in_threes(&layer.weights, out_c));
            let weights = self.step_constant("WEIGHTS", weights);
            let constants = vec![Arg::Constant(weights, Element::I8)];
            (KernelId::Depthwise2dI8V6m, constants)
        } else {
            return Ok(false);
        };
        let sizes = crate::kernel::Shape::of(self.graph, node).ok_or_else(|| self.no_kernel(node))?;
        let conv = self.conv_params(&sizes);
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let requant = self.half_requant(layer, kernel == KernelId::Depthwise2dI8V6m);
        let (rx, ry) = (self.rows(x)?, self.rows(y)?);
        for image in 0..batch {
            let mut args = vec![Arg::Struct(conv.clone()), conv::rows(rx, batch, image)];
            args.extend(weights.iter().cloned());
            args.extend([pad.clone(), requant.clone(), conv::rows(ry, batch, image), self.band(out_h)]);
            self.call(kernel, args);
        }
        Ok(true)
    }

    fn dense_windowed(&mut self, node: &'a Node, layer: &Layer) -> Result<bool, Problem> {
        let (x, y) = (node.operands[0], node.result);
        let (k, n) = (self.ty(x).shape.last(), self.ty(y).shape.last());
        let filters = Filters::new(&layer.weights, n, k);
        if !filters.fit_windows() {
            return Ok(false);
        }
        let pairs = in_pairs(self.ty(y).shape.numel() / n.max(1), n);
        let [x, y, band] = self.matrix_rows(node)?;
        let mut args = vec![x];
        args.extend(self.filters(&filters, layer, pairs));
        args.push(self.half_requant(layer, false));
        args.extend([y, band]);
        self.call(if pairs { KernelId::DenseI8V6mPairs } else { KernelId::DenseI8V6mSingles }, args);
        Ok(true)
    }

    /// Weights, first values, and taps of a part.
    fn filters(&mut self, filters: &Filters, layer: &Layer, pairs: bool) -> Vec<Arg> {
        let (weights, element, firsts) = if pairs {
            (filters.pairs(), Element::I8, filters.pair_firsts(&layer.bias))
        } else {
            (filters.singles(), Element::I32, filters.single_firsts(&layer.bias))
        };
        let weights = self.step_constant("WEIGHTS", Data::new(weights));
        let firsts = self.step_constant("FIRST", Data::from_i32(&firsts));
        vec![
            Arg::Constant(weights, element),
            Arg::Constant(firsts, Element::I32),
            // At most 144.
            Arg::Int(filters.part() as i64),
        ]
    }

    /// The kernels' `HalfRequant`; first values are in it for the depthwise kernel.
    fn half_requant(&mut self, layer: &Layer, firsts: bool) -> Arg {
        let HalvesForm { shift, lo, hi, .. } = layer.form;
        let channel = |(first, halves): (&i32, &Halves)| match firsts {
            true => [vec![*first], own_words(halves), signed_words(halves, layer.form)].concat(),
            false => [signed_words(halves, layer.form), own_words(halves)].concat(),
        };
        let channels: Vec<i32> = layer.bias.iter().zip(&layer.halves).flat_map(channel).collect();
        let words = channels.len() / layer.bias.len().max(1);
        let channels = self.step_constant("CHANNELS", Data::from_i32(&channels));
        let fields = vec![
            ("channels", Field::Constant(channels, Element::I32)),
            ("words", int(words)),
            ("shift", Field::Int(shift.into())),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Arg::Struct(Struct { name: "HalfRequant", fields })
    }

    /// An integer layer whose requantisation has a cheap exact form.
    fn halves(&self, node: &'a Node, rescale: &Rescale, clamp: &Clamp) -> Option<Layer> {
        let (x, w) = (self.ty(node.operands[0]), self.ty(node.operands[1]));
        let y = self.ty(node.result);
        let symmetric = w.quant.as_ref().is_none_or(|q| q.zero_points.iter().all(|&z| z == 0));
        if [x.dtype, w.dtype, y.dtype] != [DType::I8; 3] || !symmetric {
            return None;
        }
        let out_c = y.shape.last();
        let weights = self.graph.const_data(node.operands[1])?.to_i8();
        let bias = match node.operands.get(2) {
            Some(&bias) => self.graph.const_data(bias)?.to_i32(),
            None => vec![0; out_c],
        };
        let bias = folded_bias(&weights, &bias, x.zero_point(), out_c);
        let taps = weights.len() / out_c.max(1);
        let channel = |(o, &bias): (usize, &i32)| {
            let reference = Reference::of(rescale, o, y.zero_point(), clamp.int_bounds())?;
            let own = weights.iter().skip(o * taps).take(taps).copied();
            let range = reachable(own, bias, (-128, 127));
            Some((reference, range))
        };
        let channels = bias.iter().enumerate().map(channel).collect::<Option<Vec<_>>>()?;
        let (form, halves) = choose_halves(&channels)?;
        let bias = bias.iter().zip(&halves).map(|(bias, halves)| bias.wrapping_add(halves.delta)).collect();
        Some(Layer { weights, bias, form, halves })
    }
}

/// Most taps of the depthwise kernel.
const MOST_TAPS: usize = 27;

/// Whether tiles of two pixels are worth it: they take 5 instructions for two products of a pixel pair, half of them in vain if there is one pixel,
/// others take 6.
fn in_pairs(pixels: usize, filters: usize) -> bool {
    filters >= 2 && 5 * pixels.next_multiple_of(2) < 6 * pixels
}

/// The constants of a channel.
fn own_words(halves: &Halves) -> Vec<i32> {
    let multiplier = u32::from(halves.low) | u32::from(halves.high) << 16;
    vec![halves.limit as i32, halves.constant, multiplier as i32]
}

/// Those that signed layers have besides.
fn signed_words(halves: &Halves, form: HalvesForm) -> Vec<i32> {
    match form.signed {
        true => vec![halves.origin, halves.below],
        false => vec![],
    }
}
