//! A nightly toolchain, which Miri and AddressSanitizer need. Nothing of Kiln needs it otherwise.
use crate::step::{root, run, say, Failure};
use kiln_boards::toolchain::find_program;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const HELP: &str = "  miri    the runtime's tests under Miri, which knows what is undefined; needs a nightly toolchain, which rustup installs where it has a server
";

/// Cargo of a nightly toolchain with these components; `None`, and a word why, where there is none.
pub(crate) fn nightly(what: &str, components: &[&str]) -> Result<Option<PathBuf>, Failure> {
    let Some(rustup) = find_program("rustup") else {
        say(&format!("{what}: LEFT OUT, since rustup is not installed"));
        return Ok(None);
    };
    let listed = Command::new(&rustup).args(["+nightly", "component", "list", "--installed"]).output();
    let listed = listed.ok().filter(|listed| listed.status.success());
    let text = listed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned()).unwrap_or_default();
    if !components.iter().all(|component| text.lines().any(|line| line.starts_with(component))) {
        let mut install = Command::new(&rustup);
        install.args(["toolchain", "install", "nightly", "--profile", "minimal", "--no-self-update"]);
        install.args(components.iter().flat_map(|component| ["--component", component]));
        if let Err(failure) = run("installing a nightly toolchain", &mut install) {
            say(&format!(
                "{what}: LEFT OUT, since there is no nightly toolchain with {components:?}. {failure}"
            ));
            return Ok(None);
        }
    }
    Ok(Some(rustup))
}

/// Nightly's Cargo, in that folder.
pub(crate) fn cargo(rustup: &Path, folder: &Path) -> Command {
    let mut command = Command::new(rustup);
    command.current_dir(folder).args(["run", "nightly", "cargo"]);
    // What calls this is Cargo, of another toolchain.
    for variable in ["CARGO", "RUSTC", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    command
}

/// What runs under Miri: a name, and arguments of `cargo test`. Kernels in vectors are their scalar twins there, since the processor that Miri is has no vectors.
const MIRI: [(&str, &[&str]); 4] = [
    ("the runtime's own tests", &["-p", "kiln-nn", "--lib"]),
    (
        "kernels, alone and on crews",
        &["-p", "kiln-nn", "--test", "kernels", "--test", "vectors_crew", "--test", "cores"],
    ),
    ("hostile programs", &["-p", "kiln-nn", "--test", "hostile"]),
    ("hostile calls", &["-p", "kiln-kernel-checks", "--test", "hostile"]),
];

/// The runtime's tests under Miri.
pub(crate) fn miri() -> Result<(), Failure> {
    let Some(rustup) = nightly("Miri", &["miri", "rust-src"])? else { return Ok(()) };
    for (name, arguments) in MIRI {
        let mut test = cargo(&rustup, &root());
        test.args(["miri", "test", "--target-dir", "target/miri", "--no-default-features"]).args(arguments);
        // libm has instructions of processors, which are not Rust, but not with this feature.
        test.args([
            "--features",
            if arguments[1] == "kiln-nn" { "libm/force-soft-floats" } else { "soft-floats" },
        ]);
        test.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        run(&format!("{name} under Miri"), &mut test)?;
    }
    Ok(())
}
