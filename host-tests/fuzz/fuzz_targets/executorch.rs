//! As `compile`, for programs of ExecuTorch. What has another identifier gets theirs.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz executorch SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of such files.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    if let Some(identifier) = file.get_mut(4..8) {
        identifier.copy_from_slice(b"ET12");
    }
    kiln_fuzz::check(&file);
});
