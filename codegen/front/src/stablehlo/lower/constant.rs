//! Constants, and numbers that are counted.

use super::super::module::{Attribute, Dense, Element, Type as Declared};
use super::cx::Cx;
use super::slot::{self, Slot, Tensor};
use super::{All, Lowered, One, Operators};
use crate::half;
use kiln_ir::{DType, Data, Type};

pub(super) const OPERATORS: Operators = &[("constant", All(constant)), ("iota", One(iota))];

/// The integers of little-endian bytes.
pub(super) fn integers(element: &Element, bytes: &[u8]) -> Option<Vec<i64>> {
    let width = element.bytes()?;
    let is_signed = !matches!(element, Element::Unsigned(_) | Element::Bool);
    let each = |chunk: &[u8]| {
        let mut wide = [0u8; 8];
        wide[..chunk.len()].copy_from_slice(chunk);
        let shift = 64 - 8 * chunk.len() as u32;
        let raw = i64::from_le_bytes(wide) << shift;
        if is_signed {
            raw >> shift
        } else {
            (raw as u64 >> shift) as i64
        }
    };
    (width > 0 && width <= 8).then(|| bytes.chunks_exact(width).map(each).collect())
}

/// The floats of little-endian bytes, in single precision.
fn floats(element: &Element, bytes: &[u8]) -> Option<Vec<f32>> {
    Some(match element {
        Element::Float(16) => {
            bytes.chunks_exact(2).map(|b| half::widen(u16::from_le_bytes([b[0], b[1]]))).collect()
        }
        Element::BFloat16 => {
            let wide = |b: &[u8]| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16);
            bytes.chunks_exact(2).map(wide).collect()
        }
        Element::Float(32) => Data::new(bytes.to_vec()).to_f32(),
        Element::Float(64) => {
            let double = |b: &[u8]| b.try_into().map_or(0.0, f64::from_le_bytes) as f32;
            bytes.chunks_exact(8).map(double).collect()
        }
        _ => return None,
    })
}

/// A constant of the file.
fn constant(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let Some(Attribute::Dense(dense)) = cx.operation.attributes.get("value") else {
        return Err(malformed!("its value is missing"));
    };
    dense_slot(cx, dense).map(|slot| vec![slot])
}

/// Elements as a value. Of many alike there is one.
pub(super) fn dense_slot(cx: &mut Cx<'_, '_, '_>, dense: &Dense<'_>) -> Lowered<Slot> {
    let Declared::Tensor(tensor) = &dense.ty else { return Err(malformed!("its value is no tensor")) };
    let dims = slot::sizes(tensor)?;
    let own: Vec<usize> = if dense.splat { vec![1; dims.len()] } else { dims.clone() };
    let count: usize = own.iter().product();
    let width = tensor.element.bytes().ok_or_else(|| {
        let what = format!("constants of {:?} cannot be compiled", tensor.element);
        crate::Refusal::unsupported(what, "export the model in float32, int32 or int64")
    })?;
    crate::onnx::lower::check_size(DType::I64, &dims)?;
    malformed_if!(
        count.checked_mul(width) != Some(dense.bytes.len()),
        "a constant of shape {dims:?} has {} bytes",
        dense.bytes.len()
    );
    let bytes = &*dense.bytes;
    if let Element::Complex(bits) = tensor.element {
        let (part, half) = (Element::Float(bits), width / 2);
        let mut parts = [0, half].map(|from| -> Vec<u8> {
            bytes.chunks_exact(width).flat_map(|pair| &pair[from..from + half]).copied().collect()
        });
        let [re, im] = &mut parts;
        let (re, im) = (std::mem::take(re), std::mem::take(im));
        let re = one(cx, &part, &own, &dims, &re)?;
        let im = one(cx, &part, &own, &dims, &im)?;
        return Ok(Slot::Complex(re, im));
    }
    one(cx, &tensor.element, &own, &dims, bytes).map(Slot::Tensor)
}

fn one(
    cx: &mut Cx<'_, '_, '_>,
    element: &Element,
    own: &[usize],
    dims: &[usize],
    bytes: &[u8],
) -> Lowered<Tensor> {
    let dtype = slot::dtype(element)?;
    let mut ty = Type::plain(dtype, own);
    if dims.contains(&0) {
        let value = cx.means().empty(dtype, dims);
        return Ok(Tensor::of(value, dims, element));
    }
    cx.importer.means.budget.charge(ty.bytes())?;
    let data = match floats(element, bytes) {
        Some(floats) => Data::from_f32(&floats),
        None => {
            let storage = if let Element::Quantised(of) = element { &of.storage } else { element };
            let list = integers(storage, bytes).ok_or_else(|| malformed!("a constant has no elements"))?;
            Data::from_ints(dtype, list)
        }
    };
    if let Element::Quantised(of) = element {
        ty.quant = Some(super::quantise::quant(of, dims, own)?);
    }
    let value = cx.importer.means.graph.add_const("constant", ty, data);
    Ok(Tensor::of(value, dims, element))
}

/// iota: numbers counted from 0 along an axis.
fn iota(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (dims, element) = (cx.result_dims(0)?, cx.element(0)?);
    let axis = cx.axis("iota_dimension", dims.len())?;
    counted(cx, &dims, axis, &element)
}

/// Numbers counted from 0 along an axis.
pub(super) fn counted(
    cx: &mut Cx<'_, '_, '_>,
    dims: &[usize],
    axis: usize,
    element: &Element,
) -> Lowered<Tensor> {
    let mut own = vec![1; dims.len()];
    own[axis] = dims[axis];
    let dtype = slot::dtype(element)?;
    cx.made(16 * dims[axis])?;
    let value = match dtype {
        DType::F32 => {
            let list: Vec<f32> = (0..dims[axis]).map(|k| k as f32).collect();
            cx.means().float_constant("counted", &own, &list)?
        }
        dtype => {
            let list: Vec<i64> = (0..dims[axis] as i64).collect();
            cx.means().int_constant("counted", dtype, &own, &list)?
        }
    };
    Ok(Tensor::of(value, dims, element))
}
