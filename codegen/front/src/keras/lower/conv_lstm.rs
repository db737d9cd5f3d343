//! The cell of ConvLSTM layers, whose states are images. Images are channel-last.

use super::activation::activation;
use super::conv::{convolved, padding, Moves};
use super::cx::{Cx, Weights};
use super::Lowered;
use crate::keras::model::Layer;
use crate::keras::value::Value;
use kiln_ir::ValueId;

/// A cell of images.
pub(super) struct Images<'c> {
    /// \[…, inputs, 4 · filters\].
    kernel: Weights,
    /// \[…, filters, 4 · filters\].
    recurrent: Weights,
    bias: Option<Weights>,
    filters: usize,
    moves: Moves<'c>,
    activation: &'c Value,
    recurrent_activation: &'c Value,
}

impl<'c> Images<'c> {
    pub(super) fn read(cx: &mut Cx<'_, '_, '_>, layer: Layer<'c>, inner: &str) -> Lowered<Self> {
        let config = layer.config;
        let (kernel, recurrent) = (cx.weights(inner, 0)?, cx.weights(inner, 1)?);
        let bias = match config.get("use_bias").flag(true) {
            true => Some(cx.weights(inner, 2)?),
            false => None,
        };
        let axes = kernel.dims().len().saturating_sub(2);
        let filters = kernel.dims().last().map_or(0, |all| all / 4);
        malformed_if!(!(1..=3).contains(&axes) || filters == 0, "its kernel is {:?}", kernel.dims());
        let sizes = |key: &str| cx.within(layer, "", Default::default(), |cx| cx.sizes_of(key, axes, 1));
        let mut sizes = sizes;
        let (strides, dilations) = (sizes("strides")?, sizes("dilation_rate")?);
        malformed_if!(strides.contains(&0) || dilations.contains(&0), "a stride or dilation is 0");
        let moves = Moves { strides, dilations, padding: config.get("padding").text() };
        Ok(Images {
            kernel,
            recurrent,
            bias,
            filters,
            moves,
            activation: config.get("activation"),
            recurrent_activation: config.get("recurrent_activation"),
        })
    }

    /// The size of its states, for an image of that size.
    pub(super) fn size(&self, image: &[usize]) -> Lowered<Vec<usize>> {
        let axes = self.moves.strides.len();
        malformed_if!(image.len() != axes + 1, "{image:?} is no image of {axes} axes");
        let mut out = Vec::new();
        for (k, &size) in image[..axes].iter().enumerate() {
            let (taps, stride, dilation) =
                (self.kernel.dims()[k], self.moves.strides[k], self.moves.dilations[k]);
            let pad = padding(self.moves.padding, size, taps, stride, dilation)?;
            let reach = (taps.max(1) - 1).saturating_mul(dilation) + 1;
            let room = (size + pad.0 + pad.1).checked_sub(reach);
            out.push(room.ok_or_else(|| malformed!("its window does not fit {image:?}"))? / stride + 1);
        }
        out.push(self.filters);
        Ok(out)
    }

    /// The convolutions of all steps of \[batch, steps, …\].
    pub(super) fn projected(&mut self, cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
        let dims = cx.dims(x);
        let &[batch, steps, ref image @ ..] = &*dims else { return Err(malformed!("it has no steps")) };
        let flat = cx.reshaped(x, &[&[batch * steps], image].concat())?;
        let bias = match &self.bias {
            Some(bias) => Some(cx.constant("bias", bias, &[0], &[4 * self.filters])?),
            None => None,
        };
        let y = convolved(cx, flat, &self.kernel, bias, &self.moves)?;
        let own = cx.dims(y);
        cx.reshaped(y, &[&[batch, steps], &own[1..]].concat())
    }

    pub(super) fn step(
        &mut self,
        cx: &mut Cx<'_, '_, '_>,
        x: ValueId,
        states: &[ValueId],
    ) -> Lowered<(ValueId, Vec<ValueId>)> {
        let &[hidden, cell] = states else { return Err(malformed!("it has {} states", states.len())) };
        let axes = self.moves.strides.len();
        let moves = Moves { strides: vec![1; axes], dilations: vec![1; axes], padding: "same" };
        let kept = convolved(cx, hidden, &self.recurrent, None, &moves)?;
        let sums = cx.sum(x, kept)?;
        let last = cx.dims(sums).len() - 1;
        let mut gates = Vec::new();
        for k in 0..4 {
            let gate = cx.part(sums, last, k * self.filters, self.filters, 1)?;
            let function = if k == 2 { self.activation } else { self.recurrent_activation };
            gates.push(activation(cx, function, gate)?);
        }
        let (kept, added) = (cx.product(gates[1], cell)?, cx.product(gates[0], gates[2])?);
        let cell = cx.sum(kept, added)?;
        let shown = activation(cx, self.activation, cell)?;
        let y = cx.product(gates[3], shown)?;
        Ok((y, vec![y, cell]))
    }
}
