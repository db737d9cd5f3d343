//! Kernels of cores without DSP instructions and without a long multiplication: Cortex-M0, M0+ and M23.
//!
//! They need a cheap requantisation that is exact for every channel of a layer, and windows that fit 16 bits. A layer that has not gets the
//! portable kernel.

mod counted;
mod pack;

use crate::ir::Layout;
use crate::requant::{choose_halves, AddAffine, Halves, HalvesForm, Reference};
use crate::select::kernel::{self, Asked, Choice, Processor};
use crate::select::layer::Layer;
use crate::select::predict::Ring;
use crate::select::shape::Shape;
use crate::select::winograd::{Shared, Side};
use crate::select::*;
use crate::Optimize;
use kiln_kernel_table::{Core, Count, Work};
use pack::Filters;
use std::any::Any;
use std::borrow::Cow;

/// The processor.
pub(super) struct V6m;

/// A kernel of such cores.
#[derive(Clone, Debug)]
pub(super) enum Kernel {
    /// Layer with weights.
    Layer(Way, Proven),
    /// Sum or difference.
    Add(AddAffine),
}

/// How a layer is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Convolution over all channels, of pixels in pairs or alone.
    Conv(Shape, Pixels),
    /// The same by Winograd's algorithm.
    Winograd(Shape),
    /// Convolution of each channel with one filter.
    Depthwise(Shape),
    /// The same with filters of 3 × 3, along two rows at once.
    Rolling(Shape),
    /// The same with filters of k × 1, for three rows at once.
    Column(Shape),
    /// Matrix product, of rows in pairs or alone.
    Dense(Pixels),
}

/// How pixels are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pixels {
    /// Two at a time, each weight a factor of both.
    Pairs,
    /// The same, in windows of four taps, with rests.
    Wide,
    /// One at a time, as a factor of two weights.
    Singles,
    /// The same, in windows of eight taps, with rests: only of matrix products.
    WideSingles,
}

/// A layer whose requantisation has a cheap exact form.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    layer: Rc<Layer>,
    /// Of each filter: zero points are folded in, and what the requantisation adds.
    bias: Vec<i32>,
    form: HalvesForm,
    halves: Vec<Halves>,
}

