//! Depthwise convolutions.

use super::conv::{Layer, Requant};
use super::*;
use crate::select::conv::rows;

impl<'a> Selector<'a> {
    /// Depthwise convolutions of planar rows.
    pub(super) fn depthwise_planar(&mut self, node: &'a Node, shape: &Sizes) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pad = self.ty(x).zero_point();
        let (layer, tail, requant) = self.depthwise_layer(node)?;
        let (width, (pixel, channel)) = (width_in_registers(shape), shape.out_strides());
        let mut generics = Vec::new();
        if let Requant::Affine(form) = requant {
            generics.extend([width, shape.stride_w, pixel, form.shift as usize].map(Generic::Size));
            generics.push(Generic::Flag(form.signed));
        }
        let centred = (!generics.is_empty() && width > 0).then_some(pad);
        let words = planar_words(&layer.weights, shape.k_h, &layer.bias, centred, &tail);
        let weights = Arg::Constant(self.step_constant("WEIGHTS", Data::from_i32(&words)), "i32");
        let (rx, ry) = (self.rows(x)?, self.rows(y)?);
        for image in 0..shape.images {
            let (rx, ry) = (rows(rx, shape.images, image), rows(ry, shape.images, image));
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

    /// Depthwise convolutions of channel-last images.
    pub(super) fn depthwise_last(&mut self, node: &'a Node, shape: &Sizes) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pad = self.ty(x).zero_point();
        let (layer, tail, requant) = self.depthwise_layer(node)?;
        let words = quads_of_channels(&layer.weights, &layer.bias, pad, &tail);
        let weights = Arg::Constant(self.step_constant("WEIGHTS", Data::from_i32(&words)), "i32");
        let mut generics = Vec::new();
        let kernel = match requant {
            Requant::Affine(form) => {
                let unroll = if shape.k_w > 1 { shape.k_w } else { shape.k_h.min(UNROLL) };
                generics.extend([shape.tap_distance(), unroll, form.shift as usize].map(Generic::Size));
                generics.push(Generic::Flag(form.signed));
                "depthwise2d_i8_dsp"
            }
            Requant::Exact(_) => "depthwise2d_i8_dsp_exact",
        };
        let (rx, ry) = (self.rows(x)?, self.rows(y)?);
        for image in 0..shape.images {
            let (rx, ry) = (rows(rx, shape.images, image), rows(ry, shape.images, image));
            let mut args =
                vec![Arg::Struct(self.conv_params(shape)), rx, weights.clone(), Arg::Int(pad.into())];
            args.extend(requant.argument());
            args.extend([ry, self.band(shape.out_h)]);
            self.call_generic(kernel, generics.clone(), args);
        }
        Ok(())
    }

    /// Weights and biases, and what requantises: for each channel where there is a cheap form.
    pub(super) fn depthwise_layer(&mut self, node: &'a Node) -> Result<(Layer, Vec<Tail>, Requant), Problem> {
        let Op::Conv2d { rescale: Rescale::FixedPoint(multipliers), clamp, .. } = &node.op else {
            return Err(self.no_kernel(node));
        };
        let layer = self.layer(node, multipliers, clamp)?;
        let (tail, requant) = match self.choice(&layer, |_| 0) {
            Some(Choice { form, affine }) => {
                (affine.into_iter().map(|affine| (affine, Some(form))).collect(), Requant::Affine(form))
            }
            None => (Vec::new(), Requant::Exact(self.requant_struct(node, multipliers, clamp))),
        };
        Ok((layer, tail, requant))
    }
}

/// Taps in a turn of the loop over a column of them.
const UNROLL: usize = 8;

/// What requantises a channel, in which form.
pub(super) type Tail = (requant::Affine, Option<Form>);

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
fn planar_words(weights: &[i8], k_h: usize, bias: &[i32], centred: Option<i32>, tail: &[Tail]) -> Vec<i32> {
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

/// Filters `[c][taps]` as the channel-last kernel reads them, four channels at a time, the last four of which may begin before the others end: the first values of
/// the sums of elements less `pad`; of each tap a word with four weights; what requantises (nothing where `tail` is empty).
fn quads_of_channels(weights: &[i8], bias: &[i32], pad: i32, tail: &[Tail]) -> Vec<i32> {
    let channels = bias.len();
    let taps = weights.len().checked_div(channels).unwrap_or(0);
    let filter = |c: usize| weights.iter().skip(c * taps).take(taps);
    let mut words = Vec::new();
    for quad in (0..channels).step_by(4).map(|quad| quad.min(channels.saturating_sub(4))) {
        for (c, bias) in bias.iter().enumerate().skip(quad).take(4) {
            let sum: i32 = filter(c).map(|&w| i32::from(w)).sum();
            let delta = tail.get(c).map_or(0, |(affine, _)| affine.delta);
            words.push(bias.wrapping_add(delta).wrapping_add(pad.wrapping_mul(sum)));
        }
        let lane = |tap: usize, lane: usize| filter(quad + lane).nth(tap).map_or(0, |&w| w as u8);
        words.extend((0..taps).map(|tap| i32::from_le_bytes([0, 1, 2, 3].map(|l| lane(tap, l)))));
        for (affine, form) in tail.iter().skip(quad).take(4) {
            words.extend([affine.multiplier, affine.constant]);
            words.extend(form.filter(|form| form.signed).map(|_| affine.correction));
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

    /// The last four of six channels begin with the third.
    #[test]
    fn four_channels_at_a_time() {
        let weights: Vec<i8> = (0..12).map(|i| i * 7 - 40).collect();
        let affine = |c: i32| Affine { delta: c, multiplier: 10 + c, constant: 20 + c, correction: -c };
        let tail: Vec<Tail> =
            (0..6).map(|c| (affine(c), Some(Form { shift: 1, signed: c % 2 == 1 }))).collect();
        let words = quads_of_channels(&weights, &[100; 6], -3, &tail);
        let firsts = |words: &[i32], from: usize| {
            for (c, &first) in (from..).zip(&words[..4]) {
                let sum = i32::from(weights[2 * c]) + i32::from(weights[2 * c + 1]);
                assert_eq!(first, 100 + c as i32 - 3 * sum);
                for tap in 0..2 {
                    assert_eq!(words[4 + tap].to_le_bytes()[c - from] as i8, weights[2 * c + tap]);
                }
            }
        };
        let (four, last) = words.split_at(4 + 2 + 4 * 2 + 2);
        firsts(four, 0);
        firsts(last, 2);
        assert_eq!((&four[6..9], &last[6..11]), (&[10, 20, 11][..], &[12, 22, 13, 23, -3][..]));
    }
}
