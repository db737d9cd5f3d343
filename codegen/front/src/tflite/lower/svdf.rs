//! SVDF: each filter is a product with the input's features, followed by one along the time. It becomes
//!
//! - a `dense` of the input: one new feature for each filter,
//! - a `concat` behind the features of earlier invocations, which are a state (`[batch, memory − 1, 1, filters]`), and a `slice` that drops the oldest,
//! - a `conv2d` over all of them, in groups of `rank` filters: the unit's sum over time and filters.
//!
//! The arithmetic is that of TFLite Micro's `svdf_common.cc`: factors from scales in `f32`, features rounded to the state's elements, and
//! integers clamped to the result's whole range whatever the activation is.

use super::cx::{describe, OpCx};
use super::quant::{multiplier, Activation};
use super::{Layout, Lowered, Operators, Refusal};
use kiln_ir::{self, DType, Data, Op, Padding, Quant, Rescale, Shape, Type, ValueId, Window};

pub(super) const OPERATORS: Operators = &[(27, svdf)];

/// The sizes of an SVDF.
struct Sizes {
    batch: usize,
    features: usize,
    filters: usize,
    memory: usize,
    rank: usize,
}

/// SVDF: operands are the input, weights of features, weights of time, an optional bias and the state.
fn svdf(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (rank, activation) = cx.options(6)?.svdf()?;
    let x = cx.input(0)?;
    let (features, time) = (cx.input_as(1, Layout::Rows)?, cx.input_as(2, Layout::Rows)?);
    let bias = cx.optional_input(3)?;
    let (declared, result) = (cx.declared_input(4)?, cx.declared(0)?);
    let sizes = sizes(cx, [x, features, time], bias, &declared, rank)?;
    for (what, id) in [("weights", Some(features)), ("weights of time", Some(time)), ("bias", bias)] {
        if id.is_some_and(|id| !cx.is_const(id)) {
            let help = "store them as constants in the model";
            return Err(Refusal::unsupported(format!("its {what} are computed at run time"), help));
        }
    }
    let types = [x, features, time].map(|id| cx.ty(id).clone());
    let stored = format(cx, &types, bias, &declared, &result)?;
    let activation = Activation::fused(activation)?;
    let (to_state, to_result, clamp) = match stored.dtype {
        DType::F32 => (Rescale::Real, Rescale::Real, activation.alone(&result)),
        _ => {
            let (first, second) = factors(cx, &types, &stored, &result)?;
            (first, second, Activation::None.alone(&result))
        }
    };
    let Sizes { batch, features: n, filters, memory, rank } = sizes;
    let of_state = |dims: &[usize]| Type { shape: Shape(dims.to_vec()), ..stored.clone() };

    let rows = flat(cx, x, &[batch, n])?;
    let op = Op::Dense { rescale: to_state, clamp: Activation::None.alone(&stored) };
    let newest = cx.node(op, &[rows, features], 0, of_state(&[batch, filters]))?;
    let newest = flat(cx, newest, &[batch, 1, 1, filters])?;
    let all = match memory {
        1 => newest,
        _ => {
            let earlier = cx.variable(4, of_state(&[batch, memory - 1, 1, filters]), None)?;
            let all = of_state(&[batch, memory, 1, filters]);
            let all = cx.node(Op::Concat { axis: 1 }, &[earlier, newest], 0, all)?;
            let op = Op::Slice { begin: vec![0, 1, 0, 0], step: vec![1; 4] };
            let kept = cx.node(op, &[all], 0, of_state(&[batch, memory - 1, 1, filters]))?;
            cx.set_variable(4, earlier, kept)?;
            all
        }
    };
    let time = weights_of_time(cx, time, filters / rank, rank, memory);
    let window = Window { size: [memory, 1], stride: [1, 1], dilation: [1, 1], pad: Padding::default() };
    let layout = kiln_ir::Layout::default();
    let op = Op::Conv2d { window, groups: filters / rank, rescale: to_result, clamp, layout };
    let operands: Vec<ValueId> = [all, time].into_iter().chain(bias).collect();
    let units = filters / rank;
    let sums = cx.node(op, &operands, 0, Type { shape: Shape(vec![batch, 1, 1, units]), ..result })?;
    let sums = flat(cx, sums, &[batch, units])?;
    cx.bind(0, sums)
}

/// The same elements with another shape.
fn flat(cx: &mut OpCx<'_, '_, '_>, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
    if cx.dims(x) == dims {
        return Ok(x);
    }
    let ty = cx.ty(x).with_shape(dims);
    cx.node(Op::Reshape {}, &[x], 0, ty)
}

