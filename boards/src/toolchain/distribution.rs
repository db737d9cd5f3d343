//! Bare-metal targets without rustup's server: Debian's rustc (package rustc-web) and the library source that belongs to
//! it (rust-web-src). `core`, `alloc`, `compiler_builtins` and `panic_abort` are compiled once per target into that compiler's
//! sysroot. From then on a firmware build with `RUSTC=/usr/bin/rustc` is an ordinary stable build.
use super::programs::{apt_install, find_program, say};
use super::rustc::{has_target, library_dir, sysroot, Toolchain};
use crate::error::{at, Error};
use crate::process;
use crate::work::{work_dir, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const RUSTC: &str = "/usr/bin/rustc";
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];
const LIMIT: Duration = Duration::from_secs(1800);

/// The distribution's toolchain, if it has `target` already.
pub(super) fn installed(target: &str) -> Option<Toolchain> {
    if !(Path::new(RUSTC).exists() && has_target(Path::new(RUSTC), target)) {
        return None;
    }
    Some(Toolchain { rustc: Some(RUSTC.into()), linker_dir: linker_dir() })
}

/// Installs the distribution's compiler if it is missing, and builds the libraries of `target` into its sysroot.
pub(super) fn install(target: &str) -> Result<Toolchain, Error> {
    let missing = |why: &str| Error::Missing {
        what: format!("Rust target {target}"),
        why: why.to_owned(),
        hint: format!("Where rustup's server can be reached, `rustup target add {target}` is all it takes."),
    };
    let source = |sysroot: &Path| sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs");
    if !sysroot(Path::new(RUSTC)).is_some_and(|sysroot| source(&sysroot).exists()) {
        let hint = format!(
            "Run `rustup target add {target}`, or install the packages {} as root.",
            PACKAGES.join(" and ")
        );
        apt_install(&format!("Rust target {target}"), &PACKAGES, &hint)?;
    }
    let sysroot =
        sysroot(Path::new(RUSTC)).ok_or_else(|| missing("the distribution's rustc does not run"))?;
    if !source(&sysroot).exists() {
        return Err(missing("the library sources of the distribution's rustc are not where they should be"));
    }
    say(&format!("compiling core, alloc and panic_abort for {target} with {RUSTC}"));
    let libraries = build_libraries(target)?;
    let folder = library_dir(&sysroot, target);
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    for library in libraries {
        let Some(name) = library.file_name() else { continue };
        fs::copy(&library, folder.join(name)).map_err(at(&folder))?;
    }
    installed(target).ok_or_else(|| missing("the compiled libraries did not make it into the sysroot"))
}

/// Compiles the libraries in a scratch crate and returns their paths.
fn build_libraries(target: &str) -> Result<Vec<PathBuf>, Error> {
    let scratch = work_dir()?.join("sysroot");
    write(
        &scratch.join("Cargo.toml"),
        "[package]\nname = \"sysroot\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[lib]\npath = \"lib.rs\"\n\n\
         [profile.release]\nopt-level = 3\npanic = \"abort\"\n\n[workspace]\n",
    )?;
    write(&scratch.join("lib.rs"), "#![no_std]\n")?;
    let mut cargo = process::cargo();
    cargo
        .current_dir(&scratch)
        .args(["build", "--quiet", "--release", "-Zbuild-std=core,alloc,panic_abort", "--target", target])
        .args(["--target-dir", "target"])
        .env("RUSTC", RUSTC)
        // Only here: building the standard library is not a stable feature. Firmware is built without it.
        .env("RUSTC_BOOTSTRAP", "1")
        // Bitcode in the libraries is what a firmware's `lto = "fat"` works on.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes");
    process::succeed(&mut cargo, &format!("compiling the libraries of {target}"), LIMIT)?;
    let folder = scratch.join("target").join(target).join("release/deps");
    let files = fs::read_dir(&folder).map_err(at(&folder))?;
    let mut libraries: Vec<PathBuf> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".rlib") && !name.starts_with("libsysroot")
        })
        .collect();
    // The library by which an installed target is told comes last.
    libraries.sort_by_key(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcore-"))
    });
    Ok(libraries)
}

/// The folder of the `rust-lld` that comes with rustup's toolchain; Debian's rustc brings none.
fn linker_dir() -> Option<PathBuf> {
    let bundled = || {
        let hosts = fs::read_dir(sysroot(Path::new("rustc"))?.join("lib/rustlib")).ok()?;
        hosts.flatten().map(|host| host.path().join("bin")).find(|folder| folder.join("rust-lld").is_file())
    };
    bundled().or_else(|| Some(find_program("rust-lld")?.parent()?.to_owned()))
}
