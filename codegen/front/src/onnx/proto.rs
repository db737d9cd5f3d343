//! Typed views of a model's messages. Numbers are those of the fields in ONNX's `onnx.proto`.
//!
//! What [`Model::parse`] returns borrows the file. Lists that become `Vec`s are charged to a [`Budget`] first: a few bytes of a hostile file can declare a
//! great many entries.

use crate::budget::Budget;
use crate::protobuf::{floats, ints, Broken, Message, Value};
use kiln_ir::error::Error;
use std::fmt;

/// Longest name that is kept; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

/// Why a file cannot be parsed.
pub(super) enum Failure {
    /// It contradicts itself.
    Broken(Broken),
    /// It declares more than a file of its size may.
    Budget(Error),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Failure::Broken(broken)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Budget(error)
    }
}

type Parsed<T> = Result<T, Failure>;

/// A name in the file. Not necessarily UTF-8, or short.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name<'a>(pub(super) &'a [u8]);

impl Name<'_> {
    /// The name as text, cut to a sane length.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(self.0.get(..LONGEST_NAME).unwrap_or(self.0)).into_owned()
    }

    /// Whether it is left out.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

/// A whole file.
#[derive(Debug, Default)]
pub(super) struct Model<'a> {
    /// Version of the format.
    pub(super) ir_version: i64,
    /// The program that wrote it.
    pub(super) producer: Name<'a>,
    /// Domains of operators with the versions of their sets.
    pub(super) opsets: Vec<(Name<'a>, i64)>,
    /// The model itself.
    pub(super) graph: Graph<'a>,
    /// Whether it defines functions of its own.
    pub(super) has_functions: bool,
}

/// Operators in the order of evaluation, and what they read.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) name: Name<'a>,
    /// Constants, by name.
    pub(super) initializers: Vec<Tensor<'a>>,
    pub(super) inputs: Vec<ValueInfo<'a>>,
    pub(super) outputs: Vec<ValueInfo<'a>>,
    /// What is said of other values: messages that are read where they are needed, by [`Graph::declared`].
    values: Vec<&'a [u8]>,
}

/// An operator.
#[derive(Debug, Default)]
pub(super) struct Node<'a> {
    /// Names of operands; an empty one is left out.
    pub(super) inputs: Vec<Name<'a>>,
    /// Names of results; an empty one is not wanted.
    pub(super) outputs: Vec<Name<'a>>,
    pub(super) name: Name<'a>,
    pub(super) op_type: Name<'a>,
    /// Empty for ONNX's own operators.
    pub(super) domain: Name<'a>,
    pub(super) attributes: Vec<Attribute<'a>>,
}

/// An attribute of an operator.
#[derive(Debug, Default)]
pub(super) struct Attribute<'a> {
    pub(super) name: Name<'a>,
    /// `AttributeType`; 0 in old files.
    pub(super) kind: i64,
    pub(super) float: f32,
    pub(super) int: i64,
    pub(super) string: Name<'a>,
    pub(super) tensor: Option<Tensor<'a>>,
    pub(super) graph: Option<Graph<'a>>,
    pub(super) floats: Vec<f32>,
    pub(super) ints: Vec<i64>,
    pub(super) strings: Vec<Name<'a>>,
}

/// A constant.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensor<'a> {
    pub(super) name: Name<'a>,
    pub(super) dims: Vec<i64>,
    /// `DataType`.
    pub(super) element: i64,
    /// Little-endian elements, unless they stand in one of the lists.
    pub(super) raw: Option<&'a [u8]>,
    pub(super) floats: Vec<f32>,
    /// Of integers up to 32 bits, truth values, and the bits of half-precision floats.
    pub(super) ints: Vec<i64>,
    pub(super) doubles: Vec<f64>,
    /// Whether the data lies in another file: `external` reads it.
    pub(super) is_external: bool,
}

/// What is known of an input or output.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueInfo<'a> {
    pub(super) name: Name<'a>,
    /// `DataType`; `None` for what is no tensor.
    pub(super) element: Option<i64>,
    /// `None` where even the number of axes is open.
    pub(super) dims: Option<Vec<Dim<'a>>>,
}

/// The size of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim<'a> {
    Size(i64),
    /// Open, with a name or without.
    Symbol(Name<'a>),
}

/// Deepest nesting of graphs in attributes.
pub(super) const DEEPEST: usize = 8;

/// Bytes that an entry of a list of messages is charged with.
const ENTRY: usize = 128;

