//! Convolution and matrix product.

use super::fixed_point::multiply_wide;
use super::requantise::Factors;
use super::tensor::{centred, clamp_f32, clamp_i32, ints, pack_i32};
use super::{Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{Clamp, DType, Data, Layout, Multiplier, Op, Order, Rescale, Type, Window};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    Ok(Some(match op {
        Op::Conv2d { window, groups, rescale, clamp, layout } => {
            conv2d(window, *groups, rescale, clamp, *layout, operands, result)?
        }
        Op::ComputedConv2d { window, groups, rescale, clamp } => {
            conv2d(window, *groups, rescale, clamp, Layout::default(), operands, result)?
        }
        Op::Dense { rescale, clamp } => dense(rescale, clamp, operands, result)?,
        _ => return Ok(None),
    }))
}

/// Turns accumulators into results: multiplier of the channel, zero point, clamp.
struct Output<'a> {
    factors: Factors<'a>,
    bias: Bias,
    zero_point: i32,
    bounds: (i32, i32),
}

/// What is added to the sums, and how wide they are.
enum Bias {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

impl Bias {
    fn of(operands: &[Tensor<'_>]) -> Bias {
        match operands.get(2) {
            Some((ty, data)) if ty.dtype == DType::I64 => Bias::Wide(data.to_ints(DType::I64)),
            Some((ty, data)) => Bias::Narrow(ints(ty, data)),
            None => Bias::Narrow(Vec::new()),
        }
    }
}

impl Output<'_> {
    /// The result of the products of a channel.
    fn of(&self, products: impl Iterator<Item = i32>, channel: usize) -> i32 {
        let scaled = match (&self.bias, self.factors) {
            (Bias::Narrow(bias), factors) => {
                let bias = bias.get(channel).copied().unwrap_or(0);
                factors.apply(products.fold(0i32, i32::wrapping_add).wrapping_add(bias), channel)
            }
            (Bias::Wide(bias), factors) => {
                let by = match factors {
                    Factors::FixedPoint(list) => list[if list.len() == 1 { 0 } else { channel }],
                    // (Verified graphs have no others for sums of 64 bits.)
                    _ => Multiplier { value: 0, shift: 0 },
                };
                let sum = products.fold(0i64, |sum, product| sum.wrapping_add(product.into()));
                multiply_wide(sum.wrapping_add(bias.get(channel).copied().unwrap_or(0)), by)
            }
        };
        clamp_i32(scaled.wrapping_add(self.zero_point), self.bounds)
    }
}

/// Zero point of the weights of output channel `o`.
fn weight_zero(ty: &Type, o: usize) -> i32 {
    match &ty.quant {
        Some(q) if q.axis == Some(0) => q.zero_points.get(o).copied().unwrap_or(0),
        _ => ty.zero_point(),
    }
}

/// Weights minus their zero point.
fn centred_weights(ty: &Type, data: &Data) -> Vec<i32> {
    let per_channel = ty.shape.dims()[1..].iter().product::<usize>().max(1);
    let centre = |(i, w): (usize, i32)| w.wrapping_sub(weight_zero(ty, i / per_channel));
    ints(ty, data).into_iter().enumerate().map(centre).collect()
}

/// The geometry of one convolution; sizes of images are \[n, h, w, c\] in any layout.
pub(super) struct Geometry<'a> {
    x: [usize; 4],
    w: [usize; 4],
    y: [usize; 4],
    window: &'a Window,
    groups: usize,
    layout: Layout,
}

impl<'a> Geometry<'a> {
    /// Of image, weights and result.
    pub(super) fn of(
        [x, w, y]: [&Type; 3],
        window: &'a Window,
        groups: usize,
        layout: Layout,
    ) -> Result<Self, InterpError> {
        Ok(Geometry {
            x: image(x, layout.x)?,
            w: image(w, Order::ChannelLast)?,
            y: image(y, layout.y)?,
            window,
            groups,
            layout,
        })
    }

