//! Attributes in MLIR's text.

use super::dense::bits_of;
use super::Reader;
use crate::stablehlo::module::{Attribute, Attributes, Dense, Element, Type};
use crate::stablehlo::scanner::{integer, Parsed};
use std::borrow::Cow;

/// What is charged for an attribute with its name.
const ATTRIBUTE: usize = size_of::<(Cow<'_, str>, Attribute<'_>)>();

impl<'m> Reader<'m> {
    /// Reads a dictionary into attributes, if one is next.
    pub(super) fn dictionary(&mut self, into: &mut Attributes<'m>) -> Parsed<()> {
        match self.scan.takes("{") {
            true => self.entries("}", into),
            false => Ok(()),
        }
    }

    /// Entries of a dictionary, up to its end.
    pub(super) fn entries(&mut self, close: &str, into: &mut Attributes<'m>) -> Parsed<()> {
        if self.scan.takes(close) {
            return Ok(());
        }
        loop {
            let at = self.scan.at();
            let key = match self.scan.peek() {
                b'"' => self.scan.string()?,
                _ => Cow::Borrowed(self.scan.word()),
            };
            if key.is_empty() {
                return self.scan.broken_at(at, "the name of an attribute is wanted here");
            }
            let value = match self.scan.takes("=") {
                false => Attribute::Unit,
                true if key == "function_type" => {
                    self.signature_of_function = Some(self.signature()?);
                    Attribute::Type(Type::Other)
                }
                // Constants stay tensors; what says how to compute is lists of integers.
                true if key == "value" => self.attribute()?,
                true => {
                    let value = self.attribute()?;
                    self.settled(value)?
                }
            };
            self.add(into, key, value)?;
            if self.scan.takes(close) {
                return Ok(());
            }
            self.scan.wants(",")?;
        }
    }

    /// Adds an attribute.
    pub(super) fn add(
        &mut self,
        into: &mut Attributes<'m>,
        key: impl Into<Cow<'m, str>>,
        value: Attribute<'m>,
    ) -> Parsed<()> {
        self.scan.charge(ATTRIBUTE)?;
        into.0.push((key.into(), value));
        Ok(())
    }

    /// Tensors of integers as lists of them.
    pub(super) fn settled(&mut self, attribute: Attribute<'m>) -> Parsed<Attribute<'m>> {
        match attribute {
            Attribute::Dense(dense) => self.integers_of(dense),
            Attribute::List(list) => {
                let settled: Parsed<Vec<_>> = list.into_iter().map(|each| self.settled(each)).collect();
                Ok(Attribute::List(settled?))
            }
            other => Ok(other),
        }
    }

    fn integers_of(&mut self, dense: Dense<'m>) -> Parsed<Attribute<'m>> {
        let Type::Tensor(tensor) = &dense.ty else { return Ok(Attribute::Dense(dense)) };
        let is_signed = matches!(tensor.element, Element::Signed(_) | Element::Index);
        if !is_signed && !matches!(tensor.element, Element::Bool | Element::Unsigned(_)) {
            return Ok(Attribute::Dense(dense));
        }
        let count = self.count(tensor)?;
        self.scan.charge(count.saturating_mul(8))?;
        let width = tensor.element.bytes().unwrap_or(1);
        let mut integers: Vec<i64> = Vec::with_capacity(count);
        for bytes in dense.bytes.chunks_exact(width) {
            let is_negative = is_signed && bytes.last().is_some_and(|&byte| byte >= 128);
            let mut wide = [if is_negative { 255 } else { 0 }; 8];
            wide[..width].copy_from_slice(bytes);
            integers.push(i64::from_le_bytes(wide));
        }
        if let (true, Some(&only)) = (dense.splat, integers.first()) {
            integers.resize(count, only);
        }
        Ok(Attribute::Ints(integers))
    }

    /// Reads an attribute.
    pub(super) fn attribute(&mut self) -> Parsed<Attribute<'m>> {
        self.scan.enter()?;
        let attribute = self.any_attribute()?;
        self.scan.leave();
        Ok(attribute)
    }

    fn any_attribute(&mut self) -> Parsed<Attribute<'m>> {
        self.scan.space();
        let start = self.scan.at();
        match self.scan.peek() {
            b'"' => {
                let text = self.scan.string()?;
                if self.scan.takes(":") {
                    self.ty()?;
                }
                Ok(Attribute::Text(text))
            }
            b'@' => self.symbol().map(Attribute::Text),
            b'[' => {
                self.scan.wants("[")?;
                self.attributes_up_to("]").map(Attribute::List)
            }
            b'{' => {
                let mut parts = Attributes::default();
                self.dictionary(&mut parts)?;
                Ok(Attribute::Parts(parts))
            }
            b'#' => self.attribute_of_a_dialect(),
            b'!' | b'(' => self.ty().map(Attribute::Type),
            b'-' | b'0'..=b'9' => self.number(),
            _ => match self.scan.peek_word() {
                "" => self.scan.broken("an attribute is wanted here"),
                "true" => self.word_for(Attribute::Bool(true)),
                "false" => self.word_for(Attribute::Bool(false)),
                "unit" => self.word_for(Attribute::Unit),
                "dense" => {
                    self.scan.word();
                    self.dense().map(Attribute::Dense)
                }
                "dense_resource" => {
                    self.scan.word();
                    self.dense_resource().map(Attribute::Dense)
                }
                "array" => {
                    self.scan.word();
                    self.array()
                }
                "loc" => {
                    let location = self.location()?;
                    Ok(Attribute::Text(location.map(|(text, _)| text).unwrap_or_default()))
                }
                "sparse" => self.scan.unsupported(
                    start,
                    "a constant is sparse",
                    "export the model with dense constants",
                ),
                "affine_map" | "affine_set" | "strided" | "distinct" | "opaque" => {
                    self.scan.word();
                    while self.scan.sees("<") || self.scan.sees("[") {
                        self.scan.balanced()?;
                    }
                    Ok(self.as_written(start))
                }
                _ => self.ty().map(Attribute::Type),
            },
        }
    }

