//! Layers and arithmetic of quantised tensors: QLinearConv, QLinearMatMul, and those of ONNX Runtime's own operators.
//!
//! Where the specification leaves the arithmetic open, it is that of ONNX Runtime's kernels (x86-64): sums are floats when they are rescaled, and rounded half to even.

use super::cx::NodeCx;
use super::image::{channel_first, channel_last, under_windows, window, Axis};
use super::pool;
use super::quantise::{bind_stored, computed, signed, Scales};
use super::{describe, All, Lowered, Operators, Refusal};
use kiln_ir::{
    AddRescale, Clamp, DType, Data, Op, Quant, Real, Rescale, Rounding, SoftmaxScale, Type, ValueId,
};

pub(super) const OPERATORS: Operators = &[
    ("QLinearConv", All(conv)),
    ("QLinearMatMul", All(matmul)),
    ("com.microsoft.QGemm", All(gemm)),
    ("com.microsoft.QLinearAdd", All(add)),
    ("com.microsoft.QLinearAveragePool", All(average_pool)),
    ("com.microsoft.QLinearConcat", All(concat)),
    ("com.microsoft.QLinearGlobalAveragePool", All(global_average_pool)),
    ("com.microsoft.QLinearLeakyRelu", All(leaky_relu)),
    ("com.microsoft.QLinearMul", All(mul)),
    ("com.microsoft.QLinearSigmoid", All(|cx| function(cx, Op::Logistic {}))),
    ("com.microsoft.QLinearSoftmax", All(softmax)),
];

/// An activation with its scale and zero point, as operands `k`, `k + 1` and `k + 2` name them.
struct Operand {
    /// As signed integers.
    value: ValueId,
    scale: f32,
    /// Of the file's elements.
    zero: i64,
    /// Element type in the file.
    dtype: DType,
}

fn operand(cx: &mut NodeCx<'_, '_, '_>, k: usize) -> Lowered<Operand> {
    let x = cx.input(k)?;
    let dtype = cx.ty(x).dtype;
    let (scale, zero) = Scales::read(cx, k + 1, k + 2)?.single()?;
    let value = signed(cx, x, scale, zero)?;
    if cx.ty(value).dtype != DType::I8 {
        let what = format!("quantised arithmetic on {} cannot be compiled", cx.shown(x));
        return Err(Refusal::unsupported(what, "quantise the operator to int8 or uint8, or use QDQ format"));
    }
    Ok(Operand { value, scale, zero, dtype })
}

/// Scale and zero point of the result, as operands `k` and `k + 1` name them, and its element in the file.
struct Output {
    scale: f32,
    zero: i64,
    dtype: DType,
}

fn output(cx: &mut NodeCx<'_, '_, '_>, k: usize, otherwise: DType) -> Lowered<Output> {
    let named = Scales::read(cx, k, k + 1)?;
    let (scale, zero) = named.single()?;
    Ok(Output { scale, zero, dtype: named.dtype.unwrap_or(otherwise) })
}

impl Output {
    fn ty(&self, dims: &[usize]) -> Lowered<Type> {
        computed(self.dtype, dims, self.scale, self.zero)
    }
}

