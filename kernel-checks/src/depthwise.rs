//! Depthwise convolutions.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
