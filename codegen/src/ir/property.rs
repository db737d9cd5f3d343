//! Properties of ops that several rooms ask for.

use super::Op;

impl Op {
    /// How many operands, from the first on, the op takes element by element: element `i` of the result depends on element `i` of
    /// those that have its shape, in whatever order the elements are stored.
    pub fn elementwise_operands(&self) -> usize {
        match self {
            Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } => 2,
            Op::Clip { .. }
            | Op::LeakyRelu { .. }
            | Op::Logistic {}
            | Op::Tanh {}
            | Op::Quantize {}
            | Op::Dequantize {}
            | Op::Requantize { .. }
            | Op::Lookup {} => 1,
            _ => 0,
        }
    }
}