/// Constant weights with so many filters along an axis, as operands `k`, `k + 1` and `k + 2` name them: less their zero points, in the order of elements that `at` gives, of
/// these dimensions; and the scale of each filter, or of all.
fn weights(
    cx: &mut NodeCx<'_, '_, '_>,
    k: usize,
    axis: usize,
    dims: &[usize],
    at: impl Fn(usize) -> usize,
) -> Lowered<(ValueId, Vec<f32>)> {
    let w = cx.input(k)?;
    let (ty, named) = (cx.ty(w).clone(), Scales::read(cx, k + 1, k + 2)?);
    let Some(data) = cx.data(w).filter(|_| matches!(ty.dtype, DType::I8 | DType::U8)) else {
        let help = "export the model with constant int8 or uint8 weights";
        let what = format!("its weights (operand {k}) are {}, or computed at run time", describe(&ty));
        return Err(Refusal::unsupported(what, help));
    };
    let (count, stride) = (ty.shape.dims()[axis], ty.shape.strides()[axis]);
    if !matches!(named.scales.len(), 1) && named.scales.len() != count {
        return Err(malformed!("it has {} scales for {count} filters", named.scales.len()));
    }
    let stored = data.to_ints(ty.dtype);
    let zero = |from: usize| named.zeros.get(if named.zeros.len() == 1 { 0 } else { from / stride % count });
    let centred = (0..stored.len()).map(|to| {
        let from = at(to);
        Some(stored.get(from)? - zero(from)?)
    });
    let centred = centred.collect::<Option<Vec<i64>>>().unwrap_or_default();
    let narrow = centred.iter().all(|&w| i8::try_from(w).is_ok());
    let dtype = if narrow { DType::I8 } else { DType::I16 };
    let quant = Scales { zeros: vec![0; named.scales.len()], ..named.clone() }.quant(Some(0));
    let ty = Type { quant: Some(quant), ..Type::plain(dtype, dims) };
    cx.importer.budget.charge(ty.bytes())?;
    let value = cx.importer.graph.add_const("weights", ty, Data::from_ints(dtype, centred));
    Ok((value, named.scales))
}

/// The factors of a layer's sums, in the order in which they are multiplied and divided.
fn factors(x: f32, weights: &[f32], y: f32) -> Lowered<Rescale> {
    let factors: Vec<Real> = weights.iter().map(|w| Real(x * w / y)).collect();
    match factors.iter().all(|factor| factor.0.is_finite()) {
        true => Ok(Rescale::Float(factors)),
        false => Err(malformed!("the ratio of its scales is not a number")),
    }
}

const BYTES: Clamp = Clamp::I8;

/// A constant bias of `count` elements of 32 bits.
fn bias(cx: &mut NodeCx<'_, '_, '_>, k: usize, count: usize) -> Lowered<Option<ValueId>> {
    let Some(bias) = cx.optional(k)? else { return Ok(None) };
    let fits = cx.ty(bias).dtype == DType::I32 && cx.ty(bias).shape.numel() == count;
    match cx.data(bias).filter(|_| fits) {
        Some(data) => {
            let ty = Type::plain(DType::I32, &[count]);
            Ok(Some(cx.importer.graph.add_const("bias", ty, data)))
        }
        None => {
            let what =
                format!("its bias is {}, and not a constant of int32 in the layer's scale", cx.shown(bias));
            Err(Refusal::unsupported(what, "export the model with a constant bias"))
        }
    }
}

/// QLinearConv.
fn conv(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, out) = (operand(cx, 0)?, output(cx, 6, DType::U8)?);
    let w = cx.input(3)?;
    let rank = cx.dims(x.value).len();
    let (o, depth, kh, kw) = match *cx.dims(w) {
        [o, depth, kw] if rank == 3 => (o, depth, 1, kw),
        [o, depth, kh, kw] if rank == 4 => (o, depth, kh, kw),
        _ => {
            return Err(malformed!("weights {} do not fit {}", cx.shown(w), cx.shown(x.value)));
        }
    };
    let size = if rank == 3 { vec![kw] } else { vec![kh, kw] };
    let stored = under_windows(cx, x.value, &size)?;
    let image = channel_last(cx, stored)?;
    let &[n, h, width, c] = &*cx.dims(image) else { return Err(malformed!("no image")) };
    let groups = usize::try_from(cx.int("group", 1)).unwrap_or(0);
    if groups == 0 || c != depth * groups || o % groups != 0 {
        return Err(malformed!("weights {} in {groups} groups do not fit", cx.shown(w)));
    }
    let taps = kh * kw;
    let at = |to: usize| {
        let (filter, rest) = (to / (taps * depth), to % (taps * depth));
        (filter * depth + rest % depth) * taps + rest / depth
    };
    let (weights, scales) = weights(cx, 3, 0, &[o, kh, kw, depth], at)?;
    let own = cx.dims(stored);
    let window = Axis::window(&window(cx, &size, &own[2..])?);
    let Some([out_h, out_w]) = window.output([h, width]) else {
        return Err(malformed!("a {kh}×{kw} window does not fit a {h}×{width} image"));
    };
    let mut operands = vec![image, weights];
    operands.extend(bias(cx, 8, o)?);
    let rescale = factors(x.scale, &scales, out.scale)?;
    let op = Op::Conv2d { window, groups, rescale, clamp: BYTES, layout: Default::default() };
    let y = cx.add(op, &operands, out.ty(&[n, out_h, out_w, o])?)?;
    let y = channel_first(cx, y, rank)?;
    bind_stored(cx, y, out.dtype)
}

