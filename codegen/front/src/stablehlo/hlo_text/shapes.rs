//! Shapes in HLO's text: `f32[2,3]{1,0}`, `(s32[], pred[4])`, `token[]`. How elements lie in memory is not kept: no operation depends on it.

use crate::stablehlo::module::{Element, Tensor, Type};
use crate::stablehlo::scanner::{Parsed, Scanner};

/// What is charged for a dimension.
const DIMENSION: usize = size_of::<Option<usize>>();

/// The type of elements with that name.
fn element(name: &str) -> Element {
    let bits = |prefix: char| name.strip_prefix(prefix).and_then(|bits| bits.parse::<u8>().ok());
    match (name, bits('s'), bits('u'), bits('f')) {
        ("pred", ..) => Element::Bool,
        ("bf16", ..) => Element::BFloat16,
        ("c64", ..) => Element::Complex(32),
        ("c128", ..) => Element::Complex(64),
        (_, Some(bits @ (2 | 4 | 8 | 16 | 32 | 64)), ..) => Element::Signed(bits),
        (_, _, Some(bits @ (2 | 4 | 8 | 16 | 32 | 64)), _) => Element::Unsigned(bits),
        (.., Some(bits @ (16 | 32 | 64))) => Element::Float(bits),
        _ => Element::Other(name.to_owned()),
    }
}

/// Reads a shape.
pub(super) fn shape(scan: &mut Scanner<'_>) -> Parsed<Type> {
    scan.enter()?;
    let ty = match scan.takes("(") {
        true => {
            let mut parts = Vec::new();
            scan.list(")", |scan| {
                scan.charge(size_of::<Type>())?;
                parts.push(shape(scan)?);
                Ok(())
            })?;
            Type::Tuple(parts)
        }
        false => {
            let at = scan.at();
            let name = scan.word();
            if name.is_empty() || !scan.joins("[") {
                return scan.broken_at(at, "a shape is wanted here");
            }
            array(scan, name)?
        }
    };
    scan.leave();
    Ok(ty)
}

/// The dimensions and the layout of an array, behind the bracket.
fn array(scan: &mut Scanner<'_>, name: &str) -> Parsed<Type> {
    let mut sizes = Vec::new();
    scan.list("]", |scan| {
        scan.charge(DIMENSION)?;
        let at = scan.at();
        // A size with a bound is known only when the model runs.
        let is_open = scan.takes("<=") || scan.takes("?");
        let digits = scan.peek().is_ascii_digit();
        if is_open && !digits {
            sizes.push(None);
            return Ok(());
        }
        match usize::try_from(scan.integer()?) {
            Ok(size) => sizes.push((!is_open).then_some(size)),
            Err(_) => return scan.broken_at(at, "a size is negative"),
        }
        Ok(())
    })?;
    if scan.joins("{") {
        skip_to(scan, "}")?;
    }
    scan.charge(name.len())?;
    Ok(match name {
        "token" => Type::Token,
        "opaque" => Type::Other,
        name => Type::Tensor(Tensor { element: element(name), shape: sizes }),
    })
}

/// Leaves out what is up to a closing bracket, with the brackets inside.
pub(super) fn skip_to(scan: &mut Scanner<'_>, close: &str) -> Parsed<()> {
    scan.enter()?;
    loop {
        scan.step()?;
        match scan.peek() {
            0 if scan.ends() => return scan.broken(format!("\"{close}\" is wanted before the end")),
            b'"' => {
                scan.string()?;
            }
            b'(' => {
                scan.takes("(");
                skip_to(scan, ")")?;
            }
            b'[' => {
                scan.takes("[");
                skip_to(scan, "]")?;
            }
            b'{' => {
                scan.takes("{");
                skip_to(scan, "}")?;
            }
            _ if scan.takes(close) => break,
            _ => scan.advance(),
        }
    }
    scan.leave();
    Ok(())
}

/// How many values a type is when tuples are taken apart.
pub(super) fn leaves(ty: &Type) -> usize {
    match ty {
        Type::Tuple(parts) => parts.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// The types of these values.
pub(super) fn flat(ty: &Type, into: &mut Vec<Type>) {
    match ty {
        Type::Tuple(parts) => parts.iter().for_each(|part| flat(part, into)),
        other => into.push(other.clone()),
    }
}
