//! Tells the kernels what the processor can do: on stable Rust, `cfg(target_feature = "dsp")` is not visible.

use kiln_kernel_table::Target;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    for cfg in Target::all_cfgs().chain(["kiln_avx512"]) {
        println!("cargo:rustc-check-cfg=cfg({cfg})");
    }
    let triple = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<&str> = flags.split('\u{1f}').collect();
    // The compiler reads the same rows.
    for cfg in Target::cfgs(&triple, &flags) {
        println!("cargo:rustc-cfg={cfg}");
    }
    if triple.starts_with("x86_64") && minor_version() >= AVX512_SINCE {
        println!("cargo:rustc-cfg=kiln_avx512");
    }
    let macros = format!("define_include_model!($, {:?});\n", Target::name_of_triple(&triple, &flags));
    let folder = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&folder).join("include_model.rs"), macros)
}

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
