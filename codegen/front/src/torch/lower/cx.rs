//! What one operator sees while it is lowered: its arguments by name, and the means of ONNX's operators ([`NodeCx`]), which it is one of.

use crate::onnx::lower::NodeCx;
use crate::torch::program::{Arg, Node, SymInt, TensorMeta};
use crate::torch::weights;
use crate::{Lowered, Refusal};
use kiln_ir::{DType, ValueId};
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};

/// Values of the program, by name; `None` for results of operators that were refused.
pub(in crate::torch) type Slots<'p> = HashMap<&'p str, Option<ValueId>>;

/// One operator, its arguments and its place in the import.
pub(in crate::torch) struct Cx<'c, 'm, 'p> {
    pub(super) means: NodeCx<'c, 'm, 'static>,
    pub(super) node: &'p Node,
    pub(super) slots: &'c Slots<'p>,
    pub(super) metas: &'p HashMap<String, TensorMeta>,
    /// Sizes that symbols stand for.
    pub(super) symbols: &'c HashMap<String, i64>,
    /// Names that are read.
    pub(super) read: &'c HashSet<&'p str>,
    /// Its name without namespace, overload and the underscore of those that work in place: `add`.
    pub(super) target: &'p str,
    pub(super) overload: &'p str,
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
    /// The argument of that name, unless it is left out or None.
    pub(super) fn arg(&self, name: &str) -> Option<&'p Arg> {
        let named = self.node.inputs.iter().find(|input| input.name == name)?;
        (!matches!(named.arg, Arg::None)).then_some(&named.arg)
    }

    /// Whether an argument is there and not None.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arg(name).is_some()
    }

    fn wrong(&self, name: &str) -> Refusal {
        malformed!("its argument \"{name}\" is missing, or of another kind")
    }

    /// A value of the program.
    fn value(&self, name: &str) -> Lowered<ValueId> {
        match self.slots.get(name) {
            Some(Some(value)) => Ok(*value),
            Some(None) => Err(Refusal::Follows),
            None => Err(malformed!("\"{name}\" is used before it is computed")),
        }
    }

    /// A tensor.
    pub(super) fn tensor(&self, name: &str) -> Lowered<ValueId> {
        self.optional_tensor(name)?.ok_or_else(|| self.wrong(name))
    }

    /// A tensor that may be left out.
    pub(super) fn optional_tensor(&self, name: &str) -> Lowered<Option<ValueId>> {
        match self.arg(name) {
            None => Ok(None),
            Some(Arg::Tensor(tensor) | Arg::Computed(tensor)) => self.value(tensor).map(Some),
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// A list of tensors.
    pub(super) fn tensors(&self, name: &str) -> Lowered<Vec<ValueId>> {
        match self.arg(name) {
            Some(Arg::Tensors(list)) => list.iter().map(|name| self.value(name)).collect(),
            Some(Arg::Tensor(one)) => Ok(vec![self.value(one)?]),
            _ => Err(self.wrong(name)),
        }
    }

    /// A list of tensors of which some may be left out.
    pub(super) fn optional_tensors(&self, name: &str) -> Lowered<Vec<Option<ValueId>>> {
        match self.arg(name) {
            Some(Arg::OptionalTensors(list)) => {
                list.iter().map(|name| name.as_ref().map(|name| self.value(name)).transpose()).collect()
            }
            Some(Arg::Tensors(list)) => list.iter().map(|name| self.value(name).map(Some)).collect(),
            _ => Err(self.wrong(name)),
        }
    }

    /// A tensor, or a number as a tensor without axes: a float, an integer of 64 bits or a truth value.
    pub(super) fn operand(&mut self, name: &str) -> Lowered<ValueId> {
        match self.arg(name) {
            Some(Arg::Tensor(tensor) | Arg::Computed(tensor)) => self.value(tensor),
            Some(Arg::Float(number)) => self.float_constant("number", &[], &[*number as f32]),
            Some(Arg::Int(number)) => self.int_constant("number", DType::I64, &[], &[*number]),
            Some(Arg::Bool(truth)) => Ok(self.truth(*truth)),
            _ => Err(self.wrong(name)),
        }
    }

    /// Whether an argument is a number of the program, and no tensor.
    pub(super) fn is_number(&self, name: &str) -> bool {
        matches!(self.arg(name), Some(Arg::Float(_) | Arg::Int(_) | Arg::Bool(_)))
    }

    /// An integer.
    pub(super) fn integer(&self, name: &str) -> Lowered<Option<i64>> {
        match self.arg(name) {
            None => Ok(None),
            Some(Arg::Int(number)) => Ok(Some(*number)),
            Some(Arg::Bool(truth)) => Ok(Some(i64::from(*truth))),
            Some(Arg::Computed(of)) => self.computed(of, name).map(Some),
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// An integer that follows from constants.
    fn computed(&self, of: &str, name: &str) -> Lowered<i64> {
        let value = self.value(of)?;
        let (dtype, data) = (self.ty(value).dtype, self.data(value));
        let list = data.filter(|_| dtype != DType::F32).map(|data| data.to_ints(dtype)).unwrap_or_default();
        list.first().copied().ok_or_else(|| {
            let help = "export the model with fixed shapes, so that it can be computed from constants";
            Refusal::unsupported(format!("its {name} is computed at run time"), help)
        })
    }

    /// As [`Cx::integer`], with what it is where it is left out.
    pub(super) fn int(&self, name: &str, otherwise: i64) -> Lowered<i64> {
        Ok(self.integer(name)?.unwrap_or(otherwise))
    }

    /// A size or count.
    pub(super) fn size(&self, name: &str, otherwise: usize) -> Lowered<usize> {
        match self.integer(name)? {
            None => Ok(otherwise),
            Some(number) => u32::try_from(number)
                .map(|number| number as usize)
                .map_err(|_| malformed!("its {name} is {number}")),
        }
    }

    /// A list of integers; a single one is a list.
    pub(super) fn integers(&self, name: &str) -> Lowered<Option<Vec<i64>>> {
        match self.arg(name) {
            Some(Arg::Ints(list)) => {
                let number = |number: &SymInt| match number {
                    SymInt::Known(number) => Ok(*number),
                    SymInt::Named(of) => self.computed(of, name),
                };
                list.iter().map(number).collect::<Lowered<_>>().map(Some)
            }
            // An empty list is one of anything.
            Some(Arg::Tensors(list)) if list.is_empty() => Ok(Some(Vec::new())),
            _ => Ok(self.integer(name)?.map(|number| vec![number])),
        }
    }

    /// A list with a size for each of so many axes, which one number may stand for.
    pub(super) fn sizes(&self, name: &str, otherwise: usize, axes: usize) -> Lowered<Vec<usize>> {
        let list = self.integers(name)?.unwrap_or_default();
        let sizes: Option<Vec<usize>> =
            list.iter().map(|&size| u32::try_from(size).ok().map(|size| size as usize)).collect();
        match sizes.as_deref() {
            Some([]) => Ok(vec![otherwise; axes]),
            Some(&[one]) => Ok(vec![one; axes]),
            Some(sizes) if sizes.len() == axes => Ok(sizes.to_vec()),
            _ => Err(malformed!("its {name} is {list:?}")),
        }
    }

    /// A float.
    pub(super) fn real(&self, name: &str) -> Lowered<Option<f64>> {
        match self.arg(name) {
            None => Ok(None),
            Some(Arg::Float(number)) => Ok(Some(*number)),
            Some(Arg::Int(number)) => Ok(Some(*number as f64)),
            Some(Arg::Bool(truth)) => Ok(Some(f64::from(u8::from(*truth)))),
            Some(Arg::Tensor(of) | Arg::Computed(of)) => {
                let value = self.value(of)?;
                let data = self.data(value).filter(|_| self.ty(value).shape.numel() == 1);
                let number = data.and_then(|data| match self.ty(value).dtype {
                    DType::F32 => data.to_f32().first().map(|&x| f64::from(x)),
                    dtype => data.to_ints(dtype).first().map(|&x| x as f64),
                });
                let unknown = || {
                    let what = format!("its {name} is computed at run time");
                    Refusal::unsupported(what, "export the model with a constant")
                };
                number.map(Some).ok_or_else(unknown)
            }
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// As [`Cx::real`], with what it is where it is left out.
    pub(super) fn number_or(&self, name: &str, otherwise: f64) -> Lowered<f64> {
        Ok(self.real(name)?.unwrap_or(otherwise))
    }

    /// A truth value.
    pub(super) fn flag(&self, name: &str, otherwise: bool) -> Lowered<bool> {
        Ok(self.int(name, i64::from(otherwise))? != 0)
    }

    /// A text; empty if there is none.
    pub(super) fn words(&self, name: &str) -> &'p str {
        match self.arg(name) {
            Some(Arg::Text(text)) => text,
            _ => "",
        }
    }

    /// An element type that is asked for.
    pub(super) fn asked(&self, name: &str) -> Lowered<Option<DType>> {
        match self.arg(name) {
            Some(Arg::Dtype(number) | Arg::Int(number)) => weights::dtype(*number).map(Some),
            _ => Ok(None),
        }
    }

    /// The element type of result `k` in the program.
    pub(super) fn declared(&self, k: usize) -> Lowered<Option<DType>> {
        if k == 0 && self.node.dtype.is_some() {
            return Ok(self.node.dtype);
        }
        let name = match self.node.outputs.get(k) {
            Some(Arg::Tensor(name)) => name,
            Some(Arg::Tensors(list)) => match list.get(k) {
                Some(name) => name,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.metas.get(name).map(|meta| weights::dtype(meta.dtype)).transpose()
    }

    /// Allows for so many operations, a few for each step of what is written out.
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

    /// Whether somebody reads result `k`.
    pub(super) fn wants_result(&self, k: usize) -> bool {
        matches!(self.node.outputs.get(k), Some(Arg::Tensor(name)) if self.read.contains(name.as_str()))
    }

    /// The number of results.
    pub(super) fn results(&self) -> usize {
        match self.node.outputs.as_slice() {
            [Arg::Tensors(list)] => list.len(),
            all => all.len(),
        }
    }

    /// An axis, which may count from the end; that of a tensor without axes is 0.
    pub(super) fn dim(&self, name: &str, otherwise: i64, x: ValueId) -> Lowered<usize> {
        let rank = self.dims(x).len().max(1);
        self.axis(self.int(name, otherwise)?, rank)
    }

    /// A list of axes in order; all if there is none.
    pub(super) fn axes(&self, name: &str, x: ValueId) -> Lowered<Vec<usize>> {
        let rank = self.dims(x).len();
        let list = self.integers(name)?.unwrap_or_default();
        if list.is_empty() || rank == 0 {
            return Ok((0..rank).collect());
        }
        let mut axes = list.iter().map(|&axis| self.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// `x` as floats.
    pub(super) fn floating(&mut self, x: ValueId) -> Lowered<ValueId> {
        self.cast(x, DType::F32)
    }

    /// A tensor as floats.
    pub(super) fn float_tensor(&mut self, name: &str) -> Lowered<ValueId> {
        let x = self.tensor(name)?;
        self.floating(x)
    }

    /// Two operands in the type of the result.
    pub(super) fn promoted(&mut self, names: [&str; 2]) -> Lowered<[ValueId; 2]> {
        let [x, y] = [self.operand(names[0])?, self.operand(names[1])?];
        let common = self.common(x, y, [self.is_number(names[0]), self.is_number(names[1])]);
        let dtype = match self.declared(0)? {
            // Truth values are what comparisons give.
            None | Some(DType::Bool) => common,
            Some(dtype) => dtype,
        };
        Ok([self.cast(x, dtype)?, self.cast(y, dtype)?])
    }

    /// The type that both become. A number has one only where it is of a wider kind.
    pub(super) fn common(&self, x: ValueId, y: ValueId, is_number: [bool; 2]) -> DType {
        let of = |value: ValueId| self.ty(value).dtype;
        let kind = |dtype: DType| match dtype {
            DType::Bool => 0,
            DType::F32 => 2,
            _ => 1,
        };
        let (a, b) = (of(x), of(y));
        match (is_number, kind(a).cmp(&kind(b))) {
            (_, std::cmp::Ordering::Less) => b,
            (_, std::cmp::Ordering::Greater) => a,
            ([false, true], _) => a,
            ([true, false], _) => b,
            _ if a == b => a,
            _ if [a, b].contains(&DType::I64) => DType::I64,
            _ if [a, b].contains(&DType::I32) => DType::I32,
            _ => DType::I16,
        }
    }
}
