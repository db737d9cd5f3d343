//! Pooling.

use super::tensor::{clamp_f32, clamp_i32, ints, pack_i32};
use super::{Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{Clamp, DType, Data, Op, Type, Window};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::AvgPool2d { window, clamp } => avg(window, clamp, first, result)?,
        Op::MaxPool2d { window, clamp } => max(window, clamp, first, result)?,
        _ => return Ok(None),
    }))
}

/// What `of` makes of the positions of the taps inside the image, row by row, for every result.
fn of_windows<T>(
    x: &Type,
    y: &Type,
    window: &Window,
    mut of: impl FnMut(&[usize]) -> T,
) -> Result<Vec<T>, InterpError> {
    let (&[_, h, w, c], &[n, out_h, out_w, _]) = (x.shape.dims(), y.shape.dims()) else {
        return Err(InterpError::new("pooling wants tensors of four axes"));
    };
    let before = [window.pad.top, window.pad.left];
    // The part of output `out`'s window that lies inside the image, along one axis.
    let inside = |axis: usize, out: usize, size: usize| {
        let begin = out * window.stride[axis];
        begin.saturating_sub(before[axis])..(begin + window.size[axis]).saturating_sub(before[axis]).min(size)
    };
    let (mut taps, mut all) = (Vec::new(), Vec::with_capacity(y.shape.numel()));
    for image in 0..n {
        for oy in 0..out_h {
            for ox in 0..out_w {
                for channel in 0..c {
                    taps.clear();
                    for iy in inside(0, oy, h) {
                        taps.extend(inside(1, ox, w).map(|ix| ((image * h + iy) * w + ix) * c + channel));
                    }
                    all.push(of(&taps));
                }
            }
        }
    }
    Ok(all)
}

/// See `avg_pool2d` in the op table.
fn avg(window: &Window, clamp: &Clamp, (x, data): Tensor<'_>, result: &Type) -> Computed {
    if x.dtype == DType::F32 {
        let xs = data.to_f32();
        let y = of_windows(x, result, window, |taps| {
            let sum = taps.iter().fold(0f32, |sum, &i| sum + xs[i]);
            clamp_f32(sum / taps.len() as f32, clamp.float_bounds())
        })?;
        return Ok(Data::from_f32(&y));
    }
    let xs = ints(x, data);
    let y = of_windows(x, result, window, |taps| {
        let sum = taps.iter().fold(0i32, |sum, &i| sum.wrapping_add(xs[i]));
        let count = (taps.len() as i32).max(1);
        let half = if sum > 0 { count / 2 } else { -(count / 2) };
        clamp_i32(sum.wrapping_add(half) / count, clamp.int_bounds())
    })?;
    Ok(pack_i32(result.dtype, y))
}

/// See `max_pool2d` in the op table.
fn max(window: &Window, clamp: &Clamp, (x, data): Tensor<'_>, result: &Type) -> Computed {
    if x.dtype == DType::F32 {
        let xs = data.to_f32();
        let y = of_windows(x, result, window, |taps| {
            let larger = |largest: f32, &i: &usize| if largest < xs[i] { xs[i] } else { largest };
            clamp_f32(taps.iter().fold(f32::MIN, larger), clamp.float_bounds())
        })?;
        return Ok(Data::from_f32(&y));
    }
    let xs = ints(x, data);
    let y = of_windows(x, result, window, |taps| {
        let largest = taps.iter().map(|&i| xs[i]).max().unwrap_or(i32::MIN);
        clamp_i32(largest, clamp.int_bounds())
    })?;
    Ok(pack_i32(result.dtype, y))
}
