//! passes
pub mod quantized_io;
