//! Commands that compile models. For them this program is built again, with the compiler in it (the feature `compiler`): all others begin sooner.
use crate::step::Failure;

pub(crate) const ASAN: &str =
    "  asan    emitted code of models under AddressSanitizer, also in crews; needs a nightly toolchain, too
";

/// Arguments of `bench-host`, for the overview of commands.
pub(crate) const BENCH_HOST: &str = "  \
  bench-host
          times of Kiln (floats also reproducible), LiteRT (XNNPACK) and others, all in turns on one core of this machine
            --models a,b,c    these models only, of those it knows
            --peers a,b       litert, onnxruntime (these two), tract; \"\" for none
            --rounds N        turns of each (12)
            --core N          the core that all are pinned to (the last)
            --cores N         N threads compute each of Kiln's models together, pinned to no core (1)
            --level L         limits Kiln's SIMD kernels; avx2: the peers, too
            --layers MODEL    no race: the time of each layer of one model
            --float F         with --layers: fast (the default) or reproducible
            --write-docs      the table in docs/benchmarks.md, from this run
";

#[cfg(feature = "compiler")]
pub(crate) fn run_all(words: &[&str]) -> Result<(), Failure> {
    match *words {
        ["bench-host", ref arguments @ ..] => crate::bench_host::run_all(arguments),
        _ => crate::asan::run_all(),
    }
}

#[cfg(not(feature = "compiler"))]
pub(crate) fn run_all(words: &[&str]) -> Result<(), Failure> {
    let run = ["run", "--quiet", "--package", "xtask", "--features", "compiler", "--"];
    let status = crate::step::cargo(&crate::step::root(), &[&run, words].concat()).status()?;
    // It has said why.
    std::process::exit(status.code().unwrap_or(1))
}
