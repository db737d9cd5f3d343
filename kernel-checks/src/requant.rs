//! Rescaling of accumulators.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
