//! Arithmetic on integers whose scale follows from the data: TFLite's hybrid kernels (`tensor_utils::AsymmetricQuantizeFloats`,
//! `SymmetricQuantizeFloats`, `reference_ops::HybridConvPerChannel`).

use super::conv::Geometry;
use super::tensor::clamp_f32;
use super::{Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{Clamp, DType, Data, Layout, Op, Type, Window, DYNAMIC_ROW as ROW};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::DynamicScale { symmetric } => scale(*symmetric, first),
        Op::DynamicQuantize {} => quantize(operands),
        Op::DynamicConv2d { window, groups, clamp } => conv2d(window, *groups, clamp, operands, result)?,
        Op::DynamicDense { clamp } => dense(clamp, operands)?,
        _ => return Ok(None),
    }))
}

/// See `dynamic_scale` in the op table.
fn scale(symmetric: bool, (ty, data): Tensor<'_>) -> Data {
    let rows = ty.shape.dims().first().copied().unwrap_or(1).max(1);
    let xs = data.to_f32();
    let of_row = if symmetric { symmetric_row } else { asymmetric_row };
    let described = xs.chunks((xs.len() / rows).max(1)).flat_map(of_row);
    Data::from_f32(&described.collect::<Vec<_>>())
}

fn ends(row: &[f32]) -> (f32, f32) {
    row.iter().fold((0.0, 0.0), |(lo, hi): (f32, f32), &x| (lo.min(x), hi.max(x)))
}

fn symmetric_row(row: &[f32]) -> [f32; ROW] {
    let (lo, hi) = ends(row);
    let range = hi.max(-lo);
    if range == 0.0 {
        return [1.0, 0.0, 0.0];
    }
    [range / 127.0, 127.0 / range, 0.0]
}

fn asymmetric_row(row: &[f32]) -> [f32; ROW] {
    let (lo, hi) = ends(row);
    if lo == hi {
        return [1.0, 0.0, 0.0];
    }
    let (lo, hi) = (f64::from(lo), f64::from(hi));
    let scale = (hi - lo) / 255.0;
    // Of the two ends, that whose zero point is less in error.
    let from_lo = 128.0 + (lo / scale).abs() < 127.0 + (hi / scale).abs();
    let zero = if from_lo { -128.0 - lo / scale } else { 127.0 - hi / scale };
    let scale = scale as f32;
    [scale, 1.0 / scale, zero.round().clamp(-128.0, 127.0) as f32]
}

/// See `dynamic_quantize` in the op table.
fn quantize(operands: &[Tensor<'_>]) -> Data {
    let (xs, scales) = (operands[0].1.to_f32(), operands[1].1.to_f32());
    let rows = (scales.len() / ROW).max(1);
    let mut stored = Vec::with_capacity(xs.len());
    for (row, by) in xs.chunks((xs.len() / rows).max(1)).zip(scales.chunks_exact(ROW)) {
        stored.extend(row.iter().map(|x| (by[2] + x * by[1]).round().clamp(-128.0, 127.0) as i8));
    }
    Data::from_i8(&stored)
}

/// What the layers have in common: a sum of products becomes a float.
struct Layer {
    scales: Vec<f32>,
    bias: Vec<f32>,
    clamp: Clamp,
}

impl Layer {
    fn of(operands: &[Tensor<'_>], clamp: &Clamp) -> Result<Self, InterpError> {
        let (weights, bias) = (operands[2].0, operands[3].1.to_f32());
        let quant = weights.quant.as_ref().ok_or_else(|| InterpError::new("the weights want a scale"))?;
        let scale = |o: usize| quant.scales[if quant.scales.len() == 1 { 0 } else { o }].0;
        Ok(Layer { scales: (0..bias.len()).map(scale).collect(), bias, clamp: *clamp })
    }

    fn result(&self, o: usize, sum: i32, scale: f32) -> f32 {
        clamp_f32(sum as f32 * (self.scales[o] * scale) + self.bias[o], self.clamp.float_bounds())
    }
}

/// See `dynamic_conv2d` in the op table.
fn conv2d(window: &Window, groups: usize, clamp: &Clamp, operands: &[Tensor<'_>], result: &Type) -> Computed {
    let layer = Layer::of(operands, clamp)?;
    let (x, by, w) = (operands[0].1, operands[1].1.to_f32(), operands[2].1);
    let (xs, ws) = (x.to_ints(DType::I8), w.to_ints(DType::I8));
    let types = [operands[0].0, operands[2].0, result];
    let geometry = Geometry::of(types, window, groups, Layout::default())?;
    let image = (result.shape.numel() / result.shape.dims()[0]).max(1);
    let mut y = vec![0f32; result.shape.numel()];
    geometry.for_each_result(|position, o, taps| {
        let by = &by[position / image * ROW..][..ROW];
        let zero = by[2] as i64;
        let sum: i64 = taps.iter().map(|&(i, j)| (xs[i] - zero) * ws[j]).sum();
        y[position] = layer.result(o, sum as i32, by[0]);
    });
    Ok(Data::from_f32(&y))
}

/// See `dynamic_dense` in the op table.
fn dense(clamp: &Clamp, operands: &[Tensor<'_>]) -> Computed {
    let layer = Layer::of(operands, clamp)?;
    let k = operands[0].0.shape.last();
    let (xs, ws) = (operands[0].1.to_ints(DType::I8), operands[2].1.to_ints(DType::I8));
    let by = operands[1].1.to_f32();
    let mut y = Vec::new();
    for (row, by) in xs.chunks_exact(k).zip(by.chunks_exact(ROW)) {
        let zero = by[2] as i64;
        y.extend(ws.chunks_exact(k).enumerate().map(|(o, filter)| {
            let sum: i64 = row.iter().zip(filter).map(|(x, w)| (x - zero) * w).sum();
            layer.result(o, sum as i32, by[0])
        }));
    }
    Ok(Data::from_f32(&y))
}
