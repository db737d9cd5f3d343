//! The peers: Python packages in environments of their own, below `target/kiln/bench-host`.
use super::kiln::work_dir;
use super::limit::Limit;
use super::models::{Entry, Onnx};
use super::process::{pinned, Contestant};
use crate::python;
use crate::step::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = include_str!("peers.py");

/// What the peers run in: their own packages, in their order, and what these are fed with.
const PACKAGES: [&str; 5] =
    ["ai-edge-litert==2.3.0", "onnxruntime==1.32.0", "tract==0.23.9", "onnx==1.23.2", "numpy==2.4.6"];

/// What converts TensorFlow Lite's files for ONNX Runtime. It is large, and not wanted where a model is run.
const CONVERTER: [&str; 3] = ["tf2onnx==1.17.0", "tensorflow-cpu==2.21.0", "onnx==1.23.2"];

/// A library that runs models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    LiteRt,
    OnnxRuntime,
    Tract,
}

impl Peer {
    pub(super) const ALL: [Peer; 3] = [Peer::LiteRt, Peer::OnnxRuntime, Peer::Tract];

    /// Those that take part unless others are chosen.
    pub(super) const USUAL: [Peer; 2] = [Peer::LiteRt, Peer::OnnxRuntime];

    /// As arguments have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::LiteRt => "litert",
            Peer::OnnxRuntime => "onnxruntime",
            Peer::Tract => "tract",
        }
    }

    /// As the tables have it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Peer::LiteRt => "LiteRT",
            Peer::OnnxRuntime => "ONNX Runtime",
            Peer::Tract => "tract",
        }
    }

    /// Its package, with its version.
    pub(super) fn package(self) -> &'static str {
        PACKAGES[self as usize]
    }

    /// Those of these names, apart by commas; none for the empty text.
    ///
    /// # Errors
    /// Where there is none of a name.
    pub(super) fn chosen(names: &str) -> Result<Vec<Peer>, String> {
        let find = |name: &str| {
            let peer = Peer::ALL.into_iter().find(|peer| peer.name() == name);
            peer.ok_or_else(|| {
                format!("there is no peer `{name}`: the peers are litert, onnxruntime and tract")
            })
        };
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(find).collect()
    }

    /// Starts it on a core.
    ///
    /// # Errors
    /// Where it does not start.
    pub(super) fn start(
        self,
        python: &Path,
        core: usize,
        limit: Option<&Limit>,
    ) -> Result<Contestant, Failure> {
        let script = work_dir().join("peers.py");
        fs::write(&script, SCRIPT)?;
        let mut command = pinned(core, python);
        command.arg(script).arg(self.name());
        if let Some(limit) = limit {
            limit.apply(&mut command);
        }
        Contestant::start(self.name(), command)
    }

    /// The file of a model that it runs, which is converted where it is not there yet; `None` where it runs
    /// no such models.
    ///
    /// # Errors
    /// Where that fails.
    pub(super) fn file(self, entry: &Entry, corpus: &Path) -> Result<Option<PathBuf>, Failure> {
        Ok(match (self, entry.onnx) {
            (Peer::LiteRt, Onnx::Itself) => None,
            (Peer::LiteRt, _) | (_, Onnx::Itself) => Some(corpus.join(entry.path())),
            (_, Onnx::Twin(file)) => Some(corpus.join(format!("onnx/{file}.onnx"))),
            (_, Onnx::Converted) => Some(converted(entry, corpus)?),
        })
    }
}

/// Python with the peers' packages, installed where they are not there yet.
///
/// # Errors
/// Where that fails.
pub(super) fn python() -> Result<PathBuf, Failure> {
    environment("venv", &PACKAGES)
}

/// What tf2onnx makes of a TensorFlow Lite file.
fn converted(entry: &Entry, corpus: &Path) -> Result<PathBuf, Failure> {
    let folder = work_dir().join("onnx");
    let file = folder.join(format!("{}.onnx", entry.file));
    if file.exists() {
        return Ok(file);
    }
    fs::create_dir_all(&folder)?;
    let unfinished = folder.join(format!("{}.part", entry.file));
    let mut convert = Command::new(environment("convert", &CONVERTER)?);
    convert.args(["-m", "tf2onnx.convert", "--opset", "17", "--tflite"]).arg(corpus.join(entry.path()));
    // It says a great deal, and on failure why.
    let said = convert.arg("--output").arg(&unfinished).output()?;
    if !said.status.success() {
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let why = said.lines().last().unwrap_or_default();
        return Err(format!("tf2onnx does not convert it: {why}").into());
    }
    fs::rename(&unfinished, &file)?;
    Ok(file)
}

/// A virtual environment with these packages and no others.
fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, Failure> {
    python::environment(&work_dir().join(name), packages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_host::models;

    #[test]
    fn peers_are_named() {
        assert_eq!(Peer::chosen("onnxruntime, litert"), Ok(vec![Peer::OnnxRuntime, Peer::LiteRt]));
        assert_eq!(Peer::chosen(""), Ok(vec![]));
        assert!(Peer::chosen("tvm").unwrap_err().contains("`tvm`"));
        for peer in Peer::ALL {
            assert!(peer.package().contains(&peer.name()[peer.name().len() - 4..]));
        }
    }

    #[test]
    fn peers_run_their_own_format() {
        let corpus = Path::new("/models");
        let file = |peer: Peer, name| peer.file(&models::find(name).unwrap(), corpus).unwrap();
        let path = |path: &str| Some(corpus.join(path));
        assert_eq!(file(Peer::LiteRt, "kws"), path("tflite/mlperf_kws_int8.tflite"));
        assert_eq!(file(Peer::LiteRt, "micro_llama"), None);
        assert_eq!(file(Peer::OnnxRuntime, "micro_llama"), path("onnx/deeploy_micro_llama_f32.onnx"));
        assert_eq!(file(Peer::Tract, "vww_f32"), path("onnx/mlperf_vww_onnx_f32.onnx"));
    }
}
