//! Small TFLite models for tests: a flatbuffer writer and a builder of models.
//!
//! ```
//! use kiln_front::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
//!
//! let mut model = ModelBuilder::new();
//! let x = model.input("x", Tensor::new(Element::Int8, &[1, 4]).quantized(0.5, 3));
//! let y = model.value("y", Tensor::new(Element::Float32, &[1, 4]));
//! model.operator(op::DEQUANTIZE, Options::none(), &[x], &[y]);
//! model.outputs(&[y]);
//! let graph = kiln_front::read(&model.build(), "example").unwrap();
//! assert_eq!(graph.outputs.len(), 1);
//! ```
//!
//! The writer is simple rather than compact, aligns everything as TFLite wants it, and checks nothing: it also builds
//! models that no reader should accept.

pub mod op;

/// Element types, with their numbers in the schema.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Element {
    Float32 = 0,
    Float16 = 1,
    Int32 = 2,
    Uint8 = 3,
    Int64 = 4,
    Bool = 6,
    Int16 = 7,
    Int8 = 9,
    Uint64 = 12,
    Resource = 13,
    Uint32 = 15,
    Int4 = 17,
}

// ---- Flatbuffers

/// A field of a table.
#[derive(Clone, Debug)]
pub enum Field {
    /// A scalar: its bytes.
    Scalar(Vec<u8>),
    /// A reference.
    Node(Node),
}

/// What a reference points to.
#[derive(Clone, Debug)]
pub enum Node {
    /// A table.
    Table(Table),
    /// A vector of scalars: bytes per element, and the bytes.
    Vector(usize, Vec<u8>),
    /// A vector of tables.
    Tables(Vec<Table>),
    /// A vector that refers to one table many times.
    Repeated(usize, Box<Table>),
}

/// A table: its fields by slot.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<(usize, Field)>);

macro_rules! scalar_fields {
    ($($t:ty),+) => { $(impl From<$t> for Field {
        fn from(x: $t) -> Field {
            Field::Scalar(x.to_le_bytes().to_vec())
        }
    }
    impl From<&[$t]> for Field {
        fn from(v: &[$t]) -> Field {
            let bytes = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            Field::Node(Node::Vector(std::mem::size_of::<$t>(), bytes))
        }
    })+ };
}
scalar_fields!(i8, u8, i32, u32, i64, u64, f32);

impl From<bool> for Field {
    fn from(x: bool) -> Field {
        u8::from(x).into()
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Field {
        text.as_bytes().into()
    }
}

impl From<Table> for Field {
    fn from(table: Table) -> Field {
        Field::Node(Node::Table(table))
    }
}

impl From<Node> for Field {
    fn from(node: Node) -> Field {
        Field::Node(node)
    }
}

impl From<Vec<Table>> for Field {
    fn from(tables: Vec<Table>) -> Field {
        Field::Node(Node::Tables(tables))
    }
}

impl Table {
    /// A table without fields.
    pub fn new() -> Self {
        Table::default()
    }

    /// With a field.
    pub fn with(mut self, slot: usize, field: impl Into<Field>) -> Self {
        self.0.push((slot, field.into()));
        self
    }

    /// With a field, if there is one.
    pub fn with_some(self, slot: usize, field: Option<impl Into<Field>>) -> Self {
        match field {
            Some(field) => self.with(slot, field),
            None => self,
        }
    }

    /// Adds to a field of 32 bits.
    fn add_to(&mut self, slot: usize, more: u32) {
        for (_, field) in self.0.iter_mut().filter(|(at, _)| *at == slot) {
            if let Field::Scalar(bytes) = field {
                let number = bytes.iter().rev().fold(0u32, |number, &byte| number << 8 | u32::from(byte));
                *bytes = (number + more).to_le_bytes().to_vec();
            }
        }
    }

    /// The bytes of a file whose root this table is.
    pub fn finish(&self, identifier: &[u8; 4]) -> Vec<u8> {
        let mut out = vec![0; 4];
        out.extend_from_slice(identifier);
        let root = write_table(self, &mut out);
        patch(&mut out, 0, root);
        out
    }
}

/// Pads until the position is a multiple of `alignment`.
fn align(out: &mut Vec<u8>, alignment: usize) {
    out.resize(out.len().next_multiple_of(alignment), 0);
}

/// Lets the reference at `at` point to `target`.
fn patch(out: &mut [u8], at: usize, target: usize) {
    let offset = u32::try_from(target - at).unwrap_or(0);
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&offset.to_le_bytes());
    }
}

