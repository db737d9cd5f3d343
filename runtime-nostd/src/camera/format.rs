//! The formats of pixels, and how they become red, green and blue, or grey.

use core::marker::PhantomData;

mod sealed {
    /// Keeps the traits of this module to it.
    pub trait Sealed {}
}
use sealed::Sealed;

/// Whose arithmetic colours have.
pub trait Like: Sealed {
    /// 8 bits of 5.
    #[doc(hidden)]
    fn of_5_bits(value: u16) -> u8;
    /// 8 bits of 6.
    #[doc(hidden)]
    fn of_6_bits(value: u16) -> u8;
    /// Grey of red, green and blue.
    #[doc(hidden)]
    fn luma(rgb: [u8; 3]) -> u8;
    /// Red, green and blue of luma and chroma.
    #[doc(hidden)]
    fn of_yuv(y: u8, u: u8, v: u8) -> [u8; 3];
}

/// OpenCV's `cvtColor`: `COLOR_BGR5652RGB`, `COLOR_RGB2GRAY`, `COLOR_YUV2RGB_YUYV` and so on. Luma is from 16 to 235.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OpenCv;

impl Sealed for OpenCv {}

impl Like for OpenCv {
    #[inline(always)]
    fn of_5_bits(value: u16) -> u8 {
        (value << 3) as u8
    }

    #[inline(always)]
    fn of_6_bits(value: u16) -> u8 {
        (value << 2) as u8
    }

    #[inline(always)]
    fn luma([r, g, b]: [u8; 3]) -> u8 {
        ((u32::from(r) * 9798 + u32::from(g) * 19235 + u32::from(b) * 3735 + (1 << 14)) >> 15) as u8
    }

    #[inline(always)]
    fn of_yuv(y: u8, u: u8, v: u8) -> [u8; 3] {
        // ITU-R BT.601, in 20 bits of fraction.
        let (u, v) = (i32::from(u) - 128, i32::from(v) - 128);
        let y = i32::from(y.saturating_sub(16)) * 1_220_542 + (1 << 19);
        let [r, g, b] = [y + 1_673_527 * v, y - 852_492 * v - 409_993 * u, y + 2_116_026 * u];
        [r, g, b].map(|sum| (sum >> 20).clamp(0, 255) as u8)
    }
}

/// Pillow's: the raw mode `BGR;16`, and `convert` to `L` and from `YCbCr`. Luma is from 0 to 255, as in JPEG.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pillow;

impl Sealed for Pillow {}

impl Like for Pillow {
    #[inline(always)]
    fn of_5_bits(value: u16) -> u8 {
        (value * 255 / 31) as u8
    }

    #[inline(always)]
    fn of_6_bits(value: u16) -> u8 {
        (value * 255 / 63) as u8
    }

    #[inline(always)]
    fn luma([r, g, b]: [u8; 3]) -> u8 {
        ((u32::from(r) * 19595 + u32::from(g) * 38470 + u32::from(b) * 7471 + (1 << 15)) >> 16) as u8
    }

    #[inline(always)]
    fn of_yuv(y: u8, u: u8, v: u8) -> [u8; 3] {
        // Products in 6 bits of fraction, rounded as C converts them.
        let (y, u, v) = (i32::from(y), i32::from(u) - 128, i32::from(v) - 128);
        let product = |factor: i32, value: i32| (factor * value + 50_000) / 100_000;
        let (r, b) = (product(8_972_800, v), product(11_340_800, u));
        let g = product(-2_202_496, u) + product(-4_570_496, v);
        [y + (r >> 6), y + (g >> 6), y + (b >> 6)].map(|sum| sum.clamp(0, 255) as u8)
    }
}

/// The format of the pixels of a line.
pub trait Format: Sealed {
    /// Red, green and blue of a pixel. What is behind the line's end is zero.
    #[doc(hidden)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3];
    /// Grey.
    #[doc(hidden)]
    fn gray(line: &[u8], x: usize) -> u8;

    /// The channels of a pixel: grey, if there is one.
    #[doc(hidden)]
    #[inline(always)]
    fn pixel<const CHANNELS: usize>(line: &[u8], x: usize) -> [u8; CHANNELS] {
        if CHANNELS == 1 {
            return [Self::gray(line, x); CHANNELS];
        }
        let rgb = Self::rgb(line, x);
        core::array::from_fn(|channel| rgb.get(channel).copied().unwrap_or(0))
    }
}

/// A byte of a line.
#[inline(always)]
fn byte(line: &[u8], index: usize) -> u8 {
    line.get(index).copied().unwrap_or(0)
}

/// 5 bits of red, 6 of green and 5 of blue in 16 bits. The high byte comes first if `BIG`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rgb565<L, const BIG: bool>(PhantomData<L>);

impl<L: Like, const BIG: bool> Sealed for Rgb565<L, BIG> {}

