//! Layers on stored integers.

use super::super::rewrite::{each_node, Rewrite};
use super::cheap::{is_cheap_sum, Sums};
use super::error::{self, Sum};
use super::{known, pairs, quantize_of, stored, stored_clamp, whole, Record};
use crate::ir::{
    AddRescale, Clamp, DType, Data, Graph, Multiplier, Node, NodeId, Op, Padding, Quant, Real, Reduction,
    Rescale, Type, ValueId, Window,
};

/// Turns layers between DEQUANTIZEs and a QUANTIZE into integer layers, and notes by how much each may differ.
pub(super) fn run(graph: &mut Graph, record: &mut Record) -> bool {
    let uses = graph.use_counts();
    each_node(graph, |graph, id| {
        if let Some(same) = unchanged(graph, id) {
            return Rewrite::Same(same);
        }
        let Some(Layer { op, operands, constants, steps }) = layer(graph, &uses, id, record.as_floats_round)
        else {
            return Rewrite::Keep;
        };
        let mut all = operands;
        for (name, ty, data) in constants {
            all.push(graph.add_const(name, ty, data));
        }
        let origin = origin(graph, id);
        let node = graph.node_mut(id);
        (node.op, node.operands) = (op, all);
        node.origin = origin.unwrap_or_else(|| node.origin.clone());
        record.note(graph, id, steps);
        Rewrite::Changed
    })
}

/// The operator of the file whose result a QUANTIZE stores, if it computes.
fn origin(graph: &Graph, id: NodeId) -> Option<String> {
    let node = graph.node(graph.producer(quantize_of(graph, id)?.0)?);
    (!matches!(node.op, Op::Dequantize {})).then(|| node.origin.clone())
}

/// The integers that a QUANTIZE makes of themselves.
fn unchanged(graph: &Graph, id: NodeId) -> Option<ValueId> {
    let (float, ty) = quantize_of(graph, id)?;
    let from = stored(graph, float)?;
    // Scale · n / scale is within 2⁻²² of n, and n has 16 bits at most.
    (graph.ty(from) == ty).then_some(from)
}

/// What takes a QUANTIZE's place.
struct Layer {
    op: Op,
    operands: Vec<ValueId>,
    /// Further operands.
    constants: Vec<(String, Type, Data)>,
    /// By how many steps its result may differ from that of the floats, on the same operands.
    steps: u32,
}

impl Layer {
    fn of(op: Op, operands: Vec<ValueId>, steps: u32) -> Layer {
        Layer { op, operands, constants: Vec::new(), steps }
    }
}

fn layer(graph: &Graph, uses: &[usize], id: NodeId, as_floats_round: bool) -> Option<Layer> {
    let (float, y) = quantize_of(graph, id)?;
    let node = graph.node(graph.producer(float)?);
    // Of another width: the same number.
    if let Some(from) = stored(graph, float) {
        let x = graph.ty(from);
        let op = Op::Requantize { rescale: fixed([ratio(x, y)?])?, clamp: whole(y)? };
        let wide = x.dtype == DType::I16 || y.dtype == DType::I16;
        if !wide {
            return None;
        }
        let steps = pairs::of_one(graph, id, from, &op)?;
        return Some(Layer::of(op, vec![from], steps));
    }
    if uses.get(float.0 as usize) != Some(&1) {
        return None;
    }
    match &node.op {
        Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. } => {
            weighted(graph, node, y, stored_clamp(clamp, y)?, as_floats_round)
        }
        Op::MatMul { clamp, .. } => {
            let (a, b) = both(graph, node, y)?;
            let (of_a, of_b) = (graph.ty(a), graph.ty(b));
            let rescale = factors(y, real(of_a)?, [real(of_b)?], 1)?;
            let reach = error::reach(of_a)? * error::reach(of_b)? * of_a.shape.last() as f64;
            let binary = error::binary([real(of_a)?, real(of_b)?, real(y)?]);
            let sum = Sum { products: of_a.shape.last(), reach, bias: 0.0, binary };
            if reach >= error::most(y) {
                return None;
            }
            let steps = error::steps(&sum, scale(of_a)? * scale(of_b)? / scale(y)?, &rescale, 0, y)?;
            let op = Op::MatMul { rescale, clamp: stored_clamp(clamp, y)? };
            Some(Layer::of(op, vec![a, b], steps))
        }
        Op::Add { clamp, .. } | Op::Sub { clamp, .. } | Op::Mul { clamp, .. } => {
            let (a, b) = both(graph, node, y)?;
            let clamp = stored_clamp(clamp, y)?;
            let forms = forms(&node.op, [graph.ty(a), graph.ty(b)], y, clamp);
            let (cheap, dear) = forms.into_iter().partition(is_cheap_sum);
            let (op, steps) = pairs::nearest(graph, id, [a, b], [cheap, dear])?;
            Some(Layer::of(op, vec![a, b], steps))
        }
        Op::Mean { axes, clamp, .. } => {
            let x = operand(graph, node, 0, y)?;
            let of_x = graph.ty(x);
            let dims = of_x.shape.dims();
            let count: usize = axes.iter().map(|&axis| dims.get(axis).copied().unwrap_or(1)).product();
            // Means in floats have portable kernels alone.
            let rescale = fixed([ratio(of_x, y)? / count as f64])?;
            let sum = sum_of(of_x, y, count)?;
            let steps = error::steps(&sum, ratio(of_x, y)? / count as f64, &rescale, 0, y)?;
            let clamp = stored_clamp(clamp, y)?;
            Some(Layer::of(Op::Mean { axes: axes.clone(), rescale, clamp }, vec![x], steps))
        }
        Op::Reduce { function: Reduction::Sum, axes, .. } => {
            let x = operand(graph, node, 0, y)?;
            let of_x = graph.ty(x);
            let rescale = fixed([ratio(of_x, y)?])?;
            let count = of_x.shape.numel() / y.shape.numel().max(1);
            let steps = error::steps(&sum_of(of_x, y, count)?, ratio(of_x, y)?, &rescale, 0, y)?;
            Some(Layer::of(
                Op::Reduce { function: Reduction::Sum, axes: axes.clone(), rescale },
                vec![x],
                steps,
            ))
        }
        Op::ResizeBilinear { .. } => {
            let x = operand(graph, node, 0, y)?;
            // Products of two fractions of ten bits, each of which is half a unit off at most, and the rounding.
            let off = 2.0 * error::reach(graph.ty(x))? / 1024.0 + 0.01;
            (graph.ty(x).quant == y.quant)
                .then(|| Layer::of(node.op.clone(), vec![x], error::between_roundings(off)))
        }
        Op::AvgPool2d { window, clamp } => pooling(graph, node, y, window, stored_clamp(clamp, y)?),
        _ => None,
    }
}

