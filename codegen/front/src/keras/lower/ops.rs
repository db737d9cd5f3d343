//! Operations of `keras.ops` that compute: element by element, along axes, and products.

use super::activation::{by_name, leaky, relu, shrink, softmax, squareplus};
use super::arguments::{dtype, Arg};
use super::cx::Cx;
use super::ops_reduce::{
    average, axes, batch_normalised, index, log_sum_exp, mean, norm, normalize, product, reduced,
    root_mean_square, truths, variance,
};
use super::{Layers, Lowered, One, Refusal};
use crate::keras::value::Value;
use crate::onnx::lower::Set;
use kiln_ir::{Binary, Comparison, DType, Reduction, Unary, ValueId};

pub(super) const OPERATIONS: Layers = &[
    ("Abs", One(|cx| call(cx, "Abs"))),
    ("Absolute", One(|cx| call(cx, "Abs"))),
    ("Add", One(|cx| binary(cx, |cx, x, y| cx.sum(x, y)))),
    ("All", One(|cx| truths(cx, Reduction::Min))),
    ("Amax", One(|cx| reduced(cx, Reduction::Max))),
    ("Amin", One(|cx| reduced(cx, Reduction::Min))),
    ("Any", One(|cx| truths(cx, Reduction::Max))),
    ("Arccos", One(|cx| float(cx, "Acos"))),
    ("Arccosh", One(|cx| float(cx, "Acosh"))),
    ("Arcsin", One(|cx| float(cx, "Asin"))),
    ("Arcsinh", One(|cx| float(cx, "Asinh"))),
    ("Arctan", One(|cx| float(cx, "Atan"))),
    ("Arctanh", One(|cx| float(cx, "Atanh"))),
    ("Argmax", One(|cx| index(cx, "ArgMax"))),
    ("Argmin", One(|cx| index(cx, "ArgMin"))),
    ("Average", One(average)),
    ("BatchNormalization", One(batch_normalised)),
    ("Cast", One(cast)),
    ("Ceil", One(|cx| float(cx, "Ceil"))),
    ("Celu", One(celu)),
    ("Clip", One(clip)),
    ("Copy", One(|cx| operand(cx, 0, "x"))),
    ("Cos", One(|cx| float(cx, "Cos"))),
    ("Cosh", One(|cx| float(cx, "Cosh"))),
    ("Divide", One(divide)),
    ("DivideNoNan", One(divide_no_nan)),
    ("Dot", One(matmul)),
    ("Einsum", One(einsum)),
    ("Elu", One(elu)),
    ("Equal", One(|cx| compare(cx, Comparison::Equal))),
    ("Erf", One(|cx| float(cx, "Erf"))),
    ("Exp", One(|cx| float(cx, "Exp"))),
    ("Expm1", One(expm1)),
    ("Floor", One(|cx| float(cx, "Floor"))),
    ("FloorDivide", One(|cx| binary(cx, |cx, x, y| cx.binary(Binary::FloorDiv, x, y)))),
    ("Gelu", One(gelu)),
    ("Glu", One(|cx| named(cx, "glu"))),
    ("Greater", One(|cx| compare(cx, Comparison::Greater))),
    ("GreaterEqual", One(|cx| compare(cx, Comparison::GreaterEqual))),
    ("HardShrink", One(|cx| shrunk(cx, false))),
    ("HardSigmoid", One(|cx| named(cx, "hard_sigmoid"))),
    ("HardSilu", One(|cx| named(cx, "hard_silu"))),
    ("HardTanh", One(|cx| named(cx, "hard_tanh"))),
    ("Isfinite", One(is_finite)),
    ("Isinf", One(|cx| float(cx, "IsInf"))),
    ("Isnan", One(|cx| float(cx, "IsNaN"))),
    ("LeakyRelu", One(leaky_relu)),
    ("Less", One(|cx| compare(cx, Comparison::Less))),
    ("LessEqual", One(|cx| compare(cx, Comparison::LessEqual))),
    ("Log", One(|cx| float(cx, "Log"))),
    ("Log10", One(|cx| log(cx, 10.0))),
    ("Log1p", One(log1p)),
    ("Log2", One(|cx| log(cx, 2.0))),
    ("LogSigmoid", One(|cx| named(cx, "log_sigmoid"))),
    ("LogSoftmax", One(|cx| along_axis(cx, true))),
    ("Logaddexp", One(log_add_exp)),
    ("LogicalAnd", One(|cx| logic(cx, "And"))),
    ("LogicalNot", One(not)),
    ("LogicalOr", One(|cx| logic(cx, "Or"))),
    ("LogicalXor", One(|cx| logic(cx, "Xor"))),
    ("Logsumexp", One(log_sum_exp)),
    ("Matmul", One(matmul)),
    ("Max", One(|cx| reduced(cx, Reduction::Max))),
    ("Maximum", One(|cx| binary(cx, |cx, x, y| cx.binary(Binary::Max, x, y)))),
    ("Mean", One(mean)),
    ("Min", One(|cx| reduced(cx, Reduction::Min))),
    ("Minimum", One(|cx| binary(cx, |cx, x, y| cx.binary(Binary::Min, x, y)))),
    ("Mod", One(|cx| binary(cx, |cx, x, y| cx.binary(Binary::FloorMod, x, y)))),
    ("Multiply", One(|cx| binary(cx, |cx, x, y| cx.product(x, y)))),
    ("Negative", One(|cx| call(cx, "Neg"))),
    ("Norm", One(norm)),
    ("Normalize", One(normalize)),
    ("NotEqual", One(|cx| compare(cx, Comparison::NotEqual))),
    ("OnesLike", One(|cx| like(cx, 1.0))),
    ("Power", One(|cx| binary(cx, |cx, x, y| cx.call("Pow", &[Some(x), Some(y)], &[])))),
    ("Prod", One(product)),
    ("RMSNormalization", One(root_mean_square)),
    ("Reciprocal", One(|cx| float(cx, "Reciprocal"))),
    ("Relu", One(|cx| named(cx, "relu"))),
    ("Relu6", One(|cx| named(cx, "relu6"))),
    ("Round", One(|cx| float(cx, "Round"))),
    ("Rsqrt", One(rsqrt)),
    ("Selu", One(|cx| named(cx, "selu"))),
    ("Sigmoid", One(|cx| named(cx, "sigmoid"))),
    ("Sign", One(|cx| call(cx, "Sign"))),
    ("Silu", One(|cx| named(cx, "silu"))),
    ("Sin", One(|cx| float(cx, "Sin"))),
    ("Sinh", One(|cx| float(cx, "Sinh"))),
    ("SoftShrink", One(|cx| shrunk(cx, true))),
    ("Softmax", One(|cx| along_axis(cx, false))),
    ("Softplus", One(|cx| named(cx, "softplus"))),
    ("Softsign", One(|cx| named(cx, "softsign"))),
    ("SparsePlus", One(|cx| named(cx, "sparse_plus"))),
    ("SparseSigmoid", One(|cx| named(cx, "sparse_sigmoid"))),
    ("Sqrt", One(|cx| float(cx, "Sqrt"))),
    ("Square", One(square)),
    ("SquarePlus", One(square_plus)),
    ("Squareplus", One(square_plus)),
    ("Std", One(|cx| variance(cx, true))),
    ("StopGradient", One(|cx| operand(cx, 0, "x"))),
    ("Subtract", One(|cx| binary(cx, |cx, x, y| cx.difference(x, y)))),
    ("Sum", One(|cx| reduced(cx, Reduction::Sum))),
    ("Tan", One(|cx| float(cx, "Tan"))),
    ("Tanh", One(|cx| named(cx, "tanh"))),
    ("TanhShrink", One(|cx| named(cx, "tanh_shrink"))),
    ("Threshold", One(threshold)),
    ("TrueDivide", One(divide)),
    ("Var", One(|cx| variance(cx, false))),
    ("Where", One(choose)),
    ("ZerosLike", One(|cx| like(cx, 0.0))),
];

