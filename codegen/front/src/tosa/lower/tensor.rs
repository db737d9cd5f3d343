//! Constants, and what tensors of the file are stored as.

use super::super::names;
use super::super::schema::{text, Tensor};
use super::cx::Cx;
use super::{Kept, Lowered, Operators, Refusal, Slot};
use crate::onnx::lower::check_size;
use kiln_ir::{DType, Data, Type};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[
    ("CONST", Kept(constant)),
    ("CONST_SHAPE", Kept(constant_shape)),
    ("IDENTITY", Kept(|cx| cx.slot(0).cloned())),
];

/// How elements of that type are stored.
pub(in super::super) fn dtype_of(element: u32) -> Lowered<DType> {
    Ok(match element {
        1 => DType::Bool,
        2 | 3 => DType::I8,
        4 => DType::I16,
        5 => DType::I32,
        6 | 10 | 17 => DType::I64,
        7..=9 => DType::F32,
        _ => {
            let what = format!("tensors of {} cannot be compiled", names::element(element));
            return Err(Refusal::unsupported(
                what,
                "export the model in float32, or quantised to 8 or 16 bits",
            ));
        }
    })
}

/// The sizes of a tensor, of which `None` are open; `None` where their number is open.
pub(in super::super) fn dims_of(tensor: &Tensor<'_>) -> Option<Vec<Option<usize>>> {
    Some(tensor.shape?.iter().take(64).map(|dim| usize::try_from(dim).ok()).collect())
}

/// CONST: the data stands at its result.
fn constant(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let Some(&name) = cx.operator.outputs.first() else { return Err(malformed!("it has no result")) };
    let tensor = cx.scope.block.tensors.get(name).copied();
    let tensor = tensor.ok_or_else(|| malformed!("\"{}\" is no tensor", text(name)))?;
    let (ty, data) = stored(cx, &tensor)?;
    Ok(Slot::Value(cx.importer.means.graph.add_const(text(name), ty, data)))
}

/// The type and elements of a constant.
pub(super) fn stored(cx: &mut Cx<'_, '_, '_>, tensor: &Tensor<'_>) -> Lowered<(Type, Data)> {
    let dims: Option<Vec<usize>> = dims_of(tensor).and_then(|dims| dims.into_iter().collect());
    let dims = dims.ok_or_else(|| malformed!("the shape of a constant is open"))?;
    let dtype = dtype_of(tensor.element)?;
    check_size(dtype, &dims)?;
    let ty = Type::plain(dtype, &dims);
    let count = ty.shape.numel();
    let bytes = match tensor.element {
        2 => count.div_ceil(2),
        6 => count * 6,
        8 | 9 => count * 2,
        _ => ty.bytes(),
    };
    let given = tensor.data.get(..bytes);
    let given =
        given.ok_or_else(|| malformed!("a constant of {bytes} bytes has only {}", tensor.data.len()))?;
    cx.importer.means.budget.charge(ty.bytes())?;
    Ok((ty, elements(tensor.element, given, count)))
}

/// Elements as they are computed with.
fn elements(element: u32, bytes: &[u8], count: usize) -> Data {
    let halves = || bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    match element {
        // The lower half of a byte comes first.
        2 => {
            let nibble = |k: usize| (bytes[k / 2] << (4 * (1 - k % 2))) as i8 >> 4;
            Data::from_i8(&(0..count).map(nibble).collect::<Vec<i8>>())
        }
        1 => Data::new(bytes.iter().map(|&byte| u8::from(byte != 0)).collect::<Vec<u8>>()),
        6 => {
            let wide = |b: &[u8]| i64::from_le_bytes([0, 0, b[0], b[1], b[2], b[3], b[4], b[5]]) >> 16;
            Data::from_ints(DType::I64, bytes.chunks_exact(6).map(wide))
        }
        8 => Data::from_f32(&halves().map(crate::half::widen).collect::<Vec<f32>>()),
        9 => {
            Data::from_f32(&halves().map(|half| f32::from_bits(u32::from(half) << 16)).collect::<Vec<f32>>())
        }
        _ => Data::new(bytes),
    }
}

/// CONST_SHAPE.
fn constant_shape(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let Some(&name) = cx.operator.outputs.first() else { return Err(malformed!("it has no result")) };
    let bytes = cx.scope.block.shapes.get(name).copied();
    let bytes = bytes.ok_or_else(|| malformed!("\"{}\" is no shape", text(name)))?;
    cx.importer.means.budget.charge(bytes.len())?;
    let sizes = Data::new(bytes).to_ints(DType::I64);
    malformed_if!(sizes.len() > 64, "a shape of {} sizes", sizes.len());
    Ok(Slot::Shape(Rc::from(sizes)))
}
