//! As `compile`, for StableHLO: text of MLIR or HLO, bytecode, or what jax.export writes. What begins like none of them is taken as the body of a function.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz stablehlo SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of such files, e.g. of `host-tests/models/jax`.

#![no_main]

use kiln_codegen::front;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if front::format_of(bytes).is_ok() {
        return kiln_fuzz::check(bytes);
    }
    let (before, after) = ("func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n", "\n}\n");
    kiln_fuzz::check(&[before.as_bytes(), bytes, after.as_bytes()].concat());
});
