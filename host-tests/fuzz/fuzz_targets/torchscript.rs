//! As `compile`, for TorchScript: the input is the code of a module, whose pickle holds it without attributes.
//!
//! ```sh
//! cargo +nightly fuzz run --fuzz-dir host-tests/fuzz torchscript SEEDS -- -max_total_time=600 -timeout=10 -rss_limit_mb=4096
//! ```
//!
//! `SEEDS` is a folder with copies of `code/__torch__.py` out of `.pt` files. (`compile` takes whole archives, with damaged pickles.)

#![no_main]

use libfuzzer_sys::fuzz_target;

/// Protocol 2: an empty object of the class `__torch__.Net`.
const MODULE: &[u8] = b"\x80\x02c__torch__\nNet\n)\x81}b.";

fuzz_target!(|bytes: &[u8]| {
    kiln_fuzz::check(&kiln_fuzz::archive(&[
        ("net/data.pkl", MODULE),
        ("net/code/__torch__.py", bytes),
        ("net/constants.pkl", b"\x80\x02)."),
        ("net/version", b"3\n"),
    ]));
});
