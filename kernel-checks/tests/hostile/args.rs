//! Arguments of kernels, by their types.

use crate::draw::Draw;
use crate::memory::Plain;
use kiln::kernels::*;
use kiln::Crew;
use std::cell::Cell;

/// What can be drawn.
pub(crate) trait Arg<'a>: Sized {
    fn draw(d: &'a Draw) -> Self;
}

/// A kernel with arguments of the types of a tuple.
pub(crate) trait Kernel<'a, Args> {
    /// Calls it with whatever is drawn.
    fn call(self, d: &'a Draw);
}

macro_rules! kernels_of {
    ($($arg:ident)*) => {
        impl<'a, R, F: FnOnce($($arg),*) -> R, $($arg: Arg<'a>),*> Kernel<'a, ($($arg,)*)> for F {
            fn call(self, d: &'a Draw) {
                // In the order of the kernel's arguments.
                $(#[allow(non_snake_case)] let $arg = $arg::draw(d);)*
                std::hint::black_box(self($($arg),*));
            }
        }
    };
}
kernels_of!(A);
kernels_of!(A B);
kernels_of!(A B C);
kernels_of!(A B C D);
kernels_of!(A B C D E);
kernels_of!(A B C D E G);
kernels_of!(A B C D E G H);
kernels_of!(A B C D E G H I);
kernels_of!(A B C D E G H I J);
kernels_of!(A B C D E G H I J K);
kernels_of!(A B C D E G H I J K L);
kernels_of!(A B C D E G H I J K L M);

/// Cells or constants.
pub(crate) enum Operand<'a, T> {
    Cells(&'a [Cell<T>]),
    Constants(&'a [T]),
}

impl<'a, T: Plain> Arg<'a> for Operand<'a, T> {
    fn draw(d: &'a Draw) -> Self {
        if d.one_in(3) {
            Operand::Constants(d.constants())
        } else {
            Operand::Cells(d.cells())
        }
    }
}

impl<'a, T: Plain> Arg<'a> for &'a [T] {
    fn draw(d: &'a Draw) -> Self {
        d.constants()
    }
}

impl<'a, T: Plain> Arg<'a> for &'a [Cell<T>] {
    fn draw(d: &'a Draw) -> Self {
        d.cells()
    }
}

impl<'a, T: Plain> Arg<'a> for Rows<'a, T> {
    fn draw(d: &'a Draw) -> Self {
        d.rows()
    }
}

impl Arg<'_> for Band {
    fn draw(d: &Draw) -> Self {
        d.band()
    }
}

impl<'a> Arg<'a> for &'a Crew {
    fn draw(d: &'a Draw) -> Self {
        d.crew()
    }
}

impl Arg<'_> for usize {
    /// A size of the layer.
    fn draw(d: &Draw) -> Self {
        let (p, out_h) = d.layer.get();
        let fitting = d.pick(&[p.in_c, p.out_c, p.in_w, p.out_w, out_h, p.in_w * p.in_c, 1, 2, 16, 64]);
        d.size(fitting)
    }
}

impl Arg<'_> for bool {
    fn draw(d: &Draw) -> Self {
        d.one_in(2)
    }
}

impl Arg<'_> for i32 {
    fn draw(d: &Draw) -> Self {
        match d.word() % 8 {
            0 => d.pick(&[i32::MIN, i32::MIN + 1, i32::MAX, -1, 0, 1]),
            1 => d.word() as i32,
            _ => d.within(0, 511) as i32 - 256,
        }
    }
}

impl Arg<'_> for u32 {
    fn draw(d: &Draw) -> Self {
        if d.is_hostile() {
            d.pick(&[31, 32, 33, 63, 64, 255, u32::MAX, 1 << 31])
        } else {
            d.within(0, 30) as u32
        }
    }
}

impl Arg<'_> for i64 {
    fn draw(d: &Draw) -> Self {
        match d.one_in(8) {
            true => d.pick(&[i64::MIN, i64::MAX, 0, -1]),
            false => i32::draw(d).into(),
        }
    }
}

