//! Cores with the DSP extension: which of their kernels compute a node, its weights as they read them, and the calls.

mod compact;
mod conv;
mod counted;
mod depthwise;
mod pack;
mod planar;
mod single;
pub(in crate::select) mod smallest;
pub(in crate::select) mod special;
mod temporal;

use crate::ir::{Order, Rounding};
use crate::requant::{AddAffine, Choice as Fitted, Form, Interval, Products};
use crate::select::kernel::{self, Asked, Choice, Processor};
use crate::select::layer::{Gains, Layer, Proof};
use crate::select::means::{self, Means, Window};
use crate::select::quantize::{self, Inverse};
use crate::select::shape::{Axis, Shape as Sizes};
use crate::select::winograd::Side;
use crate::select::*;
use crate::Optimize;
use kiln_kernel_table::{Core, Work};
use pack::Tiling;
use std::any::Any;
use std::borrow::Cow;

/// The processor.
pub(super) struct Dsp;

/// A kernel of such cores.
#[derive(Clone, Debug)]
pub(super) enum Kernel {
    /// Convolution in tiles of two pixels and four filters, from a window of so many pixels that is widened to 16 bits.
    Tiled(Sizes, usize, Proof),
    /// The same of filters whose rows are whole words, from copies of the taps of so many pixels.
    Patches(Sizes, usize, Proof),
    /// Convolution by Winograd's algorithm, in tiles of that size.
    Winograd(Sizes, Side, Proof),
    /// Convolution of images of which every row of the result is one pixel.
    Column(Sizes, Tiling, Proof),
    /// Depthwise convolution of planar rows.
    DepthwisePlanar(Sizes, Proof),
    /// Depthwise convolution of channel-last images.
    Depthwise(Sizes, Proof),
    /// Depthwise convolution along the only axis of channel-last images.
    Temporal(Sizes, Axis, Proof),
    /// Matrix product of single rows.
    Dense(Tiling, Proof),
    /// The same with results of 16 bits.
    DenseWide(Rc<Layer>),
    /// Sum or difference.
    Add(AddAffine),
    /// Largest elements of windows.
    MaxPool(Window),
    /// Means.
    Means(Means),
    /// Quantisation by multiplication.
    Quantize(Inverse),
}

