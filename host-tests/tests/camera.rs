//! Camera lines: what becomes of them is what OpenCV and Pillow make of the frame.

#[path = "camera/vectors.rs"]
mod vectors;