impl Arg<'_> for i8 {
    fn draw(d: &Draw) -> Self {
        d.word() as i8
    }
}

impl Arg<'_> for i16 {
    fn draw(d: &Draw) -> Self {
        d.word() as i16
    }
}

impl Arg<'_> for f32 {
    fn draw(d: &Draw) -> Self {
        match d.word() % 4 {
            0 => d.pick(&[f32::MIN, f32::MAX, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, 1e-40]),
            1 => f32::from_bits(d.word()),
            _ => d.within(0, 2000) as f32 / 500.0 - 2.0,
        }
    }
}

impl<'a> Arg<'a> for &'a [u8; 256] {
    fn draw(d: &'a Draw) -> Self {
        d.keep([d.word() as u8; 256])
    }
}

impl Arg<'_> for [usize; 6] {
    fn draw(d: &Draw) -> Self {
        std::array::from_fn(|_| usize::draw(d))
    }
}

impl Arg<'_> for [u32; 2] {
    fn draw(d: &Draw) -> Self {
        [d.word(), d.word()]
    }
}

/// References to parameters that are drawn.
macro_rules! by_reference {
    ($($t:ty),* $(,)?) => { $(
        impl<'a> Arg<'a> for &'a $t {
            fn draw(d: &'a Draw) -> Self {
                d.keep(<$t>::draw(d))
            }
        }
    )* };
}

/// Parameters each of whose fields is drawn.
macro_rules! parameters {
    ($($t:ident { $($field:ident),* })*) => {
        $(
            impl Arg<'_> for $t {
                fn draw(d: &Draw) -> Self {
                    $t { $($field: Arg::draw(d)),* }
                }
            }
        )*
        by_reference!($($t),*);
    };
}

parameters! {
    Rescale { by, zero_point, lo, hi }
    Stride { pixel, channel }
    AddParams { left_shift, x_zero, x, y_zero, y, out_zero, out, lo, hi }
    AddLinear { x, y, start }
    MulParams { x_zero, y_zero, out_zero, out, lo, hi }
    AddFloat { x, y, constant, offset, lo, hi }
    MulFloat { x_zero, y_zero, by, plus, minus, lo, hi }
    MeanRows { rows, x_zero, scale, out_zero }
    MeanLinear { factor, start }
    QuantizeLinear { high, low, scale, zero_point }
    CompareParams { left_shift, x_zero, x, y_zero, y }
    Along { outer, len, inner }
    LogSoftmax { diff, diff_min, divisor }
    Resize { images, in_h, in_w, c, out_h, out_w }
    Noise { even, odd, smoothing_bits, bits, clamping }
    NoiseFloor { min_signal_remaining, smoothing_bits, bits }
    Pad { before, rows, row }
}
by_reference!(
    Conv,
    ComputedConv,
    Pool,
    Scale,
    Broadcast,
    Choice,
    Reduce,
    Gather,
    MatMul,
    Copy,
    Requant<'a>,
    FloatRequant<'a>,
    DynamicLayer<'a>,
    ScaledWeights<'a>,
    Lstm<'a>,
    CompactConv<'a>,
    CompactDense<'a>,
    FilterBlocks<'a>,
    HalfRequant<'a>,
    UpperRequant<'a>,
    Waves<'a>,
);

impl Arg<'_> for Conv {
    fn draw(d: &Draw) -> Self {
        let (mut p, _) = d.layer.get();
        for field in [
            &mut p.in_h,
            &mut p.in_w,
            &mut p.in_c,
            &mut p.out_w,
            &mut p.out_c,
            &mut p.k_h,
            &mut p.k_w,
            &mut p.stride_h,
            &mut p.stride_w,
            &mut p.dilation_h,
            &mut p.dilation_w,
            &mut p.pad_top,
            &mut p.pad_left,
            &mut p.groups,
        ] {
            *field = d.size(*field);
        }
        p
    }
}

impl Arg<'_> for ComputedConv {
    fn draw(d: &Draw) -> Self {
        let (_, out_h) = d.layer.get();
        ComputedConv {
            conv: Arg::draw(d),
            images: d.size(d.within(1, 3)),
            out_h: d.size(out_h),
            x_zero: Arg::draw(d),
            w_zero: Arg::draw(d),
        }
    }
}

