//! Tells the linker how an image is laid out: esp-hal knows the memories.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    // The last of all linker scripts.
    println!("cargo::rustc-link-arg-bins=-Tlinkall.x");
    println!("cargo::rerun-if-changed=build.rs");
}
