//! Which kernel computes a node on which processor, and what it needs besides operands and result.
//!
//! The schedule asks for workspaces before there are addresses, `select` for the kernel when there are: both read [`Kernels`]. What depends on the values of
//! weights (whether a cheap requantisation is exact) is `select`'s, but for planar images: `cheap.rs`.

mod cheap;
mod compact;
pub mod crew;
pub mod floats;
mod packed;
mod planar;
mod shape;
pub mod vectors;

pub use compact::CODE_BYTES;
pub use floats::Floats;
pub use packed::{packing, packs_any, Packing};
pub use planar::{planar_operand, planar_result};
pub use shape::Shape;
pub use vectors::Vectors;

use crate::ir::{DType, Graph, Node, NodeId, Op, Order, Rescale};
use crate::{Optimize, Options, Target};
use std::collections::HashMap;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Plain Rust.
    Portable,
    /// Convolution in tiles of two pixels and four filters, from a window of so many pixels that is widened to 16 bits.
    Tiled(Shape, usize),
    /// Convolution of images of which every row of the result is one pixel.
    Column(Shape),
    /// Depthwise convolution of planar rows.
    DepthwisePlanar(Shape),
    /// Depthwise convolution of channel-last images.
    Depthwise(Shape),
    /// Depthwise convolution along the only axis of channel-last images.
    Temporal(Shape),
    /// Matrix product of single rows.
    Dense,
    /// The same with results of 16 bits.
    DenseWide,
    /// In vectors.
    Vectors(Vectors),
    /// The same, of floats.
    Floats(Floats),
}

/// The kernels of a graph's nodes. Each is chosen once: that reads all weights.
#[derive(Clone, Debug, Default)]
pub struct Kernels(HashMap<(NodeId, bool), Kernel>);

impl Kernels {
    /// The kernel of a node, in a step that computes all rows at once (`whole`) or runs in a pipeline. Graph and options are always the same.
    pub fn of(&mut self, graph: &Graph, node: NodeId, options: &Options, whole: bool) -> Kernel {
        let choose = || Kernel::of(graph, graph.node(node), options, whole);
        *self.0.entry((node, whole)).or_insert_with(choose)
    }
}

impl Kernel {
    fn of(graph: &Graph, node: &Node, options: &Options, whole: bool) -> Kernel {
        if options.target() == Target::Vectors && packing(graph, node, options).is_none() {
            let integers = Vectors::of(graph, node, whole).map(Kernel::Vectors);
            let floats = || Floats::of(graph, node, whole).map(Kernel::Floats);
            return integers.or_else(floats).unwrap_or(Kernel::Portable);
        }
        if options.target() != Target::CortexMDsp || packing(graph, node, options).is_some() {
            return Kernel::Portable;
        }
        if options.optimize == Optimize::Size {
            return compact::kernel(graph, node, whole);
        }
        match (&node.op, Shape::of(graph, node)) {
            (_, Some(shape)) if shape.layout.x == Order::Planar => Kernel::DepthwisePlanar(shape),
            (_, Some(shape)) if planar::by_fours(graph, node, &shape) => {
                // Unrolled for each number of taps; in a pipeline a ring may divide them.
                match whole && shape.along().is_some() {
                    true => Kernel::Temporal(shape),
                    false => Kernel::Depthwise(shape),
                }
            }
            (Op::Dense { .. }, _) if packs(graph, node) => Kernel::Dense,
            (Op::Dense { .. }, _) if widens(graph, node) => Kernel::DenseWide,
            (Op::Conv2d { groups: 1, .. }, Some(shape)) if packs(graph, node) => {
                let shape = if whole { shape.as_row() } else { shape }.as_column();
                if shape.is_column() {
                    Kernel::Column(shape)
                } else if tiles(&shape) {
                    Kernel::Tiled(shape, window_pixels(&shape, options.optimize))
                } else {
                    Kernel::Portable
                }
            }
            _ => Kernel::Portable,
        }
    }

    /// Images that it computes one after the other.
    pub fn images(&self) -> usize {
        match self {
            Kernel::Portable | Kernel::Dense | Kernel::DenseWide => 1,
            Kernel::Vectors(kernel) => kernel.images(),
            Kernel::Floats(kernel) => kernel.images(),
            Kernel::Column(shape)
            | Kernel::Depthwise(shape)
            | Kernel::DepthwisePlanar(shape)
            | Kernel::Temporal(shape)
            | Kernel::Tiled(shape, _) => shape.images,
        }
    }

