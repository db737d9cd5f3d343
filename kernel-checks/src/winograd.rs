//! Convolutions by Winograd's algorithm, compared with their definition.

use crate::affine::Forms;
use crate::conv::{describe, run_rows};
use crate::reference::tap;
#[cfg(not(target_arch = "arm"))]
use crate::rv32;
use crate::v6m;
use crate::CREW;
use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    conv2d_i8_dsp_winograd, conv2d_i8_dsp_winograd_4x4, conv2d_i8_dsp_winograd_4x4_crew,
    conv2d_i8_dsp_winograd_crew, conv2d_i8_v6m_winograd, conv2d_i8_v6m_winograd_crew, Band, Conv,
    HalfRequant, Rows,
};
#[cfg(not(target_arch = "arm"))]
use kiln::kernels::{
    conv2d_i8_rv32_winograd, conv2d_i8_rv32_winograd_4x4, conv2d_i8_rv32_winograd_4x4_crew,
    conv2d_i8_rv32_winograd_crew, UpperRequant,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "conv2d_i8_dsp_winograd", run: dsp },
    Check { name: "conv2d_i8_dsp_winograd_4x4", run: dsp_4x4 },
    Check { name: "conv2d_i8_v6m_winograd", run: halves },
    #[cfg(not(target_arch = "arm"))]
    Check { name: "conv2d_i8_rv32_winograd", run: upper },
    #[cfg(not(target_arch = "arm"))]
    Check { name: "conv2d_i8_rv32_winograd_4x4", run: upper_4x4 },
];

/// Transformations of filters: for tiles of 2 × 2 and of 4 × 4 results.
const G2: [[i32; 3]; 4] = [[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]];
const G4: [[i32; 3]; 6] = [[6, 0, 0], [1, 1, 1], [1, -1, 1], [1, 2, 4], [1, -2, 4], [0, 0, 6]];

/// A layer, and its sums by definition.
struct Layer<'a> {
    p: Conv,
    out_h: usize,
    x: &'a [Cell<i8>],
    filters: &'a [i8],
    pad: i8,
}

impl<'a> Layer<'a> {
    fn draw(rng: &mut Rng, scratch: &mut Scratch<'a>) -> Self {
        let p = Conv {
            in_h: rng.size(1, 7),
            in_w: rng.size(1, 12),
            in_c: rng.size(1, 17),
            out_w: rng.size(1, 12),
            out_c: rng.size(1, 9),
            k_h: 3,
            k_w: 3,
            stride_h: 1,
            stride_w: 1,
            dilation_h: 1,
            dilation_w: 1,
            pad_top: rng.size(0, 2),
            pad_left: rng.size(0, 2),
            groups: 1,
        };
        let x = scratch.bytes.take_at(p.in_h * p.in_w * p.in_c, rng.size(0, 3));
        let filters = scratch.bytes.take(p.out_c * 9 * p.in_c);
        for bytes in [&mut *x, filters] {
            match rng.one_in(6) {
                // The largest products that there are.
                true => bytes.fill(-128),
                false => rng.fill_i8(bytes),
            }
        }
        Layer { p, out_h: rng.size(1, 6), x: cells(x), filters, pad: rng.i8() }
    }

    /// The sum of a result.
    fn sum(&self, index: usize) -> i32 {
        let p = &self.p;
        let (pixel, o) = (index / p.out_c, index % p.out_c);
        let size = 9 * p.in_c;
        let products = self.filters[o * size..][..size].iter().enumerate().map(|(at, w)| {
            let (k, c) = (at / p.in_c, at % p.in_c);
            let at = tap(p, [pixel / p.out_w, pixel % p.out_w], [k / 3, k % 3], c);
            i32::from(at.map_or(self.pad, |at| self.x[at].get())) * i32::from(*w)
        });
        products.sum()
    }

    /// Pairs of channels.
    fn pairs(&self) -> usize {
        self.p.in_c.next_multiple_of(8) / 2
    }

    /// An element of a transformed filter; 0 where there is none.
    fn element(&self, o: usize, c: usize, g: &[[i32; 3]], frequency: usize) -> i32 {
        let in_c = self.p.in_c;
        let weight = |k: usize| i32::from(self.filters[(o * 9 + k) * in_c + c]);
        let product = |k: usize| g[frequency / g.len()][k / 3] * g[frequency % g.len()][k % 3] * weight(k);
        match o < self.p.out_c && c < in_c {
            true => (0..9).map(product).sum::<i32>(),
            false => 0,
        }
    }

    /// The transformed weights of four filters from the first one on, two channels in a word.
    fn pack(&self, first: usize, g: &[[i32; 3]], to: &mut [i32]) {
        for (at, word) in to.iter_mut().enumerate() {
            let (o, pair, frequency) = (first + at % 4, at / 4 % self.pairs(), at / 4 / self.pairs());
            let c = pair / 2 * 4 + pair % 2;
            *word = self.element(o, c, g, frequency) & 0xffff | self.element(o, c + 2, g, frequency) << 16;
        }
    }

