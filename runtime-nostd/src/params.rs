//! Parameters of the kernels, as the compiler emits them.

/// A real factor of integer arithmetic: `multiplier · 2^(shift − 31)`.
///
/// Applied as TFLite Micro's `MultiplyByQuantizedMultiplier` does: shift left by `max(shift, 0)`, saturating rounding doubling
/// high multiply, rounding division by a power of two with ties away from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scale {
    /// Mantissa in Q0.31, not negative.
    pub multiplier: i32,
    /// Power of two, −31..=30.
    pub shift: i32,
}

/// An LSTM of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Lstm<'a> {
    /// Elements of the input in each step.
    pub inputs: usize,
    /// Units.
    pub units: usize,
    /// Mantissas of eleven factors: of the inputs' sums of each gate (input, forget, cell, output), of the sums over the outputs before, of forget gate times cell state and of input gate times
    /// cell gate to the cell state, and of the output.
    pub multipliers: &'a [i32],
    /// Their powers of two.
    pub shifts: &'a [i8],
    /// Stored value of 0 in the output.
    pub zero_point: i32,
    /// Fraction bits that the cell state lacks to twelve; negative if it has more.
    pub tanh_shift: i32,
    /// Smallest cell state.
    pub lo: i32,
    /// Largest cell state.
    pub hi: i32,
}

/// How all sums of a layer become results: times one factor, plus `zero_point`, clamped to `lo..=hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rescale {
    /// The factor.
    pub by: Scale,
    /// Stored value of 0 in the result.
    pub zero_point: i32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// How accumulators of output channels become results: rescale, add `zero_point`, clamp to `lo..=hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Requant<'a> {
    /// [`Scale::multiplier`] of each output channel, or one for all.
    pub multipliers: &'a [i32],
    /// [`Scale::shift`] of each output channel, or one for all.
    pub shifts: &'a [i8],
    /// Zero point of the result.
    pub zero_point: i32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// How accumulators of output channels become results in ONNX Runtime's arithmetic: as a float times the channel's factor, rounded half to even, plus `zero_point`,
/// clamped to `lo..=hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FloatRequant<'a> {
    /// Factor of each output channel, or one for all.
    pub factors: &'a [f32],
    /// Zero point of the result.
    pub zero_point: i32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// A layer with `i8` weights and float results, whose operand is quantised as it comes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DynamicLayer<'a> {
    /// Scale of the weights of each output channel, or one for all.
    pub scales: &'a [f32],
    /// Sum of the weights of each output channel.
    pub sums: &'a [i32],
    /// Bias of each output channel.
    pub bias: &'a [f32],
    /// Smallest result.
    pub lo: f32,
    /// Largest result.
    pub hi: f32,
}

/// Weights of a float layer that flash holds as integers. A weight is `scale · (integer − zero point)`, rounded once.
///
/// The weights of one filter after the other are counted as \[out_c\]\[k_h\]\[k_w\]\[in_c / groups\]. So many of them that lie side by side have one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScaledWeights<'a> {
    /// The integers, in the order of the kernel for floats: two's complement of 8 bits, or of 4 bits, two to a byte, the first in the low half.
    pub ints: &'a [i8],
    /// Scale of each group.
    pub scales: &'a [f32],
    /// Zero point of each group; empty where all are 0.
    pub zero_points: &'a [i8],
    /// Weights of a group: a part of a filter, a filter, or all.
    pub group: usize,
}

/// Filters that are cosines and sines of whole frequencies of a transform of `length` numbers, times one window.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Waves<'a> {
    /// Length of the transform: an even number, at least 4.
    pub length: usize,
    /// Half of a factor for each tap, of which there are no more than the length.
    pub window: &'a [f32],
    /// What each filter's result is: 2·k the real part of frequency k, 2·k + 1 the imaginary part, −1 − v the opposite of v.
    pub parts: &'a [i16],
    /// Where each two of the numbers come before the first butterflies: an index of a complex number.
    pub places: &'a [u16],
    /// The radices of the butterflies, one after the other: 2, 3, 4 or 5. Their product is `length` / 2.
    pub radices: &'a [u8],
    /// The factors of all butterflies but the first: e^(−2πi·k·q / (w·r)) for radix r and the product w of the radices before it, with k from 0 to w − 1, and q from 1 to r − 1. Real and imaginary parts.
    pub twiddles: &'a [f32],
    /// As [`rfft_f32`](crate::kernels::rfft_f32) has them.
    pub halves: &'a [f32],
}

