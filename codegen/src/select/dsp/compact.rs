//! Layers of `optimize = "size"`: their kernels are told at run time what others are compiled for.

use super::conv::Layer;
use super::pack::Tiling;
use super::*;
use crate::ir::Clamp;
use crate::select::conv::rows;

impl<'a> Selector<'a> {
    /// Whether kernels are to be small rather than fast.
    pub(super) fn compact(&self) -> bool {
        self.options.optimize == crate::Optimize::Size
    }

    /// A convolution or matrix product in tiles; `false` where no cheap form of requantisation is exact, as for the others.
    pub(super) fn compact_conv(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        pixels: usize,
    ) -> Result<bool, Problem> {
        let Some((layer, choice)) = self.compact_layer(node, |o| Tiling::Quads.gain_bits(o))? else {
            return Ok(false);
        };
        let tail = Tail::Affine(choice.form, &choice.affine);
        let words =
            pack::filters(&layer.weights, &layer.bias, &pack::columns_first(shape), &tail, Tiling::Quads);
        let parameters = self.compact_params(node, shape, &words, choice.form, pixels);
        let work = self.workspace()?;
        self.compact_calls(node, shape, "conv2d_i8_compact", &[parameters], &[work])
    }

    /// A depthwise convolution.
    pub(super) fn compact_depthwise(&mut self, node: &'a Node, shape: &Sizes) -> Result<bool, Problem> {
        let Some((layer, choice)) = self.compact_layer(node, |_| 0)? else { return Ok(false) };
        let pad = self.ty(node.operands[0]).zero_point();
        let words = quads_of_channels(&layer, pad, &choice);
        let parameters = self.compact_params(node, shape, &words, choice.form, 1);
        self.compact_calls(node, shape, "depthwise2d_i8_compact", &[parameters], &[])
    }

    /// A product of single rows.
    pub(super) fn compact_dense(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let (x, y) = (node.operands[0], node.result);
        let (k, n) = (self.ty(x).shape.last(), self.ty(y).shape.last());
        let Some((layer, choice)) = self.compact_layer(node, |o| Tiling::Quads.gain_bits(o))? else {
            return Ok(false);
        };
        let tail = Tail::Affine(choice.form, &choice.affine);
        let words = pack::filters(&layer.weights, &layer.bias, &pack::crossed(1, k), &tail, Tiling::Quads);
        let fields = self.compact_fields(&words, choice.form);
        let rows = |region, row| Arg::Rows(Strip { region, row, ring: None });
        let args = vec![
            Arg::Struct(Struct { name: "CompactDense", fields }),
            rows(self.region(x)?, k),
            rows(self.region(y)?, n),
            Arg::Band(self.ty(y).shape.numel() / n.max(1)),
        ];
        self.call("dense_i8_compact", args);
        Ok(true)
    }

    /// A layer in numbers, and how all its sums become results; `None` where no cheap form is exact.
    fn compact_layer(
        &mut self,
        node: &'a Node,
        gain_bits: impl Fn(usize) -> u32,
    ) -> Result<Option<(Layer, Choice)>, Problem> {
        let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else {
            return Err(self.no_kernel(node));
        };
        let Rescale::FixedPoint(multipliers) = rescale else { return Err(self.no_kernel(node)) };
        let clamp: &Clamp = clamp;
        let layer = self.layer(node, multipliers, clamp)?;
        let choice = self.choice(&layer, gain_bits);
        Ok(choice.map(|choice| (layer, choice)))
    }

    fn compact_fields(&mut self, words: &[i32], form: Form) -> Vec<(&'static str, Field)> {
        let weights = self.step_constant("WEIGHTS", Data::from_i32(words));
        vec![
            ("weights", Field::Constant(weights, "i32")),
            ("shift", int(form.shift as usize)),
            ("signed", Field::Flag(form.signed)),
        ]
    }

