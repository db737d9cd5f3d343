//! QUANTIZE and DEQUANTIZE.

use super::cx::{describe, OpCx};
use super::{Lowered, Operators, Refusal};
use kiln_ir::{DType, Op, Rescale, Rounding, Type};

pub(super) const OPERATORS: Operators = &[(6, dequantize), (114, quantize)];

/// QUANTIZE: float to 8 bits, or integers to those of another scale, width or signedness.
fn quantize(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let result = cx.declared(0)?;
    let dims = cx.dims(x);
    cx.scale(&result, "result")?;
    let op = match (cx.ty(x).dtype, result.dtype) {
        (DType::F32, DType::I8 | DType::U8 | DType::I16) => Op::Quantize { rounding: Rounding::Away },
        (DType::I8 | DType::U8, DType::I8 | DType::U8)
        | (DType::I16, DType::I8 | DType::I16 | DType::I32)
        | (DType::I8 | DType::I32, DType::I16)
        | (DType::I32, DType::I8) => {
            let ratio = cx.ratio(cx.ty(x), &result)?;
            Op::Requantize { rescale: Rescale::FixedPoint(vec![ratio]), clamp: result.dtype.whole_range() }
        }
        _ => {
            let what = format!("{} to {} cannot be compiled", cx.shown(x), describe(&result));
            return Err(Refusal::unsupported(what, "use float32, int8, uint8 or int16 on both sides"));
        }
    };
    cx.emit(op, &[x], 0, &dims)
}

/// DEQUANTIZE: 8 bits to float. Constants may be quantised per channel; those of float16 have been widened already.
fn dequantize(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let result = cx.declared(0)?;
    let dims = cx.dims(x);
    let from = cx.ty(x);
    if cx.is_const(x) && from.dtype == DType::F32 && result.dtype == DType::F32 {
        return cx.bind_constant(0, 0);
    }
    if !matches!(from.dtype, DType::I8 | DType::U8 | DType::I16) || result.dtype != DType::F32 {
        let what = format!("{} to {} cannot be compiled", describe(from), describe(&result));
        return Err(Refusal::unsupported(what, "use int8 or uint8 as the operand and float32 as the result"));
    }
    if !cx.is_const(x) || from.quant.is_none() {
        cx.scale(from, "operand")?;
    }
    // Weights that are stored as integers.
    let floats = Type { dtype: DType::F32, quant: None, ..from.clone() };
    if let Some(data) = cx.data(x) {
        cx.charge(floats.bytes())?;
        if let Ok(data) = kiln_interp::eval(&Op::Dequantize {}, &[(cx.ty(x), &data)], &floats) {
            let name = cx.output_tensor(0)?.name.text().into_owned();
            let value = cx.constant(&name, floats, data);
            return cx.bind(0, value);
        }
    }
    cx.emit(Op::Dequantize {}, &[x], 0, &dims)
}
