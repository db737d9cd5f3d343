//! Elements of tensors, as files hold them.

use super::cursor::{Cursor, Parsed};
use super::file::Allowance;
use crate::stablehlo::module::{Attribute, Dense, Element, Tensor, Type};
use std::borrow::Cow;

/// The elements of a tensor. One element stands for all of them.
pub(super) fn tensor<'m>(
    ty: Tensor,
    bytes: &'m [u8],
    allowance: &mut Allowance,
    cursor: &Cursor<'_>,
) -> Parsed<Dense<'m>> {
    let sizes = ty.shape.iter().try_fold(1usize, |product, size| product.checked_mul((*size)?));
    let Some(count) = sizes else {
        return Err(cursor.broken(format!("a constant has the shape {:?}", ty.shape)));
    };
    let (bytes, splat) = match ty.element {
        Element::Bool => booleans(bytes, count, allowance, cursor)?,
        _ => match (ty.element.bytes(), bytes.len()) {
            (Some(each), length) if count.checked_mul(each) == Some(length) => {
                (Cow::Borrowed(bytes), count == 1)
            }
            (Some(each), length) if each == length => (Cow::Borrowed(bytes), true),
            (None, length) => (Cow::Borrowed(bytes), length < count),
            (Some(each), length) => {
                let what =
                    format!("{count} elements of {each} bytes are declared, and there are {length} bytes");
                return Err(cursor.broken(what));
            }
        },
    };
    let bytes = match ty.element {
        Element::Signed(bits @ (2 | 4)) => {
            allowance.charge(bytes.len(), cursor)?;
            bytes.iter().map(|byte| (((byte << (8 - bits)) as i8) >> (8 - bits)) as u8).collect()
        }
        _ => bytes,
    };
    Ok(Dense { ty: Type::Tensor(ty), bytes, splat })
}

/// Truth values: eight in a byte, or one in a byte in old files, or one byte for all.
fn booleans<'m>(
    bytes: &'m [u8],
    count: usize,
    allowance: &mut Allowance,
    cursor: &Cursor<'_>,
) -> Parsed<(Cow<'m, [u8]>, bool)> {
    const TRUE: &[u8] = &[1];
    const FALSE: &[u8] = &[0];
    if bytes.len() == 1 && count != 0 && (bytes[0] == 0xff || bytes[0] == 0 || count == 1) {
        return Ok((Cow::Borrowed(if bytes[0] != 0 { TRUE } else { FALSE }), true));
    }
    if bytes.len() == count {
        allowance.charge(count, cursor)?;
        return Ok((bytes.iter().map(|&byte| u8::from(byte != 0)).collect(), false));
    }
    if bytes.len() != count.div_ceil(8) {
        let what = format!("{count} truth values are declared, and there are {} bytes", bytes.len());
        return Err(cursor.broken(what));
    }
    allowance.charge(count, cursor)?;
    Ok(((0..count).map(|index| bytes[index / 8] >> (index % 8) & 1).collect(), false))
}

/// Integers or truth values of an array, and other arrays as tensors.
pub(super) fn array<'m>(
    element: &Element,
    count: u64,
    bytes: &'m [u8],
    allowance: &mut Allowance,
    cursor: &Cursor<'_>,
) -> Parsed<Attribute<'m>> {
    let shape = vec![usize::try_from(count).ok()];
    let array = Dense {
        ty: Type::Tensor(Tensor { element: element.clone(), shape }),
        bytes: bytes.into(),
        splat: false,
    };
    match element.bytes() {
        Some(each) if count.checked_mul(each as u64) == Some(bytes.len() as u64) => {}
        _ => {
            return Err(
                cursor.broken(format!("{count} elements are declared, and there are {} bytes", bytes.len()))
            )
        }
    }
    Ok(match ints(&array, allowance, cursor)? {
        Some(ints) => Attribute::Ints(ints),
        None => Attribute::Dense(array),
    })
}

/// The integers or truth values of a tensor; `None` for tensors of other numbers.
pub(super) fn ints(
    dense: &Dense<'_>,
    allowance: &mut Allowance,
    cursor: &Cursor<'_>,
) -> Parsed<Option<Vec<i64>>> {
    let Type::Tensor(Tensor { element, shape }) = &dense.ty else { return Ok(None) };
    let read: fn(&[u8]) -> i64 = match element {
        Element::Bool | Element::Unsigned(2 | 4 | 8) => |bytes| i64::from(bytes[0]),
        Element::Signed(2 | 4 | 8) => |bytes| i64::from(bytes[0] as i8),
        Element::Signed(16) => |bytes| i64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
        Element::Unsigned(16) => |bytes| i64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        Element::Signed(32) => {
            |bytes| i64::from(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        }
        Element::Unsigned(32) => {
            |bytes| i64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        }
        Element::Signed(64) | Element::Unsigned(64) | Element::Index => {
            |bytes| bytes.try_into().map(i64::from_le_bytes).unwrap_or_default()
        }
        _ => return Ok(None),
    };
    let Some(each) = element.bytes() else { return Ok(None) };
    // Nobody has so many integers in an attribute, except in a constant.
    let count =
        shape.iter().try_fold(1usize, |product, size| product.checked_mul((*size)?)).unwrap_or(usize::MAX);
    let mut list = allowance.list(count, cursor)?;
    match dense.splat {
        true => list.resize(count, dense.bytes.get(..each).map(read).unwrap_or_default()),
        false => list.extend(dense.bytes.chunks_exact(each).map(read)),
    }
    Ok(Some(list))
}
