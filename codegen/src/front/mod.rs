//! Readers: bytes of a model file to a [`Graph`](crate::ir::Graph).

pub mod tflite;
