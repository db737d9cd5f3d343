//! Depthwise convolutions.

use super::conv::Requant;
use super::*;
use crate::select::conv::Images;
use std::ops::Range;

impl<'a> Selector<'a> {
    /// Depthwise convolutions of planar rows.
    pub(super) fn depthwise_planar(&mut self, node: &'a Node, shape: &Sizes, proof: &Proof) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pad = self.ty(x).zero_point();
        let requant = self.requant(node, proof)?;
        let (width, (pixel, channel)) = (width_in_registers(shape), shape.out_strides());
        let mut generics = Vec::new();
        if let Requant::Affine(form) = requant {
            let pixel = if special::has_own_planar(self.graph, shape) { pixel } else { 0 };
            generics.extend([width, shape.stride_w, pixel, form.shift as usize].map(Generic::Size));
            generics.push(Generic::Flag(form.signed));
        }
        let centred = (!generics.is_empty() && width > 0).then_some(pad);
        let weights = self.words(&planar_words(&proof.layer, shape.k_h, centred, proof.form.as_deref()));
        let images = Images { x: self.rows(x)?, y: self.rows(y)?, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        let (kernel, behind) = match &requant {
            Requant::Affine(_) => (KernelId::Depthwise2dI8DspPlanar, Arg::Int(channel as i64)),
            Requant::Exact(_) => {
                let fields = vec![("pixel", int(pixel)), ("channel", int(channel))];
                (KernelId::Depthwise2dI8DspPlanarExact, Arg::Struct(Struct { name: "Stride", fields }))
            }
        };
        let between: Vec<Arg> =
            [weights, Arg::Int(pad.into())].into_iter().chain(requant.argument()).collect();
        self.call_on(images, kernel, &generics, &[conv], &between, &[behind]);
        Ok(())
    }

    /// Depthwise convolutions of channel-last images.
    pub(super) fn depthwise_last(&mut self, node: &'a Node, shape: &Sizes, proof: &Proof) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pad = self.ty(x).zero_point();
        let requant = self.requant(node, proof)?;
        let weights =
            self.words(&quads_of_channels(&proof.layer, pad, proof.form.as_deref(), pack::one_by_one));
        let mut generics = Vec::new();
        let kernel = match requant {
            Requant::Affine(form) => {
                let unroll = if shape.k_w > 1 { shape.k_w } else { shape.k_h.min(UNROLL) };
                generics.extend([shape.tap_distance(), unroll, form.shift as usize].map(Generic::Size));
                generics.push(Generic::Flag(form.signed));
                KernelId::Depthwise2dI8Dsp
            }
            Requant::Exact(_) => KernelId::Depthwise2dI8DspExact,
        };
        let images = Images { x: self.rows(x)?, y: self.rows(y)?, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        let between: Vec<Arg> =
            [weights, Arg::Int(pad.into())].into_iter().chain(requant.argument()).collect();
        self.call_on(images, kernel, &generics, &[conv], &between, &[]);
        Ok(())
    }
}

/// Taps in a turn of the loop over a column of them.
const UNROLL: usize = 8;

/// `WIDTH` of the planar kernel: pixels of a row whose sums are all kept in registers, 0 for others.
pub(super) fn width_in_registers(shape: &Sizes) -> usize {
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
/// value; what requantises (nothing without a `choice`). Halves of words, the first one low. Where the kernel subtracts the padding from
/// elements (`centred`), the first value is greater by that times Σ w.
fn planar_words(layer: &Layer, k_h: usize, centred: Option<i32>, choice: Option<&Fitted>) -> Vec<i32> {
    let halves = |low: i8, high: i8| (i32::from(low) & 0xffff) | i32::from(high) << 16;
    let mut words = Vec::new();
    for (c, filter) in layer.weights.chunks_exact((3 * k_h).max(1)).enumerate() {
        words.extend(filter.chunks_exact(3).map(|row| halves(row[0], row[2])));
        let middles: Vec<i8> = filter.iter().skip(1).step_by(3).copied().collect();
        words.extend(middles.chunks(2).map(|pair| halves(pair[0], pair.get(1).copied().unwrap_or(0))));
        words.push(pack::first(layer, choice, c).wrapping_add(centre(filter, centred.unwrap_or(0))));
        words.extend(pack::one_by_one(choice, c..c + 1));
    }
    words
}

/// Channels four at a time, the last four of which may begin before the others end. There are at least four.
pub(super) fn quads(channels: usize) -> impl Iterator<Item = Range<usize>> {
    (0..channels).step_by(4).map(move |quad| {
        let quad = quad.min(channels.saturating_sub(4));
        quad..quad + 4
    })
}

/// Filters `[c][taps]` as the channel-last kernels read them, four channels at a time ([`quads`]): the first values of the sums of elements less `pad`; of each tap a
/// word with four weights; what requantises, as `tail` has it.
pub(super) fn quads_of_channels(
    layer: &Layer,
    pad: i32,
    choice: Option<&Fitted>,
    tail: fn(Option<&Fitted>, Range<usize>) -> Vec<i32>,
) -> Vec<i32> {
    let mut words = Vec::new();
    for quad in quads(layer.bias.len()) {
        let first = |c| pack::first(layer, choice, c).wrapping_add(centre(layer.filter(c), pad));
        words.extend(quad.clone().map(first));
        let lane = |tap: usize, lane: usize| layer.filter(quad.start + lane).get(tap).map_or(0, |&w| w as u8);
        let word = |tap| i32::from_le_bytes([0, 1, 2, 3].map(|l| lane(tap, l)));
        words.extend((0..layer.filter(0).len()).map(word));
        words.extend(tail(choice, quad));
    }
    words
}

/// What a sum of elements less `pad` lacks of the sum of elements.
fn centre(filter: &[i8], pad: i32) -> i32 {
    pad.wrapping_mul(filter.iter().map(|&w| i32::from(w)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requant::Affine;

    fn layer(weights: &[i8], bias: &[i32]) -> Layer {
        Layer { weights: weights.to_vec(), bias: bias.to_vec(), ..Layer::default() }
    }

    #[test]
    fn planar_filters() {
        let weights: Vec<i8> = (1..=18).map(|w| if w % 2 == 0 { -w } else { w }).collect();
        let words = planar_words(&layer(&weights, &[100, -100]), 3, None, None);
        let pair = |low: i32, high: i32| (low & 0xffff) | high << 16;
        assert_eq!(words[..6], [pair(1, 3), pair(-4, -6), pair(7, 9), pair(-2, 5), pair(-8, 0), 100]);
        assert_eq!((words.len(), words[11]), (12, -100));

        let affine = Affine { delta: 5, multiplier: 6, constant: 7, correction: -8 };
        let choice = |signed| Some(Fitted { form: Form { shift: 9, signed }, affine: vec![affine; 3] });
        let words = planar_words(&layer(&weights, &[100, -100]), 3, Some(-128), choice(false).as_ref());
        assert_eq!((&words[5..8], words.len()), (&[100 + 5 - 128 * 5, 6, 7][..], 16));
        let words = planar_words(&layer(&weights, &[0; 3]), 2, None, choice(true).as_ref());
        assert_eq!(words[..7], [pair(1, 3), pair(-4, -6), pair(-2, 5), 5, 6, 7, -8]);
    }

    /// The words give the sums of the filter back.
    #[test]
    fn words_are_taps() {
        let weights: Vec<i8> = (0..27).map(|i| (i * 89 % 256 - 128) as i8).collect();
        let words = planar_words(&layer(&weights, &[0; 3]), 3, None, None);
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
        let layer = layer(&weights, &[100; 6]);
        for signed in [false, true] {
            let choice = Fitted { form: Form { shift: 1, signed }, affine: (0..6).map(affine).collect() };
            let words = |tail| quads_of_channels(&layer, -3, Some(&choice), tail);
            let (separate, corrections) = (words(pack::one_by_one), words(pack::corrections_first));
            let (each, behind) = if signed { (3, 4) } else { (2, 0) };
            let quad = 4 + 2 + 4 * each;
            assert_eq!((separate.len(), corrections.len()), (2 * quad, 2 * quad));
            for (from, at) in [(0, 0), (2, quad)] {
                let (separate, corrections) = (&separate[at..], &corrections[at..]);
                assert_eq!(separate[..6], corrections[..6]);
                for (lane, c) in (from..from + 4).enumerate() {
                    let filter = &weights[2 * c..2 * c + 2];
                    let sum: i32 = filter.iter().map(|&w| i32::from(w)).sum();
                    let c = c as i32;
                    assert_eq!(separate[lane], 100 + c - 3 * sum);
                    let taps = separate[4..6].iter().map(|word| word.to_le_bytes()[lane] as i8);
                    assert!(taps.eq(filter.iter().copied()));
                    assert_eq!(separate[6 + each * lane..][..each], [10 + c, 20 + c, -c][..each]);
                    assert_eq!(corrections[6 + behind + 2 * lane..][..2], [10 + c, 20 + c]);
                    assert!(!signed || corrections[6 + lane] == -c);
                }
            }
        }
        let sums = quads_of_channels(&layer, -3, None, pack::one_by_one);
        assert_eq!(sums.len(), 2 * (4 + 2));
    }
}
