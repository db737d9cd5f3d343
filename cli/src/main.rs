//! `cargo kiln`
fn main() {}
