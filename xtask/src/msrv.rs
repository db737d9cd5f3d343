//! The oldest Rust that firmware needs: the runtime, and models that were compiled beforehand, are checked with it.
use crate::step::{root, run, say, tested_kiln, Failure};
use kiln_boards::source::{Releases, RUNTIME};
use kiln_boards::toolchain::find_program;
use kiln_boards::Source;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A core without and one with DSP instructions: each has kernels that the other does not compile.
const TARGETS: [(&str, &str); 2] =
    [("thumbv6m-none-eabi", "cortex-m0"), ("thumbv7em-none-eabihf", "cortex-m4")];

/// Models of integers and of floats, each as its file says and with all that generated code can have.
const MODELS: [(&str, &[&str]); 3] = [
    ("examples/digits/models/digits_int8.tflite", &[]),
    ("examples/digits/models/digits_f32.tflite", &["--optimize", "memory", "--events", "layers"]),
    ("examples/wake-digit/models/wake_digit_int8.tflite", &["--input", "sliding"]),
];

/// Checks them in a package outside the workspace, whose other members may ask for a newer Rust. Left out where rustup is missing, which is
/// what brings old compilers.
pub(crate) fn check_runtime() -> Result<(), Failure> {
    let root = root();
    let version = rust_version(&root.join("runtime-nostd/Cargo.toml"))?;
    let Some(rustup) = find_program("rustup") else {
        say(&format!("the runtime with Rust {version}: LEFT OUT, since rustup is not installed"));
        return Ok(());
    };
    if !is_installed(&rustup, &version) {
        let mut install = Command::new(&rustup);
        install.args(["toolchain", "install", &version, "--profile", "minimal", "--no-self-update"]);
        install.args(TARGETS.iter().flat_map(|(target, _)| ["--target", target]));
        run(&format!("installing Rust {version}"), &mut install)?;
    }
    let folder = root.join("target/msrv");
    for (target, core) in TARGETS {
        write_package(&folder, core)?;
        let mut check = Command::new(&rustup);
        check.current_dir(&folder).args(["run", &version, "cargo", "check", "--target", target]);
        // What calls this is Cargo, of a newer Rust.
        for variable in ["CARGO", "RUSTC", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN", "CARGO_TARGET_DIR"] {
            check.env_remove(variable);
        }
        run(&format!("the runtime with Rust {version} for {target}"), &mut check)?;
    }
    Ok(())
}

/// Whether that Rust is there with all targets, which is known without the network.
fn is_installed(rustup: &Path, version: &str) -> bool {
    let mut list = Command::new(rustup);
    let Ok(listed) = list.args(["target", "list", "--installed", "--toolchain", version]).output() else {
        return false;
    };
    let targets = String::from_utf8_lossy(&listed.stdout);
    listed.status.success() && TARGETS.iter().all(|(target, _)| targets.lines().any(|line| line == *target))
}

/// `rust-version` of a manifest.
fn rust_version(manifest: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(manifest)?;
    let version = text.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.ok_or_else(|| format!("{} states no rust-version", manifest.display()))?;
    Ok(version.trim().trim_matches('"').to_owned())
}

/// A library of compiled models, which depends on the runtime alone.
fn write_package(folder: &Path, core: &str) -> Result<(), Failure> {
    let runtime = Source::find().dependency(RUNTIME, Releases::This, &["default-features = false"]);
    let manifest = format!(
        "[package]\n\
         name = \"msrv\"\n\
         version = \"0.0.0\"\n\
         edition = \"2021\"\n\
         \n\
         [dependencies]\n\
         {runtime}\n\
         \n\
         [workspace]\n"
    );
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let mut library = String::from("#![no_std]\n");
    for (index, (model, options)) in MODELS.into_iter().enumerate() {
        let module = format!("model_{index}");
        let file = folder.join("src").join(&module).with_extension("rs");
        let mut compile = tested_kiln()?;
        compile.args(["compile", model]).args(options).args(["--target", core, "-o"]).arg(file);
        run(&format!("{model} for {core}"), &mut compile)?;
        library += &format!("pub mod {module};\n");
    }
    fs::write(folder.join("src/lib.rs"), library)?;
    Ok(())
}
