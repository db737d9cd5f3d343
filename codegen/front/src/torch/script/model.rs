//! What an archive holds: code, attributes, constants and storages.

use super::code::{Code, File};
use crate::archive::Archive;
use crate::budget::Budget;
use crate::torch::pickle::{Id, Item, Pickle};
use crate::torch::program::{Size, TensorMeta};
use crate::torch::weights::{stored, view};
use crate::{Lowered, Refusal};
use kiln_ir::error::{Error, Problem};
use kiln_ir::{Data, Type};
use std::borrow::Cow;

/// The package of the archive's own classes.
const CODE: &str = "__torch__";

/// The files of an archive that are read as a whole.
pub(super) struct Files<'a> {
    pub(super) archive: Archive<'a>,
    data: Cow<'a, [u8]>,
    constants: Option<Cow<'a, [u8]>>,
}

impl<'a> Files<'a> {
    pub(super) fn open(bytes: &'a [u8], budget: &mut Budget) -> Result<Self, Error> {
        let archive = Archive::open(bytes).ok_or_else(|| Error::malformed("archive", "it is damaged"))?;
        let order = archive.ending("byteorder").map(|entry| archive.read(entry));
        if matches!(order, Some(Ok(b"big"))) {
            let what = "its weights are in big-endian order".into();
            let help = "save it on a machine with little-endian order".into();
            return Err(Error::Unsupported(vec![Problem { place: "archive".into(), what, help }]));
        }
        let mut text = |name: &str| archive.ending(name).map(|entry| archive.text(entry, budget)).transpose();
        let data = text("data.pkl")?.ok_or_else(|| Error::malformed("archive", "it has no data.pkl"))?;
        let constants = text("constants.pkl")?;
        Ok(Files { archive, data, constants })
    }
}

/// Which of the two heaps an item is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Heap {
    /// The module and its attributes.
    Data,
    /// The constants of the code.
    Constants,
}

/// A module: its code and its attributes.
pub(super) struct Model<'a> {
    archive: &'a Archive<'a>,
    pub(super) code: Code<'a>,
    data: Pickle<'a>,
    constants: Option<Pickle<'a>>,
}

impl<'a> Model<'a> {
    pub(super) fn read(files: &'a Files<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let archive = &files.archive;
        let mut code = Vec::new();
        for (entry, name) in archive.code() {
            let text = archive.text(entry, budget)?;
            let file = File::new(name, text);
            let file = file.ok_or_else(|| Error::malformed(name, "it is no text in UTF-8"))?;
            budget.charge(file.line_bytes())?;
            code.push(file);
        }
        let data = Pickle::read("data.pkl", &files.data, CODE, budget)?;
        let constants = files.constants.as_ref();
        let constants =
            constants.map(|bytes| Pickle::read("constants.pkl", bytes, CODE, budget)).transpose()?;
        let model = Model { archive, code: Code { files: code }, data, constants };
        match model.data.item(model.data.root) {
            Item::Object(..) => Ok(model),
            _ => Err(Error::malformed("data.pkl", "it holds no module")),
        }
    }

    /// The module.
    pub(super) fn root(&self) -> Id {
        self.data.root
    }

    pub(super) fn pickle(&self, heap: Heap) -> &Pickle<'a> {
        match (heap, &self.constants) {
            (Heap::Constants, Some(constants)) => constants,
            _ => &self.data,
        }
    }

    /// Constant `k` of the code.
    pub(super) fn constant(&self, k: usize) -> Option<Id> {
        let constants = self.constants.as_ref()?;
        constants.list(constants.root)?.get(k).copied()
    }

    /// The file with the storage of a tensor, and what the tensor shows of it.
    pub(super) fn meta(&self, heap: Heap, id: Id) -> Option<(&'a str, TensorMeta)> {
        self.pickle(heap).tensor(id)
    }

    /// A tensor of the archive.
    pub(super) fn tensor(
        &self,
        heap: Heap,
        id: Id,
        path: &str,
        budget: &mut Budget,
    ) -> Lowered<(Type, Data)> {
        let (file, meta) = self.meta(heap, id).ok_or_else(|| malformed!("\"{path}\" is no tensor"))?;
        let folder = if heap == Heap::Data { "data" } else { "constants" };
        let Some(entry) = self.archive.ending(&format!("{folder}/{file}")) else {
            let file = super::short(file);
            return Err(malformed!("the data of \"{path}\" ({folder}/{file}) is not in the archive"));
        };
        let bytes = self.archive.read(entry).map_err(Refusal::malformed)?;
        view(path, bytes, &meta, budget)
    }

    /// Bytes of all tensors.
    pub(super) fn bytes(&self) -> u64 {
        let mut bytes = 0u64;
        for heap in [Heap::Data, Heap::Constants] {
            if heap == Heap::Constants && self.constants.is_none() {
                continue;
            }
            for id in 0..self.pickle(heap).count() {
                let Some((_, meta)) = self.meta(heap, id) else { continue };
                let size = |size: &Size| match size {
                    Size::Known(size) => u64::try_from(*size).unwrap_or(0),
                    Size::Symbolic(_) => 0,
                };
                let count = meta.sizes.iter().map(size).fold(1, u64::saturating_mul);
                let width = stored(meta.dtype).unwrap_or(0) as u64;
                bytes = bytes.saturating_add(count.saturating_mul(width));
            }
        }
        bytes
    }
}
