//! Camera lines: what becomes of them is what OpenCV and Pillow make of the frame. (That a model gets it shows `macros/tests/camera.rs`, too.)

#[path = "camera/refused.rs"]
mod refused;
#[path = "camera/target.rs"]
mod target;
#[path = "camera/vectors.rs"]
mod vectors;
