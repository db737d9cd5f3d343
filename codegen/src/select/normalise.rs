//! Logarithms of a softmax, vectors of length 1, products of matrices, and images of another size.

use super::conv::float_range;
use super::elementwise::broadcast_strides;
use super::movement::{pad6, MAX_RANK};
use super::*;
use crate::ir::{Clamp, Shape, SoftmaxScale};

impl<'a> Selector<'a> {
    pub(super) fn log_softmax(&mut self, node: &'a Node, exps: &SoftmaxScale, divisor: &Rescale) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let depth = Arg::Int(tx.shape.last() as i64);
        match (tx.dtype, out.dtype, exps, single(divisor)) {
            (DType::F32, DType::F32, SoftmaxScale::Real, _) => {
                self.unary(node, KernelId::LogSoftmaxF32, vec![depth])
            }
            (DType::I8, DType::I8, SoftmaxScale::FixedPoint { multiplier, diff_min }, Some(divisor)) => {
                let table = self.step_constant("EXPS", Data::from_i32(&tables::exponentials(exps)));
                let fields = vec![
                    ("diff", Field::Struct(scale(multiplier))),
                    ("diff_min", Field::Int((*diff_min).into())),
                    ("divisor", Field::Struct(scale(divisor))),
                ];
                let params = Arg::Struct(Struct { name: "LogSoftmax", fields });
                self.unary(
                    node,
                    KernelId::LogSoftmaxI8,
                    vec![depth, params, Arg::Constant(table, Element::I32)],
                )
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn l2_normalize(&mut self, node: &'a Node) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let depth = Arg::Int(tx.shape.last() as i64);
        match (tx.dtype, out.dtype) {
            (DType::F32, DType::F32) => self.unary(node, KernelId::L2NormalizeF32, vec![depth]),
            (DType::I8, DType::I8) => {
                self.unary(node, KernelId::L2NormalizeI8, vec![depth, Arg::Int(tx.zero_point().into())])
            }
            (DType::U8, DType::U8) => {
                self.unary(node, KernelId::L2NormalizeU8, vec![depth, Arg::Int(tx.zero_point().into())])
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn local_normalize(
        &mut self,
        node: &'a Node,
        radius: usize,
        [bias, alpha, beta]: [f32; 3],
    ) -> Selected {
        let depth = self.ty(node.operands[0]).shape.last();
        // No row is longer.
        let sizes = [depth, radius.min(depth)].map(|size| Arg::Int(size as i64));
        let factors = [bias, alpha, beta].map(Arg::Float);
        self.unary(node, KernelId::LocalNormalizeF32, sizes.into_iter().chain(factors).collect())
    }

    pub(super) fn inverse_root(&mut self, node: &'a Node, rescale: &Rescale) -> Selected {
        let Some(by) = single(rescale) else { return Err(self.no_kernel(node)) };
        self.unary(node, KernelId::InverseRootI16, vec![Arg::Struct(scale(by))])
    }

    pub(super) fn top_k(&mut self, node: &'a Node) -> Selected {
        let [depth, k] = [node.operands[0], node.result].map(|id| Arg::Int(self.ty(id).shape.last() as i64));
        self.unary(node, KernelId::TopK, vec![depth, k])
    }

    pub(super) fn squared_distances(&mut self, node: &'a Node) -> Selected {
        let mut args = vec![Arg::Int(self.ty(node.operands[0]).shape.last() as i64)];
        args.extend(self.operands_and_result(node)?);
        self.call(KernelId::SquaredDistancesF32, args);
        Ok(())
    }

    pub(super) fn trees(&mut self, node: &'a Node, least: bool) -> Selected {
        let table = self.data(node, node.operands[1], "trees")?.clone();
        let roots = self.data(node, node.operands[2], "trees")?.clone();
        let (table, roots) = (self.step_constant("TREES", table), self.step_constant("ROOTS", roots));
        let [features, targets] =
            [node.operands[0], node.result].map(|id| Arg::Int(self.ty(id).shape.last() as i64));
        let args =
            vec![features, targets, Arg::Constant(table, Element::I32), Arg::Constant(roots, Element::I32)];
        self.unary(node, if least { KernelId::TreesLeastF32 } else { KernelId::TreesF32 }, args)
    }

    /// A product of matrices; of floats in vectors, where there are cells to work in.
    pub(super) fn matmul(
        &mut self,
        node: &'a Node,
        rescale: &Rescale,
        clamp: &Clamp,
        work: Option<Arg>,
    ) -> Selected {
        let (tx, ty) = (self.ty(node.operands[0]), self.ty(node.operands[1]));
        let out = self.ty(node.result);
        let Some(lead) = out.shape.rank().checked_sub(2).filter(|&lead| lead <= MAX_RANK) else {
            return Err(self.too_many_axes(node, out.shape.rank()));
        };
        let (front, last) = out.shape.dims().split_at(lead);
        // Strides of whole matrices.
        let strides = |ty: &Type| {
            let (front, last) = ty.shape.dims().split_at(ty.shape.rank() - 2);
            let size: usize = last.iter().product();
            let each = broadcast_strides(&Shape::from(front), lead);
            Field::Ints(pad6(&each.iter().map(|stride| stride * size).collect::<Vec<_>>(), 0))
        };
        let fields = vec![
            ("dims", Field::Ints(pad6(front, 1))),
            ("a", strides(tx)),
            ("b", strides(ty)),
            ("m", int(last[0])),
            ("n", int(last[1])),
            ("k", int(tx.shape.last())),
        ];
        let mut args = vec![Arg::Struct(Struct { name: "MatMul", fields })];
        let float = self.float_params(node, rescale, clamp);
        let kernel = match (tx.dtype, ty.dtype, out.dtype, single(rescale)) {
            (DType::I8, DType::I8, DType::I8, None) if float.is_some() => {
                args.extend(float);
                KernelId::MatmulI8Float
            }
            (DType::F32, DType::F32, DType::F32, None) => {
                let kernel = if work.is_some() { KernelId::MatmulF32Simd } else { KernelId::MatmulF32 };
                let (kernel, lo, hi) = float_range(kernel, clamp);
                args.extend([lo, hi]);
                kernel
            }
            (DType::I16, DType::I16, DType::I16, Some(multiplier)) => {
                self.without_zero_points(node)?;
                args.push(self.mul_params(node, multiplier, clamp));
                KernelId::MatmulI16
            }
            (DType::I8, DType::I8, DType::I8, Some(multiplier)) => {
                args.push(self.mul_params(node, multiplier, clamp));
                KernelId::MatmulI8
            }
            _ => return Err(self.no_kernel(node)),
        };
        args.extend(self.operands_and_result(node)?);
        args.extend(work);
        self.call(kernel, args);
        Ok(())
    }

    pub(super) fn resize_bilinear(
        &mut self,
        node: &'a Node,
        align_corners: bool,
        half_pixel: bool,
    ) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let (&[n, in_h, in_w, c], &[_, out_h, out_w, _]) = (tx.shape.dims(), out.shape.dims()) else {
            return Err(self.no_kernel(node));
        };
        let fields = vec![
            ("images", int(n)),
            ("in_h", int(in_h)),
            ("in_w", int(in_w)),
            ("c", int(c)),
            ("out_h", int(out_h)),
            ("out_w", int(out_w)),
        ];
        let image = Arg::Struct(Struct { name: "Resize", fields });
        match (tx.dtype, out.dtype) {
            (DType::F32, DType::F32) | (DType::U8, DType::U8) => {
                let side = |from, to| Arg::Float(tables::pixels(from, to, align_corners));
                // Half a pixel, or none.
                let half = Arg::Float(if half_pixel { 0.5 } else { 0.0 });
                let args = vec![image, side(in_h, out_h), side(in_w, out_w), half];
                let kernel = match tx.dtype {
                    DType::F32 => KernelId::ResizeBilinearF32,
                    _ => KernelId::ResizeBilinearU8,
                };
                self.unary(node, kernel, args)
            }
            (DType::I8, DType::I8) | (DType::I16, DType::I16) => {
                let scales = [
                    tables::pixels_of_1024(in_h, out_h, align_corners),
                    tables::pixels_of_1024(in_w, out_w, align_corners),
                ];
                let start = |scale: i64| if half_pixel { scale / 2 - 512 } else { 0 };
                let mut args = vec![image];
                for scale in scales {
                    args.extend([Arg::Int(scale), Arg::Int(start(scale))]);
                }
                let kernel = match tx.dtype {
                    DType::I8 => KernelId::ResizeBilinearI8,
                    _ => KernelId::ResizeBilinearI16,
                };
                self.unary(node, kernel, args)
            }
            _ => Err(self.no_kernel(node)),
        }
    }
}
