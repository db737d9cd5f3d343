//! What one operator sees while it is lowered.

use super::{describe, follow, tensor, Importer, Lowered, Refusal};
use crate::onnx::proto::{Name, Node};
use kiln_ir::{DType, Data, Op, Quant, Shape, Type, ValueId};

/// Most elements of a constant that is computed while the model is read: shapes, axes, what is made of them.
const MOST_FOLDED: usize = 4096;

/// One operator, its operands and its place in the import.
pub(crate) struct NodeCx<'c, 'm, 'a> {
    pub(crate) importer: &'c mut Importer<'m, 'a>,
    pub(super) node: &'m Node<'a>,
    /// `12 Conv`.
    pub(crate) origin: String,
    /// What its values are called.
    pub(crate) name: String,
}

impl<'c, 'm, 'a> NodeCx<'c, 'm, 'a> {
    pub(super) fn new(importer: &'c mut Importer<'m, 'a>, node: &'m Node<'a>, origin: String) -> Self {
        let name = node.outputs.first().map(Name::text).unwrap_or_default();
        NodeCx { importer, node, origin, name }
    }

    /// Version of the operator set.
    pub(crate) fn opset(&self) -> i64 {
        self.importer.opset
    }

    // ---- Operands

    /// Operand `k`.
    pub(crate) fn input(&mut self, k: usize) -> Lowered<ValueId> {
        self.optional(k)?.ok_or_else(|| malformed!("operand {k} is missing"))
    }

    /// Operand `k`, if it is there.
    pub(crate) fn optional(&mut self, k: usize) -> Lowered<Option<ValueId>> {
        match self.node.inputs.get(k).filter(|name| !name.is_empty()) {
            Some(&name) => self.importer.read(name).map(Some),
            None => Ok(None),
        }
    }

    /// All operands.
    pub(crate) fn inputs(&mut self) -> Lowered<Vec<ValueId>> {
        (0..self.node.inputs.len()).map(|k| self.input(k)).collect()
    }

    /// The integers of operand `k`, which must follow from constants, if it is there.
    pub(crate) fn ints(&mut self, k: usize, what: &str) -> Lowered<Option<Vec<i64>>> {
        let Some(value) = self.optional(k)? else { return Ok(None) };
        let ty = self.ty(value).clone();
        let Some(data) = self.data(value) else {
            let help = "export the model with fixed shapes, so that it can be computed from constants";
            return Err(Refusal::unsupported(
                format!("its {what} (operand {k}) is computed at run time"),
                help,
            ));
        };
        if !matches!(ty.dtype, DType::I32 | DType::I64) || ty.shape.rank() > 1 {
            return Err(malformed!("its {what} (operand {k}) is {}", describe(&ty)));
        }
        Ok(Some(data.to_ints(ty.dtype)))
    }

    /// The numbers of operand `k`, which must be constant floats.
    pub(crate) fn floats(&mut self, k: usize, what: &str) -> Lowered<Vec<f32>> {
        let value = self.input(k)?;
        let ty = self.ty(value);
        match self.known(value).as_ref() {
            Some(data) if ty.dtype == DType::F32 => Ok(data.to_f32()),
            Some(_) => Err(malformed!("its {what} (operand {k}) is {}", describe(ty))),
            None => {
                let help = "export the model with constant weights";
                Err(Refusal::unsupported(format!("its {what} (operand {k}) is computed at run time"), help))
            }
        }
    }

    /// The type of a value.
    pub(crate) fn ty(&self, value: ValueId) -> &Type {
        self.importer.graph.ty(value)
    }

    /// The type of a value for messages.
    pub(crate) fn shown(&self, value: ValueId) -> String {
        describe(self.ty(value))
    }

    /// The dimensions of a value.
    pub(crate) fn dims(&self, value: ValueId) -> Vec<usize> {
        self.ty(value).shape.0.clone()
    }

    /// The data of a constant, or of what follows from constants.
    pub(crate) fn data(&self, value: ValueId) -> Option<Data> {
        let graph = &self.importer.graph;
        graph.const_data(value).cloned().or_else(|| follow::evaluated(graph, value))
    }

    /// The data of a constant, or of one that is stored as integers.
    pub(crate) fn known(&self, value: ValueId) -> Option<Data> {
        let graph = &self.importer.graph;
        let Some(stored) = self.dequantized(value) else { return self.data(value) };
        let data = graph.const_data(stored)?;
        kiln_interp::eval(&Op::Dequantize {}, &[(graph.ty(stored), data)], graph.ty(value)).ok()
    }