/// A two-dimensional convolution of one image.
///
/// Tap `(ky, kx)` of result `(oy, ox)` is the pixel `(oy · stride_h − pad_top + ky · dilation_h, …)`; outside the image it reads as
/// the kernel's `pad` value (0 in float kernels).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Conv {
    /// Rows of the operand.
    pub in_h: usize,
    /// Columns of the operand.
    pub in_w: usize,
    /// Channels of the operand.
    pub in_c: usize,
    /// Columns of the result.
    pub out_w: usize,
    /// Channels of the result.
    pub out_c: usize,
    /// Rows of the filter.
    pub k_h: usize,
    /// Columns of the filter.
    pub k_w: usize,
    /// Rows from one result to the next.
    pub stride_h: usize,
    /// Columns from one result to the next.
    pub stride_w: usize,
    /// Rows from one tap to the next.
    pub dilation_h: usize,
    /// Columns from one tap to the next.
    pub dilation_w: usize,
    /// Rows of padding above the operand.
    pub pad_top: usize,
    /// Columns of padding left of the operand.
    pub pad_left: usize,
    /// Groups of channels; divides `in_c` and `out_c`. Depthwise kernels take it to be `in_c`.
    pub groups: usize,
}

/// A convolution of several images with weights that are no constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ComputedConv {
    /// Its sizes.
    pub conv: Conv,
    /// Images.
    pub images: usize,
    /// Rows of each result.
    pub out_h: usize,
    /// Stored value of 0 in the operand, of integers.
    pub x_zero: i32,
    /// Stored value of 0 in the weights, of integers.
    pub w_zero: i32,
}

/// A convolution for the kernels that one function serves all layers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CompactConv<'a> {
    /// Its sizes.
    pub conv: Conv,
    /// Weights, and what requantises, in the kernel's order.
    pub weights: &'a [i32],
    /// What padding reads as.
    pub pad: i8,
    /// The last shift of a sum, at most 23.
    pub shift: u32,
    /// Whether negative sums are corrected.
    pub signed: bool,
    /// Pixels of the result whose taps fit the work space, at least one.
    pub pixels: usize,
}

/// A product of a matrix and a vector, for the kernel that one function serves all layers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CompactDense<'a> {
    /// Weights, and what requantises, in the kernel's order.
    pub weights: &'a [i32],
    /// The last shift of a sum, at most 23.
    pub shift: u32,
    /// Whether negative sums are corrected.
    pub signed: bool,
}

/// How a sum becomes an integer, in kernels in vectors. Floats are `f32`; each operation rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Rounding {
    /// `sum · first + second`, rounded half to even: the zero point is in `second`.
    Nearest,
    /// `sum · first`, plus `second` with the sign of the sum, without its fraction.
    Away,
    /// `sum · first`, rounded half to even: ONNX Runtime's arithmetic.
    Even,
    /// As [`Scale`] with `first` for multiplier and −1 − `second` for shift, both integers: the reference's arithmetic where no floats are proven.
    Twice,
}

/// Filters of integers for kernels in vectors, in blocks of sixteen.
///
/// Of each block: the first values of sixteen sums where operands are 128 more than stored (bias less 128 · Σ w) and where they are what is stored, then the first and the second
/// constants of [`Rounding`], as 32-bit words; then weights as bytes, in the order that the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FilterBlocks<'a> {
    /// The blocks, one behind the other. The last one is completed by zeros.
    pub blocks: &'a [i8],
    /// How sums become integers.
    pub rounding: Rounding,
    /// Added to them.
    pub zero_point: i32,
    /// Smallest result, at least −128.
    pub lo: i32,
    /// Largest result, at most 127.
    pub hi: i32,
}

/// Where a kernel writes the pixels and channels of a row of its result, in elements: `out_c` and 1 channel-last, 1 and `out_w` planar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Stride {
    /// From one pixel to the next.
    pub pixel: usize,
    /// From one channel to the next.
    pub channel: usize,
}

/// Pooling of one image. Taps outside of the image do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pool {
    /// Rows of the operand.
    pub in_h: usize,
    /// Columns of the operand.
    pub in_w: usize,
    /// Channels.
    pub c: usize,
    /// Columns of the result.
    pub out_w: usize,
    /// Rows of the window.
    pub k_h: usize,
    /// Columns of the window.
    pub k_w: usize,
    /// Rows from one result to the next.
    pub stride_h: usize,
    /// Columns from one result to the next.
    pub stride_w: usize,
    /// Rows of padding above the operand.
    pub pad_top: usize,
    /// Columns of padding left of the operand.
    pub pad_left: usize,
}

/// Shapes of an elementwise operation with two operands: the result is contiguous, the operands are read through strides.
///
/// Right-aligned: missing outer dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Broadcast {
    /// Dimensions of the result.
    pub dims: [usize; 6],
    /// Elements from one index to the next in the first operand; 0 where it is repeated.
    pub a: [usize; 6],
    /// The same of the second operand.
    pub b: [usize; 6],
}

