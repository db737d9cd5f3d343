//! How numbers are stored: TensorFlow Lite's scheme (tensorflow.org/lite/performance/quantization_spec).

use kiln_ir::{DType, Data, Op, Quant, Real, Type};

/// Of an activation: type, scale and zero point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Format {
    pub(super) dtype: DType,
    pub(super) scale: f32,
    pub(super) zero: i32,
}

impl Format {
    /// 8 bits from −128 to 127 for a range, which is widened to hold zero; zero is exact.
    pub(super) fn of_8_bits((lo, hi): (f32, f32)) -> Format {
        let (lo, hi) = (lo.min(0.0), hi.max(0.0));
        let scale = sane((hi - lo) / 255.0);
        let zero = (-128.0 - lo / scale).round().clamp(-128.0, 127.0) as i32;
        Format { dtype: DType::I8, scale, zero }
    }

    /// 16 bits from −32767 to 32767; the zero point is 0.
    pub(super) fn of_16_bits((lo, hi): (f32, f32)) -> Format {
        Format { dtype: DType::I16, scale: sane(hi.max(-lo) / 32767.0), zero: 0 }
    }

    /// The format that the arithmetic of an op's result implies, if it does.
    pub(super) fn implied(op: &Op, wide: bool) -> Option<Format> {
        let (scale, zero) = match (op, wide) {
            (Op::Softmax { .. } | Op::Logistic {}, false) => (1.0 / 256.0, -128),
            (Op::Tanh {}, false) => (1.0 / 128.0, 0),
            (Op::Softmax { .. } | Op::Logistic {} | Op::Tanh {}, true) => (1.0 / 32768.0, 0),
            _ => return None,
        };
        Some(Format { dtype: if wide { DType::I16 } else { DType::I8 }, scale, zero })
    }

    /// The type of a tensor of that shape.
    pub(super) fn ty(self, dims: &[usize]) -> Type {
        Type::quantized(self.dtype, dims, self.scale, self.zero)
    }

    pub(super) fn stored(self, x: f32) -> i64 {
        let (lo, hi) = self.dtype.int_range().unwrap_or((0, 0));
        (((x / self.scale).round() as i64).saturating_add(self.zero.into())).clamp(lo, hi)
    }

    /// The number that is stored for one.
    pub(super) fn nearest(self, x: f32) -> f32 {
        self.scale * (self.stored(x) - i64::from(self.zero)) as f32
    }

    /// A constant in this format.
    pub(super) fn store(self, numbers: &[f32]) -> Data {
        Data::from_ints(self.dtype, numbers.iter().map(|&x| self.stored(x)))
    }
}

/// A scale is positive, finite and no subnormal number.
fn sane(scale: f32) -> f32 {
    if scale.is_finite() {
        scale.max(1e-30)
    } else {
        f32::MAX / 65536.0
    }
}

/// Weights and bias of a layer as integers.
pub(super) struct Weights {
    /// Symmetric, from −127 to 127 (or −7 to 7), of the weights' shape; with a scale for each filter, or one.
    pub(super) ty: Type,
    pub(super) data: Data,
    /// 32 bits, in steps of the operand's scale times that of the weights.
    pub(super) bias: Option<(Type, Data)>,
}

impl Weights {
    /// The scale of a filter.
    pub(super) fn scale(&self, filter: usize) -> f32 {
        let scales = self.ty.quant.as_ref().map_or(&[][..], |quant| &quant.scales);
        scales.get(if scales.len() == 1 { 0 } else { filter }).map_or(1.0, |scale| scale.0)
    }
}

