//! Tells the kernels what the processor can do: on stable Rust, `cfg(target_feature = "dsp")` is not visible.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    println!("cargo:rustc-check-cfg=cfg(kiln_dsp)");
    println!("cargo:rustc-check-cfg=cfg(kiln_v6m)");
    println!("cargo:rustc-check-cfg=cfg(kiln_long_product)");
    println!("cargo:rustc-check-cfg=cfg(kiln_fpu)");
    let triple = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // The DSP extension of Armv8-M Mainline is an option of the chip.
    let says_dsp = flags.contains("cortex-m33") || flags.contains("+dsp");
    // Of these triples, those with floating-point arguments in registers. (Cortex-M7 and M33 have the instructions of Cortex-M4.)
    let m_profile = triple.starts_with("thumbv7em") || triple.starts_with("thumbv8m.main");
    if m_profile && triple.ends_with("eabihf") {
        println!("cargo:rustc-cfg=kiln_fpu");
    }
    match triple.split('-').next().unwrap_or_default() {
        "thumbv7em" => println!("cargo:rustc-cfg=kiln_dsp"),
        "thumbv8m.main" if says_dsp => println!("cargo:rustc-cfg=kiln_dsp"),
        "thumbv6m" | "thumbv8m.base" => println!("cargo:rustc-cfg=kiln_v6m"),
        // Cortex-M3 runs the same kernels, and has a long multiplication besides.
        "thumbv7m" => {
            println!("cargo:rustc-cfg=kiln_v6m");
            println!("cargo:rustc-cfg=kiln_long_product");
        }
        _ => {}
    }
}