impl Arg<'_> for Pool {
    fn draw(d: &Draw) -> Self {
        let (layer, _) = d.layer.get();
        // Rows of operands and results have the channels of the operand.
        d.layer.set((Conv { out_c: layer.in_c, ..layer }, d.layer.get().1));
        let Conv { in_h, in_w, in_c, out_w, k_h, k_w, stride_h, stride_w, pad_top, pad_left, .. } =
            Conv::draw(d);
        Pool { in_h, in_w, c: in_c, out_w, k_h, k_w, stride_h, stride_w, pad_top, pad_left }
    }
}

impl Arg<'_> for Scale {
    fn draw(d: &Draw) -> Self {
        if d.is_hostile() {
            return Scale { multiplier: d.word() as i32, shift: i32::draw(d) };
        }
        Scale { multiplier: (d.word() >> 1) as i32, shift: d.within(0, 61) as i32 - 31 }
    }
}

/// Dimensions of one to six axes, most of them 1.
fn dims(d: &Draw) -> [usize; 6] {
    std::array::from_fn(|axis| {
        let fitting = if axis < 3 && !d.one_in(4) { 1 } else { d.within(1, 7) };
        d.size(fitting)
    })
}

/// Strides of dense axes, some of them repeated.
fn strides(d: &Draw, dims: &[usize; 6]) -> [usize; 6] {
    let (mut strides, mut step) = ([0; 6], 1usize);
    for axis in (0..6).rev() {
        let repeated = d.one_in(6);
        strides[axis] = d.size(if repeated || dims[axis] == 1 { 0 } else { step });
        step = step.wrapping_mul(if repeated { 1 } else { dims[axis] });
    }
    strides
}

impl Arg<'_> for Broadcast {
    fn draw(d: &Draw) -> Self {
        let dims = dims(d);
        Broadcast { dims, a: strides(d, &dims), b: strides(d, &dims) }
    }
}

impl Arg<'_> for Choice {
    fn draw(d: &Draw) -> Self {
        let dims = dims(d);
        Choice { dims, c: strides(d, &dims), a: strides(d, &dims), b: strides(d, &dims) }
    }
}

impl Arg<'_> for Reduce {
    fn draw(d: &Draw) -> Self {
        let (outer, inner) = (dims(d), dims(d));
        Reduce { outer, outer_strides: strides(d, &outer), inner, inner_strides: strides(d, &inner) }
    }
}

impl Arg<'_> for Gather {
    fn draw(d: &Draw) -> Self {
        Gather {
            batch: d.size(1),
            between: d.size(d.within(1, 3)),
            axes: dims(d),
            depth: d.size(d.within(1, 6)),
            count: d.size(d.within(1, 9)),
            inner: d.size(d.within(1, 5)),
        }
    }
}

impl Arg<'_> for MatMul {
    fn draw(d: &Draw) -> Self {
        let mut dims = dims(d);
        dims[4] = d.size(1);
        let (m, n, k) = (d.size(d.within(1, 9)), d.size(d.within(1, 40)), d.size(d.within(1, 40)));
        let far = |len: usize| strides(d, &dims).map(|stride| stride.wrapping_mul(len));
        MatMul { dims, a: far(m.wrapping_mul(k)), b: far(n.wrapping_mul(k)), m, n, k }
    }
}

impl Arg<'_> for Copy {
    fn draw(d: &Draw) -> Self {
        let dims = dims(d);
        let src = strides(d, &dims).map(|stride| stride as isize);
        let dst = strides(d, &dims);
        Copy { dims, src, src_offset: d.size(d.within(0, 3)), dst, dst_offset: d.size(d.within(0, 3)) }
    }
}

impl<'a> Arg<'a> for Requant<'a> {
    fn draw(d: &'a Draw) -> Self {
        Requant {
            multipliers: Arg::draw(d),
            shifts: Arg::draw(d),
            zero_point: Arg::draw(d),
            lo: Arg::draw(d),
            hi: Arg::draw(d),
        }
    }
}