/// QLinearMatMul.
fn matmul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (a, out) = (operand(cx, 0)?, output(cx, 6, DType::U8)?);
    let b = cx.input(3)?;
    let (left, right) = (cx.dims(a.value), cx.dims(b));
    if let (&[.., k], &[rows, n], Some(_)) = (&left[..], &right[..], cx.data(b)) {
        malformed_if!(k != rows, "{left:?} and {right:?} cannot be multiplied");
        let (weights, scales) = weights(cx, 3, 1, &[n, k], |to| to % k * n + to / k)?;
        let dims = [&left[..left.len() - 1], &[n]].concat();
        let op = Op::Dense { rescale: factors(a.scale, &scales, out.scale)?, clamp: BYTES };
        let y = cx.add(op, &[a.value, weights], out.ty(&dims)?)?;
        return bind_stored(cx, y, out.dtype);
    }
    let b = operand(cx, 3)?;
    let op = Op::MatMul { rescale: factors(a.scale, &[b.scale], out.scale)?, clamp: BYTES };
    let y = super::product::product_of(cx, a.value, b.value, |dims| Ok((op, out.ty(dims)?)))?;
    bind_stored(cx, y, out.dtype)
}

/// QGemm of ONNX Runtime, with a quantised result.
fn gemm(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let a = operand(cx, 0)?;
    let b = cx.input(3)?;
    let (turn_a, turn_b) = (cx.int("transA", 0) != 0, cx.int("transB", 0) != 0);
    let (&[rows, columns], x) = (&*cx.dims(b), a.value) else {
        return Err(malformed!("{} is not a matrix", cx.shown(b)));
    };
    let x = if turn_a { cx.transposed(x, &[1, 0])? } else { x };
    let (k, n) = if turn_b { (columns, rows) } else { (rows, columns) };
    let at = |to: usize| if turn_b { to } else { to % k * n + to / k };
    let (weights, scales) = weights(cx, 3, usize::from(!turn_b), &[n, k], at)?;
    let &[m, own] = &*cx.dims(x) else { return Err(malformed!("no matrix")) };
    malformed_if!(own != k, "rows of {own} and columns of {k} elements do not fit");
    let mut operands = vec![x, weights];
    operands.extend(bias(cx, 6, n)?);
    let alpha = cx.float("alpha", 1.0);
    if cx.optional(7)?.is_none() {
        let help = "quantise the result too";
        return Err(Refusal::unsupported("its result is not quantised", help));
    }
    let out = output(cx, 7, a.dtype)?;
    let scales: Vec<f32> = scales.iter().map(|w| alpha * a.scale * w).collect();
    let rescale = factors(1.0, &scales, out.scale)?;
    let y = cx.add(Op::Dense { rescale, clamp: BYTES }, &operands, out.ty(&[m, n])?)?;
    bind_stored(cx, y, out.dtype)
}

/// What is added to stored values that were unsigned.
fn offset(dtype: DType) -> i32 {
    if dtype == DType::U8 {
        128
    } else {
        0
    }
}

