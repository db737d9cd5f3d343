//! As `compile`, for models of Keras: archives, and HDF5 files.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz keras SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of such files.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kiln_fuzz::check(bytes));