/// Appends a table and everything behind it; returns its position.
fn write_table(table: &Table, out: &mut Vec<u8>) -> usize {
    let slots = table.0.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
    align(out, 2);
    let vtable = out.len();
    out.resize(vtable + 4 + 2 * slots, 0);
    align(out, 8);
    let at = out.len();
    out.extend(u32::try_from(at - vtable).unwrap_or(0).to_le_bytes());
    let mut references = Vec::new();
    for (slot, field) in &table.0 {
        let bytes = match field {
            Field::Scalar(bytes) => bytes.clone(),
            Field::Node(_) => vec![0; 4],
        };
        align(out, bytes.len());
        let place = out.len();
        if let Field::Node(node) = field {
            references.push((place, node));
        }
        out.extend(bytes);
        let entry = vtable + 4 + 2 * slot;
        let offset = u16::try_from(place - at).unwrap_or(0);
        out[entry..entry + 2].copy_from_slice(&offset.to_le_bytes());
    }
    let sizes = [4 + 2 * slots, out.len() - at].map(|size| u16::try_from(size).unwrap_or(0).to_le_bytes());
    out[vtable..vtable + 4].copy_from_slice(&sizes.concat());
    for (place, node) in references {
        let target = write_node(node, out);
        patch(out, place, target);
    }
    at
}

fn write_node(node: &Node, out: &mut Vec<u8>) -> usize {
    match node {
        Node::Table(table) => write_table(table, out),
        Node::Vector(size, bytes) => {
            // The elements, not the count, are aligned; data of tensors to 16 bytes.
            let alignment = if *size == 1 && bytes.len() >= 16 { 16 } else { (*size).max(4) };
            align(out, 4);
            while (out.len() + 4) % alignment != 0 {
                out.push(0);
            }
            let at = out.len();
            out.extend(u32::try_from(bytes.len() / size).unwrap_or(0).to_le_bytes());
            out.extend(bytes);
            // Strings end with a zero that is not counted.
            out.push(0);
            at
        }
        Node::Repeated(count, table) => {
            align(out, 4);
            let at = out.len();
            out.extend(u32::try_from(*count).unwrap_or(0).to_le_bytes());
            out.resize(out.len() + 4 * count, 0);
            let target = write_table(table, out);
            (0..*count).for_each(|i| patch(out, at + 4 + 4 * i, target));
            at
        }
        Node::Tables(tables) => {
            align(out, 4);
            let at = out.len();
            out.extend(u32::try_from(tables.len()).unwrap_or(0).to_le_bytes());
            out.resize(out.len() + 4 * tables.len(), 0);
            for (i, table) in tables.iter().enumerate() {
                let target = write_table(table, out);
                patch(out, at + 4 + 4 * i, target);
            }
            at
        }
    }
}

// ---- Models

/// A tensor to be added to a model.
#[derive(Clone, Debug)]
pub struct Tensor {
    element: Element,
    shape: Vec<i32>,
    signature: Option<Vec<i32>>,
    quantization: Option<Table>,
    is_variable: bool,
}

impl Tensor {
    /// A plain tensor.
    pub fn new(element: Element, shape: &[i32]) -> Self {
        Tensor { element, shape: shape.to_vec(), signature: None, quantization: None, is_variable: false }
    }

    /// Quantised per tensor.
    pub fn quantized(self, scale: f32, zero_point: i64) -> Self {
        self.per_channel(&[scale], &[zero_point], 0)
    }

    /// Quantised along an axis.
    pub fn per_channel(mut self, scales: &[f32], zero_points: &[i64], axis: i32) -> Self {
        self.quantization = Some(Table::new().with(2, scales).with(3, zero_points).with(6, axis));
        self
    }

    /// With open dimensions (−1).
    pub fn signature(mut self, dims: &[i32]) -> Self {
        self.signature = Some(dims.to_vec());
        self
    }

    /// Kept from one invocation to the next.
    pub fn variable(mut self) -> Self {
        self.is_variable = true;
        self
    }
}

