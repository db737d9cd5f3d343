//! Attributes, as operators ask for them.

use super::super::module::{Attribute, Attributes, Dense, Element};
use super::constant;
use crate::Lowered;

/// Integers, however they are written.
pub(super) fn ints(attribute: &Attribute<'_>) -> Option<Vec<i64>> {
    match attribute {
        Attribute::Ints(list) => Some(list.clone()),
        Attribute::Int(one) => Some(vec![*one]),
        Attribute::Bool(one) => Some(vec![i64::from(*one)]),
        Attribute::List(list) => {
            let each: Option<Vec<Vec<i64>>> = list.iter().map(ints).collect();
            Some(each?.concat())
        }
        Attribute::Dense(dense) => dense_ints(dense),
        _ => None,
    }
}

fn dense_ints(dense: &Dense<'_>) -> Option<Vec<i64>> {
    let super::super::module::Type::Tensor(tensor) = &dense.ty else { return None };
    if !matches!(tensor.element, Element::Bool | Element::Signed(_) | Element::Unsigned(_) | Element::Index) {
        return None;
    }
    let list = constant::integers(&tensor.element, &dense.bytes)?;
    let count: usize = tensor.shape.iter().copied().product::<Option<usize>>()?;
    match (dense.splat, list.first()) {
        (true, Some(&one)) if count <= 1 << 16 => Some(vec![one; count]),
        (false, _) => Some(list),
        _ => None,
    }
}

/// The attribute of that name as a list of integers, if it is there.
pub(super) fn list(attributes: &Attributes<'_>, name: &str) -> Lowered<Option<Vec<i64>>> {
    match attributes.get(name) {
        None => Ok(None),
        Some(attribute) => ints(attribute).map(Some).ok_or_else(|| malformed!("its {name} are no integers")),
    }
}

/// As [`list`], with sizes or axes; none is as an empty list.
pub(super) fn sizes(attributes: &Attributes<'_>, name: &str) -> Lowered<Vec<usize>> {
    let list = list(attributes, name)?.unwrap_or_default();
    let size = |&size: &i64| u32::try_from(size).map(|size| size as usize);
    list.iter().map(size).collect::<Result<_, _>>().map_err(|_| malformed!("its {name} are {list:?}"))
}

/// A size or an axis.
pub(super) fn size(attributes: &Attributes<'_>, name: &str) -> Lowered<Option<usize>> {
    Ok(sizes(attributes, name)?.first().copied())
}

/// A truth value; false if it is left out.
pub(super) fn flag(attributes: &Attributes<'_>, name: &str) -> bool {
    match attributes.get(name) {
        Some(Attribute::Unit) => true,
        Some(other) => ints(other).is_some_and(|list| list.first().is_some_and(|&truth| truth != 0)),
        None => false,
    }
}

/// The name of an enumerator, or a text; empty if it is left out.
pub(super) fn word<'a>(attributes: &'a Attributes<'_>, name: &str) -> &'a str {
    match attributes.get(name) {
        Some(Attribute::Text(text)) => text,
        // An enumerator may stand in an attribute of its own: `#stablehlo<comparison_direction GT>`.
        Some(Attribute::Parts(parts)) => match parts.0.as_slice() {
            [(_, Attribute::Text(text))] => text,
            [(key, Attribute::Unit)] => key,
            _ => "",
        },
        _ => "",
    }
}

/// The parts of an attribute.
pub(super) fn parts<'a, 'm>(attributes: &'a Attributes<'m>, name: &str) -> Lowered<&'a Attributes<'m>> {
    match attributes.get(name) {
        Some(Attribute::Parts(parts)) => Ok(parts),
        _ => Err(malformed!("its {name} are missing")),
    }
}