    /// Calls `visit(result position, output channel, taps)` for every result, where `taps` lists the positions in
    /// operand and weights of every tap inside the image, in the order kh, kw, c.
    pub(super) fn for_each_result(&self, mut visit: impl FnMut(usize, usize, &[(usize, usize)])) {
        let [_, h, w, _] = self.x;
        let [_, k_h, k_w, group_c] = self.w;
        let [n, out_h, out_w, out_c] = self.y;
        let window = self.window;
        let per_group = out_c / self.groups;
        let mut taps = Vec::with_capacity(k_h * k_w * group_c);
        let from = |place| position(self.layout.x.strides(self.x), place);
        let to = |place| position(self.layout.y.strides(self.y), place);
        let channel_step = from([0, 0, 0, 1]);
        for (image, oy, ox, o) in (0..n).flat_map(|b| {
            (0..out_h).flat_map(move |y| (0..out_w).flat_map(move |x| (0..out_c).map(move |o| (b, y, x, o))))
        }) {
            taps.clear();
            for ky in 0..k_h {
                let row = oy * window.stride[0] + ky * window.dilation[0];
                let Some(iy) = row.checked_sub(window.pad.top).filter(|&iy| iy < h) else { continue };
                for kx in 0..k_w {
                    let column = ox * window.stride[1] + kx * window.dilation[1];
                    let Some(ix) = column.checked_sub(window.pad.left).filter(|&ix| ix < w) else { continue };
                    let first = from([image, iy, ix, o / per_group * group_c]);
                    let weight = ((o * k_h + ky) * k_w + kx) * group_c;
                    taps.extend((0..group_c).map(|i| (first + i * channel_step, weight + i)));
                }
            }
            visit(to([image, oy, ox, o]), o, &taps);
        }
    }
}

/// Where an element is, from its image, row, column and channel.
fn position(strides: [usize; 4], place: [usize; 4]) -> usize {
    strides.iter().zip(place).map(|(stride, index)| stride * index).sum()
}

/// The dimensions \[n, h, w, c\] of an image (or those of weights).
fn image(ty: &Type, order: Order) -> Result<[usize; 4], InterpError> {
    let wrong = || InterpError::new("conv2d wants tensors of four axes");
    order.image(ty.shape.dims()).ok_or_else(wrong)
}

/// See `conv2d` in the op table. Taps outside the image count as zero (that is, are left out).
fn conv2d(
    window: &Window,
    groups: usize,
    rescale: &Rescale,
    clamp: &Clamp,
    layout: Layout,
    operands: &[Tensor<'_>],
    result: &Type,
) -> Computed {
    let (x, w) = (operands[0], operands[1]);
    let geometry = Geometry::of([x.0, w.0, result], window, groups, layout)?;
    match rescale {
        Rescale::Real => {
            let (xs, ws) = (x.1.to_f32(), w.1.to_f32());
            let bias = operands.get(2).map(|b| b.1.to_f32());
            let mut y = vec![0f32; result.shape.numel()];
            geometry.for_each_result(|position, o, taps| {
                let sum = taps.iter().fold(0f32, |sum, &(i, j)| sum + xs[i] * ws[j]);
                let sum = sum + bias.as_ref().map_or(0.0, |b| b[o]);
                y[position] = clamp_f32(sum, clamp.float_bounds());
            });
            Ok(Data::from_f32(&y))
        }
        rescale => {
            let (xs, ws) = (centred(x.0, x.1), centred_weights(w.0, w.1));
            let output = Output {
                factors: Factors::of(rescale)?,
                bias: Bias::of(operands),
                zero_point: result.zero_point(),
                bounds: clamp.int_bounds(),
            };
            let mut y = vec![0; result.shape.numel()];
            geometry.for_each_result(|position, o, taps| {
                y[position] = output.of(taps.iter().map(|&(i, j)| xs[i].wrapping_mul(ws[j])), o);
            });
            Ok(pack_i32(result.dtype, y))
        }
    }
}

/// See `dense` in the op table.
fn dense(rescale: &Rescale, clamp: &Clamp, operands: &[Tensor<'_>], result: &Type) -> Computed {
    let (x, w) = (operands[0], operands[1]);
    let [n, k] = *w.0.shape.dims() else { return Err(InterpError::new("dense wants weights of two axes")) };
    match rescale {
        Rescale::Real => {
            let (xs, ws) = (x.1.to_f32(), w.1.to_f32());
            let bias = operands.get(2).map(|b| b.1.to_f32());
            let mut y = Vec::with_capacity(result.shape.numel());
            for row in xs.chunks_exact(k) {
                for o in 0..n {
                    let taps = row.iter().zip(&ws[o * k..]);
                    let sum = taps.fold(0f32, |sum, (x, w)| sum + x * w);
                    let sum = sum + bias.as_ref().map_or(0.0, |b| b[o]);
                    y.push(clamp_f32(sum, clamp.float_bounds()));
                }
            }
            Ok(Data::from_f32(&y))
        }
        rescale => {
            let (xs, ws) = (centred(x.0, x.1), centred_weights(w.0, w.1));
            let output = Output {
                factors: Factors::of(rescale)?,
                bias: Bias::of(operands),
                zero_point: result.zero_point(),
                bounds: clamp.int_bounds(),
            };
            let mut y = Vec::with_capacity(result.shape.numel());
            for row in xs.chunks_exact(k) {
                for o in 0..n {
                    let taps = row.iter().zip(&ws[o * k..]);
                    y.push(output.of(taps.map(|(x, w)| x.wrapping_mul(*w)), o));
                }
            }
            Ok(pack_i32(result.dtype, y))
        }
    }
}
