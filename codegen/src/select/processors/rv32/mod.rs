//! Kernels of RISC-V with 32 bits.
//!
//! They need a cheap requantisation that is exact for every channel of a layer. A layer that has not gets the portable kernel.

mod counted;
mod pack;

use crate::ir::Layout;
use crate::requant::{choose_upper, AddAffine, Reference, Shifts, Upper, UpperForm};
use crate::select::conv::Images;
use crate::select::kernel::{self, Asked, Choice, Processor};
use crate::select::layer::Layer;
use crate::select::shape::Shape;
use crate::select::winograd::Side;
use crate::select::*;
use crate::Optimize;
use kiln_kernel_table::{Core, Work};
use std::any::Any;
use std::borrow::Cow;

/// The processor.
pub(super) struct Rv32;

/// Pixels that a tile consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tile {
    Two,
    /// Four, by little code.
    Four,
    /// Four, and two where no more than these are left.
    Mixed,
}

/// How a layer is computed.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Convolution over all channels, in tiles.
    Tiles(Shape, Tile),
    /// Convolution by Winograd's algorithm.
    Winograd(Shape, Side),
    /// Convolution whose filters are as large as a row, which is a matrix product of single rows.
    Row(Shape),
    /// Convolution whose filters are as large as the image, which is a matrix product of images.
    Image(Shape),
    /// Convolution of each channel with one filter.
    Depthwise(Shape),
    /// The same with filters of 3 × 3.
    Rolling(Shape),
    /// Matrix product, row by row.
    Singles,
    /// Matrix product, in tiles of rows.
    Dense(Tile),
}

/// A kernel of such cores: a layer whose requantisation has a cheap exact form.
#[derive(Clone, Debug)]
struct Kernel {
    way: Way,
    id: KernelId,
    proven: Proven,
}

/// A sum or difference.
#[derive(Clone, Debug)]
struct Sum(AddAffine);

/// A matrix product of single rows with results of 16 bits.
#[derive(Clone, Debug)]
struct Wide {
    layer: Rc<Layer>,
    id: KernelId,
}

/// What all kernels of a layer have in common.
#[derive(Clone, Debug)]
struct Proven {
    layer: Rc<Layer>,
    form: UpperForm,
    channels: Vec<Upper>,
}

impl Processor for Rv32 {
    fn candidates(&self, asked: &Asked<'_>, core: Core, below: u64) -> Vec<Choice> {
        if matches!(asked.node.op, Op::Add { .. } | Op::Sub { .. }) {
            let work = kernel::work(asked.graph, asked.node, 0);
            let sum = sums::fit_below(asked, KernelId::AddI8Rv32, core, &work, below);
            let choice = |(by, cycles)| Choice { work, ..Choice::new(Rc::new(Sum(by)), cycles) };
            return sum.map(choice).into_iter().collect();
        }
        if let Some(layer) = wide(asked) {
            let ways = [
                (KernelId::DenseI8I16Rv32, counted::fours(asked, &layer)),
                (KernelId::DenseI8I16Rv32Singles, Way::Singles.work(asked, &layer)),
            ];
            let choice = |(id, work): (KernelId, Work)| {
                let cycles = kernel::cycles(asked.options, id, core, &work)?;
                let kernel = Wide { layer: layer.clone(), id };
                (cycles < below).then(|| Choice { work, ..Choice::new(Rc::new(kernel), cycles) })
            };
            return ways.into_iter().filter_map(choice).collect();
        }
        if !matches!(asked.node.op, Op::Conv2d { .. } | Op::Dense { .. }) || asked.packing.is_some() {
            return Vec::new();
        }
        let Some(layer) = asked.layer() else { return Vec::new() };
        let cost = |way: Way| {
            let work = way.work(asked, &layer);
            let cycles = kernel::cycles(asked.options, way.id(), core, &work)?;
            (cycles < below).then_some((way, work, cycles))
        };
        let ways: Vec<(Way, Work, u64)> = ways(asked, &layer).into_iter().filter_map(cost).collect();
        // The proof comes last: it takes a while.
        let proven = (!ways.is_empty()).then(|| Proven::of(asked)).flatten();
        let choice = |(way, work, cycles): (Way, Work, u64)| {
            let kernel = Kernel { way, id: way.id(), proven: proven.clone()? };
            // Its assembly has no registers for constants of a channel's own.
            if matches!(way, Way::Rolling(_)) && kernel.proven.form.shifts.is_none() {
                return None;
            }
            let images = way.shape().map_or(1, |shape| shape.images);
            let workspace = way.workspace(&kernel.proven.layer);
            let rows_at_once = if let Way::Winograd(_, side) = way { side.results() } else { 1 };
            let work = if kernel.proven.form.shifts.is_none() { counted::corrected(work) } else { work };
            Some(Choice { workspace, images, rows_at_once, work, ..Choice::new(Rc::new(kernel), cycles) })
        };
        ways.into_iter().filter_map(choice).collect()
    }

