//! Float layers whose weights flash holds as integers with scales.
//!
//! Each weight becomes the float that it stands for, and sums are those of the kernels for floats, in the same order. A convolution makes floats of some taps of four filters at a time, for
//! many pixels of a row.

use super::conv::Patch;
use super::dense::matrix;
use super::depthwise::depthwise2d;
use super::sum::{dot, Float, Sum, LANES};
use super::weights::{unpack, Format, Weights};
use crate::arch::extent::{product, product_of};
use crate::params::{Conv, ScaledWeights};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Taps of filters that become floats at a time.
const TAPS: usize = 64;
/// Weights that become floats at a time.
const ROOM: usize = TAPS * LANES;
/// Pixels of a row that share them.
const PIXELS: usize = 16;

/// Kernels of a layer that differ in the integers.
macro_rules! layers {
    ($layer:ident; $( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident($ints:ident); )+) => { $(
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Conv,
            x: Rows<'_, f32>,
            w: &ScaledWeights<'_>,
            bias: &[f32],
            lo: f32,
            hi: f32,
            y: Rows<'_, f32>,
            band: Band,
        ) {
            let ints = $ints(w.ints);
            $layer(p, x, Scaled { w, ints, first: 0 }, Float { bias, lo, hi }, y, band);
        }
    )+ };
}

layers! { conv2d_scaled;
    /// [`conv2d_f32`](super::conv::conv2d_f32) with weights that are integers of 8 bits with scales.
    pub fn conv2d_f32xi8(Bytes);
    /// [`conv2d_f32`](super::conv::conv2d_f32) with weights that are integers of 4 bits with scales.
    pub fn conv2d_f32xi4(Pairs);
}

layers! { depthwise2d;
    /// [`depthwise2d_f32`](super::depthwise::depthwise2d_f32) with weights that are integers of 8 bits with scales, of which a channel has one at most.
    pub fn depthwise2d_f32xi8(Bytes);
    /// [`depthwise2d_f32`](super::depthwise::depthwise2d_f32) with weights that are integers of 4 bits with scales, of which a channel has one at most.
    pub fn depthwise2d_f32xi4(Pairs);
}

/// [`dense_f32`](super::dense::dense_f32) with weights that are integers of 8 bits with scales.
pub fn dense_f32xi8(
    x: Rows<'_, f32>,
    w: &ScaledWeights<'_>,
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    conv2d_f32xi8(&matrix(x.row_len(), y.row_len()), x, w, bias, lo, hi, y, band);
}

/// [`dense_f32`](super::dense::dense_f32) with weights that are integers of 4 bits with scales.
pub fn dense_f32xi4(
    x: Rows<'_, f32>,
    w: &ScaledWeights<'_>,
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    conv2d_f32xi4(&matrix(x.row_len(), y.row_len()), x, w, bias, lo, hi, y, band);
}

/// Integers as flash holds them.
trait Ints: Copy {
    /// Room for integers that are unpacked.
    type Room;
    /// Such room.
    const ROOM: Self::Room;

    /// How many there are at most.
    fn count(self) -> usize;

    /// The `len` integers from `at` on, of which there is room for 256.
    fn part<'b>(self, at: usize, len: usize, room: &'b mut Self::Room) -> Option<&'b [i8]>
    where
        Self: 'b;
}

/// Two's complement of 8 bits.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [i8]);

impl Ints for Bytes<'_> {
    type Room = ();
    const ROOM: () = ();

    #[inline(always)]
    fn count(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn part<'b>(self, at: usize, len: usize, _: &'b mut ()) -> Option<&'b [i8]>
    where
        Self: 'b,
    {
        self.0.get(at..at.saturating_add(len))
    }
}

/// Two's complement of 4 bits, two to a byte, the first in the low half.
#[derive(Clone, Copy)]
struct Pairs<'a>(&'a [i8]);

impl Format for Pairs<'_> {
    type W = i8;
    const ANY: i8 = 0;

    #[inline(always)]
    fn room(self) -> usize {
        self.0.len().wrapping_mul(2)
    }

    #[inline(always)]
    fn weight(self, at: usize) -> Option<i8> {
        let byte = *self.0.get(at >> 1)?;
        Some(if at & 1 == 0 { byte.wrapping_shl(4) >> 4 } else { byte >> 4 })
    }
}

impl Ints for Pairs<'_> {
    type Room = [i8; ROOM];
    const ROOM: [i8; ROOM] = [0; ROOM];

    #[inline(always)]
    fn count(self) -> usize {
        self.room()
    }

    #[inline(always)]
    fn part<'b>(self, at: usize, len: usize, room: &'b mut [i8; ROOM]) -> Option<&'b [i8]>
    where
        Self: 'b,
    {
        let room = room.get_mut(..len)?;
        unpack(self, at, room);
        Some(room)
    }
}

