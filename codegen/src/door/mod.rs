//! The `build.rs` door, and what all doors share: reading the file, naming the model, writing the result whole or not at all.

mod data;
mod features;
mod kept;
mod request;

pub use features::{build_features, features};
pub use request::include_model;

use crate::front::{embed, FORMATS};
use crate::{compile, Compiled};
use data::DataFiles;
use kiln_ir::error::{Error, Problem};
use kiln_ir::near::near;
use kiln_ir::options::{
    Events, Float, Input, InputShape, Io, Optimize, Options, Qdq, Reference, ScheduleFile, StatePair,
    Weights, MOST_CORES,
};
use kiln_ir::spelling::Door;
use kiln_ir::Target;
use quote::quote;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Compiles the model in a file. Its name is the file's name without the ending.
///
/// # Errors
/// [`Error::Io`] where the file cannot be read, otherwise those of [`compile`].
pub fn compile_file(path: &Path, options: &Options) -> Result<Compiled, Error> {
    let mut options = options.clone();
    read_schedule(&mut options, Path::new(""))?;
    compile(&read_file(path)?, &model_name(path), &options)
}

/// Reads the file of the option `schedule`, whose path is relative to the folder, unless it is read already. Returns its path.
///
/// # Errors
/// [`Error::Io`] with the path and the system's message.
pub fn read_schedule(options: &mut Options, folder: &Path) -> Result<Option<PathBuf>, Error> {
    let Some(file) = &mut options.schedule else { return Ok(None) };
    let path = folder.join(&file.path);
    if file.text.is_none() {
        let text = std::fs::read_to_string(&path).map_err(|error| Error::Io {
            path: path.display().to_string(),
            message: format!(
                "{error}\n    help: `cargo kiln tune` and `cargo kiln plan --emit schedule` write such a file"
            ),
        })?;
        file.text = Some(text);
    }
    Ok(Some(path))
}

/// The bytes of a model file. Constants of ONNX models that lie in other files are in it, as if the model had been saved in one, and so are the variables of a
/// SavedModel, of which the path is that of its folder, or of its `saved_model.pb`.
///
/// # Errors
/// [`Error::Io`] with the path (without `..`, where its folder exists) and the system's message; [`Error::Malformed`] for a file with constants that is
/// missing, too short, or not in the model's folder.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    Ok(read_files(path)?.0)
}

/// As [`read_file`], with all files that were read, the model's first.
fn read_files(path: &Path) -> Result<(Vec<u8>, Vec<PathBuf>), Error> {
    let path = model_file(path);
    let bytes = read_model(&path)?;
    let mut data = DataFiles::of(&path);
    let embedded = embed(&bytes, &mut |external| data.read(external))?;
    let mut files = vec![path];
    files.extend(data.into_paths());
    Ok((embedded.unwrap_or(bytes), files))
}

/// The file of a model: of a SavedModel's folder the one with the graph.
fn model_file(path: &Path) -> PathBuf {
    let graph = path.join(SAVED_MODEL);
    match graph.is_file() {
        true => graph,
        false => path.to_owned(),
    }
}

/// The file in a SavedModel's folder that holds the graph.
const SAVED_MODEL: &str = "saved_model.pb";

fn read_model(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).and_then(|p| p.canonicalize().ok());
        let clean =
            folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name));
        Error::Io { path: clean.display().to_string(), message: format!("{error}{}", way_out(&clean)) }
    })
}

/// What helps where a path is not that of a file: the file of that name one folder deeper, one with nearly that name, or the models that are there.
fn way_out(path: &Path) -> String {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let meant = |path: &str| format!("\n    help: did you mean `{path}`?");
    if let Some(deeper) = path.file_name().and_then(|name| one_folder_deeper(folder, name)) {
        return meant(&deeper);
    }
    let is_model = |path: &PathBuf| {
        path.extension().is_some_and(|ending| FORMATS.iter().any(|format| ending == format.ending))
    };
    let mut models: Vec<PathBuf> = entries(folder).filter(is_model).collect();
    models.sort();
    let names: Vec<String> =
        models.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    let written = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(nearest) = near(&written, names.iter().map(String::as_str)).first() {
        return meant(nearest);
    }
    let more = if names.len() > 5 { ", …" } else { "" };
    let listed = names.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    let place = if folder == Path::new(".") { "this folder".into() } else { folder.display().to_string() };
    match names.is_empty() {
        true => String::new(),
        false => format!("\n    help: models in {place}: {listed}{more}"),
    }
}