/// A sum of so many numbers; `None` where it has more than 32 bits.
fn sum_of(x: &Type, y: &Type, count: usize) -> Option<Sum> {
    let reach = error::reach(x)? * count as f64;
    let binary = error::binary([real(x)?, real(y)?, count as f32]);
    (reach < f64::from(i32::MAX)).then_some(Sum { products: count, reach, bias: 0.0, binary })
}

/// The integer forms of a sum, difference or product.
fn forms(op: &Op, [a, b]: [&Type; 2], y: &Type, clamp: Clamp) -> Vec<Op> {
    let mut forms = Vec::new();
    let (Some(of_a), Some(of_b), Some(of_y)) = (real(a), real(b), real(y)) else { return forms };
    let scales = [f64::from(of_a), f64::from(of_b), f64::from(of_y)];
    let bytes = [a, b, y].iter().all(|ty| ty.dtype == DType::I8);
    if let Op::Mul { .. } = op {
        if bytes {
            let by = Real(of_a * of_b / of_y);
            forms.push(Op::Mul { rescale: Rescale::Float(vec![by]), clamp });
            for offset in [0, 128] {
                let rescale = Rescale::FloatSum { by, plus: y.zero_point() + offset };
                forms.push(Op::Mul { rescale, clamp });
            }
        }
        let fixed = fixed([scales[0] * scales[1] / scales[2]]);
        forms.extend(fixed.map(|rescale| Op::Mul { rescale, clamp }));
        return forms;
    }
    let sign = if matches!(op, Op::Sub { .. }) { -1.0 } else { 1.0 };
    if bytes {
        let (x, z) = (of_a / of_y, sign * of_b / of_y);
        // Halves go to even numbers before the zero point is added: to odd ones behind an odd zero point.
        let odd = Some(1).filter(|_| y.zero_point() % 2 != 0);
        for offset in [0, 128].into_iter().chain(odd) {
            let zero = |ty: &Type| (ty.zero_point() + offset) as f32;
            let constant = Real(zero(y) - (x * zero(a) + z * zero(b)));
            let rescale = AddRescale::Float { x: Real(x), y: Real(z), constant, offset };
            forms.push(Op::Add { rescale, clamp });
        }
    }
    forms.extend(add_rescale(scales, y.dtype).map(|rescale| match op {
        Op::Sub { .. } => Op::Sub { rescale, clamp },
        _ => Op::Add { rescale, clamp },
    }));
    forms
}

/// Operand `k` as integers of the result's element. Those of 16 bits have no zero point.
fn operand(graph: &Graph, node: &Node, k: usize, y: &Type) -> Option<ValueId> {
    let x = stored(graph, *node.operands.get(k)?)?;
    let ty = graph.ty(x);
    let fits = ty.dtype == y.dtype && (y.dtype == DType::I8 || ty.zero_point() == 0 && y.zero_point() == 0);
    fits.then_some(x)
}

