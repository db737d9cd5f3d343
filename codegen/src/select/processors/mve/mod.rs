//! Cores with Helium: which of their kernels compute a node, its weights as they read them, and the calls.
//!
//! Layers whose requantisation has no form that is exact for every channel get the kernels of cores without vectors.

mod counted;
mod depthwise;
mod end;
mod pack;
mod wide;

use crate::ir::{Layout, Rounding};
use crate::requant::{AddAffine, Products};
use crate::select::conv::Images;
use crate::select::kernel::{self, Asked, Choice, Processor};
use crate::select::means::{self, Means, Window};
use crate::select::predict::Ring;
use crate::select::quantize::{self, Inverse};
use crate::select::shape::Shape as Sizes;
use crate::select::*;
use crate::Optimize;
use depthwise::Way;
use end::Fitted;
use kiln_kernel_table::{Core, Work};
pub(in crate::select) use pack::{gates, in_fours};
use std::any::Any;
use std::borrow::Cow;
use wide::Wide;

/// The processor.
pub(super) struct Mve;

/// A kernel of such cores.
#[derive(Clone, Debug)]
enum Kernel {
    /// Convolution in tiles of two pixels and four filters, with a work space for so many pixels; without one where they are read as they lie.
    Tiled(Sizes, Option<usize>, Fitted),
    /// Depthwise convolution, row by row or column by column.
    Depthwise(Sizes, Way, Fitted),
    /// Depthwise convolution, sixteen channels of a pixel at a time.
    Channels(Sizes, Fitted),
    /// Matrix product of single rows.
    Dense(Fitted),
    /// The same with results of 16 bits.
    DenseWide(Fitted),
    /// A layer of 16-bit elements.
    Wide(Wide),
    /// Sum or difference.
    Add(AddAffine),
    /// Means of windows.
    Means(Means),
    /// Largest elements of windows.
    MaxPool(Window),
    /// Quantisation by multiplication, with halves to even or away from zero.
    Quantize(Inverse, Rounding),
}

impl Processor for Mve {
    fn candidates(&self, asked: &Asked<'_>, core: Core, _below: u64) -> Vec<Choice> {
        let found = match &asked.node.op {
            Op::Conv2d { .. } | Op::Dense { .. }
                if asked.packing.is_none() && asked.node.op.layout() == Layout::default() =>
            {
                layers(asked)
            }
            Op::Add { .. } | Op::Sub { .. } => {
                sums::fit(asked, Products::Low).map(Kernel::Add).into_iter().collect()
            }
            Op::AvgPool2d { .. } | Op::Mean { .. } => {
                means::fit(asked).map(Kernel::Means).into_iter().collect()
            }
            Op::Quantize { rounding } => quantize(asked, *rounding).into_iter().collect(),
            Op::MaxPool2d { .. } => means::window(asked).map(Kernel::MaxPool).into_iter().collect(),
            _ => Vec::new(),
        };
        found.into_iter().map(|kernel| choice(kernel, asked, core)).collect()
    }
}

/// The kernels of a convolution or a matrix product.
fn layers(asked: &Asked<'_>) -> Vec<Kernel> {
    let one = |kernel: Option<Kernel>| kernel.into_iter().collect::<Vec<_>>();
    let x = asked.node.operands.first().map(|&x| asked.graph.ty(x).dtype);
    if x == Some(DType::I16) {
        return one(Wide::of(asked).map(Kernel::Wide));
    }
    match (&asked.node.op, asked.graph.ty(asked.node.result).dtype) {
        (_, DType::I8) => {}
        (Op::Dense { .. }, DType::I16) => return one(Fitted::wide(asked).map(Kernel::DenseWide)),
        _ => return Vec::new(),
    }
    match (&asked.node.op, Sizes::of(asked.graph, asked.node)) {
        (Op::Dense { .. }, _) => one(Fitted::of(asked).map(Kernel::Dense)),
        (Op::Conv2d { groups: 1, .. }, Some(shape)) => {
            let shape = if asked.whole { shape.as_row() } else { shape }.as_column();
            let dilated = shape.dilation_w > 1 && shape.k_w > 1;
            let Some(fitted) = Fitted::of(asked).filter(|_| !dilated) else { return Vec::new() };
            let tiled = |pixels| Kernel::Tiled(shape, pixels, fitted.clone());
            let by_rule = (!is_direct(&shape)).then(|| window_pixels(&shape, asked.options.optimize));
            let bytes = |pixels| window_bytes(&shape, pixels);
            let others = asked.other_windows(by_rule.unwrap_or(0), shape.out_w, bytes);
            std::iter::once(by_rule).chain(others.into_iter().map(Some)).map(tiled).collect()
        }
        (Op::Conv2d { .. }, Some(shape)) => {
            let Some(fitted) = Fitted::of(asked) else { return Vec::new() };
            let way = |way| Kernel::Depthwise(shape, way, fitted.clone());
            let ways: Vec<Kernel> = Way::all(&shape, asked).into_iter().map(way).collect();
            let row = if asked.whole { shape.as_row() } else { shape };
            let fits = depthwise::by_channels(&row);
            let channels = fits.then_some(Kernel::Channels(row, fitted));
            ways.into_iter().chain(channels).collect()
        }
        _ => Vec::new(),
    }
}

