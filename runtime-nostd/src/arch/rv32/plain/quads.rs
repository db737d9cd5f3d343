//! Tiles of four pixels in plain Rust.

/// The tiles of a layer.
pub(crate) type Quads<'a> = super::pairs::Tiles<'a, 4>;

/// The same.
pub(crate) type SmallQuads<'a> = Quads<'a>;