struct Parser<'b> {
    budget: &'b mut Budget,
}

impl<'a> Model<'a> {
    /// Parses a file.
    ///
    /// # Errors
    /// Where it is no message, or declares too much.
    pub(super) fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Model<'a>> {
        let mut parser = Parser { budget };
        let mut model = Model::default();
        for field in Message(bytes) {
            match field? {
                (1, version) => model.ir_version = version.int()?,
                (2, producer) => model.producer = Name(producer.bytes()?),
                // A message that stands twice is one.
                (7, graph) => parser.graph(graph.bytes()?, 0, &mut model.graph)?,
                (8, opset) => {
                    parser.budget.charge(ENTRY)?;
                    model.opsets.push(opset_of(opset.bytes()?)?);
                }
                (25, _) => model.has_functions = true,
                _ => {}
            }
        }
        Ok(model)
    }
}

impl<'a> Graph<'a> {
    /// The values that the graph says the types of, as far as that can be read, outputs included.
    pub(super) fn declared(&self, budget: &mut Budget) -> Vec<ValueInfo<'a>> {
        let mut parser = Parser { budget };
        let declared = self.values.iter().map_while(|bytes| {
            parser.budget.charge(ENTRY).ok()?;
            Some(parser.value_info(bytes).ok())
        });
        declared.flatten().chain(self.outputs.iter().cloned()).collect()
    }
}

fn opset_of(bytes: &[u8]) -> Result<(Name<'_>, i64), Broken> {
    let (mut domain, mut version) = (Name::default(), 0);
    for field in Message(bytes) {
        match field? {
            (1, name) => domain = Name(name.bytes()?),
            (2, number) => version = number.int()?,
            _ => {}
        }
    }
    Ok((domain, version))
}

