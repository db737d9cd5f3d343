//! Kiln runtime.
#![no_std]
