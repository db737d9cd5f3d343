//! Depthwise convolutions along one axis.

use super::depthwise::quads;
use super::*;

impl<'a> Selector<'a> {
    /// Depthwise convolutions of images with one axis, all pixels at once.
    pub(super) fn temporal(&mut self, node: &'a Node, shape: &Sizes, axis: &Axis, proof: &Proof) -> Selected {
        let Some(fitted) = &proof.form else { return self.depthwise_last(node, shape, proof) };
        let form = fitted.form;
        let weights = self.words(&pairs_of_taps(&proof.layer, fitted));
        let sizes = [shape.in_c, axis.taps, axis.stride, axis.dilation, form.shift as usize];
        let mut generics: Vec<Generic> = sizes.map(Generic::Size).into();
        generics.push(Generic::Flag(form.signed));
        let (rx, ry) = (self.region(node.operands[0])?, self.region(node.result)?);
        for image in 0..shape.images {
            let part = |region: Region| {
                let len = region.len / shape.images.max(1);
                Arg::Cells(Cells::All(region.part(image * len, len)))
            };
            self.call_generic(
                KernelId::Depthwise1dI8Dsp,
                generics.clone(),
                vec![part(rx), weights.clone(), part(ry)],
            );
        }
        Ok(())
    }
}

/// Filters `[c][taps]` as the kernel reads them, four channels at a time ([`quads`]): the first values of the sums; for each two taps a word of each channel; of a tap
/// that is left two words with two channels each; what requantises. Halves of words, the first one low.
fn pairs_of_taps(layer: &Layer, choice: &Fitted) -> Vec<i32> {
    let taps = layer.filter(0).len();
    let weight = |c: usize, tap: usize| layer.filter(c).get(tap).map_or(0, |&w| i32::from(w));
    let halves = |low: i32, high: i32| (low & 0xffff) | high << 16;
    let mut words = Vec::new();
    for quad in quads(layer.bias.len()) {
        words.extend(quad.clone().map(|c| pack::first(layer, Some(choice), c)));
        for tap in (0..taps / 2 * 2).step_by(2) {
            words.extend(quad.clone().map(|c| halves(weight(c, tap), weight(c, tap + 1))));
        }
        if taps % 2 == 1 {
            words.extend(quad.clone().take(2).map(|c| halves(weight(c, taps - 1), weight(c + 2, taps - 1))));
        }
        words.extend(pack::one_by_one(Some(choice), quad));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requant::Affine;

    /// The last four of five channels begin with the second.
    #[test]
    fn taps_in_pairs() {
        let weights: Vec<i8> = (0..15).map(|i| i * 7 - 40).collect();
        let affine = |c: i32| Affine { delta: c, multiplier: 10 + c, constant: 20 + c, correction: -c };
        let choice = Fitted { form: Form { shift: 1, signed: true }, affine: (0..5).map(affine).collect() };
        let bias = vec![100, 200, 300, 400, 500];
        let words = pairs_of_taps(&Layer { weights: weights.clone(), bias, ..Layer::default() }, &choice);
        assert_eq!(words.len(), 2 * (4 + 4 + 2 + 12));
        let halves = |word: i32| (word as i16, (word >> 16) as i16);
        let at = |c: usize, tap: usize| i16::from(weights[3 * c + tap]);
        for (words, first) in words.chunks(22).zip([0, 1]) {
            for lane in 0..4 {
                let c = first + lane;
                assert_eq!(words[lane], 100 * (c as i32 + 1) + c as i32);
                assert_eq!(halves(words[4 + lane]), (at(c, 0), at(c, 1)));
                let last = halves(words[8 + lane % 2]);
                assert_eq!(if lane < 2 { last.0 } else { last.1 }, at(c, 2));
                let of = affine(c as i32);
                assert_eq!(words[10 + 3 * lane..][..3], [of.multiplier, of.constant, of.correction]);
            }
        }
    }

    #[test]
    fn unsigned_forms_have_no_corrections() {
        let affine = Affine { delta: 0, multiplier: 1, constant: 2, correction: 3 };
        let choice = Fitted { form: Form { shift: 1, signed: false }, affine: vec![affine; 4] };
        let layer = Layer { weights: vec![1, 2, 3, 4, 5, 6, 7, -8], bias: vec![0; 4], ..Layer::default() };
        let words = pairs_of_taps(&layer, &choice);
        let pair = |low: i32, high: i32| (low & 0xffff) | high << 16;
        assert_eq!(words[4..], [pair(1, 2), pair(3, 4), pair(5, 6), pair(7, -8), 1, 2, 1, 2, 1, 2, 1, 2]);
    }
}
