//! Whatever is accepted keeps its meaning: imported graph, compiled graph and the plan on real bytes agree, and the emitted Rust parses.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz compile SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of model files, e.g. of `host-tests/models/tflite`; new inputs are written to it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kiln_fuzz::check(bytes));
