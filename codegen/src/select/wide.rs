//! Layers of 16-bit elements.

use super::conv::Images;
use super::shape::Shape as Sizes;
use super::*;
use crate::ir::Clamp;

impl<'a> Selector<'a> {
    /// The kernels' `Rescale`, where one factor makes results of all sums.
    pub(super) fn one_factor(&self, node: &Node, rescale: &Rescale, clamp: &Clamp) -> Option<Arg> {
        let (lo, hi) = clamp.int_bounds();
        let fields = vec![
            ("by", Field::Struct(scale(single(rescale)?))),
            ("zero_point", Field::Int(self.ty(node.result).zero_point().into())),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Some(Arg::Struct(Struct { name: "Rescale", fields }))
    }

    /// A convolution of 16-bit images to 8 bits: one column wide, without padding, one result for each group of channels.
    pub(super) fn conv_of_16_bits(
        &mut self,
        node: &'a Node,
        groups: usize,
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Selected {
        let types = [node.operands[0], node.operands[1], node.result].map(|id| self.ty(id).dtype);
        let (Some(shape), Some(by)) = (Sizes::of(self.graph, node), self.one_factor(node, rescale, clamp))
        else {
            return Err(self.no_kernel(node));
        };
        let column = [shape.in_w, shape.out_w, shape.k_w] == [1; 3] && shape.pad_top + shape.pad_left == 0;
        let column = column && shape.dilation_h == 1;
        let within = (shape.out_h - 1) * shape.stride_h + shape.k_h <= shape.in_h;
        let weights = self.ty(node.operands[1]);
        if types != [DType::I16, DType::I16, DType::I8]
            || !(column && within)
            || groups != shape.out_c
            || weights.quant.as_ref().is_some_and(|q| q.zero_points.iter().any(|&z| z != 0))
        {
            return Err(self.no_kernel(node));
        }
        let weights = self.data(node, node.operands[1], "weights")?.to_ints(DType::I16);
        let bias = match node.operands.get(2) {
            Some(&bias) => self.data(node, bias, "biases")?.to_i32(),
            None => vec![0; shape.out_c],
        };
        let (filter, share) = (weights.len() / shape.out_c.max(1), shape.in_c / shape.out_c.max(1));
        let zero = i64::from(self.ty(node.operands[0]).zero_point());
        let folded =
            |(filter, &bias): (&[i64], &i32)| (i64::from(bias) - zero * filter.iter().sum::<i64>()) as i32;
        let bias: Vec<i32> = weights.chunks(filter.max(1)).zip(&bias).map(folded).collect();
        // Of each four channels all taps.
        let weight = |c: usize, ky: usize| match c < shape.in_c {
            true => weights
                .get(c / share.max(1) * filter + ky * share + c % share.max(1))
                .map_or(0, |&w| w as i16),
            false => 0,
        };
        let taps = |first: usize| (0..shape.k_h).map(move |ky| (first, ky));
        let fours = (0..shape.in_c).step_by(4).flat_map(taps);
        let four = |(first, ky)| [0, 1, 2, 3].map(|lane| weight(first + lane, ky).to_le_bytes());
        let packed: Vec<u8> = fours.flat_map(four).flatten().collect();
        let weights = self.constant_arg("WEIGHTS", Data::new(packed), Element::I16);
        let bias = self.constant_arg("BIAS", Data::from_i32(&bias), Element::I32);
        let conv = Arg::Struct(self.conv_params(&shape));
        let kernel = self.best_of([
            KernelId::Conv1I16I8Mve,
            KernelId::Conv1I16I8Dsp,
            KernelId::Conv1I16I8Rv32,
            KernelId::Conv1I16I8,
        ]);
        let (x, y) = (self.rows(node.operands[0])?, self.rows(node.result)?);
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        self.call_on(images, kernel, &[], &[conv], &[weights, bias, by], &[]);
        Ok(())
    }
}
