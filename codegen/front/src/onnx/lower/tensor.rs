//! Constants of the file.

use super::{Lowered, Refusal};
use crate::budget::Budget;
use crate::half;
use crate::onnx::proto::Tensor;
use kiln_ir::{DType, Data, Shape, Type};

/// Most bytes of a tensor: far more than a microcontroller has, and few enough for whatever looks at each row of an image.
const MOST_BYTES: usize = 1 << 28;

/// Most axes.
const LARGEST_RANK: usize = 6;

/// The element type of that number in `TensorProto.DataType`.
pub(super) fn dtype(element: i64) -> Lowered<DType> {
    let name = match element {
        // Doubles become floats.
        1 | 11 => return Ok(DType::F32),
        // Half-precision floats are widened.
        10 => return Ok(DType::F32),
        2 => return Ok(DType::U8),
        3 => return Ok(DType::I8),
        5 => return Ok(DType::I16),
        6 => return Ok(DType::I32),
        7 => return Ok(DType::I64),
        9 => return Ok(DType::Bool),
        4 => "uint16",
        8 => "string",
        12 => "uint32",
        13 => "uint64",
        14 | 15 => "complex",
        16 => "bfloat16",
        21 => "uint4",
        22 => "int4",
        _ => return Err(malformed!("element type {element} is unknown")),
    };
    let help = "export the model in float32, int32 or int64";
    Err(Refusal::unsupported(format!("tensors of {name} cannot be compiled"), help))
}

/// Refuses tensors that are too large, or have too many axes.
pub(crate) fn check_size(dtype: DType, dims: &[usize]) -> Lowered {
    // Also the other axes of a tensor without elements have a product.
    let dims_but_0: Vec<usize> = dims.iter().map(|&dim| dim.max(1)).collect();
    let bytes = Shape(dims_but_0).checked_numel().and_then(|n| n.checked_mul(dtype.size()));
    if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
        return Err(Refusal::unsupported(
            format!("a tensor of shape {dims:?} is too large"),
            "use a smaller input shape",
        ));
    }
    match dims.len() > LARGEST_RANK {
        true => {
            let what = format!("a tensor has {} axes; at most {LARGEST_RANK} can be compiled", dims.len());
            Err(Refusal::unsupported(what, "reshape it to fewer axes"))
        }
        false => Ok(()),
    }
}

/// A constant's type and elements.
pub(super) fn constant(tensor: &Tensor<'_>, budget: &mut Budget) -> Lowered<(Type, Data)> {
    let name = tensor.name;
    if tensor.is_external {
        let help = "read the model from its path (`kiln_codegen::read_file`), or export it as one file (torch.onnx.export(…, external_data=False))";
        let what =
            format!("the data of constant \"{name}\" is in another file, but only the model was given");
        return Err(Refusal::unsupported(what, help));
    }
    let dtype = match tensor.element {
        // Integers of 4 bits take a byte each.
        21 => DType::U8,
        22 => DType::I8,
        element => dtype(element)?,
    };
    let size =
        |&d: &i64| usize::try_from(d).map_err(|_| malformed!("constant \"{name}\" has an axis of {d}"));
    let dims = tensor.dims.iter().map(size).collect::<Lowered<Vec<usize>>>()?;
    check_size(dtype, &dims)?;
    let ty = Type::plain(dtype, &dims);
    let count = ty.shape.numel();
    let wrong = |have: usize| malformed!("constant \"{name}\" of shape {dims:?} has {have} elements");
    let stored = match tensor.element {
        10 => 2,
        11 => 8,
        _ => dtype.size(),
    };
    budget.charge(ty.bytes())?;
    if matches!(tensor.element, 21 | 22) {
        let bytes: Vec<u8> = match tensor.raw {
            Some(raw) => raw.to_vec(),
            None => tensor.ints.iter().map(|&pair| pair as u8).collect(),
        };
        if bytes.len() != count.div_ceil(2) {
            return Err(wrong(2 * bytes.len()));
        }
        // The first of two is in the low bits.
        let halves = bytes.iter().flat_map(|&pair| [pair & 15, pair >> 4]).take(count);
        let numbers =
            halves.map(|half| if tensor.element == 22 { (half << 4) as i8 >> 4 } else { half as i8 });
        return Ok((ty, Data::from_i8(&numbers.collect::<Vec<i8>>())));
    }
    let data = match tensor.raw {
        Some(raw) if raw.len() != count * stored => return Err(wrong(raw.len() / stored)),
        Some(raw) => match tensor.element {
            10 => Data::from_f32(
                &raw.chunks_exact(2)
                    .map(|b| half::widen(u16::from_le_bytes([b[0], b[1]])))
                    .collect::<Vec<_>>(),
            ),
            11 => {
                let double = |b: &[u8]| b.try_into().map_or(0.0, f64::from_le_bytes) as f32;
                Data::from_f32(&raw.chunks_exact(8).map(double).collect::<Vec<_>>())
            }
            _ => Data::new(raw.to_vec()),
        },
        None => {
            let have = match tensor.element {
                1 => tensor.floats.len(),
                11 => tensor.doubles.len(),
                _ => tensor.ints.len(),
            };
            if have != count {
                return Err(wrong(have));
            }
            match tensor.element {
                1 => Data::from_f32(&tensor.floats),
                10 => Data::from_f32(
                    &tensor.ints.iter().map(|&bits| half::widen(bits as u16)).collect::<Vec<_>>(),
                ),
                11 => Data::from_f32(&tensor.doubles.iter().map(|&x| x as f32).collect::<Vec<_>>()),
                _ => Data::from_ints(dtype, tensor.ints.iter().copied()),
            }
        }
    };
    let data = match dtype {
        DType::Bool => Data::new(data.bytes().iter().map(|&byte| u8::from(byte != 0)).collect::<Vec<_>>()),
        _ => data,
    };
    Ok((ty, data))
}
