//! Functions of each element: ABS to SQUARE of one operand, DIV to SQUARED_DIFFERENCE of two.

use super::arithmetic::broadcast;
use super::cx::{describe, Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{table, Lowered, Operators, Refusal};
use kiln_ir::{AddRescale, Binary, Clamp, DType, Data, Multiplier, Op, Rescale, Type, Unary};

/// The operators of this file.
pub(super) const OPERATORS: Operators = &[
    (8, floor),
    (42, div),
    (47, exp),
    (54, prelu),
    (55, maximum),
    (57, minimum),
    (59, neg),
    (66, sin),
    (73, log),
    (75, sqrt),
    (76, rsqrt),
    (78, pow),
    (90, floor_div),
    (92, square),
    (95, floor_mod),
    (99, squared_difference),
    (101, abs),
    (104, ceil),
    (108, cos),
    (111, elu),
    (116, round),
    (117, hard_swish),
    (150, gelu),
    (156, atan2),
    (158, sign),
];

/// The lowering of an operator that is a function of one operand.
macro_rules! unary {
    ($( $name:ident $function:ident )+) => {$(
        pub(super) fn $name(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
            unary(cx, Unary::$function)
        }
    )+};
}

unary! {
    abs Abs
    ceil Ceil
    cos Cos
    elu Elu
    exp Exp
    floor Floor
    hard_swish HardSwish
    log Log
    round Round
    rsqrt Rsqrt
    sign Sign
    sin Sin
    sqrt Sqrt
    square Square
}

/// NEG; plain integers are taken from 0.
fn neg(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    if !cx.is_plain(&[x])? {
        return unary(cx, Unary::Neg);
    }
    let ty = Type::plain(cx.ty(x).dtype, &[]);
    let zero = Data::new(vec![0u8; ty.bytes()]);
    let zero = cx.constant("zero", ty, zero);
    let op = Op::Sub { rescale: AddRescale::Real, clamp: Clamp::whole(DType::I32) };
    let dims = cx.dims(x);
    cx.emit(op, &[zero, x], 0, &dims)
}

fn unary(cx: &mut OpCx<'_, '_, '_>, function: Unary) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    match cx.format(&[x])? {
        Format::Float => cx.emit(Op::Unary { function }, &[x], 0, &dims),
        Format::Int8 => table::int8(cx, function),
        Format::Int16 => table::int16(cx, function),
    }
}

/// GELU, exact or by its approximation.
fn gelu(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let approximate = cx.options(GELU_OPTIONS)?.approximate()?;
    unary(cx, if approximate { Unary::GeluTanh } else { Unary::Gelu })
}

/// Number of `GeluOptions` in the schema's `BuiltinOptions`.
const GELU_OPTIONS: u8 = 116;

/// DIV, with a fused activation.
fn div(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let activation = Activation::fused(cx.options(29)?.activation()?)?;
    binary(cx, Binary::Div, Some(activation))
}

/// FLOOR_DIV.
fn floor_div(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::FloorDiv, None)
}

/// FLOOR_MOD.
fn floor_mod(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::FloorMod, None)
}

/// MAXIMUM.
fn maximum(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Max, None)
}

/// MINIMUM.
fn minimum(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Min, None)
}

/// POW.
fn pow(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Pow, None)
}

/// SQUARED_DIFFERENCE.
fn squared_difference(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::SquaredDifference, None)
}

/// ATAN2.
fn atan2(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Atan2, None)
}

/// PRELU.
fn prelu(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Prelu, None)
}

fn binary(cx: &mut OpCx<'_, '_, '_>, function: Binary, fused: Option<Activation>) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let dims = broadcast(cx, x, y)?;
    let result = cx.declared(0)?;
    let clamp = match fused {
        Some(activation) => activation.clamp(&result),
        None => Activation::None.alone(&result),
    };
    let plain = function.of_integers() && cx.is_plain(&[x, y])?;
    let format = if plain { Format::Float } else { cx.format(&[x, y])? };
    if format != Format::Float && !function.chooses() {
        if format == Format::Int16 && function != Binary::SquaredDifference {
            return Err(table::no_int16());
        }
        let types = [cx.ty(x), cx.ty(y), &result];
        let by = multipliers(cx, function, types, cx.as_stored(x).is_some())?;
        let rescale = Rescale::FixedPoint(by);
        return cx.emit(Op::Binary { function, rescale, clamp }, &[x, y], 0, &dims);
    }
    let differs = [x, y].into_iter().find(|&v| cx.ty(v).quant != result.quant);
    if let Some(operand) = differs {
        let what = format!(
            "its operand {} and its result {} have different quantisation",
            describe(cx.ty(operand)),
            describe(&result)
        );
        return Err(Refusal::unsupported(what, "convert the model again with a current converter"));
    }
    cx.emit(Op::Binary { function, rescale: Rescale::Real, clamp }, &[x, y], 0, &dims)
}

/// The multipliers of a function on int8, as TFLite Micro's `Prepare` functions compute them.
fn multipliers(
    cx: &OpCx<'_, '_, '_>,
    function: Binary,
    [x, y, result]: [&Type; 3],
    is_unsigned: bool,
) -> Lowered<Vec<Multiplier>> {
    let (x, y, out) = (cx.scale(x, "operand")?, cx.scale(y, "operand")?, cx.scale(result, "result")?);
    let [wide_x, wide_y, wide_out] = [x, y, out].map(f64::from);
    let factors = match function {
        // LiteRT, which alone computes uint8, divides in `f32`; builds of TFLite Micro in `f64`.
        Binary::Div if is_unsigned => vec![f64::from(x / (y * out))],
        Binary::Div => vec![wide_x / (wide_y * wide_out)],
        Binary::Prelu => vec![wide_x / wide_out, wide_x * wide_y / wide_out],
        Binary::SquaredDifference => {
            let common = 2.0 * wide_x.max(wide_y);
            let headroom = f64::from(1 << (2 * function.left_shift(result.dtype)));
            vec![wide_x / common, wide_y / common, common * common / (headroom * wide_out)]
        }
        _ => {
            return Err(Refusal::unsupported(
                format!("`{}` has no int8 arithmetic in TFLite", function.name()),
                "leave this operator out of the quantisation of the model",
            ))
        }
    };
    factors.into_iter().map(multiplier).collect()
}
