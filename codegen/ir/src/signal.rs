//! The steps of TensorFlow Lite Micro's audio front end.
//!
//! Numbers without a sign are kept as the bits of signed elements of the same size: what is said to be `u32` is an `i32` of the graph, `u64` an `i64`. No other op computes with
//! such values; they are moved, or become signed ones of the same bits.

use super::text::{Lexer, ParseError};
use super::{Attr, DType, Shape, Type};

macro_rules! signals {
    ($( $(#[doc = $doc:literal])+ $variant:ident $word:literal ($operands:literal) { $( $(#[doc = $each:literal])+ $field:ident ),* $(,)? } )+) => {
        /// A step of the audio front end, with its whole-number parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Signal { $( $(#[doc = $doc])+ $variant { $( $(#[doc = $each])+ $field: i64 ),* }, )+ }

        impl Signal {
            /// Its name in the textual form.
            pub fn name(self) -> &'static str {
                match self { $( Signal::$variant { .. } => $word ),+ }
            }

            /// How many operands it has.
            pub fn operands(self) -> usize {
                match self { $( Signal::$variant { .. } => $operands ),+ }
            }

            /// Its parameters, in the order of the table.
            pub fn parameters(self) -> Vec<i64> {
                match self { $( Signal::$variant { $($field),* } => vec![$($field),*] ),+ }
            }
        }

        impl Attr for Signal {
            fn print(&self, out: &mut String) {
                out.push_str(self.name());
                let parameters = self.parameters();
                if !parameters.is_empty() {
                    out.push(' ');
                    parameters.print(out);
                }
            }

            fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
                match lexer.any_word()? {
                    $( $word => {
                        let wanted: &[&str] = &[$(stringify!($field)),*];
                        let given = if wanted.is_empty() { Vec::new() } else { Vec::<i64>::parse(lexer)? };
                        match given[..] {
                            [$($field),*] => Ok(Signal::$variant { $($field),* }),
                            _ => Err(lexer.error(format!("`{}` has the parameters {wanted:?}", $word))),
                        }
                    } )+
                    other => Err(lexer.error(format!("there is no step `{other}`"))),
                }
            }
        }
    };
}

