//! Activations that are made up of other functions, and the trigonometric functions.

use super::cx::NodeCx;
use super::elementwise::magnitude;
use super::{All, Lowered, One, Operators};
use kiln_ir::{Binary, Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Acos", One(acos)),
    ("Acosh", One(acosh)),
    ("Asin", One(asin)),
    ("Asinh", All(asinh)),
    ("Atan", One(atan)),
    ("Atanh", All(atanh)),
    ("Celu", One(celu)),
    ("Cosh", One(cosh)),
    ("Elu", One(elu)),
    ("HardSigmoid", One(hard_sigmoid)),
    ("Hardmax", All(hardmax)),
    ("LogSoftmax", All(|cx| along_axis(cx, |cx, x| cx.log_softmax(x)))),
    ("Mish", One(mish)),
    ("Selu", One(selu)),
    ("Shrink", One(shrink)),
    ("Sinh", All(sinh)),
    ("Softmax", All(|cx| along_axis(cx, |cx, x| cx.softmax(x)))),
    ("Softsign", One(softsign)),
    ("Swish", One(swish)),
    ("Tan", One(tan)),
    ("ThresholdedRelu", One(thresholded_relu)),
];

/// Elu: α·(eˣ − 1) below zero.
fn elu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, alpha) = (cx.input(0)?, cx.float("alpha", 1.0));
    exponential(cx, x, 1.0, alpha, 1.0)
}

/// Selu: γ·x, and γ·α·(eˣ − 1) below zero.
fn selu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    // Set 1 has other defaults, of fewer digits.
    let old = cx.opset() < 6;
    let alpha = cx.float("alpha", if old { 1.6732 } else { 1.673_263_2 });
    let gamma = cx.float("gamma", if old { 1.0507 } else { 1.050_701 });
    exponential(cx, x, 1.0, alpha * gamma, gamma)
}

/// Celu: α·(e^(x/α) − 1) below zero.
fn celu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, alpha) = (cx.input(0)?, cx.float("alpha", 1.0));
    exponential(cx, x, alpha, alpha, 1.0)
}

/// `gamma`·x, and `alpha`·(e^(x/`by`) − 1) below zero.
fn exponential(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, by: f32, alpha: f32, gamma: f32) -> Lowered<ValueId> {
    if [by, alpha, gamma] == [1.0; 3] {
        return cx.unary(Unary::Elu, x);
    }
    let scaled = if by == 1.0 {
        x
    } else {
        let by = cx.number(x, by.into())?;
        cx.quotient(x, by)?
    };
    let less = cx.clipped(scaled, f32::NEG_INFINITY, 0.0)?;
    let power = cx.unary(Unary::Elu, less)?;
    let (below, above) = (cx.times(power, alpha.into())?, cx.clipped(x, 0.0, f32::INFINITY)?);
    let above = if gamma == 1.0 { above } else { cx.times(above, gamma.into())? };
    cx.sum(above, below)
}

/// HardSigmoid: α·x + β between 0 and 1.
fn hard_sigmoid(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (alpha, beta) = (cx.float("alpha", 0.2), cx.float("beta", 0.5));
    let product = cx.times(x, alpha.into())?;
    let sum = cx.plus(product, beta.into())?;
    cx.clipped(sum, 0.0, 1.0)
}

/// Softsign: x / (1 + |x|).
fn softsign(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let size = cx.unary(Unary::Abs, x)?;
    let divisor = cx.plus(size, 1.0)?;
    cx.quotient(x, divisor)
}

/// Mish: x · tanh(softplus x).
fn mish(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let soft = cx.unary(Unary::Softplus, x)?;
    let factor = cx.tanh(soft)?;
    cx.product(x, factor)
}

/// Swish: x · σ(α·x).
fn swish(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, alpha) = (cx.input(0)?, cx.float("alpha", 1.0));
    cx.want_float(x)?;
    let scaled = if alpha == 1.0 { x } else { cx.times(x, alpha.into())? };
    let factor = cx.sigmoid(scaled)?;
    cx.product(x, factor)
}

/// ThresholdedRelu: what is not above α is 0.
fn thresholded_relu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, alpha) = (cx.input(0)?, cx.float("alpha", 1.0));
    cx.want_float(x)?;
    let (alpha, zero) = (cx.number(x, alpha.into())?, cx.number(x, 0.0)?);
    let above = cx.compared(Comparison::Greater, x, alpha)?;
    cx.choice(above, x, zero)
}

/// Shrink: everything moves by a bias towards zero, and what is nearer to it than λ becomes 0.
fn shrink(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, bias, lambda) = (cx.input(0)?, cx.float("bias", 0.0), cx.float("lambd", 0.5));
    let (above, below) = (cx.number(x, lambda.into())?, cx.number(x, (-lambda).into())?);
    let (up, down, zero) = (cx.plus(x, bias.into())?, cx.plus(x, (-bias).into())?, cx.number(x, 0.0)?);
    let (is_below, is_above) =
        (cx.compared(Comparison::Less, x, below)?, cx.compared(Comparison::Greater, x, above)?);
    let y = cx.choice(is_above, down, zero)?;
    cx.choice(is_below, up, y)
}

/// Tan.
fn tan(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let (sin, cos) = (cx.unary(Unary::Sin, x)?, cx.unary(Unary::Cos, x)?);
    cx.quotient(sin, cos)
}

/// Atan: the angle of (1, x).
fn atan(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let one = cx.number(x, 1.0)?;
    cx.binary(Binary::Atan2, x, one)
}