impl Processor for V6m {
    fn candidates(&self, asked: &Asked<'_>, core: Core, below: u64) -> Vec<Choice> {
        let cost = |way: Way, work: &Work| {
            kernel::cycles(asked.options, way.id(), core, work).filter(|&cycles| cycles < below)
        };
        let choice = |kernel, cycles| Choice::new(Rc::new(kernel), cycles);
        match &asked.node.op {
            Op::Conv2d { .. } if asked.node.op.layout() != Layout::default() => Vec::new(),
            Op::Conv2d { .. } | Op::Dense { .. } => {
                let ways = ways(asked).into_iter();
                let ways = ways.map(|way| (way, way.work(asked)));
                let ways: Vec<(Way, Work, u64)> =
                    ways.filter_map(|(way, work)| Some((way, work, cost(way, &work)?))).collect();
                // The proof comes last: it takes a while.
                let proven = (!ways.is_empty()).then(|| Proven::of(asked)).flatten();
                let layer = |(way, work, cycles): (Way, Work, u64)| {
                    let proven = proven.clone()?;
                    if matches!(way, Way::Rolling(_)) && proven.form.signed {
                        return None;
                    }
                    let results = (work.of(Count::Result) + work.of(Count::Left)) as usize;
                    let corrected = if proven.form.signed { results } else { 0 };
                    let work = work.with(Count::Corrected, corrected);
                    let choice = choice(Kernel::Layer(way, proven), cycles);
                    let (workspace, rows_at_once) = match way {
                        Way::Winograd(shape) => {
                            (winograd::workspace(&shape, Side::Two, TILES, Shared::Filters), 2)
                        }
                        Way::Rolling(_) => (0, 2),
                        Way::Column(_) => (0, 3),
                        _ => (0, 1),
                    };
                    let images = if let Way::Winograd(shape) = way { shape.images } else { 1 };
                    Some(Choice { work, workspace, images, rows_at_once, ..choice })
                };
                ways.into_iter().filter_map(layer).collect()
            }
            Op::Add { .. } | Op::Sub { .. } => {
                let work = kernel::work(asked.graph, asked.node, 0);
                let sum = sums::fit_below(asked, KernelId::AddI8V6m, core, &work, below);
                sum.map(|(by, cycles)| Choice { work, ..choice(Kernel::Add(by), cycles) })
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// In what ways there are kernels for a layer, if its requantisation has a cheap exact form.
fn ways(asked: &Asked<'_>) -> Vec<Way> {
    let node = asked.node;
    let Some(layer) = asked.layer().filter(|_| asked.packing.is_none()) else { return Vec::new() };
    let out_c = layer.bias.len();
    let in_windows = |row: usize| Filters::new(&layer.weights, out_c, row).fit_windows();
    // More code, where there is another kernel for narrow windows.
    let may_be_wide = asked.options.optimize != Optimize::Size;
    let pixels = [Pixels::Singles, Pixels::Pairs]
        .into_iter()
        .filter(|&pixels| pixels == Pixels::Singles || out_c >= 2);
    match (&node.op, Shape::of(asked.graph, node)) {
        (Op::Dense { .. }, _) => {
            let pixels = pixels.filter(|_| in_windows(asked.graph.ty(node.operands[0]).shape.last()));
            let wide = may_be_wide.then_some(Pixels::WideSingles);
            pixels.chain(wide).map(Way::Dense).collect()
        }
        (Op::Conv2d { groups: 1, .. }, Some(shape)) => {
            let wide = (out_c >= 2 && may_be_wide).then_some(Pixels::Wide);
            let pixels = pixels.filter(|_| in_windows(shape.k_w * shape.in_c)).chain(wide);
            let winograd = asked.winograd.map(|_| Way::Winograd(shape));
            pixels.map(|pixels| Way::Conv(shape, pixels)).chain(winograd).collect()
        }
        (Op::Conv2d { groups, .. }, Some(shape))
            if *groups == shape.in_c
                && *groups == out_c
                && shape.k_h * shape.k_w <= MOST_TAPS
                && *groups > 1 =>
        {
            // They take two or three rows of the result at once, and more code.
            let small = asked.options.optimize == Optimize::Size && !asked.all;
            let may = asked.whole && asked.roomy && !small;
            let rolling = (may && pack::rolls(&shape, &layer.weights)).then_some(Way::Rolling(shape));
            let column = (may && pack::is_column(&shape)).then_some(Way::Column(shape));
            rolling.into_iter().chain(column).chain([Way::Depthwise(shape)]).collect()
        }
        _ => Vec::new(),
    }
}

impl Proven {
    /// The layer, if it has a cheap exact form.
    fn of(asked: &Asked<'_>) -> Option<Proven> {
        let layer = asked.layer().filter(|_| asked.graph.ty(asked.node.result).dtype == DType::I8)?;
        let channel = |(o, reference): (usize, &Reference)| (*reference, layer.range(o));
        let channels: Vec<_> = layer.references.iter().enumerate().map(channel).collect();
        let (form, halves) = choose_halves(&channels)?;
        let bias =
            layer.bias.iter().zip(&halves).map(|(bias, halves)| bias.wrapping_add(halves.delta)).collect();
        Some(Proven { layer, bias, form, halves })
    }
}

impl Way {
    fn id(self) -> KernelId {
        match self {
            Way::Conv(_, Pixels::Pairs) => KernelId::Conv2dI8V6mPairs,
            Way::Conv(_, Pixels::Wide) => KernelId::Conv2dI8V6mPairsWide,
            Way::Conv(_, Pixels::Singles | Pixels::WideSingles) => KernelId::Conv2dI8V6mSingles,
            Way::Dense(Pixels::Pairs | Pixels::Wide) => KernelId::DenseI8V6mPairs,
            Way::Dense(Pixels::Singles) => KernelId::DenseI8V6mSingles,
            Way::Dense(Pixels::WideSingles) => KernelId::DenseI8V6mWide,
            Way::Winograd(_) => KernelId::Conv2dI8V6mWinograd,
            Way::Depthwise(_) => KernelId::Depthwise2dI8V6m,
            Way::Rolling(_) => KernelId::Depthwise2dI8V6mRolling,
            Way::Column(_) => KernelId::Depthwise2dI8V6mColumn,
        }
    }
}

impl Pixels {
    /// Filters with rows of so many taps, as the kernel reads them.
    fn filters(self, layer: &Layer, row: usize) -> Filters {
        let (weights, count) = (&layer.weights, layer.bias.len());
        match self {
            Pixels::Pairs | Pixels::Singles => Filters::new(weights, count, row),
            Pixels::Wide => Filters::wide(weights, count, row, 4),
            Pixels::WideSingles => Filters::wide(weights, count, row, pack::WIDE),
        }
    }
}

impl kernel::Kernel for Kernel {
    fn name(&self) -> Cow<'static, str> {
        let id = match self {
            Kernel::Layer(way, _) => way.id(),
            Kernel::Add(_) => KernelId::AddI8V6m,
        };
        id.name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        match self {
            Kernel::Layer(Way::Conv(shape, pixels), proven) => {
                selector.over_all_channels(node, shape, *pixels, proven)
            }
            Kernel::Layer(Way::Depthwise(shape), proven) => {
                let weights = Data::from_i8(&pack::taps_in_threes(&proven.layer.weights, shape.out_c));
                let weights = (weights, Element::I8);
                selector.depthwise(node, shape, KernelId::Depthwise2dI8V6m, weights, proven)
            }
            Kernel::Layer(Way::Column(shape), proven) => {
                let words: Vec<i32> = proven.layer.weights.iter().map(|&w| w.into()).collect();
                let weights = (Data::from_i32(&words), Element::I32);
                selector.depthwise(node, shape, KernelId::Depthwise2dI8V6mColumn, weights, proven)
            }
            Kernel::Layer(Way::Rolling(shape), proven) => {
                let weights = (Data::from_i32(&pack::columns(&proven.layer.weights)), Element::I32);
                selector.depthwise(node, shape, KernelId::Depthwise2dI8V6mRolling, weights, proven)
            }
            Kernel::Layer(Way::Winograd(shape), proven) => selector.winograd_halves(node, shape, proven),
            Kernel::Layer(Way::Dense(pixels), proven) => selector.dense_windowed(node, *pixels, proven),
            Kernel::Add(by) => selector.sum(node, KernelId::AddI8V6m, by, true),
        }
    }

    fn is_worth_sharing(&self, choice: &Choice, _: &Graph, _: &Node) -> bool {
        choice.cycles >= kernel::WORTH_TWO_CORES
    }

    fn workspaces(&self, choice: &Choice, _: &Graph, _: &Node, cores: usize) -> Option<usize> {
        let image = match self {
            Kernel::Layer(
                Way::Conv(shape, _)
                | Way::Winograd(shape)
                | Way::Depthwise(shape)
                | Way::Rolling(shape)
                | Way::Column(shape),
                _,
            ) => shape,
            _ => return None,
        };
        (image.images == 1).then(|| kernel::workspaces_of(choice, cores))
    }

    fn divisions(&self, operand: Option<Ring>, result: Option<Ring>) -> usize {
        match self {
            Kernel::Layer(way, _) => way.divisions(operand, result),
            Kernel::Add(_) => 0,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
    /// A convolution over all channels, with its pixels in pairs or alone.
    fn over_all_channels(
        &mut self,
        node: &'a Node,
        shape: &Shape,
        pixels: Pixels,
        proven: &Proven,
    ) -> Selected {
        let filters = pixels.filters(&proven.layer, shape.k_w * shape.in_c);
        let (kernel, weights) = (Way::Conv(*shape, pixels).id(), self.filters(&filters, proven, pixels));
        self.windowed(node, shape, kernel, weights, (proven, false), &[])
    }

    /// A convolution of each channel.
    fn depthwise(
        &mut self,
        node: &'a Node,
        shape: &Shape,
        kernel: KernelId,
        (weights, element): (Data, Element),
        proven: &Proven,
    ) -> Selected {
        let weights = self.step_constant("WEIGHTS", weights);
        self.windowed(node, shape, kernel, vec![Arg::Constant(weights, element)], (proven, true), &[])
    }

    /// A convolution with these weights and this workspace, if any, whose first values are constants of the requantisation or not.
    fn windowed(
        &mut self,
        node: &'a Node,
        shape: &Shape,
        kernel: KernelId,
        weights: Vec<Arg>,
        (proven, firsts): (&Proven, bool),
        work: &[Arg],
    ) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let conv = Arg::Struct(self.conv_params(shape));
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let requant = self.half_requant(proven, firsts);
        let (x, y) = (self.rows(x)?, self.rows(y)?);
        let images = conv::Images { x, y, count: shape.images, out_h: shape.out_h };
        let between = [&weights, &[pad, requant][..], work].concat();
        self.call_on(images, kernel, &[], &[conv], &between, &[]);
        Ok(())
    }

    /// A convolution by Winograd's algorithm.
    fn winograd_halves(&mut self, node: &'a Node, shape: &Shape, proven: &Proven) -> Selected {
        let layer = &proven.layer;
        let mut words = Vec::new();
        for first in winograd::fours(layer) {
            words.extend(winograd::pack(layer, shape, Side::Two, first, Shared::Filters));
            words.extend((first..first + 4).map(|o| proven.bias.get(o).copied().unwrap_or(0)));
        }
        let weights = self.constant_arg("WEIGHTS", Data::from_i32(&words), Element::I32);
        let work = [self.workspace()?];
        self.windowed(node, shape, KernelId::Conv2dI8V6mWinograd, vec![weights], (proven, false), &work)
    }

    fn dense_windowed(&mut self, node: &'a Node, pixels: Pixels, proven: &Proven) -> Selected {
        let filters = pixels.filters(&proven.layer, self.ty(node.operands[0]).shape.last());
        let [x, y, band] = self.matrix_rows(node)?;
        let mut args = vec![x];
        args.extend(self.filters(&filters, proven, pixels));
        args.push(self.half_requant(proven, false));
        args.extend([y, band]);
        self.call(Way::Dense(pixels).id(), args);
        Ok(())
    }

    /// Weights, first values, and taps of a part.
    fn filters(&mut self, filters: &Filters, proven: &Proven, pixels: Pixels) -> Vec<Arg> {
        let ((weights, rests), element, firsts) = match pixels {
            Pixels::Pairs | Pixels::Wide => (filters.pairs(), Element::I8, filters.pair_firsts(&proven.bias)),
            Pixels::Singles | Pixels::WideSingles => {
                (filters.singles(), Element::I32, filters.single_firsts(&proven.bias))
            }
        };
        let weights = self.step_constant("WEIGHTS", Data::new(weights));
        let mut args = vec![Arg::Constant(weights, element)];
        if matches!(pixels, Pixels::Wide | Pixels::WideSingles) {
            let rests = self.step_constant("RESTS", Data::new(rests));
            args.push(Arg::Constant(rests, Element::I8));
        }
        let firsts = self.step_constant("FIRST", Data::from_i32(&firsts));
        args.push(Arg::Constant(firsts, Element::I32));
        if pixels != Pixels::WideSingles {
            // At most 144.
            args.push(Arg::Int(filters.part() as i64));
        }
        args
    }

    /// The kernels' `HalfRequant`; first values are in it for the depthwise kernel.
    fn half_requant(&mut self, layer: &Proven, firsts: bool) -> Arg {
        let HalvesForm { shift, lo, hi, .. } = layer.form;
        let channel = |(first, halves): (&i32, &Halves)| match firsts {
            true => [vec![*first], own_words(halves), signed_words(halves, layer.form)].concat(),
            false => [signed_words(halves, layer.form), own_words(halves)].concat(),
        };
        let channels: Vec<i32> = layer.bias.iter().zip(&layer.halves).flat_map(channel).collect();
        let words = channels.len() / layer.bias.len().max(1);
        let channels = self.step_constant("CHANNELS", Data::from_i32(&channels));
        let fields = vec![
            ("channels", Field::Constant(channels, Element::I32)),
            ("words", int(words)),
            ("shift", Field::Int(shift.into())),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Arg::Struct(Struct { name: "HalfRequant", fields })
    }
}

/// Tiles that the kernel of Winograd's algorithm computes together.
const TILES: usize = 2;

/// Most taps of the depthwise kernel.
const MOST_TAPS: usize = 27;

/// The constants of a channel.
fn own_words(halves: &Halves) -> Vec<i32> {
    let multiplier = u32::from(halves.low) | u32::from(halves.high) << 16;
    vec![halves.limit as i32, halves.constant, multiplier as i32]
}

/// Those that signed layers have besides.
fn signed_words(halves: &Halves, form: HalvesForm) -> Vec<i32> {
    match form.signed {
        true => vec![halves.origin, halves.below],
        false => vec![],
    }
}
