//! Layers of integers whose scale follows from the data.

use super::conv::{alternating, rows, taps_first, whole};
use super::shape::Shape as Sizes;
use super::*;
use crate::ir::Clamp;
use crate::ir::DYNAMIC_ROW;

impl<'a> Selector<'a> {
    pub(super) fn dynamic_scale(&mut self, node: &'a Node, symmetric: bool) -> Selected {
        let x = self.region(node.operands[0])?;
        let rows = self.ty(node.result).shape.numel() / DYNAMIC_ROW;
        let y = Arg::Cells(Cells::All(self.region(node.result)?));
        let kernel =
            if symmetric { KernelId::DynamicScaleF32Symmetric } else { KernelId::DynamicScaleF32Asymmetric };
        self.call(kernel, vec![whole(x, x.len / rows.max(1)), y]);
        Ok(())
    }

    pub(super) fn dynamic_quantize(&mut self, node: &'a Node) -> Selected {
        let [x, scales, y] = [node.operands[0], node.operands[1], node.result].map(|id| self.region(id));
        let (x, y) = (x?, y?);
        let rows = self.ty(node.operands[1]).shape.numel() / DYNAMIC_ROW;
        let row = x.len / rows.max(1);
        self.call(
            KernelId::QuantizeF32I8Dynamic,
            vec![whole(x, row), Arg::Cells(Cells::All(scales?)), whole(y, row)],
        );
        Ok(())
    }

    pub(super) fn dynamic_conv(&mut self, node: &'a Node, groups: usize, clamp: &Clamp) -> Selected {
        let (x, w) = (node.operands[0], node.operands[2]);
        let ([batch, _, _, in_c], [_, out_h, _, out_c]) = self.images(node)?;
        let sizes = Sizes::of(self.graph, node).ok_or_else(|| self.no_kernel(node))?;
        let conv = self.conv_params(&sizes);
        let depthwise = groups == in_c && groups > 1;
        let weights = self.data(node, w, "weights")?;
        let (kernel, packed) = match depthwise {
            true => (KernelId::Depthwise2dI8F32Dynamic, taps_first(weights, out_c, 1)),
            false => (KernelId::Conv2dI8F32Dynamic, alternating(weights, out_c, groups, 1)),
        };
        let kernel = self.packing(node).map_or(kernel, |packing| packing.kernel(kernel));
        let (packed, layer) = self.dynamic_layer(node, packed, clamp)?;
        let (rx, ry) = (self.rows(x)?, self.rows(node.result)?);
        let scales = self.region(node.operands[1])?;
        for image in 0..batch {
            let args = vec![
                Arg::Struct(conv.clone()),
                rows(rx, batch, image),
                packed.clone(),
                layer.clone(),
                Arg::Cells(Cells::All(scales.part(image * DYNAMIC_ROW, DYNAMIC_ROW))),
                rows(ry, batch, image),
                self.band(out_h),
            ];
            self.call(kernel, args);
        }
        Ok(())
    }

    pub(super) fn dynamic_dense(&mut self, node: &'a Node, clamp: &Clamp) -> Selected {
        let [x, y] = [node.operands[0], node.result].map(|id| self.region(id));
        let (k, n) = (self.ty(node.operands[0]).shape.last(), self.ty(node.result).shape.last());
        let weights = alternating(self.data(node, node.operands[2], "weights")?, n, 1, 1);
        let (packed, layer) = self.dynamic_layer(node, weights, clamp)?;
        let scales = Arg::Cells(Cells::All(self.region(node.operands[1])?));
        let args = vec![whole(x?, k), packed, layer, scales, whole(y?, n)];
        let kernel = KernelId::DenseI8F32Dynamic;
        self.call(self.packing(node).map_or(kernel, |packing| packing.kernel(kernel)), args);
        Ok(())
    }

    /// Packed weights, and the kernels' `DynamicLayer`.
    fn dynamic_layer(&mut self, node: &'a Node, packed: Data, clamp: &Clamp) -> Result<(Arg, Arg), Problem> {
        let (w, b) = (node.operands[2], node.operands[3]);
        let bias = self.data(node, b, "biases")?.clone();
        let weights = self.data(node, w, "weights")?.to_i8();
        let filters = self.ty(w).shape.dims().first().copied().unwrap_or(1).max(1);
        let sum = |filter: &[i8]| filter.iter().map(|&w| i32::from(w)).sum::<i32>();
        let sums: Vec<i32> = weights.chunks((weights.len() / filters).max(1)).map(sum).collect();
        let Some(quant) = self.ty(w).quant.as_ref() else { return Err(self.no_kernel(node)) };
        let scales: Vec<f32> = quant.scales.iter().map(|scale| scale.0).collect();
        let scales = self.step_constant("SCALES", Data::from_f32(&scales));
        let element = self.packing(node).map_or(Element::I8, Element::from);
        let packed = self.stored(node, packed);
        let packed = self.step_constant("WEIGHTS", packed);
        let bias = self.step_constant("BIAS", bias);
        let sums = self.step_constant("SUMS", Data::from_i32(&sums));
        let (lo, hi) = clamp.float_bounds();
        let fields = vec![
            ("scales", Field::Constant(scales, Element::F32)),
            ("sums", Field::Constant(sums, Element::I32)),
            ("bias", Field::Constant(bias, Element::F32)),
            ("lo", Field::Float(lo)),
            ("hi", Field::Float(hi)),
        ];
        Ok((Arg::Constant(packed, element), Arg::Struct(Struct { name: "DynamicLayer", fields })))
    }
}
