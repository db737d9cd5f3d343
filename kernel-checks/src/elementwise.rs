//! Sums, products and tables.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
