//! Kernels that are small rather than fast, for `optimize = "size"`: one function for all layers of a kind.
//!
//! What the fast kernels know when they are compiled is told at run time here, shifts and signs as well, and nothing has a second way of being computed:
//! no pairs of pixels across rows, no rows that stay in the work space, no plain Rust beside the assembly of a target that has it.

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod pool;