    fn compact_params(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        words: &[i32],
        form: Form,
        pixels: usize,
    ) -> Arg {
        let mut fields = vec![("conv", Field::Struct(self.conv_params(shape)))];
        fields.extend(self.compact_fields(words, form));
        let pad = self.ty(node.operands[0]).zero_point();
        fields.extend([("pad", Field::Int(pad.into())), ("pixels", int(pixels))]);
        Arg::Struct(Struct { name: "CompactConv", fields })
    }

    /// A call for each image, with arguments before the result.
    fn compact_calls(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        kernel: &'static str,
        before: &[Arg],
        behind: &[Arg],
    ) -> Result<bool, Problem> {
        let x = self.image_rows(node.operands[0], shape.in_h)?;
        let y = self.image_rows(node.result, shape.out_h)?;
        for image in 0..shape.images {
            let mut args = before.to_vec();
            args.push(rows(x, shape.images, image));
            args.extend_from_slice(behind);
            args.extend([rows(y, shape.images, image), self.band(shape.out_h)]);
            self.call(kernel, args);
        }
        Ok(true)
    }
}

/// Filters `[c][taps]` as the depthwise kernel reads them, four channels at a time, the last four of which may begin before the others end: the first values of the
/// sums of elements less `pad`; of each tap a word with four weights; the corrections of a signed form; M and C of each channel.
fn quads_of_channels(layer: &Layer, pad: i32, choice: &Choice) -> Vec<i32> {
    let channels = layer.bias.len();
    let taps = layer.weights.len().checked_div(channels).unwrap_or(0);
    let filter = |c: usize| layer.weights.iter().skip(c * taps).take(taps);
    let mut words = Vec::new();
    for quad in (0..channels).step_by(4).map(|quad| quad.min(channels.saturating_sub(4))) {
        let affine = || choice.affine.iter().skip(quad).take(4);
        for ((c, bias), affine) in layer.bias.iter().enumerate().skip(quad).zip(affine()) {
            let sum: i32 = filter(c).map(|&w| i32::from(w)).sum();
            words.push(bias.wrapping_add(affine.delta).wrapping_add(pad.wrapping_mul(sum)));
        }
        let lane = |tap: usize, lane: usize| filter(quad + lane).nth(tap).map_or(0, |&w| w as u8);
        words.extend((0..taps).map(|tap| i32::from_le_bytes([0, 1, 2, 3].map(|l| lane(tap, l)))));
        if choice.form.signed {
            words.extend(affine().map(|affine| affine.correction));
        }
        words.extend(affine().flat_map(|affine| [affine.multiplier, affine.constant]));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requant::Affine;

    /// The last four of six channels begin with the third.
    #[test]
    fn four_channels_at_a_time() {
        let weights: Vec<i8> = (0..12).map(|i| i * 7 - 40).collect();
        let affine = |c: i32| Affine { delta: c, multiplier: 10 + c, constant: 20 + c, correction: -c };
        let layer = Layer { weights: weights.clone(), bias: vec![100; 6], references: Vec::new() };
        for signed in [false, true] {
            let choice = Choice { form: Form { shift: 1, signed }, affine: (0..6).map(affine).collect() };
            let words = quads_of_channels(&layer, -3, &choice);
            let quad = 4 + 2 + if signed { 12 } else { 8 };
            assert_eq!(words.len(), 2 * quad);
            for (from, words) in [0, 2].into_iter().zip(words.chunks(quad)) {
                for (lane, c) in (from..from + 4).enumerate() {
                    let filter = &weights[2 * c..2 * c + 2];
                    let sum: i32 = filter.iter().map(|&w| i32::from(w)).sum();
                    assert_eq!(words[lane], 100 + c as i32 - 3 * sum);
                    let taps = words[4..6].iter().map(|word| word.to_le_bytes()[lane] as i8);
                    assert!(taps.eq(filter.iter().copied()));
                    let factors = &words[quad - 8 + 2 * lane..][..2];
                    assert_eq!(factors, [10 + c as i32, 20 + c as i32]);
                    assert!(!signed || words[6 + lane] == -(c as i32));
                }
            }
        }
    }
}
