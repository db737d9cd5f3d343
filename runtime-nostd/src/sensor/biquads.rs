//! Filters of the second order, one behind the other.

/// `SECTIONS` biquads one behind the other, the same for each of `CHANNELS` channels, in float32.
///
/// Each is a transposed direct form II, as in scipy's `sosfilt`: y = b₀x + z₀, z₀ = b₁x − a₁y + z₁, z₁ = b₂x − a₂y. A sample takes five products for each section and channel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Biquads<const SECTIONS: usize, const CHANNELS: usize> {
    sections: [Section<CHANNELS>; SECTIONS],
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Section<const CHANNELS: usize> {
    b: [f32; 3],
    a: [f32; 2],
    state: [[f32; 2]; CHANNELS],
}

impl<const CHANNELS: usize> Section<CHANNELS> {
    const fn new([b0, b1, b2, a0, a1, a2]: [f32; 6]) -> Self {
        Section { b: [b0 / a0, b1 / a0, b2 / a0], a: [a1 / a0, a2 / a0], state: [[0.0; 2]; CHANNELS] }
    }

    fn push(&mut self, sample: &mut [f32; CHANNELS]) {
        let ([b0, b1, b2], [a1, a2]) = (self.b, self.a);
        for (value, [z0, z1]) in sample.iter_mut().zip(&mut self.state) {
            let x = *value;
            let y = b0 * x + *z0;
            *z0 = b1 * x - a1 * y + *z1;
            *z1 = b2 * x - a2 * y;
            *value = y;
        }
    }

    fn settle(&mut self, sample: &mut [f32; CHANNELS]) {
        let ([b0, b1, b2], [a1, a2]) = (self.b, self.a);
        let gain = (b0 + b1 + b2) / (1.0 + a1 + a2);
        for (value, [z0, z1]) in sample.iter_mut().zip(&mut self.state) {
            let x = *value;
            let y = gain * x;
            *z1 = b2 * x - a2 * y;
            *z0 = b1 * x - a1 * y + *z1;
            *value = y;
        }
    }
}

impl<const SECTIONS: usize, const CHANNELS: usize> Biquads<SECTIONS, CHANNELS> {
    /// With rows of b₀, b₁, b₂, a₀, a₁ and a₂: what scipy's `butter(…, output="sos")` prints. a₀ is not 0. Silence came before. Usable in a `static`.
    // Both arrays have `SECTIONS` elements.
    #[allow(clippy::indexing_slicing)]
    pub const fn new(rows: [[f32; 6]; SECTIONS]) -> Self {
        let mut sections = [Section::new([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]); SECTIONS];
        let mut i = 0;
        while i < SECTIONS {
            sections[i] = Section::new(rows[i]);
            i += 1;
        }
        Biquads { sections }
    }

    /// Filters the next sample.
    pub fn push(&mut self, sample: &[f32; CHANNELS]) -> [f32; CHANNELS] {
        let mut sample = *sample;
        self.sections.iter_mut().for_each(|section| section.push(&mut sample));
        sample
    }

    /// As if all samples until now had been this one (scipy's `sosfilt_zi`): with the first sample, a filter begins without a jump. For filters that settle: the poles of each section are in the unit
    /// circle.
    pub fn settle(&mut self, sample: &[f32; CHANNELS]) {
        let mut sample = *sample;
        self.sections.iter_mut().for_each(|section| section.settle(&mut sample));
    }

    /// As if silence had come before.
    pub fn reset(&mut self) {
        self.sections.iter_mut().for_each(|section| section.state = [[0.0; 2]; CHANNELS]);
    }
}

#[cfg(test)]
mod tests {
    use super::Biquads;

    /// butter(3, 5, fs=50, output="sos") of scipy 1.17, in float32.
    const LOW: [[f32; 6]; 2] = [
        [0.018098933, 0.036197867, 0.018098933, 1.0, -0.5095254, 0.0],
        [1.0, 1.0, 0.0, 1.0, -1.2505164, 0.5457233],
    ];

    #[test]
    fn settled_filters_do_not_jump() {
        let mut filter = Biquads::<2, 2>::new(LOW);
        filter.settle(&[1.0, -3.0]);
        for _ in 0..20 {
            let [one, other] = filter.push(&[1.0, -3.0]);
            assert!((one - 1.0).abs() < 1e-5 && (other + 3.0).abs() < 3e-5, "{one} {other}");
        }
        filter.reset();
        assert_eq!(filter, Biquads::new(LOW));
        assert!(filter.push(&[1.0, 0.0])[0] < 0.02);
    }

    #[test]
    fn rows_are_divided_by_a0() {
        let mut twice = Biquads::<1, 1>::new([[2.0, 4.0, -2.0, 2.0, -1.0, 0.5]]);
        let mut once = Biquads::<1, 1>::new([[1.0, 2.0, -1.0, 1.0, -0.5, 0.25]]);
        for sample in [1.0, 0.0, -2.5, 7.0] {
            assert_eq!(twice.push(&[sample]), once.push(&[sample]));
        }
        assert_eq!(Biquads::<0, 1>::new([]).push(&[5.0]), [5.0]);
    }
}