/// Operand at a place, a tensor or number.
pub(super) fn operand(cx: &mut Cx<'_, '_, '_>, place: usize, name: &str) -> Lowered<ValueId> {
    let arg = cx.given.get(place, name).cloned();
    match arg {
        Some(Arg::Slot(slot)) => Ok(slot.value),
        Some(Arg::Value(value)) => number(cx, &value),
        Some(Arg::List(list)) => {
            let values = list.iter().map(|arg| match arg {
                Arg::Value(value) => value.float(),
                _ => None,
            });
            let numbers: Option<Vec<f64>> = values.collect();
            let numbers = numbers.ok_or_else(|| malformed!("its argument {name} is no tensor"))?;
            let list: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            cx.float_constant("constant", &[list.len()], &list)
        }
        None => {
            // Keras calls the first operand by many names.
            let first = if place == 0 { cx.given.first().first().map(|slot| slot.value) } else { None };
            first.ok_or_else(|| malformed!("its argument {name} is missing"))
        }
    }
}

fn number(cx: &mut Cx<'_, '_, '_>, value: &Value) -> Lowered<ValueId> {
    match value {
        Value::Bool(truth) => Ok(cx.truth(*truth)),
        Value::Int(int) => cx.int_constant("number", DType::I32, &[], &[*int]),
        Value::Float(float) => cx.float_constant("number", &[], &[*float as f32]),
        _ => Err(malformed!("one of its arguments is neither a tensor nor a number")),
    }
}

