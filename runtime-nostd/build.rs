//! Tells the kernels what the processor can do: on stable Rust, `cfg(target_feature = "dsp")` is not visible.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    println!("cargo:rustc-check-cfg=cfg(kiln_dsp)");
    println!("cargo:rustc-check-cfg=cfg(kiln_v6m)");
    println!("cargo:rustc-check-cfg=cfg(kiln_long_product)");
    println!("cargo:rustc-check-cfg=cfg(kiln_fpu)");
    println!("cargo:rustc-check-cfg=cfg(kiln_avx512)");
    let triple = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // The DSP extension of Armv8-M Mainline is an option of the chip. The compiler decides alike (`Target::of_triple`).
    let says_dsp = DSP_FLAGS.into_iter().any(|flag| flags.contains(flag)) && !flags.contains("-dsp");
    // Of these triples, those with floating-point arguments in registers. (Cortex-M7 and M33 have the instructions of Cortex-M4.)
    let m_profile = triple.starts_with("thumbv7em") || triple.starts_with("thumbv8m.main");
    if m_profile && triple.ends_with("eabihf") {
        println!("cargo:rustc-cfg=kiln_fpu");
    }
    match triple.split('-').next().unwrap_or_default() {
        // Layers that no kernel with DSP instructions computes get one without.
        "thumbv7em" => dsp(),
        "thumbv8m.main" if says_dsp => dsp(),
        "thumbv6m" | "thumbv8m.base" => println!("cargo:rustc-cfg=kiln_v6m"),
        // Cortex-M3, and Cortex-M33 without DSP, run the same kernels. They also have a long multiplication.
        "thumbv7m" | "thumbv8m.main" => {
            println!("cargo:rustc-cfg=kiln_v6m");
            println!("cargo:rustc-cfg=kiln_long_product");
        }
        "x86_64" if minor_version() >= AVX512_SINCE => println!("cargo:rustc-cfg=kiln_avx512"),
        _ => {}
    }
}

/// A core with the DSP extension, which runs the kernels of those without as well.
fn dsp() {
    for cfg in ["kiln_dsp", "kiln_v6m", "kiln_long_product"] {
        println!("cargo:rustc-cfg={cfg}");
    }
}

/// What in a flag of rustc says that a core of Armv8-M Mainline has the DSP extension.
const DSP_FLAGS: [&str; 6] = ["cortex-m33", "cortex-m35p", "cortex-m52", "cortex-m55", "cortex-m85", "+dsp"];

/// The first Rust 1.x in which intrinsics of AVX-512 and AVX-VNNI are stable.
const AVX512_SINCE: u32 = 89;

/// The x of the compiler's version 1.x; 0 if it cannot be asked.
fn minor_version() -> u32 {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    // Such as `rustc 1.95.0 (59807616e 2026-04-14)`.
    text.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
}
