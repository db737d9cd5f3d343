//! What one operator sees while it is lowered: its operands and attributes, and the means of ONNX's operators ([`NodeCx`]).

use super::super::schema::{text, Name, Operator};
use super::lazy::LazyId;
use super::{dims_of, Importer, Scope, Slot};
use crate::flatbuffer::Broken;
use crate::onnx::lower::NodeCx;
use crate::{Lowered, Refusal};
use kiln_ir::{DType, Data, Graph, Op, Quant, Type, ValueId};
use std::rc::Rc;

/// One operator, its operands and its place in the import.
pub(super) struct Cx<'c, 'm, 'a> {
    pub(super) importer: &'c mut Importer<'m, 'a>,
    pub(super) scope: &'c mut Scope<'m, 'a>,
    pub(super) operator: &'m Operator<'a>,
    pub(super) operands: Vec<Slot>,
    /// `12 CONV2D`.
    pub(super) origin: String,
}

impl<'m, 'a> Cx<'_, 'm, 'a> {
    /// What nodes are made with.
    pub(super) fn means(&mut self) -> NodeCx<'_, 'm, 'static> {
        let name = self.operator.outputs.first().map(|name| text(name).into_owned()).unwrap_or_default();
        self.importer.means.hosted_cx(self.importer.host, name, self.origin.clone())
    }

    // ---- Operands

    /// Operand `k`.
    pub(super) fn slot(&self, k: usize) -> Lowered<&Slot> {
        self.operands.get(k).ok_or_else(|| malformed!("operand {k} is missing"))
    }

    /// Operand `k` as a computed tensor.
    pub(super) fn value(&mut self, k: usize) -> Lowered<ValueId> {
        match self.slot(k)?.clone() {
            Slot::Value(value) => Ok(value),
            Slot::Lazy(id) => self.computed(id),
            Slot::Shape(sizes) => self.means().int_constant("shape", DType::I64, &[sizes.len()], &sizes),
            Slot::Refused => Err(Refusal::Follows),
        }
    }

    /// Operand `k`, if it is an expression.
    pub(super) fn lazy(&self, k: usize) -> Option<LazyId> {
        match self.operands.get(k) {
            Some(Slot::Lazy(id)) => Some(*id),
            _ => None,
        }
    }

    /// All operands as computed tensors.
    pub(super) fn values(&mut self) -> Lowered<Vec<ValueId>> {
        (0..self.operands.len()).map(|k| self.value(k)).collect()
    }

    /// The sizes that operand `k` is.
    pub(super) fn sizes(&mut self, k: usize) -> Lowered<Rc<[i64]>> {
        if let Slot::Shape(sizes) = self.slot(k)? {
            return Ok(sizes.clone());
        }
        self.known_ints(k, "shape").map(Rc::from)
    }

    /// The integers of operand `k`, which has to follow from constants.
    pub(super) fn known_ints(&mut self, k: usize, what: &str) -> Lowered<Vec<i64>> {
        let value = self.value(k)?;
        let dtype = self.ty(value).dtype;
        malformed_if!(dtype == DType::F32, "its {what} (operand {k}) is no integer");
        let data = self.means().data(value);
        data.map(|data| data.to_ints(dtype)).ok_or_else(|| {
            let what = format!("its {what} (operand {k}) is computed at run time");
            Refusal::unsupported(what, "export the model with constants for it")
        })
    }

    /// A zero point: the only number of operand `k`; 0 of floats, and where there is no such operand.
    pub(super) fn zero_point(&mut self, k: usize) -> Lowered<i64> {
        if self.operands.len() <= k {
            return Ok(0);
        }
        let value = self.value(k)?;
        if self.ty(value).dtype == DType::F32 {
            return Ok(0);
        }
        match self.known_ints(k, "zero point")?[..] {
            [zero] => Ok(zero),
            _ => Err(malformed!("operand {k} is no zero point")),
        }
    }

    pub(super) fn ty(&self, value: ValueId) -> &Type {
        self.importer.means.graph.ty(value)
    }

    pub(super) fn dims(&self, value: ValueId) -> Vec<usize> {
        self.ty(value).shape.0.clone()
    }

    pub(super) fn is_constant(&self, value: ValueId) -> bool {
        self.importer.means.graph.const_data(value).is_some()
    }

    /// The data of what follows from constants.
    pub(super) fn data(&mut self, value: ValueId) -> Option<Data> {
        self.means().data(value)
    }

    /// The shape of operand `k`.
    pub(super) fn operand_dims(&self, k: usize) -> Lowered<Vec<usize>> {
        Ok(match self.slot(k)? {
            Slot::Value(value) => self.dims(*value),
            Slot::Lazy(id) => self.importer.lazies.get(*id).dims.clone(),
            Slot::Shape(sizes) => vec![sizes.len()],
            Slot::Refused => return Err(Refusal::Follows),
        })
    }

    // ---- Stored values

    /// A tensor of narrow integers, of which that one stands for 0.
    pub(super) fn stored(&mut self, x: ValueId, zero: i64) -> Lowered<ValueId> {
        let dtype = self.ty(x).dtype;
        let fits = dtype.int_range().is_some_and(|(lo, hi)| (lo..=hi).contains(&zero));
        let zero = i32::try_from(zero).ok().filter(|_| fits);
        let zero = zero.ok_or_else(|| malformed!("a zero point that is no {}", dtype.name()))?;
        self.labelled(x, Some(Quant::per_tensor(1.0, zero)))
    }

    /// The same stored values under another quantisation.
    fn labelled(&mut self, x: ValueId, quant: Option<Quant>) -> Lowered<ValueId> {
        let ty = self.ty(x).clone();
        if ty.quant == quant {
            return Ok(x);
        }
        let wanted = Type { quant, ..ty };
        let graph = &mut self.importer.means.graph;
        if let Some(data) = graph.const_data(x).cloned() {
            let name = graph.value(x).name.clone();
            return Ok(graph.add_const(name, wanted, data));
        }
        // An input has the zero point with which it is read first.
        let is_unread = |graph: &Graph| graph.nodes().all(|(_, node)| !node.operands.contains(&x));
        if graph.inputs.contains(&x) && is_unread(graph) {
            graph.value_mut(x).ty = wanted;
            return Ok(x);
        }
        self.means().add_unfolded(Op::Reshape {}, &[x], wanted)
    }

    /// The type of narrow integers around a zero point; a plain one where the zero point is no such integer.
    pub(super) fn stored_type(dtype: DType, dims: &[usize], zero: i64) -> Type {
        let fits = dtype.int_range().is_some_and(|(lo, hi)| (lo..=hi).contains(&zero));
        match (fits, dtype) {
            (true, DType::I8 | DType::I16) => Type::quantized(dtype, dims, 1.0, zero as i32),
            _ => Type::plain(dtype, dims),
        }
    }

    /// `x` with the quantisation of `like`, so that stored values of both may stand side by side.
    pub(super) fn like(&mut self, x: ValueId, like: ValueId) -> Lowered<ValueId> {
        let (own, wanted) = (self.ty(x).clone(), self.ty(like).clone());
        malformed_if!(
            own.dtype != wanted.dtype,
            "operands of {} and {}",
            own.dtype.name(),
            wanted.dtype.name()
        );
        self.labelled(x, wanted.quant)
    }

    /// The stored values of a tensor as plain integers.
    pub(super) fn plain(&mut self, x: ValueId) -> Lowered<ValueId> {
        self.labelled(x, None)
    }

    // ---- Attributes

    pub(super) fn int(&self, slot: usize) -> Lowered<i64> {
        self.operator.int(slot).map(i64::from).map_err(broken)
    }

    pub(super) fn flag(&self, slot: usize) -> Lowered<bool> {
        self.operator.flag(slot).map_err(broken)
    }

    /// A list of `N` integers.
    pub(super) fn list<const N: usize>(&self, slot: usize, what: &str) -> Lowered<[i64; N]> {
        let list = self.operator.list(slot).map_err(broken)?;
        <[i64; N]>::try_from(list).map_err(|list| malformed!("its {what} is {list:?}"))
    }

    /// A list of `N` sizes.
    pub(super) fn size_list<const N: usize>(
        &self,
        slot: usize,
        what: &str,
        least: i64,
    ) -> Lowered<[usize; N]> {
        let list = self.list::<N>(slot, what)?;
        malformed_if!(list.iter().any(|&size| size < least), "its {what} is {list:?}");
        Ok(list.map(|size| size as usize))
    }

    /// An axis among so many.
    pub(super) fn axis(&self, slot: usize, rank: usize) -> Lowered<usize> {
        let axis = self.int(slot)?;
        let found = usize::try_from(axis).ok().filter(|&axis| axis < rank);
        found.ok_or_else(|| malformed!("there is no axis {axis}: the tensor has {rank} axes"))
    }

    // ---- Results

    /// The element type of result `k`, as it is computed.
    pub(super) fn result_dtype(&self, k: usize) -> Lowered<DType> {
        let name = self.operator.outputs.get(k).ok_or_else(|| malformed!("it has no result {k}"))?;
        let tensor = self.scope.block.tensors.get(name);
        super::dtype_of(tensor.ok_or_else(|| malformed!("\"{}\" is no tensor", text(name)))?.element)
    }

    /// Refuses a result of another shape or element than the file has for it.
    pub(super) fn check(&self, name: Name<'a>, slot: &Slot) -> Lowered {
        let Some(tensor) = self.scope.block.tensors.get(name) else { return Ok(()) };
        let (own, dtype) = match slot {
            Slot::Value(value) => (self.dims(*value), self.ty(*value).dtype),
            Slot::Lazy(id) => {
                let lazy = self.importer.lazies.get(*id);
                (lazy.dims.clone(), lazy.dtype)
            }
            Slot::Shape(_) | Slot::Refused => return Ok(()),
        };
        let declared = dims_of(tensor);
        let fits = |(declared, &own): (&Option<usize>, &usize)| declared.is_none_or(|size| size == own);
        let is_same = |dims: &Vec<Option<usize>>| dims.len() == own.len() && dims.iter().zip(&own).all(fits);
        if let Some(dims) = declared.filter(|dims| !is_same(dims)) {
            return Err(malformed!("a result is {own:?}, but the file has {dims:?} for it"));
        }
        let wanted = super::dtype_of(tensor.element)?;
        malformed_if!(
            wanted != dtype,
            "a result is {}, but the file has {} for it",
            dtype.name(),
            wanted.name()
        );
        Ok(())
    }
}

pub(super) fn broken(broken: Broken) -> Refusal {
    Refusal::Malformed(broken.to_string())
}
