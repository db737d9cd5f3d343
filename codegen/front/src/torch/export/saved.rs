//! What `torch.save` wrote into an archive: a zip file of its own, with a pickle and the storages of its tensors.

use crate::archive::Archive;
use crate::budget::Budget;
use crate::torch::pickle::{Id, Item, Pickle};
use crate::torch::weights::view;
use crate::{Lowered, Refusal};
use kiln_ir::{Data, Type};

/// The package of tensors that hold others, as torchao's quantised weights do.
const TENSORS: &str = "torchao";

/// A pickle and its storages.
pub(super) struct Saved<'a> {
    archive: Archive<'a>,
    pickle: Pickle<'a>,
}

impl<'a> Saved<'a> {
    /// Reads a file of that name.
    pub(super) fn open(name: &str, bytes: &'a [u8], budget: &mut Budget) -> Lowered<Self> {
        let archive = Archive::open(bytes).ok_or_else(|| malformed!("{name} is no zip file"))?;
        let entry = archive.ending("data.pkl").ok_or_else(|| malformed!("{name} has no data.pkl"))?;
        let text = archive.read(entry).map_err(Refusal::malformed)?;
        let pickle = Pickle::read(name, text, TENSORS, budget)?;
        Ok(Saved { archive, pickle })
    }

    /// The tensor that a dictionary has under that key, or a tensor of another class as that attribute; `None` without one.
    pub(super) fn find(&self, key: &str, budget: &mut Budget) -> Lowered<Option<(Type, Data)>> {
        match self.item(key) {
            Some(id) => self.tensor(key, id, budget).map(Some),
            None => Ok(None),
        }
    }

    fn item(&self, key: &str) -> Option<Id> {
        let root = self.pickle.root;
        match self.pickle.item(root) {
            Item::Dict(_) => self.pickle.value(root, key),
            _ => self.pickle.attribute(root, key),
        }
    }

    fn tensor(&self, key: &str, id: Id, budget: &mut Budget) -> Lowered<(Type, Data)> {
        let Some((file, meta)) = self.pickle.tensor(id) else {
            let what = format!("\"{key}\" is a tensor of a class that cannot be compiled");
            return Err(Refusal::unsupported(what, "export the model with plain tensors as weights"));
        };
        let entry = self.archive.ending(&format!("data/{file}"));
        let entry = entry.ok_or_else(|| malformed!("the data of \"{key}\" is not in the archive"))?;
        let bytes = self.archive.read(entry).map_err(Refusal::malformed)?;
        view(key, bytes, &meta, budget)
    }
}