impl<'b> Parser<'b> {
    fn graph<'a>(&mut self, bytes: &'a [u8], depth: usize, graph: &mut Graph<'a>) -> Parsed<()> {
        for field in Message(bytes) {
            let (number, value) = field?;
            match number {
                1 | 5 | 11 | 12 => self.budget.charge(ENTRY)?,
                13 => self.budget.charge(std::mem::size_of::<&[u8]>())?,
                _ => {}
            }
            match number {
                1 => graph.nodes.push(self.node(value.bytes()?, depth)?),
                2 => graph.name = Name(value.bytes()?),
                5 => graph.initializers.push(self.tensor(value.bytes()?)?),
                11 => graph.inputs.push(self.value_info(value.bytes()?)?),
                12 => graph.outputs.push(self.value_info(value.bytes()?)?),
                // Nothing depends on it: it may be anything.
                13 => graph.values.extend(value.bytes()),
                _ => {}
            }
        }
        Ok(())
    }

    fn node<'a>(&mut self, bytes: &'a [u8], depth: usize) -> Parsed<Node<'a>> {
        let mut node = Node::default();
        for field in Message(bytes) {
            let (number, value) = field?;
            if matches!(number, 1 | 2) {
                self.budget.charge(std::mem::size_of::<Name<'_>>())?;
            }
            match number {
                1 => node.inputs.push(Name(value.bytes()?)),
                2 => node.outputs.push(Name(value.bytes()?)),
                3 => node.name = Name(value.bytes()?),
                4 => node.op_type = Name(value.bytes()?),
                5 => {
                    self.budget.charge(ENTRY)?;
                    node.attributes.push(self.attribute(value.bytes()?, depth)?);
                }
                7 => node.domain = Name(value.bytes()?),
                _ => {}
            }
        }
        Ok(node)
    }

    fn attribute<'a>(&mut self, bytes: &'a [u8], depth: usize) -> Parsed<Attribute<'a>> {
        let mut attribute = Attribute::default();
        for field in Message(bytes) {
            match field? {
                (1, name) => attribute.name = Name(name.bytes()?),
                (2, float) => attribute.float = float.float()?,
                (3, int) => attribute.int = int.int()?,
                (4, string) => attribute.string = Name(string.bytes()?),
                (5, tensor) => attribute.tensor = Some(self.tensor(tensor.bytes()?)?),
                (6, graph) if depth < DEEPEST => {
                    self.graph(graph.bytes()?, depth + 1, attribute.graph.get_or_insert_default())?;
                }
                (6, _) => return Err(Error::malformed("model", "its graphs are nested too deeply").into()),
                (7, list) => self.floats(list, &mut attribute.floats)?,
                (8, list) => self.ints(list, &mut attribute.ints)?,
                (9, string) => {
                    self.budget.charge(std::mem::size_of::<Name<'_>>())?;
                    attribute.strings.push(Name(string.bytes()?));
                }
                (20, kind) => attribute.kind = kind.int()?,
                _ => {}
            }
        }
        Ok(attribute)
    }

    fn tensor<'a>(&mut self, bytes: &'a [u8]) -> Parsed<Tensor<'a>> {
        let mut tensor = Tensor::default();
        for field in Message(bytes) {
            match field? {
                (1, dims) => self.ints(dims, &mut tensor.dims)?,
                (2, element) => tensor.element = element.int()?,
                (4, list) => self.floats(list, &mut tensor.floats)?,
                (5 | 7 | 11, list) => self.ints(list, &mut tensor.ints)?,
                (8, name) => tensor.name = Name(name.bytes()?),
                (9, raw) => tensor.raw = Some(raw.bytes()?),
                (10, list) => self.doubles(list, &mut tensor.doubles)?,
                (14, location) => tensor.is_external = location.int()? == 1,
                _ => {}
            }
        }
        Ok(tensor)
    }

    fn value_info<'a>(&mut self, bytes: &'a [u8]) -> Parsed<ValueInfo<'a>> {
        let mut info = ValueInfo::default();
        for field in Message(bytes) {
            match field? {
                (1, name) => info.name = Name(name.bytes()?),
                (2, ty) => {
                    for field in Message(ty.bytes()?) {
                        if let (1, tensor) = field? {
                            (info.element, info.dims) = self.tensor_type(tensor.bytes()?)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(info)
    }

    fn tensor_type<'a>(&mut self, bytes: &'a [u8]) -> Parsed<(Option<i64>, Option<Vec<Dim<'a>>>)> {
        let (mut element, mut dims) = (None, None);
        for field in Message(bytes) {
            match field? {
                (1, kind) => element = Some(kind.int()?),
                (2, shape) => {
                    let mut list = Vec::new();
                    for field in Message(shape.bytes()?) {
                        if let (1, dim) = field? {
                            self.budget.charge(std::mem::size_of::<Dim<'_>>())?;
                            list.push(dim_of(dim.bytes()?)?);
                        }
                    }
                    dims = Some(list);
                }
                _ => {}
            }
        }
        Ok((element, dims))
    }

    fn ints(&mut self, value: Value<'_>, list: &mut Vec<i64>) -> Parsed<()> {
        let bytes = if let Value::Bytes(bytes) = value { bytes.len() } else { 1 };
        self.budget.charge(bytes.saturating_mul(8))?;
        ints(value, |x| {
            list.push(x);
            Ok(())
        })?;
        Ok(())
    }

    fn floats(&mut self, value: Value<'_>, list: &mut Vec<f32>) -> Parsed<()> {
        let bytes = if let Value::Bytes(bytes) = value { bytes.len() } else { 4 };
        self.budget.charge(bytes)?;
        floats(value, |x| {
            list.push(x);
            Ok(())
        })?;
        Ok(())
    }

    fn doubles(&mut self, value: Value<'_>, list: &mut Vec<f64>) -> Parsed<()> {
        let bytes = match value {
            Value::Fixed64(bits) => {
                self.budget.charge(8)?;
                list.push(f64::from_bits(bits));
                return Ok(());
            }
            value => value.bytes()?,
        };
        self.budget.charge(bytes.len())?;
        let doubles = bytes.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok());
        list.extend(doubles.map(f64::from_le_bytes));
        Ok(())
    }
}

/// Key and value of an entry.
pub(super) fn entry_of(bytes: &[u8]) -> Result<(Name<'_>, Name<'_>), Broken> {
    let (mut key, mut value) = (Name::default(), Name::default());
    for field in Message(bytes) {
        match field? {
            (1, name) => key = Name(name.bytes()?),
            (2, name) => value = Name(name.bytes()?),
            _ => {}
        }
    }
    Ok((key, value))
}

fn dim_of(bytes: &[u8]) -> Result<Dim<'_>, Broken> {
    let mut dim = Dim::Symbol(Name::default());
    for field in Message(bytes) {
        match field? {
            (1, size) => dim = Dim::Size(size.int()?),
            (2, name) => dim = Dim::Symbol(Name(name.bytes()?)),
            _ => {}
        }
    }
    Ok(dim)
}
