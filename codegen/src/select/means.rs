//! Windows of images, and means of them by one product.

use super::conv::whole;
use super::kernel::Asked;
use super::*;
use crate::ir::{Clamp, Order};
use crate::requant::{Reference, Scaling};

/// A window of int8 with its clamp.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) window: crate::ir::Window,
    pub(super) clamp: (i32, i32),
}

/// A mean: the product that gives it, and what it is of.
#[derive(Clone, Debug)]
pub(super) struct Means {
    by: MeanLinear,
    of: Of,
}

#[derive(Clone, Debug)]
enum Of {
    /// Of windows of images.
    Windows(crate::ir::Window),
    /// Of so many pixels of so many channels, in so many images.
    Pixels { images: usize, taps: usize, channels: usize },
}

/// The window that slides over a node's operand of int8.
pub(super) fn window(asked: &Asked<'_>) -> Option<Window> {
    let (Op::MaxPool2d { window, clamp } | Op::AvgPool2d { window, clamp }) = &asked.node.op else {
        return None;
    };
    let [image, _] = images(asked)?;
    (is_i8(asked) && image[0] <= conv::MOST_IMAGES)
        .then(|| Window { window: *window, clamp: clamp.int_bounds() })
}

/// The mean of a node; `None` where it has no exact form.
pub(super) fn fit(asked: &Asked<'_>) -> Option<Means> {
    match &asked.node.op {
        Op::AvgPool2d { .. } => average(asked),
        Op::Mean { axes, rescale, clamp } => mean_of_pixels(asked, axes, rescale, clamp),
        _ => None,
    }
}

/// Operand and result as images.
fn images(asked: &Asked<'_>) -> Option<[[usize; 4]; 2]> {
    let layout = asked.node.op.layout();
    let image = |id: ValueId, order: Order| order.image(asked.graph.ty(id).shape.dims());
    Some([image(*asked.node.operands.first()?, layout.x)?, image(asked.node.result, layout.y)?])
}

fn is_i8(asked: &Asked<'_>) -> bool {
    let ids = asked.node.operands.iter().take(1).chain([&asked.node.result]);
    ids.clone().count() == 2 && ids.into_iter().all(|&id| asked.graph.ty(id).dtype == DType::I8)
}

fn average(asked: &Asked<'_>) -> Option<Means> {
    let Window { window, clamp: (lo, hi) } = window(asked)?;
    let [[_, in_h, in_w, c], [_, out_h, out_w, _]] = images(asked)?;
    let ends = |out: usize, axis: usize| (out.max(1) - 1) * window.stride[axis] + window.size[axis];
    let cut = window.pad.top > 0 || window.pad.left > 0 || ends(out_h, 0) > in_h || ends(out_w, 1) > in_w;
    let taps = window.size[0] * window.size[1];
    if cut || c < LEAST_CHANNELS {
        return None;
    }
    let n = taps as i32;
    let average = |sum: i32| (((sum.abs() + n / 2) / n) * sum.signum()).max(lo).min(hi);
    let by = fit_mean(taps, 1.0 / f64::from(n), average)?;
    Some(Means { by, of: Of::Windows(window) })
}

/// A mean over axes that follow each other, before the last ones: of all pixels of an image, for example.
fn mean_of_pixels(asked: &Asked<'_>, axes: &[usize], rescale: &Rescale, clamp: &Clamp) -> Option<Means> {
    let (tx, ty) = (asked.graph.ty(*asked.node.operands.first()?), asked.graph.ty(asked.node.result));
    let dims = tx.shape.dims();
    let (&first, &last) = (axes.iter().min()?, axes.iter().max()?);
    let reduced = dims.get(first..=last).unwrap_or_default();
    let (taps, channels) = (reduced.iter().product(), dims.iter().skip(last + 1).product::<usize>());
    let images = dims.iter().take(first).product::<usize>();
    let along = is_i8(asked) && reduced.len() == axes.len() && channels >= LEAST_CHANNELS;
    let by = single(rescale).filter(|_| along)?;
    let (x_zero, zero_point, (lo, hi)) = (tx.zero_point(), ty.zero_point(), clamp.int_bounds());
    let reference = Reference { multiplier: *by, scaling: Scaling::Twice, zero_point, lo, hi };
    let mean = |sum: i32| reference.apply(sum.wrapping_sub(x_zero.wrapping_mul(taps as i32)));
    let by = fit_mean(taps, by.factor(), mean)?;
    Some(Means { by, of: Of::Pixels { images, taps, channels } })
}

