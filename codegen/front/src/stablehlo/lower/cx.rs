//! What one operator sees while it is lowered: its operands and attributes, and the means of ONNX's operators ([`NodeCx`]).

use super::super::module::{Element, Function, Operation, Tensor as Declared, Value};
use super::slot::{self, Slot, Tensor};
use super::{attributes, Importer, Lower, Slots};
use crate::onnx::lower::NodeCx;
use crate::Lowered;
use kiln_ir::{Data, Op, Shape, Type, ValueId};

/// One operator, its operands and its place in the import.
pub(super) struct Cx<'c, 'm, 'p> {
    pub(super) importer: &'c mut Importer<'m, 'p>,
    pub(super) function: &'p Function<'p>,
    pub(super) slots: &'c mut Slots,
    pub(super) operation: &'p Operation<'p>,
    pub(super) operands: Vec<Slot>,
    pub(super) index: usize,
}

impl<'m, 'p> Cx<'_, 'm, 'p> {
    /// What nodes are made with.
    pub(super) fn means(&mut self) -> NodeCx<'_, 'm, 'static> {
        let origin = format!("{} {}", self.index, self.operation.name);
        let name = super::short(&self.operation.place);
        self.importer.means.hosted_cx(self.importer.host, name, origin)
    }

    /// Allows for so many nodes, of which an operator is made up.
    pub(super) fn written_out(&mut self, nodes: usize) -> Lowered {
        // An allowance is that of about seven nodes.
        match self.importer.means.budget.inline(nodes.div_ceil(6)) {
            true => Ok(()),
            false => {
                let what = "it would be written out as too many operations";
                Err(crate::Refusal::unsupported(what, "use fewer of them, or compute them in your own code"))
            }
        }
    }

    /// Allows for constants that follow from few numbers of the file.
    pub(super) fn made(&mut self, bytes: usize) -> Lowered {
        match bytes < 4096 || self.importer.means.budget.inline(bytes.div_ceil(2048)) {
            true => Ok(()),
            false => {
                let what = "it would be written out as too many numbers";
                Err(crate::Refusal::unsupported(what, "use fewer, or store them in the model"))
            }
        }
    }

    // ---- Operands

    /// Operand `k`.
    pub(super) fn slot(&self, k: usize) -> Lowered<&Slot> {
        self.operands.get(k).ok_or_else(|| malformed!("operand {k} is missing"))
    }

    /// Operand `k`, as a tensor.
    pub(super) fn tensor(&self, k: usize) -> Lowered<Tensor> {
        self.slot(k)?.tensor().cloned()
    }

    /// All operands, as tensors.
    pub(super) fn tensors(&self) -> Lowered<Vec<Tensor>> {
        self.operands.iter().map(|slot| slot.tensor().cloned()).collect()
    }

    /// All elements of a tensor.
    pub(super) fn spread(&mut self, x: &Tensor) -> Lowered<ValueId> {
        let (value, dims) = (x.value, x.dims.clone());
        self.repeated(value, &dims)
    }

    /// A value repeated to a shape; without elements where the shape has none.
    pub(super) fn repeated(&mut self, value: ValueId, dims: &[usize]) -> Lowered<ValueId> {
        let dtype = self.ty(value).dtype;
        match dims.contains(&0) {
            true => Ok(self.means().empty(dtype, dims)),
            false => self.means().repeated(value, dims),
        }
    }

    /// A tensor with all its elements along some axes.
    pub(super) fn spread_along(&mut self, x: &Tensor, axes: &[usize]) -> Lowered<ValueId> {
        let own = self.dims(x.value);
        let dim = |axis: usize| if axes.contains(&axis) { x.dims[axis] } else { own[axis] };
        let dims: Vec<usize> = (0..own.len()).map(dim).collect();
        self.repeated(x.value, &dims)
    }

    pub(super) fn ty(&self, value: ValueId) -> &Type {
        self.importer.means.graph.ty(value)
    }

    pub(super) fn dims(&self, value: ValueId) -> Vec<usize> {
        self.ty(value).shape.0.clone()
    }

    /// The elements of what follows from constants. A value that has a size of 1 for another one has fewer than its tensor.
    pub(super) fn data(&mut self, value: ValueId) -> Option<Data> {
        self.means().data(value)
    }

    /// Whether a value is a constant as it stands.
    pub(super) fn is_constant(&self, value: ValueId) -> bool {
        self.importer.means.graph.const_data(value).is_some()
    }

    /// The integers of what follows from constants.
    pub(super) fn known_ints(&mut self, value: ValueId) -> Option<Vec<i64>> {
        let dtype = self.ty(value).dtype;
        (dtype != kiln_ir::DType::F32).then(|| self.data(value)).flatten().map(|data| data.to_ints(dtype))
    }

    /// The only number that a tensor has, if it is known: also of one that repeats it.
    pub(super) fn known_number(&self, x: ValueId) -> Option<f64> {
        // What follows from few constants is one.
        let (ty, data) = (self.ty(x), self.importer.means.graph.const_data(x)?);
        if ty.shape.numel() > 4096 {
            return None;
        }
        let dtype = ty.dtype;
        let all: Vec<f64> = match dtype {
            kiln_ir::DType::F32 => data.to_f32().into_iter().map(f64::from).collect(),
            dtype => data.to_ints(dtype).into_iter().map(|x| x as f64).collect(),
        };
        let first = *all.first()?;
        all.iter().all(|&x| x == first).then_some(first)
    }

    // ---- Attributes

    pub(super) fn list(&self, name: &str) -> Lowered<Option<Vec<i64>>> {
        attributes::list(&self.operation.attributes, name)
    }

    pub(super) fn sizes(&self, name: &str) -> Lowered<Vec<usize>> {
        attributes::sizes(&self.operation.attributes, name)
    }

    /// As many sizes as there are axes; all of one number where they are left out.
    pub(super) fn sizes_or(&self, name: &str, otherwise: usize, axes: usize) -> Lowered<Vec<usize>> {
        let list = self.sizes(name)?;
        match list.len() {
            0 => Ok(vec![otherwise; axes]),
            len if len == axes => Ok(list),
            _ => Err(malformed!("its {name} are {list:?} for {axes} axes")),
        }
    }

    /// Padding, or what is like it: two numbers for each axis.
    pub(super) fn pairs(&self, name: &str, axes: usize) -> Lowered<Vec<(i64, i64)>> {
        let list = self.list(name)?.unwrap_or_else(|| vec![0; 2 * axes]);
        malformed_if!(list.len() != 2 * axes, "its {name} is {list:?} for {axes} axes");
        let is_sound = list.iter().all(|&pad| i32::try_from(pad).is_ok());
        malformed_if!(!is_sound, "its {name} is {list:?}");
        Ok(list.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    /// A size or an axis.
    pub(super) fn size(&self, name: &str) -> Lowered<Option<usize>> {
        attributes::size(&self.operation.attributes, name)
    }

    /// An axis that has to be there.
    pub(super) fn axis(&self, name: &str, rank: usize) -> Lowered<usize> {
        let axis = self.size(name)?.filter(|&axis| axis < rank);
        axis.ok_or_else(|| malformed!("its {name} is none of {rank} axes"))
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        attributes::flag(&self.operation.attributes, name)
    }

    pub(super) fn word(&self, name: &str) -> &'p str {
        attributes::word(&self.operation.attributes, name)
    }

    // ---- Results

    /// The type of result `k`.
    pub(super) fn declared(&self, k: usize) -> Lowered<&'p Declared> {
        let function = self.function;
        let value = self.operation.results.get(k).ok_or_else(|| malformed!("it has no result {k}"))?;
        let ty = function.types.get(value.0).ok_or_else(|| malformed!("a value has no type"))?;
        slot::declared(ty)
    }

    /// The element of result `k`; of quantised ones the floats that are computed.
    pub(super) fn element(&self, k: usize) -> Lowered<Element> {
        Ok(match &self.declared(k)?.element {
            Element::Quantised(of) => of.expressed.clone(),
            element => element.clone(),
        })
    }

    /// The shape of result `k`.
    pub(super) fn result_dims(&self, k: usize) -> Lowered<Vec<usize>> {
        let dims = slot::sizes(self.declared(k)?)?;
        crate::onnx::lower::check_size(kiln_ir::DType::I64, &dims)?;
        Ok(dims)
    }

    /// A tensor of the shape that its value has.
    pub(super) fn whole(&self, value: ValueId, element: &Element) -> Tensor {
        Tensor::of(value, &self.dims(value), element)
    }

    /// The same elements under another shape; what does nothing, or makes two reshapes of one, is left out.
    pub(super) fn reshaped(&mut self, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
        let graph = &self.importer.means.graph;
        let source =
            graph.producer(x).map(|id| graph.node(id)).filter(|node| matches!(node.op, Op::Reshape {}));
        match source.and_then(|node| node.operands.first().copied()) {
            Some(source) if self.ty(source).quant.is_none() => self.means().reshaped(source, dims),
            _ => self.means().reshaped(x, dims),
        }
    }

    /// Refuses a result of another shape than the file has for it.
    pub(super) fn check(&self, value: Value, slot: &Slot) -> Lowered {
        let Some(Ok(tensor)) = self.function.types.get(value.0).map(slot::declared) else { return Ok(()) };
        let of = match slot {
            Slot::Tensor(tensor) | Slot::Complex(tensor, _) => tensor,
            _ => return Ok(()),
        };
        // Bodies of reductions are for single elements, and are given many.
        if tensor.shape.is_empty() {
            return Ok(());
        }
        let fits = |(declared, &own): (&Option<usize>, &usize)| declared.is_none_or(|size| size == own);
        if tensor.shape.len() != of.dims.len() || !tensor.shape.iter().zip(&of.dims).all(fits) {
            return Err(malformed!("a result is {:?}, but the file has {:?} for it", of.dims, tensor.shape));
        }
        Ok(())
    }

    /// The shape that two tensors have in common.
    pub(super) fn common(&self, x: &Tensor, y: &Tensor) -> Lowered<Vec<usize>> {
        let common = Shape::common(&x.dims, &y.dims);
        common.ok_or_else(|| malformed!("operands of {:?} and {:?} do not fit", x.dims, y.dims))
    }

    // ---- Quantised operands

    /// Runs an operator. Quantised operands are given to it as the floats that they stand for, and its results are quantised again.
    pub(super) fn quantised(&mut self, lower: Lower) -> Lowered<Vec<Slot>> {
        let keeps = matches!(
            super::bare(&self.operation.name),
            "constant"
                | "uniform_dequantize"
                | "uniform_quantize"
                | "func.call"
                | "custom_call"
                | "optimization_barrier"
                | "while"
                | "case"
                | "if"
                | "composite"
                | "tuple"
                | "get_tuple_element"
        );
        if !keeps {
            for k in 0..self.operands.len() {
                let Slot::Tensor(tensor) = &self.operands[k] else { continue };
                if let Element::Quantised(of) = tensor.element.clone() {
                    let tensor = tensor.clone();
                    self.operands[k] = Slot::Tensor(self.dequantised(&tensor, &of)?);
                }
            }
        }
        let mut results = match lower {
            Lower::One(lower) => vec![Slot::Tensor(lower(self)?)],
            Lower::All(lower) => lower(self)?,
        };
        if !keeps {
            for (k, slot) in results.iter_mut().enumerate() {
                let (Slot::Tensor(tensor), Ok(declared)) = (&slot, self.declared(k)) else { continue };
                if let Element::Quantised(of) = &declared.element {
                    let tensor = tensor.clone();
                    *slot = Slot::Tensor(self.requantised(&tensor, of)?);
                }
            }
        }
        Ok(results)
    }
}
