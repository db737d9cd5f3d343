//! Sigmoid and hyperbolic tangent of 16 bits, by interpolation in one table: `reference/integer_ops/logistic.h` and `tanh.h` of TFLite.

use super::unary::map;
use core::cell::Cell;

/// σ(i / 24) in Q0.16, as TFLite rounds it. `tanh(x) = 2 · σ(2 · x) − 1`, and both are symmetric.
pub(crate) static SIGMOID: [u16; 256] = [
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794, 41432, 42064,
    42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475, 49975, 50464,
    50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485, 55834, 56174, 56503,
    56823, 57133, 57433, 57724, 58007, 58280, 58544, 58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370,
    60565, 60753, 60935, 61110, 61279, 61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666,
    62778, 62886, 62990, 63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968,
    64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652, 64687,
    64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079,
    65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234, 65246, 65258, 65269, 65280, 65291,
    65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360, 65367, 65374, 65381, 65387, 65393, 65399, 65404,
    65410, 65415, 65420, 65425, 65429, 65433, 65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465,
    65468, 65471, 65474, 65476, 65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498,
    65500, 65501, 65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516,
    65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524, 65525, 65525,
    65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529, 65529, 65530, 65530, 65530,
    65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533, 65533, 65533,
    65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534,
    65535,
];

/// σ of a number in Q3.12, in Q0.15.
#[inline(always)]
pub(crate) fn sigmoid(x: i32) -> i32 {
    // The table reaches from 0 to 10.7, three quarters of a number's range: its steps are 512 of these units.
    sigmoid_of_steps(x.wrapping_mul(3))
}

#[inline(always)]
fn sigmoid_of_steps(x: i32) -> i32 {
    let magnitude = x.unsigned_abs();
    let index = (magnitude >> 9) as usize;
    let value = match between(index) {
        Some((low, step)) => (low << 9) + (magnitude & 0x1ff) * step,
        None => 0x7fff << 10,
    };
    let value = value as i32;
    (if x >= 0 { value + (1 << 9) } else { (1 << 25) - value + (1 << 9) - 1 }) >> 10
}

/// tanh of a number with 12 − `shift` fraction bits, in Q0.15.
#[inline(always)]
pub(crate) fn tanh(x: i32, shift: i32) -> i32 {
    let x = x.wrapping_mul(3);
    let right = shift.min(0).unsigned_abs();
    let half = if right > 0 { 1i32.wrapping_shl(right - 1) } else { 0 };
    tanh_of_steps(x.wrapping_shl(shift.max(0).unsigned_abs()).wrapping_add(half).wrapping_shr(right))
}

#[inline(always)]
fn tanh_of_steps(x: i32) -> i32 {
    let magnitude = x.unsigned_abs();
    let index = (magnitude >> 8) as usize;
    let value = match between(index) {
        Some((low, step)) => (low << 8) + (magnitude & 0xff) * step,
        None => 0xffff << 8,
    };
    let value = value as i32;
    (if x >= 0 { value - (1 << 23) + (1 << 7) } else { (1 << 23) - value + (1 << 7) - 1 }) >> 8
}

/// An entry of the table, and the step to the next one.
#[inline(always)]
fn between(index: usize) -> Option<(u32, u32)> {
    let (&low, &high) = (SIGMOID.get(index)?, SIGMOID.get(index + 1)?);
    Some((u32::from(low), u32::from(high).wrapping_sub(u32::from(low))))
}

/// σ of each `i16`: the stored value times `multiplier`, shifted right by `right` bits (rounded half up), is in steps of the table. The result has 15 fraction
/// bits.
#[inline(never)]
pub fn logistic_i16(multiplier: i32, right: u32, x: &[Cell<i16>], y: &[Cell<i16>]) {
    map(x, y, |x: i16| sigmoid_of_steps(steps(x, multiplier, right)) as i16);
}

/// tanh of each `i16`: as [`logistic_i16`].
#[inline(never)]
pub fn tanh_i16(multiplier: i32, right: u32, x: &[Cell<i16>], y: &[Cell<i16>]) {
    map(x, y, |x: i16| tanh_of_steps(steps(x, multiplier, right)) as i16);
}

#[inline(always)]
fn steps(x: i16, multiplier: i32, right: u32) -> i32 {
    let half = if right > 0 { 1i32.wrapping_shl(right - 1) } else { 0 };
    i32::from(x).wrapping_mul(multiplier).wrapping_add(half).wrapping_shr(right)
}