/// Two operands in one type. Numbers that are no tensors take that of the other operand.
pub(super) fn promoted(cx: &mut Cx<'_, '_, '_>) -> Lowered<[ValueId; 2]> {
    let (x, y) = (operand(cx, 0, "x1")?, operand(cx, 1, "x2")?);
    let is_number =
        [(0, "x1"), (1, "x2")].map(|(k, name)| matches!(cx.given.get(k, name), Some(Arg::Value(_))));
    common(cx, x, y, is_number)
}

pub(super) fn common(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    y: ValueId,
    is_number: [bool; 2],
) -> Lowered<[ValueId; 2]> {
    let kind = |dtype: DType| match dtype {
        DType::Bool => 0,
        DType::F32 => 2,
        _ => 1,
    };
    let (a, b) = (cx.ty(x).dtype, cx.ty(y).dtype);
    let dtype = match (is_number, kind(a).cmp(&kind(b))) {
        (_, std::cmp::Ordering::Less) => b,
        (_, std::cmp::Ordering::Greater) => a,
        ([false, true], _) => a,
        ([true, false], _) => b,
        _ if a == b => a,
        _ if [a, b].contains(&DType::I64) => DType::I64,
        _ => DType::I32,
    };
    Ok([cx.cast(x, dtype)?, cx.cast(y, dtype)?])
}

type Join = fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>;

fn binary(cx: &mut Cx<'_, '_, '_>, join: Join) -> Lowered<ValueId> {
    let [x, y] = promoted(cx)?;
    // Sums of truth values are numbers.
    let is_truth = cx.ty(x).dtype == DType::Bool;
    let (x, y) = if is_truth { (cx.cast(x, DType::I32)?, cx.cast(y, DType::I32)?) } else { (x, y) };
    join(cx, x, y)
}

fn compare(cx: &mut Cx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    let [x, y] = promoted(cx)?;
    let is_truth = cx.ty(x).dtype == DType::Bool;
    let (x, y) = if is_truth { (cx.cast(x, DType::I32)?, cx.cast(y, DType::I32)?) } else { (x, y) };
    cx.compared(function, x, y)
}

fn logic(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let (x, y) = (operand(cx, 0, "x1")?, operand(cx, 1, "x2")?);
    let (x, y) = (super::mask::truth(cx, x)?, super::mask::truth(cx, y)?);
    cx.call(operator, &[Some(x), Some(y)], &[])
}

fn not(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let x = super::mask::truth(cx, x)?;
    cx.call("Not", &[Some(x)], &[])
}

fn call(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    cx.call(operator, &[Some(x)], &[])
}

pub(super) fn float_operand(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    cx.floating(x)
}

fn float(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    cx.call(operator, &[Some(x)], &[])
}

fn named(cx: &mut Cx<'_, '_, '_>, name: &str) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    by_name(cx, name, x)
}

fn square(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    cx.product(x, x)
}

fn rsqrt(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    cx.unary(Unary::Rsqrt, x)
}

fn expm1(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    // That is exact near 0, where it is Elu on both sides.
    let below = cx.unary(Unary::Elu, x)?;
    let power = cx.unary(Unary::Exp, x)?;
    let above = cx.plus(power, -1.0)?;
    let zero = cx.number(x, 0.0)?;
    let is_above = cx.compared(Comparison::Greater, x, zero)?;
    cx.choice(is_above, above, below)
}

fn log1p(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let more = cx.plus(x, 1.0)?;
    cx.unary(Unary::Log, more)
}

fn log(cx: &mut Cx<'_, '_, '_>, base: f64) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let log = cx.unary(Unary::Log, x)?;
    cx.times(log, 1.0 / libm::log(base))
}

fn log_add_exp(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = promoted(cx)?;
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    // max + log(1 + e^(−|x − y|)).
    let most = cx.binary(Binary::Max, x, y)?;
    let apart = cx.difference(x, y)?;
    let apart = cx.unary(Unary::Abs, apart)?;
    let less = cx.unary(Unary::Neg, apart)?;
    let more = cx.unary(Unary::Softplus, less)?;
    cx.sum(most, more)
}

fn divide(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = promoted(cx)?;
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    cx.quotient(x, y)
}

fn divide_no_nan(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = promoted(cx)?;
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    let quotient = cx.quotient(x, y)?;
    let zero = cx.number(y, 0.0)?;
    let nothing = cx.compared(Comparison::Equal, y, zero)?;
    cx.choice(nothing, zero, quotient)
}

fn choose(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (condition, x, y) = (operand(cx, 0, "condition")?, operand(cx, 1, "x1")?, operand(cx, 2, "x2")?);
    let condition = super::mask::truth(cx, condition)?;
    let is_number =
        [(1, "x1"), (2, "x2")].map(|(k, name)| matches!(cx.given.get(k, name), Some(Arg::Value(_))));
    let [x, y] = common(cx, x, y, is_number)?;
    cx.choice(condition, x, y)
}