signals! {
    /// `i16` \[…, n\] times the weights \[n\], shifted right and saturated.
    Window "window" (2) {
        /// Bits that the product is shifted right.
        shift,
    }
    /// By how many bits the `i16` elements can be shifted left so that the largest magnitude keeps its sign: an `i32` without axes. An element of −32768 makes the search for
    /// the largest begin again behind it, as in the reference, whose magnitude has 16 bits.
    Headroom "headroom" (1) {}
    /// `i16` elements shifted left by the second operand, wrapping.
    ShiftLeft "shift_left" (2) {}
    /// Half of the spectrum of real numbers \[…, n ≤ length\], completed by zeros: real and imaginary parts, \[…, length + 2\]. The arithmetic is that of KISS FFT with radices 4 and 2:
    /// `i16` and `i32` lose a bit in each doubling of the length, rounded at every step. The table of twiddles is part of the definition.
    Rfft "rfft" (1) {
        /// Length of the transform: a power of two, at least 4.
        length,
    }
    /// Real numbers \[…, length\] of half of a spectrum, \[…, length + 2\]; floats are divided by the length.
    Irfft "irfft" (1) {
        /// Length of the transform: a power of two, at least 4.
        length,
    }
    /// `i16` or `i32` \[…, n\] times the weights \[n\] in 15 bits of fraction: blocks \[…, n + 1\], whose last element `e` says that the others count 2^e each. Before the product, the largest
    /// magnitude of a row is shifted to the upper bits, and so is the largest product; both are rounded to 16 bits there.
    BlockWindow "block_window" (2) {}
    /// Half of the spectrum of blocks \[…, n + 1 ≤ length + 1\] of real numbers, completed by zeros: blocks \[…, length + 3\] of real and imaginary parts. Radices are 5, 3, then those of `rfft`. Before each
    /// step, numbers are shifted right by as few bits as keep all sums within 16 bits, whatever they are; the exponent grows by as many. Products are rounded once, with that shift.
    BlockRfft "block_rfft" (1) {
        /// Length of the transform: an even product of 2, 3 and 5, at least 4.
        length,
    }
    /// Squared magnitudes of complex `i16` \[2·n\], or of a block of them, \[2·n + 1\]: `u32` \[n\], 0 outside of `start..end`.
    Energy "energy" (1) {
        /// First index that is computed.
        start,
        /// Index behind the last one.
        end,
    }
    /// Sums `u64` \[c\] over overlapping channels of `u32` \[n\]. The constants are weights and their complements, and of each of c + 1 channels the first frequency, the first weight
    /// and the number of both (all `i16`): weights go to the channel itself, complements to the next one, and the sum of the first channel is dropped.
    FilterBank "filter_bank" (6) {}
    /// √x of `u64`, rounded to the nearest, shifted right by the second operand (`i32`, without axes): `u32`.
    SquareRoot "square_root" (2) {}
    /// How loud the noise is in each channel: the first operand, `u32` \[c\], smoothed over time. The second is the estimate before; both have `smoothing_bits` bits of fraction.
    NoiseEstimate "noise_estimate" (2) {
        /// Weight of the new signal in even channels.
        smoothing,
        /// Weight of the estimate before.
        one_minus_smoothing,
        /// Weight of the new signal in odd channels.
        alternate_smoothing,
        /// Weight of the estimate before.
        alternate_one_minus_smoothing,
        /// Bits of fraction of the estimate.
        smoothing_bits,
        /// Bits of fraction of the weights.
        bits,
        /// 1 if the estimate never exceeds the signal, else 0.
        clamping,
    }
    /// The first operand, `u32` \[c\], less the noise estimate that is the second, but not less than a share of itself.
    SubtractNoise "subtract_noise" (2) {
        /// The share.
        min_signal_remaining,
        /// Bits of fraction of the estimate.
        smoothing_bits,
        /// Bits of fraction of the share.
        bits,
    }
    /// Automatic gain control: `u32` \[c\] times the gain that belongs to the noise estimate (`u32` \[c\]), which a table of `i16` \[125\] gives by parabolas, then compressed to 6 bits of fraction.
    Pcan "pcan" (3) {
        /// Bits that the product is shifted right, so that 12 bits of fraction are left.
        snr_shift,
    }
    /// The natural logarithm of `u32`: `i16`, not above its range, and 0 for less than 2.
    Log "log" (1) {
        /// By how much the result is multiplied.
        scale,
        /// Bits that the operand is shifted left before.
        correction_bits,
    }
    /// Frames \[…, f, n\] added one after the other to what overlaps with them (`i16`, saturating each time, or floats); the second operand, \[…, n − step\], is what earlier frames left. The result has
    /// \[…, f·step + n − step\] numbers, of which the last n − step are left for later frames.
    OverlapAdd "overlap_add" (2) {
        /// From one frame to the next.
        step,
    }
}

/// Elements of the table of gains: a parabola for each number of bits, and two numbers in front.
const GAINS: usize = 125;
/// The longest transform. TensorFlow Lite Micro has no limit; this one keeps sizes within bounds.
const LONGEST: usize = 1 << 16;

/// Whether a number is twice a product of 2, 3 and 5.
fn is_even_and_smooth(length: usize) -> bool {
    let mut left = length / 2;
    for factor in [2, 3, 5] {
        while left > 1 && left % factor == 0 {
            left /= factor;
        }
    }
    length % 2 == 0 && left == 1
}

/// Returns an error unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

impl Signal {
    /// The element and the shape of the result.
    ///
    /// # Errors
    /// What does not fit: a parameter, or an operand's element or shape.
    pub fn result(self, operands: &[&Type]) -> Result<Type, String> {
        let wanted = self.operands();
        ensure!(operands.len() == wanted, "{} operands, {wanted} wanted", operands.len());
        self.check_parameters()?;
        let elements: Vec<DType> = operands.iter().map(|ty| ty.dtype).collect();
        let dtype = self.element(&elements)?;
        let dims: Vec<&[usize]> = operands.iter().map(|ty| ty.shape.dims()).collect();
        Ok(Type { dtype, shape: Shape(self.shape(&dims)?), quant: None })
    }

