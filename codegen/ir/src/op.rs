//! The op table. Everything that must know all ops (the textual form, the documentation, the coverage
//! matrix) derives from it, and so do the verifier's rules and the scheduler's geometry; what an op computes is defined by [`interp`](../kiln_interp/index.html).

use super::property::{Facts, Rows};
use super::rules::{obey, shapes, types, Checked};
use super::table::op_table;
use super::text::{self, Lexer, ParseError};
use super::{
    AddRescale, Attr, Binary, Clamp, CompareRescale, Comparison, DType, Layout, LeakyRescale, Multiplier,
    Reduction, Rescale, Rounding, Signal, SoftmaxScale, Type, Unary, Window,
};
use std::any::Any;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// Its variant of [`Op`].
    pub variant: &'static str,
    /// Name in the textual form.
    pub name: &'static str,
    /// Smallest and largest number of operands.
    pub operands: (usize, usize),
    /// What it computes.
    pub doc: &'static str,
}

/// Floats that describe a row: see `dynamic_scale` in the op table.
pub const DYNAMIC_ROW: usize = 3;

op_table! {
    /// Convolution of `x` \[n, h, w, c\] with `weights` \[o, kh, kw, c / groups\] and an optional `bias` \[o\]:
    /// acc = Σ (x − zx)·(w − zw) + bias, rescaled, plus the result's zero point, clamped. Output channel `o` reads the
    /// input channels of group `o / (O / groups)`; a depthwise convolution has groups = c. The layout says in which order the axes
    /// of `x` and of the result are stored. A bias of `i64` makes sums of 64 bits, of which each is rescaled by the upper 16 bits of the mantissa, rounded once.
    Conv2d "conv2d" (2..=3) {
        /// The sliding window; its size equals the weights' kh, kw.
        window: Window,
        /// Channel groups; divides c and o.
        groups: usize,
        /// Accumulator to result.
        rescale: Rescale,
        /// Fused activation.
        clamp: Clamp,
        /// Orders of `x` and the result; channel-last if left out.
        layout: Layout,
    } where {
        shapes: |o, y| shapes::conv2d(window, *groups, *layout, o, y),
        types: |o, y| types::layer(&[DType::I8, DType::I16], rescale, clamp, o, y),
        rows: Rows::Window(window),
        filters: Some(1),
    }
    /// Convolution with `weights` or a `bias` that are computed while the model runs: `x` \[n, h, w, c\], `weights` \[o, kh, kw, c / groups\] and `bias` \[o\], arithmetic as of
    /// `conv2d`. A matrix product is one of a point, over an image one pixel wide; only there sums of `i8` may be rounded once.
    ComputedConv2d "computed_conv2d" (3..=3) {
        /// The sliding window; its size equals the weights' kh, kw.
        window: Window,
        /// Channel groups; divides c and o.
        groups: usize,
        /// Accumulator to result.
        rescale: Rescale,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: |o, y| shapes::conv2d(window, *groups, Layout::default(), o, y),
        types: |o, y| types::layer(&[DType::I8], rescale, clamp, o, y),
        filters: Some(1),
    }
    /// Matrix product of `x` \[…, k\] with `weights` \[n, k\] and an optional `bias` \[n\]: result \[…, n\], same arithmetic as `conv2d`.
    Dense "dense" (2..=3) {
        /// Accumulator to result.
        rescale: Rescale,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: shapes::dense,
        types: |o, y| types::layer(&[DType::I8, DType::I16], rescale, clamp, o, y),
        filters: Some(1),
    }
    /// Of each index of the first axis of float `x`, how its numbers become `i8`: the scale, the reciprocal by which they are multiplied, and the
    /// zero point, as \[n, 3\] floats. Numbers between the least and the largest (and 0) become −128 to 127; with `symmetric`, those up to the
    /// largest magnitude become −127 to 127.
    DynamicScale "dynamic_scale" (1..=1) {
        /// Whether the zero point is 0.
        symmetric: bool,
    } where { shapes: shapes::dynamic_scale, types: types::floats }
    /// Floats `x` as `i8`, by the rows of `dynamic_scale`: the zero point plus x times the reciprocal, rounded half away from zero, clamped.
    DynamicQuantize "dynamic_quantize" (2..=2) {} where {
        shapes: shapes::dynamic_quantize,
        types: types::dynamic_quantize,
    }
    /// Convolution of `i8` from `dynamic_quantize` with the `scales` of its rows, `weights` as of `conv2d` and a float `bias`:
    /// float(Σ (x − zx)·w) · (scale of the weights · scale) + bias, clamped. Taps outside the image do not count.
    DynamicConv2d "dynamic_conv2d" (4..=4) {
        /// The sliding window; its size equals the weights' kh, kw.
        window: Window,
        /// Channel groups; divides c and o.
        groups: usize,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: |o, y| shapes::dynamic_conv2d(window, *groups, o, y),
        types: |o, y| types::dynamic_layer(clamp, o, y),
        filters: Some(2),
    }
    /// Matrix product with the operands and arithmetic of `dynamic_conv2d`: `x` \[n, k\], `weights` \[o, k\].
    DynamicDense "dynamic_dense" (4..=4) {
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: shapes::dynamic_dense,
        types: |o, y| types::dynamic_layer(clamp, o, y),
        filters: Some(2),
    }
    /// Mean over a window of \[n, h, w, c\], counting only taps inside the image; integers divide with rounding half away from zero
    /// (on stored values: operand and result have the same quantisation).
    AvgPool2d "avg_pool2d" (1..=1) {
        /// The sliding window (dilation 1).
        window: Window,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: |o, y| shapes::pool(window, o, y),
        types: |o, y| types::pool(clamp, o, y),
        rows: Rows::Window(window),
    }
    /// Largest element of a window of \[n, h, w, c\], counting only taps inside the image.
    MaxPool2d "max_pool2d" (1..=1) {
        /// The sliding window (dilation 1).
        window: Window,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: |o, y| shapes::pool(window, o, y),
        types: |o, y| types::pool(clamp, o, y),
        rows: Rows::Window(window),
    }
    /// Sum, with NumPy broadcasting.
    Add "add" (2..=2) {
        /// Operands and sum to the result's scale.
        rescale: AddRescale,
        /// Fused activation.
        clamp: Clamp,
    } where { shapes: shapes::broadcast, types: |o, y| types::sum(rescale, clamp, o, y), elementwise: 2 }
    /// Difference, with NumPy broadcasting.
    Sub "sub" (2..=2) {
        /// Operands and difference to the result's scale.
        rescale: AddRescale,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: shapes::broadcast,
        types: |o, y| types::difference(rescale, clamp, o, y),
        elementwise: 2,
    }
    /// Product, with NumPy broadcasting: (x − zx)·(y − zy), rescaled.
    Mul "mul" (2..=2) {
        /// Product to the result's scale (one multiplier).
        rescale: Rescale,
        /// Fused activation.
        clamp: Clamp,
    } where { shapes: shapes::broadcast, types: |o, y| types::mul(rescale, clamp, o, y), elementwise: 2 }
    /// Clamps stored values (the ReLU family without a change of scale).
    Clip "clip" (1..=1) {
        /// The range.
        clamp: Clamp,
    } where { shapes: shapes::same, types: |o, y| types::clip(clamp, o, y), elementwise: 1 }
    /// `x` for x ≥ 0, `alpha · x` below.
    LeakyRelu "leaky_relu" (1..=1) {
        /// The slope below zero.
        alpha: super::Real,
        /// Both factors to the result's scale.
        rescale: LeakyRescale,
    } where { shapes: shapes::same, types: |o, y| types::leaky_relu(rescale, o, y), elementwise: 1 }
    /// A function of each element of a float tensor.
    Unary "unary" (1..=1) {
        /// The function.
        function: Unary,
    } where { shapes: shapes::same, types: types::floats, elementwise: 1 }
    /// A function of each pair of elements of float tensors, with NumPy broadcasting. Some are defined on plain integers, too, where
    /// a division by zero and a negative exponent give 0. `max` and `min` also compare stored
    /// integers: operands and result have the same quantisation. Three more compute on `i8`, in fixed point: `div` with one multiplier;
    /// `prelu` with those of a and of a · b; `squared_difference` with those of a, of b (both shifted left by 7 bits) and of the square, on `i16` too, without that shift.
    Binary "binary" (2..=2) {
        /// The function.
        function: Binary,
        /// To the result's scale; `real` where stored values are only compared.
        rescale: Rescale,
        /// Fused activation.
        clamp: Clamp,
    } where {
        shapes: shapes::broadcast,
        types: |o, y| types::binary(*function, rescale, clamp, o, y),
        elementwise: 2,
    }
    /// Whether a comparison of each pair of elements holds, with NumPy broadcasting. The result is `bool`.
    Compare "compare" (2..=2) {
        /// The comparison.
        function: Comparison,
        /// Operands to a common scale.
        rescale: CompareRescale,
    } where { shapes: shapes::broadcast, types: |o, y| types::compare(rescale, o, y) }
    /// Elements of the second operand where the first, a `bool`, is true, else of the third; with NumPy broadcasting.
    Select "select" (3..=3) {} where { shapes: shapes::broadcast, types: types::select }
    /// The same numbers as elements of another type: floats are rounded towards zero and saturate, wider integers lose their high bits,
    /// and all that is not 0 is true. Stored values count as plain numbers.
    Cast "cast" (1..=1) {} where { shapes: shapes::same, types: types::any, rows: Rows::Same }
    /// 1 / (1 + exp(−x)). On `i16`: interpolated in TFLite's table of σ. On `i8`: exact function of the dequantised value, rounded as TFLite's tables and fixed point do.
    Logistic "logistic" (1..=1) {} where {
        shapes: shapes::same,
        types: |o, y| types::implied_scale(256.0, -128, o, y),
        elementwise: 1,
    }
    /// tanh(x), as `logistic`.
    Tanh "tanh" (1..=1) {} where {
        shapes: shapes::same,
        types: |o, y| types::implied_scale(128.0, 0, o, y),
        elementwise: 1,
    }
    /// exp(β·x) / Σ exp(β·x) along the last axis.
    Softmax "softmax" (1..=1) {
        /// β.
        beta: super::Real,
        /// Integer parameters.
        scale: SoftmaxScale,
    } where { shapes: shapes::rows, types: |o, y| types::softmax(scale, o, y), rows: Rows::Same }
    /// x − log Σ exp(x) along the last axis. On `i8`, TFLite's fixed point: the result has 1/16 for a step, and 127 is 0.
    LogSoftmax "log_softmax" (1..=1) {
        /// Integer parameters, with β = 1.
        scale: SoftmaxScale,
        /// On integers, from Q5.26 to differences of stored values (one multiplier).
        divisor: Rescale,
    } where { shapes: shapes::rows, types: |o, y| types::log_softmax(scale, divisor, o, y) }
    /// x / √Σ x² along the last axis, where the root is not less than 10⁻⁶. On `i8` and `u8`, TFLite's fixed point: the result has 1/128 for a step.
    L2Normalize "l2_normalize" (1..=1) {} where { shapes: shapes::rows, types: types::l2_normalize }
    /// x · (bias + alpha · Σ x²)^−beta on floats, where the sum is over elements along the last axis: the `radius` ones before, x itself, and `radius` − 1 behind it.
    LocalNormalize "local_normalize" (1..=1) {
        /// How many neighbours on either side.
        radius: usize,
        /// What is added to the sum.
        bias: super::Real,
        /// The factor of the sum.
        alpha: super::Real,
        /// The exponent, negated.
        beta: super::Real,
    } where { shapes: shapes::rows, types: types::floats }
    /// 1 / √x on `i16` in TFLite's fixed point, rescaled; the largest element for x ≤ 0, which has no such value.
    InverseRoot "inverse_root" (1..=1) {
        /// 1 / √(stored value) to the result's scale (one multiplier).
        rescale: Rescale,
    } where { shapes: shapes::same, types: |o, y| types::inverse_root(rescale, o, y) }
    /// Products of matrices: `x` \[…, m, k\] with the transpose of `y` \[…, n, k\], with NumPy broadcasting of the axes in front: result \[…, m, n\], same
    /// arithmetic as `conv2d`, on `i16` with sums of 64 bits.
    MatMul "matmul" (2..=2) {
        /// Accumulator to result (one multiplier).
        rescale: Rescale,
        /// Range of the result.
        clamp: Clamp,
    } where { shapes: shapes::matmul, types: |o, y| types::matmul(rescale, clamp, o, y) }
    /// An image \[n, h, w, c\] of another height and width, each pixel interpolated between four. `i8` and `i16`: TFLite's fixed point with 10 bits of a pixel;
    /// `u8`: in floats, plus one half and rounded down. Operand and result have the same quantisation.
    ResizeBilinear "resize_bilinear" (1..=1) {
        /// Whether the corners of both images are the same pixels.
        align_corners: bool,
        /// Whether a pixel is its centre, and not its corner.
        half_pixel: bool,
    } where { shapes: shapes::resize, types: types::resize }
    /// Long short-term memory over the steps of `x` \[b, t, k\], from the last output `h` \[b, n\] and the cell state `c` before, with weights of inputs \[4·n, k\], of outputs \[4·n, n\]
    /// and a `bias` \[4·n\]: of all units' input gates, then of the forget, cell and output gates. The result has for each of the `b` sequences the cell state behind the last step, then
    /// the outputs of all steps, or of floats those of so many last ones as the result has room for, two at least. Integers: a cell state of 16 bits, of which `c` and the result hold the bytes: \[b, 2·n\].
    Lstm "lstm" (6..=6) {
        /// Sums over inputs to Q3.12, for each of the four gates.
        input: Rescale,
        /// Sums over outputs to Q3.12, for each of the four gates.
        recurrent: Rescale,
        /// Forget gate · cell state and input gate · cell gate to the cell state's scale, and output gate · tanh(cell state) to the output's.
        cell: Rescale,
        /// Fraction bits that the integer cell state lacks to twelve; negative if it has more.
        tanh_shift: i64,
        /// Range of the cell state.
        clip: Clamp,
    } where {
        shapes: shapes::lstm,
        types: |o, y| types::lstm([input, recurrent, cell], *tanh_shift, clip, o, y),
    }
    /// Gated recurrent units over the steps of float `x` \[b, t, k\], from the last output `h` \[b, n\], with weights of inputs \[3·n, k\], of outputs \[3·n, n\] and biases of both
    /// \[3·n\]: of all units' update gates z, then of the reset gates r, then of what is new. The outputs of all steps are z · h + (1 − z) · tanh(new). With `linear_before_reset` r is
    /// applied to the sum over outputs with its bias: the result is \[b, t·n\]. Else it is applied to the outputs themselves: the result is \[b, n + t·n\] and begins with r · h of the last step.
    /// As of `lstm`, there may be fewer outputs than steps.
    Gru "gru" (6..=6) {
        /// Whether the reset gate is applied behind the product.
        linear_before_reset: bool,
    } where { shapes: |o, y| shapes::gru(*linear_before_reset, o, y), types: types::floats }
    /// A recurrent layer without gates over the steps of float `x` \[b, t, k\], from the last output `h` \[b, n\], with weights of inputs \[n, k\], of outputs \[n, n\] and a bias \[n\]. The
    /// outputs of all steps \[b, t·n\] are tanh of the sum, or with `relu` what is positive of it. As of `lstm`, there may be fewer outputs than steps.
    Rnn "rnn" (5..=5) {
        /// Whether the activation is ReLU, and not tanh.
        relu: bool,
    } where { shapes: shapes::rnn, types: types::floats }
    /// A function of the user's, bound to a custom operator of the file: it is given all operands and `options`, and no
    /// one but generated code can call it.
    Custom "custom" (1..=64) {
        /// The operator's name in the file.
        name: String,
        /// The function's path in Rust.
        function: String,
        /// The operator's attributes, as the file has them.
        options: Vec<u8>,
    } where { shapes: shapes::any, types: types::any }
    /// A step of an audio front end, as TensorFlow Lite Micro's signal library computes it. Stored values count, whatever they mean.
    Signal "signal" (1..=6) {
        /// Which one.
        function: Signal,
    } where {
        shapes: |o, y| shapes::expect(y, function.result(o)?.shape.dims()),
        types: |o, y| types::element(function.result(o)?.dtype, y),
    }
    /// Table of an 8-bit operand: `table` \[256\], indexed by the stored byte as unsigned, gives the result element.
    Lookup "lookup" (2..=2) {} where {
        shapes: |o, y| shapes::table(256, o, y),
        types: types::lookup,
        elementwise: 1,
    }
    /// Table of an `i16` operand: `table` \[513\] of `i16` has an entry for every 128 stored values from the least on; between two entries the result is
    /// interpolated.
    Interpolate "interpolate" (2..=2) {} where {
        shapes: |o, y| shapes::table(513, o, y),
        types: types::interpolate,
        elementwise: 1,
    }
    /// Float to integer: x / scale rounded, plus the zero point, clamped to the element's range.
    Quantize "quantize" (1..=1) {
        /// How halves are rounded; away from zero if left out.
        rounding: Rounding,
    } where { shapes: shapes::same, types: types::quantize, rows: Rows::Same, elementwise: 1 }
    /// Integer to float: scale · (x − zero point), in `f32`.
    Dequantize "dequantize" (1..=1) {} where {
        shapes: shapes::same,
        types: types::dequantize,
        rows: Rows::Same,
        elementwise: 1,
    }
    /// Integer to integer of another scale: (x − zx) rescaled, plus the result's zero point, clamped.
    Requantize "requantize" (1..=1) {
        /// To the result's scale (one multiplier).
        rescale: Rescale,
        /// Range of the result.
        clamp: Clamp,
    } where {
        shapes: shapes::same,
        types: |o, y| types::requantize(rescale, clamp, o, y),
        rows: Rows::Same,
        elementwise: 1,
    }
    /// Mean over `axes`: Σ (x − zx) rescaled with 1/count in the multiplier; floats: Σ x / count. The result's shape has the axes
    /// removed or of size 1, as its type says.
    Mean "mean" (1..=1) {
        /// Reduced axes, ascending.
        axes: Vec<usize>,
        /// Sum to result (one multiplier).
        rescale: Rescale,
        /// Range of the result.
        clamp: Clamp,
    } where { shapes: |o, y| shapes::reduced(axes, o, y), types: |o, y| types::mean(rescale, clamp, o, y) }
    /// All elements along `axes` made one. Sums of quantised integers are rescaled: Σ (x − zx), as in `mean`, clamped to the element's range; products are rescaled by
    /// 16 bits of the multiplier after each factor but the first, and once more in the end. Largest and smallest ones are stored values, and operand and result have the same quantisation. The result's shape is as that of `mean`.
    Reduce "reduce" (1..=1) {
        /// How.
        function: Reduction,
        /// Reduced axes, ascending.
        axes: Vec<usize>,
        /// For sums and products of quantised integers (one multiplier).
        rescale: Rescale,
    } where {
        shapes: |o, y| shapes::reduced(axes, o, y),
        types: |o, y| types::reduce(*function, rescale, o, y),
    }
    /// Index of the largest or smallest element along `axis`, the first one of several; the result has the other axes.
    ArgReduce "arg_reduce" (1..=1) {
        /// The axis.
        axis: usize,
        /// Whether the largest is wanted.
        largest: bool,
    } where { shapes: |o, y| shapes::without(*axis, o, y), types: |_, y| types::index("result", y) }
    /// Indices of the largest elements along the last axis, as many as the result has: the largest one first, and of equal ones the first. No number (NaN) is
    /// below all numbers.
    TopK "top_k" (1..=1) {} where { shapes: shapes::top_k, types: types::top_k }
    /// Sums over decision trees: `x` \[n, features\] of floats, a `table` of `i32` \[records, 2\] and the `roots` of the trees, places in the table; result \[n, targets\]. The first
    /// number of a record is a float's bits; of the second, the lower 16 bits say what it is, and the upper 16 are a number. A branch (bit 15 clear) goes on at the next record where the feature
    /// that bits 0 to 12 name is at most the float, or equal to it (bit 13), or no number (bit 14); else that many records further on. A leaf (bit 15) adds the float to that target, and
    /// the next record is one of the same leaf where bit 0 is set.
    Trees "trees" (3..=3) {
        /// Whether the least number is wanted, not the sum; 0 where no leaf names the target.
        least: bool,
    } where { shapes: shapes::trees, types: types::trees }
    /// Squares of distances: Σ (x − v)² of each row of `x` \[n, k\] and each row of `v` \[m, k\]; result \[n, m\].
    SquaredDistances "squared_distances" (2..=2) {} where {
        shapes: shapes::squared_distances,
        types: types::floats,
    }
    /// Probabilities of classes from those of pairs, by the second method of Wu, Lin and Weng (2004) as libsvm and ONNX Runtime iterate it: at most 100 rounds, until no equation is wrong by 0.005 / c.
    /// `x` \[n, c · (c − 1) / 2\] has the probability of the first class of each pair, in the order (0, 1), (0, 2), …, (1, 2), …; result \[n, c\].
    Couple "couple" (1..=1) {} where { shapes: shapes::couple, types: types::floats }
    /// Sums of all elements up to each one along `axis`.
    CumSum "cumsum" (1..=1) {
        /// The axis.
        axis: usize,
        /// Whether the element itself is left out.
        exclusive: bool,
        /// Whether sums begin at the end.
        reverse: bool,
    } where { shapes: |o, y| shapes::along(*axis, o, y), types: types::numbers }
    /// Parts of `x` that the second operand, `indices` (`i32` or `i64`), names. Its last axis has `depth` coordinates along the axes of `x` from `axis`
    /// on; its axes before that, behind the first `batch` ones, which both operands share, take the place of these axes.
    /// Coordinates outside of `x` count as the nearest ones inside.
    Gather "gather" (2..=2) {
        /// Leading axes that both operands share.
        batch: usize,
        /// First axis of `x` that is indexed; not less than `batch`.
        axis: usize,
        /// How many axes are indexed.
        depth: usize,
    } where { shapes: |o, y| shapes::gather(*batch, *axis, *depth, o, y), types: types::gather }
    /// Repeats `x` along axes of size 1, and new ones in front, as NumPy does it.
    Broadcast "broadcast" (1..=1) {} where { shapes: shapes::broadcast_to, types: types::unchanged }
    /// Surrounds `x` with the stored value `value` (a float's bits for floats).
    Pad "pad" (1..=1) {
        /// Elements before, per axis.
        before: Vec<usize>,
        /// Elements after, per axis.
        after: Vec<usize>,
        /// Stored value of the new elements; the bits of a float.
        value: i64,
    } where {
        shapes: |o, y| shapes::pad(before, after, o, y),
        types: |o, y| types::pad(*value, o, y),
        rows: Rows::Behind(before),
    }
    /// Joins its operands along `axis`. Stored values are copied: operands and result have the same quantisation.
    Concat "concat" (1..=64) {
        /// The axis.
        axis: usize,
    } where {
        shapes: |o, y| shapes::concat(*axis, o, y),
        types: types::stored,
        rows: if *axis >= 2 { Rows::Part } else { Rows::All },
    }
    /// Element `i` along each axis is element `begin + i·step` of the operand; the result's shape says how many.
    Slice "slice" (1..=1) {
        /// First element, per axis.
        begin: Vec<usize>,
        /// Step, per axis; not 0.
        step: Vec<i64>,
    } where {
        shapes: |o, y| shapes::slice(begin, step, o, y),
        types: types::stored,
        rows: if begin.len() > 2 && begin[1] == 0 && step.get(1) == Some(&1) { Rows::Part } else { Rows::All },
    }
    /// Result axis `i` is operand axis `perm[i]`.
    Transpose "transpose" (1..=1) {
        /// A permutation of the axes.
        perm: Vec<usize>,
    } where { shapes: |o, y| shapes::transpose(perm, o, y), types: |o, y| types::transpose(perm, o, y) }
    /// The same elements under another shape.
    Reshape "reshape" (1..=1) {} where { shapes: shapes::reshape, types: types::reshape, rows: Rows::Same }
}

