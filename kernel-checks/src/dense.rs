//! Matrix products.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