    fn decides(&self, asked: &Asked<'_>) -> bool {
        let is_layer = matches!(asked.node.op, Op::Conv2d { .. } | Op::Dense { .. });
        // A single filter is no tile: the kernel of single rows is as much code as the portable one.
        let tiles = asked.graph.ty(asked.node.result).shape.last() > 1;
        is_layer && tiles && asked.options.optimize == Optimize::Size
    }
}

/// The layer of a matrix product whose results have 16 bits and one factor.
fn wide(asked: &Asked<'_>) -> Option<Rc<Layer>> {
    let Op::Dense { rescale: Rescale::FixedPoint(factors), .. } = &asked.node.op else { return None };
    let is_wide = asked.graph.ty(asked.node.result).dtype == DType::I16 && factors.len() == 1;
    let suits = is_wide && asked.packing.is_none() && asked.options.optimize != Optimize::Size;
    suits.then(|| asked.layer()).flatten()
}

/// In what ways there are kernels for a layer, if its requantisation has a cheap exact form.
fn ways(asked: &Asked<'_>, layer: &Layer) -> Vec<Way> {
    let node = asked.node;
    if node.op.layout() != Layout::default() {
        return Vec::new();
    }
    let out_c = layer.bias.len();
    let result = &asked.graph.ty(node.result).shape;
    match (&node.op, Shape::of(asked.graph, node)) {
        (Op::Dense { .. }, _) => {
            let rows = if asked.whole { result.numel() / result.last().max(1) } else { 1 };
            match rows {
                _ if asked.all && out_c >= 2 => {
                    let singles = (rows == 1).then_some(Way::Singles);
                    [Tile::Two, Tile::Four].map(Way::Dense).into_iter().chain(singles).collect()
                }
                1 if out_c < 2 || may_be_singles(asked) => vec![Way::Singles],
                _ if out_c >= 2 => vec![Way::Dense(Tile::of(asked, rows, false))],
                _ => Vec::new(),
            }
        }
        (Op::Conv2d { groups: 1, .. }, Some(shape)) if out_c >= 2 => {
            let rows = if asked.whole { shape.out_h } else { 1 };
            let is_small = asked.options.optimize == Optimize::Size;
            let single = match rows {
                _ if is_small => None,
                1 if pack::is_row(&shape) => Some(Way::Row(shape)),
                _ => (asked.whole && pack::is_image(&shape)).then_some(Way::Image(shape)),
            };
            let tiles = match single {
                _ if asked.all => vec![Tile::Two, Tile::Four, Tile::Mixed],
                Some(_) => Vec::new(),
                None => vec![Tile::of(asked, rows * shape.out_w, true)],
            };
            let winograd = Side::up_to(asked.winograd.filter(|_| asked.all || single.is_none()))
                .map(|side| Way::Winograd(shape, side));
            let tiles = tiles.into_iter().map(|tile| Way::Tiles(shape, tile));
            single.into_iter().chain(tiles).chain(winograd).collect()
        }
        (Op::Conv2d { groups, .. }, Some(shape))
            if *groups == shape.in_c && *groups == out_c && *groups > 1 =>
        {
            let general = (shape.k_h * shape.k_w <= MOST_TAPS).then_some(Way::Depthwise(shape));
            let rolling = pack::rolls(&shape).then_some(Way::Rolling(shape));
            rolling.into_iter().chain(general).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a matrix product of single rows may have the kernel for these: it is more code beside one for convolutions, and not worth that where most products are theirs.
fn may_be_singles(asked: &Asked<'_>) -> bool {
    let products = |(_, node): (kiln_ir::NodeId, &Node)| match node.op {
        Op::Conv2d { groups: 1, .. } => [kiln_ir::macs(asked.graph, node), 0],
        Op::Dense { .. } => [0, kiln_ir::macs(asked.graph, node)],
        _ => [0; 2],
    };
    let sum = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a.saturating_add(c), b.saturating_add(d)];
    let [convs, dense] = asked.graph.nodes().map(products).fold([0; 2], sum);
    asked.options.optimize != Optimize::Size || dense > convs / MOST_IN_TILES
}

impl Tile {
    /// Tiles for so many pixels or rows. Four take a larger workspace. With `optimize = "size"` there is one kernel for all layers.
    fn of(asked: &Asked<'_>, together: usize, may_mix: bool) -> Tile {
        let many = together > 8 || matches!(together % 4, 0 | 3);
        match asked.options.optimize {
            Optimize::Size => Tile::Four,
            _ if !asked.roomy => Tile::Two,
            _ if may_mix && (many || together > 4) => Tile::Mixed,
            _ if many => Tile::Four,
            _ => Tile::Two,
        }
    }

    /// Words of the workspace for each tap.
    fn words(self) -> usize {
        if self == Tile::Two {
            1
        } else {
            2
        }
    }
}

impl Proven {
    /// The layer, if it has a cheap exact form.
    fn of(asked: &Asked<'_>) -> Option<Proven> {
        let layer = asked.layer().filter(|_| asked.graph.ty(asked.node.result).dtype == DType::I8)?;
        let channel = |(o, reference): (usize, &Reference)| (*reference, layer.range(o));
        let channels: Vec<_> = layer.references.iter().enumerate().map(channel).collect();
        let (form, channels) = choose_upper(&channels)?;
        Some(Proven { layer, form, channels })
    }
}

/// Tiles that the kernel of Winograd's algorithm computes together.
const TILES: usize = 4;

/// Products of convolutions are at least so many times as many as those of matrix products that tiles of convolutions compute.
const MOST_IN_TILES: u64 = 16;

/// Most taps of the general depthwise kernel.
const MOST_TAPS: usize = 32;

impl Way {
    fn shape(&self) -> Option<&Shape> {
        match self {
            Way::Tiles(shape, _)
            | Way::Winograd(shape, _)
            | Way::Row(shape)
            | Way::Depthwise(shape)
            | Way::Rolling(shape) => Some(shape),
            Way::Image(_) | Way::Singles | Way::Dense(_) => None,
        }
    }

    /// Bytes of its workspace: of tiles, a word for each tap of two pixels.
    fn workspace(&self, layer: &Layer) -> usize {
        let words = match self {
            Way::Tiles(_, tile) | Way::Dense(tile) => tile.words(),
            Way::Winograd(shape, side) => {
                return winograd::workspace(shape, *side, TILES, winograd::Shared::Channels);
            }
            Way::Row(_) | Way::Image(_) | Way::Singles | Way::Depthwise(_) | Way::Rolling(_) => 0,
        };
        4 * layer.filter(0).len() * words
    }

    /// The kernel in the table.
    fn id(&self) -> KernelId {
        match self {
            Way::Tiles(_, Tile::Two) => KernelId::Conv2dI8Rv32Pairs,
            Way::Tiles(_, Tile::Four) => KernelId::Conv2dI8Rv32Quads,
            Way::Tiles(_, Tile::Mixed) => KernelId::Conv2dI8Rv32Mixed,
            Way::Dense(Tile::Two) => KernelId::DenseI8Rv32Pairs,
            Way::Dense(_) => KernelId::DenseI8Rv32Quads,
            Way::Winograd(_, Side::Two) => KernelId::Conv2dI8Rv32Winograd,
            Way::Winograd(_, Side::Four) => KernelId::Conv2dI8Rv32Winograd4x4,
            Way::Row(_) | Way::Image(_) | Way::Singles => KernelId::DenseI8Rv32Singles,
            Way::Depthwise(_) => KernelId::Depthwise2dI8Rv32,
            Way::Rolling(_) => KernelId::Depthwise2dI8Rv32Rolling,
        }
    }
}

impl kernel::Kernel for Kernel {
    fn name(&self) -> Cow<'static, str> {
        self.id.name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        let Kernel { way, id, proven } = self;
        let layer = &proven.layer;
        let (weights, element) = match (way, id) {
            (Way::Winograd(shape, side), _) => {
                let words = winograd::fours(layer)
                    .flat_map(|first| winograd::pack(layer, shape, *side, first, winograd::Shared::Channels));
                (Data::from_i32(&words.collect::<Vec<_>>()), Element::I32)
            }
            (_, KernelId::DenseI8Rv32Singles) => (Data::from_i32(&pack::singles(layer)), Element::I32),
            (_, KernelId::Depthwise2dI8Rv32) => {
                let channels = layer.bias.len();
                (Data::from_i8(&pack::channels_in_fours(&layer.weights, channels)), Element::I8)
            }
            (_, KernelId::Depthwise2dI8Rv32Rolling) => (Data::from_i8(&layer.weights), Element::I8),
            _ => (Data::from_i8(&pack::tiles(layer)), Element::I8),
        };
        let weights = selector.constant_arg("WEIGHTS", weights, element);
        selector.upper_calls(node, way, *id, weights, proven)
    }

    fn is_worth_sharing(&self, choice: &Choice, _: &Graph, _: &Node) -> bool {
        choice.cycles >= kernel::WORTH_TWO_CORES
    }

    fn workspaces(&self, choice: &Choice, _: &Graph, _: &Node, cores: usize) -> Option<usize> {
        let in_parts =
            matches!(self.way, Way::Tiles(..) | Way::Winograd(..) | Way::Depthwise(_) | Way::Rolling(_));
        (in_parts && choice.images == 1).then(|| kernel::workspaces_of(choice, cores))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl kernel::Kernel for Sum {
    fn name(&self) -> Cow<'static, str> {
        KernelId::AddI8Rv32.name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        selector.sum(node, KernelId::AddI8Rv32, &self.0, false)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl kernel::Kernel for Wide {
    fn name(&self) -> Cow<'static, str> {
        self.id.name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        selector.wide_rows(node, self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
    fn wide_rows(&mut self, node: &'a Node, Wide { layer, id }: &Wide) -> Selected {
        let by = match &node.op {
            Op::Dense { rescale, clamp } => self.one_factor(node, rescale, clamp),
            _ => None,
        };
        let by = by.ok_or_else(|| self.no_kernel(node))?;
        let [x, y, band] = self.matrix_rows(node)?;
        let mut bias = layer.bias.clone();
        let (weights, element) = match id {
            KernelId::DenseI8I16Rv32 => {
                let fours = pack::channels_in_fours(&layer.weights, bias.len());
                bias.resize(bias.len().next_multiple_of(4), 0);
                (Data::from_i8(&fours), Element::I8)
            }
            _ => (Data::from_i32(&pack::singles(layer)), Element::I32),
        };
        let weights = self.constant_arg("WEIGHTS", weights, element);
        let bias = self.constant_arg("BIAS", Data::from_i32(&bias), Element::I32);
        self.call(*id, vec![x, weights, bias, by, y, band]);
        Ok(())
    }

    fn upper_calls(
        &mut self,
        node: &'a Node,
        way: &Way,
        kernel: KernelId,
        weights: Arg,
        proven: &Proven,
    ) -> Selected {
        let pad = Arg::Int(self.ty(node.operands[0]).zero_point().into());
        let requant = self.upper_requant(proven);
        let mut between = match way {
            Way::Row(_) | Way::Image(_) | Way::Singles | Way::Dense(_) => vec![weights, requant],
            Way::Tiles(..) | Way::Winograd(..) | Way::Depthwise(_) | Way::Rolling(_) => {
                vec![weights, pad, requant]
            }
        };
        if way.workspace(&proven.layer) > 0 {
            between.push(self.workspace()?);
        }
        let Some(shape) = way.shape() else {
            let [x, y, band] = match way {
                Way::Image(shape) => self.matrix_of_images(node, shape.images)?,
                _ => self.matrix_rows(node)?,
            };
            self.call(kernel, [vec![x], between, vec![y, band]].concat());
            return Ok(());
        };
        let conv = match way {
            Way::Row(_) => None,
            _ => Some(Arg::Struct(self.conv_params(shape))),
        };
        let (x, y) = (self.rows(node.operands[0])?, self.rows(node.result)?);
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        self.call_on(images, kernel, &[], conv.as_slice(), &between, &[]);
        Ok(())
    }

    /// The kernels' `UpperRequant`.
    fn upper_requant(&mut self, proven: &Proven) -> Arg {
        let Proven { layer, form, channels } = proven;
        let channel = |(bias, upper): (&i32, &Upper)| {
            let first = bias.wrapping_add(upper.delta);
            let Shifts { spread, shift } = upper.shifts;
            let words = [first, upper.limit as i32, upper.constant, upper.multiplier as i32];
            let own = [upper.origin, upper.below, spread as i32, shift as i32];
            let own: &[i32] = if form.shifts.is_none() { &own } else { &[] };
            [&words, own].concat()
        };
        let channels: Vec<i32> = layer.bias.iter().zip(channels).flat_map(channel).collect();
        let words = channels.len() / layer.bias.len().max(1);
        let channels = self.step_constant("CHANNELS", Data::from_i32(&channels));
        let Shifts { spread, shift } = form.shifts.unwrap_or_default();
        let fields = vec![
            ("channels", Field::Constant(channels, Element::I32)),
            ("words", int(words)),
            ("spread", Field::Int(spread.into())),
            ("shift", Field::Int(shift.into())),
            ("lo", Field::Int(form.lo.into())),
            ("hi", Field::Int(form.hi.into())),
        ];
        Arg::Struct(Struct { name: "UpperRequant", fields })
    }
}