/// The attributes of an operator: number of their kind in the schema, and the table.
#[derive(Clone, Debug)]
pub struct Options(Option<(u8, Table)>);

impl Options {
    /// No attributes.
    pub fn none() -> Self {
        Options(None)
    }

    /// Attributes of any kind.
    pub fn table(kind: u8, table: Table) -> Self {
        Options(Some((kind, table)))
    }

    /// CONV_2D. `same`: padding SAME; `stride` is `[height, width]`.
    pub fn conv(same: bool, stride: [i32; 2], activation: i8) -> Self {
        let t = Table::new().with(0, i8::from(!same)).with(1, stride[1]).with(2, stride[0]);
        Options::table(1, t.with(3, activation))
    }

    /// DEPTHWISE_CONV_2D.
    pub fn depthwise(same: bool, stride: [i32; 2], multiplier: i32, activation: i8) -> Self {
        let t = Table::new().with(0, i8::from(!same)).with(1, stride[1]).with(2, stride[0]);
        Options::table(2, t.with(3, multiplier).with(4, activation))
    }

    /// AVERAGE_POOL_2D and MAX_POOL_2D with a square window.
    pub fn pool(same: bool, stride: i32, size: i32) -> Self {
        let t = Table::new().with(0, i8::from(!same)).with(1, stride).with(2, stride);
        Options::table(5, t.with(3, size).with(4, size))
    }

    /// FULLY_CONNECTED.
    pub fn fully_connected(activation: i8) -> Self {
        Options::table(8, Table::new().with(0, activation))
    }

    /// SOFTMAX.
    pub fn softmax(beta: f32) -> Self {
        Options::table(9, Table::new().with(0, beta))
    }

    /// CONCATENATION.
    pub fn concatenation(axis: i32) -> Self {
        Options::table(10, Table::new().with(0, axis))
    }

    /// ADD.
    pub fn add(activation: i8) -> Self {
        Options::table(11, Table::new().with(0, activation))
    }

    /// MUL.
    pub fn mul(activation: i8) -> Self {
        Options::table(21, Table::new().with(0, activation))
    }

    /// MEAN.
    pub fn mean(keep_dims: bool) -> Self {
        Options::table(27, Table::new().with(0, keep_dims))
    }

    /// STRIDED_SLICE.
    pub fn strided_slice(begin_mask: i32, end_mask: i32, shrink_mask: i32) -> Self {
        Options::table(32, Table::new().with(0, begin_mask).with(1, end_mask).with(4, shrink_mask))
    }

    /// LEAKY_RELU.
    pub fn leaky_relu(alpha: f32) -> Self {
        Options::table(75, Table::new().with(0, alpha))
    }

    /// IF.
    pub fn branches(then: i32, otherwise: i32) -> Self {
        Options::table(92, Table::new().with(0, then).with(1, otherwise))
    }

    /// WHILE.
    pub fn repeated(condition: i32, body: i32) -> Self {
        Options::table(93, Table::new().with(0, condition).with(1, body))
    }

    /// CALL_ONCE.
    pub fn call_once(subgraph: i32) -> Self {
        Options::table(103, Table::new().with(0, subgraph))
    }

    /// VAR_HANDLE.
    pub fn variable(name: &str) -> Self {
        Options::table(111, Table::new().with(1, name))
    }
}

#[derive(Clone, Debug, Default)]
struct SubGraph {
    name: String,
    tensors: Vec<Table>,
    operators: Vec<Table>,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
}

/// Builds a model, subgraph by subgraph. Tensors are named by their index.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    codes: Vec<(i32, String)>,
    /// The first one is the empty buffer of computed tensors.
    buffers: Vec<Vec<u8>>,
    subgraphs: Vec<SubGraph>,
    /// The one that everything is added to.
    current: usize,
    metadata: Vec<String>,
    behind: bool,
}

impl Default for ModelBuilder {
    fn default() -> Self {
        ModelBuilder::new()
    }
}

impl ModelBuilder {
    /// A model with an empty main subgraph.
    pub fn new() -> Self {
        let main = SubGraph { name: "main".into(), ..SubGraph::default() };
        ModelBuilder {
            codes: Vec::new(),
            buffers: vec![Vec::new()],
            subgraphs: vec![main],
            current: 0,
            metadata: Vec::new(),
            behind: false,
        }
    }

