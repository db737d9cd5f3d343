//! Sums and differences.

use super::*;
use crate::ir::AddRescale;
use crate::requant::{fit_add, fit_add_float, AddFloatReference, AddReference, Products};

impl<'a> Selector<'a> {
    /// Selects the kernel of a sum or difference that makes such products; `false` where it has none.
    pub(in crate::select) fn sum(&mut self, node: &'a Node, products: Products) -> Result<bool, Problem> {
        let (Op::Add { rescale, clamp } | Op::Sub { rescale, clamp }) = &node.op else { return Ok(false) };
        let [a, b] = node.operands[..] else { return Ok(false) };
        let types = [a, b, node.result].map(|id| self.ty(id));
        let whole = self.shape_of_call(node.result, node.result).numel();
        let broadcast = [a, b].iter().any(|&id| self.shape_of_call(id, node.result).numel() != whole);
        if types.iter().any(|ty| ty.dtype != DType::I8) || broadcast {
            return Ok(false);
        }
        let [x_zero, y_zero, out_zero] = types.map(|ty| ty.zero_point());
        let (lo, hi) = clamp.int_bounds();
        let subtract = matches!(node.op, Op::Sub { .. });
        let affine = match *rescale {
            AddRescale::Real => None,
            AddRescale::FixedPoint { left_shift, x, y, out } => {
                let (x, y, out) = ((x_zero, x), (y_zero, y), (out_zero, out));
                fit_add(&AddReference { left_shift, x, y, subtract, out, lo, hi }, products)
            }
            AddRescale::Float { x, y, constant, offset } => {
                let (by, constant) = ([x.0, y.0], constant.0);
                fit_add_float(&AddFloatReference { by, constant, offset, lo, hi }, products)
            }
        };
        let Some(affine) = affine else { return Ok(false) };
        let fields = [("x", affine.x), ("y", affine.y), ("start", affine.constant)];
        let fields = fields.map(|(name, value)| (name, Field::Int(value.into()))).to_vec();
        let mut args = vec![Arg::Struct(Struct { name: "AddLinear", fields })];
        let shift = affine.shift as usize;
        let compact = products == Products::Upper && self.compact();
        let vectors = self.options.target() == Target::Vectors;
        if compact || vectors {
            args.push(Arg::Int(shift as i64));
        }
        for operand in [a, b] {
            args.push(self.read(operand, node.result)?);
        }
        args.push(Arg::Cells(self.cells(node.result, node.result)?));
        match products {
            Products::Upper if compact => self.call(KernelId::AddI8DspCompact, args),
            Products::Low if vectors => self.call(KernelId::AddI8Simd, args),
            Products::Low => self.call_generic(KernelId::AddI8V6m, vec![Generic::Size(shift)], args),
            Products::Upper | Products::High => {
                self.call_generic(KernelId::AddI8Dsp, vec![Generic::Size(shift)], args)
            }
        }
        Ok(true)
    }
}
