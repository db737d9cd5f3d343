//! Tells the kernels what the processor can do: on stable Rust, `cfg(target_feature = "dsp")` is not visible.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    println!("cargo:rustc-check-cfg=cfg(kiln_dsp)");
    println!("cargo:rustc-check-cfg=cfg(kiln_v6m)");
    let triple = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // The DSP extension of Armv8-M Mainline is an option of the chip.
    let says_dsp = flags.contains("cortex-m33") || flags.contains("+dsp");
    match triple.split('-').next().unwrap_or_default() {
        "thumbv7em" => println!("cargo:rustc-cfg=kiln_dsp"),
        "thumbv8m.main" if says_dsp => println!("cargo:rustc-cfg=kiln_dsp"),
        "thumbv6m" | "thumbv8m.base" => println!("cargo:rustc-cfg=kiln_v6m"),
        _ => {}
    }
}
