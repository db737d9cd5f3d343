//! `cargo xtask differential`: random graphs of all operators, by Kiln and by the runtimes that it is held to. The work is done by the program
//! `differential` of `host-tests`; here it gets a Python with the runtimes.
use crate::python;
use crate::step::{cargo, root, run, Failure};
use std::path::PathBuf;
use std::process::Command;

/// Arguments, for the overview of commands.
pub(crate) const HELP: &str = "  \
  differential
          random graphs of all operators, by Kiln (interpreter and generated code) and by TensorFlow Lite Micro,
          LiteRT's reference kernels and ONNX Runtime. Python packages go into target/kiln/differential/venv,
          unless KILN_PYTHON names a Python that has them. Exit status 1: a difference without a known reason
            --graphs N        graphs of each format (1000)
            --seed S          what all graphs follow from (1)
            --format F        tflite, onnx or both (both)
            --minutes M       no graph is begun later
            --keep DIR        where failing graphs and report.json are written (target/kiln/differential/failed)
            --only A,B        these operators only
            --first K         number of the first graph (0)
            --batch B         graphs in one program of generated code; 0 builds none (100)
            --jobs J          how many work side by side (one per processor)
";

/// The runtimes, and what they are fed with.
const PACKAGES: [&str; 6] = [
    "tflite-micro==0.dev20261023182759",
    "ai-edge-litert==2.3.0",
    "onnxruntime==1.32.0",
    "onnx==1.23.2",
    "flatbuffers==25.12.19",
    "numpy==2.4.6",
];

const MODULES: &str =
    "import tflite_micro, ai_edge_litert.interpreter, onnxruntime, onnx, flatbuffers, numpy";

/// Does what the arguments say.
pub(crate) fn run_all(words: &[&str]) -> Result<(), Failure> {
    let python = python()?;
    // Its debug build has overflow checks, and the compiler in it is optimised.
    let mut command =
        cargo(&root(), &["run", "--quiet", "--package", "kiln-host-tests", "--bin", "differential", "--"]);
    command.args(words).env("KILN_PYTHON", python);
    run("random graphs", &mut command)
}

/// Python that has the runtimes.
fn python() -> Result<PathBuf, Failure> {
    let python = match std::env::var_os("KILN_PYTHON") {
        Some(python) => PathBuf::from(python),
        None => return python::environment(&root().join("target/kiln/differential/venv"), &PACKAGES),
    };
    let said = Command::new(&python)
        .args(["-c", MODULES])
        .output()
        .map_err(|error| format!("KILN_PYTHON names {}, which does not start: {error}", python.display()))?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr).trim().lines().last().unwrap_or_default().to_owned();
        let packages = PACKAGES.join(" ");
        return Err(format!("KILN_PYTHON lacks a package: {why}\n    help: pip install {packages}").into());
    }
    Ok(python)
}
