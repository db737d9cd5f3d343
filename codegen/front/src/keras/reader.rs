//! The reader of Keras's models, as the table of formats has it.

use super::hdf5::{Broken, File};
use super::lower;
use super::model::Layer;
use super::store::Store;
use super::value::Value;
use super::{CONFIG, WEIGHTS};
use crate::archive::Archive;
use crate::budget::Budget;
use crate::json::Json;
use crate::{Read, Reader, Refusal, Summary};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;
use std::borrow::Cow;

pub(crate) const READER: Reader = Reader {
    read,
    inspect,
    embed: |_, _| Ok(None),
    operators: || lower::operators().map(str::to_owned).collect(),
};

/// A file, taken apart.
struct Parts<'a> {
    config: Value,
    /// The weights of an archive.
    weights: Option<Cow<'a, [u8]>>,
    version: String,
    budget: Budget,
}

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    opened(bytes, |layer, store, version, budget| lower::lower(layer, store, version, name, options, budget))
}

fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let summary = opened(bytes, lower::inspect)?;
    Ok(Summary { file_bytes: bytes.len(), ..summary })
}

/// Gives the model, its variables and the version of Keras that wrote it to a function.
fn opened<T>(
    bytes: &[u8],
    of: impl FnOnce(&Layer<'_>, &Store<'_>, &str, Budget) -> Result<T, Error>,
) -> Result<T, Error> {
    let Parts { config, weights, version, mut budget } = match Archive::open(bytes) {
        Some(archive) => of_archive(&archive, Budget::new(bytes.len()))?,
        None => of_file(bytes, Budget::new(bytes.len()))?,
    };
    let layer = Layer::read(&config).map_err(|refusal| match refusal {
        Refusal::Malformed(what) => Error::malformed("configuration", what),
        _ => Error::malformed("configuration", "it is damaged"),
    })?;
    let file = File::open(weights.as_deref().unwrap_or(bytes));
    let file = file.map_err(|broken| broken.at("weights"))?;
    let store = match weights {
        Some(_) => Store::Paths(file),
        None if layer.is_model() => Store::lists(file, &layer, &mut budget)?,
        None => Store::Paths(file),
    };
    of(&layer, &store, &version, budget)
}

/// An archive of Keras 3.
fn of_archive<'a>(archive: &Archive<'a>, mut budget: Budget) -> Result<Parts<'a>, Error> {
    let missing = |name: &str| Error::malformed("archive", format!("it has no {name}"));
    let part = |name: &str, budget: &mut Budget| -> Result<Cow<'a, [u8]>, Error> {
        let entry = archive.ending(name).ok_or_else(|| missing(name))?;
        archive.text(entry, budget)
    };
    let config = parsed(&part(CONFIG, &mut budget)?, CONFIG)?;
    let weights = Some(part(WEIGHTS, &mut budget)?);
    let metadata = part("metadata.json", &mut budget).ok();
    let metadata = metadata.and_then(|text| parsed(&text, "metadata.json").ok());
    let version = metadata.map_or_else(String::new, |value| value.get("keras_version").text().to_owned());
    Ok(Parts { config, weights, version, budget })
}

/// A file of Keras 2, or an old one of Keras 3.
fn of_file(bytes: &[u8], mut budget: Budget) -> Result<Parts<'_>, Error> {
    let broken = |broken: Broken| broken.at("file");
    let file = File::open(bytes).map_err(broken)?;
    let root = file.root();
    let Some(config) = file.text(root, "model_config", &mut budget).map_err(broken)? else {
        return Err(Error::Unsupported(vec![Problem {
            place: "file".into(),
            what: "it has no attribute model_config: it is no model of Keras, or only the weights of one"
                .into(),
            help: "save the whole model with model.save(\"name.keras\")".into(),
        }]));
    };
    let version = file.text(root, "keras_version", &mut budget).map_err(broken)?;
    let config = parsed(config.as_bytes(), "model_config")?;
    Ok(Parts { config, weights: None, version: version.unwrap_or_default().into_owned(), budget })
}

fn parsed(text: &[u8], place: &str) -> Result<Value, Error> {
    let mut json = Json::new(text);
    let value = Value::read(&mut json).and_then(|value| match json.ends() {
        true => Ok(value),
        false => json.broken("something stands behind the end"),
    });
    value.map_err(|broken| Error::malformed(place, format!("byte {}: {}", broken.at, broken.what)))
}
