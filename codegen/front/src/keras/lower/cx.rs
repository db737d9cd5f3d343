//! What one call of a layer sees while it is lowered: its configuration, its variables, its arguments, and the means of ONNX's operators ([`NodeCx`]).

use super::arguments::{Arg, Given};
use super::run::joined;
use super::{Shared, Slot};
use crate::keras::model::Layer;
use crate::keras::value::Value;
use crate::keras::variables;
use crate::onnx::lower::NodeCx;
use crate::{Lowered, Refusal};
use kiln_ir::{DType, Data, Type, ValueId};
use std::ops::{Deref, DerefMut};

/// One call of a layer.
pub(super) struct Cx<'c, 'm, 'f> {
    pub(super) means: NodeCx<'c, 'm, 'static>,
    pub(super) shared: &'c mut Shared<'m, 'f>,
    pub(super) layer: Layer<'c>,
    /// Where the file has its variables.
    pub(super) path: String,
    pub(super) index: usize,
    pub(super) given: Given,
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

/// A variable of a layer.
pub(super) struct Weights {
    pub(super) ty: Type,
    pub(super) data: Data,
}

impl Weights {
    pub(super) fn dims(&self) -> &[usize] {
        self.ty.shape.dims()
    }
}

impl<'c> Cx<'c, '_, '_> {
    // ---- Configuration