    /// Begins a further subgraph, to which everything from here on belongs; returns its index.
    pub fn begin_subgraph(&mut self, name: &str) -> i32 {
        self.subgraphs.push(SubGraph { name: name.into(), ..SubGraph::default() });
        self.current = self.subgraphs.len() - 1;
        self.current as i32
    }

    /// Goes on with the main subgraph.
    pub fn end_subgraph(&mut self) {
        self.current = 0;
    }

    /// Takes the main subgraph of another model, whose constants and operators are known here afterwards.
    pub fn main_from(&mut self, other: &ModelBuilder) {
        let (first_code, first_buffer) = (self.codes.len() as u32, self.buffers.len() as u32);
        self.codes.extend(other.codes.iter().cloned());
        self.buffers.extend(other.buffers.iter().cloned());
        let Some(main) = other.subgraphs.first() else { return };
        let mut main = main.clone();
        main.operators.iter_mut().for_each(|operator| operator.add_to(0, first_code));
        main.tensors.iter_mut().for_each(|tensor| tensor.add_to(2, first_buffer));
        self.subgraphs[0] = main;
    }

    /// Puts the data of constants behind the flatbuffer, as large models have it.
    pub fn buffers_behind(&mut self) {
        self.behind = true;
    }

    fn current(&mut self) -> &mut SubGraph {
        &mut self.subgraphs[self.current]
    }

    fn add(&mut self, name: &str, tensor: Tensor, buffer: usize) -> i32 {
        let table = Table::new()
            .with(0, &*tensor.shape)
            .with(1, tensor.element as i8)
            .with(2, buffer as u32)
            .with(3, name)
            .with_some(4, tensor.quantization)
            .with(5, tensor.is_variable)
            .with_some(7, tensor.signature.as_deref())
            .with(8, true);
        let tensors = &mut self.current().tensors;
        tensors.push(table);
        tensors.len() as i32 - 1
    }

    /// A computed tensor, or a variable one.
    pub fn value(&mut self, name: &str, tensor: Tensor) -> i32 {
        self.add(name, tensor, 0)
    }

    /// An input.
    pub fn input(&mut self, name: &str, tensor: Tensor) -> i32 {
        let index = self.value(name, tensor);
        self.current().inputs.push(index);
        index
    }

    /// Whether a tensor is an input of the current subgraph.
    pub fn is_input(&self, tensor: i32) -> bool {
        self.subgraphs[self.current].inputs.contains(&tensor)
    }

    /// A constant of raw bytes.
    pub fn constant(&mut self, name: &str, tensor: Tensor, data: &[u8]) -> i32 {
        self.buffers.push(data.to_vec());
        let buffer = self.buffers.len() - 1;
        self.add(name, tensor, buffer)
    }

    /// A constant list of integers, for shapes, axes and the like.
    pub fn ints(&mut self, name: &str, values: &[i32]) -> i32 {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(name, Tensor::new(Element::Int32, &[values.len() as i32]), &data)
    }

    /// A constant of floats.
    pub fn floats(&mut self, name: &str, shape: &[i32], values: &[f32]) -> i32 {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(name, Tensor::new(Element::Float32, shape), &data)
    }

    /// An operator; −1 among the operands is one left out.
    pub fn operator(&mut self, code: i32, options: Options, inputs: &[i32], outputs: &[i32]) {
        self.operator_named(code, "", options, inputs, outputs);
    }

    /// A custom operator.
    pub fn custom(&mut self, name: &str, inputs: &[i32], outputs: &[i32]) {
        self.operator_named(op::CUSTOM, name, Options::none(), inputs, outputs);
    }

    /// A custom operator with attributes.
    pub fn custom_with(&mut self, name: &str, options: &[u8], inputs: &[i32], outputs: &[i32]) {
        self.custom(name, inputs, outputs);
        if let Some(table) = self.current().operators.last_mut() {
            *table = std::mem::take(table).with(5, options);
        }
    }

    /// A custom operator with whole numbers for attributes, in the order of their names.
    pub fn custom_numbers(&mut self, name: &str, options: &[(&str, i64)], inputs: &[i32], outputs: &[i32]) {
        self.custom_with(name, &flexbuffer(options), inputs, outputs);
    }

