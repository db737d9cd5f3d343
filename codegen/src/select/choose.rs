//! Comparisons, choices, changes of type, and reductions.

use super::*;
use crate::ir::{CompareRescale, Comparison};

impl<'a> Selector<'a> {
    pub(super) fn compare(
        &mut self,
        node: &'a Node,
        function: Comparison,
        rescale: &CompareRescale,
    ) -> Selected {
        let (tx, ty) = (self.ty(node.operands[0]), self.ty(node.operands[1]));
        let [f32, i8, u8, i16, i32, i64, scaled_i8] = comparison_kernels(function);
        match (tx.dtype, rescale) {
            (DType::I8, CompareRescale::FixedPoint { left_shift, x, y }) => {
                let fields = vec![
                    ("left_shift", Field::Int((*left_shift).into())),
                    ("x_zero", Field::Int(tx.zero_point().into())),
                    ("x", Field::Struct(scale(x))),
                    ("y_zero", Field::Int(ty.zero_point().into())),
                    ("y", Field::Struct(scale(y))),
                ];
                let params = Arg::Struct(Struct { name: "CompareParams", fields });
                self.binary(node, scaled_i8, vec![params])
            }
            (_, CompareRescale::FixedPoint { .. }) => Err(self.no_kernel(node)),
            (dtype, CompareRescale::Stored) => {
                let kernel = match dtype {
                    DType::F32 => f32,
                    DType::I8 => i8,
                    DType::U8 | DType::Bool => u8,
                    DType::I16 => i16,
                    DType::I32 => i32,
                    DType::I64 => i64,
                };
                self.binary(node, kernel, Vec::new())
            }
        }
    }

    pub(super) fn select(&mut self, node: &'a Node) -> Selected {
        self.broadcasting(node, KernelId::Select, ("Choice", &["c", "a", "b"]), Vec::new())?;
        // Elements are moved as words of their size.
        let element = Element::from(self.ty(node.result).dtype).word();
        let Some(call) = self.program.calls.last_mut() else { return Ok(()) };
        for arg in call.args.iter_mut().skip(2) {
            match arg {
                Arg::Cells(cells) => *cells = cells.seen_as(element),
                Arg::Constant(_, of) => *of = element,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn cast(&mut self, node: &'a Node) -> Selected {
        let (from, to) = (self.ty(node.operands[0]).dtype, self.ty(node.result).dtype);
        match to {
            _ if from == to => self.reshape(node),
            DType::Bool => self.unary(node, KernelId::CastToBool, Vec::new()),
            _ => self.unary(node, KernelId::Cast, Vec::new()),
        }
    }

    pub(super) fn reduce(
        &mut self,
        node: &'a Node,
        function: Reduction,
        axes: &[usize],
        rescale: &Rescale,
    ) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let params = self.reduced(node, axes)?;
        match (function, single(rescale), tx.dtype) {
            (Reduction::Max, None, _) => self.unary(node, KernelId::ReduceMax, vec![params]),
            (Reduction::Min, None, _) => self.unary(node, KernelId::ReduceMin, vec![params]),
            (Reduction::Sum, Some(multiplier), DType::I8 | DType::I16) => {
                // A mean is a sum whose factor has the number of elements in it.
                let zero = |ty: &Type| Arg::Int(ty.zero_point().into());
                let by = Arg::Struct(scale(multiplier));
                let (kernel, lo, hi) = match tx.dtype {
                    DType::I8 => (KernelId::MeanI8, i8::MIN.into(), i8::MAX.into()),
                    _ => (KernelId::MeanI16, i16::MIN.into(), i16::MAX.into()),
                };
                self.unary(node, kernel, vec![params, zero(tx), by, zero(out), Arg::Int(lo), Arg::Int(hi)])
            }
            (Reduction::Product, Some(multiplier), DType::I8) => {
                let (x_zero, by) = (Arg::Int(tx.zero_point().into()), Arg::Struct(scale(multiplier)));
                let out_zero = Arg::Int(out.zero_point().into());
                self.unary(node, KernelId::ReduceProductI8, vec![params, x_zero, by, out_zero])
            }
            (Reduction::Sum, None, DType::F32 | DType::I32 | DType::I64) => {
                self.unary(node, KernelId::ReduceSum, vec![params])
            }
            (Reduction::Product, None, DType::F32 | DType::I32 | DType::I64) => {
                self.unary(node, KernelId::ReduceProduct, vec![params])
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn arg_reduce(&mut self, node: &'a Node, axis: usize, largest: bool) -> Selected {
        let params = self.along(node, axis);
        self.unary(node, if largest { KernelId::ArgMax } else { KernelId::ArgMin }, vec![params])
    }

    pub(super) fn cumsum(&mut self, node: &'a Node, axis: usize, exclusive: bool, reverse: bool) -> Selected {
        let kernel = match self.ty(node.result).dtype {
            DType::F32 => KernelId::CumsumF32,
            DType::I32 => KernelId::CumsumI32,
            DType::I64 => KernelId::CumsumI64,
            _ => return Err(self.no_kernel(node)),
        };
        let generics = vec![Generic::Flag(exclusive), Generic::Flag(reverse)];
        let params = self.along(node, axis);
        let cells = |id| Ok(Arg::Cells(self.cells(id, node.result)?));
        let args = vec![params, cells(node.operands[0])?, cells(node.result)?];
        self.call_generic(kernel, generics, args);
        Ok(())
    }

    /// An axis of the operand.
    fn along(&self, node: &Node, axis: usize) -> Arg {
        let dims = self.ty(node.operands[0]).shape.dims();
        let fields = vec![
            ("outer", int(dims[..axis].iter().product())),
            ("len", int(dims[axis])),
            ("inner", int(dims[axis + 1..].iter().product())),
        ];
        Arg::Struct(Struct { name: "Along", fields })
    }
}

/// The kernels of a comparison: of each type as it is stored, and of int8 that is rescaled.
fn comparison_kernels(function: Comparison) -> [KernelId; 7] {
    use KernelId::*;
    match function {
        Comparison::Equal => [EqualF32, EqualI8, EqualU8, EqualI16, EqualI32, EqualI64, EqualI8Scaled],
        Comparison::Greater => {
            [GreaterF32, GreaterI8, GreaterU8, GreaterI16, GreaterI32, GreaterI64, GreaterI8Scaled]
        }
        Comparison::GreaterEqual => [
            GreaterEqualF32,
            GreaterEqualI8,
            GreaterEqualU8,
            GreaterEqualI16,
            GreaterEqualI32,
            GreaterEqualI64,
            GreaterEqualI8Scaled,
        ],
        Comparison::Less => [LessF32, LessI8, LessU8, LessI16, LessI32, LessI64, LessI8Scaled],
        Comparison::LessEqual => [
            LessEqualF32,
            LessEqualI8,
            LessEqualU8,
            LessEqualI16,
            LessEqualI32,
            LessEqualI64,
            LessEqualI8Scaled,
        ],
        Comparison::NotEqual => {
            [NotEqualF32, NotEqualI8, NotEqualU8, NotEqualI16, NotEqualI32, NotEqualI64, NotEqualI8Scaled]
        }
    }
}
