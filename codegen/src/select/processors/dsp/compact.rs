//! Layers of `optimize = "size"`: their kernels are told at run time what others are compiled for.

use super::depthwise::quads_of_channels;
use super::*;
use crate::select::conv::Images;

impl<'a> Selector<'a> {
    /// A convolution or matrix product in tiles.
    pub(super) fn compact_conv(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        pixels: usize,
        proof: &Proof,
    ) -> Selected {
        let fitted = self.compact_form(node, proof)?;
        let words = pack::filters(&proof.layer, &pack::columns_first(shape), Some(fitted), Tiling::Quads);
        let parameters = self.compact_params(node, shape, &words, fitted.form, pixels);
        let work = self.workspace()?;
        self.compact_calls(node, shape, KernelId::Conv2dI8DspCompact, &[parameters], &[work])
    }

    /// A depthwise convolution.
    pub(super) fn compact_depthwise(&mut self, node: &'a Node, shape: &Sizes, proof: &Proof) -> Selected {
        let fitted = self.compact_form(node, proof)?;
        let pad = self.ty(node.operands[0]).zero_point();
        let words = quads_of_channels(&proof.layer, pad, Some(fitted), pack::corrections_first);
        let parameters = self.compact_params(node, shape, &words, fitted.form, 1);
        self.compact_calls(node, shape, KernelId::Depthwise2dI8DspCompact, &[parameters], &[])
    }

    /// A product of single rows.
    pub(super) fn compact_dense(&mut self, node: &'a Node, proof: &Proof) -> Selected {
        let fitted = self.compact_form(node, proof)?;
        let taps = pack::crossed(1, self.ty(node.operands[0]).shape.last());
        let words = pack::filters(&proof.layer, &taps, Some(fitted), Tiling::Quads);
        let fields = self.compact_fields(&words, fitted.form);
        let [x, y, band] = self.matrix_rows(node)?;
        self.call(
            KernelId::DenseI8DspCompact,
            vec![Arg::Struct(Struct { name: "CompactDense", fields }), x, y, band],
        );
        Ok(())
    }

    /// The cheap form: these kernels have no other.
    fn compact_form<'p>(&self, node: &Node, proof: &'p Proof) -> Result<&'p Fitted, Problem> {
        proof.form.as_deref().ok_or_else(|| self.no_kernel(node))
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
    ) -> Selected {
        let x = self.image_rows(node.operands[0], shape.images, shape.in_h)?;
        let y = self.image_rows(node.result, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        self.call_on(images, kernel, &[], before, behind, &[]);
        Ok(())
    }
}