    fn check_parameters(self) -> Result<(), String> {
        let shift = |what: &str, bits: i64| {
            ensure!((0..32).contains(&bits), "{what} is {bits}, 0 to 31 wanted");
            Ok(())
        };
        let number = |what: &str, x: i64| {
            ensure!((0..=i64::from(i32::MAX)).contains(&x), "{what} is {x}");
            Ok(())
        };
        match self {
            Signal::Window { shift: by } | Signal::Pcan { snr_shift: by } => shift("the shift", by),
            Signal::NoiseEstimate {
                smoothing,
                one_minus_smoothing,
                alternate_smoothing,
                alternate_one_minus_smoothing,
                smoothing_bits,
                bits,
                clamping,
            } => {
                let weights =
                    [smoothing, one_minus_smoothing, alternate_smoothing, alternate_one_minus_smoothing];
                weights.iter().try_for_each(|&w| number("a weight of the smoothing", w))?;
                shift("the number of bits of estimates", smoothing_bits)?;
                shift("the number of bits of weights", bits)?;
                ensure!(matches!(clamping, 0 | 1), "the clamping is {clamping}");
                Ok(())
            }
            Signal::SubtractNoise { min_signal_remaining, smoothing_bits, bits } => {
                number("the share that remains", min_signal_remaining)?;
                shift("the number of bits of estimates", smoothing_bits)?;
                shift("the number of bits of the share", bits)
            }
            Signal::Log { scale, correction_bits } => {
                number("the scale", scale)?;
                shift("the number of correction bits", correction_bits)
            }
            Signal::Rfft { length } | Signal::Irfft { length } => {
                let length = usize::try_from(length).ok();
                let fits = length.is_some_and(|n| (4..=LONGEST).contains(&n) && n.is_power_of_two());
                ensure!(fits, "the length of the transform is no power of two from 4 to {LONGEST}");
                Ok(())
            }
            Signal::BlockRfft { length } => {
                let length = usize::try_from(length).ok();
                let fits = length.is_some_and(|n| (4..=LONGEST).contains(&n) && is_even_and_smooth(n));
                ensure!(
                    fits,
                    "the length of the transform is no even product of 2, 3 and 5 from 4 to {LONGEST}"
                );
                Ok(())
            }
            Signal::Headroom {}
            | Signal::ShiftLeft {}
            | Signal::BlockWindow {}
            | Signal::Energy { .. }
            | Signal::FilterBank {}
            | Signal::SquareRoot {}
            | Signal::OverlapAdd { .. } => Ok(()),
        }
    }

    /// The element of the result.
    fn element(self, given: &[DType]) -> Result<DType, String> {
        use DType::{F32, I16, I32, I64};
        let x = given.first().copied().unwrap_or(F32);
        let (wanted, result): (&[DType], DType) = match self {
            Signal::Window { .. } => (&[I16, I16], I16),
            Signal::Headroom {} => (&[I16], I32),
            Signal::ShiftLeft {} => (&[I16, I32], I16),
            Signal::Rfft { .. } | Signal::Irfft { .. } => {
                ensure!(matches!(x, F32 | I16 | I32), "a transform of {}", x.name());
                (&[x], x)
            }
            Signal::BlockWindow {} => {
                ensure!(matches!(x, I16 | I32), "a window of {}", x.name());
                (&[x, I16], I16)
            }
            Signal::BlockRfft { .. } => (&[I16], I16),
            Signal::Energy { .. } => (&[I16], I32),
            Signal::FilterBank {} => (&[I32, I16, I16, I16, I16, I16], I64),
            Signal::SquareRoot {} => (&[I64, I32], I32),
            Signal::NoiseEstimate { .. } | Signal::SubtractNoise { .. } => (&[I32, I32], I32),
            Signal::Pcan { .. } => (&[I32, I32, I16], I32),
            Signal::Log { .. } => (&[I32], I16),
            Signal::OverlapAdd { .. } => {
                ensure!(matches!(x, F32 | I16), "frames of {}", x.name());
                (&[x, x], x)
            }
        };
        ensure!(given == wanted, "operands of {given:?}, {wanted:?} wanted");
        Ok(result)
    }

