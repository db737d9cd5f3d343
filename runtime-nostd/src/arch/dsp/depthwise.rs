//! Depthwise convolution of planar rows, and of images one column wide.
