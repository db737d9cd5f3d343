//! Operators of CHLO, which exporters leave where they do not lower them to StableHLO's.

use super::super::module::Element;
use super::cx::Cx;
use super::functions::{self, called, made};
use super::slot::{Slot, Tensor};
use super::{complex, convert, All, Lowered, One, Operators};
use crate::onnx::lower::NodeCx;
use kiln_ir::{Binary, Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("chlo.acos", One(|cx| called(cx, "Acos"))),
    ("chlo.acosh", One(|cx| called(cx, "Acosh"))),
    ("chlo.asin", One(|cx| called(cx, "Asin"))),
    ("chlo.asinh", One(|cx| made(cx, |cx, x| area_sine(cx, x)))),
    ("chlo.atan", One(|cx| made(cx, |cx, x| arc_tangent(cx, x)))),
    ("chlo.atanh", One(|cx| made(cx, |cx, x| area_tangent(cx, x)))),
    ("chlo.bessel_i1e", One(|cx| made(cx, |cx, x| bessel(cx, x)))),
    ("chlo.conj", All(conjugate)),
    (
        "chlo.constant",
        All(|cx| {
            super::lowering("constant").map_or(Ok(Vec::new()), |lower| match lower {
                All(lower) => lower(cx),
                One(lower) => Ok(vec![Slot::Tensor(lower(cx)?)]),
            })
        }),
    ),
    ("chlo.cosh", One(|cx| made(cx, |cx, x| hyperbolic_cosine(cx, x)))),
    ("chlo.digamma", One(|cx| cx.written_out(96).and_then(|()| made(cx, |cx, x| digamma(cx, x))))),
    ("chlo.erf", One(|cx| made(cx, |cx, x| cx.unary(Unary::Erf, x)))),
    ("chlo.erf_inv", One(|cx| made(cx, |cx, x| inverse_error(cx, x)))),
    ("chlo.erfc", One(|cx| made(cx, |cx, x| complement(cx, x)))),
    ("chlo.is_inf", One(|cx| of_bool(cx, |cx, x| infinite(cx, x, true, true)))),
    ("chlo.is_neg_inf", One(|cx| of_bool(cx, |cx, x| infinite(cx, x, false, true)))),
    ("chlo.is_pos_inf", One(|cx| of_bool(cx, |cx, x| infinite(cx, x, true, false)))),
    ("chlo.lgamma", One(|cx| cx.written_out(96).and_then(|()| made(cx, |cx, x| log_gamma(cx, x))))),
    ("chlo.next_after", One(next_after)),
    ("chlo.sinh", One(|cx| made(cx, |cx, x| hyperbolic_sine(cx, x)))),
    ("chlo.square", All(square)),
    ("chlo.tan", One(|cx| called(cx, "Tan"))),
];

/// Whether a call only compares results, as StableHLO's own tests do.
pub(super) fn is_check(name: &str) -> bool {
    name.starts_with("check.")
}

fn of_bool<'m, 'p>(
    cx: &mut Cx<'_, 'm, 'p>,
    function: impl FnOnce(&mut NodeCx<'_, 'm, 'static>, ValueId) -> Lowered<ValueId>,
) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let value = function(&mut cx.means(), x.value)?;
    Ok(Tensor { value, element: Element::Bool, ..x })
}

fn infinite(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, above: bool, below: bool) -> Lowered<ValueId> {
    let x = if above && below { cx.unary(Unary::Abs, x)? } else { x };
    let infinity = cx.number(x, if above { f64::INFINITY } else { f64::NEG_INFINITY })?;
    cx.compared(Comparison::Equal, x, infinity)
}

fn square(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        let own = cx.slot(0)?.clone();
        cx.operands.push(own);
        return complex::arithmetic(cx, '*');
    }
    let x = cx.tensor(0)?;
    let y = match cx.ty(x.value).dtype {
        DType::F32 => Tensor { value: cx.means().unary(Unary::Square, x.value)?, ..x },
        _ => super::elementwise::arithmetic(cx, '*', &x, &x)?,
    };
    Ok(vec![Slot::Tensor(y)])
}

fn conjugate(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    match cx.slot(0)?.clone() {
        Slot::Complex(re, im) => {
            let im = super::elementwise::negated(cx, &im)?;
            complex::result(re, im)
        }
        other => Ok(vec![other]),
    }
}

/// c₀ + x · (c₁ + x · …).
fn polynomial(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, coefficients: &[f64]) -> Lowered<ValueId> {
    let mut list = coefficients.iter().rev();
    let mut y = cx.number(x, list.next().copied().unwrap_or(0.0))?;
    for &coefficient in list {
        y = cx.product(y, x)?;
        y = cx.plus(y, coefficient)?;
    }
    Ok(y)
}

