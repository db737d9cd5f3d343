//! Convolutions with filters of 3 × 3 by Winograd's algorithm: 16 products instead of 36, and 32 bytes of weights instead of 9.
//!
//! The runtime's `arch/winograd.rs` has the arithmetic. It computes two rows at a time, so it computes steps with all rows at once. Parts that two cores share begin with even rows.

use super::layer::Layer;
use super::Shape;
use crate::ir::{DType, Graph, Layout, NodeId, Op};
use crate::{Optimize, Options};
use kiln_kernel_table::{Count, Work};
use std::collections::BTreeSet;

/// Bytes by which weights may grow, without a budget of flash.
const MOST_BYTES: usize = 128 * 1024;

/// Bytes of a budget of flash that are left to code.
pub const CODE: usize = 48 * 1024;

/// Frequencies of a tile.
const FREQUENCIES: usize = 16;

/// Filters that are computed together.
const FILTERS: usize = 4;

/// Most channels of the operand that the kernels take.
const MOST_CHANNELS: usize = 3640;

/// Fewest that are worth it.
const FEWEST_CHANNELS: usize = 8;

/// The transformation of filters, times two.
const G: [[i32; 3]; 4] = [[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]];

/// The convolutions whose weights may be transformed: first those that have most products for each byte, as long as there is flash.
pub(super) fn allowed(graph: &Graph, options: &Options) -> BTreeSet<NodeId> {
    if options.optimize != Optimize::Speed {
        return BTreeSet::new();
    }
    let constants = graph.live_constant_bytes();
    let mut left = options.flash.map_or(MOST_BYTES, |flash| flash.saturating_sub(constants + CODE));
    let shape = |(id, node)| Some((id, Shape::of(graph, node).filter(|shape| takes(graph, node, shape))?));
    let mut found: Vec<(NodeId, Shape)> = graph.nodes().filter_map(shape).collect();
    // Products are those of the pixels, bytes do not depend on these.
    found.sort_by_key(|(_, shape)| std::cmp::Reverse(shape.images * shape.out_h * shape.out_w));
    let grown = |shape: &Shape| weight_bytes(shape) - (9 * shape.in_c * shape.out_c).min(weight_bytes(shape));
    let fits = |(id, shape): (NodeId, Shape)| {
        let bytes = grown(&shape);
        let fits = bytes <= left;
        left -= if fits { bytes } else { 0 };
        fits.then_some(id)
    };
    found.into_iter().filter_map(fits).collect()
}

/// Whether the kernels compute a node, whatever flash there is.
pub(super) fn is_possible(graph: &Graph, node: NodeId) -> bool {
    let node = graph.node(node);
    Shape::of(graph, node).is_some_and(|shape| takes(graph, node, &shape))
}

/// Whether the kernels compute a convolution.
fn takes(graph: &Graph, node: &crate::ir::Node, shape: &Shape) -> bool {
    let steps = (shape.k_h, shape.k_w, shape.stride_h, shape.stride_w, shape.dilation_h, shape.dilation_w);
    let bytes = node.operands.iter().take(2).all(|&id| graph.ty(id).dtype == DType::I8);
    let one_group = matches!(node.op, Op::Conv2d { groups: 1, .. });
    one_group
        && bytes
        && graph.ty(node.result).dtype == DType::I8
        && steps == (3, 3, 1, 1, 1, 1)
        && node.op.layout() == Layout::default()
        // Fewer would be filled up.
        && (FEWEST_CHANNELS..=MOST_CHANNELS).contains(&shape.in_c)
}

/// Channels of the operand that are computed.
fn channels(shape: &Shape) -> usize {
    shape.in_c.next_multiple_of(8)
}

/// Bytes of transformed weights.
fn weight_bytes(shape: &Shape) -> usize {
    2 * FREQUENCIES * channels(shape) * shape.out_c.next_multiple_of(FILTERS)
}

/// What shares a word of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    /// Two channels, of a filter. Two channels of a transformed tile are a word, too.
    Channels,
    /// Two filters, of a channel. Each channel of a transformed tile has a word.
    Filters,
}

/// Bytes of the workspace, for so many tiles at a time.
pub(super) fn workspace(shape: &Shape, tiles: usize, shared: Shared) -> usize {
    let in_word = if shared == Shared::Channels { 2 } else { 1 };
    let (patch, transformed) =
        ((2 * tiles + 2) * channels(shape), FREQUENCIES * tiles * channels(shape) / in_word);
    // Sums lie over the elements of the operand.
    4 * (patch.max(FREQUENCIES * tiles * FILTERS) + transformed)
}

/// What the kernels do, counted, for so many tiles at a time.
pub(super) fn work(shape: &Shape, tiles: usize) -> Work {
    let blocks = shape.images * shape.out_h.div_ceil(2) * shape.out_w.div_ceil(2).div_ceil(tiles);
    let fours = shape.out_c.div_ceil(FILTERS);
    Work::of_call()
        .with(Count::Product, blocks * tiles * FREQUENCIES * channels(shape) * fours * FILTERS)
        .with(Count::Result, blocks * tiles * 4 * shape.out_c)
        .with(Count::Tile, blocks * fours)
        .with(Count::Window, blocks)
        .with(Count::Tap, blocks * 4 * (2 * tiles + 2) * channels(shape))
}

