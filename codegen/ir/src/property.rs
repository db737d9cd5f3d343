//! Properties of ops that several rooms ask for.

use super::{Op, Window};

impl Op {
    /// The window that slides over the op's first operand, an image.
    pub fn window(&self) -> Option<&Window> {
        match self {
            Op::Conv2d { window, .. } | Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => {
                Some(window)
            }
            _ => None,
        }
    }

    /// How many operands, from the first on, the op takes element by element: element `i` of the result depends on element `i` of
    /// those that have its shape, in whatever order the elements are stored.
    pub fn elementwise_operands(&self) -> usize {
        match self {
            Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Binary { .. } => 2,
            Op::Clip { .. }
            | Op::LeakyRelu { .. }
            | Op::Unary { .. }
            | Op::Logistic {}
            | Op::Tanh {}
            | Op::Quantize { .. }
            | Op::Dequantize {}
            | Op::Requantize { .. }
            | Op::Lookup {}
            | Op::Interpolate {} => 1,
            _ => 0,
        }
    }
}