fn both(graph: &Graph, node: &Node, y: &Type) -> Option<(ValueId, ValueId)> {
    Some((operand(graph, node, 0, y)?, operand(graph, node, 1, y)?))
}

fn real(ty: &Type) -> Option<f32> {
    ty.scale()
}

fn scale(ty: &Type) -> Option<f64> {
    ty.scale().map(f64::from)
}

fn ratio(x: &Type, y: &Type) -> Option<f64> {
    Some(scale(x)? / scale(y)?)
}

/// Factors in TFLite's fixed point.
fn fixed(real: impl IntoIterator<Item = f64>) -> Option<Rescale> {
    real.into_iter().map(Multiplier::of).collect::<Option<_>>().map(Rescale::FixedPoint)
}

/// Factors of sums of products of `x` and numbers of the scales `w`, which are divided by a count. Of 8 bits: in floats, in the order of ONNX Runtime's kernels. Of 16 bits: in fixed point, as sums have 64.
fn factors(y: &Type, x: f32, w: impl IntoIterator<Item = f32>, count: usize) -> Option<Rescale> {
    let own = real(y)?;
    if y.dtype != DType::I8 {
        let by = |w: f32| f64::from(x) * f64::from(w) / f64::from(own) / count as f64;
        return fixed(w.into_iter().map(by));
    }
    let by: Vec<Real> = w.into_iter().map(|w| Real(x * w / (own * count as f32))).collect();
    by.iter().all(|by| by.0.is_finite()).then_some(Rescale::Float(by))
}

/// TFLite's: operands to half the larger one's scale, and from there to the result's.
fn add_rescale([x, y, out]: [f64; 3], dtype: DType) -> Option<AddRescale> {
    let left_shift = if dtype == DType::I8 { 20 } else { 15 };
    let twice_max = 2.0 * x.max(y);
    let out = Some(twice_max / (f64::from(1 << left_shift) * out)).filter(|&out| out < 1.0)?;
    Some(AddRescale::FixedPoint {
        left_shift,
        x: Multiplier::of(x / twice_max)?,
        y: Multiplier::of(y / twice_max)?,
        out: Multiplier::of(out)?,
    })
}

/// A convolution or a product with constant weights.
fn weighted(graph: &Graph, node: &Node, y: &Type, clamp: Clamp, as_floats_round: bool) -> Option<Layer> {
    let x = operand(graph, node, 0, y)?;
    let weights = weights(graph, *node.operands.get(1)?)?;
    if y.dtype == DType::I16 && weights.0.dtype != DType::I8 {
        return None;
    }
    let quant = weights.0.quant.clone()?;
    let filters = *weights.0.shape.dims().first()?;
    let scale_of =
        |o: usize| quant.scales.get(if quant.scales.len() == 1 { 0 } else { o }).map(|s| f64::from(s.0));
    let (of_x, x_scale, y_scale) = (graph.ty(x), scale(graph.ty(x))?, scale(y)?);
    let rescale = factors(y, real(of_x)?, quant.scales.iter().map(|own| own.0), 1)?;
    let bias = node.operands.get(2).map(|&bias| known(graph, bias));
    let bias = match bias {
        Some(bias) => bias?,
        None => vec![0.0; filters],
    };
    let each = weights.1.to_ints(weights.0.dtype);
    let size = (each.len() / filters.max(1)).max(1);
    let accumulators =
        bias.iter().enumerate().map(|(o, &bias)| Some(f64::from(bias) / (x_scale * scale_of(o)?)));
    let accumulators = accumulators.collect::<Option<Vec<f64>>>()?;
    let bias: Vec<f64> = accumulators.iter().map(|bias| bias.round_ties_even()).collect();
    let narrow: Option<Vec<i8>> = each.iter().map(|&w| i8::try_from(w).ok()).collect();
    let narrow = narrow.as_deref().filter(|_| !as_floats_round);
    let sums = narrow.and_then(|narrow| Sums::of(narrow, &bias, [of_x, y]));
    let rescale = rounded_cheaply(sums, rescale, |o| Some(x_scale * scale_of(o)? / y_scale))?;
    let mut rounded = Vec::with_capacity(filters);
    let mut worst = 0;
    for ((o, (&exact, &steps)), filter) in accumulators.iter().zip(&bias).enumerate().zip(each.chunks(size)) {
        let by = x_scale * scale_of(o)?;
        let reach = error::reach(of_x)? * filter.iter().map(|w| w.unsigned_abs() as f64).sum::<f64>();
        // Sums have 32 bits, those of 16-bit operands 64.
        if steps.abs() + reach >= error::most(y) {
            return None;
        }
        let own = quant.scales.iter().map(|own| own.0);
        let sum = Sum {
            products: size,
            reach: reach + steps.abs(),
            bias: (exact - steps).abs(),
            binary: error::binary([real(of_x)?, real(y)?].into_iter().chain(own)),
        };
        worst = worst.max(error::steps(&sum, by / y_scale, &rescale, o, y)?);
        rounded.push(steps as i64);
    }
    let mut constants = vec![("weights".into(), weights.0, weights.1)];
    let dtype = if y.dtype == DType::I16 { DType::I64 } else { DType::I32 };
    if node.operands.len() > 2 || y.dtype == DType::I16 {
        let ty = Type::plain(dtype, &[rounded.len()]);
        constants.push(("bias".into(), ty, Data::from_ints(dtype, rounded)));
    }
    let op = match &node.op {
        Op::Conv2d { window, groups, layout, .. } => {
            Op::Conv2d { window: *window, groups: *groups, rescale, clamp, layout: *layout }
        }
        _ => Op::Dense { rescale, clamp },
    };
    Some(Layer { op, operands: vec![x], constants, steps: worst })
}

