//! What is in a linked image.
