//! Pooling and means.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
