//! The command line as a door to the compiler, beside those that are functions.

use std::path::Path;
use std::process::{Command, Output};

/// The variable with the path of `cargo kiln` as it was built with these tests. Without it, it is built.
const COMMAND: &str = "KILN_COMMAND";

/// What `cargo kiln compile` says of a model. It is for no processor unless `flags` name one: as a build script that does not know what it is compiled for.
pub fn command_line(model: &Path, flags: &[&str]) -> Output {
    let target: &[&str] = if flags.contains(&"--target") { &[] } else { &["--target", "portable"] };
    let mut command = match std::env::var_os(COMMAND) {
        Some(built) => Command::new(built),
        None => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["run", "--quiet", "--package", "cargo-kiln", "--"]);
            cargo
        }
    };
    command
        .args(["kiln", "compile"])
        .arg(model)
        .args(target)
        .args(flags)
        .args(["-o", "-"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .unwrap()
}

/// The Rust that it writes, without the lines that say what it was made of: as `Build` writes it.
pub fn by_command_line(model: &Path, flags: &[&str]) -> String {
    let output = command_line(model, flags);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let code = String::from_utf8(output.stdout).unwrap();
    let (generated, rest) = code.split_once('\n').unwrap();
    let code: Vec<&str> = rest.lines().skip_while(|line| line.starts_with("//")).collect();
    format!("{generated}\n{}\n", code.join("\n"))
}