/// `x` where a comparison of a value with a number holds, else `y`.
fn where_it(
    cx: &mut NodeCx<'_, '_, '_>,
    function: Comparison,
    value: ValueId,
    number: f64,
    [x, y]: [ValueId; 2],
) -> Lowered<ValueId> {
    let number = cx.number(value, number)?;
    let holds = cx.compared(function, value, number)?;
    cx.choice(holds, x, y)
}

/// 1 − erf x; beyond 1 by a rational function of x⁻², which keeps the digits of what is nearly 0.
fn complement(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let erf = cx.unary(Unary::Erf, x)?;
    let one = cx.number(x, 1.0)?;
    let near = cx.difference(one, erf)?;
    // e^(−x²) · t · polynomial(t), with t = 1 / (1 + x / 2): Numerical Recipes' Chebyshev fit.
    let size = cx.unary(Unary::Abs, x)?;
    let half = cx.times(size, 0.5)?;
    let below = cx.plus(half, 1.0)?;
    let t = cx.quotient(one, below)?;
    let exponent = polynomial(
        cx,
        t,
        &[
            -1.265_512_23,
            1.000_023_68,
            0.374_091_96,
            0.096_784_18,
            -0.186_288_06,
            0.278_868_07,
            -1.135_203_98,
            1.488_515_87,
            -0.822_152_23,
            0.170_872_77,
        ],
    )?;
    let square = cx.unary(Unary::Square, size)?;
    let exponent = cx.difference(exponent, square)?;
    let power = cx.unary(Unary::Exp, exponent)?;
    let far = cx.product(t, power)?;
    where_it(cx, Comparison::Greater, x, 2.0, [far, near])
}

/// The function that erf undoes: Giles' approximation in single precision (2010).
fn inverse_error(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let square = cx.product(x, x)?;
    let minus = cx.unary(Unary::Neg, square)?;
    let log = functions::log_of_more(cx, minus)?;
    let w = cx.unary(Unary::Neg, log)?;
    let near = cx.plus(w, -2.5)?;
    let near = polynomial(
        cx,
        near,
        &[
            1.501_409_41,
            0.246_640_727,
            -0.004_177_681_64,
            -0.001_253_725_03,
            0.000_218_580_87,
            -4.391_506_54e-6,
            -3.523_387_7e-6,
            3.432_739_39e-7,
            2.810_226_36e-8,
        ],
    )?;
    let root = cx.unary(Unary::Sqrt, w)?;
    let far = cx.plus(root, -3.0)?;
    let far = polynomial(
        cx,
        far,
        &[
            2.832_976_82,
            1.001_674_06,
            0.009_438_870_47,
            -0.007_622_461_3,
            0.005_739_507_73,
            -0.003_676_423_9,
            0.001_349_343_22,
            0.000_100_950_558,
            -0.000_200_214_257,
        ],
    )?;
    let factor = where_it(cx, Comparison::Less, w, 5.0, [near, far])?;
    let y = cx.product(factor, x)?;
    // At the ends it is infinite.
    let infinite = cx.times(x, f64::INFINITY)?;
    let size = cx.unary(Unary::Abs, x)?;
    where_it(cx, Comparison::Equal, size, 1.0, [infinite, y])
}

/// The nearest number in a direction: its bits, by one more or less.
fn next_after(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, to) = (cx.tensor(0)?, cx.tensor(1)?);
    cx.written_out(96)?;
    super::elementwise::of_two(cx, &x, &to, |cx, x, to| {
        let dims = kiln_ir::Shape::common(&cx.dims(x), &cx.dims(to)).unwrap_or_default();
        let (x, to) = (cx.repeated(x, &dims)?, cx.repeated(to, &dims)?);
        let bits = convert::bits_of(cx, x)?;
        let zero = cx.number(x, 0.0)?;
        let (is_up, is_positive) =
            (cx.compared(Comparison::Greater, to, x)?, cx.compared(Comparison::Greater, x, zero)?);
        let grows = cx.compared(Comparison::Equal, is_up, is_positive)?;
        let [more, less] = [cx.plus(bits, 1.0)?, cx.plus(bits, -1.0)?];
        let bits = cx.choice(grows, more, less)?;
        let next = convert::float_of(cx, bits)?;
        // From zero it is the smallest number there is, from one side.
        let least = cx.number(x, f64::from(f32::from_bits(1)))?;
        let minus = cx.unary(Unary::Neg, least)?;
        let of_zero = cx.choice(is_up, least, minus)?;
        let is_zero = cx.compared(Comparison::Equal, x, zero)?;
        let next = cx.choice(is_zero, of_zero, next)?;
        let is_there = cx.compared(Comparison::Equal, x, to)?;
        let y = cx.choice(is_there, to, next)?;
        let (is_nan, is_none) =
            (cx.compared(Comparison::NotEqual, x, x)?, cx.compared(Comparison::NotEqual, to, to)?);
        let y = cx.choice(is_nan, x, y)?;
        cx.choice(is_none, to, y)
    })
}

