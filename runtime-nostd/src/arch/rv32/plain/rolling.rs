//! Filters of 3 × 3 along rows, in plain Rust.

use crate::arch::rv32::rolling::{plain, Line};

/// The results.
pub(crate) fn roll(line: &Line<'_>) {
    if line.is_there() {
        plain(line);
    }
}
