//! Arithmetic: products of matrices, functions of elements, reductions.

use super::model::{Attribute, Element, TensorId, OPSET_OF_GELU};
use super::tensors::{permuted, Axes, Writer};
use super::Written;
use kiln_ir::{Binary, Clamp, Comparison, DType, Node, Reduction, Unary};

impl Writer<'_> {
    /// Dense: Gemm for matrices, otherwise MatMul.
    pub(super) fn dense(&mut self, node: &Node, clamp: &Clamp) -> Written {
        let (x, weights) = (self.tensor(node.operands[0], Axes::Own), node.operands[1]);
        let bias = node.operands.get(2).map(|&bias| self.tensor(bias, Axes::Own));
        let matrices = self.dims(node.operands[0]).len() == 2;
        let y = if matrices {
            let weights = self.tensor(weights, Axes::Own);
            let operands: Vec<TensorId> = [x, weights].into_iter().chain(bias).collect();
            self.model.node("Gemm", &operands, vec![("transB", Attribute::Int(1))])
        } else {
            let weights = match self.constant_of(weights) {
                Some((ty, data)) if ty.quant.as_ref().is_none_or(|quant| quant.axis.is_none()) => {
                    let (dims, data) =
                        ([ty.shape.dims()[1], ty.shape.dims()[0]], permuted(ty, data, &[1, 0]));
                    self.constant(weights, ty, &dims, &data)
                }
                _ => {
                    let weights = self.tensor(weights, Axes::Own);
                    self.transposed(weights, &[1, 0])
                }
            };
            let product = self.model.node("MatMul", &[x, weights], Vec::new());
            match bias {
                Some(bias) => self.model.node("Add", &[product, bias], Vec::new()),
                None => product,
            }
        };
        self.bind_clamped(node, Axes::Own, y, clamp)
    }

    /// MatMul, of whose second operand the graph has the transpose.
    pub(super) fn product(&mut self, node: &Node, clamp: &Clamp) -> Written {
        let [x, y] = [node.operands[0], node.operands[1]];
        let (a, b) = (self.tensor(x, Axes::Own), self.tensor(y, Axes::Own));
        let rank = self.dims(y).len();
        let mut perm: Vec<usize> = (0..rank).collect();
        perm.swap(rank - 2, rank - 1);
        let b = self.transposed(b, &perm);
        let product = self.model.node("MatMul", &[a, b], Vec::new());
        self.bind_clamped(node, Axes::Own, product, clamp)
    }

    /// A function of each element.
    pub(super) fn each(&mut self, node: &Node, operator: &'static str) -> Written {
        let (axes, x) = self.operand(node);
        let y = self.model.node(operator, &[x], Vec::new());
        self.bind(node, axes, y)
    }

    /// Operands of an op with broadcasting, and the order of its result.
    fn operands(&mut self, node: &Node) -> (Axes, Vec<TensorId>) {
        let axes = self.axes_of(node);
        (axes, node.operands.iter().map(|&operand| self.aligned(operand, axes)).collect())
    }

    /// A function of each pair of elements.
    pub(super) fn pair(&mut self, node: &Node, operator: &'static str, clamp: &Clamp) -> Written {
        let (axes, operands) = self.operands(node);
        let y = self.model.node(operator, &operands, Vec::new());
        self.bind_clamped(node, axes, y, clamp)
    }

    /// Binary.
    pub(super) fn binary(&mut self, node: &Node, function: Binary, clamp: &Clamp) -> Written {
        let float = self.graph.ty(node.result).dtype == DType::F32;
        let (axes, operands) = self.operands(node);
        let mut of = |operator, operands: &[TensorId]| self.model.node(operator, operands, Vec::new());
        let y = match function {
            Binary::Div => of("Div", &operands),
            Binary::Max => of("Max", &operands),
            Binary::Min => of("Min", &operands),
            Binary::Pow => of("Pow", &operands),
            Binary::Prelu => of("PRelu", &operands),
            Binary::SquaredDifference => {
                let difference = of("Sub", &operands);
                of("Mul", &[difference, difference])
            }
            Binary::FloorDiv if float => {
                let quotient = of("Div", &operands);
                of("Floor", &[quotient])
            }
            _ => {
                return Err((
                    format!("`{}` is not written", function.name()),
                    "give a float model without it",
                ))
            }
        };
        self.bind_clamped(node, axes, y, clamp)
    }

    /// Compare.
    pub(super) fn comparison(&mut self, node: &Node, function: Comparison) -> Written {
        let (axes, operands) = self.operands(node);
        let operator = match function {
            Comparison::Equal | Comparison::NotEqual => "Equal",
            Comparison::Greater => "Greater",
            Comparison::GreaterEqual => "GreaterOrEqual",
            Comparison::Less => "Less",
            Comparison::LessEqual => "LessOrEqual",
        };
        let mut y = self.model.node(operator, &operands, Vec::new());
        if function == Comparison::NotEqual {
            y = self.model.node("Not", &[y], Vec::new());
        }
        self.bind(node, axes, y)
    }

    /// Select.
    pub(super) fn select(&mut self, node: &Node) -> Written {
        let (axes, operands) = self.operands(node);
        let y = self.model.node("Where", &operands, Vec::new());
        self.bind(node, axes, y)
    }

    /// Clip.
    pub(super) fn clip(&mut self, node: &Node, clamp: &Clamp) -> Written {
        let (axes, x) = self.operand(node);
        self.bind_clamped(node, axes, x, clamp)
    }

    /// LeakyRelu.
    pub(super) fn leaky_relu(&mut self, node: &Node, alpha: f32) -> Written {
        let (axes, x) = self.operand(node);
        let y = self.model.node("LeakyRelu", &[x], vec![("alpha", Attribute::Float(alpha))]);
        self.bind(node, axes, y)
    }

    /// Unary.
    pub(super) fn unary(&mut self, node: &Node, function: Unary) -> Written {
        let operator = match function {
            Unary::Abs => "Abs",
            Unary::Ceil => "Ceil",
            Unary::Cos => "Cos",
            Unary::Elu => "Elu",
            Unary::Erf => "Erf",
            Unary::Exp => "Exp",
            Unary::Floor => "Floor",
            Unary::Gelu | Unary::GeluTanh => "Gelu",
            Unary::HardSwish => "HardSwish",
            Unary::Log => "Log",
            Unary::Neg => "Neg",
            Unary::Round => "Round",
            Unary::Sign => "Sign",
            Unary::Sin => "Sin",
            Unary::Softplus => "Softplus",
            Unary::Rsqrt | Unary::Sqrt => "Sqrt",
            Unary::Square => "Mul",
        };
        if operator == "Gelu" {
            self.model.needs(OPSET_OF_GELU);
        }
        let (axes, x) = self.operand(node);
        let y = match function {
            Unary::Square => self.model.node(operator, &[x, x], Vec::new()),
            Unary::GeluTanh => {
                self.model.node(operator, &[x], vec![("approximate", Attribute::Text("tanh"))])
            }
            Unary::Rsqrt => {
                let root = self.model.node(operator, &[x], Vec::new());
                self.model.node("Reciprocal", &[root], Vec::new())
            }
            _ => self.model.node(operator, &[x], Vec::new()),
        };
        self.bind(node, axes, y)
    }

    /// Cast.
    pub(super) fn cast(&mut self, node: &Node) -> Written {
        let number = Element::Of(self.graph.ty(node.result).dtype).number();
        let (axes, x) = self.operand(node);
        let y = self.model.node("Cast", &[x], vec![("to", Attribute::Int(number))]);
        self.bind(node, axes, y)
    }

    /// Softmax and LogSoftmax, along the graph's last axis.
    pub(super) fn softmax(&mut self, node: &Node, operator: &'static str, beta: f32) -> Written {
        let (axes, mut x) = self.operand(node);
        if beta != 1.0 {
            let beta = self.model.number("beta", beta);
            x = self.model.node("Mul", &[x, beta], Vec::new());
        }
        let last = self.dims(node.result).len().saturating_sub(1);
        let axis = Attribute::Int(axes.place(last) as i64);
        let y = self.model.node(operator, &[x], vec![("axis", axis)]);
        self.bind(node, axes, y)
    }

    /// A reduction along axes.
    pub(super) fn reduced(
        &mut self,
        node: &Node,
        operator: &'static str,
        reduced: &[usize],
        clamp: &Clamp,
    ) -> Written {
        let x = node.operands[0];
        let (dims, result) = (self.dims(x), self.dims(node.result));
        let keep = result.len() == dims.len();
        // Without its height and width, an image is the same in either order.
        let native = self.native(x);
        let same = keep || reduced == [1, 2] || reduced == [1, 2, 3];
        let axes = if dims.len() == 4 && same { native } else { Axes::Own };
        let x = self.tensor(x, axes);
        let mut places: Vec<i64> = reduced.iter().map(|&axis| axes.place(axis) as i64).collect();
        places.sort_unstable();
        let places = self.model.ints("axes", &places);
        let y = self.model.node(operator, &[x, places], vec![("keepdims", Attribute::Int(keep.into()))]);
        self.bind_clamped(node, if keep { axes } else { Axes::Own }, y, clamp)
    }

    /// Reduce.
    pub(super) fn reduce(&mut self, node: &Node, function: Reduction, axes: &[usize]) -> Written {
        let operator = match function {
            Reduction::Max => "ReduceMax",
            Reduction::Min => "ReduceMin",
            Reduction::Product => "ReduceProd",
            Reduction::Sum => "ReduceSum",
        };
        self.reduced(node, operator, axes, &Clamp::NO_FLOAT)
    }

    /// ArgReduce.
    pub(super) fn arg_reduce(&mut self, node: &Node, axis: usize, largest: bool) -> Written {
        let x = self.tensor(node.operands[0], Axes::Own);
        let operator = if largest { "ArgMax" } else { "ArgMin" };
        let attributes = vec![("axis", Attribute::Int(axis as i64)), ("keepdims", Attribute::Int(0))];
        let mut y = self.model.node(operator, &[x], attributes);
        if self.graph.ty(node.result).dtype == DType::I32 {
            y = self.model.node("Cast", &[y], vec![("to", Attribute::Int(6))]);
        }
        self.bind(node, Axes::Own, y)
    }

    /// CumSum.
    pub(super) fn cumsum(&mut self, node: &Node, axis: usize, exclusive: bool, reverse: bool) -> Written {
        let x = self.tensor(node.operands[0], Axes::Own);
        let axis = self.model.ints("axis", &[axis as i64]);
        let attributes = vec![
            ("exclusive", Attribute::Int(exclusive.into())),
            ("reverse", Attribute::Int(reverse.into())),
        ];
        let y = self.model.node("CumSum", &[x, axis], attributes);
        self.bind(node, Axes::Own, y)
    }
}