impl Processor for Dsp {
    fn candidates(&self, asked: &Asked<'_>, core: Core, _below: u64) -> Vec<Choice> {
        let small = asked.options.optimize == Optimize::Size;
        let found = match &asked.node.op {
            Op::Conv2d { .. } | Op::Dense { .. } if asked.packing.is_some() => return Vec::new(),
            Op::Conv2d { .. } | Op::Dense { .. } if small => smallest::kernel(asked).into_iter().collect(),
            Op::Conv2d { .. } | Op::Dense { .. } => layers(asked),
            Op::Add { .. } | Op::Sub { .. } => {
                sums::fit(asked, Products::Upper).map(Kernel::Add).into_iter().collect()
            }
            // Where there are vectors, pools are computed in those.
            Op::MaxPool2d { .. } | Op::AvgPool2d { .. } | Op::Mean { .. } if core == Core::M55 => Vec::new(),
            Op::MaxPool2d { .. } => {
                means::window(asked).filter(is_small).map(Kernel::MaxPool).into_iter().collect()
            }
            Op::AvgPool2d { .. } | Op::Mean { .. } => {
                means::fit(asked).map(Kernel::Means).into_iter().collect()
            }
            Op::Quantize { rounding: Rounding::Away } => {
                quantize::inverse(asked, quantize::by_thirty_seconds)
                    .map(Kernel::Quantize)
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        };
        found.into_iter().map(|kernel| choice(kernel, asked, core)).collect()
    }

    fn decides(&self, asked: &Asked<'_>) -> bool {
        let is_layer = matches!(asked.node.op, Op::Conv2d { .. } | Op::Dense { .. });
        is_layer && asked.options.optimize == Optimize::Size
    }

    fn largest_tile(&self) -> Side {
        Side::Four
    }

    fn reads_planar(&self, asked: &Asked<'_>) -> bool {
        planar::reads(asked)
    }

    fn writes_planar(&self, asked: &Asked<'_>) -> bool {
        planar::writes(asked)
    }
}

/// Kernels of convolutions and matrix products.
fn layers(asked: &Asked<'_>) -> Vec<Kernel> {
    let (graph, node) = (asked.graph, asked.node);
    let one = |kernel: Option<Kernel>| kernel.into_iter().collect::<Vec<_>>();
    match (&node.op, Sizes::of(graph, node)) {
        (_, Some(shape)) if shape.layout.x == Order::Planar => {
            one(asked.proof(Gains::None).map(|proof| Kernel::DepthwisePlanar(shape, proof)))
        }
        (_, Some(shape)) if planar::by_fours(graph, node, &shape) => {
            let Some(proof) = asked.proof(Gains::None) else { return Vec::new() };
            let general = asked.all.then(|| Kernel::Depthwise(shape, proof.clone()));
            [depthwise(asked, shape, proof)].into_iter().chain(general).collect()
        }
        (Op::Dense { .. }, _) if packs(asked) => {
            let (k, n) = (graph.ty(node.operands[0]).shape.last(), graph.ty(node.result).shape.last());
            single::tilings(asked, n, k, true)
                .into_iter()
                .map(|(tiling, proof)| Kernel::Dense(tiling, proof))
                .collect()
        }
        (Op::Dense { .. }, _) if widens(asked) => one(asked.layer().map(Kernel::DenseWide)),
        (Op::Conv2d { groups: 1, .. }, Some(shape)) if packs(asked) => {
            let shape = if asked.whole { shape.as_row() } else { shape }.as_column();
            if shape.is_column() {
                let (dense, taps) = (is_dense(&shape), shape.k_h * shape.k_w * shape.in_c);
                let tilings = single::tilings(asked, shape.out_c, taps, dense);
                tilings.into_iter().map(|(tiling, proof)| Kernel::Column(shape, tiling, proof)).collect()
            } else if tiles(&shape) {
                let proof = asked.proof(Gains::Alternating);
                let tiled = |pixels| proof.clone().map(|proof| Kernel::Tiled(shape, pixels, proof));
                let by_rule = window_pixels(&shape, asked.options);
                let most = shape.out_w.next_multiple_of(2).max(2);
                let others = asked.other_windows(by_rule, most, |pixels| 4 * shape.window_words(pixels));
                let tiled = std::iter::once(by_rule).chain(others).filter_map(tiled);
                let proof = asked.proof(Gains::Alternating).filter(|proof| proof.form.is_some());
                let patches = proof.filter(|_| patches(&shape)).map(|proof| {
                    let pixels = by_rule.min(((SPEEDY_PATCHES / (2 * shape.taps())) & !1).max(2));
                    Kernel::Patches(shape, pixels, proof)
                });
                tiled.chain(patches).chain(conv::winograd(asked, shape)).collect()
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

/// The kernel of a depthwise convolution of channel-last images. That of one axis is unrolled for each number of taps; in a pipeline a ring may divide them.
fn depthwise(asked: &Asked<'_>, shape: Sizes, proof: Proof) -> Kernel {
    match shape.along().filter(|_| asked.whole && proof.form.is_some()) {
        Some(axis) => Kernel::Temporal(shape, axis, proof),
        None => Kernel::Depthwise(shape, proof),
    }
}

/// A kernel with what follows from it.
fn choice(kernel: Kernel, asked: &Asked<'_>, core: Core) -> Choice {
    let (workspace, images) = match &kernel {
        Kernel::Tiled(shape, pixels, _) => (4 * shape.window_words(*pixels), shape.images),
        Kernel::Patches(shape, pixels, _) => (patches_bytes(shape, *pixels), shape.images),
        Kernel::Winograd(shape, side, _) => {
            (winograd::workspace(shape, *side, conv::TILES, winograd::Shared::Channels), shape.images)
        }
        Kernel::Column(shape, ..)
        | Kernel::Depthwise(shape, _)
        | Kernel::DepthwisePlanar(shape, _)
        | Kernel::Temporal(shape, ..) => (0, shape.images),
        _ => (0, 1),
    };
    let (work, form) = (kernel.work(asked), kernel.form());
    let cycles = kernel.cycles(asked, core, &work);
    let rows_at_once = if let Kernel::Winograd(_, side, _) = &kernel { side.results() } else { 1 };
    Choice { workspace, images, rows_at_once, form, work, ..Choice::new(Rc::new(kernel), cycles) }
}

impl Kernel {
    /// The cheap form of its requantisation.
    fn form(&self) -> Option<Form> {
        match self {
            Kernel::Tiled(_, _, proof)
            | Kernel::Patches(_, _, proof)
            | Kernel::Winograd(_, _, proof)
            | Kernel::Column(_, _, proof)
            | Kernel::DepthwisePlanar(_, proof)
            | Kernel::Depthwise(_, proof)
            | Kernel::Temporal(_, _, proof)
            | Kernel::Dense(_, proof) => proof.form.as_ref().map(|fitted| fitted.form),
            _ => None,
        }
    }

    /// The kernel in the table, of those for different sizes or without a cheap form the first.
    fn id(&self) -> KernelId {
        match self {
            Kernel::Tiled(shape, ..) if points(shape) => KernelId::Conv2dI8DspPointsSmall,
            Kernel::Tiled(..) => KernelId::Conv2dI8Dsp,
            Kernel::Patches(..) => KernelId::Conv2dI8DspPatches,
            Kernel::Winograd(_, Side::Two, _) => KernelId::Conv2dI8DspWinograd,
            Kernel::Winograd(_, Side::Four, _) => KernelId::Conv2dI8DspWinograd4x4,
            Kernel::Column(_, tiling, _) | Kernel::Dense(tiling, _) => match tiling {
                Tiling::Quads => KernelId::DenseI8Dsp,
                Tiling::Eights(_) => KernelId::DenseI8DspEights,
                Tiling::Dots => KernelId::DenseI8DspDot,
            },
            Kernel::DepthwisePlanar(..) => KernelId::Depthwise2dI8DspPlanar,
            Kernel::Depthwise(..) => KernelId::Depthwise2dI8Dsp,
            Kernel::Temporal(..) => KernelId::Depthwise1dI8Dsp,
            Kernel::DenseWide(_) => KernelId::DenseI8I16Dsp,
            Kernel::Add(_) => KernelId::AddI8Dsp,
            Kernel::MaxPool(_) => KernelId::MaxPool2dI8Dsp,
            Kernel::Means(_) => KernelId::MeanPool2dI8Dsp,
            Kernel::Quantize(_) => KernelId::QuantizeF32I8Dsp,
        }
    }

    /// Predicted cycles of so much work, which kernels that need no cheap form have in common with the others.
    fn cycles(&self, asked: &Asked<'_>, core: Core, work: &Work) -> u64 {
        let small = asked.options.optimize == Optimize::Size;
        let id = match self.id() {
            KernelId::Conv2dI8Dsp | KernelId::Conv2dI8DspPointsSmall if small => KernelId::Conv2dI8DspCompact,
            KernelId::Depthwise2dI8Dsp if small => KernelId::Depthwise2dI8DspCompact,
            KernelId::DenseI8Dsp if small => KernelId::DenseI8DspCompact,
            id => id,
        };
        kernel::cycles(asked.options, id, core, work).unwrap_or(u64::MAX)
    }
}

impl kernel::Kernel for Kernel {
    fn name(&self) -> Cow<'static, str> {
        match self {
            Kernel::Tiled(_, pixels, _) | Kernel::Patches(_, pixels, _) => {
                format!("{}/{pixels}", self.id().name()).into()
            }
            _ => self.id().name().into(),
        }
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        if selector.compact() {
            match self {
                Kernel::Tiled(shape, pixels, proof) => {
                    return selector.compact_conv(node, shape, *pixels, proof)
                }
                Kernel::Depthwise(shape, proof) => return selector.compact_depthwise(node, shape, proof),
                Kernel::Dense(_, proof) => return selector.compact_dense(node, proof),
                _ => {}
            }
        }
        match self {
            Kernel::Tiled(shape, _, proof) => selector.tiled(node, shape, proof),
            Kernel::Patches(shape, _, proof) => selector.patches(node, shape, proof),
            Kernel::Winograd(shape, side, proof) => selector.winograd(node, shape, *side, self.id(), proof),
            Kernel::Column(shape, tiling, proof) => selector.column(node, shape, *tiling, proof),
            Kernel::DepthwisePlanar(shape, proof) => selector.depthwise_planar(node, shape, proof),
            Kernel::Depthwise(shape, proof) => selector.depthwise_last(node, shape, proof),
            Kernel::Temporal(shape, axis, proof) => selector.temporal(node, shape, axis, proof),
            Kernel::Dense(tiling, proof) => selector.dense_rows(node, *tiling, proof),
            Kernel::DenseWide(layer) => selector.dense_wide(node, layer),
            Kernel::Add(by) => match selector.compact() {
                true => selector.sum(node, KernelId::AddI8DspCompact, by, false),
                false => selector.sum(node, KernelId::AddI8Dsp, by, true),
            },
            Kernel::MaxPool(window) => selector.largest(node, window),
            Kernel::Means(means) => match selector.compact() {
                true => selector.means(node, KernelId::MeanPool2dI8DspCompact, means),
                false => selector.means(node, KernelId::MeanPool2dI8Dsp, means),
            },
            Kernel::Quantize(inverse) => {
                let generics = vec![Generic::Flag(inverse.low.is_some())];
                selector.quantize_by(node, KernelId::QuantizeF32I8Dsp, inverse, generics)
            }
        }
    }

    fn is_worth_sharing(&self, choice: &Choice, _: &Graph, _: &Node) -> bool {
        choice.cycles >= kernel::WORTH_TWO_CORES
    }

    fn workspaces(&self, choice: &Choice, graph: &Graph, node: &Node, cores: usize) -> Option<usize> {
        let is_in_parts = match self {
            Kernel::Tiled(..)
            | Kernel::Patches(..)
            | Kernel::Winograd(..)
            | Kernel::Depthwise(..)
            | Kernel::DepthwisePlanar(..) => choice.images == 1,
            Kernel::Dense(Tiling::Quads | Tiling::Eights(_), proof) => {
                proof.form.is_some()
                    && graph.ty(node.operands[0]).shape.numel() == graph.ty(node.operands[0]).shape.last()
            }
            _ => false,
        };
        is_in_parts.then(|| kernel::workspaces_of(choice, cores))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
    fn largest(&mut self, node: &'a Node, Window { window, clamp: (lo, hi) }: &Window) -> Selected {
        let generics = window.size.map(Generic::Size).to_vec();
        let range = [*lo, *hi].map(|bound| Arg::Int(bound.into()));
        self.pool_calls(node, window, KernelId::MaxPool2dI8Dsp, generics, &range)
    }

    /// Whether kernels are to be small rather than fast.
    fn compact(&self) -> bool {
        self.options.optimize == Optimize::Size
    }
}

/// Whether the kernel of largest elements takes a window.
fn is_small(window: &Window) -> bool {
    window.window.size.iter().all(|size| (1..=3).contains(size))
}

/// Whether each row of a column by itself is a product with a matrix.
fn is_dense(shape: &Sizes) -> bool {
    (shape.k_h, shape.stride_h, shape.pad_top) == (1, 1, 0) && shape.out_h <= shape.in_h
}

/// Whether a convolution over all channels can be computed in tiles.
fn tiles(shape: &Sizes) -> bool {
    let dilated = shape.dilation_h > 1 || shape.dilation_w > 1 && shape.k_w > 1;
    !dilated && in_reach(shape)
}

/// Whether tiles are of single pixels: filters 1 × 1, whose channels come in fours.
fn points(shape: &Sizes) -> bool {
    let inside = |out: usize, stride: usize, size: usize| out.saturating_sub(1) * stride < size;
    shape.taps() == shape.in_c
        && (shape.pad_top, shape.pad_left) == (0, 0)
        && inside(shape.out_h, shape.stride_h, shape.in_h)
        && inside(shape.out_w, shape.stride_w, shape.in_w)
        && shape.in_c % 4 == 0
        && shape.out_c % 4 == 0
}

/// Whether the taps of each pixel can be copied for themselves: rows of filters are whole words, of so few channels that taking them column by column costs more.
fn patches(shape: &Sizes) -> bool {
    shape.in_c < 4 && shape.k_w * shape.in_c % 4 == 0 && shape.out_c % 4 == 0 && shape.dilation_w == 1
}

/// Bytes of such copies for so many pixels, with those of the rows that two rows of the result read.
fn patches_bytes(shape: &Sizes, pixels: usize) -> usize {
    let rows = (shape.k_h - 1) * shape.dilation_h + 1 + shape.stride_h;
    let line = ((shape.out_w - 1) * shape.stride_w + shape.k_w) * shape.in_c;
    rows * line.next_multiple_of(4) + 2 * pixels * shape.taps()
}

/// Whether the offsets of a tile fit its instructions.
fn in_reach(shape: &Sizes) -> bool {
    let (pixel, channel) = shape.out_strides();
    shape.second_pixel() <= 3840 && pixel + 3 * channel <= 4095 && channel <= 1023
}

/// How many pixels of the result the window covers: an even number. What neighbours have in common is widened once if they are in it together.
fn window_pixels(shape: &Sizes, options: &Options) -> usize {
    let most = shape.out_w.next_multiple_of(2).max(2);
    let bytes = match options.optimize {
        Optimize::Memory => THRIFTY_WINDOW,
        // Each core has a window.
        Optimize::Speed | Optimize::Size => SPEEDY_WINDOW / options.cores(),
    };
    let fits = |&pixels: &usize| 4 * shape.window_words(pixels) <= bytes;
    let pixels = (2..=most).step_by(2).take_while(fits).last().unwrap_or(2);
    pixels.min(most)
}

/// Bytes of a window, if two pixels do not need more.
const SPEEDY_WINDOW: usize = 4096;
const THRIFTY_WINDOW: usize = 640;

/// Bytes of copies of taps, if those of two pixels do not need more.
const SPEEDY_PATCHES: usize = 512;

/// Whether the filters of a layer with results of 8 bits can be packed in pairs: `a + 256·b` of two 8-bit weights has to fit 16 bits, and the sums of
/// the second filter 24.
fn packs(asked: &Asked<'_>) -> bool {
    let Some(layer) = asked.layer().filter(|_| asked.graph.ty(asked.node.result).dtype == DType::I8) else {
        return false;
    };
    (0..layer.bias.len()).step_by(2).all(|even| {
        let odd = even + 1;
        let fits =
            layer.filter(even).iter().zip(layer.filter(odd)).all(|(&even, &odd)| odd != i8::MIN || even >= 0);
        let sums = if odd < layer.bias.len() { layer.range(odd) } else { Interval { lo: 0, hi: 0 } };
        fits && sums.lo > -MOST_SUM && sums.hi < MOST_SUM
    })
}

/// 256 times a sum has to fit 32 bits.
const MOST_SUM: i64 = (1 << 23) - 1;

/// Whether a matrix product of 8 bits has results of 16.
fn widens(asked: &Asked<'_>) -> bool {
    let Op::Dense { rescale, .. } = &asked.node.op else { return false };
    let result = asked.graph.ty(asked.node.result).dtype;
    asked.layer().is_some() && single(rescale).is_some() && result == DType::I16
}
