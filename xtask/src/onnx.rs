//! ONNX's backend tests, which are data of its Python package.
use crate::step::{root, run, say, Failure};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// The version whose tests `host-tests/tests/onnx_nodes` runs.
const VERSION: &str = "1.22.0";

/// Where the data stands in the package.
const DATA: &str = "onnx/backend/test/data/";

const SUITES: [&str; 4] = ["node/", "pytorch-converted/", "pytorch-operator/", "simple/"];

/// Fetches the tests, where they are missing. The test that runs them says so and passes without, so that this is no failure either.
pub(crate) fn fetch_tests() {
    let folder = root().join(format!("target/kiln/onnx-{VERSION}"));
    if folder.exists() {
        return;
    }
    match fetch(&folder) {
        Ok(count) => say(&format!("ONNX's backend tests: {count} files in {}", folder.display())),
        Err(failure) => say(&format!("ONNX's backend tests are not there, and do not run: {failure}")),
    }
}

fn fetch(folder: &Path) -> Result<usize, Failure> {
    let package = folder.with_extension("package");
    fs::create_dir_all(&package)?;
    // The data is the same in the packages of all systems.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]);
    pip.args(["--implementation", "cp", "--abi", "cp311", "--dest"]);
    pip.arg(&package).arg(format!("onnx=={VERSION}"));
    run("ONNX's Python package", &mut pip)?;
    let files = fs::read_dir(&package)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let wheel = files.iter().find(|file| file.extension() == Some(OsStr::new("whl")));
    let wheel = wheel.ok_or_else(|| format!("no wheel in {}", package.display()))?;
    let unfinished = folder.with_extension("part");
    let count = unpack(wheel, &unfinished)?;
    // Either all of it is there, or nothing.
    fs::rename(&unfinished, folder)?;
    fs::remove_dir_all(&package)?;
    Ok(count)
}

fn unpack(wheel: &Path, folder: &Path) -> Result<usize, Failure> {
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel)?)?;
    let mut count = 0;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        // What leads out of the archive has no such name.
        let Some(path) = entry.enclosed_name() else { continue };
        let Ok(below) = path.strip_prefix(DATA) else { continue };
        if entry.is_dir() || !SUITES.iter().any(|suite| below.starts_with(suite)) {
            continue;
        }
        let target = folder.join(below);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        io::copy(&mut entry, &mut fs::File::create(&target)?)?;
        count += 1;
    }
    Ok(count)
}
