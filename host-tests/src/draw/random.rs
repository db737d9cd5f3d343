//! Chance, from a seed.

/// Vigna's splitmix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Everything that follows depends on the seed alone.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// 64 random bits.
    // Not an iterator: it never ends.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `n` − 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    /// Between −1 and 1.
    pub fn unit(&mut self) -> f32 {
        ((self.next() >> 40) as i32 - (1 << 23)) as f32 / (1 << 23) as f32
    }
}