/// The kernel of a quantisation. Vectors take floats without leading bit for 0: scales and factors stay far from those.
fn quantize(asked: &Asked<'_>, rounding: Rounding) -> Option<Kernel> {
    let stored = if rounding == Rounding::Even { quantize::even } else { quantize::away };
    let scale = asked.graph.ty(asked.node.result).scale()?;
    let inverse = quantize::inverse(asked, stored)?;
    let is_large = |x: f32| (1e-20..1e20).contains(&x);
    (is_large(scale) && inverse.low.is_none_or(is_large)).then_some(Kernel::Quantize(inverse, rounding))
}

/// Whether the kernel reads pixels where they lie.
fn is_direct(shape: &Sizes) -> bool {
    let inside = |out: usize, stride: usize, size: usize| out.saturating_sub(1) * stride < size;
    (shape.k_h, shape.k_w, shape.pad_top, shape.pad_left) == (1, 1, 0, 0)
        && inside(shape.out_w, shape.stride_w, shape.in_w)
        && inside(shape.out_h, shape.stride_h, shape.in_h)
}

/// How many pixels of the result the work space is for. What neighbours have in common is copied once if they are in it together.
fn window_pixels(shape: &Sizes, optimize: Optimize) -> usize {
    let bytes = match optimize {
        Optimize::Memory => THRIFTY_WINDOW,
        Optimize::Speed | Optimize::Size => SPEEDY_WINDOW,
    };
    let most = shape.out_w.next_multiple_of(2);
    let fits = |&pixels: &usize| window_bytes(shape, pixels) <= bytes;
    (2..=most).step_by(2).take_while(fits).last().unwrap_or(2).min(shape.out_w)
}

/// Bytes of a work space for so many pixels.
fn window_bytes(shape: &Sizes, pixels: usize) -> usize {
    let columns = pixels.saturating_sub(1) * shape.stride_w + shape.k_w;
    (columns * shape.k_h * shape.in_c).next_multiple_of(4)
}

/// Bytes of a window, if two pixels do not need more.
const SPEEDY_WINDOW: usize = 4096;
const THRIFTY_WINDOW: usize = 640;

/// A kernel with what follows from it.
fn choice(kernel: Kernel, asked: &Asked<'_>, core: Core) -> Choice {
    let (workspace, images, apart, fitted) = match &kernel {
        Kernel::Tiled(shape, pixels, fitted) => {
            (pixels.map_or(0, |pixels| window_bytes(shape, pixels)), shape.images, false, Some(fitted))
        }
        Kernel::Depthwise(shape, way, fitted) => {
            (way.workspace(shape), shape.images, way.columns, Some(fitted))
        }
        Kernel::Channels(shape, fitted) => {
            (shape.in_c.next_multiple_of(4), shape.images, false, Some(fitted))
        }
        Kernel::Dense(fitted) | Kernel::DenseWide(fitted) => (0, 1, false, Some(fitted)),
        Kernel::Wide(wide) => (wide.workspace(), wide.images(), false, None),
        Kernel::Add(_) | Kernel::Means(_) | Kernel::MaxPool(_) | Kernel::Quantize(..) => (0, 1, false, None),
    };
    let (form, work) = (fitted.and_then(Fitted::form), kernel.work(asked));
    let cycles = kernel.cycles(asked, core, &work);
    Choice { workspace, images, apart, form, work, ..Choice::new(Rc::new(kernel), cycles) }
}

impl Kernel {
    /// The kernel in the table, of those for different sizes the first.
    fn id(&self) -> KernelId {
        match self {
            Kernel::Tiled(_, Some(_), _) => KernelId::Conv2dI8Mve,
            Kernel::Tiled(_, None, _) => KernelId::Conv2dI8MvePoints,
            Kernel::Depthwise(_, way, _) => way.id(),
            Kernel::Channels(..) => KernelId::Depthwise2dI8MveChannels,
            Kernel::Dense(_) => KernelId::DenseI8Mve,
            Kernel::DenseWide(_) => KernelId::DenseI8I16Mve,
            Kernel::Wide(wide) => wide.id(),
            Kernel::Add(_) => KernelId::AddI8Mve,
            Kernel::Means(_) => KernelId::MeanPool2dI8Mve,
            Kernel::MaxPool(_) => KernelId::MaxPool2dI8Mve,
            Kernel::Quantize(..) => KernelId::QuantizeF32I8Mve,
        }
    }

    /// Predicted cycles of so much work. Sixteen channels at a time are executed in more instructions than other depthwise kernels take for as many cycles: they have to save 15 %.
    fn cycles(&self, asked: &Asked<'_>, core: Core, work: &Work) -> u64 {
        let small = asked.options.optimize == Optimize::Size;
        let id = match self.id() {
            KernelId::Conv2dI8Mve if small => KernelId::Conv2dI8MveSmall,
            KernelId::Conv2dI8MvePoints if small => KernelId::Conv2dI8MvePointsSmall,
            KernelId::DenseI8Mve if small => KernelId::DenseI8MveSmall,
            id => id,
        };
        let cycles = kernel::cycles(asked.options, id, core, work).unwrap_or(u64::MAX);
        match self {
            Kernel::Channels(..) => cycles.saturating_mul(20) / 17,
            _ => cycles,
        }
    }
}