/// The sizes, which all shapes have to agree with.
fn sizes(
    cx: &OpCx<'_, '_, '_>,
    [x, features, time]: [ValueId; 3],
    bias: Option<ValueId>,
    state: &Type,
    rank: i32,
) -> Lowered<Sizes> {
    let misfit = || {
        let list = [x, features, time].map(|id| cx.shown(id)).join(", ");
        let state = describe(state);
        malformed!("operands {list}, a state {state} and a rank of {rank} do not fit")
    };
    let (&[batch, n], &[filters, columns], &[rows, memory]) =
        (&*cx.dims(x), &*cx.dims(features), &*cx.dims(time))
    else {
        return Err(misfit());
    };
    let rank = usize::try_from(rank).ok().filter(|&r| r > 0 && filters % r == 0).ok_or_else(misfit)?;
    let bias_fits = bias.is_none_or(|b| cx.dims(b) == [filters / rank]);
    let held = batch.checked_mul(filters).and_then(|n| n.checked_mul(memory));
    let empty = [batch, n, filters, memory].contains(&0);
    if columns != n || rows != filters || !bias_fits || held != state.shape.checked_numel() || empty {
        return Err(misfit());
    }
    Ok(Sizes { batch, features: n, filters, memory, rank })
}

/// The type of features in the state, if Kiln has the arithmetic for these types.
fn format(
    cx: &OpCx<'_, '_, '_>,
    types: &[Type; 3],
    bias: Option<ValueId>,
    state: &Type,
    result: &Type,
) -> Lowered<Type> {
    let [x, features, time] = types.each_ref().map(|ty| ty.dtype);
    let bias = bias.map(|b| cx.ty(b).dtype);
    let all = [x, features, time, state.dtype, result.dtype];
    let kind = match all {
        [DType::F32, DType::F32, DType::F32, DType::F32, DType::F32] => DType::F32,
        [DType::I8, DType::I8, DType::I8, DType::I8, DType::I8]
        | [DType::I8, DType::I8, DType::I16, DType::I16, DType::I8] => DType::I32,
        _ => {
            let list = types.iter().chain([state, result]).map(describe).collect::<Vec<_>>().join(", ");
            let what = format!("arithmetic on {list} cannot be compiled");
            let help = "convert the model to float32 or to full-integer int8, with a state of int16 or int8";
            return Err(Refusal::unsupported(what, help));
        }
    };
    if bias.is_some_and(|bias| bias != kind) {
        return Err(malformed!("its bias and its weights have different kinds of numbers"));
    }
    let symmetric = |ty: &Type| ty.quant.as_ref().is_none_or(|q| q.zero_points.iter().all(|&z| z == 0));
    if kind != DType::F32 && !(symmetric(&types[1]) && symmetric(&types[2])) {
        let help = "convert the model with symmetric weights";
        return Err(Refusal::unsupported("its weights have a zero point other than 0", help));
    }
    Ok(state.clone())
}

/// The factors of features and of results: TFLite's effective scales, which it computes in `f32`.
fn factors(
    cx: &OpCx<'_, '_, '_>,
    types: &[Type; 3],
    state: &Type,
    result: &Type,
) -> Lowered<(Rescale, Rescale)> {
    let [x, features, time] = types;
    let (x, features) = (cx.scale(x, "operand")?, cx.scale(features, "weights")?);
    let (time, state) = (cx.scale(time, "weights of time")?, cx.scale(state, "state")?);
    let result = cx.scale(result, "result")?;
    let one = |scale: f32| Ok::<_, Refusal>(Rescale::FixedPoint(vec![multiplier(f64::from(scale))?]));
    Ok((one(x * features / state)?, one(state * time / result)?))
}

/// Weights `[filters, memory]` as those of a convolution, `[units, memory, 1, rank]`.
fn weights_of_time(
    cx: &mut OpCx<'_, '_, '_>,
    time: ValueId,
    units: usize,
    rank: usize,
    memory: usize,
) -> ValueId {
    let value = cx.ty(time).clone();
    let data = cx.data(time).unwrap_or(Data::new([]));
    let size = value.dtype.size();
    let mut bytes = Vec::with_capacity(data.bytes().len());
    for unit in 0..units {
        for step in 0..memory {
            for filter in unit * rank..(unit + 1) * rank {
                let at = (filter * memory + step) * size;
                bytes.extend_from_slice(data.bytes().get(at..at + size).unwrap_or_default());
            }
        }
    }
    let quant = value.quant.map(|q| Quant { axis: None, ..q });
    let ty = Type { dtype: value.dtype, shape: Shape(vec![units, memory, 1, rank]), quant };
    cx.constant("weights_time", ty, Data::new(bytes))
}