    fn operator_named(&mut self, code: i32, custom: &str, options: Options, inputs: &[i32], outputs: &[i32]) {
        let key = (code, custom.to_string());
        let known = self.codes.iter().position(|c| *c == key);
        let index = known.unwrap_or_else(|| {
            self.codes.push(key);
            self.codes.len() - 1
        });
        let mut table = Table::new().with(0, index as u32).with(1, inputs).with(2, outputs);
        if let Some((kind, options)) = options.0 {
            table = table.with(3, kind).with(4, options);
        }
        self.current().operators.push(table);
    }

    /// The outputs of the current subgraph.
    pub fn outputs(&mut self, tensors: &[i32]) {
        self.current().outputs = tensors.to_vec();
    }

    /// The file.
    pub fn build(&self) -> Vec<u8> {
        let mut out = self.model(0).finish(b"TFL3");
        if self.behind {
            align(&mut out, 16);
            let first = out.len();
            // The offsets are fixed-size fields: writing them does not move anything.
            out = self.model(first).finish(b"TFL3");
            align(&mut out, 16);
            for data in &self.buffers {
                out.extend(data);
                align(&mut out, 16);
            }
        }
        out
    }

    /// Adds metadata of that name.
    pub fn metadata(&mut self, name: &str) {
        self.metadata.push(name.into());
    }

    /// The root table; `first` is where data behind the flatbuffer begins.
    fn model(&self, first: usize) -> Table {
        let code = |(code, custom): &(i32, String)| {
            let deprecated = i8::try_from(*code).unwrap_or(127);
            let custom = (!custom.is_empty()).then_some(custom.as_str());
            Table::new().with(0, deprecated).with_some(1, custom).with(2, 1i32).with(3, *code)
        };
        let mut offset = first;
        let mut buffer = |data: &Vec<u8>| {
            if !self.behind || data.is_empty() {
                return Table::new().with_some(0, (!data.is_empty()).then_some(data.as_slice()));
            }
            let table = Table::new().with(1, offset as u64).with(2, data.len() as u64);
            offset += data.len().next_multiple_of(16);
            table
        };
        let subgraph = |s: &SubGraph| {
            let lists = Table::new().with(0, s.tensors.clone()).with(1, &*s.inputs).with(2, &*s.outputs);
            lists.with(3, s.operators.clone()).with(4, s.name.as_str())
        };
        let metadata = || self.metadata.iter().map(|name| Table::new().with(0, &**name)).collect::<Vec<_>>();
        Table::new()
            .with(0, 3u32)
            .with(1, self.codes.iter().map(code).collect::<Vec<_>>())
            .with(2, self.subgraphs.iter().map(subgraph).collect::<Vec<_>>())
            .with(3, "written by a test")
            .with(4, self.buffers.iter().map(&mut buffer).collect::<Vec<_>>())
            .with_some(6, (!self.metadata.is_empty()).then(metadata))
    }
}

/// A map of whole numbers as a flexbuffer, everything in it of eight bytes.
fn flexbuffer(numbers: &[(&str, i64)]) -> Vec<u8> {
    const WIDTH: usize = 8;
    let mut out = Vec::new();
    let keys: Vec<usize> = numbers
        .iter()
        .map(|(key, _)| {
            let at = out.len();
            out.extend(key.as_bytes());
            out.push(0);
            at
        })
        .collect();
    let put = |out: &mut Vec<u8>, number: usize| out.extend((number as u64).to_le_bytes());
    put(&mut out, numbers.len());
    let distances = out.len();
    for key in keys {
        let back = out.len() - key;
        put(&mut out, back);
    }
    let back = out.len() - distances;
    [back, WIDTH, numbers.len()].into_iter().for_each(|field| put(&mut out, field));
    let values = out.len();
    numbers.iter().for_each(|(_, number)| out.extend(number.to_le_bytes()));
    // Integers, then a map: types above the code of their width.
    out.extend(numbers.iter().map(|_| 1 << 2 | 3));
    let back = out.len() - values;
    put(&mut out, back);
    out.extend([9 << 2 | 3, WIDTH as u8]);
    out
}