/// Integer sum or difference: both operands are shifted left and rescaled to a common scale, the result is rescaled once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AddParams {
    /// Bits of headroom: 20 for 8-bit operands.
    pub left_shift: u32,
    /// Zero point of the first operand.
    pub x_zero: i32,
    /// Factor of the first operand.
    pub x: Scale,
    /// Zero point of the second operand.
    pub y_zero: i32,
    /// Factor of the second operand.
    pub y: Scale,
    /// Zero point of the result.
    pub out_zero: i32,
    /// Factor of the sum.
    pub out: Scale,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// Integer sum in one pass: `clamp((start + (256·a·x >> 16) + (256·b·y >> 16)) >> shift, −128, 127)`, modulo 2³², with a shift that the kernel knows.
///
/// The compiler fits it to an [`AddParams`] and compares all pairs of operands. On cores without DSP the products are `a·x` and `b·y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AddLinear {
    /// Factor of the first operand.
    pub x: i32,
    /// Factor of the second operand; negative in differences.
    pub y: i32,
    /// What zero points add, and half a step of the result.
    pub start: i32,
}

/// Integer product: `(x − x_zero) · (y − y_zero)`, rescaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MulParams {
    /// Zero point of the first operand.
    pub x_zero: i32,
    /// Zero point of the second operand.
    pub y_zero: i32,
    /// Zero point of the result.
    pub out_zero: i32,
    /// Factor of the product.
    pub out: Scale,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// Integer sum in floats: `(constant + (a + offset)·x) + (b + offset)·y`, rounded half to even, less `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AddFloat {
    /// Factor of the first operand.
    pub x: f32,
    /// Factor of the second operand.
    pub y: f32,
    /// What zero points add.
    pub constant: f32,
    /// 128 where stored values were unsigned, else 0.
    pub offset: i32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// Integer product: `(x − x_zero) · (y − y_zero)`, as a float times `by`, plus `plus`, rounded half to even, less `minus`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MulFloat {
    /// Zero point of the first operand.
    pub x_zero: i32,
    /// Zero point of the second operand.
    pub y_zero: i32,
    /// Factor of the product.
    pub by: f32,
    /// What is added before the rounding.
    pub plus: f32,
    /// What is subtracted behind it.
    pub minus: i32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// Kept and reduced axes of an operand. The result holds one element per index of the kept axes, contiguous, in their order.
///
/// Right-aligned: missing outer dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reduce {
    /// Dimensions of the kept axes.
    pub outer: [usize; 6],
    /// Their strides in the operand, in elements.
    pub outer_strides: [usize; 6],
    /// Dimensions of the reduced axes.
    pub inner: [usize; 6],
    /// Their strides in the operand, in elements.
    pub inner_strides: [usize; 6],
}

/// Mean over all rows and columns of an `i8` image, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MeanRows {
    /// Rows of the operand.
    pub rows: usize,
    /// Zero point of the operand.
    pub x_zero: i32,
    /// Factor of a sum; contains 1 / number of pixels.
    pub scale: Scale,
    /// Zero point of the result.
    pub out_zero: i32,
}

/// Mean from the sum of stored values, from −32768 to 32767: `clamp((start + (factor·sum >> 16)) >> SHIFT, −128, 127)`.
///
/// The compiler fits it to what the mean is defined as, and compares all sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MeanLinear {
    /// Factor of a sum, in units of 2^−30.
    pub factor: i32,
    /// What zero points add, and half a step of the result.
    pub start: i32,
}

impl MeanLinear {
    /// Bits behind the point of `start`.
    pub const SHIFT: u32 = 14;

    /// The result of a sum.
    #[inline(always)]
    pub const fn apply(&self, sum: i32) -> i8 {
        let part = ((self.factor as i64 * sum as i64) >> 16) as i32;
        let mean = self.start.wrapping_add(part) >> Self::SHIFT;
        if mean > 127 {
            127
        } else if mean < -128 {
            -128
        } else {
            mean as i8
        }
    }
}

/// Quantisation by multiplication with 1 / `scale`, as a sum of two floats.
///
/// The compiler compares all steps of the result: `x·high + (x·low)`, the parentheses and the whole rounded to `f32`, steps from one stored value to the next
/// where `x / scale` does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantizeLinear {
    /// The greater part of 1 / `scale`.
    pub high: f32,
    /// The rest: positive, so that infinity remains what it is.
    pub low: f32,
    /// Step of the stored value.
    pub scale: f32,
    /// Zero point of the stored value.
    pub zero_point: i32,
}

