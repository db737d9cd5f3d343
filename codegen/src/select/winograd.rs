//! Convolutions with filters of 3 × 3 by Winograd's algorithm: 16 products for four results instead of 36, and 32 bytes of weights instead of 9; or 36 products for 16 results instead of 144, and 72 bytes.
//!
//! The runtime's `arch/winograd.rs` has the arithmetic. It computes as many rows at once as a tile has, so it computes steps with all rows at once. Parts that two cores share are whole tiles.

use super::layer::Layer;
use super::{kernel, Shape};
use crate::ir::{DType, Graph, Layout, NodeId, Op};
use crate::{Optimize, Options};
use kiln_kernel_table::{Count, Work};
use std::collections::BTreeMap;

/// Bytes of a budget of flash that are left to code.
pub const CODE: usize = 48 * 1024;

/// Filters that are computed together.
const FILTERS: usize = 4;

/// Fewest channels of the operand that are worth it.
const FEWEST_CHANNELS: usize = 8;

/// Results along each side of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Two = 2,
    Four = 4,
}

impl Side {
    /// Those that are at most so large, the largest first.
    pub(super) fn up_to(largest: Option<Side>) -> impl Iterator<Item = Side> {
        [Side::Four, Side::Two].into_iter().filter(move |&side| Some(side) <= largest)
    }

    /// As a number.
    pub(super) fn results(self) -> usize {
        self as usize
    }

    /// Elements of the operand, and frequencies, along each side.
    fn elements(self) -> usize {
        self.results() + 2
    }

    fn frequencies(self) -> usize {
        self.elements() * self.elements()
    }

    /// Most channels of the operand that the kernels take.
    fn most_channels(self) -> usize {
        match self {
            Side::Two => 3640,
            Side::Four => 227,
        }
    }

    /// Bytes by which weights may grow, without a budget of flash.
    fn most_bytes(self) -> usize {
        match self {
            Side::Two => 128 * 1024,
            Side::Four => 192 * 1024,
        }
    }

    /// A row of the transformation of filters.
    fn g(self, row: usize) -> [i32; 3] {
        const TWO: [[i32; 3]; 4] = [[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]];
        const FOUR: [[i32; 3]; 6] = [[6, 0, 0], [1, 1, 1], [1, -1, 1], [1, 2, 4], [1, -2, 4], [0, 0, 6]];
        match self {
            Side::Two => TWO[row],
            Side::Four => FOUR[row],
        }
    }
}

/// The convolutions whose weights may be transformed, and how large tiles may be: first those that have most products for each byte, as long as there is flash.
pub(super) fn allowed(graph: &Graph, options: &Options) -> BTreeMap<NodeId, Side> {
    if options.optimize != Optimize::Speed {
        return BTreeMap::new();
    }
    let constants = graph.live_constant_bytes();
    let largest = kernel::largest_tile(options);
    let budget = |flash: usize| flash.saturating_sub(constants + CODE);
    let mut left = options.flash.map_or(largest.most_bytes(), budget);
    // Products saved are those of the pixels, bytes do not depend on these. Tiles of 2 × 2 save 5 of 9 products for 23 bytes, larger ones 1.75 more for 40 bytes: a fifth for each byte.
    let worth = |side: Side| if side == Side::Two { 5 } else { 1 };
    let mut steps: Vec<(usize, NodeId, Side, usize)> = Vec::new();
    for (id, node) in graph.nodes() {
        let Some(shape) = Shape::of(graph, node) else { continue };
        let sides = Side::up_to(Some(largest)).filter(|&side| takes(graph, node, &shape, side));
        let grown = |side: Side| weight_bytes(&shape, side).saturating_sub(9 * shape.in_c * shape.out_c);
        let pixels = shape.images * shape.out_h * shape.out_w;
        steps.extend(sides.map(|side| (pixels * worth(side), id, side, grown(side))));
    }
    steps.sort_by_key(|&(worth, ..)| std::cmp::Reverse(worth));
    let mut allowed = BTreeMap::new();
    for (_, id, side, grown) in steps {
        let (held, smaller) = allowed.get(&id).map_or((0, None), |&(grown, side)| (grown, Some(side)));
        if smaller == Side::up_to(Some(side)).nth(1) && grown - held <= left {
            left -= grown - held;
            allowed.insert(id, (grown, side));
        }
    }
    allowed.into_iter().map(|(id, (_, side))| (id, side)).collect()
}

