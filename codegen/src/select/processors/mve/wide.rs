//! Layers of 16-bit elements with weights of 8 bits.
//!
//! Kernels add up 32 bits. A layer with 64-bit biases, which the reference sums in 64 bits, has one of them where no input takes the sums of any filter beyond 32 bits.

use super::pack;
use super::{is_direct, window_bytes, window_pixels};
use crate::ir::{DType, Multiplier, Op, Rescale};
use crate::requant::reachable;
use crate::select::conv::Images;
use crate::select::kernel::{self, Asked};
use crate::select::shape::Shape as Sizes;
use crate::select::*;
use kiln_kernel_table::Core;

/// Filters, channels and taps of a vector.
const LANES: usize = 8;

/// Taps for which the kernel of eight channels has room.
const MOST_TAPS: usize = 64;

/// A layer, and how its taps are found.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    way: Way,
    weights: Vec<i8>,
    /// Of each filter: the first value of its sum, multiplier, shift.
    ends: Vec<[i32; 3]>,
    /// Smallest and largest result.
    clamp: (i32, i32),
    /// Whether the reference has sums of 64 bits.
    wide: bool,
}

/// Where the taps of a pixel are.
#[derive(Clone, Debug)]
enum Way {
    /// In a work space for so many pixels.
    Windows(Sizes, usize),
    /// In the pixel of the operand.
    Points(Sizes),
    /// In the row of a matrix.
    Rows,
    /// Of each channel in pixels of the operand.
    Channels(Sizes),
}

impl Wide {
    /// `None` where the kernels do not compute the layer exactly.
    pub(super) fn of(asked: &Asked<'_>) -> Option<Wide> {
        let (graph, node) = (asked.graph, asked.node);
        let (Op::Conv2d { rescale: Rescale::FixedPoint(multipliers), clamp, .. }
        | Op::Dense { rescale: Rescale::FixedPoint(multipliers), clamp }) = &node.op
        else {
            return None;
        };
        let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
        let types = [x, w, node.result].map(|id| graph.ty(id));
        if types.map(|ty| (ty.dtype, ty.zero_point())) != [(DType::I16, 0), (DType::I8, 0), (DType::I16, 0)] {
            return None;
        }
        let way = Way::of(asked)?;
        let weights = graph.const_data(w)?.to_i8();
        let filters = graph.ty(w).shape.dims().first().copied().filter(|&filters| filters > 0)?;
        let (bias, wide) = match node.operands.get(2) {
            Some(&b) => (graph.const_data(b)?.to_ints(graph.ty(b).dtype), graph.ty(b).dtype == DType::I64),
            None => (vec![0; filters], false),
        };
        if matches!(way, Way::Channels(_)) && !wide {
            return None;
        }
        let taps = weights.len() / filters;
        let end = |o: usize| {
            let multiplier = multipliers.get(if multipliers.len() == 1 { 0 } else { o })?;
            let bias = *bias.get(o)?;
            match wide {
                true => wide_end(weights.get(o * taps..(o + 1) * taps)?, bias, multiplier),
                false => narrow_end(bias, multiplier),
            }
        };
        let ends = (0..filters).map(end).collect::<Option<_>>()?;
        Some(Wide { way, weights, ends, clamp: clamp.int_bounds(), wide })
    }

    /// Bytes of the work space.
    pub(super) fn workspace(&self) -> usize {
        match &self.way {
            Way::Windows(shape, pixels) => window_bytes(&in_bytes(shape), *pixels),
            Way::Channels(shape) => (2 * shape.in_c).next_multiple_of(4),
            Way::Points(_) | Way::Rows => 0,
        }
    }

    /// Images that are computed one after the other.
    pub(super) fn images(&self) -> usize {
        match &self.way {
            Way::Windows(shape, _) | Way::Points(shape) | Way::Channels(shape) => shape.images,
            Way::Rows => 1,
        }
    }

    fn kernel(&self) -> KernelId {
        match &self.way {
            Way::Windows(..) => KernelId::Conv2dI16Mve,
            Way::Points(_) => KernelId::Conv2dI16MvePoints,
            Way::Rows => KernelId::DenseI16Mve,
            Way::Channels(_) => KernelId::Depthwise2dI16Mve,
        }
    }

    /// Predicted cycles. Taps and filters count as the whole vectors that they are in.
    pub(super) fn cycles(&self, asked: &Asked<'_>, core: Core) -> u64 {
        let results = asked.graph.ty(asked.node.result).shape.numel();
        let (filters, taps) = (self.ends.len(), self.taps());
        let taps = if matches!(self.way, Way::Channels(_)) { taps } else { taps.next_multiple_of(LANES) };
        let products = results / filters.max(1) * filters.next_multiple_of(LANES) * taps;
        kernel::cycles(self.kernel(), core, products, results).unwrap_or(u64::MAX)
    }

    fn taps(&self) -> usize {
        self.weights.len() / self.ends.len().max(1)
    }

    fn weight(&self, o: usize, tap: usize) -> u8 {
        self.weights.get(o * self.taps() + tap).map_or(0, |&w| w as u8)
    }