/// Padding of an image, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pad {
    /// Rows of the result before the operand's first.
    pub before: usize,
    /// Rows of the operand.
    pub rows: usize,
    /// From a row of the operand to its place in a row of the result.
    pub row: Copy,
}

/// Shapes of a choice between two operands: the result is contiguous, condition and operands are read through strides.
///
/// Right-aligned: missing outer dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Choice {
    /// Dimensions of the result.
    pub dims: [usize; 6],
    /// Elements from one index to the next in the condition; 0 where it is repeated.
    pub c: [usize; 6],
    /// The same of the first operand.
    pub a: [usize; 6],
    /// The same of the second operand.
    pub b: [usize; 6],
}

/// How integers of two scales come to a common one: each `(x − zero) · 2^left_shift` is rescaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CompareParams {
    /// Bits of headroom.
    pub left_shift: u32,
    /// Zero point of the first operand.
    pub x_zero: i32,
    /// Factor of the first operand.
    pub x: Scale,
    /// Zero point of the second operand.
    pub y_zero: i32,
    /// Factor of the second operand.
    pub y: Scale,
}

/// An axis of an operand, between those in front of it and those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Along {
    /// Elements of the axes in front.
    pub outer: usize,
    /// Elements of the axis.
    pub len: usize,
    /// Elements of the axes behind.
    pub inner: usize,
}

/// Parts of an operand \[batch, between, axes…, inner\] that indices \[batch, count, depth\] name: the result is \[batch, between, count, inner\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gather {
    /// Axes that operand and indices share, as one.
    pub batch: usize,
    /// Axes of the operand between those and the indexed ones, as one.
    pub between: usize,
    /// Sizes of the indexed axes, the first ones of these.
    pub axes: [usize; 6],
    /// How many these are.
    pub depth: usize,
    /// How many parts are named, for each index of `batch`.
    pub count: usize,
    /// Elements of a part.
    pub inner: usize,
}

/// Products of matrices \[m, k\] with the transposes of matrices \[n, k\].
///
/// Right-aligned: missing outer dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MatMul {
    /// How many products, along each axis in front.
    pub dims: [usize; 6],
    /// Elements from one matrix to the next in the first operand; 0 where it is repeated.
    pub a: [usize; 6],
    /// The same of the second operand.
    pub b: [usize; 6],
    /// Rows of the first operand, and of the result.
    pub m: usize,
    /// Rows of the second operand, columns of the result.
    pub n: usize,
    /// Columns of both operands.
    pub k: usize,
}

/// Integer parameters of a logarithm of a softmax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LogSoftmax {
    /// From differences of stored values to Q5.26.
    pub diff: Scale,
    /// The smallest difference whose exponential counts.
    pub diff_min: i32,
    /// From Q5.26 back to differences.
    pub divisor: Scale,
}

/// Images and the size they get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Resize {
    /// How many.
    pub images: usize,
    /// Rows of the operand.
    pub in_h: usize,
    /// Columns of the operand.
    pub in_w: usize,
    /// Channels.
    pub c: usize,
    /// Rows of the result.
    pub out_h: usize,
    /// Columns of the result.
    pub out_w: usize,
}

/// How an estimate of noise follows a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Noise {
    /// Weights of the signal and of the estimate before, in channels of even index.
    pub even: [u32; 2],
    /// The same in channels of odd index.
    pub odd: [u32; 2],
    /// Bits of fraction of estimates; less than 32.
    pub smoothing_bits: u32,
    /// Bits of fraction of the weights; less than 32.
    pub bits: u32,
    /// Whether the estimate never exceeds the signal.
    pub clamping: bool,
}

/// How much is left of a signal, whatever the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoiseFloor {
    /// The share.
    pub min_signal_remaining: u32,
    /// Bits of fraction of estimates of noise; less than 32.
    pub smoothing_bits: u32,
    /// Bits of fraction of the share; less than 32.
    pub bits: u32,
}

/// A movement of elements: index `i` goes from `src_offset + Σ i·src` to `dst_offset + Σ i·dst`, all in elements.
///
/// Right-aligned: missing outer dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Copy {
    /// How many elements, along each axis.
    pub dims: [usize; 6],
    /// Strides of the source; negative where an axis is reversed.
    pub src: [isize; 6],
    /// First element of the source.
    pub src_offset: usize,
    /// Strides of the destination.
    pub dst: [usize; 6],
    /// First element of the destination.
    pub dst_offset: usize,
}

impl Copy {
    /// `len` consecutive elements.
    pub const fn linear(len: usize) -> Self {
        let (dims, src, dst) = ([1, 1, 1, 1, 1, len], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1]);
        Copy { dims, src, src_offset: 0, dst, dst_offset: 0 }
    }
}