impl kernel::Kernel for Kernel {
    fn name(&self) -> Cow<'static, str> {
        match self {
            Kernel::Tiled(_, Some(pixels), _) => format!("{}/{pixels}", self.id().name()).into(),
            _ => self.id().name().into(),
        }
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        match self {
            Kernel::Tiled(shape, pixels, fitted) => selector.tiled_mve(node, shape, pixels.is_some(), fitted),
            Kernel::Depthwise(shape, way, fitted) => selector.depthwise_mve(node, shape, way, fitted),
            Kernel::Channels(shape, fitted) => selector.channels_mve(node, shape, fitted),
            Kernel::Dense(fitted) => selector.dense_mve(node, fitted, false),
            Kernel::DenseWide(fitted) => selector.dense_mve(node, fitted, true),
            Kernel::Wide(wide) => selector.wide_mve(node, wide),
            Kernel::Add(by) => selector.sum(node, KernelId::AddI8Mve, by, true),
            Kernel::Means(means) => selector.means(node, KernelId::MeanPool2dI8Mve, means),
            Kernel::MaxPool(window) => selector.largest_mve(node, window),
            Kernel::Quantize(inverse, rounding) => {
                let flags = [inverse.low.is_some(), *rounding == Rounding::Even];
                let generics = flags.map(Generic::Flag).to_vec();
                selector.quantize_by(node, KernelId::QuantizeF32I8Mve, inverse, generics)
            }
        }
    }

    fn work_over(&self, options: &Options, gap: usize) -> Option<Work> {
        self.over(options, gap)
    }

    fn divisions(&self, operand: Option<Ring>, _: Option<Ring>) -> usize {
        self.far_rows(operand)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
    /// Pairs of pixels.
    fn tiled_mve(&mut self, node: &'a Node, shape: &Sizes, works: bool, fitted: &Fitted) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let order = pack::columns_first(shape);
        let weights = self.weights_mve(fitted, &order, 4);
        let kernels = match works {
            true => [KernelId::Conv2dI8Mve, KernelId::Conv2dI8MveSmall],
            false => [KernelId::Conv2dI8MvePoints, KernelId::Conv2dI8MvePointsSmall],
        };
        let (kernel, generics) = self.special_mve(kernels, order.len(), fitted);
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let window = if works { vec![pad, self.workspace()?] } else { Vec::new() };
        let x = self.image_rows(x, shape.images, shape.in_h)?;
        let y = self.image_rows(y, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        let between = [vec![weights], window].concat();
        self.call_on(images, kernel, &generics, &[conv], &between, &[]);
        Ok(())
    }

    /// Rows of a matrix.
    fn dense_mve(&mut self, node: &'a Node, fitted: &Fitted, wide: bool) -> Selected {
        let [x, y, band] = self.matrix_rows(node)?;
        let order: Vec<usize> = (0..self.ty(node.operands[0]).shape.last()).collect();
        let weights = self.weights_mve(fitted, &order, 8);
        let (kernel, generics) = match wide {
            true => (KernelId::DenseI8I16Mve, fitted.wide_generics()),
            false => self.special_mve([KernelId::DenseI8Mve, KernelId::DenseI8MveSmall], order.len(), fitted),
        };
        self.call_generic(kernel, generics, vec![x, weights, y, band]);
        Ok(())
    }

    /// Largest elements of windows, in blocks of up to three rows and columns.
    fn largest_mve(&mut self, node: &'a Node, Window { window, clamp: (lo, hi) }: &Window) -> Selected {
        let block = window.size.map(|size| size.clamp(1, 3));
        let large = Generic::Flag(block != window.size);
        let generics = block.map(Generic::Size).into_iter().chain([large]).collect();
        let range = [*lo, *hi].map(|bound| Arg::Int(bound.into()));
        self.pool_calls(node, window, KernelId::MaxPool2dI8Mve, generics, &range)
    }

    /// Packed filters as an argument.
    fn weights_mve(&mut self, fitted: &Fitted, order: &[usize], at_once: usize) -> Arg {
        let words = pack::filters(fitted, order, at_once);
        self.constant_arg("WEIGHTS", Data::from_i32(&words), Element::I32)
    }

    /// The kernel that is made for so many taps, or the one for any number, and its const arguments.
    fn special_mve(
        &self,
        [special, small]: [KernelId; 2],
        taps: usize,
        fitted: &Fitted,
    ) -> (KernelId, Vec<Generic>) {
        let end = fitted.generics();
        match self.options.optimize {
            Optimize::Size => (small, end.to_vec()),
            Optimize::Speed | Optimize::Memory => {
                (special, std::iter::once(Generic::Size(taps)).chain(end).collect())
            }
        }
    }
}
