//! Pooling and means.
