//! Elementwise ops, tables, quantisation, softmax and reductions.

use super::conv::{float_range, int_range};
use super::movement::{pad6, MAX_RANK};
use super::*;
use crate::ir::{AddRescale, Binary, Clamp, LeakyRescale, Rounding, Shape, SoftmaxScale, Unary};

impl<'a> Selector<'a> {
    pub(super) fn add(&mut self, node: &'a Node, rescale: &AddRescale, clamp: &Clamp) -> Selected {
        let (tx, ty, out) = (self.ty(node.operands[0]), self.ty(node.operands[1]), self.ty(node.result));
        let adds = matches!(node.op, Op::Add { .. });
        match (tx.dtype, ty.dtype, out.dtype, rescale) {
            (DType::I8, DType::I8, DType::I8, AddRescale::FixedPoint { left_shift, x, y, out: o }) => {
                let params = self.add_params(node, (*left_shift, x, y, o), clamp);
                self.binary(node, if adds { KernelId::AddI8 } else { KernelId::SubI8 }, vec![params])
            }
            (DType::I8, DType::I8, DType::I8, AddRescale::Float { x, y, constant, offset }) => {
                let (lo, hi) = clamp.int_bounds();
                let fields = vec![
                    ("x", Field::Float(x.0)),
                    ("y", Field::Float(y.0)),
                    ("constant", Field::Float(constant.0)),
                    ("offset", Field::Int((*offset).into())),
                    ("lo", Field::Int(lo.into())),
                    ("hi", Field::Int(hi.into())),
                ];
                self.binary(
                    node,
                    KernelId::AddI8Float,
                    vec![Arg::Struct(Struct { name: "AddFloat", fields })],
                )
            }
            (DType::I16, DType::I16, DType::I16, AddRescale::FixedPoint { left_shift, x, y, out: o }) => {
                self.without_zero_points(node)?;
                let params = self.add_params(node, (*left_shift, x, y, o), clamp);
                self.binary(node, if adds { KernelId::AddI16 } else { KernelId::SubI16 }, vec![params])
            }
            (DType::F32, DType::F32, DType::F32, AddRescale::Real) => {
                let (kernel, lo, hi) =
                    float_range(if adds { KernelId::AddF32 } else { KernelId::SubF32 }, clamp);
                self.binary(node, kernel, vec![lo, hi])
            }
            (a, b, DType::I32 | DType::I64, AddRescale::Real) if a == out.dtype && b == out.dtype => {
                let kernels = match adds {
                    true => [KernelId::AddI32, KernelId::AddI64],
                    false => [KernelId::SubI32, KernelId::SubI64],
                };
                self.plain(node, kernels, clamp)
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    /// A function of plain integers, by its kernels for 32 and 64 bits.
    fn plain(&mut self, node: &'a Node, kernels: [KernelId; 2], clamp: &Clamp) -> Selected {
        let (lo, hi) = clamp.int_bounds();
        let (kernel, lo, hi) = match self.ty(node.result).dtype {
            // The ends of the smaller range are no bounds of the larger one.
            DType::I64 => (
                kernels[1],
                if lo == i32::MIN { i64::MIN } else { lo.into() },
                if hi == i32::MAX { i64::MAX } else { hi.into() },
            ),
            _ => (kernels[0], lo.into(), hi.into()),
        };
        self.binary(node, kernel, vec![Arg::Int(lo), Arg::Int(hi)])
    }

    pub(super) fn mul(&mut self, node: &'a Node, rescale: &Rescale, clamp: &Clamp) -> Selected {
        let (tx, ty, out) = (self.ty(node.operands[0]), self.ty(node.operands[1]), self.ty(node.result));
        if let Some(params) = self.float_params(node, rescale, clamp) {
            return self.binary(node, KernelId::MulI8Float, vec![params]);
        }
        match (tx.dtype, ty.dtype, out.dtype, single(rescale)) {
            (DType::I8, DType::I8, DType::I8, Some(multiplier)) => {
                let params = self.mul_params(node, multiplier, clamp);
                self.binary(node, KernelId::MulI8, vec![params])
            }
            (DType::I16, DType::I16, DType::I16, Some(multiplier)) => {
                self.without_zero_points(node)?;
                let params = self.mul_params(node, multiplier, clamp);
                self.binary(node, KernelId::MulI16, vec![params])
            }
            (DType::F32, DType::F32, DType::F32, None) => {
                let (kernel, lo, hi) = float_range(KernelId::MulF32, clamp);
                self.binary(node, kernel, vec![lo, hi])
            }
            (a, b, DType::I32 | DType::I64, None) if a == out.dtype && b == out.dtype => {
                self.plain(node, [KernelId::MulI32, KernelId::MulI64], clamp)
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn function_of_two(
        &mut self,
        node: &'a Node,
        function: Binary,
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Selected {
        if let Rescale::FixedPoint(by) = rescale {
            return self.stored_function_of_two(node, function, by, clamp);
        }
        let plain = matches!(self.ty(node.result).dtype, DType::I32 | DType::I64);
        let integers = match function {
            Binary::Div => Some([KernelId::DivI32, KernelId::DivI64]),
            Binary::FloorDiv => Some([KernelId::FloorDivI32, KernelId::FloorDivI64]),
            Binary::FloorMod => Some([KernelId::FloorModI32, KernelId::FloorModI64]),
            Binary::Max => Some([KernelId::MaxI32, KernelId::MaxI64]),
            Binary::Min => Some([KernelId::MinI32, KernelId::MinI64]),
            Binary::Pow => Some([KernelId::PowI32, KernelId::PowI64]),
            Binary::SquaredDifference => {
                Some([KernelId::SquaredDifferenceI32, KernelId::SquaredDifferenceI64])
            }
            _ => None,
        };
        if let Some(kernels) = integers.filter(|_| plain) {
            return self.plain(node, kernels, clamp);
        }
        let kernel = match (function, self.ty(node.result).dtype) {
            (Binary::Atan2, DType::F32) => KernelId::Atan2F32,
            (Binary::Div, DType::F32) => KernelId::DivF32,
            (Binary::FloorDiv, DType::F32) => KernelId::FloorDivF32,
            (Binary::FloorMod, DType::F32) => KernelId::FloorModF32,
            (Binary::Max, DType::F32) => KernelId::MaxF32,
            (Binary::Min, DType::F32) => KernelId::MinF32,
            (Binary::Pow, DType::F32) => KernelId::PowF32,
            (Binary::Prelu, DType::F32) => KernelId::PreluF32,
            (Binary::SquaredDifference, DType::F32) => KernelId::SquaredDifferenceF32,
            (Binary::Max, DType::I8) => KernelId::MaxI8,
            (Binary::Min, DType::I8) => KernelId::MinI8,
            (Binary::Max, DType::I16) => KernelId::MaxI16,
            (Binary::Min, DType::I16) => KernelId::MinI16,
            _ => return Err(self.no_kernel(node)),
        };
        let (kernel, lo, hi) = match self.ty(node.result).dtype {
            DType::F32 => float_range(kernel, clamp),
            _ => int_range(kernel, clamp),
        };
        self.binary(node, kernel, vec![lo, hi])
    }

    /// Arithmetic of its own on int8.
    fn stored_function_of_two(
        &mut self,
        node: &'a Node,
        function: Binary,
        by: &[Multiplier],
        clamp: &Clamp,
    ) -> Selected {
        let dtype = self.ty(node.result).dtype;
        match (function, by) {
            (Binary::SquaredDifference, [x, y, out]) if dtype == DType::I16 => {
                self.without_zero_points(node)?;
                let params = self.add_params(node, (function.left_shift(dtype), x, y, out), clamp);
                self.binary(node, KernelId::SquaredDifferenceI16, vec![params])
            }
            _ if dtype != DType::I8 => Err(self.no_kernel(node)),
            (Binary::Div, [out]) => {
                let reciprocals = Data::from_i32(&tables::reciprocals());
                let reciprocals = self.constant_arg("RECIPROCALS", reciprocals, Element::I32);
                self.binary(node, KernelId::DivI8, vec![self.mul_params(node, out, clamp), reciprocals])
            }
            (Binary::Prelu, [identity, product]) => {
                let params = self.mul_params(node, product, clamp);
                self.binary(node, KernelId::PreluI8, vec![params, Arg::Struct(scale(identity))])
            }
            (Binary::SquaredDifference, [x, y, out]) => {
                let params = self.add_params(node, (function.left_shift(dtype), x, y, out), clamp);
                self.binary(node, KernelId::SquaredDifferenceI8, vec![params])
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    /// Bits of headroom; factors of the operands and of what they give together.
    fn add_params(
        &self,
        node: &Node,
        (left_shift, x, y, out): (u32, &Multiplier, &Multiplier, &Multiplier),
        clamp: &Clamp,
    ) -> Arg {
        let (lo, hi) = clamp.int_bounds();
        let zero = |id| Field::Int(self.ty(id).zero_point().into());
        let fields = vec![
            ("left_shift", Field::Int(left_shift.into())),
            ("x_zero", zero(node.operands[0])),
            ("x", Field::Struct(scale(x))),
            ("y_zero", zero(node.operands[1])),
            ("y", Field::Struct(scale(y))),
            ("out_zero", zero(node.result)),
            ("out", Field::Struct(scale(out))),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Arg::Struct(Struct { name: "AddParams", fields })
    }

    pub(super) fn mul_params(&self, node: &Node, out: &Multiplier, clamp: &Clamp) -> Arg {
        let (lo, hi) = clamp.int_bounds();
        let zero = |id| Field::Int(self.ty(id).zero_point().into());
        let fields = vec![
            ("x_zero", zero(node.operands[0])),
            ("y_zero", zero(node.operands[1])),
            ("out_zero", zero(node.result)),
            ("out", Field::Struct(scale(out))),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Arg::Struct(Struct { name: "MulParams", fields })
    }

    /// The kernels' `MulFloat`, for products of 8 bits whose sums are rescaled as floats.
    pub(super) fn float_params(&self, node: &Node, rescale: &Rescale, clamp: &Clamp) -> Option<Arg> {
        let zero = |id| self.ty(id).zero_point();
        let out = zero(node.result);
        let (by, plus) = match rescale {
            Rescale::Float(factors) => (factors.first()?.0, 0),
            Rescale::FloatSum { by, plus } => (by.0, *plus),
            _ => return None,
        };
        if self.ty(node.result).dtype != DType::I8 {
            return None;
        }
        let (lo, hi) = clamp.int_bounds();
        let fields = vec![
            ("x_zero", Field::Int(zero(node.operands[0]).into())),
            ("y_zero", Field::Int(zero(node.operands[1]).into())),
            ("by", Field::Float(by)),
            ("plus", Field::Float(plus as f32)),
            ("minus", Field::Int(i64::from(plus) - i64::from(out))),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Some(Arg::Struct(Struct { name: "MulFloat", fields }))
    }

    pub(super) fn binary(&mut self, node: &'a Node, kernel: KernelId, params: Vec<Arg>) -> Selected {
        self.broadcasting(node, kernel, ("Broadcast", &["a", "b"]), params)
    }

    /// A kernel that reads its operands through strides, in a struct of that name with a field for each of them.
    pub(super) fn broadcasting(
        &mut self,
        node: &'a Node,
        kernel: KernelId,
        (name, operands): (&'static str, &[&'static str]),
        params: Vec<Arg>,
    ) -> Selected {
        let rank = self.ty(node.result).shape.rank();
        if rank > MAX_RANK {
            return Err(self.too_many_axes(node, rank));
        }
        let out = self.shape_of_call(node.result, node.result);
        let out = out.dims();
        let mut fields = vec![("dims", Field::Ints(pad6(out, 1)))];
        for (&field, &id) in operands.iter().zip(&node.operands) {
            let strides = broadcast_strides(&self.shape_of_call(id, node.result), out.len());
            fields.push((field, Field::Ints(pad6(&strides, 0))));
        }
        let mut args = vec![Arg::Struct(Struct { name, fields })];
        args.extend(params);
        args.extend(self.operands_and_result(node)?);
        self.call(kernel, args);
        Ok(())
    }

    /// All operands as `Read` arguments, and the result.
    pub(super) fn operands_and_result(&mut self, node: &Node) -> Result<Vec<Arg>, Problem> {
        let mut args = Vec::new();
        for &operand in &node.operands {
            args.push(self.read(operand, node.result)?);
        }
        args.push(Arg::Cells(self.cells(node.result, node.result)?));
        Ok(args)
    }

    /// An operand of `result` as a `Read` argument: cells, or a slice of a constant.
    pub(super) fn read(&mut self, id: ValueId, result: ValueId) -> Result<Arg, Problem> {
        let source = self.source_of(id, result)?;
        Ok(self.source_arg(source, Element::from(self.ty(id).dtype)))
    }

    /// Kernels for `i16` know no zero points.
    pub(super) fn without_zero_points(&self, node: &Node) -> Selected {
        let mut values = node.operands.iter().chain([&node.result]);
        match values.all(|&id| self.ty(id).zero_point() == 0) {
            true => Ok(()),
            false => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn clip(&mut self, node: &'a Node, clamp: &Clamp) -> Selected {
        if self.ty(node.result).dtype == DType::I16 {
            let (kernel, lo, hi) = int_range(KernelId::ClipI16, clamp);
            return self.unary(node, kernel, vec![lo, hi]);
        }
        if self.ty(node.result).dtype != DType::F32 {
            return Err(self.no_kernel(node));
        }
        let (kernel, lo, hi) = float_range(KernelId::ClipF32, clamp);
        self.unary(node, kernel, vec![lo, hi])
    }

    pub(super) fn leaky_relu(&mut self, node: &'a Node, alpha: f32, rescale: &LeakyRescale) -> Selected {
        if let (DType::I16, LeakyRescale::FixedPoint { identity, alpha }) =
            (self.ty(node.result).dtype, rescale)
        {
            self.without_zero_points(node)?;
            let factors = vec![Arg::Struct(scale(identity)), Arg::Struct(scale(alpha))];
            return self.unary(node, KernelId::LeakyReluI16, factors);
        }
        if self.ty(node.result).dtype != DType::F32 {
            return Err(self.no_kernel(node));
        }
        self.unary(node, KernelId::LeakyReluF32, vec![Arg::Float(alpha)])
    }

    pub(super) fn float_unary(&mut self, node: &'a Node, kernel: KernelId) -> Selected {
        if self.ty(node.result).dtype != DType::F32 {
            return Err(self.no_kernel(node));
        }
        self.unary(node, kernel, Vec::new())
    }

    pub(super) fn unary(&mut self, node: &'a Node, kernel: KernelId, mut args: Vec<Arg>) -> Selected {
        args.push(Arg::Cells(self.cells(node.operands[0], node.result)?));
        args.push(Arg::Cells(self.cells(node.result, node.result)?));
        self.call(kernel, args);
        Ok(())
    }

    pub(super) fn lookup(&mut self, node: &'a Node) -> Selected {
        let table = self.data(node, node.operands[1], "table")?.clone();
        let one_byte = |id: ValueId| self.ty(id).dtype.size() == 1;
        if !one_byte(node.operands[0]) || !one_byte(node.result) || table.bytes().len() != 256 {
            return Err(self.no_kernel(node));
        }
        let table = self.step_constant("TABLE", table);
        let byte = |id| Ok(Arg::Cells(self.cells(id, node.result)?.seen_as(Element::U8)));
        let args = vec![Arg::Table(table), byte(node.operands[0])?, byte(node.result)?];
        self.call(KernelId::Lookup8, args);
        Ok(())
    }

    pub(super) fn interpolate(&mut self, node: &'a Node) -> Selected {
        let table = self.data(node, node.operands[1], "table")?.clone();
        let table = self.constant_arg("TABLE", table, Element::I16);
        self.unary(node, KernelId::InterpolateI16, vec![table])
    }

    pub(super) fn sigmoid_of_16_bits(&mut self, node: &'a Node, tanh: bool) -> Selected {
        let scale = self.ty(node.operands[0]).scale().ok_or_else(|| self.no_kernel(node))?;
        let (multiplier, right) = tables::sigmoid_steps(scale, i32::from(tanh));
        let kernel = if tanh { KernelId::TanhI16 } else { KernelId::LogisticI16 };
        self.unary(node, kernel, vec![Arg::Int(multiplier.into()), Arg::Int(right.into())])
    }

    pub(super) fn quantize(&mut self, node: &'a Node, rounding: Rounding) -> Selected {
        let out = self.ty(node.result);
        let types = (self.ty(node.operands[0]).dtype, out.dtype);
        let kernel = match (rounding, types) {
            (Rounding::Away, (DType::F32, DType::I8)) => KernelId::QuantizeF32I8,
            (Rounding::Away, (DType::F32, DType::U8)) => KernelId::QuantizeF32U8,
            (Rounding::Away, (DType::F32, DType::I16)) => KernelId::QuantizeF32I16,
            (Rounding::Even, (DType::F32, DType::I8)) => KernelId::QuantizeF32I8Even,
            (Rounding::Even, (DType::F32, DType::I16)) => KernelId::QuantizeF32I16Even,
            (Rounding::EvenInverse, (DType::F32, DType::I8)) => KernelId::QuantizeF32I8EvenInverse,
            (Rounding::EvenInverse, (DType::F32, DType::I16)) => KernelId::QuantizeF32I16EvenInverse,
            (Rounding::EvenSum(_), (DType::F32, DType::I8)) => KernelId::QuantizeF32I8EvenSum,
            _ => return Err(self.no_kernel(node)),
        };
        let Some(step) = out.scale() else { return Err(self.no_kernel(node)) };
        let zero = i64::from(out.zero_point());
        let args = match rounding {
            Rounding::EvenSum(plus) => {
                vec![Arg::Float(step), Arg::Float(plus as f32), Arg::Int(i64::from(plus) - zero)]
            }
            Rounding::EvenInverse => vec![Arg::Float(1.0 / step), Arg::Int(zero)],
            Rounding::Away | Rounding::Even => vec![Arg::Float(step), Arg::Int(zero)],
        };
        self.unary(node, kernel, args)
    }

    pub(super) fn dequantize(&mut self, node: &'a Node) -> Selected {
        let tx = self.ty(node.operands[0]);
        let kernel = match (tx.dtype, self.ty(node.result).dtype) {
            (DType::I8, DType::F32) => KernelId::DequantizeI8F32,
            (DType::U8, DType::F32) => KernelId::DequantizeU8F32,
            (DType::I16, DType::F32) => KernelId::DequantizeI16F32,
            _ => return Err(self.no_kernel(node)),
        };
        let Some(step) = tx.scale() else { return Err(self.no_kernel(node)) };
        self.unary(node, kernel, vec![Arg::Float(step), Arg::Int(tx.zero_point().into())])
    }

    pub(super) fn requantize(&mut self, node: &'a Node, rescale: &Rescale, clamp: &Clamp) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let kernel = match (tx.dtype, out.dtype) {
            (DType::I16, DType::I8) => KernelId::RequantizeI16I8,
            (DType::I16, DType::I16) => KernelId::RequantizeI16,
            (DType::I16, DType::I32) => KernelId::RequantizeI16I32,
            (DType::I8, DType::I16) => KernelId::RequantizeI8I16,
            (DType::I8, DType::I32) => KernelId::RequantizeI8I32,
            (DType::I32, DType::I8) => KernelId::RequantizeI32I8,
            (DType::I32, DType::I16) => KernelId::RequantizeI32I16,
            _ => return Err(self.no_kernel(node)),
        };
        let by = self.one_factor(node, rescale, clamp).ok_or_else(|| self.no_kernel(node))?;
        self.unary(node, kernel, vec![Arg::Int(tx.zero_point().into()), by])
    }

    pub(super) fn softmax(&mut self, node: &'a Node, beta: f32, scale: &SoftmaxScale) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let depth = Arg::Int(tx.shape.last() as i64);
        match (tx.dtype, out.dtype, scale) {
            (DType::I8, DType::I8 | DType::I16, SoftmaxScale::FixedPoint { .. }) => {
                let exps = Data::from_i32(&tables::exponentials(scale));
                let exps = self.constant_arg("EXPS", exps, Element::I32);
                let narrow = out.dtype == DType::I8;
                let kernel = if narrow { KernelId::SoftmaxI8 } else { KernelId::SoftmaxI8I16 };
                self.unary(node, kernel, vec![depth, exps])
            }
            (DType::I16, DType::I16, SoftmaxScale::FixedPoint { multiplier, .. }) => {
                let by = Arg::Struct(super::scale(multiplier));
                let [exp, reciprocal] = tables::softmax_of_16_bits().map(|table| Data::from_i16(&table));
                let exp = self.constant_arg("EXP", exp, Element::I16);
                let reciprocal = self.constant_arg("RECIPROCAL", reciprocal, Element::I16);
                self.unary(node, KernelId::SoftmaxI16, vec![depth, by, exp, reciprocal])
            }
            (DType::F32, DType::F32, SoftmaxScale::Real) => {
                self.unary(node, KernelId::SoftmaxF32, vec![depth, Arg::Float(beta)])
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    pub(super) fn mean(
        &mut self,
        node: &'a Node,
        axes: &[usize],
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let reduce = self.reduced(node, axes)?;
        if let (DType::I8, DType::I8, Rescale::Float(factors)) = (tx.dtype, out.dtype, rescale) {
            let factor = factors.first().map_or(0.0, |factor| factor.0);
            let (kernel, lo, hi) = int_range(KernelId::MeanI8Float, clamp);
            let zero = |ty: &Type| Arg::Int(ty.zero_point().into());
            return self.unary(node, kernel, vec![reduce, zero(tx), Arg::Float(factor), zero(out), lo, hi]);
        }
        match (tx.dtype, out.dtype, single(rescale)) {
            (DType::I8, DType::I8, Some(multiplier)) | (DType::I16, DType::I16, Some(multiplier)) => {
                let kernel = if tx.dtype == DType::I8 { KernelId::MeanI8 } else { KernelId::MeanI16 };
                let (kernel, lo, hi) = int_range(kernel, clamp);
                let by = Arg::Struct(scale(multiplier));
                let zero = |ty: &Type| Arg::Int(ty.zero_point().into());
                self.unary(node, kernel, vec![reduce, zero(tx), by, zero(out), lo, hi])
            }
            (DType::F32, DType::F32, None) => {
                let (kernel, lo, hi) = float_range(KernelId::MeanF32, clamp);
                self.unary(node, kernel, vec![reduce, lo, hi])
            }
            _ => Err(self.no_kernel(node)),
        }
    }

    /// The kept and reduced axes of the operand.
    pub(super) fn reduced(&self, node: &Node, axes: &[usize]) -> Result<Arg, Problem> {
        let shape = &self.ty(node.operands[0]).shape;
        if shape.rank() > MAX_RANK {
            return Err(self.too_many_axes(node, shape.rank()));
        }
        let strides = shape.strides();
        let (inner, outer): (Vec<usize>, Vec<usize>) =
            (0..shape.rank()).partition(|axis| axes.contains(axis));
        let dims =
            |of: &[usize]| Field::Ints(pad6(&of.iter().map(|&a| shape.dims()[a]).collect::<Vec<_>>(), 1));
        let steps = |of: &[usize]| Field::Ints(pad6(&of.iter().map(|&a| strides[a]).collect::<Vec<_>>(), 0));
        let fields = vec![
            ("outer", dims(&outer)),
            ("outer_strides", steps(&outer)),
            ("inner", dims(&inner)),
            ("inner_strides", steps(&inner)),
        ];
        Ok(Arg::Struct(Struct { name: "Reduce", fields }))
    }
}

/// Strides with which an operand of that shape is read for a result of `rank` axes: right-aligned, 0 where it is repeated.
pub(super) fn broadcast_strides(shape: &Shape, rank: usize) -> Vec<usize> {
    let own = shape.strides();
    let lead = rank - shape.rank().min(rank);
    let along = |axis: usize| match axis.checked_sub(lead) {
        Some(a) if shape.dims()[a] != 1 => own[a],
        _ => 0,
    };
    (0..rank).map(along).collect()
}

/// The kernel of a function of one float.
pub(super) fn unary_kernel(function: Unary) -> KernelId {
    match function {
        Unary::Abs => KernelId::AbsF32,
        Unary::Ceil => KernelId::CeilF32,
        Unary::Cos => KernelId::CosF32,
        Unary::Elu => KernelId::EluF32,
        Unary::Erf => KernelId::ErfF32,
        Unary::Exp => KernelId::ExpF32,
        Unary::Floor => KernelId::FloorF32,
        Unary::Gelu => KernelId::GeluF32,
        Unary::GeluTanh => KernelId::GeluTanhF32,
        Unary::HardSwish => KernelId::HardSwishF32,
        Unary::Log => KernelId::LogF32,
        Unary::Neg => KernelId::NegF32,
        Unary::Round => KernelId::RoundF32,
        Unary::Rsqrt => KernelId::RsqrtF32,
        Unary::Sign => KernelId::SignF32,
        Unary::Sin => KernelId::SinF32,
        Unary::Softplus => KernelId::SoftplusF32,
        Unary::Sqrt => KernelId::SqrtF32,
        Unary::Square => KernelId::SquareF32,
    }
}
