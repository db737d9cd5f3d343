//! What becomes of differences in the layers behind them.

use super::error::reach;
use crate::ir::{Binary, DType, Data, Graph, Node, Op, Reduction, Rescale, Type, Unary};

/// By how much each value of a graph differs at most, if nodes add what `own` says (`None`: nothing): stored values in steps, floats as such; infinite where no bound is known.
pub(super) fn bounds(graph: &Graph, own: impl Fn(&Node) -> Option<u32>) -> (Vec<f64>, Vec<Option<u32>>) {
    let mut apart = vec![0f64; graph.values().count()];
    let mut owns = Vec::new();
    // What is kept from inference to inference is not followed.
    for state in &graph.states {
        if let Some(slot) = apart.get_mut(state.current.0 as usize) {
            *slot = f64::INFINITY;
        }
    }
    for (_, node) in graph.nodes() {
        let operands: Vec<f64> =
            node.operands.iter().map(|id| apart.get(id.0 as usize).copied().unwrap_or(0.0)).collect();
        let mut bound = match operands.iter().all(|&d| d == 0.0) {
            true => 0.0,
            false => through(graph, node, &operands).unwrap_or(f64::INFINITY),
        };
        let added = own(node);
        owns.push(added);
        let ty = graph.ty(node.result);
        if let (Some((lo, hi)), true) = (ty.dtype.int_range(), ty.scale().is_some()) {
            // Roundings of numbers so far apart.
            bound = (bound.ceil() + f64::from(added.unwrap_or(0))).min((hi - lo) as f64);
        }
        if let Some(slot) = apart.get_mut(node.result.0 as usize) {
            *slot = bound;
        }
    }
    (apart, owns)
}

/// The difference of a result whose operands differ so much.
fn through(graph: &Graph, node: &Node, d: &[f64]) -> Option<f64> {
    let types: Vec<&Type> = node.operands.iter().map(|&id| graph.ty(id)).collect();
    let y = graph.ty(node.result);
    let first = *d.first()?;
    let largest = d.iter().copied().fold(0.0, f64::max);
    let scale = |ty: &Type| ty.scale().map(f64::from);
    let floats = y.dtype == DType::F32;
    let ratio = |k: usize| if floats { Some(1.0) } else { Some(scale(types.get(k)?)? / scale(y)?) };
    let count = || types.first().map(|x| x.shape.numel() as f64 / y.shape.numel().max(1) as f64);
    let constant = |k: usize| graph.const_data(*node.operands.get(k)?).map(|data| (types[k], data));
    Some(match &node.op {
        Op::Transpose { .. } | Op::Reshape {} | Op::Slice { .. } | Op::Broadcast {} | Op::Pad { .. } => first,
        Op::Concat { .. } | Op::MaxPool2d { .. } | Op::Clip { .. } => largest,
        Op::Reduce { function: Reduction::Max | Reduction::Min, .. } => first,
        Op::Binary { function: Binary::Max | Binary::Min, rescale: Rescale::Real, .. } => largest,
        Op::Gather { .. } if d.get(1) == Some(&0.0) => first,
        Op::Select {} if first == 0.0 => largest,
        Op::AvgPool2d { .. } | Op::ResizeBilinear { .. } => first,
        Op::Dequantize {} => first * scale(types[0])?,
        Op::Quantize { .. } => (first / scale(y)? * (1.0 + 1e-5)).floor() + 1.0,
        Op::Requantize { .. } | Op::Mean { .. } => first * ratio(0)?,
        Op::Reduce { function: Reduction::Sum, .. } => first * ratio(0)? * count()?,
        Op::Add { .. } | Op::Sub { .. } => first * ratio(0)? + d.get(1)? * ratio(1)?,
        Op::Mul { .. } if floats => match (constant(0), constant(1)) {
            (_, Some((_, data))) => first * magnitude(data),
            (Some((_, data)), _) => d.get(1)? * magnitude(data),
            _ => return None,
        },
        Op::Mul { .. } => product(&types, d, scale(types[0])? * scale(types[1])? / scale(y)?)?,
        Op::MatMul { .. } if !floats => {
            let depth = types[0].shape.last() as f64;
            depth * product(&types, d, scale(types[0])? * scale(types[1])? / scale(y)?)?
        }
        Op::Conv2d { rescale, .. } | Op::Dense { rescale, .. } if d.iter().skip(1).all(|&d| d == 0.0) => {
            first * gain(constant(1)?, rescale, ratio(0)?)?
        }
        Op::Lookup {} if types[0].dtype.size() == 1 && d.get(1) == Some(&0.0) => {
            let (ty, table) = constant(1)?;
            steepest(&table.to_ints(ty.dtype), first as usize)
        }
        Op::Softmax { beta, .. } => {
            let x = scale(types[0]).unwrap_or(1.0);
            first * x * f64::from(beta.0) / 2.0 / scale(y).unwrap_or(1.0)
        }
        Op::Logistic {} if floats => first / 4.0,
        Op::Tanh {} if floats => first,
        Op::LeakyRelu { alpha, .. } if floats => first * f64::from(alpha.0.abs()).max(1.0),
        Op::Unary { function: Unary::Neg | Unary::Abs } => first,
        _ => return None,
    })
}

/// Of products, in steps.
fn product(types: &[&Type], d: &[f64], by: f64) -> Option<f64> {
    let (a, b) = (reach(types[0])?, reach(types[1])?);
    Some(by * (a * d.get(1)? + b * d.first()? + d.first()? * d.get(1)?))
}

fn magnitude(data: &Data) -> f64 {
    data.to_f32().into_iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max)
}

/// The largest sum of magnitudes of a filter's weights, in steps of the result for a step of the operand.
fn gain((ty, data): (&Type, &Data), rescale: &Rescale, ratio: f64) -> Option<f64> {
    let filters = *ty.shape.dims().first()?;
    let size = (ty.shape.numel() / filters.max(1)).max(1);
    if *rescale == Rescale::Real {
        let sums = data.to_f32();
        let sums = sums.chunks(size).map(|filter| filter.iter().map(|w| f64::from(w.abs())).sum::<f64>());
        return Some(sums.fold(0.0, f64::max));
    }
    let quant = ty.quant.as_ref()?;
    let stored = data.to_ints(ty.dtype);
    let sums = stored.chunks(size).enumerate().map(|(o, filter)| {
        let at = if quant.scales.len() == 1 { 0 } else { o };
        let scale = quant.scales.get(at).map_or(f64::INFINITY, |scale| f64::from(scale.0));
        let zero = quant.zero_points.get(at).map_or(0, |&zero| i64::from(zero));
        filter.iter().map(|&w| (w - zero).abs() as f64).sum::<f64>() * scale * ratio
    });
    Some(sums.fold(0.0, f64::max))
}

/// The largest difference of a table's elements at most so far apart. (A table begins with the element of stored value 0: signed ones wrap.)
fn steepest(table: &[i64], far: usize) -> f64 {
    let ordered: Vec<i64> = table.iter().skip(128).chain(table.iter().take(128)).copied().collect();
    let unsigned = window(table, far);
    let signed = window(&ordered, far);
    unsigned.max(signed) as f64
}

fn window(table: &[i64], far: usize) -> i64 {
    let far = far.min(255);
    let difference =
        |i: usize| (i..=(i + far).min(table.len() - 1)).map(move |k| (table[k] - table[i]).abs());
    (0..table.len()).flat_map(difference).max().unwrap_or(0)
}
