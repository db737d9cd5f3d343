//! Layers on stored integers.

use super::super::rewrite::{each_node, Rewrite};
use super::{known, quantize_of, stored, stored_clamp, whole};
use crate::ir::{
    AddRescale, Clamp, DType, Data, Graph, Multiplier, Node, NodeId, Op, Padding, Quant, Reduction, Rescale,
    Type, ValueId, Window,
};

/// Turns layers between DEQUANTIZEs and a QUANTIZE into integer layers.
pub(super) fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_node(graph, |graph, id| {
        if let Some(same) = unchanged(graph, id) {
            return Rewrite::Same(same);
        }
        let Some(Layer { op, operands, constants }) = layer(graph, &uses, id) else { return Rewrite::Keep };
        let mut all = operands;
        for (name, ty, data) in constants {
            all.push(graph.add_const(name, ty, data));
        }
        let origin = origin(graph, id);
        let node = graph.node_mut(id);
        (node.op, node.operands) = (op, all);
        node.origin = origin.unwrap_or_else(|| node.origin.clone());
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
}

impl Layer {
    fn of(op: Op, operands: Vec<ValueId>) -> Layer {
        Layer { op, operands, constants: Vec::new() }
    }
}

fn layer(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Layer> {
    let (float, y) = quantize_of(graph, id)?;
    let node = graph.node(graph.producer(float)?);
    // Of another width: the same number.
    if let Some(from) = stored(graph, float) {
        let x = graph.ty(from);
        let op = Op::Requantize { rescale: factors([ratio(x, y)?])?, clamp: whole(y)? };
        let wide = x.dtype == DType::I16 || y.dtype == DType::I16;
        return wide.then(|| Layer::of(op, vec![from]));
    }
    if uses.get(float.0 as usize) != Some(&1) {
        return None;
    }
    match &node.op {
        Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. } => {
            weighted(graph, node, y, stored_clamp(clamp, y)?)
        }
        Op::MatMul { clamp, .. } => {
            let (a, b) = both(graph, node, y)?;
            let by = scale(graph.ty(a))? * scale(graph.ty(b))? / scale(y)?;
            let op = Op::MatMul { rescale: factors([by])?, clamp: stored_clamp(clamp, y)? };
            Some(Layer::of(op, vec![a, b]))
        }
        Op::Add { clamp, .. } | Op::Sub { clamp, .. } => {
            let (a, b) = both(graph, node, y)?;
            let rescale = add_rescale([scale(graph.ty(a))?, scale(graph.ty(b))?, scale(y)?], y.dtype)?;
            let clamp = stored_clamp(clamp, y)?;
            let op = match node.op {
                Op::Add { .. } => Op::Add { rescale, clamp },
                _ => Op::Sub { rescale, clamp },
            };
            Some(Layer::of(op, vec![a, b]))
        }
        Op::Mul { clamp, .. } => {
            let (a, b) = both(graph, node, y)?;
            let by = scale(graph.ty(a))? * scale(graph.ty(b))? / scale(y)?;
            let op = Op::Mul { rescale: factors([by])?, clamp: stored_clamp(clamp, y)? };
            Some(Layer::of(op, vec![a, b]))
        }
        Op::Mean { axes, clamp, .. } => {
            let x = operand(graph, node, 0, y)?;
            let dims = graph.ty(x).shape.dims();
            let count: usize = axes.iter().map(|&axis| dims.get(axis).copied().unwrap_or(1)).product();
            let by = ratio(graph.ty(x), y)? / count as f64;
            let clamp = stored_clamp(clamp, y)?;
            Some(Layer::of(Op::Mean { axes: axes.clone(), rescale: factors([by])?, clamp }, vec![x]))
        }
        Op::Reduce { function: Reduction::Sum, axes, .. } => {
            let x = operand(graph, node, 0, y)?;
            let rescale = factors([ratio(graph.ty(x), y)?])?;
            Some(Layer::of(Op::Reduce { function: Reduction::Sum, axes: axes.clone(), rescale }, vec![x]))
        }
        Op::ResizeBilinear { .. } => {
            let x = operand(graph, node, 0, y)?;
            (graph.ty(x).quant == y.quant).then(|| Layer::of(node.op.clone(), vec![x]))
        }
        Op::AvgPool2d { window, clamp } => pooling(graph, node, y, window, stored_clamp(clamp, y)?),
        _ => None,
    }
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

fn scale(ty: &Type) -> Option<f64> {
    ty.scale().map(f64::from)
}

fn ratio(x: &Type, y: &Type) -> Option<f64> {
    Some(scale(x)? / scale(y)?)
}

fn factors(real: impl IntoIterator<Item = f64>) -> Option<Rescale> {
    real.into_iter().map(Multiplier::of).collect::<Option<_>>().map(Rescale::FixedPoint)
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
fn weighted(graph: &Graph, node: &Node, y: &Type, clamp: Clamp) -> Option<Layer> {
    let x = operand(graph, node, 0, y)?;
    let weights = weights(graph, *node.operands.get(1)?)?;
    if y.dtype == DType::I16 && weights.0.dtype != DType::I8 {
        return None;
    }
    let quant = weights.0.quant.clone()?;
    let filters = *weights.0.shape.dims().first()?;
    let per_filter =
        |o: usize| quant.scales.get(if quant.scales.len() == 1 { 0 } else { o }).map(|s| f64::from(s.0));
    let (x_scale, y_scale) = (scale(graph.ty(x))?, scale(y)?);
    let rescale = factors(quant.scales.iter().map(|own| x_scale * f64::from(own.0) / y_scale))?;
    let mut constants = vec![("weights".into(), weights.0, weights.1)];
    if let Some(&bias) = node.operands.get(2) {
        let bias = known(graph, bias)?;
        let steps = |(o, &bias): (usize, &f32)| {
            let steps = (f64::from(bias) / (x_scale * per_filter(o)?)).round_ties_even();
            // Sums have 32 bits.
            (steps.abs() < f64::from(1 << 30)).then_some(steps as i64)
        };
        let steps = bias.iter().enumerate().map(steps).collect::<Option<Vec<i64>>>()?;
        let dtype = if y.dtype == DType::I16 { DType::I64 } else { DType::I32 };
        constants.push(("bias".into(), Type::plain(dtype, &[steps.len()]), Data::from_ints(dtype, steps)));
    } else if y.dtype == DType::I16 {
        let zeros = Data::from_ints(DType::I64, vec![0; filters]);
        constants.push(("no bias".into(), Type::plain(DType::I64, &[filters]), zeros));
    }
    let op = match &node.op {
        Op::Conv2d { window, groups, layout, .. } => {
            Op::Conv2d { window: *window, groups: *groups, rescale, clamp, layout: *layout }
        }
        _ => Op::Dense { rescale, clamp },
    };
    Some(Layer { op, operands: vec![x], constants })
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
    if ty.quant == y.quant {
        return Some(Layer::of(Op::AvgPool2d { window: *window, clamp }, vec![x]));
    }
    let &[_, _, _, channels] = ty.shape.dims() else { return None };
    if window.pad != Padding::default() || y.dtype != DType::I8 {
        return None;
    }
    let taps = window.size[0] * window.size[1];
    let share = 1.0 / taps as f32;
    let by = ratio(ty, y)? / taps as f64;
    let op = Op::Conv2d {
        window: *window,
        groups: channels,
        rescale: factors([by])?,
        clamp,
        layout: Default::default(),
    };
    let ones = Type::quantized(DType::I8, &[channels, window.size[0], window.size[1], 1], share, 0);
    let data = Data::from_i8(&vec![1; channels * taps]);
    Some(Layer { op, operands: vec![x], constants: vec![("ones".into(), ones, data)] })
}