/// Weights that become floats as they are read, from one of them on.
#[derive(Clone, Copy)]
struct Scaled<'a, I> {
    w: &'a ScaledWeights<'a>,
    ints: I,
    first: usize,
}

impl<I: Ints> Scaled<'_, I> {
    /// Scale and zero point of a group; `None` where there is no such group.
    #[inline(always)]
    fn scale(&self, group: usize) -> Option<(f32, i32)> {
        let zero = self.w.zero_points.get(group).copied().unwrap_or(0);
        Some((*self.w.scales.get(group)?, zero.into()))
    }

    /// Taps `from..from + taps` of `lanes` filters of `size` taps, the first of which is `o`.
    #[inline(always)]
    fn taps<'b>(
        &self,
        (o, lanes, size): (usize, usize, usize),
        from: usize,
        taps: usize,
        room: &'b mut [f32; ROOM],
    ) -> Option<&'b [f32]> {
        let room = room.get_mut(..taps.wrapping_mul(lanes))?;
        let mut ints = I::ROOM;
        let first = o.wrapping_mul(size);
        let at = first.wrapping_add(from.wrapping_mul(lanes));
        let mut ints = self.ints.part(at, room.len(), &mut ints)?;
        let mut floats = &mut *room;
        let mut tap = first.wrapping_add(from);
        while !floats.is_empty() {
            // Taps up to the end of the group.
            let left = self.w.group.wrapping_sub(tap.checked_rem(self.w.group)?);
            let count = left.saturating_mul(lanes).min(floats.len());
            let (now, later) = floats.split_at_mut_checked(count)?;
            let (bytes, rest) = ints.split_at_checked(count)?;
            let mut scales = [(0.0, 0); LANES];
            for (lane, scale) in scales.iter_mut().take(lanes).enumerate() {
                let element = tap.wrapping_add(lane.wrapping_mul(size));
                *scale = self.scale(element.checked_div(self.w.group)?)?;
            }
            dequantise(bytes, &scales, lanes, now);
            (floats, ints, tap) = (later, rest, tap.wrapping_add(left));
        }
        Some(room)
    }
}

/// Floats of integers that alternate between as many filters as there are lanes.
#[inline(never)]
fn dequantise(ints: &[i8], scales: &[(f32, i32); LANES], lanes: usize, floats: &mut [f32]) {
    if lanes != LANES {
        floats.iter_mut().zip(ints).for_each(|(float, int)| *float = real(*int, scales[0]));
    } else if scales.iter().all(|scale| scale.1 == 0) {
        dequantise_four(ints, scales.map(|(scale, _)| (scale, 0)), floats);
    } else {
        dequantise_four(ints, *scales, floats);
    }
}

/// Floats of integers that alternate between four filters.
#[inline(always)]
fn dequantise_four(ints: &[i8], [a, b, c, d]: [(f32, i32); LANES], floats: &mut [f32]) {
    let (mut floats, mut ints) = (floats, ints);
    while let Some(([fa, fb, fc, fd], more_floats)) = floats.split_first_chunk_mut() {
        let Some((&[ia, ib, ic, id], more_ints)) = ints.split_first_chunk() else { return };
        (*fa, *fb, *fc, *fd) = (real(ia, a), real(ib, b), real(ic, c), real(id, d));
        (floats, ints) = (more_floats, more_ints);
    }
}

/// Floats of integers of which each is that of another channel, the first of which is `channel`.
#[inline(never)]
fn dequantise_channels(ints: &[i8], w: &ScaledWeights<'_>, channel: usize, floats: &mut [f32]) {
    let pairs = floats.iter_mut().zip(ints);
    let zeros = w.zero_points.get(channel..).unwrap_or(&[]);
    if let [scale] = *w.scales {
        let zero = w.zero_points.first().copied().unwrap_or(0);
        pairs.for_each(|(float, int)| *float = real(*int, (scale, zero.into())));
        return;
    }
    let pairs = pairs.zip(w.scales.get(channel..).unwrap_or(&[]));
    match zeros {
        [] => pairs.for_each(|((float, int), scale)| *float = real(*int, (*scale, 0))),
        _ => pairs.zip(zeros).for_each(|(((float, int), scale), zero)| {
            *float = real(*int, (*scale, (*zero).into()));
        }),
    }
}

/// The float that an integer stands for, with its scale and zero point.
#[inline(always)]
fn real(int: i8, (scale, zero): (f32, i32)) -> f32 {
    scale * i32::from(int).wrapping_sub(zero) as f32
}

