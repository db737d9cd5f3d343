//! As `compile`, for TensorFlow: a frozen graph, or the `saved_model.pb` of a SavedModel. What begins like neither is taken as the nodes behind an input.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz tensorflow SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of such files.

#![no_main]

use kiln_codegen::front;
use libfuzzer_sys::fuzz_target;

/// The placeholder `x` of four floats.
const INPUT: &[u8] =
    b"\x0a\x32\x0a\x01x\x12\x0bPlaceholder\x2a\x0b\x0a\x05dtype\x12\x02\x30\x01\x2a\x13\x0a\x05shape\x12\x0a\x3a\x08\x12\x02\x08\x01\x12\x02\x08\x04";

fuzz_target!(|bytes: &[u8]| {
    if front::format_of(bytes).is_ok() {
        return kiln_fuzz::check(bytes);
    }
    kiln_fuzz::check(&[INPUT, bytes].concat());
});