/// Whether an operand is one number along the innermost axis of the result that has several.
fn is_repeated(own: &[usize], dims: &[usize]) -> bool {
    let inner = (0..dims.len()).rev().find(|&axis| dims[axis] > 1);
    inner.is_some_and(|axis| {
        let own_axis = (axis + own.len()).checked_sub(dims.len());
        own_axis.is_none_or(|axis| own[axis] == 1)
    })
}

/// QLinearAdd of ONNX Runtime.
fn add(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (a, b) = (operand(cx, 0)?, operand(cx, 3)?);
    let out = output(cx, 6, a.dtype)?;
    let dims = super::elementwise::broadcast(cx, a.value, b.value)?;
    // What is repeated is added first.
    let (own_a, own_b) = (cx.dims(a.value), cx.dims(b.value));
    let swapped = is_repeated(&own_b, &dims) && !is_repeated(&own_a, &dims);
    let (x, y) = (a.scale / out.scale, b.scale / out.scale);
    let constant = out.zero as f32 - (x * a.zero as f32 + y * b.zero as f32);
    let (operands, x, y) = if swapped { ([b.value, a.value], y, x) } else { ([a.value, b.value], x, y) };
    let rescale =
        AddRescale::Float { x: Real(x), y: Real(y), constant: Real(constant), offset: offset(a.dtype) };
    let y = cx.add(Op::Add { rescale, clamp: BYTES }, &operands, out.ty(&dims)?)?;
    bind_stored(cx, y, out.dtype)
}

/// QLinearMul of ONNX Runtime.
fn mul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (a, b) = (operand(cx, 0)?, operand(cx, 3)?);
    let out = output(cx, 6, a.dtype)?;
    let dims = super::elementwise::broadcast(cx, a.value, b.value)?;
    let rescale = Rescale::FloatSum { by: Real(a.scale * b.scale / out.scale), plus: out.zero as i32 };
    let y = cx.add(Op::Mul { rescale, clamp: BYTES }, &[a.value, b.value], out.ty(&dims)?)?;
    bind_stored(cx, y, out.dtype)
}

/// A quantised tensor as floats.
fn floats(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let ty = Type::plain(DType::F32, &cx.dims(x));
    cx.add(Op::Dequantize {}, &[x], ty)
}

fn quantised(cx: &mut NodeCx<'_, '_, '_>, y: ValueId, out: &Output, rounding: Rounding) -> Lowered {
    let ty = out.ty(&cx.dims(y))?;
    let y = cx.add(Op::Quantize { rounding }, &[y], ty)?;
    bind_stored(cx, y, out.dtype)
}

/// QLinearAveragePool of ONNX Runtime, which pools floats.
fn average_pool(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = operand(cx, 0)?;
    let out = output(cx, 3, x.dtype)?;
    channel_first_only(cx)?;
    let x = floats(cx, x.value)?;
    let y = pool::average_of(cx, x)?;
    quantised(cx, y, &out, Rounding::EvenSum(out.zero as i32))
}

fn channel_first_only(cx: &NodeCx<'_, '_, '_>) -> Lowered {
    match cx.int("channels_last", 0) {
        0 => Ok(()),
        _ => Err(Refusal::unsupported("its images are channel-last", "export them channel-first")),
    }
}

/// QLinearGlobalAveragePool of ONNX Runtime.
fn global_average_pool(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = operand(cx, 0)?;
    let out = output(cx, 3, x.dtype)?;
    channel_first_only(cx)?;
    let mut dims = cx.dims(x.value);
    malformed_if!(dims.len() < 3, "{} is not an image", cx.shown(x.value));
    let count: usize = dims[2..].iter().product();
    dims[2..].fill(1);
    let rescale = Rescale::Float(vec![Real(x.scale / (out.scale * count as f32))]);
    let op = Op::Mean { axes: (2..dims.len()).collect(), rescale, clamp: BYTES };
    let y = cx.add(op, &[x.value], out.ty(&dims)?)?;
    bind_stored(cx, y, out.dtype)
}

