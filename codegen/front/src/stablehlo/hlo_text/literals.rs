//! Literals in HLO's text: `{ {1, 2}, {3, 4} }`, `-inf`, `(1, 0)`, tuples of them.

use super::shapes::skip_to;
use crate::stablehlo::module::{Dense, Element, Tensor, Type};
use crate::stablehlo::scanner::{Parsed, Scanner};
use crate::stablehlo::text::bits_of;
use std::borrow::Cow;

/// Reads the literal of a type: a tensor for each value that it is when tuples are taken apart.
pub(super) fn literal<'m>(scan: &mut Scanner<'m>, ty: &Type, into: &mut Vec<Dense<'m>>) -> Parsed<()> {
    match ty {
        Type::Tuple(parts) => {
            scan.wants("(")?;
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    scan.wants(",")?;
                }
                literal(scan, part, into)?;
            }
            scan.wants(")")
        }
        Type::Tensor(tensor) => {
            into.push(array(scan, tensor)?);
            Ok(())
        }
        Type::Token | Type::Other => scan.broken("a constant is no array"),
    }
}

fn array<'m>(scan: &mut Scanner<'m>, tensor: &Tensor) -> Parsed<Dense<'m>> {
    let at = scan.at();
    if let (None, Element::Other(name)) = (tensor.element.bytes(), &tensor.element) {
        let help = "export the model with elements of pred, integers, f16, bf16, f32 or f64";
        return scan.unsupported(at, format!("constants with elements of {name} are not read"), help);
    }
    // Old versions write the shape once more.
    if !scan.word().is_empty() && scan.joins("[") {
        skip_to(scan, "]")?;
        if scan.joins("{") {
            skip_to(scan, "}")?;
        }
    } else {
        scan.jump(at);
    }
    let mut bytes = Vec::new();
    let splat = !scan.sees("{");
    if tensor.shape.contains(&Some(0)) {
        if scan.takes("{") {
            skip_to(scan, "}")?;
        }
    } else {
        nested(scan, tensor, 0, &mut bytes)?;
    }
    scan.charge(16 * tensor.shape.len() + size_of::<Dense<'_>>())?;
    Ok(Dense { ty: Type::Tensor(tensor.clone()), bytes: Cow::Owned(bytes), splat })
}

fn nested(scan: &mut Scanner<'_>, tensor: &Tensor, depth: usize, bytes: &mut Vec<u8>) -> Parsed<()> {
    let Some(&size) = tensor.shape.get(depth) else { return element(scan, &tensor.element, bytes) };
    scan.enter()?;
    let at = scan.at();
    scan.wants("{")?;
    if scan.sees("...") {
        return scan.unsupported(
            at,
            "the elements of a constant are left out",
            "print the text with all constants: with print_large_constants, in JAX as MLIR or with jax.export",
        );
    }
    let mut length = 0;
    scan.list("}", |scan| {
        length += 1;
        nested(scan, tensor, depth + 1, bytes)
    })?;
    if size != Some(length) {
        return scan.broken_at(at, format!("a list of {length} elements is not what the shape says"));
    }
    scan.leave();
    Ok(())
}

fn element(scan: &mut Scanner<'_>, element: &Element, bytes: &mut Vec<u8>) -> Parsed<()> {
    if let Element::Complex(bits) = element {
        scan.wants("(")?;
        self::element(scan, &Element::Float(*bits), bytes)?;
        scan.wants(",")?;
        self::element(scan, &Element::Float(*bits), bytes)?;
        return scan.wants(")");
    }
    scan.space();
    let at = scan.at();
    let token = scan.run(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte));
    // The payload of a NaN.
    if token.ends_with("nan") && scan.joins("(") {
        skip_to(scan, ")")?;
    }
    let width = element.bytes().unwrap_or(0);
    scan.charge(width)?;
    match bits_of(element, token) {
        Some(bits) => bytes.extend_from_slice(&bits.to_le_bytes()[..width]),
        None => return scan.broken_at(at, format!("\"{token}\" is no element of such an array")),
    }
    Ok(())
}
