//! Models drawn as the input says keep their meaning. (`host-tests/tests/draws.rs` runs such models on boards.)
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz draws -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096 -max_len=64
//! ```
//!
//! Each six bytes are an operator: its row of the table, its format, and a seed for everything else.

#![no_main]

use kiln_host_tests::draw::{merged, Component};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let component = Component::from_bytes(bytes);
    if !component.is_empty() {
        kiln_fuzz::check(&merged(&[component]));
    }
});