/// The rescale in floats, or one in fixed point for each filter where sums have no cheap form that is exactly that. `by` is a filter's real factor.
fn rounded_cheaply(
    sums: Option<Sums<'_>>,
    rescale: Rescale,
    by: impl Fn(usize) -> Option<f64>,
) -> Option<Rescale> {
    let (Rescale::Float(factors), Some(sums)) = (&rescale, sums) else { return Some(rescale) };
    if sums.are_cheap_by(factors) {
        return Some(rescale);
    }
    sums.near(by).map(Rescale::FixedPoint)
}

/// Constant weights without a zero point: their differences to it, in 16 bits where they do not fit 8.
fn weights(graph: &Graph, id: ValueId) -> Option<(Type, Data)> {
    let node = graph.node(graph.producer(id)?);
    let from = *node.operands.first()?;
    let ty = graph.ty(from);
    let data = graph.const_data(from).filter(|_| matches!(node.op, Op::Dequantize {}))?;
    let quant = ty.quant.as_ref().filter(|quant| matches!(quant.axis, None | Some(0)))?;
    if !matches!(ty.dtype, DType::I8 | DType::U8) {
        return None;
    }
    let filter = ty.shape.dims().get(1..)?.iter().product::<usize>().max(1);
    let zero = |i: usize| match &quant.zero_points[..] {
        [one] => Some(*one),
        all => all.get(i / filter).copied(),
    };
    let centred = data.to_ints(ty.dtype).into_iter().enumerate();
    let centred = centred.map(|(i, w)| Some(w - i64::from(zero(i)?))).collect::<Option<Vec<i64>>>()?;
    let narrow = centred.iter().all(|&w| i8::try_from(w).is_ok());
    let dtype = if narrow { DType::I8 } else { DType::I16 };
    let quant = Quant { zero_points: vec![0; quant.zero_points.len()], ..quant.clone() };
    let ty = Type { dtype, shape: ty.shape.clone(), quant: Some(quant) };
    Some((ty, Data::from_ints(dtype, centred)))
}

/// An average pooling: of one scale, or as the convolution that it is where all windows lie inside the image.
fn pooling(graph: &Graph, node: &Node, y: &Type, window: &Window, clamp: Clamp) -> Option<Layer> {
    let x = operand(graph, node, 0, y)?;
    let ty = graph.ty(x);
    let taps = window.size[0] * window.size[1];
    if ty.quant == y.quant {
        // Both round the same number, but for what floats are off: halves go different ways.
        return Some(Layer::of(Op::AvgPool2d { window: *window, clamp }, vec![x], 1));
    }
    let &[_, _, _, channels] = ty.shape.dims() else { return None };
    if window.pad != Padding::default() || y.dtype != DType::I8 {
        return None;
    }
    let share = 1.0 / taps as f32;
    let rescale = factors(y, real(ty)?, [1.0], taps)?;
    let ones = vec![1; taps];
    let by = ratio(ty, y)? / taps as f64;
    let rescale = rounded_cheaply(Sums::of(&ones, &[0.0], [ty, y]), rescale, |_| Some(by))?;
    let steps = error::steps(&sum_of(ty, y, taps)?, ratio(ty, y)? / taps as f64, &rescale, 0, y)?;
    let op = Op::Conv2d { window: *window, groups: channels, rescale, clamp, layout: Default::default() };
    let ones = Type::quantized(DType::I8, &[channels, window.size[0], window.size[1], 1], share, 0);
    let data = Data::from_i8(&vec![1; channels * taps]);
    Some(Layer { op, operands: vec![x], constants: vec![("ones".into(), ones, data)], steps })
}