impl Op {
    /// From stored values to those of another element of as many bits: every number stays what it is.
    pub fn same_number(dtype: DType) -> Op {
        Op::Requantize { rescale: Rescale::FixedPoint(vec![Multiplier::ONE]), clamp: dtype.whole_range() }
    }

    /// The window that slides over the op's first operand, an image.
    pub fn window(&self) -> Option<&Window> {
        match self.facts().rows {
            Rows::Window(window) => Some(window),
            _ => None,
        }
    }

    /// How many operands, from the first on, the op takes element by element: see [`Facts::elementwise`].
    pub fn elementwise_operands(&self) -> usize {
        self.facts().elementwise
    }

    /// An LSTM of floats, whose cell state is clamped to that range.
    pub fn float_lstm(clip: Clamp) -> Op {
        let real = Rescale::Real;
        Op::Lstm { input: real.clone(), recurrent: real.clone(), cell: real, tanh_shift: 0, clip }
    }

    /// Whether it is a recurrent layer: all steps of it.
    pub fn is_recurrent(&self) -> bool {
        matches!(self, Op::Lstm { .. } | Op::Gru { .. } | Op::Rnn { .. })
    }

    /// Elements in front of the outputs that a recurrent layer of floats has for each sequence: an LSTM's cell state, or the outputs that a GRU's reset gate was applied to.
    pub fn before_outputs(&self, units: usize) -> usize {
        match self {
            Op::Lstm { .. } | Op::Gru { linear_before_reset: false } => units,
            _ => 0,
        }
    }

    /// How the op reads and writes images.
    pub fn layout(&self) -> Layout {
        self.attr().copied().unwrap_or_default()
    }
}
