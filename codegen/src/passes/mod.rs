//! passes
pub mod quantized_io;
pub mod zero_point { pub fn folded_bias(_w: &[i8], b: &[i32], _z: i32, _c: usize) -> Vec<i32> { b.to_vec() } }
pub fn run(_g: &mut crate::ir::Graph, _o: &mut dyn FnMut(&str, &crate::ir::Graph)) -> Result<(), crate::Error> { Ok(()) }
