//! Functions of each element: ABS to SQUARE of one operand, DIV to SQUARED_DIFFERENCE of two.

use super::arithmetic::broadcast;
use super::cx::{describe, Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{table, Lowered, Operators, Refusal};
use kiln_ir::{AddRescale, Binary, DType, Data, Multiplier, Op, Rescale, Type, Unary};

pub(super) const OPERATORS: Operators = &[
    (8, |cx| unary(cx, Unary::Floor)), // FLOOR
    (42, div),
    (47, |cx| unary(cx, Unary::Exp)),           // EXP
    (54, |cx| binary(cx, Binary::Prelu, None)), // PRELU
    (55, |cx| binary(cx, Binary::Max, None)),   // MAXIMUM
    (57, |cx| binary(cx, Binary::Min, None)),   // MINIMUM
    (59, neg),
    (66, |cx| unary(cx, Unary::Sin)),                       // SIN
    (73, |cx| unary(cx, Unary::Log)),                       // LOG
    (75, |cx| unary(cx, Unary::Sqrt)),                      // SQRT
    (76, |cx| unary(cx, Unary::Rsqrt)),                     // RSQRT
    (78, |cx| binary(cx, Binary::Pow, None)),               // POW
    (90, |cx| binary(cx, Binary::FloorDiv, None)),          // FLOOR_DIV
    (92, |cx| unary(cx, Unary::Square)),                    // SQUARE
    (95, |cx| binary(cx, Binary::FloorMod, None)),          // FLOOR_MOD
    (99, |cx| binary(cx, Binary::SquaredDifference, None)), // SQUARED_DIFFERENCE
    (101, |cx| unary(cx, Unary::Abs)),                      // ABS
    (104, |cx| unary(cx, Unary::Ceil)),                     // CEIL
    (108, |cx| unary(cx, Unary::Cos)),                      // COS
    (111, |cx| unary(cx, Unary::Elu)),                      // ELU
    (116, |cx| unary(cx, Unary::Round)),                    // ROUND
    (117, |cx| unary(cx, Unary::HardSwish)),                // HARD_SWISH
    (150, gelu),
    (156, |cx| binary(cx, Binary::Atan2, None)), // ATAN2
    (158, |cx| unary(cx, Unary::Sign)),          // SIGN
];

/// NEG; plain integers are taken from 0.
fn neg(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    if !cx.is_plain(&[x])? {
        return unary(cx, Unary::Neg);
    }
    let ty = Type::plain(cx.ty(x).dtype, &[]);
    let zero = Data::new(vec![0u8; ty.bytes()]);
    let zero = cx.constant("zero", ty, zero);
    let op = Op::Sub { rescale: AddRescale::Real, clamp: DType::I32.whole_range() };
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
            cx.shown(operand),
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