    /// The same, two filters in a word.
    fn pack_filters(&self, first: usize, to: &mut [i32]) {
        for (at, word) in to.iter_mut().enumerate() {
            let (o, channel) = (first + at % 2 * 2, at / 2 % (2 * self.pairs()));
            let (c, frequency) = (channel / 4 * 4 + [0, 2, 1, 3][channel % 4], at / 4 / self.pairs());
            *word =
                self.element(o, c, &G2, frequency) & 0xffff | self.element(o + 1, c, &G2, frequency) << 16;
        }
    }

    /// Runs a kernel in two bands, apart from the operand, or over it as far up as what so many rows read together allows.
    fn run(
        &self,
        rows_at_once: usize,
        rng: &mut Rng,
        scratch: &mut Scratch<'_>,
        y: &[Cell<i8>],
        kernel: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
    ) -> Case {
        let (p, out_h) = (&self.p, self.out_h);
        let (split, overlaid) = run_rows(rng, scratch, (p, out_h), rows_at_once, self.x, y, kernel);
        describe(p).with("out_h", out_h).with("split", split).with("overlaid", i32::from(overlaid))
    }
}

/// Words that have been something else.
pub(crate) fn work<'a>(rng: &mut Rng, scratch: &mut Scratch<'a>, size: usize) -> &'a [Cell<i32>] {
    let work = scratch.words.take(size);
    rng.fill_i32(work, i32::MIN, i32::MAX);
    cells(work)
}

/// Words of a workspace where a pair of channels has one for each frequency of a tile.
fn words(side: usize, tiles: usize, pairs: usize) -> usize {
    let (frequencies, elements) = ((side + 2) * (side + 2), (side + 2) * (side * tiles + 2));
    frequencies * tiles * pairs + (elements / 2 * pairs).max(4 * tiles * frequencies)
}

type Dsp = fn(&Conv, Rows<'_, i8>, &[i32], i8, &[Cell<i32>], Rows<'_, i8>, Band);

fn dsp(rng: &mut Rng, scratch: Scratch<'_>) -> Result<(), Mismatch> {
    const FORMS: [(u32, bool, Dsp); 4] = [
        (7, false, conv2d_i8_dsp_winograd::<7, false>),
        (5, true, conv2d_i8_dsp_winograd::<5, true>),
        (12, false, conv2d_i8_dsp_winograd::<12, false>),
        (4, false, |p, x, w, pad, work, y, band| {
            conv2d_i8_dsp_winograd_crew::<4, false>(&CREW, 2, p, x, w, pad, work, y, band);
        }),
    ];
    in_tiles(rng, scratch, 2, &G2, &FORMS)
}

fn dsp_4x4(rng: &mut Rng, scratch: Scratch<'_>) -> Result<(), Mismatch> {
    const FORMS: [(u32, bool, Dsp); 4] = [
        (7, false, conv2d_i8_dsp_winograd_4x4::<7, false>),
        (5, true, conv2d_i8_dsp_winograd_4x4::<5, true>),
        (12, false, conv2d_i8_dsp_winograd_4x4::<12, false>),
        (4, true, |p, x, w, pad, work, y, band| {
            conv2d_i8_dsp_winograd_4x4_crew::<4, true>(&CREW, 2, p, x, w, pad, work, y, band);
        }),
    ];
    in_tiles(rng, scratch, 4, &G4, &FORMS)
}

/// Kernels with tiles of so many results along each side.
fn in_tiles(
    rng: &mut Rng,
    mut scratch: Scratch<'_>,
    side: usize,
    g: &[[i32; 3]],
    forms: &[(u32, bool, Dsp)],
) -> Result<(), Mismatch> {
    let layer = Layer::draw(rng, &mut scratch);
    let (p, pairs) = (&layer.p, layer.pairs());
    let (shift, signed, kernel) = rng.pick(forms);
    let channels = p.out_c.next_multiple_of(4);
    let forms = Forms::draw(rng, &mut scratch, channels, shift, signed);
    let weights = 4 * g.len() * g.len() * pairs;
    let group = weights + if signed { 16 } else { 12 };
    let w = scratch.words.take(channels / 4 * group);
    for (at, w) in w.chunks_exact_mut(group).enumerate() {
        let (u, ends) = w.split_at_mut(weights);
        layer.pack(4 * at, g, u);
        let filters = || 4 * at..4 * at + 4;
        let corrections = filters().filter(|_| signed).map(|o| forms.words(o)[3]);
        let factors = filters().flat_map(|o| [forms.words(o)[1], forms.words(o)[2]]);
        let words = filters().map(|o| forms.first(o)).chain(corrections).chain(factors);
        ends.iter_mut().zip(words).for_each(|(to, word)| *to = word);
    }
    let y = scratch.bytes.twins(layer.out_h * p.out_w * p.out_c, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let o = index % p.out_c;
        y.set(forms.result(forms.first(o).wrapping_add(layer.sum(index)), o));
    }
    // For each of two cores.
    let work = work(rng, &mut scratch, 2 * words(side, 2, pairs).next_multiple_of(16));
    let case =
        layer.run(side, rng, &mut scratch, y.got(), |x, y, band| kernel(p, x, w, layer.pad, work, y, band));
    y.compare(case.with("shift", shift).with("signed", i32::from(signed)))
}

