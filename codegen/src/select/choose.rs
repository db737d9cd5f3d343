//! Comparisons, choices, changes of type, and reductions.

use super::movement::word;
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
        let kernels = comparison_kernels(function);
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
                self.binary(node, kernels.scaled_i8, vec![params])
            }
            (_, CompareRescale::FixedPoint { .. }) => Err(self.no_kernel(node)),
            (dtype, CompareRescale::Stored) => {
                let kernel = match dtype {
                    DType::F32 => kernels.f32,
                    DType::I8 => kernels.i8,
                    DType::U8 | DType::Bool => kernels.u8,
                    DType::I16 => kernels.i16,
                    DType::I32 => kernels.i32,
                    DType::I64 => kernels.i64,
                };
                self.binary(node, kernel, Vec::new())
            }
        }
    }

    pub(super) fn select(&mut self, node: &'a Node) -> Selected {
        self.broadcasting(node, "select", ("Choice", &["c", "a", "b"]), Vec::new())?;
        // Elements are moved as words of their size.
        let element = word(rust_element(self.ty(node.result).dtype));
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
            DType::Bool => self.unary(node, "cast_to_bool", Vec::new()),
            _ => self.unary(node, "cast", Vec::new()),
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
            (Reduction::Max, None, _) => self.unary(node, "reduce_max", vec![params]),
            (Reduction::Min, None, _) => self.unary(node, "reduce_min", vec![params]),
            (Reduction::Sum, Some(multiplier), DType::I8 | DType::I16) => {
                // A mean is a sum whose factor has the number of elements in it.
                let zero = |ty: &Type| Arg::Int(ty.zero_point().into());
                let by = Arg::Struct(scale(multiplier));
                let (kernel, lo, hi) = match tx.dtype {
                    DType::I8 => ("mean_i8", i8::MIN.into(), i8::MAX.into()),
                    _ => ("mean_i16", i16::MIN.into(), i16::MAX.into()),
                };
                self.unary(node, kernel, vec![params, zero(tx), by, zero(out), Arg::Int(lo), Arg::Int(hi)])
            }
            (Reduction::Product, Some(multiplier), DType::I8) => {
                let (x_zero, by) = (Arg::Int(tx.zero_point().into()), Arg::Struct(scale(multiplier)));
                let out_zero = Arg::Int(out.zero_point().into());
                self.unary(node, "reduce_product_i8", vec![params, x_zero, by, out_zero])
            }
            (Reduction::Sum, None, DType::F32 | DType::I32 | DType::I64) => {
                self.unary(node, "reduce_sum", vec![params])
            }
            (Reduction::Product, None, DType::F32 | DType::I32 | DType::I64) => {
                self.unary(node, "reduce_product", vec![params])
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn arg_reduce(&mut self, node: &'a Node, axis: usize, largest: bool) -> Selected {
        let params = self.along(node, axis);
        self.unary(node, if largest { "arg_max" } else { "arg_min" }, vec![params])
    }

    pub(super) fn cumsum(&mut self, node: &'a Node, axis: usize, exclusive: bool, reverse: bool) -> Selected {
        let kernel = match self.ty(node.result).dtype {
            DType::F32 => "cumsum_f32",
            DType::I32 => "cumsum_i32",
            DType::I64 => "cumsum_i64",
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

/// The kernels of a comparison.
struct ComparisonKernels {
    f32: &'static str,
    i8: &'static str,
    u8: &'static str,
    i16: &'static str,
    i32: &'static str,
    i64: &'static str,
    scaled_i8: &'static str,
}

macro_rules! kernels {
    ($name:literal) => {
        ComparisonKernels {
            f32: concat!($name, "_f32"),
            i8: concat!($name, "_i8"),
            u8: concat!($name, "_u8"),
            i16: concat!($name, "_i16"),
            i32: concat!($name, "_i32"),
            i64: concat!($name, "_i64"),
            scaled_i8: concat!($name, "_scaled_i8"),
        }
    };
}

fn comparison_kernels(function: Comparison) -> ComparisonKernels {
    match function {
        Comparison::Equal => kernels!("equal"),
        Comparison::Greater => kernels!("greater"),
        Comparison::GreaterEqual => kernels!("greater_equal"),
        Comparison::Less => kernels!("less"),
        Comparison::LessEqual => kernels!("less_equal"),
        Comparison::NotEqual => kernels!("not_equal"),
    }
}