/// sinh x = (e + e / (e + 1)) / 2, with e = eˣ − 1.
fn hyperbolic_sine(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let e = functions::exponential_less_one(cx, size)?;
    let below = cx.plus(e, 1.0)?;
    let part = cx.quotient(e, below)?;
    let sum = cx.sum(e, part)?;
    let near = cx.times(sum, 0.5)?;
    let moved = cx.plus(size, -std::f64::consts::LN_2)?;
    let far = cx.unary(Unary::Exp, moved)?;
    let y = where_it(cx, Comparison::Greater, size, 20.0, [far, near])?;
    cx.with_sign(y, x)
}

/// cosh x = (eˣ + e⁻ˣ) / 2.
fn hyperbolic_cosine(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let less = cx.unary(Unary::Neg, x)?;
    let moved = [x, less].map(|x| cx.plus(x, -std::f64::consts::LN_2));
    let [up, down] = moved;
    let (up, down) = (cx.unary(Unary::Exp, up?)?, cx.unary(Unary::Exp, down?)?);
    cx.sum(up, down)
}

/// atan x, as the angle of (1, x).
fn arc_tangent(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let one = cx.number(x, 1.0)?;
    cx.binary(Binary::Atan2, x, one)
}

/// asinh x = log(1 + |x| + x² / (1 + √(x² + 1))).
fn area_sine(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let square = cx.unary(Unary::Square, size)?;
    let more = cx.plus(square, 1.0)?;
    let root = cx.unary(Unary::Sqrt, more)?;
    let below = cx.plus(root, 1.0)?;
    let part = cx.quotient(square, below)?;
    let sum = cx.sum(size, part)?;
    let near = functions::log_of_more(cx, sum)?;
    let log = cx.unary(Unary::Log, size)?;
    let far = cx.plus(log, std::f64::consts::LN_2)?;
    let y = where_it(cx, Comparison::Greater, size, 1e9, [far, near])?;
    cx.with_sign(y, x)
}

/// atanh x = log(1 + 2x / (1 − x)) / 2.
fn area_tangent(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let one = cx.number(x, 1.0)?;
    let (twice, below) = (cx.sum(size, size)?, cx.difference(one, size)?);
    let part = cx.quotient(twice, below)?;
    let log = functions::log_of_more(cx, part)?;
    let y = cx.times(log, 0.5)?;
    cx.with_sign(y, x)
}

/// Lanczos' coefficients for g = 7.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// log |Γ(x)|, by Lanczos' sum; below one half by reflection.
fn log_gamma(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let one = cx.number(x, 1.0)?;
    let mirrored = cx.difference(one, x)?;
    let y = where_it(cx, Comparison::Less, x, 0.5, [mirrored, x])?;
    let z = cx.plus(y, -1.0)?;
    let mut sum = cx.number(z, LANCZOS[0])?;
    for (k, &coefficient) in LANCZOS.iter().enumerate().skip(1) {
        let below = cx.plus(z, k as f64)?;
        let number = cx.number(z, coefficient)?;
        let part = cx.quotient(number, below)?;
        sum = cx.sum(sum, part)?;
    }
    // log(z + g + ½) = log(g + ½) + log(1 + z / (g + ½)).
    let share = cx.times(z, 1.0 / 7.5)?;
    let log_t = functions::log_of_more(cx, share)?;
    let log_t = cx.plus(log_t, 7.5f64.ln())?;
    let t = cx.plus(z, 7.5)?;
    let z_half = cx.plus(z, 0.5)?;
    let ratio = cx.quotient(t, log_t)?;
    let gap = cx.difference(z_half, ratio)?;
    let first = cx.product(gap, log_t)?;
    let log_sum = cx.unary(Unary::Log, sum)?;
    let all = cx.sum(first, log_sum)?;
    let upper = cx.plus(all, (2.0 * std::f64::consts::PI).sqrt().ln())?;
    // log π − log |sin πx| − that of 1 − x.
    let size = cx.unary(Unary::Abs, x)?;
    let whole = cx.unary(Unary::Floor, size)?;
    let rest = cx.difference(size, whole)?;
    let other = cx.difference(one, rest)?;
    let rest = cx.binary(Binary::Min, rest, other)?;
    let angle = cx.times(rest, std::f64::consts::PI)?;
    let sine = cx.unary(Unary::Sin, angle)?;
    let log_sine = cx.unary(Unary::Log, sine)?;
    let log_pi = cx.number(x, std::f64::consts::PI.ln())?;
    let lower = cx.difference(log_pi, log_sine)?;
    let lower = cx.difference(lower, upper)?;
    let y = where_it(cx, Comparison::Less, x, 0.5, [lower, upper])?;
    let infinity = cx.number(x, f64::INFINITY)?;
    let is_infinite = cx.compared(Comparison::Equal, size, infinity)?;
    cx.choice(is_infinite, infinity, y)
}