    /// The constant of integers that a value is as floats.
    pub(crate) fn dequantized(&self, value: ValueId) -> Option<ValueId> {
        let graph = &self.importer.graph;
        let node = graph.node(graph.producer(value)?);
        let stored = *node.operands.first()?;
        (matches!(node.op, Op::Dequantize {}) && graph.const_data(stored).is_some()).then_some(stored)
    }

    /// Refuses operands that are no floats.
    pub(crate) fn want_float(&self, value: ValueId) -> Lowered {
        match self.ty(value).dtype {
            DType::F32 => Ok(()),
            _ => {
                let what = format!("arithmetic on {} cannot be compiled", self.shown(value));
                Err(Refusal::unsupported(what, "export the model in float32"))
            }
        }
    }

    /// An axis, which may count from the end.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Lowered<usize> {
        let counted = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        let inside = counted.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
        inside.ok_or_else(|| malformed!("there is no axis {axis}: the tensor has {rank} axes"))
    }

    /// As [`NodeCx::axis`], or the place behind the last axis.
    pub(crate) fn axis_or_end(&self, axis: i64, rank: usize) -> Lowered<usize> {
        if axis == rank as i64 {
            Ok(rank)
        } else {
            self.axis(axis, rank)
        }
    }

    // ---- Results

    /// Name of result `k`.
    fn result(&self, k: usize) -> Name<'a> {
        self.node.outputs.get(k).copied().unwrap_or_default()
    }

    /// Adds a node, or a constant where it follows from small ones.
    pub(crate) fn add(&mut self, op: Op, operands: &[ValueId], ty: Type) -> Lowered<ValueId> {
        tensor::check_size(ty.dtype, ty.shape.dims())?;
        let name = self.name.clone();
        let constants: Option<Vec<(&Type, &Data)>> = operands
            .iter()
            .map(|&id| Some((self.importer.graph.ty(id), self.importer.graph.const_data(id)?)))
            .collect();
        let work = operands.iter().map(|&id| self.ty(id).shape.numel()).sum::<usize>() + ty.shape.numel();
        if let Some(constants) = constants.filter(|_| work <= MOST_FOLDED) {
            if let Ok(data) = kiln_interp::eval(&op, &constants, &ty) {
                self.importer.budget.charge(ty.bytes())?;
                return Ok(self.importer.graph.add_const(name, ty, data));
            }
        }
        self.add_unfolded(op, operands, ty)
    }

    /// Adds a node, also where its operands are constants.
    pub(crate) fn add_unfolded(&mut self, op: Op, operands: &[ValueId], ty: Type) -> Lowered<ValueId> {
        let name = self.name.clone();
        // Without elements there is nothing to compute, and nothing to compute with.
        if ty.shape.numel() == 0 {
            return Ok(self.empty(ty.dtype, ty.shape.dims()));
        }
        if let Some(ty) = operands.iter().map(|&id| self.ty(id)).find(|ty| ty.shape.numel() == 0) {
            let what = format!("its operand {} has no elements", describe(ty));
            return Err(Refusal::unsupported(what, "remove the operator, or use a larger input shape"));
        }
        self.check(&op, operands, &ty)?;
        self.importer.budget.node(operands.len())?;
        Ok(self.importer.graph.add_node(op, operands, name, ty, self.origin.clone()))
    }

    /// Refuses what the graph has no arithmetic for: operators that take more element types than the op that stands for them.
    fn check(&self, op: &Op, operands: &[ValueId], ty: &Type) -> Lowered {
        let types: Vec<&Type> = operands.iter().map(|&id| self.ty(id)).collect();
        let problems = kiln_interp::check_op(op, &types, ty);
        if problems.is_empty() {
            return Ok(());
        }
        let given: Vec<String> = types.iter().map(|ty| describe(ty)).collect();
        let what = format!("it cannot be compiled for {}: {}", given.join(", "), problems.join("; "));
        Err(Refusal::unsupported(
            what,
            "cast its operands to float32 or int32, or to what its specification says",
        ))
    }

    /// Adds a node whose result has the element type of its first operand, and its scale.
    pub(crate) fn add_like(&mut self, op: Op, operands: &[ValueId], dims: &[usize]) -> Lowered<ValueId> {
        let ty = match operands.first().map(|&x| self.ty(x)) {
            Some(ty) if ty.scale().is_some() => ty.with_shape(dims),
            Some(ty) => Type::plain(ty.dtype, dims),
            None => Type::plain(DType::F32, dims),
        };
        self.add(op, operands, ty)
    }

    /// The same elements under another shape.
    pub(crate) fn reshaped(&mut self, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
        if self.ty(x).shape.dims() == dims {
            return Ok(x);
        }
        match self.moved_constant(&Op::Reshape {}, x, dims)? {
            Some(moved) => Ok(moved),
            None => self.add_like(Op::Reshape {}, &[x], dims),
        }
    }

    /// Axis `i` of the result is axis `perm[i]` of `x`.
    pub(crate) fn transposed(&mut self, x: ValueId, perm: &[usize]) -> Lowered<ValueId> {
        let dims = self.dims(x);
        if perm.iter().copied().eq(0..dims.len()) {
            return Ok(x);
        }
        let dims: Vec<usize> = perm.iter().filter_map(|&axis| dims.get(axis).copied()).collect();
        let op = Op::Transpose { perm: perm.to_vec() };
        match self.moved_constant(&op, x, &dims)? {
            Some(moved) => Ok(moved),
            None => self.add_like(op, &[x], &dims),
        }
    }

    /// A reshape or transpose of a constant that is stored as integers, which stays one.
    fn moved_constant(&mut self, op: &Op, x: ValueId, dims: &[usize]) -> Lowered<Option<ValueId>> {
        let Some(stored) = self.dequantized(x) else { return Ok(None) };
        let graph = &self.importer.graph;
        let (ty, Some(data)) = (graph.ty(stored), graph.const_data(stored)) else { return Ok(None) };
        let Some(moved) = moved(op, ty, dims) else { return Ok(None) };
        let Ok(data) = kiln_interp::eval(op, &[(ty, data)], &moved) else { return Ok(None) };
        self.importer.budget.charge(moved.bytes())?;
        let name = self.importer.graph.value(stored).name.clone();
        let stored = self.importer.graph.add_const(name, moved, data);
        self.add_unfolded(Op::Dequantize {}, &[stored], Type::plain(DType::F32, dims)).map(Some)
    }

    /// Adds a constant of floats.
    pub(crate) fn float_constant(&mut self, name: &str, dims: &[usize], numbers: &[f32]) -> Lowered<ValueId> {
        self.importer.budget.charge(4 * numbers.len())?;
        Ok(self.importer.graph.add_const(name, Type::plain(DType::F32, dims), Data::from_f32(numbers)))
    }

    /// Adds a constant of integers.
    pub(crate) fn int_constant(
        &mut self,
        name: &str,
        dtype: DType,
        dims: &[usize],
        numbers: &[i64],
    ) -> Lowered<ValueId> {
        self.importer.budget.charge(8 * numbers.len())?;
        let data = Data::from_ints(dtype, numbers.iter().copied());
        Ok(self.importer.graph.add_const(name, Type::plain(dtype, dims), data))
    }

    /// Lets result `k` be `value`.
    pub(crate) fn bind(&mut self, k: usize, value: ValueId) -> Lowered {
        let name = self.result(k);
        if !name.is_empty() {
            self.importer.values.insert(name, Some(value));
        }
        Ok(())
    }

    /// Whether result `k` is wanted.
    pub(crate) fn wants(&self, k: usize) -> bool {
        !self.result(k).is_empty()
    }

    /// A constant without elements.
    pub(crate) fn empty(&mut self, dtype: DType, dims: &[usize]) -> ValueId {
        self.importer.graph.add_const("nothing", Type::plain(dtype, dims), Data::new(Vec::new()))
    }

    /// Adds a node that computes the only result.
    pub(crate) fn emit(&mut self, op: Op, operands: &[ValueId], dims: &[usize]) -> Lowered {
        let value = self.add_like(op, operands, dims)?;
        self.bind(0, value)
    }
}

/// The type that a reshape or transpose of a quantised constant has; `None` where its scales would not belong to one axis.
fn moved(op: &Op, ty: &Type, dims: &[usize]) -> Option<Type> {
    let quant = ty.quant.clone()?;
    let axis = match (quant.axis, op) {
        (None, _) => None,
        (Some(axis), Op::Transpose { perm }) => Some(perm.iter().position(|&from| from == axis)?),
        (Some(axis), _) => {
            let before = ty.shape.dims().get(..axis)?.iter().product::<usize>();
            let size = *ty.shape.dims().get(axis)?;
            let fits = |&to: &usize| dims[..to].iter().product::<usize>() == before && dims[to] == size;
            Some((0..dims.len()).find(fits)?)
        }
    };
    Some(Type { dtype: ty.dtype, shape: Shape(dims.to_vec()), quant: Some(Quant { axis, ..quant }) })
}