    pub(super) fn word_for(&mut self, attribute: Attribute<'m>) -> Parsed<Attribute<'m>> {
        self.scan.word();
        Ok(attribute)
    }

    /// What has been read since a place, as it is written.
    pub(super) fn as_written(&self, start: usize) -> Attribute<'m> {
        Attribute::Text(Cow::Borrowed(self.scan.between(start, self.scan.at())))
    }

    fn attributes_up_to(&mut self, close: &str) -> Parsed<Vec<Attribute<'m>>> {
        let mut list = Vec::new();
        if self.scan.takes(close) {
            return Ok(list);
        }
        loop {
            self.scan.charge(size_of::<Attribute<'_>>())?;
            list.push(self.attribute()?);
            if self.scan.takes(close) {
                return Ok(list);
            }
            self.scan.wants(",")?;
        }
    }

    /// Reads `@name`, also `@"name"` and `@outer::@inner`.
    pub(super) fn symbol(&mut self) -> Parsed<Cow<'m, str>> {
        let start = self.scan.at();
        self.scan.wants("@")?;
        let name = match self.scan.peek() {
            b'"' => self.scan.string()?,
            _ => Cow::Borrowed(self.scan.run(|byte| byte.is_ascii_alphanumeric() || b"_$.-".contains(&byte))),
        };
        if name.is_empty() {
            return self.scan.broken_at(start, "a name is wanted behind @");
        }
        match self.scan.joins("::") {
            // Only the innermost name is defined in a module.
            true => {
                self.scan.enter()?;
                let inner = self.symbol();
                self.scan.leave();
                inner
            }
            false => Ok(name),
        }
    }

    /// A number with its type.
    fn number(&mut self) -> Parsed<Attribute<'m>> {
        let at = self.scan.at();
        let number = self.scan.number()?;
        let element = match self.scan.takes(":") {
            true => match self.ty()? {
                Type::Tensor(tensor) => Some(tensor.element),
                _ => None,
            },
            false => None,
        };
        let value = match &element {
            Some(element @ (Element::Float(_) | Element::BFloat16)) => {
                let bits = bits_of(element, number);
                let wide = |bits: u64| match element {
                    Element::Float(16) => f64::from(crate::half::widen(bits as u16)),
                    Element::BFloat16 => f64::from(f32::from_bits((bits as u32) << 16)),
                    Element::Float(32) => f64::from(f32::from_bits(bits as u32)),
                    _ => f64::from_bits(bits),
                };
                bits.map(|bits| Attribute::Float(wide(bits)))
            }
            _ => match integer(number) {
                Some(integer) => Some(Attribute::Int(integer)),
                None => number.parse().ok().map(Attribute::Float),
            },
        };
        match value {
            Some(value) => Ok(value),
            None => self.scan.broken_at(at, format!("{number} is no number of its type")),
        }
    }

    /// What follows `array`.
    fn array(&mut self) -> Parsed<Attribute<'m>> {
        self.scan.wants("<")?;
        let element = match self.ty()? {
            Type::Tensor(tensor) => tensor.element,
            _ => Element::Other(String::new()),
        };
        let mut integers = Vec::new();
        let mut floats = Vec::new();
        let mut is_first = true;
        while !self.scan.takes(">") {
            self.scan.wants(if is_first { ":" } else { "," })?;
            is_first = false;
            match element {
                Element::Float(_) | Element::BFloat16 => {
                    self.scan.charge(size_of::<Attribute<'_>>())?;
                    floats.push(self.number()?);
                }
                _ => {
                    self.scan.charge(8)?;
                    integers.push(self.integer_or_truth()?);
                }
            }
        }
        match element {
            Element::Float(_) | Element::BFloat16 => Ok(Attribute::List(floats)),
            _ => Ok(Attribute::Ints(integers)),
        }
    }

    fn integer_or_truth(&mut self) -> Parsed<i64> {
        match self.scan.takes_word("true") {
            true => Ok(1),
            false if self.scan.takes_word("false") => Ok(0),
            false => self.scan.integer(),
        }
    }

    /// Integers and truth values in brackets, also in brackets of brackets, one behind the other.
    pub(super) fn integers(&mut self, into: &mut Vec<i64>) -> Parsed<()> {
        self.scan.enter()?;
        self.scan.wants("[")?;
        if !self.scan.takes("]") {
            loop {
                match self.scan.sees("[") {
                    true => self.integers(into)?,
                    false => {
                        self.scan.charge(8)?;
                        into.push(self.integer_or_truth()?);
                    }
                }
                if self.scan.takes("]") {
                    break;
                }
                self.scan.wants(",")?;
            }
        }
        self.scan.leave();
        Ok(())
    }
}