/// The derivative of log Γ: by its series far from 0, to which sums lead; below one half by reflection.
fn digamma(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let one = cx.number(x, 1.0)?;
    let mirrored = cx.difference(one, x)?;
    let mut y = where_it(cx, Comparison::Less, x, 0.5, [mirrored, x])?;
    let mut sum = cx.number(y, 0.0)?;
    for _ in 0..10 {
        let inverse = cx.quotient(one, y)?;
        let (less, more) = (cx.difference(sum, inverse)?, cx.plus(y, 1.0)?);
        sum = where_it(cx, Comparison::Less, y, 10.0, [less, sum])?;
        y = where_it(cx, Comparison::Less, y, 10.0, [more, y])?;
    }
    let inverse = cx.quotient(one, y)?;
    let square = cx.unary(Unary::Square, inverse)?;
    let series = polynomial(cx, square, &[1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0])?;
    let series = cx.product(series, square)?;
    let (log, half) = (cx.unary(Unary::Log, y)?, cx.times(inverse, 0.5)?);
    let upper = cx.difference(log, half)?;
    let upper = cx.difference(upper, series)?;
    let upper = cx.sum(upper, sum)?;
    let whole = cx.unary(Unary::Floor, x)?;
    let rest = cx.difference(x, whole)?;
    let angle = cx.times(rest, std::f64::consts::PI)?;
    let (cos, sin) = (cx.unary(Unary::Cos, angle)?, cx.unary(Unary::Sin, angle)?);
    let cotangent = cx.quotient(cos, sin)?;
    let cotangent = cx.times(cotangent, std::f64::consts::PI)?;
    let lower = cx.difference(upper, cotangent)?;
    let y = where_it(cx, Comparison::Less, x, 0.5, [lower, upper])?;
    // Poles at 0 and below.
    let nan = cx.number(x, f64::NAN)?;
    let (is_whole, zero) = (cx.compared(Comparison::Equal, x, whole)?, cx.number(x, 0.0)?);
    let is_below = cx.compared(Comparison::LessEqual, x, zero)?;
    let is_pole = cx.both(is_whole, is_below)?;
    cx.choice(is_pole, nan, y)
}

/// e^(−|x|) · I₁(x), by its power series near 0 and by a polynomial in 1 / x far from it (Abramowitz and Stegun 9.8.3 and 9.8.4).
fn bessel(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let quarter = cx.times(size, 1.0 / 3.75)?;
    let square = cx.unary(Unary::Square, quarter)?;
    let near = polynomial(
        cx,
        square,
        &[0.5, 0.878_905_94, 0.514_988_69, 0.150_849_34, 0.026_587_33, 0.003_015_32, 0.000_324_11],
    )?;
    let near = cx.product(near, size)?;
    let minus = cx.unary(Unary::Neg, size)?;
    let power = cx.unary(Unary::Exp, minus)?;
    let near = cx.product(near, power)?;
    let one = cx.number(size, 3.75)?;
    let t = cx.quotient(one, size)?;
    let far = polynomial(
        cx,
        t,
        &[
            0.398_942_28,
            -0.039_880_24,
            -0.003_620_18,
            0.001_638_01,
            -0.010_315_55,
            0.022_829_67,
            -0.028_953_12,
            0.017_876_54,
            -0.004_200_59,
        ],
    )?;
    let root = cx.unary(Unary::Rsqrt, size)?;
    let far = cx.product(far, root)?;
    let y = where_it(cx, Comparison::Less, size, 3.75, [near, far])?;
    cx.with_sign(y, x)
}
