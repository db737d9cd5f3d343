//! What one operator sees while it is lowered: its operands and attributes, and the means of ONNX's operators ([`NodeCx`]), which it is one of.

use super::slot::Slot;
use super::{Lowered, Refusal};
use crate::onnx::lower::NodeCx;
use crate::tensorflow::proto::Node;
use kiln_ir::{DType, Data, Type, ValueId};
use std::ops::{Deref, DerefMut};

/// One operator, its operands and its place in the import.
pub(super) struct Cx<'c, 'm, 'p> {
    pub(super) means: NodeCx<'c, 'm, 'static>,
    pub(super) node: &'p Node<'p>,
    pub(super) operands: Vec<Slot<'p>>,
}

impl<'c, 'm> Deref for Cx<'c, 'm, '_> {
    type Target = NodeCx<'c, 'm, 'static>;

    fn deref(&self) -> &Self::Target {
        &self.means
    }
}

impl DerefMut for Cx<'_, '_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.means
    }
}

impl<'p> Cx<'_, '_, 'p> {
    // ---- Operands

    pub(super) fn slot(&self, k: usize) -> Lowered<Slot<'p>> {
        self.operands.get(k).cloned().ok_or_else(|| malformed!("operand {k} is missing"))
    }

    /// Operand `k`, as a tensor.
    pub(super) fn x(&self, k: usize) -> Lowered<ValueId> {
        self.slot(k)?.tensor()
    }

    /// Operands, as tensors.
    pub(super) fn xs(&self, range: std::ops::Range<usize>) -> Lowered<Vec<ValueId>> {
        range.map(|k| self.x(k)).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.operands.len()
    }

    /// Operand `k`, which must be floats.
    pub(super) fn float_x(&self, k: usize) -> Lowered<ValueId> {
        let x = self.x(k)?;
        self.want_float(x)?;
        Ok(x)
    }

    fn unknown(&self, k: usize, what: &str) -> Refusal {
        let help = "export the model with fixed shapes, so that it can be computed from constants";
        Refusal::unsupported(format!("its {what} (operand {k}) is computed at run time"), help)
    }

    /// The integers of operand `k`, which must follow from constants.
    pub(super) fn known_list(&self, k: usize, what: &str) -> Lowered<Vec<i64>> {
        let value = self.x(k)?;
        let dtype = self.ty(value).dtype;
        malformed_if!(dtype == DType::F32, "its {what} (operand {k}) is {}", self.shown(value));
        self.data(value).map(|data| data.to_ints(dtype)).ok_or_else(|| self.unknown(k, what))
    }

    /// The only integer of operand `k`, which must follow from constants.
    pub(super) fn known_int(&self, k: usize, what: &str) -> Lowered<i64> {
        match self.known_list(k, what)?[..] {
            [only] => Ok(only),
            _ => Err(malformed!("its {what} (operand {k}) is {}", self.shown(self.x(k)?))),
        }
    }

    /// Sizes in operand `k`.
    pub(super) fn known_sizes(&self, k: usize, what: &str) -> Lowered<Vec<usize>> {
        sizes(&self.known_list(k, what)?, what)
    }

    /// The numbers of operand `k`, which must follow from constants.
    pub(super) fn known_numbers(&self, k: usize, what: &str) -> Lowered<Vec<f64>> {
        let value = self.x(k)?;
        let data = self.data(value).ok_or_else(|| self.unknown(k, what))?;
        Ok(match self.ty(value).dtype {
            DType::F32 => data.to_f32().into_iter().map(f64::from).collect(),
            dtype => data.to_ints(dtype).into_iter().map(|x| x as f64).collect(),
        })
    }

    /// The only number of operand `k`, which must follow from constants.
    pub(super) fn known_number(&self, k: usize, what: &str) -> Lowered<f64> {
        match self.known_numbers(k, what)?[..] {
            [only] => Ok(only),
            _ => Err(malformed!("its {what} (operand {k}) is {}", self.shown(self.x(k)?))),
        }
    }

    /// An axis in operand `k`.
    pub(super) fn axis_in(&self, k: usize, rank: usize) -> Lowered<usize> {
        self.axis(self.known_int(k, "axis")?, rank)
    }

    // ---- Attributes

    pub(super) fn int_of(&self, name: &str, otherwise: i64) -> Lowered<i64> {
        Ok(self.node.attributes.int(name)?.unwrap_or(otherwise))
    }

    pub(super) fn flag(&self, name: &str) -> Lowered<bool> {
        Ok(self.node.attributes.flag(name)?.unwrap_or(false))
    }

    pub(super) fn flag_or(&self, name: &str, otherwise: bool) -> Lowered<bool> {
        Ok(self.node.attributes.flag(name)?.unwrap_or(otherwise))
    }

    pub(super) fn float_of(&self, name: &str, otherwise: f32) -> Lowered<f32> {
        Ok(self.node.attributes.float(name)?.unwrap_or(otherwise))
    }

    pub(super) fn word(&self, name: &str) -> Lowered<&'p str> {
        let bytes = self.node.attributes.bytes(name)?.unwrap_or_default();
        Ok(std::str::from_utf8(bytes).unwrap_or_default())
    }

    pub(super) fn list_of(&self, name: &str) -> Lowered<Vec<i64>> {
        Ok(self.node.attributes.ints(name)?.unwrap_or_default())
    }

    pub(super) fn sizes_of(&self, name: &str) -> Lowered<Vec<usize>> {
        sizes(&self.list_of(name)?, name)
    }

    /// The element type that an attribute says.
    pub(super) fn dtype_of(&self, name: &str) -> Lowered<Option<DType>> {
        super::declared(self.node, name)
    }

    // ---- Results

    /// Allows for so many operations of what is written out.
    pub(super) fn written_out(&mut self, operations: usize) -> Lowered {
        // An allowance is that of about seven operations.
        match self.importer.budget.inline(operations.div_ceil(6)) {
            true => Ok(()),
            false => {
                let what = "it would be written out as too many operations";
                Err(Refusal::unsupported(what, "use fewer steps or elements"))
            }
        }
    }

    /// An ONNX operator of these operands.
    pub(super) fn onnx(&mut self, operator: &str, operands: &[ValueId]) -> Lowered<ValueId> {
        let operands: Vec<Option<ValueId>> = operands.iter().copied().map(Some).collect();
        self.call(operator, &operands, &[])
    }

    /// A constant that is 0 everywhere.
    pub(super) fn zeros(&mut self, dtype: DType, dims: &[usize]) -> Lowered<ValueId> {
        crate::onnx::lower::check_size(dtype, dims)?;
        let ty = Type::plain(dtype, dims);
        self.importer.budget.make(ty.bytes());
        self.importer.budget.charge(ty.bytes())?;
        let data = Data::zeros(&ty);
        Ok(self.importer.graph.add_const("zeros", ty, data))
    }

    /// A value repeated to a shape; without elements where the shape has none.
    pub(super) fn spread(&mut self, value: ValueId, dims: &[usize]) -> Lowered<ValueId> {
        let dtype = self.ty(value).dtype;
        match dims.contains(&0) {
            true => Ok(self.empty(dtype, dims)),
            false => self.repeated(value, dims),
        }
    }
}

/// Integers as sizes.
pub(super) fn sizes(list: &[i64], what: &str) -> Lowered<Vec<usize>> {
    let size = |&size: &i64| u32::try_from(size).map(|size| size as usize);
    list.iter().map(size).collect::<Result<_, _>>().map_err(|_| malformed!("its {what} is {list:?}"))
}
