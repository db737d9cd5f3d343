//! Processors of hosts that this machine does not have.
use crate::work::{work_dir, write};
use crate::{toolchain, Error};
use std::process::Command;

/// A kind of host that is emulated: programs with the standard library run there as processes that see files of this machine.
#[derive(Debug, PartialEq, Eq)]
pub struct EmulatedHost {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub description: &'static str,
    /// The Rust target.
    pub target: &'static str,
    /// What rustc is told besides.
    pub rustflags: &'static [&'static str],
    /// Whether kernels in vectors have instructions there that are not plain Rust.
    pub has_vectors: bool,
    emulator: Emulator,
}

#[derive(Debug, PartialEq, Eq)]
enum Emulator {
    /// QEMU for single processes, as a processor of that name.
    Qemu { program: &'static str, cpu: &'static str },
    /// Node, with WASI.
    Node,
}

const AARCH64: &str = "aarch64-unknown-linux-musl";
const WASM32: &str = "wasm32-wasip1";

/// All of them.
const ALL: [EmulatedHost; 4] = [
    EmulatedHost {
        name: "aarch64",
        description: "AArch64 Linux on a Cortex-A72, which has Advanced SIMD",
        target: AARCH64,
        rustflags: &[],
        has_vectors: true,
        emulator: Emulator::Qemu { program: "qemu-aarch64", cpu: "cortex-a72" },
    },
    EmulatedHost {
        name: "aarch64-dotprod",
        description: "AArch64 Linux on a Cortex-A76, compiled for its dot products",
        target: AARCH64,
        rustflags: &["-Ctarget-feature=+dotprod"],
        has_vectors: true,
        emulator: Emulator::Qemu { program: "qemu-aarch64", cpu: "cortex-a76" },
    },
    EmulatedHost {
        name: "wasm32",
        description: "WebAssembly in Node, compiled for vectors (simd128)",
        target: WASM32,
        rustflags: &["-Ctarget-feature=+simd128"],
        has_vectors: true,
        emulator: Emulator::Node,
    },
    EmulatedHost {
        name: "wasm32-scalar",
        description: "WebAssembly in Node, without vectors",
        target: WASM32,
        rustflags: &[],
        has_vectors: false,
        emulator: Emulator::Node,
    },
];

/// Runs a program of WebAssembly in Node.
const WASI: &str = include_str!("wasi.mjs");

impl EmulatedHost {
    /// All of them.
    pub fn all() -> &'static [EmulatedHost] {
        &ALL
    }

    /// The one of that name.
    pub fn find(name: &str) -> Option<&'static EmulatedHost> {
        ALL.iter().find(|host| host.name == name)
    }

    /// What runs a program, to be followed by its path and its arguments. Installs it if it is missing.
    ///
    /// # Errors
    /// [`Error::Missing`] where it cannot be installed; it says what to do.
    pub fn command(&self) -> Result<Command, Error> {
        match self.emulator {
            Emulator::Qemu { program, cpu } => {
                let mut qemu = Command::new(toolchain::ensure_qemu(program)?);
                qemu.args(["-cpu", cpu]);
                Ok(qemu)
            }
            Emulator::Node => {
                let script = work_dir()?.join("wasi.mjs");
                write(&script, WASI)?;
                let mut node = Command::new(toolchain::ensure_node()?);
                node.arg("--no-warnings").arg(script);
                Ok(node)
            }
        }
    }

    /// How names of programs end.
    pub(crate) fn ending(&self) -> &'static str {
        match self.emulator {
            Emulator::Qemu { .. } => "",
            Emulator::Node => ".wasm",
        }
    }

    /// Has Cargo build for it, and run what it builds where no path has blanks: by environment variables. Installs what is missing.
    ///
    /// # Errors
    /// [`Error::Missing`] where the target or the emulator cannot be installed; it says what to do.
    pub fn configure(&self, cargo: &mut Command) -> Result<(), Error> {
        toolchain::ensure_std_target(self.target)?;
        let runner = self.command()?;
        let words = std::iter::once(runner.get_program()).chain(runner.get_args());
        let runner: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let of_target = self.target.to_uppercase().replace('-', "_");
        let setting = |what: &str| format!("CARGO_TARGET_{of_target}_{what}");
        // They would be in the place of the target's.
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo.env("CARGO_BUILD_TARGET", self.target);
        cargo.env(setting("RUSTFLAGS"), self.rustflags.join(" "));
        cargo.env(setting("RUNNER"), runner.join(" "));
        // The compiler brings it along, and a C library for static programs as well: no cross compiler is needed.
        cargo.env(setting("LINKER"), "rust-lld");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_no_board() {
        for host in EmulatedHost::all() {
            assert_eq!(EmulatedHost::find(host.name), Some(host));
            assert!(crate::Board::find(host.name).is_err());
        }
        assert_eq!(EmulatedHost::find("vax"), None);
    }
}
