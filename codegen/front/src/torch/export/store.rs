//! The weights of an archive: views of storages, which are files in it, or what `torch.save` wrote.

use super::program::{Weight, WeightKind, Weights};
use super::reader::parsed;
use super::saved::Saved;
use crate::archive::Archive;
use crate::budget::Budget;
use crate::torch::program::Size;
use crate::torch::weights::{stored, view};
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{Data, Type};
use std::cell::OnceCell;

/// The weights of an archive.
pub(super) struct Store<'a> {
    archive: Archive<'a>,
    weights: Weights,
    constants: Weights,
    /// Weights and constants of archives of torch up to 2.8, when they are needed.
    old: [OnceCell<Saved<'a>>; 2],
}

/// Files with the weights of older archives, and those with their constants: of torch up to 2.7, and of 2.8.
const OLD: [[&str; 2]; 2] = [
    ["serialized_state_dict.pt", "data/weights/model.pt"],
    ["serialized_constants.pt", "data/constants/model.pt"],
];

impl<'a> Store<'a> {
    pub(super) fn read(archive: Archive<'a>) -> Result<Self, Error> {
        let config = |kind: &str| {
            let Some(entry) = archive.ending(&format!("model_{kind}_config.json")) else {
                return Ok(Weights::default());
            };
            let bytes = archive.read(entry).map_err(|what| Error::malformed(entry.name, what))?;
            parsed(entry, bytes, Weight::read_all)
        };
        let (weights, constants) = (config("weights")?, config("constants")?);
        Ok(Store { archive, weights, constants, old: Default::default() })
    }

    /// How many bytes a weight has; 0 where it is not there.
    pub(super) fn bytes(&self, of: &str) -> u64 {
        let weight = self.weights.get(of).or_else(|| self.constants.get(of));
        let Some(meta) = weight.and_then(|weight| weight.tensor_meta.as_ref()) else { return 0 };
        let count = meta.sizes.iter().try_fold(1u64, |all, size| match size {
            Size::Known(size) => all.checked_mul(u64::try_from(*size).ok()?),
            Size::Symbolic(_) => None,
        });
        count.unwrap_or(0).saturating_mul(stored(meta.dtype).map_or(0, |bytes| bytes as u64))
    }

    /// The weight of that name.
    pub(super) fn weight(&self, kind: WeightKind, of: &str, budget: &mut Budget) -> Lowered<(Type, Data)> {
        // Buffers that are not saved with a model's state lie among the constants.
        let (first, second) = match kind {
            WeightKind::Constant => (&self.constants, &self.weights),
            _ => (&self.weights, &self.constants),
        };
        let known = |weights: &Weights| weights.contains_key(of);
        let folder = match (known(first), kind) {
            (true, WeightKind::Constant) | (false, WeightKind::Parameter | WeightKind::Buffer) => "constants",
            _ => "weights",
        };
        let Some(weight) = first.get(of).or_else(|| second.get(of)) else {
            return self.old(of, budget);
        };
        let Weight { path_name, use_pickle: false, tensor_meta: Some(meta) } = weight else {
            return Err(pickled(of));
        };
        let Some(entry) = self.archive.ending(&format!("data/{folder}/{path_name}")) else {
            return Err(malformed!("the data of \"{of}\" (data/{folder}/{path_name}) is not in the archive"));
        };
        let bytes = self.archive.read(entry).map_err(Refusal::malformed)?;
        view(of, bytes, meta, budget)
    }

    /// The weight of that name in an older archive.
    fn old(&self, of: &str, budget: &mut Budget) -> Lowered<(Type, Data)> {
        for (cell, names) in self.old.iter().zip(OLD) {
            let Some(entry) = names.iter().find_map(|name| self.archive.ending(name)) else { continue };
            if cell.get().is_none() {
                let bytes = self.archive.read(entry).map_err(Refusal::malformed)?;
                // It is set once.
                let _ = cell.set(Saved::open(entry.name, bytes, budget)?);
            }
            if let Some(found) = cell.get().map(|saved| saved.find(of, budget)).transpose()?.flatten() {
                return Ok(found);
            }
        }
        Err(malformed!("\"{of}\" is not in the archive"))
    }

    /// Whether a weight is a tensor of another class, which holds tensors.
    pub(super) fn is_wrapped(&self, of: &str) -> bool {
        self.weights.get(of).is_some_and(|weight| weight.use_pickle)
    }

    /// The tensor that a weight of another class holds under that name.
    pub(super) fn inner(&self, of: &str, name: &str, budget: &mut Budget) -> Lowered<(Type, Data)> {
        let path = self.weights.get(of).map_or("", |weight| weight.path_name.as_str());
        let file = format!("data/weights/{path}");
        let entry = self.archive.ending(&file);
        let entry = entry.ok_or_else(|| malformed!("the data of \"{of}\" ({file}) is not in the archive"))?;
        let bytes = self.archive.read(entry).map_err(Refusal::malformed)?;
        let found = Saved::open(&file, bytes, budget)?.find(name, budget)?;
        found.ok_or_else(|| malformed!("\"{of}\" has no tensor \"{name}\""))
    }
}

fn pickled(of: &str) -> Refusal {
    let what = format!("\"{of}\" is a tensor of a class of its own, which is pickled");
    let help = "save the model with plain tensors as weights (torchao: unwrap_tensor_subclass)";
    Refusal::unsupported(what, help)
}