/// The path, from a folder on, of a file of that name in a folder of the folder.
fn one_folder_deeper(folder: &Path, name: &OsStr) -> Option<String> {
    let mut found: Vec<PathBuf> =
        entries(folder).filter(|path| path.is_dir()).map(|path| path.join(name)).collect();
    found.retain(|path| path.is_file());
    found.sort();
    Some(found.first()?.strip_prefix(folder).ok()?.display().to_string())
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The name of the model in a file: the file's name without the ending, or that of a SavedModel's folder.
pub fn model_name(path: &Path) -> String {
    let folder = path.parent().filter(|folder| folder.file_name().is_some());
    let path = match (path.file_name(), folder) {
        (Some(name), Some(folder)) if name == SAVED_MODEL => folder,
        _ => path,
    };
    path.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned())
}

/// Writes a file so that it is never seen half-written: beside its place first, then moved there. A link stays, and what it leads to is written. What
/// is no file, a device or a pipe, is written to as it is.
///
/// # Errors
/// [`Error::Write`] with the path and the system's message.
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    write_all_whole(&[(path, contents.as_ref())])
}

/// Writes files that belong together, each as [`write_whole`] does: none is moved to its place before all are written beside theirs.
///
/// # Errors
/// [`Error::Write`] with a path and the system's message.
pub fn write_all_whole(files: &[(&Path, &[u8])]) -> Result<(), Error> {
    let parts = files.iter().map(|(path, contents)| Part::write(path, contents));
    let parts = parts.collect::<Result<Vec<Part<'_>>, Error>>()?;
    parts.into_iter().try_for_each(Part::place)
}

/// A file that is written beside its place. Dropped before it is moved there, it goes.
struct Part<'a> {
    path: &'a Path,
    beside: PathBuf,
}

impl<'a> Part<'a> {
    /// What is no file is written to at once, and has nothing beside it.
    fn write(path: &'a Path, contents: &[u8]) -> Result<Self, Error> {
        let is_special = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        if is_special {
            let device = std::fs::OpenOptions::new().write(true).open(path);
            device.and_then(|mut device| device.write_all(contents)).map_err(|e| cannot_write(path, &e))?;
            return Ok(Part { path, beside: PathBuf::new() });
        }
        // Several may write one file: each has its own beside it.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut beside = real(path).into_os_string();
        beside.push(format!(".{}-{count}.part", std::process::id()));
        let part = Part { path, beside: beside.into() };
        std::fs::write(&part.beside, contents).map_err(|e| cannot_write(path, &e))?;
        Ok(part)
    }

    fn place(self) -> Result<(), Error> {
        match self.beside.as_os_str().is_empty() {
            true => Ok(()),
            false => std::fs::rename(&self.beside, real(self.path)).map_err(|e| cannot_write(self.path, &e)),
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // Where it was moved there is nothing; where it was not, another error is the one that matters.
        let _ = std::fs::remove_file(&self.beside);
    }
}

/// The file that a link leads to.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::Write { path: path.display().to_string(), message: error.to_string() }
}

/// Compiles a model from a build script.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), kiln_codegen::Error> {
///     kiln_codegen::Build::new("models/kws.tflite").compile()?;
///     Ok(())
/// }
/// ```
///
/// The crate then says `kiln::include_compiled!(kws);` and has the type `Kws`. The type stands in the module where the macro is called, and its code in a private
/// module `kws_model` beside it: the type's name in snake case, with `_model`.
#[derive(Clone, Debug)]
pub struct Build {
    path: PathBuf,
    options: Options,
}

