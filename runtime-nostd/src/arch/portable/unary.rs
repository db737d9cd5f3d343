//! Elementwise operations with one operand. In-place is fine.

use super::math;
use super::sum::clip;
use core::cell::Cell;

/// Any function from bytes to bytes: `y = table[x]`.
#[inline(never)]
pub fn lookup_8(table: &[u8; 256], x: &[Cell<u8>], y: &[Cell<u8>]) {
    map(x, y, |x| table.get(usize::from(x)).copied().unwrap_or(0));
}

/// `x`, clamped to `lo..=hi`.
#[inline(never)]
pub fn clip_f32(lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    map(x, y, |x| clip(x, lo, hi));
}

/// `x` where it is positive, else `alpha · x`.
#[inline(never)]
pub fn leaky_relu_f32(alpha: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    map(x, y, |x| if x > 0.0 { x } else { x * alpha });
}

/// `1 / (1 + exp(−x))`. Where that is 1 in `f32` or `exp(x)` to more digits than needed, it is just that, as in TFLite.
#[inline(never)]
pub fn logistic_f32(x: &[Cell<f32>], y: &[Cell<f32>]) {
    map(x, y, logistic);
}

/// See [`logistic_f32`].
#[inline(always)]
pub(crate) fn logistic(x: f32) -> f32 {
    let is_small = x < -9.0;
    // One exponential in code, which is long.
    let power = math::exp(if is_small { x } else { -x });
    if x > 16.619_047 {
        1.0
    } else if is_small {
        power
    } else {
        1.0 / (1.0 + power)
    }
}

/// `tanh(x)`.
#[inline(never)]
pub fn tanh_f32(x: &[Cell<f32>], y: &[Cell<f32>]) {
    map(x, y, math::tanh);
}

macro_rules! functions {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $f:expr; )+) => {$(
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(x: &[Cell<f32>], y: &[Cell<f32>]) {
            map(x, y, $f);
        }
    )+};
}

functions! {
    /// `|x|`.
    pub fn abs_f32 = libm::fabsf;
    /// The least integer that is not below `x`.
    pub fn ceil_f32 = libm::ceilf;
    /// `cos(x)`, `x` in radians.
    pub fn cos_f32 = libm::cosf;
    /// `x` where it is not negative, else `exp(x) − 1`.
    pub fn elu_f32 = |x| if x < 0.0 { libm::expm1f(x) } else { x };
    /// `2/√π` times the integral of `exp(−t²)` from 0 to `x`.
    pub fn erf_f32 = libm::erff;
    /// `exp(x)`.
    pub fn exp_f32 = math::exp;
    /// The greatest integer that is not above `x`.
    pub fn floor_f32 = libm::floorf;
    /// `x` times the probability of a standard normal variable below it.
    pub fn gelu_f32 = |x| 0.5 * x * (1.0 + libm::erff(x * core::f32::consts::FRAC_1_SQRT_2));
    /// [`gelu_f32`] by the usual approximation with tanh.
    pub fn gelu_tanh_f32 = |x| {
        // √(2/π).
        let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
        0.5 * x * (1.0 + math::tanh(inner))
    };
    /// `x · min(max(x + 3, 0), 6) / 6`.
    pub fn hard_swish_f32 = |x| x * clip(x + 3.0, 0.0, 6.0) / 6.0;
    /// The natural logarithm of `x`.
    pub fn log_f32 = libm::logf;
    /// `−x`.
    pub fn neg_f32 = |x| -x;
    /// The integer nearest to `x`; the even one of two.
    pub fn round_f32 = libm::rintf;
    /// `1 / √x`.
    pub fn rsqrt_f32 = |x| 1.0 / libm::sqrtf(x);
    /// −1, 0 or 1, as `x` is negative, zero or positive.
    pub fn sign_f32 = |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
    /// `sin(x)`, `x` in radians.
    pub fn sin_f32 = libm::sinf;
    /// `log(1 + exp(x))`.
    pub fn softplus_f32 = |x| (if x > 0.0 { x } else { 0.0 }) + libm::log1pf(libm::expf(-libm::fabsf(x)));
    /// `√x`.
    pub fn sqrt_f32 = libm::sqrtf;
    /// `x²`.
    pub fn square_f32 = |x| x * x;
}

/// Applies `f` to all elements, in order.
#[inline(always)]
pub(crate) fn map<X: Copy, Y>(x: &[Cell<X>], y: &[Cell<Y>], f: impl Fn(X) -> Y) {
    for (x, y) in x.iter().zip(y) {
        y.set(f(x.get()));
    }
}