/// Stores the weights and the bias of a layer, of which the first axis counts filters. `least` has a scale for each filter, or for all, that its own is not below.
pub(super) fn weights(
    dims: &[usize],
    (numbers, bias): (&[f32], Option<&[f32]>),
    operand_scale: f32,
    four_bits: bool,
    per_channel: bool,
    least: &[f32],
) -> Weights {
    let most = if four_bits { 7.0 } else { 127.0 };
    let filters = dims.first().copied().unwrap_or(1).max(1);
    let taps = (numbers.len() / filters).max(1);
    let mut scales: Vec<f32> = if per_channel {
        numbers.chunks(taps).map(|filter| filter_scale(filter, most, four_bits)).collect()
    } else {
        vec![filter_scale(numbers, most, four_bits)]
    };
    scales.iter_mut().zip(least).for_each(|(scale, &least)| *scale = scale.max(least));
    // The bias has to fit 32 bits, with room for sums.
    for (o, b) in bias.unwrap_or(&[]).iter().enumerate() {
        let least = b.abs() / (operand_scale * (1u32 << 29) as f32);
        let scale = if per_channel { &mut scales[o] } else { &mut scales[0] };
        *scale = scale.max(least);
    }
    let scale_of = |o: usize| scales[if per_channel { o } else { 0 }];
    let stored =
        numbers.iter().enumerate().map(|(i, w)| (w / scale_of(i / taps)).round().clamp(-most, most) as i64);
    let data = Data::from_ints(DType::I8, stored);
    let quant = |scales: Vec<f32>| {
        let zero_points = vec![0; scales.len()];
        let axis = (scales.len() > 1).then_some(0);
        Some(Quant { scales: scales.into_iter().map(Real).collect(), zero_points, axis })
    };
    let bias = bias.map(|bias| {
        let steps: Vec<f32> = scales.iter().map(|scale| scale * operand_scale).collect();
        let step = |o: usize| f64::from(steps[if per_channel { o } else { 0 }]);
        let stored = bias.iter().enumerate().map(|(o, &b)| (f64::from(b) / step(o)).round() as i64);
        let data = Data::from_ints(DType::I32, stored.map(|b| b.clamp(i32::MIN.into(), i32::MAX.into())));
        let mut ty = Type::plain(DType::I32, &[bias.len()]);
        ty.quant = quant(steps);
        (ty, data)
    });
    let mut ty = Type::plain(DType::I8, dims);
    ty.quant = quant(scales);
    Weights { ty, data, bias }
}

/// The step of a filter: its largest magnitude is the largest integer. Of few bits, the step with the least squared error.
fn filter_scale(filter: &[f32], most: f32, search: bool) -> f32 {
    let largest = filter.iter().fold(0f32, |m, w| m.max(w.abs()));
    // A filter of zeros: its bias alone counts.
    let whole = sane(largest / most).max(1e-12);
    if !search {
        return whole;
    }
    let error = |scale: f32| {
        let error = |w: &f32| f64::from((w / scale).round().clamp(-most, most) * scale - w).powi(2);
        filter.iter().map(error).sum::<f64>()
    };
    let scales = (20..=40).map(|step| whole * step as f32 / 40.0);
    scales.map(|scale| (error(scale), scale)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(whole, |best| best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_exact_and_bounds_are_reached() {
        for (lo, hi) in [(0.0, 6.0), (-1.0, 1.0), (-0.3, 12.7), (2.0, 3.0), (-5.0, -1.0), (0.0, 0.0)] {
            let format = Format::of_8_bits((lo, hi));
            assert_eq!(format.nearest(0.0), 0.0);
            assert!(
                (format.nearest(lo) - lo).abs() <= format.scale
                    && (format.nearest(hi) - hi).abs() <= format.scale
            );
            let wide = Format::of_16_bits((lo, hi));
            assert!((wide.nearest(lo) - lo).abs() <= wide.scale && wide.nearest(0.0) == 0.0);
        }
    }

    #[test]
    fn filters_have_scales_of_their_own() {
        let numbers = [1.27, -0.5, 0.0, 254.0];
        let stored = weights(&[2, 2], (&numbers, Some(&[1.0, -1.0])), 0.5, false, true, &[]);
        assert_eq!(stored.data.to_i8(), [127, -50, 0, 127]);
        let quant = stored.ty.quant.unwrap();
        assert_eq!((quant.axis, quant.scales[0].0, quant.scales[1].0), (Some(0), 0.01, 2.0));
        assert_eq!(stored.bias.unwrap().1.to_i32(), [200, -1]);
        let one = weights(&[2, 2], (&numbers, None), 0.5, false, false, &[]);
        assert_eq!(one.data.to_i8(), [1, 0, 0, 127]);
        let coarser = weights(&[2, 2], (&numbers, None), 0.5, false, true, &[0.02, 0.0]);
        assert_eq!(
            (coarser.data.to_i8(), coarser.scale(0), coarser.scale(1)),
            (vec![64, -25, 0, 127], 0.02, 2.0)
        );
        // Filters of zeros, whose bias still counts.
        let empty = weights(&[1, 2], (&[0.0, 0.0], Some(&[3.0])), 0.5, false, true, &[]);
        let (ty, data) = empty.bias.unwrap();
        let number =
            f64::from(ty.scale().unwrap_or(ty.quant.unwrap().scales[0].0)) * f64::from(data.to_i32()[0]);
        assert!((number - 3.0).abs() < 1e-4, "{number}");
    }

    #[test]
    fn four_bits_have_the_step_of_least_error() {
        let numbers: Vec<f32> = (0..64).map(|k| ((k * 37 % 64) as f32 - 32.0) / 100.0).chain([3.0]).collect();
        let stored = weights(&[1, 65], (&numbers, None), 1.0, true, true, &[]);
        assert!(stored.data.to_i8().iter().all(|w| (-7..=7).contains(w)));
        assert!(stored.ty.quant.unwrap().scales[0].0 < 3.0 / 7.0);
    }
}
