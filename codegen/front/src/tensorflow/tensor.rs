//! Tensors of the file: element types, and the data of constants.

use super::proto::{self, Failure, Parsed};
use crate::budget::Budget;
use crate::onnx::lower::check_size;
use crate::protobuf::{Message, Value};
use crate::{half, Lowered, Refusal};
use kiln_ir::{DType, Data, Type};

/// `DataType` of texts, of complex numbers, and of what is no tensor.
pub(super) const TEXT: i64 = 7;

/// The element type that a `DataType` has in the graph. Floats of other widths become those of 32 bits; unsigned integers of more than 8 bits become signed ones of the same bits.
pub(super) fn dtype(number: i64) -> Lowered<DType> {
    let name = match plain(number) {
        1 | 2 | 14 | 19 => return Ok(DType::F32),
        3 | 22 => return Ok(DType::I32),
        4 => return Ok(DType::U8),
        5 | 17 => return Ok(DType::I16),
        6 => return Ok(DType::I8),
        9 | 23 => return Ok(DType::I64),
        10 => return Ok(DType::Bool),
        TEXT => "texts",
        8 | 18 => "complex numbers",
        11 | 12 | 13 | 15 | 16 => "TensorFlow's old quantised integers",
        20 => "resources",
        21 => "variants",
        _ => return Err(Refusal::unsupported(format!("element type {number} is unknown"), CAST)),
    };
    Err(Refusal::unsupported(format!("tensors of {name} cannot be compiled"), CAST))
}

const CAST: &str = "export the model in float32, int32 or int64";

/// A `DataType` without the mark of a reference.
fn plain(number: i64) -> i64 {
    if number > 100 {
        number - 100
    } else {
        number
    }
}

/// Its name in TensorFlow.
pub(super) fn name(number: i64) -> &'static str {
    match plain(number) {
        1 => "float32",
        2 => "float64",
        3 => "int32",
        4 => "uint8",
        5 => "int16",
        6 => "int8",
        TEXT => "string",
        8 => "complex64",
        9 => "int64",
        10 => "bool",
        14 => "bfloat16",
        17 => "uint16",
        18 => "complex128",
        19 => "float16",
        20 => "resource",
        21 => "variant",
        22 => "uint32",
        23 => "uint64",
        _ => "?",
    }
}

/// Bytes of an element in the file.
fn stored(number: i64) -> usize {
    match number {
        4 | 6 | 10 => 1,
        5 | 14 | 17 | 19 => 2,
        2 | 9 | 23 => 8,
        _ => 4,
    }
}

/// Elements as they are stored, one after the other.
pub(super) fn elements(number: i64, dims: &[i64], raw: &[u8], budget: &mut Budget) -> Lowered<(Type, Data)> {
    let dtype = dtype(number)?;
    let ty = sized(dtype, dims)?;
    let width = stored(number);
    let wanted = ty.shape.numel().saturating_mul(width);
    malformed_if!(raw.len() != wanted, "its shape {dims:?} needs {wanted} bytes, but it has {}", raw.len());
    budget.charge(ty.bytes())?;
    let short = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    let floats = |number: &dyn Fn(&[u8]) -> f32| {
        Data::from_f32(&raw.chunks_exact(width).map(number).collect::<Vec<_>>())
    };
    let data = match number {
        2 => floats(&|bytes| bytes.try_into().map_or(0.0, f64::from_le_bytes) as f32),
        10 => Data::new(raw.iter().map(|&byte| u8::from(byte != 0)).collect::<Vec<u8>>()),
        14 => floats(&|bytes| f32::from_bits(u32::from(short(bytes)) << 16)),
        19 => floats(&|bytes| half::widen(short(bytes))),
        _ => Data::new(raw),
    };
    Ok((ty, data))
}

fn sized(dtype: DType, dims: &[i64]) -> Lowered<Type> {
    let size = |&size: &i64| usize::try_from(size).map_err(|_| malformed!("its shape is {dims:?}"));
    let sizes = dims.iter().map(size).collect::<Lowered<Vec<usize>>>()?;
    check_size(dtype, &sizes)?;
    Ok(Type::plain(dtype, &sizes))
}