/// The largest tiles by which any kernel computes a node, whatever flash and memory there are.
pub(super) fn possible(graph: &Graph, node: NodeId) -> Option<Side> {
    let node = graph.node(node);
    let shape = Shape::of(graph, node)?;
    Side::up_to(Some(Side::Four)).find(|&side| takes(graph, node, &shape, side))
}

/// Whether the kernels compute a convolution in such tiles.
fn takes(graph: &Graph, node: &crate::ir::Node, shape: &Shape, side: Side) -> bool {
    let steps = (shape.k_h, shape.k_w, shape.stride_h, shape.stride_w, shape.dilation_h, shape.dilation_w);
    let bytes = node.operands.iter().take(2).all(|&id| graph.ty(id).dtype == DType::I8);
    let one_group = matches!(node.op, Op::Conv2d { groups: 1, .. });
    one_group
        && bytes
        && graph.ty(node.result).dtype == DType::I8
        && steps == (3, 3, 1, 1, 1, 1)
        && node.op.layout() == Layout::default()
        // Fewer would be filled up.
        && (FEWEST_CHANNELS..=side.most_channels()).contains(&shape.in_c)
}

/// Channels of the operand that are computed.
fn channels(shape: &Shape) -> usize {
    shape.in_c.next_multiple_of(8)
}

