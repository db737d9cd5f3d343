//! Peers as on a processor without AVX-512, on one that has it: copies of their libraries that ask a signal handler instead of the
//! processor what instructions there are.
use super::kiln::{work_dir, write};
use crate::step::{cargo, run, say, Failure};
use iced_x86::{Code, Decoder, DecoderOptions};
use object::{Object, ObjectSection, SectionKind};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

const HANDLER: &str = include_str!("handler.rs");

const MANIFEST: &str = "[package]\n\
    name = \"limit\"\n\
    version = \"0.0.0\"\n\
    edition = \"2021\"\n\n\
    [lib]\n\
    crate-type = [\"cdylib\"]\n\n\
    [dependencies]\n\
    libc = \"0.2\"\n\n\
    [workspace]\n";

/// `ud2`, as long as `cpuid`, on which the handler is called.
const UNDEFINED: [u8; 2] = [0x0f, 0x0b];

/// The only level that peers can be limited to.
pub(crate) const LEVEL: &str = "avx2";

/// What limits a peer.
#[derive(Debug)]
pub(crate) struct Limit {
    /// The folder with the changed copies of its packages.
    packages: PathBuf,
    /// The library with the handler.
    handler: PathBuf,
}

impl Limit {
    /// Copies and changes the packages that this Python has, unless that was done before.
    ///
    /// # Errors
    /// Where a package cannot be copied, or the handler does not compile.
    pub(crate) fn prepare(python: &Path) -> Result<Limit, Failure> {
        let work = work_dir();
        let (package, packages) = (work.join("limit"), work.join("limited"));
        fs::create_dir_all(package.join("src"))?;
        write(&package.join("Cargo.toml"), MANIFEST)?;
        write(&package.join("src/lib.rs"), HANDLER)?;
        let mut build = cargo(&package, &["build", "--release", "--quiet"]);
        run("what limits the peers to AVX2", build.env("CARGO_TARGET_DIR", work.join("target")))?;
        let installed = site_packages(python)?;
        // Written at last: without it, or with another one in it, the packages are copied (again).
        let complete = packages.join("complete");
        let stamp = fs::read_to_string(installed.join("../../../complete")).unwrap_or_default();
        if fs::read_to_string(&complete).ok().as_ref() != Some(&stamp) {
            if packages.exists() {
                fs::remove_dir_all(&packages)?;
            }
            let mut changed = 0;
            for name in ["ai_edge_litert", "onnxruntime", "tract"] {
                copy(&installed.join(name), &packages.join(name), &mut changed)?;
            }
            say(&format!("{changed} questions to the processor in the peers' libraries are changed"));
            fs::write(complete, stamp)?;
        }
        Ok(Limit { packages, handler: work.join("target/release/liblimit.so") })
    }

    /// Has a peer use the changed packages.
    pub(crate) fn apply(&self, peer: &mut Command) {
        peer.env("PYTHONPATH", &self.packages).env("KILN_LIMIT", &self.handler);
    }
}

/// Where an environment's packages are.
fn site_packages(python: &Path) -> Result<PathBuf, Failure> {
    let said = Command::new(python)
        .args(["-c", "import sysconfig; print(sysconfig.get_path('platlib'))"])
        .output()?;
    Ok(PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()))
}

/// Copies a folder, its libraries changed.
fn copy(from: &Path, to: &Path, changed: &mut usize) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (from, to) = (entry?.path(), to);
        let to = to.join(from.file_name().unwrap_or_default());
        if from.is_dir() {
            copy(&from, &to, changed)?;
            continue;
        }
        let mut bytes = fs::read(&from)?;
        if bytes.starts_with(b"\x7fELF") {
            let code = code(&bytes).map_err(|error| format!("{}: {error}", from.display()))?;
            *changed += code.into_iter().map(|range| replace(&mut bytes[range])).sum::<usize>();
        }
        fs::write(to, bytes)?;
    }
    Ok(())
}

/// Where a library's instructions are.
fn code(library: &[u8]) -> object::Result<Vec<Range<usize>>> {
    let file = object::File::parse(library)?;
    let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
    let ranges = sections.filter_map(|section| section.file_range());
    Ok(ranges.map(|(start, len)| start as usize..(start + len) as usize).collect())
}

/// Changes every `cpuid`, and counts them.
fn replace(code: &mut [u8]) -> usize {
    let instructions = Decoder::new(64, code, DecoderOptions::NONE).into_iter();
    let found = instructions.filter(|instruction| instruction.code() == Code::Cpuid);
    let found: Vec<usize> = found.map(|instruction| instruction.ip() as usize).collect();
    for &at in &found {
        code[at..at + UNDEFINED.len()].copy_from_slice(&UNDEFINED);
    }
    found.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_changed_and_nothing_else() {
        // mov eax, 0xa20f; cpuid; add eax, [rip + 0xa20f]; cpuid; ret
        let mut code = [0xb8, 0x0f, 0xa2, 0, 0, 0x0f, 0xa2, 0x03, 0x05, 0x0f, 0xa2, 0, 0, 0x0f, 0xa2, 0xc3];
        let mut expected = code;
        expected[6] = 0x0b;
        expected[14] = 0x0b;
        assert_eq!((replace(&mut code), code), (2, expected));
    }
}
