//! Attributes of StableHLO's dialects with parts: `#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>`.

use super::Reader;
use crate::stablehlo::module::{Attribute, Attributes, CONVOLUTION};
use crate::stablehlo::scanner::{integer, Parsed};
use std::borrow::Cow;

impl<'m> Reader<'m> {
    /// An attribute whose name begins with `#`: of a dialect, or an alias.
    pub(super) fn attribute_of_a_dialect(&mut self) -> Parsed<Attribute<'m>> {
        let start = self.scan.at();
        self.scan.wants("#")?;
        let name = self.scan.word();
        if let Some(&at) = self.aliases.get(name) {
            let back = self.scan.at();
            self.scan.jump(at);
            let attribute = self.attribute()?;
            self.scan.jump(back);
            return Ok(attribute);
        }
        match name {
            "" => self.scan.broken_at(start, "a name is wanted behind #"),
            "stablehlo" | "chlo" | "mhlo" => {
                self.scan.wants("<")?;
                let _kind = self.scan.word();
                let value = match self.scan.sees("<") {
                    true => self.parts()?,
                    false => Attribute::Text(Cow::Borrowed(self.scan.word())),
                };
                self.scan.wants(">")?;
                Ok(value)
            }
            "stablehlo.conv" | "mhlo.conv" => {
                self.scan.wants("<")?;
                let dimensions = match self.scan.takes_word("raw") {
                    true => self.parts_up_to(">")?,
                    false => {
                        let dimensions = self.convolution_dimensions()?;
                        self.scan.wants(">")?;
                        dimensions
                    }
                };
                Ok(Attribute::Parts(dimensions))
            }
            _ if ["stablehlo.", "chlo.", "mhlo."].iter().any(|dialect| name.starts_with(dialect)) => {
                match self.scan.sees("<") {
                    true => self.parts(),
                    false => Ok(self.as_written(start)),
                }
            }
            _ if !name.contains('.') && !self.scan.sees("<") => {
                self.scan.broken_at(start, format!("the attribute #{name} is not defined"))
            }
            _ => {
                if self.scan.sees("<") {
                    self.scan.balanced()?;
                }
                Ok(self.as_written(start))
            }
        }
    }

    /// Parts of an attribute in `<` and `>`, or the only word in them.
    pub(super) fn parts(&mut self) -> Parsed<Attribute<'m>> {
        self.scan.wants("<")?;
        let start = self.scan.at();
        let word = self.scan.word();
        if !word.is_empty() && self.scan.takes(">") {
            return Ok(Attribute::Text(Cow::Borrowed(word)));
        }
        self.scan.jump(start);
        self.parts_up_to(">").map(Attribute::Parts)
    }

    fn parts_up_to(&mut self, close: &str) -> Parsed<Attributes<'m>> {
        let mut parts = Attributes::default();
        if self.scan.takes(close) {
            return Ok(parts);
        }
        loop {
            let key = self.scan.word();
            if key.is_empty() {
                return self.scan.broken("the name of an attribute's part is wanted here");
            }
            self.scan.wants("=")?;
            match self.part()? {
                // Printers leave out what is empty.
                Attribute::Ints(integers) if integers.is_empty() => {}
                value => self.add(&mut parts, key, value)?,
            }
            // A comma may stand behind the last part.
            let is_apart = self.scan.takes(",");
            if self.scan.takes(close) {
                return Ok(parts);
            }
            if !is_apart {
                return self.scan.broken(format!("\",\" or \"{close}\" is wanted here"));
            }
        }
    }

    /// The value of a part or of a clause: integers in brackets are a list of integers, and a word is a name.
    pub(super) fn part(&mut self) -> Parsed<Attribute<'m>> {
        self.scan.enter()?;
        let start = self.scan.at();
        let value = match self.scan.peek() {
            b'[' => {
                self.scan.wants("[")?;
                let first = self.scan.peek();
                self.scan.jump(start);
                match first {
                    b'-' | b'0'..=b'9' | b']' | b't' => {
                        let mut integers = Vec::new();
                        self.integers(&mut integers)?;
                        Attribute::Ints(integers)
                    }
                    _ if self.scan.sees("[false") => {
                        let mut integers = Vec::new();
                        self.integers(&mut integers)?;
                        Attribute::Ints(integers)
                    }
                    _ => {
                        self.scan.wants("[")?;
                        Attribute::List(self.parts_in_list()?)
                    }
                }
            }
            b'<' => self.parts()?,
            // What stands behind a number here is not its type.
            b'-' | b'0'..=b'9' => {
                let number = self.scan.number()?;
                match integer(number) {
                    Some(integer) => Attribute::Int(integer),
                    None => match number.parse() {
                        Ok(float) => Attribute::Float(float),
                        Err(_) => return self.scan.broken_at(start, "a number is wanted here"),
                    },
                }
            }
            _ => match self.scan.peek_word() {
                "" => self.attribute()?,
                "true" => self.word_for(Attribute::Bool(true))?,
                "false" => self.word_for(Attribute::Bool(false))?,
                "dense" | "array" | "dense_resource" => {
                    let value = self.attribute()?;
                    self.settled(value)?
                }
                word => self.word_for(Attribute::Text(Cow::Borrowed(word)))?,
            },
        };
        self.scan.leave();
        Ok(value)
    }

    fn parts_in_list(&mut self) -> Parsed<Vec<Attribute<'m>>> {
        let mut list = Vec::new();
        loop {
            self.scan.charge(size_of::<Attribute<'_>>())?;
            list.push(self.part()?);
            if self.scan.takes("]") {
                return Ok(list);
            }
            self.scan.wants(",")?;
        }
    }

    /// Dimensions of a convolution: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn convolution_dimensions(&mut self) -> Parsed<Attributes<'m>> {
        let mut parts = Attributes::default();
        for (index, (names, letters)) in CONVOLUTION.chunks_exact(3).zip(["bf", "io", "bf"]).enumerate() {
            match index {
                0 => {}
                1 => self.scan.wants("x")?,
                _ => self.scan.wants("->")?,
            }
            let at = self.scan.at();
            let (mut of_letters, mut spatial) = ([None; 2], Vec::new());
            let mut position = 0;
            self.scan.wants("[")?;
            self.scan.list("]", |scan| {
                let found = match scan.word() {
                    "" if scan.takes("?") => None,
                    "" => {
                        scan.charge(32)?;
                        let at = scan.at();
                        spatial.push((scan.integer()?, position));
                        if spatial.len() > 64 {
                            return scan.broken_at(at, "a convolution has too many dimensions");
                        }
                        None
                    }
                    word => match letters.find(word).and_then(|letter| of_letters.get_mut(letter)) {
                        Some(found) if word.len() == 1 && found.is_none() => Some(found),
                        _ => return scan.broken(format!("{word} is no dimension of a convolution here")),
                    },
                };
                if let Some(found) = found {
                    *found = Some(position);
                }
                position += 1;
                Ok(())
            })?;
            spatial.sort_unstable();
            let is_counted = spatial.iter().zip(0..).all(|((number, _), count)| *number == count);
            let (true, [Some(first), Some(second)]) = (is_counted, of_letters) else {
                return self.scan.broken_at(at, "the dimensions of a convolution are not complete");
            };
            let spatial = spatial.into_iter().map(|(_, position)| position).collect();
            self.add(&mut parts, names[0], Attribute::Int(first))?;
            self.add(&mut parts, names[1], Attribute::Int(second))?;
            self.add(&mut parts, names[2], Attribute::Ints(spatial))?;
        }
        Ok(parts)
    }
}
