//! Attributes of operators, by name.

use super::cx::NodeCx;
use super::Lowered;
use crate::onnx::proto::{Attribute, Tensor};

impl<'m, 'a> NodeCx<'_, 'm, 'a> {
    pub(super) fn attribute(&self, name: &str) -> Option<&'m Attribute<'a>> {
        self.node.attributes.iter().find(|attribute| attribute.name.0 == name.as_bytes())
    }

    /// An integer.
    pub(super) fn int(&self, name: &str, otherwise: i64) -> i64 {
        self.attribute(name).map_or(otherwise, |attribute| attribute.int)
    }

    /// A float.
    pub(super) fn float(&self, name: &str, otherwise: f32) -> f32 {
        self.attribute(name).map_or(otherwise, |attribute| attribute.float)
    }

    /// A list of floats, empty if there is none, or the constant of the same name with `_as_tensor` behind it.
    pub(super) fn numbers(&mut self, name: &str) -> Vec<f32> {
        let list = self.attribute(name).map(|attribute| attribute.floats.clone()).unwrap_or_default();
        if !list.is_empty() {
            return list;
        }
        let Some(tensor) = self.tensor(&format!("{name}_as_tensor")) else { return list };
        super::tensor::constant(tensor, &mut self.importer.budget).map_or(list, |(_, data)| data.to_f32())
    }

    /// A text; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &'a [u8] {
        self.attribute(name).map_or(&[], |attribute| attribute.string.0)
    }

    /// A list of integers, if there is one.
    pub(super) fn list(&self, name: &str) -> Option<&'m [i64]> {
        self.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// A list of sizes, if there is one.
    pub(super) fn sizes(&self, name: &str) -> Lowered<Option<Vec<usize>>> {
        let Some(list) = self.list(name) else { return Ok(None) };
        let size = |&x: &i64| u32::try_from(x).map(|x| x as usize);
        let sizes: Result<Vec<usize>, _> = list.iter().map(size).collect();
        sizes.map(Some).map_err(|_| malformed!("its {name} are {list:?}"))
    }

    /// A tensor.
    pub(super) fn tensor(&self, name: &str) -> Option<&'m Tensor<'a>> {
        self.attribute(name).and_then(|attribute| attribute.tensor.as_ref())
    }
}
