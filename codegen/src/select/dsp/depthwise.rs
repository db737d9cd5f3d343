//! Depthwise convolutions.

use super::conv::{image_of, Requant};
use super::*;

impl<'a> Selector<'a> {
    /// Depthwise convolutions of planar rows.
    pub(super) fn depthwise_planar(&mut self, node: &'a Node, shape: &Sizes) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pad = self.ty(x).zero_point();
        let Op::Conv2d { rescale: Rescale::FixedPoint(multipliers), clamp, .. } = &node.op else {
            return Err(self.no_kernel(node));
        };
        let layer = self.layer(node, multipliers, clamp)?;
        let taps = shape.k_h * shape.k_w;
        let channel = |(c, reference): (usize, &Reference)| {
            let weights = layer.weights.iter().skip(c * taps).take(taps).copied();
            let range = requant::reachable(weights, layer.bias[c], (i8::MIN.into(), i8::MAX.into()));
            Channel { reference: *reference, range, gain_bits: 0 }
        };
        let channels: Vec<Channel> = layer.references.iter().enumerate().map(channel).collect();
        let (width, (pixel, channel)) = (width_in_registers(shape), shape.out_strides());
        let mut generics = Vec::new();
        let (tail, requant) = match requant::choose(&channels, &self.shifts) {
            Ok(Choice { form, affine }) => {
                if !self.shifts.contains(&form.shift) {
                    self.shifts.push(form.shift);
                }
                generics.extend([width, shape.stride_w, pixel, form.shift as usize].map(Generic::Size));
                generics.push(Generic::Flag(form.signed));
                (affine.into_iter().map(|affine| (affine, Some(form))).collect(), Requant::Affine(form))
            }
            Err(_) => (Vec::new(), Requant::Exact(self.requant_struct(node, multipliers, clamp))),
        };
        let centred = (!generics.is_empty() && width > 0).then_some(pad);
        let words = planar_words(&layer.weights, shape.k_h, &layer.bias, centred, &tail);
        let weights = Arg::Constant(self.step_constant("WEIGHTS", Data::from_i32(&words)), "i32");
        let (rx, ry) = (self.rows(x)?, self.rows(y)?);
        for image in 0..shape.images {
            let (rx, ry) = (image_of(rx, shape.images, image), image_of(ry, shape.images, image));
            let mut args =
                vec![Arg::Struct(self.conv_params(shape)), rx, weights.clone(), Arg::Int(pad.into())];
            let kernel = match &requant {
                Requant::Affine(_) => {
                    args.extend([ry, Arg::Int(channel as i64)]);
                    "depthwise2d_planar_i8_dsp"
                }
                Requant::Exact(_) => {
                    args.extend(requant.argument());
                    let fields = vec![("pixel", int(pixel)), ("channel", int(channel))];
                    args.extend([ry, Arg::Struct(Struct { name: "Stride", fields })]);
                    "depthwise2d_planar_i8_dsp_exact"
                }
            };
            args.push(self.band(shape.out_h));
            self.call_generic(kernel, generics.clone(), args);
        }
        Ok(())
    }
}

/// `WIDTH` of the planar kernel: pixels of a row whose sums are all kept in registers, 0 for others.
fn width_in_registers(shape: &Sizes) -> usize {
    let padded = shape.k_h == 3 && shape.k_w == 3 && shape.stride_w == 1 && shape.pad_left == 1;
    let fits = padded && shape.out_w == shape.in_w && (3..=6).contains(&shape.in_w);
    // The last of six pixels has to be in reach of a store.
    if fits && shape.out_strides().0 <= 4095 / 5 {
        shape.in_w
    } else {
        0
    }
}

/// Filters `[c][k_h][3]` as the planar kernel reads them, channel by channel: the outer taps of each row, (w₀, w₂); the middle taps of each two rows; the first
/// value; what requantises (nothing where `tail` is empty). Halves of words, the first one low. Where the kernel subtracts the padding from
/// elements (`centred`), the first value is greater by that times Σ w.
fn planar_words(
    weights: &[i8],
    k_h: usize,
    bias: &[i32],
    centred: Option<i32>,
    tail: &[(requant::Affine, Option<Form>)],
) -> Vec<i32> {
    let halves = |low: i8, high: i8| (i32::from(low) & 0xffff) | i32::from(high) << 16;
    let mut words = Vec::new();
    for (c, (filter, bias)) in weights.chunks_exact((3 * k_h).max(1)).zip(bias).enumerate() {
        let (affine, form) = tail.get(c).copied().unwrap_or_default();
        words.extend(filter.chunks_exact(3).map(|row| halves(row[0], row[2])));
        let middles: Vec<i8> = filter.iter().skip(1).step_by(3).copied().collect();
        words.extend(middles.chunks(2).map(|pair| halves(pair[0], pair.get(1).copied().unwrap_or(0))));
        let sum: i32 = filter.iter().map(|&w| i32::from(w)).sum();
        let centre = centred.map_or(0, |pad| pad.wrapping_mul(sum));
        words.push(bias.wrapping_add(affine.delta).wrapping_add(centre));
        if let Some(form) = form {
            words.extend([affine.multiplier, affine.constant]);
            words.extend(form.signed.then_some(affine.correction));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requant::Affine;

    #[test]
    fn planar_filters() {
        let weights: Vec<i8> = (1..=18).map(|w| if w % 2 == 0 { -w } else { w }).collect();
        let words = planar_words(&weights, 3, &[100, -100], None, &[]);
        let pair = |low: i32, high: i32| (low & 0xffff) | high << 16;
        assert_eq!(words[..6], [pair(1, 3), pair(-4, -6), pair(7, 9), pair(-2, 5), pair(-8, 0), 100]);
        assert_eq!((words.len(), words[11]), (12, -100));

        let affine = Affine { delta: 5, multiplier: 6, constant: 7, correction: -8 };
        let tail = |signed| [(affine, Some(Form { shift: 9, signed })); 2];
        let words = planar_words(&weights, 3, &[100, -100], Some(-128), &tail(false));
        assert_eq!((&words[5..8], words.len()), (&[100 + 5 - 128 * 5, 6, 7][..], 16));
        let words = planar_words(&weights, 2, &[0; 3], None, &tail(true));
        assert_eq!(words[..7], [pair(1, 3), pair(-4, -6), pair(-2, 5), 5, 6, 7, -8]);
    }

    /// The words give the sums of the filter back.
    #[test]
    fn words_are_taps() {
        let weights: Vec<i8> = (0..27).map(|i| (i * 89 % 256 - 128) as i8).collect();
        let words = planar_words(&weights, 3, &[0; 3], None, &[]);
        for (words, filter) in words.chunks(6).zip(weights.chunks(9)) {
            for (ky, row) in filter.chunks(3).enumerate() {
                let middle = words[3 + ky / 2] >> (16 * (ky % 2));
                assert_eq!(
                    [words[ky] as i16, middle as i16, (words[ky] >> 16) as i16],
                    [0, 1, 2].map(|k| i16::from(row[k]))
                );
            }
        }
    }
}
