//! As `compile`, for ONNX files: what the input lacks of a model's header stands behind it.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz onnx SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of `.onnx` files, e.g. of ONNX's backend tests in `target/kiln`.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// Version 8 of the format, and operator set 17. Of lists in a file with two headers the first entries count.
const HEADER: [u8; 6] = [0x08, 8, 0x42, 2, 0x10, 17];

fuzz_target!(|bytes: &[u8]| kiln_fuzz::check(&[bytes, &HEADER].concat()));
