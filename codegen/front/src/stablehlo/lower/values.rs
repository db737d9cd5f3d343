//! Functions of one number, told by their values. What XLA writes out as polynomials is found in whatever form it is written.

use super::cx::Cx;
use kiln_interp::eval;
use kiln_ir::{DType, Data, Op, Type, ValueId};
use std::collections::HashMap;

/// Most operations of one.
const OPERATIONS: usize = 128;

/// Where functions are compared. The first number alone tells most apart.
const AT: [f32; 25] = [
    0.7, -0.7, 0.0, 1e-3, -1e-3, 0.1, -0.1, 0.3, -0.3, 1.0, -1.0, 1.2, -1.2, 1.7, -1.7, 2.5, -2.5, 3.3, -3.3,
    4.0, -4.0, 5.5, -5.5, 20.0, -20.0,
];

/// How far values may be apart, of 1 or the larger one: what is lost where terms of a polynomial cancel each other in `f32`.
const MARGIN: f64 = 2e-6;

/// Whether all elements of `y` are this function of those of `x`.
pub(super) fn is_function(
    cx: &Cx<'_, '_, '_>,
    y: ValueId,
    x: ValueId,
    function: impl Fn(f64) -> f64,
) -> bool {
    cx.ty(x).dtype == DType::F32
        && cx.dims(x) == cx.dims(y)
        && [&AT[..1], &AT[..]].into_iter().all(|at| {
            let Some(values) = Samples::new(x, at).of(cx, y) else { return false };
            at.iter().zip(values).all(|(&x, value)| {
                let expected = function(x.into());
                (f64::from(value) - expected).abs() <= MARGIN * expected.abs().max(1.0)
            })
        })
}

/// What values are where one of them is these numbers.
struct Samples {
    known: HashMap<ValueId, (Type, Data)>,
    count: usize,
}

impl Samples {
    fn new(x: ValueId, at: &[f32]) -> Self {
        let known = (Type::plain(DType::F32, &[at.len()]), Data::from_f32(at));
        Samples { known: HashMap::from([(x, known)]), count: at.len() }
    }

    /// The numbers that `y` is; `None` if it depends on something else.
    fn of(mut self, cx: &Cx<'_, '_, '_>, y: ValueId) -> Option<Vec<f32>> {
        self.compute(cx, y)?;
        let (ty, data) = self.known.get(&y)?;
        (ty.dtype == DType::F32 && ty.shape.numel() == self.count).then(|| data.to_f32())
    }

    fn compute(&mut self, cx: &Cx<'_, '_, '_>, y: ValueId) -> Option<()> {
        if self.known.contains_key(&y) {
            return Some(());
        }
        let dtype = cx.ty(y).dtype;
        let computed = match cx.known_number(y) {
            Some(number) => {
                let data = match dtype {
                    DType::F32 => Data::from_f32(&[number as f32]),
                    _ => Data::from_ints(dtype, [number as i64]),
                };
                (Type::plain(dtype, &[1]), data)
            }
            None => self.result(cx, y, dtype)?,
        };
        self.known.insert(y, computed);
        (self.known.len() <= OPERATIONS).then_some(())
    }

    /// The result of an operation on elements.
    fn result(&mut self, cx: &Cx<'_, '_, '_>, y: ValueId, dtype: DType) -> Option<(Type, Data)> {
        let graph = &cx.importer.means.graph;
        let node = graph.node(graph.producer(y)?);
        if !is_of_elements(&node.op) {
            return None;
        }
        for &operand in &node.operands {
            self.compute(cx, operand)?;
        }
        let operands: Vec<_> = node.operands.iter().filter_map(|operand| self.known.get(operand)).collect();
        let count = operands.iter().map(|(ty, _)| ty.shape.numel()).max()?;
        let operands: Vec<_> = operands.into_iter().map(|(ty, data)| (ty, data)).collect();
        let ty = Type::plain(dtype, &[count]);
        let data = eval(&node.op, &operands, &ty).ok()?;
        Some((ty, data))
    }
}

fn is_of_elements(op: &Op) -> bool {
    matches!(
        op,
        Op::Add { .. }
            | Op::Binary { .. }
            | Op::Cast {}
            | Op::Clip { .. }
            | Op::Compare { .. }
            | Op::Logistic {}
            | Op::Mul { .. }
            | Op::Select {}
            | Op::Sub { .. }
            | Op::Tanh {}
            | Op::Unary { .. }
    )
}