/// QLinearConcat of ONNX Runtime: each part is brought to the scale of the result.
fn concat(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let count = cx.node.inputs.len().saturating_sub(2) / 3;
    let parts = (0..count).map(|part| operand(cx, 2 + 3 * part)).collect::<Lowered<Vec<Operand>>>()?;
    let Some(first) = parts.first() else { return Err(malformed!("it has no operands")) };
    let out = output(cx, 0, first.dtype)?;
    let mut dims = cx.dims(first.value);
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    dims[axis] = 0;
    let mut joined = Vec::new();
    for part in &parts {
        let own = cx.dims(part.value);
        let fits = own.len() == dims.len() && (0..dims.len()).all(|i| i == axis || own[i] == dims[i]);
        malformed_if!(!fits, "{own:?} and {dims:?} cannot be concatenated");
        dims[axis] += own[axis];
        let wanted = out.ty(&own)?;
        joined.push(match *cx.ty(part.value) == wanted {
            true => part.value,
            false => {
                let x = floats(cx, part.value)?;
                cx.add(Op::Quantize { rounding: Rounding::Even }, &[x], wanted)?
            }
        });
    }
    let y = cx.add(Op::Concat { axis }, &joined, out.ty(&dims)?)?;
    bind_stored(cx, y, out.dtype)
}

/// A function of floats between its operand's and its result's scale: a table in the end.
fn function(cx: &mut NodeCx<'_, '_, '_>, op: Op) -> Lowered {
    let x = operand(cx, 0)?;
    let out = output(cx, 3, x.dtype)?;
    let x = floats(cx, x.value)?;
    let dims = cx.dims(x);
    let y = cx.add_like(op, &[x], &dims)?;
    quantised(cx, y, &out, Rounding::Even)
}

/// QLinearLeakyRelu of ONNX Runtime.
fn leaky_relu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let alpha = Real(cx.float("alpha", 0.01));
    function(cx, Op::LeakyRelu { alpha, rescale: kiln_ir::LeakyRescale::Real })
}

/// QLinearSoftmax of ONNX Runtime: of floats, times the whole number next below 1 / scale. (Its exponentials come from a table that is accurate to the last bit, or nearly.)
fn softmax(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = operand(cx, 0)?;
    let out = output(cx, 3, x.dtype)?;
    let dims = cx.dims(x.value);
    let all = cx.int("opset", 13) < 13;
    let axis = cx.axis(cx.int("axis", if all { 1 } else { -1 }), dims.len())?;
    let steps = (1.0 / out.scale).floor();
    malformed_if!(steps < 1.0, "the scale of its result is {}", out.scale);
    let op = Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real };
    let rounding = Op::Quantize { rounding: Rounding::Even };
    let (rows, back) = if all {
        let flat = [dims[..axis].iter().product(), dims[axis..].iter().product()];
        (cx.reshaped(x.value, &flat)?, None)
    } else {
        let mut perm: Vec<usize> = (0..dims.len()).collect();
        perm.swap(axis, dims.len() - 1);
        (cx.transposed(x.value, &perm)?, Some(perm))
    };
    let own = cx.dims(rows);
    let real = floats(cx, rows)?;
    let y = cx.add_like(op, &[real], &own)?;
    let step = Output { scale: 1.0 / steps, ..out };
    let y = cx.add(rounding, &[y], step.ty(&own)?)?;
    let y = match back {
        Some(perm) => cx.transposed(y, &perm)?,
        None => cx.reshaped(y, &dims)?,
    };
    // Stored values are read with the scale that the file names.
    let quant = Quant::per_tensor(out.scale, cx.ty(y).zero_point());
    let y = super::quantise::scaled(cx, y, quant)?;
    bind_stored(cx, y, out.dtype)
}