impl<L: Like, const BIG: bool> Format for Rgb565<L, BIG> {
    #[inline(always)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3] {
        let bytes = [byte(line, 2 * x), byte(line, 2 * x + 1)];
        let bits = if BIG { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
        [L::of_5_bits(bits >> 11), L::of_6_bits(bits >> 5 & 63), L::of_5_bits(bits & 31)]
    }

    #[inline(always)]
    fn gray(line: &[u8], x: usize) -> u8 {
        L::luma(Self::rgb(line, x))
    }
}

/// A byte each of red, green and blue.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rgb888<L>(PhantomData<L>);

impl<L: Like> Sealed for Rgb888<L> {}

impl<L: Like> Format for Rgb888<L> {
    #[inline(always)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3] {
        [byte(line, 3 * x), byte(line, 3 * x + 1), byte(line, 3 * x + 2)]
    }

    #[inline(always)]
    fn gray(line: &[u8], x: usize) -> u8 {
        L::luma(Self::rgb(line, x))
    }
}

/// A byte each of blue, green and red.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bgr888<L>(PhantomData<L>);

impl<L: Like> Sealed for Bgr888<L> {}

impl<L: Like> Format for Bgr888<L> {
    #[inline(always)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3] {
        let [r, g, b] = Rgb888::<L>::rgb(line, x);
        [b, g, r]
    }

    #[inline(always)]
    fn gray(line: &[u8], x: usize) -> u8 {
        L::luma(Self::rgb(line, x))
    }
}

/// A byte of grey. With three channels, each of them is that.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gray8;

impl Sealed for Gray8 {}

impl Format for Gray8 {
    #[inline(always)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3] {
        [byte(line, x); 3]
    }

    #[inline(always)]
    fn gray(line: &[u8], x: usize) -> u8 {
        byte(line, x)
    }
}

/// A luma for each pixel, and chroma for each two: luma, U, luma, V; or U, luma, V, luma if `CHROMA_FIRST`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Yuv422<L, const CHROMA_FIRST: bool>(PhantomData<L>);

impl<L: Like, const CHROMA_FIRST: bool> Sealed for Yuv422<L, CHROMA_FIRST> {}

impl<L: Like, const CHROMA_FIRST: bool> Format for Yuv422<L, CHROMA_FIRST> {
    #[inline(always)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3] {
        let chroma = 4 * (x / 2) + usize::from(!CHROMA_FIRST);
        L::of_yuv(Self::gray(line, x), byte(line, chroma), byte(line, chroma + 2))
    }

    #[inline(always)]
    fn gray(line: &[u8], x: usize) -> u8 {
        byte(line, 2 * x + usize::from(CHROMA_FIRST))
    }
}

/// A colour for each pixel, as OpenCV's `COLOR_BayerRGGB2RGB` and so on see it: the mean of the nearest pixels of each colour. For a [`Bayer`](super::Bayer). Red is in the columns whose parity is `X` and the lines whose parity is
/// `Y`: `0, 0` is RGGB, `1, 0` GRBG, `0, 1` GBRG, `1, 1` BGGR.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mosaic<L, const X: usize, const Y: usize>(PhantomData<L>);

impl<L: Like, const X: usize, const Y: usize> Sealed for Mosaic<L, X, Y> {}

impl<L: Like, const X: usize, const Y: usize> Format for Mosaic<L, X, Y> {
    #[inline(always)]
    fn rgb(lines: &[u8], x: usize) -> [u8; 3] {
        let width = lines.len() / 3;
        // Pixels at the edges are seen as their neighbours.
        let x = x.min(width.saturating_sub(2)).max(1);
        let at = |line: usize, x: usize| u16::from(byte(lines, (line * width).wrapping_add(x)));
        let odd = usize::from(byte(lines, 3 * width));
        let (left, right) = (x.wrapping_sub(1), x.wrapping_add(1));
        let own = at(1, x) as u8;
        let (beside, above) = (at(1, left) + at(1, right), at(0, x) + at(2, x));
        let corners = at(0, left) + at(0, right) + at(2, left) + at(2, right);
        let [beside2, above2] = [beside, above].map(|sum| ((sum + 1) >> 1) as u8);
        let [cross4, corners4] = [beside + above, corners].map(|sum| ((sum + 2) >> 2) as u8);
        match (x % 2 == X, odd == Y) {
            (true, true) => [own, cross4, corners4],
            (false, true) => [beside2, own, above2],
            (true, false) => [above2, own, beside2],
            (false, false) => [corners4, cross4, own],
        }
    }

    #[inline(always)]
    fn gray(lines: &[u8], x: usize) -> u8 {
        L::luma(Self::rgb(lines, x))
    }
}

/// A format, with blue first for the model.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bgr<F>(PhantomData<F>);

impl<F: Format> Sealed for Bgr<F> {}

impl<F: Format> Format for Bgr<F> {
    #[inline(always)]
    fn rgb(line: &[u8], x: usize) -> [u8; 3] {
        let [r, g, b] = F::rgb(line, x);
        [b, g, r]
    }

    #[inline(always)]
    fn gray(line: &[u8], x: usize) -> u8 {
        F::gray(line, x)
    }
}
