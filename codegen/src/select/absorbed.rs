//! Poolings, means and matrix products over all rows of an image, which are taken as they come.

use super::conv::{alternating, float_range, floating, int_range, LANES};
use super::*;
use crate::ir::Clamp;
use kiln_kernel_table::Count;

/// The kernel of a matrix product with an image, row by row.
fn product(graph: &Graph, node: &Node) -> Option<KernelId> {
    let Op::Conv2d { rescale, .. } = &node.op else { return None };
    let float = graph.ty(*node.operands.get(1)?).dtype == DType::F32;
    Some(match rescale {
        _ if float => KernelId::DenseRowsF32,
        Rescale::Once(_) => KernelId::DenseRowsI8Once,
        _ => floating(KernelId::DenseRowsI8, rescale),
    })
}

/// Predicted cycles of a step that absorbs rows; `None` where nothing is known.
pub(crate) fn absorbed_cycles(graph: &Graph, node: &Node, options: &Options) -> Option<u64> {
    predicted(graph, node, options).map(|(_, cycles)| cycles)
}

/// What such a step does, counted, and its predicted cycles.
fn predicted(graph: &Graph, node: &Node, options: &Options) -> Option<(Work, u64)> {
    let kernel = product(graph, node)?;
    let results = graph.ty(node.result).shape.numel();
    let pieces = schedule::rows(&graph.ty(*node.operands.first()?).shape) * results.div_ceil(LANES);
    let products = usize::try_from(kiln_ir::macs(graph, node)).ok()?;
    let work = counted::work(graph, node, products).with(Count::Piece, pieces);
    Some((work, kernel::cycles(options, kernel, options.target().core(), &work)?))
}

impl<'a> Selector<'a> {
    /// Rows of the operand are added to sums, of which the last one makes the result.
    pub(super) fn absorb(&mut self, node: &'a Node, sums: Place) -> Selected {
        if let Some((work, cycles)) = predicted(self.graph, node, self.options) {
            // No schedule names such a kernel: there is one.
            let (name, cycles) = ("rows".into(), Some(cycles));
            self.program.chosen.push(Chosen { step: self.step, name, cycles, work, form: None });
        }
        let x = node.operands[0];
        let (tx, out) = (self.ty(x), self.ty(node.result));
        let rows = int(schedule::rows(&tx.shape));
        // What stands before the rows of the operand, and between those and the sums.
        let (kernel, params, between) = match (&node.op, tx.dtype, out.dtype) {
            (Op::AvgPool2d { window, clamp }, from, to) => {
                let pool = Arg::Struct(self.pool_params(node, window)?);
                let (kernel, lo, hi) = match (from, to) {
                    (DType::I8, DType::I8) => int_range(KernelId::AvgPoolRowsI8, clamp),
                    (DType::I16, DType::I16) => int_range(KernelId::AvgPoolRowsI16, clamp),
                    (DType::U8, DType::U8) => int_range(KernelId::AvgPoolRowsU8, clamp),
                    (DType::F32, DType::F32) => float_range(KernelId::AvgPoolRowsF32, clamp),
                    _ => return Err(self.no_kernel(node)),
                };
                (kernel, vec![pool, lo, hi], Vec::new())
            }
            (Op::Mean { rescale, clamp, .. }, DType::I8 | DType::I16, to) if to == tx.dtype => {
                let Some(multiplier) = single(rescale) else { return Err(self.no_kernel(node)) };
                let fields = vec![
                    ("rows", rows),
                    ("x_zero", Field::Int(tx.zero_point().into())),
                    ("scale", Field::Struct(scale(multiplier))),
                    ("out_zero", Field::Int(out.zero_point().into())),
                ];
                let kernel = if to == DType::I16 { KernelId::MeanRowsI16 } else { KernelId::MeanRowsI8 };
                let (kernel, lo, hi) = int_range(kernel, clamp);
                (kernel, vec![Arg::Struct(Struct { name: "MeanRows", fields }), lo, hi], Vec::new())
            }
            (Op::Mean { clamp, .. }, DType::F32, DType::F32) => {
                let (kernel, lo, hi) = float_range(KernelId::MeanRowsF32, clamp);
                let Field::Int(rows) = rows else { return Err(self.no_kernel(node)) };
                (kernel, vec![Arg::Int(rows), lo, hi], Vec::new())
            }
            (Op::Conv2d { rescale, clamp, .. }, ..) => {
                let (Some(kernel), Field::Int(rows)) = (product(self.graph, node), rows) else {
                    return Err(self.no_kernel(node));
                };
                (kernel, vec![Arg::Int(rows)], self.factors(node, rescale, clamp)?)
            }
            _ => return Err(self.no_kernel(node)),
        };
        let element = if tx.dtype == DType::F32 { Element::F32 } else { Element::I32 };
        let (memory, offset) = self.address(sums);
        let sums = Cells::All(Region { memory, offset, element, len: out.shape.numel() });
        let mut args = params;
        args.push(Arg::Rows(self.rows(x)?));
        args.extend(between);
        args.push(Arg::Cells(sums));
        args.push(Arg::Cells(Cells::All(self.region(node.result)?)));
        args.push(Arg::Due);
        self.call(kernel, args);
        Ok(())
    }

    /// What a matrix product with an image reads beside its rows: weights, biases, and how sums become results.
    fn factors(&mut self, node: &'a Node, rescale: &Rescale, clamp: &Clamp) -> Result<Vec<Arg>, Problem> {
        let (w, n) = (node.operands[1], self.ty(node.result).shape.last());
        let order = |weights: &Data, bytes: usize| alternating(weights, n, 1, bytes);
        let weights = order(self.data(node, w, "weights")?, self.ty(w).dtype.size());
        if self.ty(w).dtype == DType::F32 {
            let mut args = self.float_constants(node, weights, |ints| order(ints, 1), n)?;
            let (lo, hi) = clamp.float_bounds();
            args.extend([Arg::Float(lo), Arg::Float(hi)]);
            return Ok(args);
        }
        let (mut args, requant) = self.integer_constants(node, weights, rescale, clamp)?;
        args.push(requant);
        Ok(args)
    }
}
