//! The variables of a file, by the paths that Keras 3 has for them.

use super::hdf5::{Broken, File, Object};
use super::model::{Layer, Model};
use super::variables::{variables, Variable};
use crate::budget::Budget;
use crate::onnx::lower::check_size;
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{Data, Shape, Type};
use std::collections::HashMap;

/// The variables of a file.
pub(super) enum Store<'a> {
    /// A file of Keras 3, which has them by path.
    Paths(File<'a>),
    /// An old file, which lists those of each layer of the model.
    Lists { file: File<'a>, objects: HashMap<String, Object> },
}

/// Where the variables of old files are.
const WEIGHTS: &str = "model_weights";

impl From<Broken> for Refusal {
    fn from(broken: Broken) -> Refusal {
        match broken {
            Broken::Damaged(what) => Refusal::Malformed(what),
            Broken::Unknown(what) => Refusal::unsupported(what, "save the model again with Keras"),
        }
    }
}

impl<'a> Store<'a> {
    /// The variables of an old file. Those of a layer are as many as the layer has, in its order.
    pub(super) fn lists(file: File<'a>, model: &Layer<'_>, budget: &mut Budget) -> Result<Self, Error> {
        let mut objects = HashMap::new();
        let wrong = |refusal: Refusal| match refusal {
            Refusal::Fatal(error) => error,
            Refusal::Malformed(what) => Error::malformed("model_weights", what),
            Refusal::Unsupported(what, help) => Error::Unsupported(vec![kiln_ir::error::Problem {
                place: "model_weights".into(),
                what,
                help,
            }]),
            Refusal::Follows => Error::malformed("model_weights", "it is damaged"),
        };
        let broken = |broken: Broken| broken.at("model_weights");
        // Files of weights that are saved alone have no configuration, and are no models.
        let Some(weights) = file.follow(file.root(), WEIGHTS).map_err(broken)? else {
            return Err(Error::malformed("file", "it has no group model_weights"));
        };
        for (name, layer) in Model::read(model).map_err(wrong)?.stored() {
            let wanted = variables(&layer, &format!("layers/{name}")).map_err(wrong)?;
            if wanted.is_empty() {
                continue;
            }
            // What is not there is said where it is needed.
            let Some(group) = file.child(weights, layer.name).map_err(broken)? else { continue };
            let names = listed(&file, group, budget).map_err(broken)?;
            if names.len() != wanted.len() {
                continue;
            }
            let (trained, fixed): (Vec<&Variable>, Vec<&Variable>) = wanted.iter().partition(|v| v.trained);
            for (variable, name) in trained.into_iter().chain(fixed).zip(names) {
                budget.charge(2 * variable.path.len() + 64)?;
                if let Some(object) = file.follow(group, &name).map_err(broken)? {
                    objects.insert(variable.path.clone(), object);
                }
            }
        }
        Ok(Store::Lists { file, objects })
    }

    /// The variable at a path, if it is there.
    pub(super) fn get(&self, path: &str, budget: &mut Budget) -> Lowered<Option<(Type, Data)>> {
        let (file, object) = match self {
            Store::Paths(file) => (file, file.follow(file.root(), path)?),
            Store::Lists { file, objects } => (file, objects.get(path).copied()),
        };
        let Some(object) = object else { return Ok(None) };
        let Some(dataset) = file.dataset(object)? else { return Ok(None) };
        let ty = Type { dtype: dataset.dtype()?, shape: Shape(dataset.dims.clone()), quant: None };
        check_size(ty.dtype, &dataset.dims)?;
        let data = dataset.read(file, budget)?;
        match data.bytes().len() == ty.bytes() {
            true => Ok(Some((ty, data))),
            false => Err(malformed!("the array \"{path}\" does not fit its shape")),
        }
    }

    /// The type of the variable at a path.
    pub(super) fn shape(&self, path: &str) -> Option<Type> {
        let (file, object) = match self {
            Store::Paths(file) => (file, file.follow(file.root(), path).ok()?),
            Store::Lists { file, objects } => (file, objects.get(path).copied()),
        };
        let dataset = file.dataset(object?).ok()??;
        Some(Type { dtype: dataset.dtype().ok()?, shape: Shape(dataset.dims), quant: None })
    }

    /// Whether there is something at a path.
    pub(super) fn has(&self, path: &str) -> Lowered<bool> {
        Ok(match self {
            Store::Paths(file) => file.follow(file.root(), path)?.is_some(),
            Store::Lists { objects, .. } => objects.contains_key(path),
        })
    }
}

/// The names of a layer's variables, which may be in several attributes.
fn listed(file: &File<'_>, group: Object, budget: &mut Budget) -> Result<Vec<String>, Broken> {
    const NAMES: &str = "weight_names";
    let mut all = Vec::new();
    if let Some(names) = file.texts(group, NAMES, budget)? {
        all.extend(names);
    } else {
        for part in 0.. {
            let Some(names) = file.texts(group, &format!("{NAMES}{part}"), budget)? else { break };
            all.extend(names);
        }
    }
    Ok(all.into_iter().map(std::borrow::Cow::into_owned).collect())
}
