//! What `cargo kiln` of this checkout says of a model. The tests of the workspace build it; where it is not there, it is built here.

/// Numbers as the page writes them: the compiler's tools are no dependency on this machine.
#[path = "../../../codegen/tools/src/number.rs"]
mod number;

pub use number::{grouped, significant};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// What a model takes.
#[derive(Debug)]
pub struct Figures {
    pub arena: u64,
    pub state: u64,
    pub constants: u64,
    pub cycles: u64,
    /// Of the schedule that is kept.
    pub pipelines: usize,
    /// Milliseconds, board and MHz.
    pub on_boards: Vec<(f64, String, u64)>,
}

impl Figures {
    pub fn ram(&self) -> u64 {
        self.arena + self.state
    }
}

/// With the options of the form at first, and these.
pub fn figures(model: &[u8], name: &str, options: &[&str]) -> Figures {
    let plan = json(&["plan", "--json"], model, name, options);
    let number = |value: &Value| value.as_u64().unwrap();
    let on_board = |on: &Value| {
        let name = on["board"].as_str().unwrap().to_owned();
        (on["milliseconds"].as_f64().unwrap(), name, number(&on["clock_hz"]) / 1_000_000)
    };
    let kept = plan["alternatives"].as_array().unwrap().iter().find(|tried| tried["kept"] == true).unwrap();
    Figures {
        arena: number(&plan["arena_bytes"]) + plan["fast_bytes"].as_u64().unwrap_or(0),
        state: number(&plan["state_bytes"]),
        constants: number(&plan["constant_bytes"]),
        cycles: number(&kept["cycles"]),
        pipelines: kept["pipelines"].as_array().unwrap().len(),
        on_boards: plan["on_boards"].as_array().unwrap().iter().map(on_board).collect(),
    }
}

/// RAM and cycles of each point.
pub fn front(model: &[u8], name: &str) -> Vec<(u64, u64)> {
    let front = json(&["plan", "--pareto", "--json"], model, name, &[]);
    let point = |point: &Value| (point["ram_bytes"].as_u64().unwrap(), point["cycles"].as_u64().unwrap());
    front["points"].as_array().unwrap().iter().map(point).collect()
}

/// The generated code.
pub fn rust(model: &[u8], name: &str) -> String {
    kiln(&["compile", "-o", "-"], model, name, &[]).unwrap()
}

fn json(command: &[&str], model: &[u8], name: &str, options: &[&str]) -> Value {
    serde_json::from_str(&kiln(command, model, name, options).unwrap()).unwrap()
}

/// What a command prints for a model in a file of that name, or what it complains of.
pub fn kiln(command: &[&str], model: &[u8], name: &str, options: &[&str]) -> Result<String, String> {
    let folder = Folder::new();
    let output = folder.kiln(command, model, name, options);
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

/// What `validate` prints for a golden file, or what it complains of.
pub fn validate(model: &[u8], name: &str, golden: &[u8]) -> String {
    let folder = Folder::new();
    let file = folder.file("golden.npz", golden);
    let output = folder.kiln(&["validate", "--on", "interp", "--golden", &file], model, name, &[]);
    let verdict = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    if verdict.is_empty() {
        complaint
    } else {
        verdict
    }
}

/// The file that `infer` writes for one with inputs, or what it complains of.
pub fn infer(model: &[u8], name: &str, inputs: &[u8]) -> Result<Vec<u8>, String> {
    infer_with(model, name, inputs, &[])
}

/// The same with options.
pub fn infer_with(model: &[u8], name: &str, inputs: &[u8], options: &[&str]) -> Result<Vec<u8>, String> {
    let folder = Folder::new();
    let (file, outputs) = (folder.file("golden.npz", inputs), folder.0.join("outputs.npz"));
    let written = outputs.to_str().unwrap();
    let command = ["infer", "--on", "interp", "--inputs", &file, "-o", written];
    let output = folder.kiln(&command, model, name, options);
    match output.status.success() {
        true => Ok(std::fs::read(outputs).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("native-{}-{count}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// Its path.
    fn file(&self, name: &str, content: &[u8]) -> String {
        let file = self.0.join(name);
        std::fs::write(&file, content).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn kiln(&self, command: &[&str], model: &[u8], name: &str, options: &[&str]) -> Output {
        let file = self.file(name, model);
        let mut kiln = Command::new(program());
        kiln.arg("kiln").args(command).arg(file);
        if !options.contains(&"--target") {
            kiln.args(["--target", "cortex-m4"]);
        }
        kiln.args(options).output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The command line as the workspace's tests have built it. What Cargo would build now may have other features, and take minutes.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let program = root.join("target/debug/cargo-kiln");
        if !program.is_file() {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.current_dir(root).args(["build", "--package", "cargo-kiln", "--target-dir", "target"]);
            assert!(cargo.status().unwrap().success());
        }
        program
    })
}
