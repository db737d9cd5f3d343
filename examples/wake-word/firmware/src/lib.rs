//! What the boards have in common: a lamp that is lit for a second where the wake word was heard.
#![no_std]

use wake_word::HOPS_A_SECOND;

/// The lamp, by hops of samples.
#[derive(Default)]
pub struct Lamp {
    hops: u32,
}

impl Lamp {
    /// Whether it is lit after the next hop.
    pub fn is_lit(&mut self, heard: bool) -> bool {
        self.hops = if heard { HOPS_A_SECOND } else { self.hops.saturating_sub(1) };
        self.hops > 0
    }
}