/// A `TensorProto`, as it lies in the file.
#[derive(Default)]
pub(super) struct Stored<'a> {
    pub(super) dtype: i64,
    pub(super) dims: Vec<i64>,
    content: Option<&'a [u8]>,
    message: Message<'a>,
    /// Texts.
    pub(super) texts: Vec<&'a [u8]>,
}

impl<'a> Stored<'a> {
    pub(super) fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        let mut tensor = Stored { message: Message(bytes), ..Stored::default() };
        for field in Message(bytes) {
            match field? {
                (1, dtype) => tensor.dtype = dtype.int()?,
                (2, shape) => {
                    let dims = proto::dims(shape.bytes()?, budget)?;
                    tensor.dims = dims.ok_or_else(|| Failure::Broken("a constant has no shape".into()))?;
                }
                (4, content) => tensor.content = Some(content.bytes()?),
                (8, text) => {
                    budget.charge(16)?;
                    tensor.texts.push(text.bytes()?);
                }
                _ => {}
            }
        }
        tensor.content = tensor.content.filter(|content| !content.is_empty());
        Ok(tensor)
    }

    /// Its type and elements. Of a list of numbers the last one stands for all that are missing.
    pub(super) fn data(&self, budget: &mut Budget) -> Lowered<(Type, Data)> {
        if let Some(content) = self.content {
            return elements(self.dtype, &self.dims, content, budget);
        }
        let dtype = dtype(self.dtype)?;
        let ty = sized(dtype, &self.dims)?;
        let count = ty.shape.numel();
        // A few bytes may stand for many elements.
        budget.make(ty.bytes());
        budget.charge(ty.bytes())?;
        let wrong = |_| Refusal::malformed("its numbers are of another kind than its type");
        let data = if dtype == DType::F32 {
            Data::from_f32(&repeated(self.floats(count).map_err(wrong)?, count, 0.0)?)
        } else {
            let ints = repeated(self.ints(count).map_err(wrong)?, count, 0)?;
            Data::from_ints(dtype, ints)
        };
        Ok((ty, data))
    }

    fn floats(&self, most: usize) -> Parsed<Vec<f32>> {
        let mut found = Vec::new();
        for field in self.message {
            let take = most.saturating_sub(found.len());
            match field? {
                (5, Value::Bytes(packed)) => {
                    found.extend(
                        packed
                            .chunks_exact(4)
                            .take(take)
                            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                    );
                }
                (5, one) => found.push(one.float()?),
                (6, Value::Bytes(packed)) => {
                    let double = |b: &[u8]| b.try_into().map_or(0.0, f64::from_le_bytes) as f32;
                    found.extend(packed.chunks_exact(8).take(take).map(double));
                }
                (6, Value::Fixed64(bits)) => found.push(f64::from_bits(bits) as f32),
                (13, list) => crate::protobuf::ints(list, |bits| {
                    if found.len() < most {
                        found.push(match self.dtype {
                            14 => f32::from_bits((bits as u32) << 16),
                            _ => half::widen(bits as u16),
                        });
                    }
                    Ok(())
                })?,
                _ => {}
            }
        }
        Ok(found)
    }

    fn ints(&self, most: usize) -> Parsed<Vec<i64>> {
        let mut found = Vec::new();
        for field in self.message {
            if let (7 | 10 | 11 | 16 | 17, list) = field? {
                crate::protobuf::ints(list, |number| {
                    if found.len() < most {
                        found.push(number);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(found)
    }
}

/// As many numbers as there are elements.
fn repeated<T: Copy>(mut numbers: Vec<T>, count: usize, zero: T) -> Lowered<Vec<T>> {
    malformed_if!(numbers.len() > count, "it has {} numbers for {count} elements", numbers.len());
    let last = numbers.last().copied().unwrap_or(zero);
    numbers.resize(count, last);
    Ok(numbers)
}
