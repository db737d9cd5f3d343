//! `cargo xtask`
fn main() {}