    /// Bytes of its workspace.
    pub fn workspace(&self) -> usize {
        match self {
            Kernel::Portable | Kernel::Dense | Kernel::DenseWide | Kernel::Column(_) => 0,
            Kernel::DepthwisePlanar(_) | Kernel::Depthwise(_) | Kernel::Temporal(_) => 0,
            Kernel::Tiled(shape, pixels) => 4 * shape.window_words(*pixels),
            Kernel::Vectors(kernel) => kernel.workspace(),
            Kernel::Floats(kernel) => kernel.workspace(),
        }
    }
}

/// Whether sums are rescaled as floats or rounded once: by portable kernels, if there is no cheap form that is exact.
pub(crate) fn needs_cheap_form(node: &Node) -> bool {
    let (Op::Conv2d { rescale, .. } | Op::Dense { rescale, .. }) = &node.op else { return false };
    matches!(rescale, Rescale::Float(_) | Rescale::Once(_))
}

/// Whether a convolution over all channels can be computed in tiles.
fn tiles(shape: &Shape) -> bool {
    let dilated = shape.dilation_h > 1 || shape.dilation_w > 1 && shape.k_w > 1;
    !dilated && in_reach(shape)
}

/// Whether the offsets of a tile fit its instructions.
fn in_reach(shape: &Shape) -> bool {
    let (pixel, channel) = shape.out_strides();
    shape.second_pixel() <= 3840 && pixel + 3 * channel <= 4095 && channel <= 1023
}

/// How many pixels of the result the window covers: an even number. What neighbours have in common is widened once if they are in it together.
fn window_pixels(shape: &Shape, optimize: Optimize) -> usize {
    let most = shape.out_w.next_multiple_of(2).max(2);
    let bytes = match optimize {
        Optimize::Memory => THRIFTY_WINDOW,
        Optimize::Speed | Optimize::Size => SPEEDY_WINDOW,
    };
    let fits = |&pixels: &usize| 4 * shape.window_words(pixels) <= bytes;
    let pixels = (2..=most).step_by(2).take_while(fits).last().unwrap_or(2);
    pixels.min(most)
}

/// Bytes of a window, if two pixels do not need more.
const SPEEDY_WINDOW: usize = 4096;
const THRIFTY_WINDOW: usize = 640;

/// Whether a convolution's or dense layer's filters can be packed in pairs: `a + 256·b` of two 8-bit weights has to fit 16 bits, and the sums of
/// the second filter 24.
fn packs(graph: &Graph, node: &Node) -> bool {
    let [x, w, ..] = node.operands[..] else { return false };
    let types = [x, w, node.result].map(|id| graph.ty(id).dtype);
    let Some(weights) = graph.const_data(w).filter(|_| types == [DType::I8; 3]) else { return false };
    let weights = weights.to_i8();
    let filters = graph.ty(w).shape.dims().first().copied().unwrap_or(1);
    let taps = weights.len().checked_div(filters).unwrap_or(0).max(1);
    let bias =
        node.operands.get(2).and_then(|&b| graph.const_data(b)).map(|b| b.to_i32()).unwrap_or_default();
    let zero = i64::from(graph.ty(x).zero_point());
    let pairs: Vec<&[i8]> = weights.chunks(2 * taps).collect();
    pairs.iter().enumerate().all(|(pair, weights)| {
        let (even, odd) = weights.split_at(taps.min(weights.len()));
        let fits = even.iter().zip(odd).all(|(&even, &odd)| odd != i8::MIN || even >= 0);
        let bias = bias.get(2 * pair + 1).map_or(0, |&b| i64::from(b));
        // What operands at either end of their range add.
        let sum = |ends: [i64; 2], pick: fn(i64, i64) -> i64| {
            let sum = odd.iter().map(|&w| pick(i64::from(w) * ends[0], i64::from(w) * ends[1])).sum::<i64>();
            bias + sum
        };
        let ends = [-128 - zero, 127 - zero];
        fits && sum(ends, i64::min) > -MOST_SUM && sum(ends, i64::max) < MOST_SUM
    })
}

/// Whether a matrix product of 8 bits has results of 16.
fn widens(graph: &Graph, node: &Node) -> bool {
    let [x, w, ..] = node.operands[..] else { return false };
    let types = [x, w, node.result].map(|id| graph.ty(id).dtype);
    types == [DType::I8, DType::I8, DType::I16] && graph.const_data(w).is_some()
}

/// 256 times a sum has to fit 32 bits.
const MOST_SUM: i64 = (1 << 23) - 1;
