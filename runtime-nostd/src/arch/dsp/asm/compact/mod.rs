//! For `optimize = "size"`.

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
