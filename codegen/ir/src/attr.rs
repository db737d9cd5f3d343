//! The types of op attributes.

use super::text::{Lexer, ParseError};

/// An attribute type: it has a textual form, which reads back as the same value.
pub trait Attr: Sized + PartialEq {
    /// Appends the textual form.
    fn print(&self, out: &mut String);
    /// Reads the textual form.
    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError>;
    /// The value that an attribute has where the text leaves it out; `None` if it is always written.
    fn implied() -> Option<Self> {
        None
    }
}

/// A float compared and hashed by its bits.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f32);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl std::hash::Hash for Real {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The real factor `value · 2^(shift − 31)`, applied with TFLite's double rounding: shift left by `max(shift, 0)`
/// (wrapping), saturating rounding doubling high multiply by `value` (gemmlowp), then rounding (half away from zero)
/// division by `2^max(−shift, 0)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiplier {
    /// Mantissa in Q0.31: 2³⁰ ≤ value < 2³¹, or 0 for the factor 0 (reductions may store smaller ones, layers with filters down to 2²⁹).
    pub value: i32,
    /// Power of two, −31..=30.
    pub shift: i32,
}

/// How an accumulator becomes the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rescale {
    /// Floats: nothing to do.
    Real,
    /// Integers: one multiplier for the tensor, or one per output channel (the result's last axis).
    FixedPoint(Vec<Multiplier>),
    /// As `FixedPoint`, but the product is rounded once, half away from zero, where that rounds to 31 bits of the mantissa and then to the result.
    Once(Vec<Multiplier>),
    /// The integer sum as a float (rounded to even where it has more than 24 bits), times the factor in `f32`, rounded half to even, plus the zero point: what ONNX Runtime's kernels
    /// do. One factor for the tensor, or one per output channel.
    Float(Vec<Real>),
    /// As `Float` with one factor, but the zero point is added in `f32`, before the rounding. For products of two operands.
    FloatSum {
        /// The factor.
        by: Real,
        /// What is added: the result's zero point, with the offset of stored values that were unsigned (128). It is subtracted again from what is rounded.
        plus: i32,
    },
}

/// How a float becomes a stored integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// x / scale rounded half away from zero, plus the zero point: TFLite's.
    Away,
    /// x / scale rounded half to even, plus the zero point: ONNX's.
    Even,
    /// x · (1 / scale) rounded half to even, plus the zero point: PyTorch's. The inverse of the scale is an `f32`.
    EvenInverse,
    /// x / scale plus this number in `f32`, rounded half to even; then the difference to the zero point is subtracted. What ONNX Runtime's poolings do; the number is the zero point, with the offset of stored
    /// values that were unsigned (128).
    EvenSum(i32),
}

/// How the two operands of an integer ADD or SUB come to the result's scale: each (x − zx) is shifted left by
/// `left_shift` and multiplied; the sum (or difference) is multiplied by `out`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AddRescale {
    /// Floats: nothing to do.
    Real,
    /// Integers.
    FixedPoint {
        /// Bits of headroom: 20 for 8-bit, 15 for 16-bit operands.
        left_shift: u32,
        /// Of the first operand.
        x: Multiplier,
        /// Of the second operand.
        y: Multiplier,
        /// Of the sum.
        out: Multiplier,
    },
    /// Integers, in `f32` as ONNX Runtime's kernels compute it: `(constant + (x + offset)·x_factor) + (y + offset)·y_factor` rounded half to even, less `offset`.
    Float {
        /// Factor of the first operand.
        x: Real,
        /// Factor of the second operand.
        y: Real,
        /// What is added: the zero points.
        constant: Real,
        /// 128 where stored values were unsigned, else 0.
        offset: i32,
    },
}

/// Factors of a leaky ReLU, for x ≥ zx and below.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LeakyRescale {
    /// Floats: the slope alone counts.
    Real,
    /// Integers.
    FixedPoint {
        /// For values not below the zero point.
        identity: Multiplier,
        /// For values below the zero point.
        alpha: Multiplier,
    },
}

