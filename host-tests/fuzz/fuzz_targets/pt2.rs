//! As `compile`, for programs of torch.export: the input is the program, in an archive with a weight of a kilobyte.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz pt2 SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of `models/model.json` out of `.pt2` files.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let weight = [0x3d; 1024];
    kiln_fuzz::check(&kiln_fuzz::archive(&[
        ("net/models/model.json", bytes),
        ("net/data/weights/weight_0", &weight),
        ("net/archive_format", b"pt2"),
    ]));
});
