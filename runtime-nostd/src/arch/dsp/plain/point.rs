//! Complex numbers of 16 bits.

/// One part after the other.
pub(crate) type Halves = super::portable::fft::Complex<i16>;

impl super::portable::block::Shifted for Halves {}
