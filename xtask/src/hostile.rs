//! Hostile calls of every kernel (`kernel-checks/tests/hostile/`), on hosts of 64 and 32 bits.
use crate::step::{cargo, root, run, say, Failure};
use kiln_boards::toolchain::ensure_std_target;
use kiln_boards::{EmulatedHost, Error};
use std::process::Command;

pub(crate) const HELP: &str = "  fuzz-kernels [SECONDS]   call every kernel with hostile arguments, for an hour if no time is given: optimised and not, here and on 32 bits
";

/// Seconds of hostile calls for each build of a test run.
const SECONDS: u64 = 10;

/// Where a pointer has 32 bits and programs run here: without an emulator, or else in Node.
const HOST_32: &str = "i686-unknown-linux-musl";

/// An hour, of which each build has its share.
const HOUR: u64 = 3600;

/// Hostile calls, bounded: what is not optimised has run among the workspace's tests.
pub(crate) fn test_kernels() -> Result<(), Failure> {
    fuzz(SECONDS, Build::Optimised)?;
    fuzz_on_32_bits(SECONDS)
}

/// Hostile calls for so many seconds in all.
pub(crate) fn fuzz_kernels(seconds: Option<&str>) -> Result<(), Failure> {
    let seconds: u64 = seconds.map_or(Ok(HOUR), str::parse)?;
    // Most of it in the fastest build.
    fuzz(seconds * 6 / 10, Build::Optimised)?;
    fuzz(seconds * 2 / 10, Build::Checked)?;
    fuzz_on_32_bits(seconds * 2 / 10)
}

/// What a build has.
#[derive(Clone, Copy)]
enum Build {
    /// Nothing but what users' programs have.
    Optimised,
    /// Checks of overflow, and a little optimisation, so that there are more calls.
    Checked,
}

/// The test, and how it is built.
fn command(seconds: u64, build: Build) -> Command {
    let mut test = cargo(&root(), &["test", "-p", "kiln-kernel-checks", "--test", "hostile"]);
    match build {
        Build::Optimised => test.arg("--release"),
        Build::Checked => test.args(["--config", "profile.dev.package.kiln-nn.opt-level=1"]),
    };
    test.env("KILN_FUZZ_SECONDS", seconds.to_string()).args(["--", "--nocapture"]);
    test
}

fn fuzz(seconds: u64, build: Build) -> Result<(), Failure> {
    let name = match build {
        Build::Optimised => "hostile calls, optimised",
        Build::Checked => "hostile calls, with checks of overflow",
    };
    run(name, &mut command(seconds, build))
}

fn fuzz_on_32_bits(seconds: u64) -> Result<(), Failure> {
    let mut test = command(seconds, Build::Checked);
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        match ensure_std_target(HOST_32) {
            Ok(()) => {
                test.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
                test.env("CARGO_BUILD_TARGET", HOST_32);
                // The compiler brings it along.
                test.env("CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
                return run("hostile calls on 32 bits", &mut test);
            }
            Err(error) => say(&error.to_string()),
        }
    }
    let host = EmulatedHost::find("wasm32").ok_or("there is no host of 32 bits")?;
    match host.configure(&mut test) {
        Ok(()) => run("hostile calls on 32 bits, in Node", &mut test),
        Err(error @ Error::Missing { .. }) => {
            say(&format!("hostile calls on 32 bits: LEFT OUT. {error}"));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
