//! Convolutions with weights or a bias that are computed while the model runs.

use super::conv::float_range;
use super::shape::Shape as Sizes;
use super::*;
use crate::ir::Window;

impl<'a> Selector<'a> {
    pub(super) fn computed_conv(
        &mut self,
        node: &'a Node,
        window: &Window,
        groups: usize,
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Selected {
        let [x, w, bias] = node.operands[..] else { return Err(self.no_kernel(node)) };
        let types = [x, w, bias, node.result].map(|id| self.ty(id));
        // Kernels know one zero point of all filters.
        let quant = types[1].quant.as_ref();
        let zeros = quant.map_or(&[][..], |quant| &quant.zero_points);
        let w_zero = zeros.first().copied().unwrap_or(0);
        if zeros.iter().any(|&zero| zero != w_zero) {
            return Err(self.no_kernel(node));
        }
        let sizes = Sizes::of_window(self.graph, node, window, groups, Default::default());
        let sizes = sizes.ok_or_else(|| self.no_kernel(node))?;
        let fields = vec![
            ("conv", Field::Struct(self.conv_params(&sizes))),
            ("images", int(sizes.images)),
            ("out_h", int(sizes.out_h)),
            ("x_zero", Field::Int(types[0].zero_point().into())),
            ("w_zero", Field::Int(w_zero.into())),
        ];
        let mut args = vec![Arg::Struct(Struct { name: "ComputedConv", fields })];
        let kernel = match (types.map(|ty| ty.dtype), rescale) {
            ([DType::F32, DType::F32, DType::F32, DType::F32], Rescale::Real) => {
                let (kernel, lo, hi) = float_range(KernelId::ComputedConv2dF32, clamp);
                args.extend([lo, hi]);
                kernel
            }
            ([DType::I8, DType::I8, DType::I32, DType::I8], Rescale::FixedPoint(list)) => {
                args.push(Arg::Struct(self.requant_struct(node, list, clamp)));
                KernelId::ComputedConv2dI8
            }
            ([DType::I8, DType::I8, DType::I32, DType::I8], Rescale::Once(list)) => {
                args.push(Arg::Struct(self.requant_struct(node, list, clamp)));
                KernelId::ComputedConv2dI8Once
            }
            ([DType::I8, DType::I8, DType::I32, DType::I8], Rescale::Float(list)) => {
                args.push(Arg::Struct(self.float_requant(node, list, clamp)));
                KernelId::ComputedConv2dI8Float
            }
            ([DType::I16, DType::I8, DType::I32 | DType::I64, DType::I16], Rescale::FixedPoint(list)) => {
                let zeros = [types[0].zero_point(), w_zero, types[3].zero_point()];
                if zeros != [0; 3] {
                    return Err(self.no_kernel(node));
                }
                args.push(Arg::Struct(self.requant_struct(node, list, clamp)));
                match types[2].dtype {
                    DType::I64 => KernelId::ComputedConv2dI16,
                    _ => KernelId::ComputedConv2dI16Narrow,
                }
            }
            _ => return Err(self.no_kernel(node)),
        };
        args.extend(self.operands_and_result(node)?);
        self.call(kernel, args);
        Ok(())
    }
}