    /// What of an end each of some filters has; zeros where there are no more filters.
    fn words<'w>(&'w self, filters: [usize; 4], what: usize) -> impl Iterator<Item = i32> + 'w {
        filters.into_iter().map(move |o| self.ends.get(o).map_or(0, |end| end[what]))
    }

    /// The words before those of filters and channels.
    fn head(&self) -> Vec<i32> {
        vec![self.clamp.0, self.clamp.1, 0, 0]
    }

    /// Eights of filters, with taps in that order. The first vectors have what is left of full ones, completed by zeros.
    fn filters(&self, order: &[usize]) -> Vec<i32> {
        let first = match order.len() % LANES {
            0 => LANES.min(order.len()),
            rest => rest,
        };
        let (first, others) = order.split_at(first);
        let vectors = || std::iter::once(first).chain(others.chunks(LANES));
        let mut words = self.head();
        for eight in (0..self.ends.len()).step_by(LANES) {
            for vector in vectors() {
                for o in eight..eight + LANES {
                    let taps = vector.iter().map(|&tap| self.weight(o, tap));
                    let bytes: Vec<u8> = taps.chain(std::iter::repeat(0)).take(LANES).collect();
                    words.extend(pack::words_of(&bytes));
                }
            }
            for what in 0..3 {
                words.extend(halves_of(eight).into_iter().flat_map(|half| self.words(half, what)));
            }
        }
        words
    }

    /// Eights of channels. The last eight may begin before the others end.
    fn channels(&self) -> Vec<i32> {
        let channels = self.ends.len();
        let mut words = self.head();
        for eight in (0..channels).step_by(LANES).map(|eight| eight.min(channels.saturating_sub(LANES))) {
            words.extend(halves_of(eight).into_iter().flat_map(|half| self.words(half, 0)));
            for tap in 0..self.taps() {
                let bytes: Vec<u8> = (eight..eight + LANES).map(|c| self.weight(c, tap)).collect();
                words.extend(pack::words_of(&bytes));
            }
            for half in halves_of(eight) {
                words.extend([1, 2].into_iter().flat_map(|what| self.words(half, what)));
            }
        }
        words
    }
}

impl Way {
    fn of(asked: &Asked<'_>) -> Option<Way> {
        let Op::Conv2d { groups, .. } = &asked.node.op else { return Some(Way::Rows) };
        let shape = Sizes::of(asked.graph, asked.node)?;
        let shape = if asked.whole { shape.as_row() } else { shape };
        if *groups > 1 {
            let depthwise = shape.groups == shape.in_c && shape.out_c == shape.in_c;
            let fits = depthwise && shape.in_c >= LANES && (1..=MOST_TAPS).contains(&(shape.k_h * shape.k_w));
            return fits.then_some(Way::Channels(shape));
        }
        let shape = shape.as_column();
        if is_direct(&shape) {
            return Some(Way::Points(shape));
        }
        let dilated = shape.dilation_w > 1 && shape.k_w > 1;
        let pixels = window_pixels(&in_bytes(&shape), asked.options.optimize);
        (!dilated).then_some(Way::Windows(shape, pixels))
    }
}

/// The shape with channels in bytes, as its window is copied.
fn in_bytes(shape: &Sizes) -> Sizes {
    Sizes { in_c: 2 * shape.in_c, ..*shape }
}

/// The even filters of an eight, and the odd ones.
fn halves_of(eight: usize) -> [[usize; 4]; 2] {
    [0, 1].map(|odd| [0, 2, 4, 6].map(|o| eight + odd + o))
}

/// What requantises a filter whose reference has sums of 64 bits: by a multiplier of 16 bits, rounded half up once. `None` where it is not exact.
fn wide_end(weights: &[i8], bias: i64, by: &Multiplier) -> Option<[i32; 3]> {
    let range = reachable(weights.iter().copied(), 0, (i16::MIN.into(), i16::MAX.into()));
    let fits = |end: i64| end.checked_add(bias).is_some_and(|end| i32::try_from(end).is_ok());
    // The kernel takes 16 bits of the shift with the multiplication, and needs one to round.
    if !(fits(range.lo) && fits(range.hi) && by.value >= 0 && (-31..=-2).contains(&by.shift)) {
        return None;
    }
    let mantissa = if by.value < 0x7fff_0000 { (by.value + (1 << 15)) >> 16 } else { 0x7fff };
    Some([bias.try_into().ok()?, mantissa << 16, by.shift + 1])
}

/// What requantises a filter whose reference has sums of 32 bits, modulo 2³², and rounds twice.
fn narrow_end(bias: i64, by: &Multiplier) -> Option<[i32; 3]> {
    let exact = by.value >= 0 && (-31..=-1).contains(&by.shift);
    exact.then_some([bias.try_into().ok()?, by.value, by.shift])
}

impl<'a> Selector<'a> {
    /// The calls of a layer.
    pub(super) fn wide_mve(&mut self, node: &'a Node, layer: &Wide) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let words = match &layer.way {
            Way::Windows(shape, _) | Way::Points(shape) => layer.filters(&pack::columns_first(shape)),
            Way::Rows => layer.filters(&(0..layer.taps()).collect::<Vec<_>>()),
            Way::Channels(_) => layer.channels(),
        };
        let weights = self.constant_arg("WEIGHTS", Data::from_i32(&words), Element::I32);
        let (shape, works, generics) = match &layer.way {
            Way::Rows => {
                let [x, y, band] = self.matrix_rows(node)?;
                let args = vec![x, weights, y, band];
                self.call_generic(layer.kernel(), vec![Generic::Flag(layer.wide)], args);
                return Ok(());
            }
            Way::Windows(shape, _) => (shape, true, vec![Generic::Flag(layer.wide)]),
            Way::Points(shape) => (shape, false, vec![Generic::Flag(layer.wide)]),
            Way::Channels(shape) => (shape, true, Vec::new()),
        };
        let work = if works { Some(self.workspace()?) } else { None };
        let between: Vec<Arg> = std::iter::once(weights).chain(work).collect();
        let x = self.image_rows(x, shape.images, shape.in_h)?;
        let y = self.image_rows(y, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        self.call_on(images, layer.kernel(), &generics, &[conv], &between, &[]);
        Ok(())
    }
}
