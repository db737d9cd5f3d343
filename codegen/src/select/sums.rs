//! Sums and differences of two operands by two products.

use super::kernel::{self, Asked};
use super::*;
use crate::ir::AddRescale;
use crate::requant::{fit_add, fit_add_float, AddAffine, AddFloatReference, AddReference, Products};
use kiln_kernel_table::Core;

/// The sum or difference of a node by such products; `None` where it has no exact form, or operands are broadcast.
pub(super) fn fit(asked: &Asked<'_>, products: Products) -> Option<AddAffine> {
    let (graph, node) = (asked.graph, asked.node);
    let (Op::Add { rescale, clamp } | Op::Sub { rescale, clamp }) = &node.op else { return None };
    let [a, b] = node.operands[..] else { return None };
    let types = [a, b, node.result].map(|id| graph.ty(id));
    let elements = types.map(|ty| ty.shape.numel());
    if types.iter().any(|ty| ty.dtype != DType::I8) || elements != [elements[2]; 3] {
        return None;
    }
    let [x_zero, y_zero, out_zero] = types.map(|ty| ty.zero_point());
    let (lo, hi) = clamp.int_bounds();
    let subtract = matches!(node.op, Op::Sub { .. });
    match *rescale {
        AddRescale::Real => None,
        AddRescale::FixedPoint { left_shift, x, y, out } => {
            let (x, y, out) = ((x_zero, x), (y_zero, y), (out_zero, out));
            fit_add(&AddReference { left_shift, x, y, subtract, out, lo, hi }, products)
        }
        AddRescale::Float { x, y, constant, offset } => {
            let (by, constant) = ([x.0, y.0], constant.0);
            fit_add_float(&AddFloatReference { by, constant, offset, lo, hi }, products)
        }
    }
}

/// As [`fit`], with 32-bit products, and the cycles of a kernel that does so much; `None` where these are not below a bound, too.
pub(super) fn fit_below(
    asked: &Asked<'_>,
    id: KernelId,
    core: Core,
    work: &Work,
    below: u64,
) -> Option<(AddAffine, u64)> {
    let cycles = kernel::cycles(asked.options, id, core, work).filter(|&cycles| cycles < below)?;
    Some((fit(asked, Products::Low)?, cycles))
}

impl<'a> Selector<'a> {
    /// The call of a sum or difference. The kernel takes the shift as a const argument (`is_const`) or as one of the others.
    pub(super) fn sum(
        &mut self,
        node: &'a Node,
        kernel: KernelId,
        by: &AddAffine,
        is_const: bool,
    ) -> Selected {
        let fields = [("x", by.x), ("y", by.y), ("start", by.constant)];
        let fields = fields.map(|(name, value)| (name, Field::Int(value.into()))).to_vec();
        let mut args = vec![Arg::Struct(Struct { name: "AddLinear", fields })];
        let shift = by.shift as usize;
        if !is_const {
            args.push(Arg::Int(shift as i64));
        }
        args.extend(self.operands_and_result(node)?);
        let generics = if is_const { vec![Generic::Size(shift)] } else { Vec::new() };
        self.call_generic(kernel, generics, args);
        Ok(())
    }
}