/// Asin: the angle of (√(1 − x²), x).
fn asin(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let leg = leg(cx, x)?;
    cx.binary(Binary::Atan2, x, leg)
}

/// Acos: the angle of (x, √(1 − x²)).
fn acos(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let leg = leg(cx, x)?;
    cx.binary(Binary::Atan2, leg, x)
}

/// √(1 − x²), as √((1 − x)·(1 + x)), which keeps its digits near ±1.
fn leg(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    cx.want_float(x)?;
    let one = cx.number(x, 1.0)?;
    let (less, more) = (cx.difference(one, x)?, cx.plus(x, 1.0)?);
    let square = cx.product(less, more)?;
    cx.unary(Unary::Sqrt, square)
}

/// Cosh: (eˣ + e⁻ˣ) / 2.
fn cosh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let less = cx.unary(Unary::Neg, x)?;
    let (up, down) = (cx.unary(Unary::Exp, x)?, cx.unary(Unary::Exp, less)?);
    let sum = cx.sum(up, down)?;
    cx.times(sum, 0.5)
}

/// Sinh: with u = e^−|x| − 1, which keeps its digits near 0, its magnitude is −u·(2 + u) / (2·(1 + u)).
fn sinh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let size = cx.unary(Unary::Abs, x)?;
    let less = cx.unary(Unary::Neg, size)?;
    let u = cx.unary(Unary::Elu, less)?;
    let (two, one) = (cx.plus(u, 2.0)?, cx.plus(u, 1.0)?);
    let (above, below) = (cx.product(u, two)?, cx.times(one, -2.0)?);
    let size = cx.quotient(above, below)?;
    signed(cx, x, size)
}

/// Asinh: the magnitude is log(1 + |x| + x² / (1 + √(1 + x²))).
fn asinh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let (size, square) = (magnitude(cx, x)?, cx.unary(Unary::Square, x)?);
    let more = cx.plus(square, 1.0)?;
    let root = cx.unary(Unary::Sqrt, more)?;
    let below = cx.plus(root, 1.0)?;
    let fraction = cx.quotient(square, below)?;
    // It is less than |x|, and NaN where x² is infinite.
    let fraction = cx.binary(Binary::Min, fraction, size)?;
    let all = cx.sum(size, fraction)?;
    let size = log_of_one_and(cx, all)?;
    signed(cx, x, size)
}

/// Acosh: log(1 + (x − 1) + √(x − 1)·√(x + 1)).
fn acosh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (less, more) = (cx.plus(x, -1.0)?, cx.plus(x, 1.0)?);
    let roots = [cx.unary(Unary::Sqrt, less)?, cx.unary(Unary::Sqrt, more)?];
    let root = cx.product(roots[0], roots[1])?;
    let all = cx.sum(less, root)?;
    log_of_one_and(cx, all)
}

/// Atanh: the magnitude is half of log(1 + 2·|x| / (1 − |x|)).
fn atanh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let size = cx.unary(Unary::Abs, x)?;
    let one = cx.number(x, 1.0)?;
    let (above, below) = (cx.times(size, 2.0)?, cx.difference(one, size)?);
    let fraction = cx.quotient(above, below)?;
    let log = log_of_one_and(cx, fraction)?;
    let size = cx.times(log, 0.5)?;
    signed(cx, x, size)
}

/// log(1 + x) of what is not negative: softplus of its logarithm, which keeps the digits of small ones.
fn log_of_one_and(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let log = cx.unary(Unary::Log, x)?;
    cx.unary(Unary::Softplus, log)
}

/// Lets the result be `size` with the sign of `x`.
fn signed(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, size: ValueId) -> Lowered {
    let sign = cx.unary(Unary::Sign, x)?;
    let y = cx.product(sign, size)?;
    cx.bind(0, y)
}

/// Hardmax: 1 for the first one of the largest elements, as Softmax. None where the first element is no number, as in ONNX Runtime.
fn hardmax(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    along_axis(cx, |cx, x| {
        let dims = cx.dims(x);
        let (axis, size) = (dims.len() - 1, dims[dims.len() - 1]);
        let index = cx.index_of_largest(x, axis)?;
        let counted = cx.counted(DType::I64, size)?;
        let truth = cx.compared(Comparison::Equal, index, counted)?;
        let one = cx.cast(truth, DType::F32)?;
        // What is no number, and first, is the largest, but not equal to itself.
        let number = cx.compared(Comparison::Equal, x, x)?;
        let number = cx.cast(number, DType::F32)?;
        cx.product(one, number)
    })
}

/// Softmax and LogSoftmax: along an axis since operator set 13, over all axes from one on before.
fn along_axis<'m, 'a>(
    cx: &mut NodeCx<'_, 'm, 'a>,
    function: fn(&mut NodeCx<'_, 'm, 'a>, ValueId) -> Lowered<ValueId>,
) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    if cx.opset() < 13 {
        let axis = cx.axis_or_end(cx.int("axis", 1), dims.len())?;
        let flat = [dims[..axis].iter().product(), dims[axis..].iter().product()];
        let rows = cx.reshaped(x, &flat)?;
        let y = function(cx, rows)?;
        let y = cx.reshaped(y, &dims)?;
        return cx.bind(0, y);
    }
    let axis = cx.axis(cx.int("axis", -1), dims.len())?;
    let turned = cx.swapped(x, axis)?;
    let y = function(cx, turned)?;
    let y = cx.swapped(y, axis)?;
    cx.bind(0, y)
}
