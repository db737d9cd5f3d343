//! Copies and padding.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
