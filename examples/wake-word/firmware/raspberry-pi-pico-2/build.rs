//! Gives the linker the board's memory map, which stands with the other facts about the board.
use std::path::PathBuf;
use std::{env, fs};

const MEMORY: &str = "../../../../boards/raspberry-pi-pico-2/memory.x";

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    fs::copy(MEMORY, out.join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rerun-if-changed={MEMORY}");
}
