//! Elements of tensors in MLIR's text: `dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>`, `dense<"0x0000803F">`, `dense_resource<name>`.

use super::Reader;
use crate::half::narrow;
use crate::stablehlo::module::{Dense, Element, Tensor, Type};
use crate::stablehlo::scanner::{integer, Parsed};
use std::borrow::Cow;

/// The way out for types of elements that are not known.
const OTHER_ELEMENTS: &str = "export the model with elements of bool, integers, f16, bf16, f32 or f64";

impl<'m> Reader<'m> {
    /// Reads what follows `dense`.
    pub(super) fn dense(&mut self) -> Parsed<Dense<'m>> {
        self.scan.space();
        let literal = self.scan.at();
        // The type behind the elements says how they are read.
        self.scan.balanced()?;
        let (ty, tensor) = self.dense_type()?;
        let end = self.scan.at();
        self.scan.jump(literal);
        self.scan.wants("<")?;
        let (bytes, splat) = match self.scan.peek() {
            b'"' => self.hexadecimal(&tensor)?,
            b'>' => (Vec::new(), false),
            b'[' => (self.listed(&tensor)?, false),
            _ => {
                let mut bytes = Vec::new();
                self.push_element(&tensor.element, &mut bytes)?;
                (bytes, true)
            }
        };
        self.scan.wants(">")?;
        let width = tensor.element.bytes().unwrap_or(0);
        if !splat && Some(bytes.len()) != self.count(&tensor)?.checked_mul(width) {
            let what = "the elements of a tensor are not as many as its type says";
            return self.scan.broken_at(literal, what);
        }
        self.scan.jump(end);
        Ok(Dense { ty, bytes: Cow::Owned(bytes), splat })
    }

    /// Reads what follows `dense_resource`: a name whose bytes stand at the end of the text.
    pub(super) fn dense_resource(&mut self) -> Parsed<Dense<'m>> {
        self.scan.wants("<")?;
        let at = self.scan.at();
        let name = match self.scan.peek() {
            b'"' => self.scan.string()?,
            _ => Cow::Borrowed(self.scan.word()),
        };
        self.scan.wants(">")?;
        let (ty, tensor) = self.dense_type()?;
        if name == "__elided__" {
            let help = "print the text with all constants: without mlir-elide-elementsattrs-if-larger";
            return self.scan.unsupported(at, "the elements of a constant are left out", help);
        }
        let Some(&resource) = self.resources.get(&*name) else {
            return self.scan.broken_at(at, format!("the resource {name} is not in the text"));
        };
        let end = self.scan.at();
        self.scan.jump(resource);
        let text = self.scan.string()?;
        // The first four bytes say how the others are aligned.
        let Some(digits) = text.strip_prefix("0x").and_then(|digits| digits.get(8..)) else {
            return self.scan.broken_at(resource, "a resource has no bytes");
        };
        let (bytes, splat) = self.raw(digits, resource, &tensor)?;
        self.scan.jump(end);
        Ok(Dense { ty, bytes: Cow::Owned(bytes), splat })
    }

    /// The type behind elements.
    fn dense_type(&mut self) -> Parsed<(Type, Tensor)> {
        self.scan.wants(":")?;
        let at = self.scan.at();
        let ty = self.ty()?;
        let Type::Tensor(tensor) = &ty else {
            return self.scan.unsupported(
                at,
                "a constant is no tensor",
                "export the model with constants that are tensors",
            );
        };
        if let (None, Element::Other(name)) = (tensor.element.bytes(), &tensor.element) {
            let what = format!("constants with elements of {name} are not read");
            return self.scan.unsupported(at, what, OTHER_ELEMENTS);
        }
        let tensor = tensor.clone();
        Ok((ty, tensor))
    }

    /// How many elements a tensor has.
    pub(super) fn count(&self, tensor: &Tensor) -> Parsed<usize> {
        // A tensor with a size of 0 has no elements, whatever the others are.
        if tensor.shape.contains(&Some(0)) {
            return Ok(0);
        }
        let count = tensor.shape.iter().try_fold(1usize, |count, size| count.checked_mul((*size)?));
        match count {
            Some(count) => Ok(count),
            None => self.scan.broken("a constant has more elements than can be, or a size that is open"),
        }
    }

    /// Elements as the digits of their bytes.
    fn hexadecimal(&mut self, tensor: &Tensor) -> Parsed<(Vec<u8>, bool)> {
        let at = self.scan.at();
        let text = self.scan.string()?;
        let Some(digits) = text.strip_prefix("0x") else {
            return self.scan.broken_at(at, "elements in quotation marks begin with 0x");
        };
        self.raw(digits, at, tensor)
    }

    fn raw(&mut self, digits: &str, at: usize, tensor: &Tensor) -> Parsed<(Vec<u8>, bool)> {
        self.scan.charge(digits.len() / 2)?;
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let pairs = digits.as_bytes().chunks_exact(2);
        let is_odd = !pairs.remainder().is_empty();
        let bytes: Option<Vec<u8>> =
            pairs.map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect();
        let Some(mut bytes) = bytes.filter(|_| !is_odd) else {
            return self.scan.broken_at(at, "the elements are no pairs of hexadecimal digits");
        };
        let count = self.count(tensor)?;
        let width = tensor.element.bytes().unwrap_or(0);
        if tensor.element == Element::Bool {
            // Versions of MLIR differ in whether eight of them are in a byte.
            match bytes.len() {
                // One for all, unless it is up to eight of them.
                1 if count <= 1 || count > 8 || matches!(bytes[0], 0 | 1 | 255) => {
                    return Ok((vec![u8::from(bytes[0] != 0)], count != 1));
                }
                length if length == count => bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0)),
                length if length == count.div_ceil(8) => {
                    self.scan.charge(count)?;
                    bytes = (0..count).map(|index| bytes[index / 8] >> (index % 8) & 1).collect();
                }
                _ => {}
            }
        }
        match bytes.len() {
            length if Some(length) == count.checked_mul(width) => Ok((bytes, false)),
            length if length == width => Ok((bytes, true)),
            length => {
                let what = format!("{length} bytes are not the elements that the type says");
                self.scan.broken_at(at, what)
            }
        }
    }

    /// Elements in lists, one in another for each dimension.
    fn listed(&mut self, tensor: &Tensor) -> Parsed<Vec<u8>> {
        let mut bytes = Vec::new();
        self.listed_at(tensor, 0, &mut bytes)?;
        Ok(bytes)
    }

    fn listed_at(&mut self, tensor: &Tensor, depth: usize, bytes: &mut Vec<u8>) -> Parsed<()> {
        self.scan.enter()?;
        let at = self.scan.at();
        let Some(&size) = tensor.shape.get(depth) else {
            return self.scan.broken_at(at, "elements are in more lists than the type has dimensions");
        };
        self.scan.wants("[")?;
        let mut length = 0;
        let is_last = depth + 1 == tensor.shape.len();
        if !self.scan.takes("]") {
            loop {
                self.scan.step()?;
                match is_last {
                    true => self.push_element(&tensor.element, bytes)?,
                    false => self.listed_at(tensor, depth + 1, bytes)?,
                }
                length += 1;
                if self.scan.takes("]") {
                    break;
                }
                self.scan.wants(",")?;
            }
        }
        if size != Some(length) {
            return self.scan.broken_at(at, format!("a list of {length} elements is not what the type says"));
        }
        self.scan.leave();
        Ok(())
    }

    /// Reads one element.
    fn push_element(&mut self, element: &Element, bytes: &mut Vec<u8>) -> Parsed<()> {
        self.scan.space();
        let at = self.scan.at();
        match element {
            Element::Complex(bits) => {
                self.scan.wants("(")?;
                self.push_element(&Element::Float(*bits), bytes)?;
                self.scan.wants(",")?;
                self.push_element(&Element::Float(*bits), bytes)?;
                return self.scan.wants(")");
            }
            Element::Quantised(quantised) => return self.push_element(&quantised.storage, bytes),
            _ => {}
        }
        let token = match self.scan.word() {
            "" => self.scan.number()?,
            word => word,
        };
        let width = element.bytes().unwrap_or(0);
        self.scan.charge(width)?;
        match bits_of(element, token) {
            Some(bits) => bytes.extend_from_slice(&bits.to_le_bytes()[..width]),
            None => return self.scan.broken_at(at, format!("{token} is no element of such a tensor")),
        }
        Ok(())
    }
}