    pub(super) fn config(&self) -> &'c Value {
        self.layer.config
    }

    pub(super) fn flag(&self, key: &str, otherwise: bool) -> bool {
        self.config().get(key).flag(otherwise)
    }

    pub(super) fn word(&self, key: &str) -> &'c str {
        self.config().get(key).text()
    }

    /// A float; another one where there is none.
    pub(super) fn number_of(&self, key: &str, otherwise: f64) -> f64 {
        self.config().get(key).float().unwrap_or(otherwise)
    }

    /// An integer, if there is one.
    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        self.config().get(key).int()
    }

    /// A size.
    pub(super) fn size(&self, key: &str, otherwise: usize) -> Lowered<usize> {
        match self.config().get(key) {
            Value::Null => Ok(otherwise),
            value => size(value).ok_or_else(|| malformed!("its {key} is no size")),
        }
    }

    /// A size for each of so many axes, which one number may stand for.
    pub(super) fn sizes_of(&self, key: &str, axes: usize, otherwise: usize) -> Lowered<Vec<usize>> {
        let wrong = || malformed!("its {key} does not fit {axes} axes");
        match self.config().get(key) {
            Value::Null => Ok(vec![otherwise; axes]),
            Value::List(list) => {
                let sizes: Option<Vec<usize>> = list.iter().map(size).collect();
                sizes.filter(|sizes| sizes.len() == axes).ok_or_else(wrong)
            }
            value => size(value).map(|size| vec![size; axes]).ok_or_else(wrong),
        }
    }

    /// A list of axes, which one number may stand for, in order.
    pub(super) fn axes_of(&self, key: &str, otherwise: i64, rank: usize) -> Lowered<Vec<usize>> {
        let list = match self.config().get(key) {
            Value::Null => vec![otherwise],
            value @ Value::List(_) => integers(value).ok_or_else(|| malformed!("its {key} is no axis"))?,
            value => vec![value.int().ok_or_else(|| malformed!("its {key} is no axis"))?],
        };
        let mut axes = list.into_iter().map(|axis| self.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// Whether channels are the second axis, and not the last one.
    pub(super) fn channels_first(&self) -> bool {
        self.word("data_format") == "channels_first"
    }

    /// Refuses layers with quantised weights.
    pub(super) fn refuse_quantised(&self) -> Lowered {
        let policy = self.config().get("dtype").get("class_name").text();
        let is_quantised = policy.starts_with("Quantized") && !policy.is_empty();
        if is_quantised || self.config().has("quantization_mode") {
            let help = "save the model before Model.quantize, and quantise it with Kiln";
            return Err(Refusal::unsupported("its weights are quantised by Keras", help));
        }
        Ok(())
    }

    // ---- Operands

    /// The only tensor that it is called with.
    pub(super) fn slot(&self) -> Lowered<Slot> {
        self.given.first().first().copied().ok_or_else(|| malformed!("it is called without a tensor"))
    }

    /// The same, as floats.
    pub(super) fn x(&mut self) -> Lowered<ValueId> {
        let value = self.slot()?.value;
        self.floating(value)
    }

    /// `x` as floats.
    pub(super) fn floating(&mut self, x: ValueId) -> Lowered<ValueId> {
        self.cast(x, DType::F32)
    }

    /// The tensor that is an argument, if it is there.
    pub(super) fn tensor_at(&self, place: usize, name: &str) -> Lowered<Option<Slot>> {
        match self.given.get(place, name) {
            None => Ok(None),
            Some(Arg::Slot(slot)) => Ok(Some(*slot)),
            Some(_) => Err(malformed!("its argument {name} is no tensor")),
        }
    }

    /// The value of an argument that is no tensor: of a call, or of the configuration.
    pub(super) fn setting(&self, place: usize, name: &str) -> Value {
        match self.given.get(place, name) {
            Some(Arg::Value(value)) => value.clone(),
            Some(Arg::List(list)) => {
                let values = list.iter().map(|arg| match arg {
                    Arg::Value(value) => value.clone(),
                    _ => Value::Null,
                });
                Value::List(values.collect())
            }
            _ => self.config().get(name).clone(),
        }
    }

    // ---- Variables

    /// Variable `number` of the layer, or of one inside of it.
    pub(super) fn weights(&mut self, inner: &str, number: usize) -> Lowered<Weights> {
        let path = variables::path(&joined(&self.path, inner), number);
        let found = self.shared.store.get(&path, &mut self.means.importer.budget)?;
        match found {
            Some((ty, data)) => Ok(Weights { ty, data }),
            None => Err(malformed!("the file has no weights \"{path}\" for it")),
        }
    }

    /// The same as floats, of so many elements.
    pub(super) fn floats_of(&mut self, inner: &str, number: usize, count: usize) -> Lowered<Vec<f32>> {
        let weights = self.weights(inner, number)?;
        let fits = weights.ty.dtype == DType::F32 && weights.ty.shape.numel() == count;
        malformed_if!(!fits, "its weights are {:?}, which does not fit", weights.dims());
        Ok(weights.data.to_f32())
    }

    /// A constant of the graph with the axes of a variable in another order, under another shape.
    pub(super) fn constant(
        &mut self,
        name: &str,
        weights: &Weights,
        perm: &[usize],
        dims: &[usize],
    ) -> Lowered<ValueId> {
        let (shape, size) = (&weights.ty.shape, weights.ty.dtype.size());
        let fits = perm.len() == shape.rank() && dims.iter().product::<usize>() == shape.numel();
        malformed_if!(!fits, "its weights are {:?}, which does not fit", shape.dims());
        malformed_if!(weights.ty.dtype != DType::F32, "its weights are no floats");
        let data = match perm.iter().copied().eq(0..perm.len()) {
            true => weights.data.clone(),
            false => {
                self.importer.budget.charge(weights.ty.bytes())?;
                let turned = weights.data.transposed(shape, size, perm);
                turned.ok_or_else(|| malformed!("its weights are {:?}, which does not fit", shape.dims()))?
            }
        };
        let name = format!("{}/{name}", self.means.name);
        Ok(self.importer.graph.add_const(name, Type::plain(DType::F32, dims), data))
    }

    /// The bias of a layer, if it has one: variable `number`, with so many elements.
    pub(super) fn bias(&mut self, inner: &str, number: usize, count: usize) -> Lowered<Option<ValueId>> {
        if !self.flag("use_bias", true) {
            return Ok(None);
        }
        let weights = self.weights(inner, number)?;
        let rank = weights.dims().len();
        let order: Vec<usize> = (0..rank).collect();
        self.constant("bias", &weights, &order, &[count]).map(Some)
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

    /// The same call for a layer inside of this one, or with other arguments.
    pub(super) fn within<T>(
        &mut self,
        layer: Layer<'_>,
        inner: &str,
        given: Given,
        of: impl FnOnce(&mut Cx<'_, '_, '_>) -> Lowered<T>,
    ) -> Lowered<T> {
        let (origin, name) = (self.means.origin.clone(), self.means.name.clone());
        let means = self.means.importer.hosted_cx(self.shared.host, name, origin);
        let path = joined(&self.path, inner);
        of(&mut Cx { means, shared: self.shared, layer, path, index: self.index, given })
    }

    /// What a layer inside of this one computes.
    pub(super) fn inner(&mut self, layer: Layer<'_>, inner: &str, given: Given) -> Lowered<Vec<Slot>> {
        let path = joined(&self.path, inner);
        let place = format!("{}/{}", self.means.name, super::short(layer.name));
        let index = self.index;
        let (importer, shared) = (&mut *self.means.importer, &mut *self.shared);
        let slots = super::run::computed(importer, shared, &layer, &path, &place, index, given)?;
        slots.into_iter().map(|slot| slot.ok_or(Refusal::Follows)).collect()
    }
}

/// A size in a configuration.
pub(super) fn size(value: &Value) -> Option<usize> {
    value.int().and_then(|int| u32::try_from(int).ok()).map(|size| size as usize)
}

/// A list of integers.
pub(super) fn integers(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::List(list) => list.iter().map(Value::int).collect(),
        _ => None,
    }
}