fn clip(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let bounds = [cx.setting(1, "x_min").float(), cx.setting(2, "x_max").float()];
    let [Some(least), Some(most)] = bounds else {
        return Err(Refusal::unsupported("its bounds are tensors", "use minimum and maximum"));
    };
    if cx.ty(x).dtype == DType::F32 {
        return cx.clipped(x, least as f32, most as f32);
    }
    let (least, most) = (cx.number(x, least)?, cx.number(x, most)?);
    let x = cx.binary(Binary::Max, x, least)?;
    cx.binary(Binary::Min, x, most)
}

fn cast(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let wanted = dtype(cx.setting(1, "dtype").text())?;
    match wanted {
        Some(DType::Bool) => super::mask::truth(cx, x),
        Some(dtype) => cx.cast(x, dtype),
        None => Ok(x),
    }
}

fn like(cx: &mut Cx<'_, '_, '_>, number: f64) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let dims = cx.dims(x);
    let wanted = dtype(cx.setting(1, "dtype").text())?.unwrap_or(cx.ty(x).dtype);
    let one = match wanted {
        DType::F32 => cx.float_constant("number", &[], &[number as f32])?,
        DType::Bool => cx.truth(number != 0.0),
        wanted => cx.int_constant("number", wanted, &[], &[number as i64])?,
    };
    cx.repeated(one, &dims)
}

fn is_finite(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let size = cx.unary(Unary::Abs, x)?;
    let infinity = cx.number(size, f64::INFINITY)?;
    cx.compared(Comparison::Less, size, infinity)
}

// ---- Activations with parameters

fn elu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let alpha = cx.setting(1, "alpha").float().unwrap_or(1.0) as f32;
    cx.call("Elu", &[Some(x)], &[("alpha", Set::Float(alpha))])
}

fn celu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let alpha = cx.setting(1, "alpha").float().unwrap_or(1.0) as f32;
    cx.call("Celu", &[Some(x)], &[("alpha", Set::Float(alpha))])
}

fn gelu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let near = cx.setting(1, "approximate").flag(true);
    cx.unary(if near { Unary::GeluTanh } else { Unary::Gelu }, x)
}

fn leaky_relu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let slope = cx.setting(1, "negative_slope").float().unwrap_or(0.2);
    leaky(cx, x, slope)
}

fn shrunk(cx: &mut Cx<'_, '_, '_>, soft: bool) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let bound = cx.setting(1, "threshold").float().unwrap_or(0.5) as f32;
    shrink(cx, x, bound, soft)
}

fn square_plus(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let b = cx.setting(1, "b").float().unwrap_or(4.0);
    squareplus(cx, x, b)
}

/// x above a threshold, else another number.
fn threshold(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let bound =
        cx.setting(1, "threshold").float().or(cx.setting(1, "threshold_value").float()).unwrap_or(0.0);
    let value = cx.setting(2, "value").float().or(cx.setting(2, "default_value").float()).unwrap_or(0.0);
    if value == 0.0 {
        return relu(cx, x, 0.0, None, bound);
    }
    let (bound, value) = (cx.number(x, bound)?, cx.number(x, value)?);
    let is_above = cx.compared(Comparison::Greater, x, bound)?;
    cx.choice(is_above, x, value)
}

fn along_axis(cx: &mut Cx<'_, '_, '_>, is_log: bool) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let rank = cx.dims(x).len();
    let axes = axes(cx, x, 1, Some(-1))?;
    let y = match (is_log, &axes[..]) {
        (true, [axis]) => return cx.call("LogSoftmax", &[Some(x)], &[("axis", Set::Int(*axis as i64))]),
        _ => softmax(cx, x, &axes)?,
    };
    malformed_if!(rank == 0, "it has no axes");
    if is_log {
        return cx.unary(Unary::Log, y);
    }
    Ok(y)
}

// ---- Products

fn matmul(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = promoted(cx)?;
    let dtype = cx.ty(x).dtype;
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    let is_odd = cx.layer.class == "Dot" && cx.dims(y).len() > 2;
    if is_odd {
        return Err(Refusal::unsupported(
            "dot of more than two axes cannot be compiled",
            "use matmul or einsum",
        ));
    }
    let product = cx.call("MatMul", &[Some(x), Some(y)], &[])?;
    cx.cast(product, dtype)
}

fn einsum(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let own = cx.setting(0, "subscripts");
    let equation = own.text();
    let mut operands = Vec::new();
    for slot in cx.given.tensors() {
        operands.push(Some(cx.floating(slot.value)?));
    }
    cx.call("Einsum", &operands, &[("equation", Set::Text(equation))])
}
