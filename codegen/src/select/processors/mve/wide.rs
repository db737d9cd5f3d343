//! Layers of 16-bit elements with weights of 8 bits.
//!
//! A layer with 64-bit biases, which the reference sums in 64 bits, is summed in 32 bits where no input takes the sums of any filter beyond them. That holds for most layers of some 1,500 taps and less.

use super::pack;
use super::{is_direct, window_bytes, window_pixels};
use crate::ir::{DType, Multiplier, Op, Rescale};
use crate::requant::{mantissa_of_16_bits, reachable};
use crate::select::conv::Images;
use crate::select::kernel::{self, Asked};
use crate::select::shape::Shape as Sizes;
use crate::select::*;
use kiln_kernel_table::Work;

/// Filters, channels and taps of a vector.
const LANES: usize = 8;

/// Taps for which the kernel of eight channels has room.
const MOST_TAPS: usize = 64;

/// A layer, and how its taps are found.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    way: Way,
    weights: Vec<i8>,
    /// Of each filter: the first value of its sum, multiplier, shift. With [`Form::Long`] both halves of its bias, multiplier, shift.
    ends: Vec<Vec<i32>>,
    /// Smallest and largest result.
    clamp: (i32, i32),
    form: Form,
}

/// How sums become results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As the reference's with 32 bits, modulo 2³².
    Narrow,
    /// As the reference's with 64 bits; 32 are enough.
    Wide,
    /// As the reference's with 64 bits.
    Long,
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
        let channels = matches!(way, Way::Channels(_));
        let taps = weights.len() / filters;
        let ends = |form: Form| -> Option<Vec<Vec<i32>>> {
            let end = |o: usize| {
                let multiplier = multipliers.get(if multipliers.len() == 1 { 0 } else { o })?;
                form.end(weights.get(o * taps..(o + 1) * taps)?, *bias.get(o)?, multiplier)
            };
            (0..filters).map(end).collect()
        };
        let forms: &[Form] = match (wide, channels) {
            (true, false) => &[Form::Wide, Form::Long],
            (true, true) => &[Form::Wide],
            (false, false) => &[Form::Narrow],
            (false, true) => &[],
        };
        let (form, ends) = forms.iter().find_map(|&form| Some((form, ends(form)?)))?;
        // The kernel with long sums copies what it reads, unless it is a row.
        let way = match (way, form) {
            (Way::Points(shape), Form::Long) => Way::windows(asked, shape),
            (way, _) => way,
        };
        Some(Wide { way, weights, ends, clamp: clamp.int_bounds(), form })
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

    /// The kernel in the table.
    pub(super) fn id(&self) -> KernelId {
        match (&self.way, self.form) {
            (Way::Windows(..), Form::Long) => KernelId::Conv2dI16MveLong,
            (Way::Windows(..), _) => KernelId::Conv2dI16Mve,
            (Way::Points(_), _) => KernelId::Conv2dI16MvePoints,
            (Way::Rows, Form::Long) => KernelId::DenseI16MveLong,
            (Way::Rows, _) => KernelId::DenseI16Mve,
            (Way::Channels(_), _) => KernelId::Depthwise2dI16Mve,
        }
    }

    /// What it does, counted. Taps and filters count as the whole vectors that they are in.
    pub(super) fn work(&self, asked: &Asked<'_>) -> Work {
        let results = asked.graph.ty(asked.node.result).shape.numel();
        let (filters, taps) = (self.ends.len(), self.taps());
        let taps = if matches!(self.way, Way::Channels(_)) { taps } else { taps.next_multiple_of(LANES) };
        let filters_at_once = results / filters.max(1) * filters.next_multiple_of(LANES);
        kernel::work(asked.graph, asked.node, filters_at_once.saturating_mul(taps))
    }

    fn taps(&self) -> usize {
        self.weights.len() / self.ends.len().max(1)
    }

    fn weight(&self, o: usize, tap: usize) -> u8 {
        self.weights.get(o * self.taps() + tap).map_or(0, |&w| w as u8)
    }

    fn end(&self, o: usize, what: usize) -> i32 {
        self.ends.get(o).and_then(|end| end.get(what)).copied().unwrap_or(0)
    }

    /// What of an end each of some filters has; zeros where there are no more filters.
    fn words<'w>(&'w self, filters: [usize; 4], what: usize) -> impl Iterator<Item = i32> + 'w {
        filters.into_iter().map(move |o| self.end(o, what))
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
        let mut words = if self.form == Form::Long { Vec::new() } else { self.head() };
        for eight in (0..self.ends.len()).step_by(LANES) {
            for vector in vectors() {
                for o in eight..eight + LANES {
                    let taps = vector.iter().map(|&tap| self.weight(o, tap));
                    let bytes: Vec<u8> = taps.chain(std::iter::repeat(0)).take(LANES).collect();
                    words.extend(pack::words_of(&bytes));
                }
            }
            if self.form == Form::Long {
                let filters = eight..eight + LANES;
                words.extend(filters.flat_map(|o| (0..4).map(move |what| self.end(o, what))));
                continue;
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
        (!dilated).then(|| Way::windows(asked, shape))
    }

    fn windows(asked: &Asked<'_>, shape: Sizes) -> Way {
        Way::Windows(shape, window_pixels(&in_bytes(&shape), asked.options.optimize))
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

impl Form {
    /// What requantises a filter; `None` where the kernel does not do it exactly.
    fn end(self, weights: &[i8], bias: i64, by: &Multiplier) -> Option<Vec<i32>> {
        match self {
            // Two roundings, the last one by a shift.
            Form::Narrow => {
                let exact = by.value >= 0 && (-31..=-1).contains(&by.shift);
                exact.then_some(vec![bias.try_into().ok()?, by.value, by.shift])
            }
            // By a multiplier of 16 bits, rounded half up once. The kernel takes 16 bits of the shift with the multiplication, and needs one to round.
            Form::Wide => {
                let range = reachable(weights.iter().copied(), 0, (i16::MIN.into(), i16::MAX.into()));
                let fits = |end: i64| end.checked_add(bias).is_some_and(|end| i32::try_from(end).is_ok());
                let exact = fits(range.lo) && fits(range.hi);
                if !exact || by.value < 0 || !(-31..=-2).contains(&by.shift) {
                    return None;
                }
                Some(vec![bias.try_into().ok()?, mantissa_of_16_bits(*by) << 16, by.shift + 1])
            }
            Form::Long => Some(vec![bias as i32, (bias >> 32) as i32, by.value, by.shift]),
        }
    }
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
        let long = layer.form == Form::Long;
        let generics = match layer.way {
            _ if long => Vec::new(),
            Way::Channels(_) => Vec::new(),
            _ => vec![Generic::Flag(layer.form == Form::Wide)],
        };
        let (lo, hi) = layer.clamp;
        let clamp = if long { vec![Arg::Int(lo.into()), Arg::Int(hi.into())] } else { Vec::new() };
        let mut between = [vec![weights], clamp].concat();
        let shape = match &layer.way {
            Way::Rows => {
                let [x, y, band] = self.matrix_rows(node)?;
                self.call_generic(layer.id(), generics, [vec![x], between, vec![y, band]].concat());
                return Ok(());
            }
            Way::Points(shape) => shape,
            Way::Windows(shape, _) | Way::Channels(shape) => {
                between.push(self.workspace()?);
                shape
            }
        };
        let x = self.image_rows(x, shape.images, shape.in_h)?;
        let y = self.image_rows(y, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        self.call_on(images, layer.id(), &generics, &[conv], &between, &[]);
        Ok(())
    }
}
