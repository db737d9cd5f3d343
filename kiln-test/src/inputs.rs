//! Random inputs from a seed.

use kiln_codegen::ir::{DType, Data, Type};

/// Makes the inputs of one case after the other.
pub(crate) struct Source {
    state: u64,
    range: (f32, f32),
}

/// What a case is made of.
#[derive(Clone, Copy)]
enum Kind {
    Random,
    /// All elements lowest, highest or zero.
    Lowest,
    Highest,
    Zero,
    /// Runs of equal elements: neighbours are alike, as in images and sound.
    Blocks,
}

impl Source {
    pub(crate) fn new(seed: u64, range: (f32, f32)) -> Self {
        Source { state: seed, range }
    }

    /// The inputs of case `case`, one per type.
    pub(crate) fn case(&mut self, case: usize, types: &[Type]) -> Vec<Data> {
        let kind = match case {
            1 => Kind::Lowest,
            2 => Kind::Highest,
            3 => Kind::Zero,
            _ if case % 4 == 3 => Kind::Blocks,
            _ => Kind::Random,
        };
        types.iter().map(|ty| self.tensor(kind, ty)).collect()
    }

    fn tensor(&mut self, kind: Kind, ty: &Type) -> Data {
        let numel = ty.shape.numel();
        let mut bytes = Vec::with_capacity(numel * ty.dtype.size());
        let mut last = [0; 8];
        for index in 0..numel {
            if !matches!(kind, Kind::Blocks) || index == 0 || self.bits() % 8 == 0 {
                last = self.element(kind, ty);
            }
            bytes.extend_from_slice(&last[..ty.dtype.size()]);
        }
        Data::new(bytes)
    }

    /// One element, little-endian, at the front of eight bytes.
    fn element(&mut self, kind: Kind, ty: &Type) -> [u8; 8] {
        let (lowest, highest) = self.range;
        let Some((min, max)) = ty.dtype.int_range() else {
            let x = match kind {
                Kind::Lowest => lowest,
                Kind::Highest => highest,
                Kind::Zero => 0.0,
                Kind::Random | Kind::Blocks => lowest + (highest - lowest) * self.unit(),
            };
            return u64::from(x.to_bits()).to_le_bytes();
        };
        let x = match kind {
            Kind::Lowest => min,
            Kind::Highest => max,
            Kind::Zero => i64::from(ty.zero_point()),
            // Of a two's complement number, any low bits are a number of fewer bits.
            Kind::Random | Kind::Blocks if ty.dtype == DType::Bool => (self.bits() & 1) as i64,
            Kind::Random | Kind::Blocks => self.bits() as i64,
        };
        x.to_le_bytes()
    }

    /// Uniform in [0, 1].
    fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / ((1u64 << 24) - 1) as f32
    }

    /// The SplitMix64 generator (Steele, Lea, Flood 2014).
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_cover_their_range_and_extremes() {
        let ty = Type::quantized(DType::I8, &[1000], 0.5, -7);
        let mut source = Source::new(1, (-4.0, 4.0));
        let cases: Vec<_> = (0..4).map(|k| source.case(k, std::slice::from_ref(&ty))[0].to_i8()).collect();
        assert!(cases[0].contains(&-128) && cases[0].contains(&127));
        assert!(cases[1].iter().all(|&x| x == -128));
        assert!(cases[2].iter().all(|&x| x == 127));
        assert!(cases[3].iter().all(|&x| x == -7));
    }

    #[test]
    fn floats_stay_in_range_and_fill_it() {
        let ty = Type::plain(DType::F32, &[1000]);
        let x = Source::new(1, (-60.0, 15.0)).case(0, &[ty])[0].to_f32();
        let (low, high) = x.iter().fold((f32::MAX, f32::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        assert!((-60.0..-59.0).contains(&low) && (14.0..=15.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn wide_integers_and_booleans() {
        let types = [Type::plain(DType::I32, &[100]), Type::plain(DType::Bool, &[100])];
        let data = Source::new(3, (0.0, 1.0)).case(0, &types);
        assert!(data[0].to_i32().iter().any(|&x| x < -(1 << 29)));
        assert!(data[1].bytes().iter().all(|&x| x < 2) && data[1].bytes().contains(&1));
    }

    #[test]
    fn same_seed_same_inputs() {
        let ty = [Type::plain(DType::F32, &[64])];
        let case = |seed| Source::new(seed, (-1.0, 1.0)).case(7, &ty);
        assert_eq!(case(5), case(5));
        assert_ne!(case(5), case(6));
    }
}
