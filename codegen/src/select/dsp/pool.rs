//! Largest elements and means of windows.

use super::*;
use crate::ir::{Clamp, Window};
use crate::select::conv::{rows, whole};

impl<'a> Selector<'a> {
    /// Selects the kernel of a pooling or mean; `false` where it has none.
    pub(in crate::select) fn windows(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let dtypes = [node.operands.first().copied().unwrap_or(node.result), node.result];
        if dtypes.map(|id| self.ty(id).dtype) != [DType::I8; 2] {
            return Ok(false);
        }
        match &node.op {
            Op::MaxPool2d { window, clamp } => self.largest(node, window, clamp),
            Op::AvgPool2d { window, clamp } => self.average(node, window, clamp),
            Op::Mean { axes, rescale, clamp } => self.mean_of_pixels(node, axes, rescale, clamp),
            _ => Ok(false),
        }
    }

    fn largest(&mut self, node: &'a Node, window: &Window, clamp: &Clamp) -> Result<bool, Problem> {
        let [k_h, k_w] = window.size;
        if self.options.target() == Target::Vectors {
            return Ok(false);
        }
        if !(1..=3).contains(&k_h) || !(1..=3).contains(&k_w) {
            return Ok(false);
        }
        let (lo, hi) = clamp.int_bounds();
        let range = [Arg::Int(lo.into()), Arg::Int(hi.into())];
        let generics = vec![Generic::Size(k_h), Generic::Size(k_w)];
        self.pool_calls(node, window, KernelId::MaxPool2dI8Dsp, generics, &range)
    }

    fn average(&mut self, node: &'a Node, window: &Window, clamp: &Clamp) -> Result<bool, Problem> {
        let ([_, in_h, in_w, c], [_, out_h, out_w, _]) = self.images(node)?;
        let ends = |out: usize, axis: usize| (out.max(1) - 1) * window.stride[axis] + window.size[axis];
        let cut = window.pad.top > 0 || window.pad.left > 0 || ends(out_h, 0) > in_h || ends(out_w, 1) > in_w;
        let taps = window.size[0] * window.size[1];
        if cut || c < LEAST_CHANNELS {
            return Ok(false);
        }
        let (lo, hi) = clamp.int_bounds();
        let n = taps as i32;
        let average = |sum: i32| (((sum.abs() + n / 2) / n) * sum.signum()).max(lo).min(hi);
        match fit_mean(taps, 1.0 / f64::from(n), average) {
            Some(mean) => self.pool_calls(node, window, self.mean_kernel(), Vec::new(), &[Arg::Struct(mean)]),
            None => Ok(false),
        }
    }

    /// A mean over axes that follow each other, before the last ones: of all pixels of an image, for example.
    fn mean_of_pixels(
        &mut self,
        node: &'a Node,
        axes: &[usize],
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Result<bool, Problem> {
        let (x, y) = (node.operands[0], node.result);
        let (tx, ty) = (self.ty(x), self.ty(y));
        let dims = tx.shape.dims();
        let (Some(&first), Some(&last)) = (axes.iter().min(), axes.iter().max()) else { return Ok(false) };
        let reduced = dims.get(first..=last).unwrap_or_default();
        let (taps, c) = (reduced.iter().product(), dims.iter().skip(last + 1).product::<usize>());
        let images = dims.iter().take(first).product::<usize>();
        let Some(by) = single(rescale).filter(|_| reduced.len() == axes.len() && c >= LEAST_CHANNELS) else {
            return Ok(false);
        };
        let (x_zero, out_zero, (lo, hi)) = (tx.zero_point(), ty.zero_point(), clamp.int_bounds());
        let reference = Reference { multiplier: *by, scaling: Scaling::Twice, zero_point: out_zero, lo, hi };
        let mean = |sum: i32| reference.apply(sum.wrapping_sub(x_zero.wrapping_mul(taps as i32)));
        let Some(mean) = fit_mean(taps, by.factor(), mean) else { return Ok(false) };
        let fields = [
            ("in_h", images),
            ("in_w", taps),
            ("c", c),
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
            whole(self.region(x)?, taps * c),
            Arg::Struct(mean),
            whole(self.region(y)?, c),
            Arg::Band(images),
        ];
        self.call(self.mean_kernel(), args);
        Ok(true)
    }

    fn mean_kernel(&self) -> KernelId {
        if self.options.target() == Target::Vectors {
            KernelId::MeanPool2dI8Simd
        } else if self.compact() {
            KernelId::MeanPool2dI8DspCompact
        } else {
            KernelId::MeanPool2dI8Dsp
        }
    }

    /// Calls of a kernel for each image of a batch.
    fn pool_calls(
        &mut self,
        node: &'a Node,
        window: &Window,
        kernel: KernelId,
        generics: Vec<Generic>,
        parameters: &[Arg],
    ) -> Result<bool, Problem> {
        let ([images, ..], [_, out_h, ..]) = self.images(node)?;
        let pool = self.pool_params(node, window)?;
        let (x, y) = (self.rows(node.operands[0])?, self.rows(node.result)?);
        for image in 0..images {
            let mut args = vec![Arg::Struct(pool.clone()), rows(x, images, image)];
            args.extend(parameters.iter().cloned());
            args.extend([rows(y, images, image), self.band(out_h)]);
            self.call_generic(kernel, generics.clone(), args);
        }
        Ok(true)
    }
}

/// The kernel of means takes eight channels at once.
const LEAST_CHANNELS: usize = 8;

/// Sums of more 8-bit values than these do not fit 16 bits.
const MOST_TAPS: usize = 256;

/// Bits behind the point in a `MeanLinear`, of sums and of their factor: `MeanLinear::SHIFT` and 16 more.
const SHIFT: u32 = 14;
const FACTOR_SHIFT: i32 = 30;

/// A `MeanLinear` that gives the result of every sum of so many stored values, which has about that factor. `None` where there is none close to it.
fn fit_mean(taps: usize, factor: f64, result: impl Fn(i32) -> i32) -> Option<Struct> {
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
            (least <= most && i32::try_from(start).is_ok() && fits).then(|| {
                let fields = vec![("factor", Field::Int(factor)), ("start", Field::Int(start))];
                Struct { name: "MeanLinear", fields }
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(mean: &Struct) -> (i64, i64) {
        match mean.fields[..] {
            [("factor", Field::Int(factor)), ("start", Field::Int(start))] => (factor, start),
            _ => panic!("{mean:?}"),
        }
    }

    #[test]
    fn averages_of_every_size() {
        for n in 1..=256 {
            let average = |sum: i32| {
                let half = if sum < 0 { -(n / 2) } else { n / 2 };
                (sum + half) / n
            };
            let mean =
                fit_mean(n as usize, 1.0 / f64::from(n), average).unwrap_or_else(|| panic!("{n} taps"));
            let (factor, start) = parts(&mean);
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