/// Bytes of transformed weights.
fn weight_bytes(shape: &Shape, side: Side) -> usize {
    2 * side.frequencies() * channels(shape) * shape.out_c.next_multiple_of(FILTERS)
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
pub(super) fn workspace(shape: &Shape, side: Side, tiles: usize, shared: Shared) -> usize {
    let in_word = if shared == Shared::Channels { 2 } else { 1 };
    let patch = elements(side, tiles) * channels(shape) / 4;
    let transformed = side.frequencies() * tiles * channels(shape) / in_word;
    // Sums lie over the elements of the operand.
    4 * (patch.max(side.frequencies() * tiles * FILTERS) + transformed)
}

/// Elements of a channel that tiles side by side read.
fn elements(side: Side, tiles: usize) -> usize {
    side.elements() * (side.results() * tiles + 2)
}

/// What the kernels do, counted, for so many tiles at a time.
pub(super) fn work(shape: &Shape, side: Side, tiles: usize) -> Work {
    let [rows, columns] = [shape.out_h, shape.out_w].map(|size| size.div_ceil(side.results()));
    let blocks = shape.images * rows * columns.div_ceil(tiles);
    let fours = shape.out_c.div_ceil(FILTERS);
    Work::of_call()
        .with(Count::Product, blocks * tiles * side.frequencies() * channels(shape) * fours * FILTERS)
        .with(Count::Result, blocks * tiles * side.results().pow(2) * shape.out_c)
        .with(Count::Tile, blocks * fours)
        .with(Count::Window, blocks)
        .with(Count::Tap, blocks * elements(side, tiles) * channels(shape))
}

/// The transformed weights of the four filters that begin with `first`, for each frequency. Channels 0 and 2, and 1 and 3 of each four are pairs: a word of each filter, or one for both
/// channels of two filters each.
pub(super) fn pack(layer: &Layer, shape: &Shape, side: Side, first: usize, shared: Shared) -> Vec<i32> {
    let element = |o: usize, c: usize, [i, j]: [usize; 2]| {
        let filter = layer.filter(o);
        let weight = |ky: usize, kx: usize| match c < shape.in_c {
            true => filter.get((3 * ky + kx) * shape.in_c + c).map_or(0, |&w| i32::from(w)),
            false => 0,
        };
        let (across, down) = (side.g(j), side.g(i));
        let row = |ky: usize| (0..3).map(|kx| across[kx] * weight(ky, kx)).sum::<i32>();
        (0..3).map(|ky| down[ky] * row(ky)).sum::<i32>()
    };
    let mut words = Vec::new();
    for frequency in 0..side.frequencies() {
        for pair in 0..channels(shape) / 2 {
            let c = pair / 2 * 4 + pair % 2;
            let half = |o: usize, c: usize| {
                element(o, c, [frequency / side.elements(), frequency % side.elements()])
            };
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
    fn sides(options: &Options) -> Vec<Side> {
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
        allowed(&graph.unwrap(), options).into_values().collect()
    }

    /// They have 41,472 bytes, of which the larger one's grow by 94,208 and the other one's by 11,776.
    #[test]
    fn there_has_to_be_flash() {
        let options = Options { target: Some(Target::Rv32), ..Options::default() };
        let count = |options: &Options| sides(options).len();
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

    /// The larger layer has 294,912 bytes in larger tiles, the other one 36,864.
    #[test]
    fn tiles_are_as_large_as_there_is_flash() {
        let options = Options { target: Some(Target::CortexMDsp), ..Options::default() };
        let with = |flash| sides(&Options { flash: Some(41_472 + CODE + flash), ..options.clone() });
        assert_eq!(with(11_776), [Side::Two]);
        assert_eq!(with(32_256), [Side::Four]);
        assert_eq!(with(32_256 + 94_208), [Side::Four, Side::Two]);
        assert_eq!(with(32_256 + 258_048), [Side::Four, Side::Four]);
        assert_eq!(sides(&options), [Side::Four, Side::Two]);
    }

    /// One tile by definition: 4 or 576 times the sums.
    #[test]
    fn so_many_times_the_sums() {
        const B2: [&[i32]; 4] = [&[1, 0, -1, 0], &[0, 1, 1, 0], &[0, -1, 1, 0], &[0, 1, 0, -1]];
        const A2: [&[i32]; 2] = [&[1, 1, 1, 0], &[0, 1, -1, -1]];
        const B4: [&[i32]; 6] = [
            &[4, 0, -5, 0, 1, 0],
            &[0, -4, -4, 1, 1, 0],
            &[0, 4, -4, -1, 1, 0],
            &[0, -2, -1, 2, 1, 0],
            &[0, 2, -1, -2, 1, 0],
            &[0, 4, 0, -5, 0, 1],
        ];
        const A4: [&[i32]; 4] =
            [&[1, -4, -4, 1, 1, 0], &[0, -4, 4, 2, -2, 0], &[0, -4, -4, 4, 4, 0], &[0, -4, 4, 8, -8, 4]];
        let weights: Vec<i8> = (0..18).map(|i| (i * 71 % 256) as u8 as i8).collect();
        let layer = Layer { weights: weights.clone(), bias: vec![0], ..Layer::default() };
        for (side, times, b, a) in [(Side::Two, 4, &B2[..], &A2[..]), (Side::Four, 576, &B4, &A4)] {
            let words = pack(&layer, &SHAPE, side, 0, Shared::Channels);
            let n = side.elements();
            assert_eq!(words.len(), n * n * 4 * 4);
            let x = |y: usize, x: usize, c: usize| (y * 83 + x * 57 + c * 29) as u8 as i8 as i32;
            let mut m = vec![0; n * n];
            for (c, pair) in [(0, 0), (1, 1)] {
                for (frequency, words) in words.chunks_exact(16).enumerate() {
                    let (i, j) = (frequency / n, frequency % n);
                    let v: i32 = (0..n * n).map(|k| b[i][k / n] * b[j][k % n] * x(k / n, k % n, c)).sum();
                    m[frequency] += v * i32::from(words[4 * pair] as i16);
                }
            }
            for (y, result) in (0..a.len().pow(2)).map(|at| (at / a.len(), at % a.len())) {
                let sum: i32 = (0..n * n).map(|k| a[y][k / n] * a[result][k % n] * m[k]).sum();
                let tap = |k: usize| x(y + k / 6, result + k / 2 % 3, k % 2) * i32::from(weights[k]);
                assert_eq!(sum, times * (0..18).map(tap).sum::<i32>());
            }
        }
    }
}
