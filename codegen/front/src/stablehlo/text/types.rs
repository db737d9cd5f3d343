//! Types in MLIR's text.

use super::Reader;
use crate::stablehlo::module::{Element, Quantised, Tensor, Type};
use crate::stablehlo::scanner::Parsed;

/// What is charged for a type and for each of its dimensions.
const TYPE: usize = 64;
const DIMENSION: usize = 16;

/// The type of elements with that name, unless it has parts.
pub(in crate::stablehlo) fn element_named(name: &str) -> Element {
    let bits = |prefix: &str| name.strip_prefix(prefix).and_then(|bits| bits.parse::<u8>().ok());
    match name {
        "i1" => Element::Bool,
        "bf16" => Element::BFloat16,
        "index" => Element::Index,
        _ => match (bits("i").or(bits("si")), bits("ui"), bits("f")) {
            (Some(bits @ (2 | 4 | 8 | 16 | 32 | 64)), ..) => Element::Signed(bits),
            (_, Some(bits @ (2 | 4 | 8 | 16 | 32 | 64)), _) => Element::Unsigned(bits),
            (.., Some(bits @ (16 | 32 | 64))) => Element::Float(bits),
            _ => Element::Other(name.to_owned()),
        },
    }
}

impl<'m> Reader<'m> {
    /// Reads a type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.scan.enter()?;
        let ty = self.any_type()?;
        self.scan.leave();
        Ok(ty)
    }

    fn any_type(&mut self) -> Parsed<Type> {
        self.scan.charge(TYPE)?;
        let start = self.scan.at();
        match self.scan.peek() {
            b'(' => {
                self.signature()?;
                return Ok(Type::Other);
            }
            b'!' => return self.type_of_a_dialect(),
            _ => {}
        }
        match self.scan.word() {
            "" => self.scan.broken_at(start, "a type is wanted here"),
            "tensor" => {
                self.scan.wants("<")?;
                let tensor = self.tensor()?;
                self.scan.wants(">")?;
                Ok(tensor)
            }
            "tuple" => {
                self.scan.wants("<")?;
                let mut parts = Vec::new();
                if !self.scan.takes(">") {
                    loop {
                        parts.push(self.ty()?);
                        if self.scan.takes(">") {
                            break;
                        }
                        self.scan.wants(",")?;
                    }
                }
                Ok(Type::Tuple(parts))
            }
            "vector" | "memref" => {
                self.scan.balanced()?;
                Ok(Type::Other)
            }
            "none" => Ok(Type::Other),
            name => Ok(Type::Tensor(Tensor { element: self.element(name)?, shape: Vec::new() })),
        }
    }

    /// A type whose name begins with `!`: of a dialect, or an alias.
    fn type_of_a_dialect(&mut self) -> Parsed<Type> {
        let start = self.scan.at();
        self.scan.wants("!")?;
        match self.scan.word() {
            "stablehlo.token" | "mhlo.token" => Ok(Type::Token),
            "quant.uniform" => {
                let element = self.quantised()?;
                Ok(Type::Tensor(Tensor { element, shape: Vec::new() }))
            }
            name if self.type_aliases.contains_key(name) => {
                let back = self.scan.at();
                let at = self.type_aliases.get(name).copied().unwrap_or_default();
                self.scan.jump(at);
                let ty = self.ty()?;
                self.scan.jump(back);
                Ok(ty)
            }
            name if name.contains('.') => {
                if self.scan.sees("<") {
                    self.scan.balanced()?;
                }
                Ok(Type::Other)
            }
            name => self.scan.broken_at(start, format!("the type !{name} is not defined")),
        }
    }

    /// A tensor's shape and elements.
    fn tensor(&mut self) -> Parsed<Type> {
        let mut shape = Vec::new();
        let start = self.scan.at();
        if self.scan.takes("*") {
            return self.scan.unsupported(
                start,
                "a tensor's rank is not known",
                "export the model with ranks of all tensors",
            );
        }
        loop {
            self.scan.space();
            let at = self.scan.at();
            let size = match self.scan.joins("?") {
                true => None,
                false => match self.scan.run(|byte| byte.is_ascii_digit()) {
                    "" => break,
                    digits => match digits.parse() {
                        Ok(size) => Some(size),
                        Err(_) => return self.scan.broken_at(at, "a dimension's size does not fit 64 bits"),
                    },
                },
            };
            if !self.scan.joins("x") {
                return self.scan.broken("\"x\" is wanted here");
            }
            self.scan.charge(DIMENSION)?;
            shape.push(size);
        }
        let element = match self.scan.peek() {
            b'!' => match self.type_of_a_dialect()? {
                Type::Tensor(tensor) if tensor.shape.is_empty() => tensor.element,
                _ => Element::Other("another dialect".to_owned()),
            },
            _ => {
                let name = self.scan.word();
                self.element(name)?
            }
        };
        // An encoding, such as bounds of sizes.
        if self.scan.takes(",") {
            if self.scan.takes("#") {
                self.scan.word();
            }
            if !self.scan.sees(">") {
                self.scan.balanced()?;
            }
        }
        Ok(Type::Tensor(Tensor { element, shape }))
    }

    /// Elements of a type with that name, which has been read.
    fn element(&mut self, name: &str) -> Parsed<Element> {
        if name.is_empty() {
            return self.scan.broken("a type of elements is wanted here");
        }
        if name != "complex" {
            self.scan.charge(name.len())?;
            return Ok(element_named(name));
        }
        self.scan.wants("<")?;
        let at = self.scan.at();
        let part = element_named(self.scan.word());
        self.scan.wants(">")?;
        match part {
            Element::Float(bits @ (32 | 64)) => Ok(Element::Complex(bits)),
            _ => self.scan.broken_at(at, "complex numbers have parts of f32 or f64"),
        }
    }

    /// `<i8<-127:127>:f32:0, {0.5:3, 0.25}>`.
    fn quantised(&mut self) -> Parsed<Element> {
        let start = self.scan.at();
        self.scan.wants("<")?;
        let at = self.scan.at();
        let storage = match self.scan.word() {
            name if name.starts_with('u') => {
                element_named(&format!("ui{}", name.trim_start_matches(['u', 'i'])))
            }
            name => element_named(name),
        };
        let (least, most) = match storage {
            Element::Signed(bits @ ..=32) => (-(1i64 << (bits - 1)), (1 << (bits - 1)) - 1),
            Element::Unsigned(bits @ ..=32) => (0, (1 << bits) - 1),
            _ => return self.scan.broken_at(at, "quantised numbers are stored in integers of up to 32 bits"),
        };
        let mut range = (least, most);
        if self.scan.takes("<") {
            range.0 = self.scan.integer()?;
            self.scan.wants(":")?;
            range.1 = self.scan.integer()?;
            self.scan.wants(">")?;
            if range.0 > range.1 || range.0 < least || range.1 > most {
                return self.scan.broken_at(at, "the range of quantised numbers is outside of their storage");
            }
        }
        self.scan.wants(":")?;
        let expressed = element_named(self.scan.word());
        let mut dimension = None;
        if self.scan.takes(":") {
            if self.scan.sees("{") {
                return self.scan.unsupported(
                    start,
                    "scales differ by blocks of a dimension",
                    "quantise the model with a scale for each tensor or channel",
                );
            }
            let at = self.scan.at();
            let Ok(index) = usize::try_from(self.scan.integer()?) else {
                return self.scan.broken_at(at, "a dimension is wanted here");
            };
            dimension = Some(index);
        }
        self.scan.wants(",")?;
        let mut scales = Vec::new();
        match dimension {
            None => scales.push(self.scale()?),
            Some(_) => {
                self.scan.wants("{")?;
                loop {
                    self.scan.charge(16)?;
                    scales.push(self.scale()?);
                    if self.scan.takes("}") {
                        break;
                    }
                    self.scan.wants(",")?;
                }
            }
        }
        self.scan.wants(">")?;
        self.scan.charge(size_of::<Quantised>())?;
        Ok(Element::Quantised(Box::new(Quantised { storage, range, expressed, dimension, scales })))
    }

    /// A scale with its zero point.
    fn scale(&mut self) -> Parsed<(f64, i64)> {
        let at = self.scan.at();
        let number = self.scan.number()?;
        let Ok(scale) = number.parse::<f64>() else {
            return self.scan.broken_at(at, "a scale is wanted here");
        };
        let zero = if self.scan.takes(":") { self.scan.integer()? } else { 0 };
        Ok((scale, zero))
    }

    /// Reads `(types) -> types`.
    pub(super) fn signature(&mut self) -> Parsed<(Vec<Type>, Vec<Type>)> {
        let operands = self.types_in_brackets()?;
        self.scan.wants("->")?;
        let results = match self.scan.sees("(") {
            true => self.types_in_brackets()?,
            false => vec![self.ty()?],
        };
        Ok((operands, results))
    }

    pub(super) fn types_in_brackets(&mut self) -> Parsed<Vec<Type>> {
        let mut types = Vec::new();
        self.scan.wants("(")?;
        if self.scan.takes(")") {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            if self.scan.takes(")") {
                return Ok(types);
            }
            self.scan.wants(",")?;
        }
    }
}
