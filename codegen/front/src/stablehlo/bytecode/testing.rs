//! Little files of bytecode for tests.

use super::known::known;

/// A number as bytecode has it.
pub(super) fn number(value: u64) -> Vec<u8> {
    let bits = 64 - value.leading_zeros() as usize;
    match bits.max(1).div_ceil(7) {
        bytes @ ..=8 => (value << bytes | 1 << (bytes - 1)).to_le_bytes()[..bytes].to_vec(),
        _ => [&[0], &value.to_le_bytes()[..]].concat(),
    }
}

/// Numbers, one after the other.
pub(super) fn numbers(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|&value| number(value)).collect()
}

/// A number with a sign.
pub(super) fn signed(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The dialects of every file.
const DIALECTS: [&str; 3] = ["builtin", "vhlo", "other"];
pub(super) const BUILTIN: usize = 0;
pub(super) const VHLO: usize = 1;
pub(super) const OTHER: usize = 2;

/// A file that is being written. Numbers of attributes and types are those in the order in which they are added.
pub(super) struct Draft {
    pub(super) version: u64,
    strings: Vec<Vec<u8>>,
    names: Vec<(usize, u64)>,
    attributes: Vec<(usize, Vec<u8>)>,
    types: Vec<(usize, Vec<u8>)>,
    properties: Vec<Vec<u8>>,
    functions: Vec<Vec<u8>>,
    unknown: u64,
    /// The location of arguments.
    pub(super) argument: Option<u64>,
}

/// An operation that is being written: attributes by name, types of results, numbers of operands, regions.
#[derive(Default)]
pub(super) struct Op<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: Vec<(&'a str, u64)>,
    pub(super) results: Vec<u64>,
    pub(super) operands: Vec<u64>,
    pub(super) regions: Vec<Vec<u8>>,
    pub(super) is_isolated: bool,
    pub(super) location: Option<u64>,
}

impl Draft {
    pub(super) fn new(version: u64) -> Self {
        let mut draft = Draft {
            version,
            strings: Vec::new(),
            names: Vec::new(),
            attributes: Vec::new(),
            types: Vec::new(),
            properties: Vec::new(),
            functions: Vec::new(),
            unknown: 0,
            argument: None,
        };
        draft.unknown = draft.attribute(BUILTIN, &[15]);
        draft
    }

    pub(super) fn string(&mut self, text: &str) -> u64 {
        if let Some(at) = self.strings.iter().position(|string| string == text.as_bytes()) {
            return at as u64;
        }
        self.strings.push(text.into());
        self.strings.len() as u64 - 1
    }

    /// An attribute of these numbers: its kind, and what follows.
    pub(super) fn attribute(&mut self, dialect: usize, values: &[u64]) -> u64 {
        self.attribute_of(dialect, numbers(values))
    }

    pub(super) fn attribute_of(&mut self, dialect: usize, bytes: Vec<u8>) -> u64 {
        self.attributes.push((dialect, bytes));
        self.attributes.len() as u64 - 1
    }

    pub(super) fn ty(&mut self, dialect: usize, values: &[u64]) -> u64 {
        self.types.push((dialect, numbers(values)));
        self.types.len() as u64 - 1
    }

    /// A text of VHLO.
    pub(super) fn text(&mut self, text: &str) -> u64 {
        let string = self.string(text);
        self.attribute(VHLO, &[14, string])
    }

    /// A location with a name.
    pub(super) fn place(&mut self, name: &str) -> u64 {
        let string = self.string(name);
        let name = self.attribute(BUILTIN, &[2, string]);
        self.attribute(BUILTIN, &[14, name, self.unknown])
    }

    /// A tensor's type with elements of the type with that number.
    pub(super) fn tensor(&mut self, shape: &[i64], element: u64) -> u64 {
        let shape = shape.iter().map(|&size| signed(size));
        let values: Vec<u64> = [20, shape.len() as u64].into_iter().chain(shape).chain([element]).collect();
        self.ty(VHLO, &values)
    }

    /// A tensor with that type.
    pub(super) fn dense(&mut self, ty: u64, bytes: &[u8]) -> u64 {
        let head = numbers(&[15, ty, bytes.len() as u64]);
        self.attribute_of(VHLO, [&head, bytes].concat())
    }

    /// A tensor of integers of 64 bits.
    pub(super) fn integers(&mut self, values: &[i64]) -> u64 {
        let element = self.ty(VHLO, &[14]);
        let ty = self.tensor(&[values.len() as i64], element);
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.dense(ty, &bytes)
    }

    /// The bytes of an operation.
    pub(super) fn op(&mut self, op: Op<'_>) -> Vec<u8> {
        let (dialect, name) = match op.name.split_once('.') {
            Some(("builtin", name)) => (BUILTIN, name),
            Some((_, name)) => (OTHER, name),
            None => (VHLO, op.name),
        };
        let string = self.string(name);
        self.names.push((dialect, string));
        let has_properties = self.version >= 5 && dialect == VHLO && !op.attributes.is_empty();
        let has_attributes = self.version < 5 && !op.attributes.is_empty();
        let mask = u8::from(has_attributes)
            | u8::from(!op.results.is_empty()) << 1
            | u8::from(!op.operands.is_empty()) << 2
            | u8::from(!op.regions.is_empty()) << 4
            | u8::from(has_properties) << 6;
        let mut bytes = number(self.names.len() as u64 - 1);
        bytes.push(mask);
        bytes.extend(number(op.location.unwrap_or(self.unknown)));
        if has_attributes {
            let mut values = vec![1, op.attributes.len() as u64];
            for (name, value) in &op.attributes {
                let string = self.string(name);
                values.extend([self.attribute(BUILTIN, &[2, string]), *value]);
            }
            bytes.extend(number(self.attribute(BUILTIN, &values)));
        }
        if has_properties {
            let order = known(name).map_or(&[][..], |known| known.attributes);
            let of = |name: &&str| op.attributes.iter().find(|(key, _)| key == name).expect(name).1;
            let values: Vec<u64> = order.iter().map(of).collect();
            self.properties.push(numbers(&values));
            bytes.extend(number(self.properties.len() as u64 - 1));
        }
        for list in [&op.results, &op.operands] {
            if !list.is_empty() {
                bytes.extend(number(list.len() as u64));
                bytes.extend(numbers(list));
            }
        }
        if !op.regions.is_empty() {
            bytes.extend(number((op.regions.len() as u64) << 1 | u64::from(op.is_isolated)));
            let regions = op.regions.concat();
            match op.is_isolated && self.version >= 2 {
                true => section(&mut bytes, 4, &regions),
                false => bytes.extend(regions),
            }
        }
        bytes
    }

    /// A region with so many values, of which these types are those of its arguments.
    pub(super) fn region(&self, values: u64, arguments: &[u64], operations: &[Vec<u8>]) -> Vec<u8> {
        let has_arguments = !arguments.is_empty();
        let mut bytes = numbers(&[1, values, (operations.len() as u64) << 1 | u64::from(has_arguments)]);
        if has_arguments {
            bytes.extend(number(arguments.len() as u64));
            for &argument in arguments {
                match (self.version, self.argument) {
                    (0..=3, _) => bytes.extend(numbers(&[argument, self.argument.unwrap_or(self.unknown)])),
                    (_, None) => bytes.extend(number(argument << 1)),
                    (_, Some(location)) => bytes.extend(numbers(&[argument << 1 | 1, location])),
                }
            }
            if self.version >= 3 {
                bytes.push(0);
            }
        }
        bytes.extend(operations.concat());
        bytes
    }

    /// Adds a function.
    pub(super) fn function(&mut self, name: &str, arguments: &[u64], results: &[u64], body: Vec<u8>) {
        let lists = [arguments, results].map(|list| [&[list.len() as u64], list].concat()).concat();
        let ty = self.ty(VHLO, &[&[8], &lists[..]].concat());
        let ty = self.attribute(VHLO, &[17, ty]);
        let (name, visibility) = (self.text(name), self.text(""));
        let empty = self.attribute(VHLO, &[1, 0]);
        let attributes = vec![
            ("sym_name", name),
            ("sym_visibility", visibility),
            ("function_type", ty),
            ("arg_attrs", empty),
            ("res_attrs", empty),
        ];
        let regions = vec![body];
        let function = self.op(Op { name: "func_v1", attributes, regions, ..Op::default() });
        self.functions.push(function);
    }

    /// A file with one function: what these operations make of arguments of these types. They define so many values with the arguments.
    pub(super) fn main(
        mut self,
        arguments: &[u64],
        results: &[u64],
        values: u64,
        operations: &[Vec<u8>],
    ) -> Vec<u8> {
        let body = self.region(values, arguments, operations);
        self.function("main", arguments, results, body);
        self.finish()
    }

    /// The bytes of the file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let functions = std::mem::take(&mut self.functions);
        let body = self.region(0, &[], &functions);
        let module = Op { name: "builtin.module", regions: vec![body], is_isolated: true, ..Op::default() };
        let module = self.op(module);
        let operations = [number(1 << 1), module].concat();
        let mut dialects = number(DIALECTS.len() as u64);
        for dialect in DIALECTS {
            let string = self.string(dialect);
            dialects.extend(number(if self.version == 0 { string } else { string << 1 }));
        }
        if self.version >= 4 {
            dialects.extend(number(self.names.len() as u64));
        }
        for &(dialect, name) in &self.names {
            dialects.extend(numbers(&[
                dialect as u64,
                1,
                if self.version < 5 { name } else { name << 1 | 1 },
            ]));
        }
        let (mut offsets, mut entries) =
            (numbers(&[self.attributes.len() as u64, self.types.len() as u64]), Vec::new());
        for (dialect, entry) in self.attributes.iter().chain(&self.types) {
            offsets.extend(numbers(&[*dialect as u64, 1, (entry.len() as u64) << 1 | 1]));
            entries.extend(entry);
        }
        let mut strings = number(self.strings.len() as u64);
        strings.extend(self.strings.iter().rev().flat_map(|string| number(string.len() as u64 + 1)));
        strings.extend(self.strings.iter().flat_map(|string| [string, &[0][..]].concat()));
        let mut properties = number(self.properties.len() as u64);
        properties.extend(
            self.properties.iter().flat_map(|list| [number(list.len() as u64), list.clone()].concat()),
        );
        let mut bytes = [&b"ML\xefR"[..], &number(self.version), b"tests\0"].concat();
        for (id, section_bytes) in [(0, strings), (1, dialects), (2, entries), (3, offsets), (4, operations)]
        {
            section(&mut bytes, id, &section_bytes);
        }
        if self.version >= 5 {
            section(&mut bytes, 8, &properties);
        }
        bytes
    }
}

/// Adds a section.
pub(super) fn section(bytes: &mut Vec<u8>, id: u8, section: &[u8]) {
    bytes.push(id);
    bytes.extend(number(section.len() as u64));
    bytes.extend(section);
}