impl<'a> Selector<'a> {
    /// The calls of a mean.
    pub(super) fn means(&mut self, node: &'a Node, kernel: KernelId, means: &Means) -> Selected {
        let MeanLinear { factor, start } = means.by;
        let fields = vec![("factor", Field::Int(factor.into())), ("start", Field::Int(start.into()))];
        let by = Arg::Struct(Struct { name: "MeanLinear", fields });
        let (images, taps, channels) = match &means.of {
            Of::Windows(window) => return self.pool_calls(node, window, kernel, Vec::new(), &[by]),
            Of::Pixels { images, taps, channels } => (*images, *taps, *channels),
        };
        let fields = [
            ("in_h", images),
            ("in_w", taps),
            ("c", channels),
            ("out_w", 1),
            ("k_h", 1),
            ("k_w", taps),
            ("stride_h", 1),
            ("stride_w", 1),
            ("pad_top", 0),
            ("pad_left", 0),
        ];
        let fields = fields.map(|(name, value)| (name, int(value))).to_vec();
        let args = vec![
            Arg::Struct(Struct { name: "Pool", fields }),
            whole(self.region(node.operands[0])?, taps * channels),
            by,
            whole(self.region(node.result)?, channels),
            Arg::Band(images),
        ];
        self.call(kernel, args);
        Ok(())
    }
}

/// The kernel of means takes eight channels at once.
const LEAST_CHANNELS: usize = 8;

/// Sums of more 8-bit values than these do not fit 16 bits.
const MOST_TAPS: usize = 256;

/// Bits behind the point in a `MeanLinear`, of sums and of their factor: `MeanLinear::SHIFT` and 16 more.
const SHIFT: u32 = 14;
const FACTOR_SHIFT: i32 = 30;

/// The kernels' `MeanLinear`.
#[derive(Clone, Copy, Debug)]
struct MeanLinear {
    factor: i32,
    start: i32,
}

/// A product that gives the result of every sum of so many stored values, and has about that factor. `None` where there is none close to it.
fn fit_mean(taps: usize, factor: f64, result: impl Fn(i32) -> i32) -> Option<MeanLinear> {
    if !(1..=MOST_TAPS).contains(&taps) {
        return None;
    }
    let n = taps as i32;
    let expected: Vec<(i32, i32)> = (-128 * n..=127 * n).map(|sum| (sum, result(sum))).collect();
    let centre = factor * f64::from(FACTOR_SHIFT).exp2();
    // Halves that round away from zero need a factor slightly too large.
    let nearby = [0.0, 1.0, 2.0, -1.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, -4.0, -64.0];
    nearby
        .iter()
        .map(|offset| (centre + offset).round())
        .filter(|f| (1.0..2_147_483_648.0).contains(f))
        .find_map(|factor| {
            let factor = factor as i64;
            // Each sum demands that `start` is at least and at most something.
            let demands = expected.iter().map(|&(sum, y)| {
                let part = (factor * i64::from(sum)) >> 16;
                let (least, most) = (i64::from(y) << SHIFT, (i64::from(y + 1) << SHIFT) - 1);
                let least = if y > -128 { least - part } else { i64::MIN };
                (least, if y < 127 { most - part } else { i64::MAX })
            });
            let (least, most) =
                demands.fold((i64::MIN, i64::MAX), |all, one| (all.0.max(one.0), all.1.min(one.1)));
            let start = if least == i64::MIN { most } else { least };
            let in_range = |sum: i64| i32::try_from(start.checked_add((factor * sum) >> 16)?).ok();
            let fits = in_range(i64::from(-128 * n)).is_some() && in_range(i64::from(127 * n)).is_some();
            let factor = i32::try_from(factor).ok().filter(|_| least <= most && fits)?;
            Some(MeanLinear { factor, start: i32::try_from(start).ok()? })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_of_every_size() {
        for n in 1..=256 {
            let average = |sum: i32| {
                let half = if sum < 0 { -(n / 2) } else { n / 2 };
                (sum + half) / n
            };
            let mean =
                fit_mean(n as usize, 1.0 / f64::from(n), average).unwrap_or_else(|| panic!("{n} taps"));
            let (factor, start) = (i64::from(mean.factor), i64::from(mean.start));
            for sum in -128 * n..=127 * n {
                let got = (start + ((factor * i64::from(sum)) >> 16)) >> SHIFT;
                assert_eq!(got.clamp(-128, 127), i64::from(average(sum)), "{sum} / {n}");
            }
        }
        assert!(fit_mean(257, 1.0 / 257.0, |sum| sum / 257).is_none());
    }

    #[test]
    fn a_clamp_inside_of_the_range_is_not_linear() {
        assert!(fit_mean(4, 0.25, |sum| ((sum.abs() + 2) / 4 * sum.signum()).max(3)).is_none());
    }
}