impl<'a> Arg<'a> for FloatRequant<'a> {
    fn draw(d: &'a Draw) -> Self {
        FloatRequant { factors: Arg::draw(d), zero_point: Arg::draw(d), lo: Arg::draw(d), hi: Arg::draw(d) }
    }
}

impl<'a> Arg<'a> for DynamicLayer<'a> {
    fn draw(d: &'a Draw) -> Self {
        let (scales, sums, bias) = (Arg::draw(d), Arg::draw(d), Arg::draw(d));
        DynamicLayer { scales, sums, bias, lo: Arg::draw(d), hi: Arg::draw(d) }
    }
}

impl<'a> Arg<'a> for ScaledWeights<'a> {
    fn draw(d: &'a Draw) -> Self {
        let (ints, scales, zero_points) = (Arg::draw(d), Arg::draw(d), Arg::draw(d));
        let (layer, _) = d.layer.get();
        let size = layer.k_h.saturating_mul(layer.k_w).saturating_mul(layer.in_c);
        ScaledWeights { ints, scales, zero_points, group: d.size(size) }
    }
}

impl<'a> Arg<'a> for Waves<'a> {
    fn draw(d: &'a Draw) -> Self {
        let (layer, _) = d.layer.get();
        let size = layer.k_h.saturating_mul(layer.k_w).saturating_mul(layer.in_c);
        let length = size.checked_next_power_of_two().unwrap_or(4).max(4);
        let (window, parts, places) = (Arg::draw(d), Arg::draw(d), Arg::draw(d));
        let (radices, twiddles, halves) = (Arg::draw(d), Arg::draw(d), Arg::draw(d));
        Waves { length: d.size(length), window, parts, places, radices, twiddles, halves }
    }
}

impl<'a> Arg<'a> for Lstm<'a> {
    fn draw(d: &'a Draw) -> Self {
        let (layer, _) = d.layer.get();
        Lstm {
            inputs: d.size(layer.in_c),
            units: d.size(layer.out_c),
            multipliers: Arg::draw(d),
            shifts: Arg::draw(d),
            zero_point: Arg::draw(d),
            tanh_shift: Arg::draw(d),
            lo: Arg::draw(d),
            hi: Arg::draw(d),
        }
    }
}

impl<'a> Arg<'a> for CompactConv<'a> {
    fn draw(d: &'a Draw) -> Self {
        CompactConv {
            conv: Arg::draw(d),
            weights: Arg::draw(d),
            pad: Arg::draw(d),
            shift: Arg::draw(d),
            signed: Arg::draw(d),
            pixels: d.size(d.within(1, 6)),
        }
    }
}

impl<'a> Arg<'a> for CompactDense<'a> {
    fn draw(d: &'a Draw) -> Self {
        CompactDense { weights: Arg::draw(d), shift: Arg::draw(d), signed: Arg::draw(d) }
    }
}

impl<'a> Arg<'a> for FilterBlocks<'a> {
    fn draw(d: &'a Draw) -> Self {
        FilterBlocks {
            blocks: Arg::draw(d),
            rounding: d.pick(&[Rounding::Nearest, Rounding::Away, Rounding::Even, Rounding::Twice]),
            zero_point: Arg::draw(d),
            lo: Arg::draw(d),
            hi: Arg::draw(d),
        }
    }
}

impl<'a> Arg<'a> for HalfRequant<'a> {
    fn draw(d: &'a Draw) -> Self {
        HalfRequant {
            channels: Arg::draw(d),
            words: d.size(d.pick(&[3, 4, 5, 6])),
            shift: Arg::draw(d),
            lo: Arg::draw(d),
            hi: Arg::draw(d),
        }
    }
}

impl<'a> Arg<'a> for UpperRequant<'a> {
    fn draw(d: &'a Draw) -> Self {
        UpperRequant {
            channels: Arg::draw(d),
            words: d.size(d.pick(&[4, 8])),
            spread: Arg::draw(d),
            shift: Arg::draw(d),
            lo: Arg::draw(d),
            hi: Arg::draw(d),
        }
    }
}
