//! Layers of `optimize = "size"`: their kernels are told at run time what others are compiled for.

use super::depthwise::quads_of_channels;
use super::pack::Tiling;
use super::*;
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
        let (layer, Some(choice)) = self.layer(node, |o| Tiling::Quads.gain_bits(o))? else {
            return Ok(false);
        };
        let words = pack::filters(&layer, &pack::columns_first(shape), Some(&choice), Tiling::Quads);
        let parameters = self.compact_params(node, shape, &words, choice.form, pixels);
        let work = self.workspace()?;
        self.compact_calls(node, shape, KernelId::Conv2dI8DspCompact, &[parameters], &[work])
    }

    /// A depthwise convolution.
    pub(super) fn compact_depthwise(&mut self, node: &'a Node, shape: &Sizes) -> Result<bool, Problem> {
        let (layer, Some(choice)) = self.layer(node, |_| 0)? else { return Ok(false) };
        let pad = self.ty(node.operands[0]).zero_point();
        let words = quads_of_channels(&layer, pad, Some(&choice), pack::corrections_first);
        let parameters = self.compact_params(node, shape, &words, choice.form, 1);
        self.compact_calls(node, shape, KernelId::Depthwise2dI8DspCompact, &[parameters], &[])
    }

    /// A product of single rows.
    pub(super) fn compact_dense(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let (layer, Some(choice)) = self.layer(node, |o| Tiling::Quads.gain_bits(o))? else {
            return Ok(false);
        };
        let taps = pack::crossed(1, self.ty(node.operands[0]).shape.last());
        let words = pack::filters(&layer, &taps, Some(&choice), Tiling::Quads);
        let fields = self.compact_fields(&words, choice.form);
        let [x, y, band] = self.matrix_rows(node)?;
        self.call(
            KernelId::DenseI8DspCompact,
            vec![Arg::Struct(Struct { name: "CompactDense", fields }), x, y, band],
        );
        Ok(true)
    }

    fn compact_fields(&mut self, words: &[i32], form: Form) -> Vec<(&'static str, Field)> {
        let weights = self.step_constant("WEIGHTS", Data::from_i32(words));
        vec![
            ("weights", Field::Constant(weights, Element::I32)),
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
        kernel: KernelId,
        before: &[Arg],
        behind: &[Arg],
    ) -> Result<bool, Problem> {
        let x = self.image_rows(node.operands[0], shape.images, shape.in_h)?;
        let y = self.image_rows(node.result, shape.images, shape.out_h)?;
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
