//! Convolution in tiles of two pixels and four filters.