#[inline(always)]
fn conv2d_scaled<I: Ints>(
    p: &Conv,
    x: Rows<'_, f32>,
    w: Scaled<'_, I>,
    sum: Float<'_>,
    y: Rows<'_, f32>,
    band: Band,
) {
    // No more groups than filters: each has one.
    let groups = p.groups.clamp(1, p.out_c.max(1));
    let per_group = |c: usize| c.checked_div(groups).unwrap_or(0);
    let (in_c, out_c) = (per_group(p.in_c), per_group(p.out_c));
    let size = product_of([p.k_h, p.k_w, in_c]);
    // There are weights of all filters: what is counted in them neither wraps nor takes longer than going through them.
    if w.ints.count() < product(size, p.out_c.max(1)) {
        return;
    }
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let skipped = x.laps_before(top.saturating_sub(p.pad_top));
        let (top, in_h) = (top.wrapping_sub(p.pad_top).wrapping_sub(skipped), p.in_h.saturating_sub(skipped));
        let pixels = out.len().checked_div(p.out_c).unwrap_or(0).min(p.out_w);
        // With a pixel there are no more groups than results.
        if pixels == 0 {
            continue;
        }
        for group in 0..groups {
            let patch = Patch { p, x, in_h, pad: 0.0, top, left: 0, in_c, first_c: group * in_c, size };
            for first in (0..pixels).step_by(PIXELS) {
                let Some(out) = out.get(first * p.out_c..) else { return };
                let block = Block { patch: &patch, first, pixels: PIXELS.min(pixels - first) };
                let (mut o, end) = (group * out_c, (group + 1) * out_c);
                while o < end {
                    let lanes = if end - o < LANES { 1 } else { LANES };
                    if block.filters(w, o, lanes, sum, out).is_none() {
                        return;
                    }
                    o += lanes;
                }
            }
        }
    }
}

/// Pixels of a row that are computed together.
struct Block<'a> {
    /// What a pixel reads, but for its columns.
    patch: &'a Patch<'a, f32>,
    /// The first pixel.
    first: usize,
    pixels: usize,
}

impl Block<'_> {
    /// The results of `lanes` filters, the first of which is `o`, whose pixels begin with `out`; `None` where something is missing.
    #[inline(always)]
    fn filters<I: Ints>(
        &self,
        w: Scaled<'_, I>,
        o: usize,
        lanes: usize,
        sum: Float<'_>,
        out: &[Cell<f32>],
    ) -> Option<()> {
        let Patch { p, size, .. } = *self.patch;
        let mut room = [0.0; ROOM];
        let buffer = [const { Cell::new(0.0) }; TAPS];
        let mut sums = [[0.0; LANES]; PIXELS];
        let sums = sums.get_mut(..self.pixels)?;
        let mut from = 0;
        while from < size {
            let taps = self.together(from);
            let weights = w.taps((o, lanes, size), from, taps, &mut room)?;
            for (i, sums) in sums.iter_mut().enumerate() {
                let left = (self.first + i).wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
                let x = Patch { left, ..*self.patch };
                let x = x.part(from, buffer.get(..taps)?);
                dot::<Float<'_>>(x.get(..taps)?, weights, sums.get_mut(..lanes)?);
            }
            from += taps;
        }
        for (sums, out) in sums.iter().zip(out.chunks(p.out_c.max(1))) {
            sum.finish(o, sums.get(..lanes)?, out.get(o..o + lanes)?);
        }
        Some(())
    }

    /// Taps from `from` on that a pixel has together: all of a small filter, which are gathered, or some that lie side by side in the operand.
    #[inline(always)]
    fn together(&self, from: usize) -> usize {
        let Patch { p, size, in_c, .. } = *self.patch;
        if size <= TAPS {
            return size;
        }
        let unit = if in_c == p.in_c && p.dilation_w == 1 { p.k_w.wrapping_mul(in_c) } else { in_c };
        unit.wrapping_sub(from.checked_rem(unit).unwrap_or(0)).clamp(1, TAPS)
    }
}

impl<I: Ints> Weights for Scaled<'_, I> {
    type W = f32;
    type Room = [f32; TAPS];
    const ROOM: [f32; TAPS] = [0.0; TAPS];

    #[inline(always)]
    fn behind(self, at: usize) -> Option<Self> {
        let first = self.first.wrapping_add(at);
        (first <= self.ints.count()).then_some(Scaled { first, ..self })
    }

    #[inline(always)]
    fn part<'b>(self, at: usize, channel: usize, len: usize, room: &'b mut [f32; TAPS]) -> Option<&'b [f32]>
    where
        Self: 'b,
    {
        let room = room.get_mut(..len)?;
        let mut ints = I::ROOM;
        let ints = self.ints.part(self.first.wrapping_add(at), len, &mut ints)?;
        dequantise_channels(ints, self.w, channel, room);
        Some(room)
    }
}