/// Methods of [`Build`] that set the option of the same name.
macro_rules! setters {
    ($( $(#[doc = $doc:literal])+ $option:ident: $type:ty; )+) => { $(
        $(#[doc = $doc])+
        pub fn $option(mut self, $option: $type) -> Self {
            self.options.$option = $option.into();
            self
        }
    )+ };
}

impl Build {
    /// Of the model at that path, relative to the crate's folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Build { path: path.into(), options: Options::default() }
    }

    /// Names the generated type.
    pub fn name(mut self, name: &str) -> Self {
        self.options.name = Some(name.into());
        self
    }

    setters! {
        /// What to favour.
        optimize: Optimize;
        /// Most bytes of constants. More is an error of [`Build::compile`].
        flash: usize;
        /// Most bytes of arena and state: the schedule with the fewest predicted cycles that fits is taken. None that fits is an error of
        /// [`Build::compile`].
        ram: usize;
        /// Most predicted cycles of an inference: the schedule with the least RAM that takes no more is kept. None that does is an error of
        /// [`Build::compile`].
        cycles: u64;
        /// Bytes of faster memory: an arena of at most that many holds the values with most accesses, another one the rest.
        fast_ram: usize;
        /// How flash holds weights of few bits: `i8` ones between −8 and 7, and floats that are numbers of half precision.
        weights: Weights;
        /// Types of inputs and outputs.
        io: Io;
        /// Whose integers are given where TensorFlow Lite Micro and LiteRT disagree.
        reference: Reference;
        /// What becomes of the layers of ONNX files in QDQ format: integers, or the floats that the file describes.
        qdq: Qdq;
        /// How many steps outputs may drift from the floats where layers of ONNX files in QDQ format become integers; [`Options::DRIFT`] where it is not said.
        qdq_drift: u32;
        /// Whether floats have the same bits on every processor.
        float: Float;
        /// How the input is given: all at once, row by row (`push_row`), or as a window that slides (`slide`).
        input: Input;
        /// What the model tells about while it runs, to the observer of `kiln::events`.
        events: Events;
        /// The processor that code is made for. Where it is not said, that of the `TARGET` that cargo builds for.
        target: Target;
    }

    /// Link section of the constants.
    pub fn weights_section(mut self, section: &str) -> Self {
        self.options.weights_section = Some(section.into());
        self
    }

    /// The shape of an input whose sizes the model file leaves open: `[1, 49, 40]`, or `("audio", [1, 49, 40])` where the model has several
    /// inputs.
    pub fn input_shape(mut self, shape: impl Into<InputShape>) -> Self {
        self.options.input_shapes.push(shape.into());
        self
    }

    /// An input or output of an ONNX model, by its name, that is channel-last: an image [n, h, w, c] where the file has [n, c, h, w].
    pub fn channels_last(mut self, name: &str) -> Self {
        self.options.channels_last.push(name.into());
        self
    }

    /// An output and the input that takes it up in the next inference, by their names. The model keeps it from one inference to the next, as zeros at first; it has neither any more.
    pub fn state(mut self, output: &str, input: &str) -> Self {
        self.options.states.push(StatePair { output: output.into(), input: input.into() });
        self
    }

    /// The function that computes a custom operator: the operator's name in the file, and the function's path as the module
    /// that includes the model would write it, e.g. `crate::kernels::my_op`. What it takes says `kiln::custom`.
    ///
    /// # Errors
    /// [`Error::Options`] where `path` is no path, or the operator has a function already.
    pub fn custom_op(mut self, name: &str, path: &str) -> Result<Self, Error> {
        self.options.set("custom_op", &format!("{name}={path}"))?;
        Ok(self)
    }

    /// Audio features in front of the model, such as `"librosa, sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40"`: the input is samples.
    pub fn features(mut self, features: &str) -> Self {
        self.options.features = Some(features.into());
        self
    }

    /// The lines of a camera that become the input, such as `"rgb565 320x240, crop = centre, resize = bilinear"`: the model has `push_line`.
    ///
    /// # Errors
    /// [`Error::Options`] for what is no source.
    pub fn source(mut self, source: &str) -> Result<Self, Error> {
        self.options.set("source", source)?;
        Ok(self)
    }

    /// How many multiply-accumulates an inference may take, as a factor of those of the model (`"1.2"`): rows may be computed again where less RAM is asked for than it takes to
    /// keep them.
    ///
    /// # Errors
    /// [`Error::Options`] for what is no factor from 1 to 10.
    pub fn recompute(mut self, factor: &str) -> Result<Self, Error> {
        self.options.set("recompute", factor)?;
        Ok(self)
    }

    /// A file with a written schedule, relative to the crate's folder: see `cargo kiln tune`, and `cargo kiln plan --emit schedule`.
    pub fn schedule(mut self, path: &str) -> Self {
        self.options.schedule = Some(ScheduleFile { path: path.into(), text: None });
        self
    }

    /// How many threads of a host may compute a step together, at most, of those that help a `kiln::Crew`: on a microcontroller two cores. For whole inputs. The model has `invoke_on`. From 1 to 64; what is beyond is the
    /// next of them.
    pub fn cores(mut self, cores: usize) -> Self {
        self.options.cores = Some(cores.clamp(1, MOST_CORES));
        self
    }

    /// Compiles into `OUT_DIR/<file name>.rs`, tells cargo what to watch, and returns the file's path.
    ///
    /// # Errors
    /// Those of [`compile_file`], and [`Error::Options`] outside a build script.
    pub fn compile(self) -> Result<PathBuf, Error> {
        self.compile_to_out_dir().map_err(|error| error.through(Door::Build))
    }

    fn compile_to_out_dir(mut self) -> Result<PathBuf, Error> {
        let out = out_folder("Build::compile", "call it from a build script, or use `cargo kiln compile`")?;
        self.options.target = self.options.target.or_else(built_target);
        println!("cargo:rerun-if-changed={}", self.path.display());
        let (bytes, files) = read_files(&self.path)?;
        files.iter().skip(1).for_each(|file| println!("cargo:rerun-if-changed={}", file.display()));
        let schedule = read_schedule(&mut self.options, Path::new(""))?;
        schedule.iter().for_each(|file| println!("cargo:rerun-if-changed={}", file.display()));
        let name = model_name(&self.path);
        let compiled = compile(&bytes, &name, &self.options)?;
        compiled.unused.iter().for_each(|line| println!("cargo:warning=schedule: {line}"));
        let file = out.join(name + ".rs");
        let code = compiled.source_file(&quote!(pub), None)?;
        write_whole(&file, format!("{}\n\n{code}", compiled.generated()))?;
        Ok(file)
    }
}

/// Where a build script writes to. `place` is what asks for it.
fn out_folder(place: &str, help: &str) -> Result<PathBuf, Error> {
    let missing = || {
        Error::Options(Problem { place: place.into(), what: "OUT_DIR is not set".into(), help: help.into() })
    };
    std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(missing)
}

/// What cargo builds for, in a build script.
fn built_target() -> Option<Target> {
    let triple = std::env::var("TARGET").ok()?;
    // What cargo passes on to build scripts, separated by that character.
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    Some(Target::of_triple(&triple, &flags.split('\u{1f}').collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_wrong_leads_to_the_right_one() {
        let folder = std::env::temp_dir().join(format!("kiln-way-out-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("models")).unwrap();
        for file in ["models/kws.tflite", "person_detect.tflite", "vad.onnx", "notes.txt"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        for (wrong, help) in [
            ("kws.tflite", "did you mean `models/kws.tflite`?"),
            ("persn_detect.tflite", "did you mean `person_detect.tflite`?"),
            ("digits.tflite", ": person_detect.tflite, vad.onnx"),
        ] {
            let message = read_file(&folder.join(wrong)).unwrap_err().to_string();
            assert!(message.ends_with(help), "{message}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("kiln-write-whole-{}", std::process::id()));
        let file = folder.join("model.rs");
        let message = write_whole(&file, "text").unwrap_err().to_string();
        assert!(message.starts_with("cannot write `") && message.contains("help: "), "{message}");
        assert!(!folder.exists());

        std::fs::create_dir(&folder).unwrap();
        write_whole(&file, "text").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        // Over a folder it cannot be moved, and nothing stays behind.
        std::fs::create_dir(folder.join("taken.rs")).unwrap();
        write_whole(&folder.join("taken.rs"), "text").unwrap_err();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        // Of files that belong together, none is written where one cannot be.
        let files: [(&Path, &[u8]); 2] = [(&file, b"other"), (&folder.join("none/model.bin"), b"data")];
        write_all_whole(&files).unwrap_err();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay() {
        use std::os::unix::fs::{symlink, FileTypeExt};
        let folder = std::env::temp_dir().join(format!("kiln-write-through-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [file, link, socket] = ["model.rs", "link.rs", "socket"].map(|name| folder.join(name));
        std::fs::write(&file, "before").unwrap();
        symlink(&file, &link).unwrap();
        write_whole(&link, "text").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        // No file, and nothing can be written to it so.
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        write_whole(&socket, "text").unwrap_err();
        assert!(std::fs::metadata(&socket).unwrap().file_type().is_socket());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
