//! Kernels for cores without DSP instructions.

use crate::Check;

pub(crate) const CHECKS: &[Check] = &[];
