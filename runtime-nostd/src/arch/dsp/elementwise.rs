//! Sums and products of tensors.