/// The bits of an element as it is written.
pub(in crate::stablehlo) fn bits_of(element: &Element, token: &str) -> Option<u64> {
    let fits = |value: i64, least: i64, most: i64| (least..=most).contains(&value).then_some(value as u64);
    match (element, token) {
        (_, "true") => return (*element == Element::Bool).then_some(1),
        (_, "false") => return (*element == Element::Bool).then_some(0),
        _ => {}
    }
    // Floats in hexadecimal digits are their bits.
    let digits = token.strip_prefix("0x");
    let float = |bits: u32, value: fn(f64) -> u64| match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|value| bits == 64 || value >> bits == 0),
        None => Some(value(token.parse().ok()?)),
    };
    match element {
        Element::Bool => fits(integer(token)?, -1, 1).map(|value| value & 1),
        Element::Index => integer(token).map(|value| value as u64),
        Element::Signed(64) | Element::Unsigned(64) => integer(token).map(|value| value as u64),
        Element::Signed(bits) => {
            // In hexadecimal digits, they are bits.
            let most = (1i64 << if digits.is_some() { *bits } else { bits - 1 }) - 1;
            let value = fits(integer(token)?, -(1i64 << (bits - 1)), most)?;
            Some(match *bits {
                bits @ ..=7 => ((value as i64) << (64 - bits) >> (64 - bits)) as u64,
                _ => value,
            })
        }
        Element::Unsigned(bits) => fits(integer(token)?, 0, (1i64 << bits) - 1),
        Element::Float(16) => float(16, |value| narrow(value, 5, 10)),
        Element::BFloat16 => float(16, |value| narrow(value, 8, 7)),
        Element::Float(32) => float(32, |value| u64::from((value as f32).to_bits())),
        Element::Float(64) => float(64, f64::to_bits),
        _ => None,
    }
}