fn halves(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let layer = Layer::draw(rng, &mut scratch);
    let (p, pairs) = (&layer.p, layer.pairs());
    let words = if rng.one_in(2) { 3 } else { 5 };
    let channels = scratch.words.take(p.out_c * words);
    channels.chunks_mut(words).for_each(|channel| v6m::draw_channel(rng, channel));
    let (lo, hi) = rng.clamp(0);
    let q = HalfRequant { channels, words, shift: rng.int(0, 24) as u32, lo, hi };
    let group = 64 * pairs + 4;
    let w = scratch.words.take(p.out_c.div_ceil(4) * group);
    for (at, w) in w.chunks_exact_mut(group).enumerate() {
        let (u, firsts) = w.split_at_mut(64 * pairs);
        layer.pack_filters(4 * at, u);
        rng.fill_i32(firsts, -20_000, 20_000);
    }
    let y = scratch.bytes.twins(layer.out_h * p.out_w * p.out_c, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let o = index % p.out_c;
        let first = w[o / 4 * group + 64 * pairs + o % 4];
        y.set(v6m::requantize(first.wrapping_add(layer.sum(index)), &channels[o * words..][..words], &q));
    }
    let on_crew = rng.one_in(3);
    let work = work(rng, &mut scratch, 2 * (64 * pairs + (12 * pairs).max(128)).next_multiple_of(16));
    let case = layer.run(2, rng, &mut scratch, y.got(), |x, y, band| match on_crew {
        true => conv2d_i8_v6m_winograd_crew(&CREW, 2, p, x, w, layer.pad, &q, work, y, band),
        false => conv2d_i8_v6m_winograd(p, x, w, layer.pad, &q, work, y, band),
    });
    y.compare(case.with("words", words).with("on_crew", i32::from(on_crew)))
}

#[cfg(not(target_arch = "arm"))]
type Upper = fn(&Conv, Rows<'_, i8>, &[i32], i8, &UpperRequant<'_>, &[Cell<i32>], Rows<'_, i8>, Band);

#[cfg(not(target_arch = "arm"))]
fn upper(rng: &mut Rng, scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let on_crew: Upper = |p, x, w, pad, q, work, y, band| {
        conv2d_i8_rv32_winograd_crew(&CREW, 2, p, x, w, pad, q, work, y, band);
    };
    upper_in_tiles(rng, scratch, 2, &G2, [conv2d_i8_rv32_winograd, on_crew])
}

#[cfg(not(target_arch = "arm"))]
fn upper_4x4(rng: &mut Rng, scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let on_crew: Upper = |p, x, w, pad, q, work, y, band| {
        conv2d_i8_rv32_winograd_4x4_crew(&CREW, 2, p, x, w, pad, q, work, y, band);
    };
    upper_in_tiles(rng, scratch, 4, &G4, [conv2d_i8_rv32_winograd_4x4, on_crew])
}

/// Kernels with tiles of so many results along each side: of one core, and of two.
#[cfg(not(target_arch = "arm"))]
fn upper_in_tiles(
    rng: &mut Rng,
    mut scratch: Scratch<'_>,
    side: usize,
    g: &[[i32; 3]],
    kernels: [Upper; 2],
) -> Result<(), Mismatch> {
    let layer = Layer::draw(rng, &mut scratch);
    let (p, pairs) = (&layer.p, layer.pairs());
    let own = rng.one_in(2);
    let (channels, q) = rv32::requant(rng, &mut scratch, p.out_c, own);
    let group = 4 * g.len() * g.len() * pairs;
    let w = scratch.words.take(p.out_c.div_ceil(4) * group);
    for (at, w) in w.chunks_exact_mut(group).enumerate() {
        layer.pack(4 * at, g, w);
    }
    let y = scratch.bytes.twins(layer.out_h * p.out_w * p.out_c, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let o = index % p.out_c;
        y.set(rv32::requantize(layer.sum(index), &channels[o * q.words..][..q.words], &q));
    }
    let on_crew = rng.one_in(3);
    let work = work(rng, &mut scratch, 2 * words(side, 4, pairs).next_multiple_of(16));
    let kernel = kernels[usize::from(on_crew)];
    let case = layer
        .run(side, rng, &mut scratch, y.got(), |x, y, band| kernel(p, x, w, layer.pad, &q, work, y, band));
    y.compare(case.with("words", q.words).with("on_crew", i32::from(on_crew)))
}
