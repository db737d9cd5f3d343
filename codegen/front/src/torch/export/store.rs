//! The weights of an archive: views of storages, which are files in it.

use super::program::{Weight, WeightKind, Weights};
use super::reader::parsed;
use crate::archive::Archive;
use crate::budget::Budget;
use crate::torch::program::Size;
use crate::torch::weights::{stored, view};
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{Data, Type};

/// The weights of an archive.
pub(super) struct Store<'a> {
    archive: Archive<'a>,
    weights: Weights,
    constants: Weights,
}

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
        Ok(Store { archive, weights, constants })
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
            return Err(self.missing(of));
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

    fn missing(&self, of: &str) -> Refusal {
        let old = ["serialized_state_dict.pt", "serialized_constants.pt", "model.pt"];
        // Examples of inputs are pickled in archives of any age.
        let is_old = old.iter().filter_map(|name| self.archive.ending(name));
        match is_old.into_iter().any(|entry| !entry.name.contains("sample_inputs")) {
            true => pickled(of),
            false => malformed!("\"{of}\" is not in the archive"),
        }
    }
}

fn pickled(of: &str) -> Refusal {
    let what = format!("the data of \"{of}\" is pickled, and pickles are not read");
    let help = "save it with torch.export.save of torch 2.9 or later, and with plain tensors as weights (torchao: unwrap_tensor_subclass)";
    Refusal::unsupported(what, help)
}
