//! The packages for the registry.
use crate::step::{cargo, root, run, Failure};
use crate::{installed, publish};
use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) const HELP: &str =
    "  package                  pack the crates that users name, build each from its package alone, and install and use the command without a checkout
";

/// The crates that users name, and what those need.
pub(crate) const PACKAGES: [&str; 11] = [
    "kiln-nn-ir",
    "kiln-nn-interp",
    "kiln-nn-front",
    "kiln-nn-kernel-table",
    "kiln-nn-codegen",
    "kiln-nn-tools",
    "kiln-nn-macros",
    "kiln-nn",
    "kiln-nn-test",
    "kiln-nn-boards",
    "cargo-kiln",
];

/// Packs all crates, builds each from its package, with the others from theirs, and uses the command.
pub(crate) fn build() -> Result<(), Failure> {
    forget_unpacked();
    pack("packages, and their builds", &[])?;
    installed::test()
}

/// Removes what Cargo unpacked for an earlier build from packages, and what it knows of what it built then. It takes packages of the same version for the same, whatever is in
/// them.
fn forget_unpacked() {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    // Registries that are folders have no host in front of the dash.
    let registries = home.map(|home| folders(&home.join("registry/src"), "-")).unwrap_or_default();
    let unpacked = |package: &str| {
        let name = format!("{package}-{}", publish::VERSION);
        registries.iter().map(|registry| registry.join(&name)).collect::<Vec<_>>()
    };
    let built = |package: &str| folders(&root().join("target/debug/.fingerprint"), &format!("{package}-"));
    for folder in PACKAGES.iter().flat_map(|package| [unpacked(package), built(package)].concat()) {
        // What is not there, or stays, is as before.
        let _ = fs::remove_dir_all(folder);
    }
}

/// What is in a folder and has a name that begins so.
fn folders(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(begin)).map(|e| e.path()).collect()
}

/// Packs all crates.
pub(crate) fn test() -> Result<(), Failure> {
    pack("packages", &["--no-verify"])
}

fn pack(title: &str, arguments: &[&str]) -> Result<(), Failure> {
    let root = root();
    let pack = |more: &[&str]| {
        let mut package = cargo(&root, &["package", "--quiet", "--allow-dirty"]);
        package.args(more).args(arguments).args(PACKAGES.iter().flat_map(|name| ["-p", name]));
        run(title, &mut package)
    };
    // The registry is asked where what is at hand is not enough.
    pack(&["--offline"]).or_else(|_| pack(&[]))?;
    publish::check_contents(&root)
}
