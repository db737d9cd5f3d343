//! The files beside a model that hold its constants.

use crate::front::External;
use kiln_ir::error::Error;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// Most bytes of a constant: twice those of the largest tensor that is read, since doubles become floats.
const MOST_BYTES: u64 = 1 << 29;

/// How many times over the constants of a model may use what a file holds.
const TIMES: u64 = 4;

/// What else helps where a file with data is not as the model says: by the file's name, which has the format's form.
fn otherwise(location: &str) -> &'static str {
    if location.ends_with(".ptd") {
        "or export the program with its weights in it (ExecutorchBackendConfig without external_constants)"
    } else if location.starts_with("variables/") {
        "or save the model again (model.export, or tf.saved_model.save)"
    } else {
        "or export an ONNX model in one file (torch.onnx.export(…, external_data=False))"
    }
}

/// The files of a model that have been read.
pub(super) struct DataFiles {
    /// The folder that their paths are relative to: the model's.
    folder: PathBuf,
    /// By their names in the model.
    files: BTreeMap<String, DataFile>,
}

struct DataFile {
    path: PathBuf,
    bytes: u64,
    /// Bytes that constants may still take from it.
    left: u64,
}

impl DataFiles {
    /// Of a model in that file.
    pub(super) fn of(model: &Path) -> Self {
        let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty());
        DataFiles { folder: folder.unwrap_or(Path::new(".")).into(), files: BTreeMap::new() }
    }

    /// The paths of the files that have been read.
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        self.files.into_values().map(|file| file.path).collect()
    }

    /// The data of a constant.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the path leads out of the folder, or the file is missing or shorter than the model says.
    pub(super) fn read(&mut self, external: &External) -> Result<Vec<u8>, Error> {
        let location = &external.location;
        if !self.files.contains_key(location) {
            let file = self.find(external)?;
            self.files.insert(location.clone(), file);
        }
        let file = self.files.get_mut(location).ok_or_else(|| Error::internal("door", "no data file"))?;
        let length = external.length.unwrap_or(file.bytes.saturating_sub(external.offset));
        let end = external.offset.checked_add(length);
        let wrong = |what: String| {
            let otherwise = otherwise(location);
            let help =
                format!("the file is cut short, or of another model: copy or export both again, {otherwise}");
            external.missing(what, help)
        };
        if end.is_none_or(|end| end > file.bytes) {
            let range = format!("{length} bytes from {} on", external.offset);
            let path = file.path.display();
            return Err(wrong(format!("its data is {range} of `{path}`, which has {} bytes", file.bytes)));
        }
        if length > MOST_BYTES {
            return Err(wrong(format!("its data has {length} bytes, too many for a constant")));
        }
        file.left = file.left.checked_sub(length).ok_or_else(|| {
            wrong(format!("with it, the constants have more than {TIMES} times the bytes of {location:?}"))
        })?;
        let unreadable = |error: std::io::Error| wrong(format!("reading `{}`: {error}", file.path.display()));
        let mut data = Vec::new();
        let mut open = File::open(&file.path).map_err(unreadable)?;
        open.seek(SeekFrom::Start(external.offset)).map_err(unreadable)?;
        open.take(length).read_to_end(&mut data).map_err(unreadable)?;
        match data.len() as u64 == length {
            true => Ok(data),
            false => Err(wrong(format!("`{}` became shorter while it was read", file.path.display()))),
        }
    }

    /// The file that a model names.
    fn find(&self, external: &External) -> Result<DataFile, Error> {
        let location = &external.location;
        let otherwise = otherwise(location);
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(location).components().all(plain) {
            let what = format!("its data is said to lie in {location:?}, outside of the model's folder");
            let help =
                format!("put that file beside the model and export it with a relative path, {otherwise}");
            return Err(external.missing(what, help));
        }
        let path = self.folder.join(location);
        // Links are followed within the folder only.
        let real = self.folder.canonicalize().and_then(|folder| Ok((folder, path.canonicalize()?)));
        if let Ok((folder, file)) = real {
            if !file.starts_with(&folder) {
                let what = format!(
                    "its data is said to lie in {location:?}, a link out of the model's folder to `{}`",
                    file.display()
                );
                let help =
                    format!("copy that file into `{}` in place of the link, {otherwise}", folder.display());
                return Err(external.missing(what, help));
            }
        }
        let found = std::fs::metadata(&path).map_err(|error| error.to_string()).and_then(|about| {
            about.is_file().then_some(about.len()).ok_or_else(|| "it is no file".to_owned())
        });
        match found {
            Ok(bytes) => Ok(DataFile { path, bytes, left: bytes.saturating_mul(TIMES) }),
            Err(error) => {
                let folder = self.folder.canonicalize().unwrap_or(self.folder.clone());
                let what = format!(
                    "its data lies in the file {location:?}, which cannot be read in `{}`: {error}",
                    folder.display()
                );
                let help = format!("copy it there together with the model, {otherwise}");
                Err(external.missing(what, help))
            }
        }
    }
}