    /// The shape of the result.
    fn shape(self, dims: &[&[usize]]) -> Result<Vec<usize>, String> {
        let of = |k: usize| dims.get(k).copied().unwrap_or(&[]);
        let x = of(0);
        let split = || {
            let parts = x.split_last().map(|(&last, outer)| (last, outer));
            parts.ok_or_else(|| "a scalar has no last axis".to_string())
        };
        // Parameters have been looked at: sizes are small.
        let size = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
        match self {
            Signal::Window { .. } => {
                ensure!(x.last() == of(1).last() && of(1).len() == 1, "a window of {:?} for {x:?}", of(1));
                Ok(x.to_vec())
            }
            Signal::Headroom {} => Ok(Vec::new()),
            Signal::ShiftLeft {} | Signal::SquareRoot {} => {
                ensure!(of(1).is_empty(), "a shift of the shape {:?}", of(1));
                Ok(x.to_vec())
            }
            Signal::Rfft { length } => {
                let ((last, outer), length) = (split()?, size(length));
                ensure!(last <= length, "{last} numbers in a transform of {length}");
                Ok([outer, &[length + 2]].concat())
            }
            Signal::BlockWindow {} => {
                ensure!(x.last() == of(1).last() && of(1).len() == 1, "a window of {:?} for {x:?}", of(1));
                let (last, outer) = split()?;
                Ok([outer, &[last + 1]].concat())
            }
            Signal::BlockRfft { length } => {
                let ((last, outer), length) = (split()?, size(length));
                let fits = (1..=length + 1).contains(&last);
                ensure!(fits, "a block of {last} elements in a transform of {length}");
                Ok([outer, &[length + 3]].concat())
            }
            Signal::Irfft { length } => {
                let ((last, outer), length) = (split()?, size(length));
                ensure!(last == length + 2, "{last} numbers, {} wanted", length + 2);
                Ok([outer, &[length]].concat())
            }
            Signal::Energy { start, end } => {
                let (last, outer) = split()?;
                ensure!(outer.is_empty() && last > 1, "complex numbers of the shape {x:?}");
                let bins = last / 2;
                let within = 0 <= start && start <= end && size(end) <= bins;
                ensure!(within, "energies {start} to {end} of {bins}");
                Ok(vec![bins])
            }
            Signal::FilterBank {} => {
                let (weights, channels) = (of(1), of(5));
                let alike = weights.len() == 1 && weights == of(2) && x.len() == 1;
                ensure!(alike, "weights of {weights:?} and {:?} for {x:?}", of(2));
                let fit = channels.len() == 1 && of(3) == channels && of(4) == channels && channels[0] >= 2;
                ensure!(fit, "channels of {:?}, {:?} and {channels:?}", of(3), of(4));
                Ok(vec![channels[0] - 1])
            }
            Signal::NoiseEstimate { .. } | Signal::SubtractNoise { .. } => {
                ensure!(of(1) == x && x.len() == 1, "{x:?} with an estimate of {:?}", of(1));
                Ok(x.to_vec())
            }
            Signal::Pcan { .. } => {
                ensure!(of(1) == x && x.len() == 1, "{x:?} with an estimate of {:?}", of(1));
                ensure!(of(2) == [GAINS], "gains of the shape {:?}, [{GAINS}] wanted", of(2));
                Ok(x.to_vec())
            }
            Signal::Log { .. } => Ok(x.to_vec()),
            Signal::OverlapAdd { step } => {
                let &[ref outer @ .., frames, length] = x else { return Err(format!("no frames in {x:?}")) };
                let step = size(step);
                ensure!((1..length).contains(&step), "frames of {length}, each {step} behind the one before");
                let left = [outer, &[length - step]].concat();
                ensure!(of(1) == left, "what is left of earlier frames: {:?}, {left:?} wanted", of(1));
                let sum = frames.checked_mul(step).and_then(|n| n.checked_add(length - step));
                Ok([outer, &[sum.ok_or("the result is too large")?]].concat())
            }
        }
    }
}