/// The transformed weights of the four filters that begin with `first`, for each frequency. Channels 0 and 2, and 1 and 3 of each four are pairs: a word of each filter, or one for both
/// channels of two filters each.
pub(super) fn pack(layer: &Layer, shape: &Shape, first: usize, shared: Shared) -> Vec<i32> {
    let element = |o: usize, c: usize, [i, j]: [usize; 2]| {
        let filter = layer.filter(o);
        let weight = |ky: usize, kx: usize| match c < shape.in_c {
            true => filter.get((3 * ky + kx) * shape.in_c + c).map_or(0, |&w| i32::from(w)),
            false => 0,
        };
        let row = |ky: usize| (0..3).map(|kx| G[j][kx] * weight(ky, kx)).sum::<i32>();
        (0..3).map(|ky| G[i][ky] * row(ky)).sum::<i32>()
    };
    let mut words = Vec::new();
    for frequency in 0..FREQUENCIES {
        for pair in 0..channels(shape) / 2 {
            let c = pair / 2 * 4 + pair % 2;
            let half = |o: usize, c: usize| element(o, c, [frequency / 4, frequency % 4]);
            let halves = |low: i32, high: i32| (low & 0xffff) | high.wrapping_shl(16);
            match shared {
                Shared::Channels => {
                    words.extend((first..first + FILTERS).map(|o| halves(half(o, c), half(o, c + 2))));
                }
                Shared::Filters => {
                    let both = [c, c + 2].into_iter().flat_map(|c| [(first, c), (first + 2, c)]);
                    words.extend(both.map(|(o, c)| halves(half(o, c), half(o + 1, c))));
                }
            }
        }
    }
    words
}

/// The first of each four filters.
pub(super) fn fours(layer: &Layer) -> impl Iterator<Item = usize> {
    (0..layer.bias.len()).step_by(FILTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Order;
    use crate::Target;

    /// Of a graph with a layer of 64 channels behind one of 8, those that may be transformed.
    fn count(options: &Options) -> usize {
        let graph = Graph::parse(
            "graph \"test\" {
               input %x: i8[1,8,8,8] q(0.5 : -3)
               const %v: i8[64,3,3,8] q(0.5 : 0) = splat 1
               const %w: i8[64,3,3,64] q(0.5 : 0) = splat 1
               %y: i8[1,8,8,64] q(0.5 : -3) = conv2d(%x, %v) {window = [3, 3] pad [1, 1, 1, 1], groups = 1, rescale = [1073741824 * 2^-1], clamp = -128..=127}
               %z: i8[1,8,8,64] q(0.5 : -3) = conv2d(%y, %w) {window = [3, 3] pad [1, 1, 1, 1], groups = 1, rescale = [1073741824 * 2^-1], clamp = -128..=127}
               return %z
             }",
        );
        allowed(&graph.unwrap(), options).len()
    }

    /// They have 41,472 bytes, of which the larger one's grow by 94,208 and the other one's by 11,776.
    #[test]
    fn there_has_to_be_flash() {
        let options = Options { target: Some(Target::Rv32), ..Options::default() };
        let with = |flash| count(&Options { flash: Some(flash), ..options.clone() });
        let rest = 41_472 + CODE;
        assert_eq!((count(&options), with(usize::MAX)), (2, 2));
        assert_eq!((with(0), with(rest + 11_775), with(rest + 11_776)), (0, 0, 1));
        assert_eq!((with(rest + 94_208 + 11_775), with(rest + 94_208 + 11_776)), (1, 2));
        let other = |optimize| count(&Options { optimize, ..options.clone() });
        assert_eq!((other(Optimize::Size), other(Optimize::Memory)), (0, 0));
    }

    const SHAPE: Shape = Shape {
        in_h: 4,
        in_w: 4,
        in_c: 2,
        out_h: 2,
        out_w: 2,
        out_c: 1,
        k_h: 3,
        k_w: 3,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
        images: 1,
        layout: Layout { x: Order::ChannelLast, y: Order::ChannelLast },
    };

    /// One tile by definition: four times the sums.
    #[test]
    fn four_times_the_sums() {
        let weights: Vec<i8> = (0..18).map(|i| (i * 71 % 256) as u8 as i8).collect();
        let words = pack(
            &Layer { weights: weights.clone(), bias: vec![0], ..Layer::default() },
            &SHAPE,
            0,
            Shared::Channels,
        );
        assert_eq!(words.len(), 16 * 4 * 4);
        let x = |y: usize, x: usize, c: usize| (y * 83 + x * 57 + c * 29) as u8 as i8 as i32;
        const B: [[i32; 4]; 4] = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]];
        const A: [[i32; 4]; 2] = [[1, 1, 1, 0], [0, 1, -1, -1]];
        let mut m = [[0; 4]; 4];
        for (c, pair) in [(0, 0), (1, 1)] {
            for (frequency, words) in words.chunks_exact(16).enumerate() {
                let (i, j) = (frequency / 4, frequency % 4);
                let v: i32 = (0..16).map(|k| B[i][k / 4] * B[j][k % 4] * x(k / 4, k % 4, c)).sum();
                m[i][j] += v * i32::from(words[4 * pair] as i16);
            }
        }
        for (y, result) in (0..4).map(|at| (at / 2, at % 2)) {
            let four: i32 = (0..16).map(|k| A[y][k / 4] * A[result][k % 4] * m[k / 4][k % 4]).sum();
            let tap = |k: usize| x(y + k / 6, result + k / 2 % 3, k % 2) * i32::from(weights[k]);
            assert_eq!(four, 4 * (0..18).map(tap).sum::<i32>());
        }
    }
}