/// Parameters of an integer softmax (gemmlowp fixed point): differences to the row's largest element, times
/// `multiplier`, are Q5.26 arguments of the exponential; differences below `diff_min` count as −∞.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SoftmaxScale {
    /// Floats.
    Real,
    /// Integers.
    FixedPoint {
        /// β · input scale, scaled to Q5.26; its shift is not negative.
        multiplier: Multiplier,
        /// Smallest difference that still counts (not positive).
        diff_min: i32,
    },
}

/// How the operands of a comparison come to a common scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CompareRescale {
    /// Stored values are compared as they are.
    Stored,
    /// Each (x − zx) is shifted left by `left_shift` and multiplied.
    FixedPoint {
        /// Bits of headroom.
        left_shift: u32,
        /// Of the first operand.
        x: Multiplier,
        /// Of the second operand.
        y: Multiplier,
    },
}

/// The range a result is clamped to: the element type's own range, or an activation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// Of an integer result, in stored values.
    Int {
        /// Smallest.
        lo: i32,
        /// Largest.
        hi: i32,
    },
    /// Of a float result; infinite where there is no bound, the largest number where infinite results become that.
    Float {
        /// Smallest.
        lo: Real,
        /// Largest.
        hi: Real,
    },
}

impl Clamp {
    /// No activation on an `i8` result.
    pub const I8: Clamp = Clamp::Int { lo: -128, hi: 127 };
    /// No activation on a float result.
    pub const NO_FLOAT: Clamp = Clamp::Float { lo: Real(f32::NEG_INFINITY), hi: Real(f32::INFINITY) };

    /// Whether every finite float is within: infinite ones may become the largest number.
    pub fn holds_finite(&self) -> bool {
        matches!(*self, Clamp::Float { lo, hi } if lo.0 <= f32::MIN && hi.0 >= f32::MAX)
    }

    /// The integer bounds; the full `i32` range for floats.
    pub fn int_bounds(&self) -> (i32, i32) {
        match *self {
            Clamp::Int { lo, hi } => (lo, hi),
            Clamp::Float { .. } => (i32::MIN, i32::MAX),
        }
    }

    /// The float bounds; infinite for integers.
    pub fn float_bounds(&self) -> (f32, f32) {
        match *self {
            Clamp::Float { lo, hi } => (lo.0, hi.0),
            Clamp::Int { .. } => (f32::NEG_INFINITY, f32::INFINITY),
        }
    }
}

/// Rows and columns added around an image. They hold the zero point (0 for floats) and are never counted by pooling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Padding {
    /// Rows above.
    pub top: usize,
    /// Rows below.
    pub bottom: usize,
    /// Columns to the left.
    pub left: usize,
    /// Columns to the right.
    pub right: usize,
}

/// A two-dimensional sliding window, `[height, width]`.
///
/// Output size along an axis: `(in + pad − ((size − 1)·dilation + 1)) / stride + 1`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Taps.
    pub size: [usize; 2],
    /// Step between outputs, at least 1.
    pub stride: [usize; 2],
    /// Step between taps, at least 1.
    pub dilation: [usize; 2],
    /// Padding.
    pub pad: Padding,
}

impl Window {
    /// Output height and width for an input of that size, or `None` where the window does not fit.
    pub fn output(&self, input: [usize; 2]) -> Option<[usize; 2]> {
        let pad = [self.pad.top.checked_add(self.pad.bottom)?, self.pad.left.checked_add(self.pad.right)?];
        let mut out = [0; 2];
        for axis in 0..2 {
            let reach = self.size[axis].checked_sub(1)?.checked_mul(self.dilation[axis])?.checked_add(1)?;
            let room = input[axis].checked_add(pad[axis])?.checked_sub(reach)?;
            out[axis] = room.checked_div(self.stride[axis])? + 1;
        }
        Some(out)
    }

    /// Whether each output's window holds something of an input of that size, and not padding alone (without dilation).
    pub fn meets(&self, input: [usize; 2]) -> bool {
        let Some(out) = self.output(input) else { return false };
        let before = [self.pad.top, self.pad.left];
        // The first window ends inside the image, the last begins there.
        (0..2).all(|axis| {
            let last = (out[axis] - 1) * self.stride[axis];
            before[axis] < self.size[axis] && last < input[axis] + before[axis]
        })
    }
}
