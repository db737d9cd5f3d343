//! Weights: views of storages.

use super::program::{Size, TensorMeta};
use crate::budget::Budget;
use crate::onnx::lower::check_size;
use crate::{half, Lowered, Refusal};
use kiln_ir::{DType, Data, Type};

/// Bytes of an element of a `ScalarType` in memory.
pub(super) fn stored(dtype: i64) -> Option<usize> {
    Some(match dtype {
        1 | 2 | 12 => 1,
        3 | 6 | 13 => 2,
        4 | 7 => 4,
        5 | 8 => 8,
        _ => return None,
    })
}

/// The element type that a `ScalarType` has in the graph. Floats of other widths become those of 32 bits.
pub(super) fn dtype(number: i64) -> Lowered<DType> {
    let name = match number {
        1 => return Ok(DType::U8),
        2 => return Ok(DType::I8),
        3 => return Ok(DType::I16),
        4 => return Ok(DType::I32),
        5 => return Ok(DType::I64),
        6 | 7 | 8 | 13 => return Ok(DType::F32),
        12 => return Ok(DType::Bool),
        9..=11 => "complex numbers",
        14..=18 => "quantised elements of PyTorch's eager mode",
        28 => "uint16",
        29 => "uint32",
        30 => "uint64",
        _ => return Err(Refusal::unsupported(format!("element type {number} is unknown"), CAST)),
    };
    Err(Refusal::unsupported(format!("tensors of {name} cannot be compiled"), CAST))
}

const CAST: &str = "export the model in float32, int32 or int64";

/// A view of a storage: elements that lie `strides` apart from an offset on.
pub(super) fn view(
    of: &str,
    storage: &[u8],
    meta: &TensorMeta,
    budget: &mut Budget,
) -> Lowered<(Type, Data)> {
    let dtype = dtype(meta.dtype)?;
    let wrong = || malformed!("the sizes of \"{of}\" do not fit its data");
    let number = |size: &Size| match size {
        Size::Known(size) => usize::try_from(*size).map_err(|_| wrong()),
        Size::Symbolic(_) => Err(wrong()),
    };
    let numbers = |list: &[Size]| list.iter().map(number).collect::<Lowered<Vec<usize>>>();
    let (sizes, strides) = (numbers(&meta.sizes)?, numbers(&meta.strides)?);
    let offset = meta.storage_offset.as_ref().map_or(Ok(0), number)?;
    check_size(dtype, &sizes)?;
    let width = stored(meta.dtype).ok_or_else(wrong)?;
    let ty = Type::plain(dtype, &sizes);
    malformed_if!(strides.len() != sizes.len(), "\"{of}\" has {} strides", strides.len());
    // A storage may have few elements, and a view of it, with strides of 0, many.
    budget.charge(ty.bytes().max(ty.shape.numel().saturating_mul(width)))?;
    let bytes = elements(storage, width, &sizes, &strides, offset);
    let bytes = bytes.ok_or_else(|| malformed!("\"{of}\" reaches beyond its data"))?;
    let short = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    let floats = |number: &dyn Fn(&[u8]) -> f32| {
        Data::from_f32(&bytes.chunks_exact(width).map(number).collect::<Vec<f32>>())
    };
    let data = match meta.dtype {
        6 => floats(&|bytes| half::widen(short(bytes))),
        13 => floats(&|bytes| f32::from_bits(u32::from(short(bytes)) << 16)),
        8 => floats(&|bytes| bytes.try_into().map_or(0.0, f64::from_le_bytes) as f32),
        12 => Data::new(bytes.iter().map(|&byte| u8::from(byte != 0)).collect::<Vec<u8>>()),
        _ => Data::new(bytes),
    };
    Ok((ty, data))
}

/// The elements of a view of a storage, one after the other; `None` where it reaches beyond.
fn elements(
    storage: &[u8],
    width: usize,
    sizes: &[usize],
    strides: &[usize],
    offset: usize,
) -> Option<Vec<u8>> {
    let count: usize = sizes.iter().product();
    let first = offset.checked_mul(width)?;
    let mut dense = 1;
    let is_dense = sizes.iter().zip(strides).rev().all(|(&size, &stride)| {
        let expected = dense;
        dense *= size;
        size == 1 || stride == expected
    });
    if is_dense || count == 0 {
        return Some(storage.get(first..first.checked_add(count * width)?)?.to_vec());
    }
    let mut bytes = Vec::with_capacity(count * width);
    let mut index = vec![0; sizes.len()];
    for _ in 0..count {
        let mut at = offset;
        for (&k, &stride) in index.iter().zip(strides) {
            at = at.checked_add(stride.checked_mul(k)?)?;
        }
        let at = at.checked_mul(width)?;
        bytes.extend_from_slice(storage.get(at..at.checked_add(width)?)?);
        for (k, &size) in index.iter_mut().zip(sizes).rev() {
            *k += 1;
            if *k < size {
                break;
            }
            *k = 0;
        }
    }
    Some(bytes)
}
