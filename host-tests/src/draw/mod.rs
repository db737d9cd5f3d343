//! Random models: operators drawn from a table, with number formats, shapes, quantisation and attributes.
//!
//! A [`Row`] of the table ([`rows`]) knows how to add one operator to a model ([`Draw`]): it takes operands from what there is, or adds inputs and constants, and
//! chooses attributes. It need not know what Kiln compiles, nor which shape follows: each operator is compiled at once, and what is refused is dropped
//! ([`Component::grow`]). So the table also tells which operators compile in which formats (`tests/draws.rs` makes the matrix of it).
//!
//! Everything follows from a seed.

mod control;
mod functions;
mod layers;
mod movement;
mod random;
mod states;

pub use random::Random;

use kiln_codegen::front::tflite::testing::{Element, ModelBuilder, Options as Attributes, Table, Tensor};
use kiln_codegen::ir::Graph;
use kiln_codegen::{compile_graph, import, Error, Options};

/// A number format of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Single-precision floats.
    Float32,
    /// Quantised to 8 signed bits.
    Int8,
    /// Quantised to 8 bits, the old scheme.
    Uint8,
    /// Quantised to 16 bits around zero, with weights of 8 bits.
    Int16,
    /// Plain integers.
    Int32,
    /// Plain integers.
    Int64,
    /// Truth values.
    Bool,
    /// Floats, with weights of 8 bits.
    Hybrid,
    /// Floats, with half-precision weights.
    Float16,
    /// Quantised to 8 bits, with weights of 4 bits.
    Int4,
}

impl Format {
    /// All of them, in the order of the matrix.
    pub const ALL: [Format; 10] = [
        Format::Float32,
        Format::Int8,
        Format::Int16,
        Format::Uint8,
        Format::Hybrid,
        Format::Float16,
        Format::Int4,
        Format::Int32,
        Format::Int64,
        Format::Bool,
    ];

    /// The element type of what is computed.
    pub fn element(self) -> Element {
        match self {
            Format::Float32 | Format::Hybrid | Format::Float16 => Element::Float32,
            Format::Int8 | Format::Int4 => Element::Int8,
            Format::Uint8 => Element::Uint8,
            Format::Int16 => Element::Int16,
            Format::Int32 => Element::Int32,
            Format::Int64 => Element::Int64,
            Format::Bool => Element::Bool,
        }
    }

    /// Whether it differs from another one in the weights alone: operators without weights do not have it.
    pub fn is_of_weights(self) -> bool {
        matches!(self, Format::Hybrid | Format::Float16 | Format::Int4)
    }

    /// Its name in the matrix.
    pub fn name(self) -> &'static str {
        match self {
            Format::Float32 => "float32",
            Format::Int8 => "int8",
            Format::Uint8 => "uint8",
            Format::Int16 => "int16",
            Format::Int32 => "int32",
            Format::Int64 => "int64",
            Format::Bool => "bool",
            Format::Hybrid => "hybrid",
            Format::Float16 => "float16 weights",
            Format::Int4 => "int4 weights",
        }
    }
}

/// Adds one operator to a model; nothing if the format makes no sense for it.
type Recipe = fn(&mut Draw, Format) -> Option<()>;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The operator's number in TFLite's schema.
    pub code: i32,
    /// Whether it has weights, and so formats of weights.
    pub has_weights: bool,
    recipe: Recipe,
}

const fn row(code: i32, recipe: Recipe) -> Row {
    Row { code, has_weights: false, recipe }
}

const fn layer(code: i32, recipe: Recipe) -> Row {
    Row { code, has_weights: true, recipe }
}

/// The table: every operator that Kiln compiles.
pub fn rows() -> Vec<Row> {
    [functions::ROWS, layers::ROWS, movement::ROWS, states::ROWS, control::ROWS].concat()
}

/// What a tensor holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    element: Element,
    quant: Option<(f32, i64)>,
}

impl Kind {
    const fn plain(element: Element) -> Kind {
        Kind { element, quant: None }
    }

    const fn quantized(element: Element, scale: f32, zero_point: i64) -> Kind {
        Kind { element, quant: Some((scale, zero_point)) }
    }

    fn tensor(self, dims: &[i32]) -> Tensor {
        let tensor = Tensor::new(self.element, dims);
        match self.quant {
            Some((scale, zero_point)) => tensor.quantized(scale, zero_point),
            None => tensor,
        }
    }
}

/// A tensor that operators can read.
#[derive(Clone, Debug)]
pub struct Value {
    tensor: i32,
    kind: Kind,
    dims: Vec<i32>,
    /// Whether every place computes the same bits: floats that arithmetic has been done on are only close, so that rounding and comparing
    /// them can give anything.
    is_exact: bool,
    is_read: bool,
}

impl Value {
    fn numel(&self) -> i32 {
        self.dims.iter().product()
    }
}

/// Most elements of an operand.
const MOST_ELEMENTS: i32 = 400;

/// A model that is being drawn.
#[derive(Clone, Debug)]
pub struct Draw {
    random: Random,
    model: ModelBuilder,
    /// What there is to be read.
    pool: Vec<Value>,
    /// Results of the operator that is being added.
    results: Vec<Value>,
    tensors: usize,
}

impl Draw {
    fn new() -> Self {
        let (random, model) = (Random::new(0), ModelBuilder::new());
        Draw { random, model, pool: Vec::new(), results: Vec::new(), tensors: 0 }
    }

    // ---- Chance

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn between(&mut self, lo: i32, hi: i32) -> i32 {
        lo + self.below((hi - lo + 1).max(1) as usize) as i32
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A scale around 2⁻⁵.
    fn scale(&mut self) -> f32 {
        let exponent = self.between(-7, -3);
        (1.0 + self.below(1000) as f32 / 1000.0) * (exponent as f32).exp2()
    }

    /// Elements of that type, quantised somehow where they are.
    fn kind(&mut self, format: Format) -> Kind {
        let element = format.element();
        let zero_points = match element {
            Element::Int8 => -128..=127,
            Element::Uint8 => 0..=255,
            Element::Int16 => 0..=0,
            _ => return Kind::plain(element),
        };
        let scale = self.scale();
        let zero_point = match self.one_in(8) {
            true => self.pick(&[*zero_points.start(), *zero_points.end()]),
            false => self.between(*zero_points.start(), *zero_points.end()),
        };
        Kind::quantized(element, scale, i64::from(zero_point))
    }

    /// Few elements on so many axes.
    fn dims(&mut self, rank: usize) -> Vec<i32> {
        let most = [1, 24, 10, 7, 6, 4, 3].get(rank).copied().unwrap_or(2);
        (0..rank).map(|axis| if axis == 0 && self.one_in(2) { 1 } else { self.between(1, most) }).collect()
    }

    /// An image of one batch, or rarely of two.
    fn image_dims(&mut self) -> Vec<i32> {
        let n = if self.one_in(6) { 2 } else { 1 };
        let (h, w) = (self.between(1, 9), self.between(1, 9));
        let c = match self.one_in(3) {
            true => self.pick(&[4, 8, 12]),
            false => self.between(1, 5),
        };
        vec![n, h, w, c]
    }

    // ---- Operands

    /// Something of that format with so many axes: what there is, or a new input.
    fn x(&mut self, format: Format, ranks: std::ops::RangeInclusive<usize>) -> Value {
        self.operand(format, ranks, false)
    }

    /// As `x`, and every place computes the same bits.
    fn exact(&mut self, format: Format, ranks: std::ops::RangeInclusive<usize>) -> Value {
        self.operand(format, ranks, true)
    }

    /// Four axes.
    fn image(&mut self, format: Format) -> Value {
        self.x(format, 4..=4)
    }

    fn operand(&mut self, format: Format, ranks: std::ops::RangeInclusive<usize>, exact: bool) -> Value {
        let fits = |v: &Value| {
            let good = v.is_exact || !exact;
            v.kind.element == format.element()
                && ranks.contains(&v.dims.len())
                && good
                && v.numel() <= MOST_ELEMENTS
        };
        let there: Vec<usize> = (0..self.pool.len()).filter(|&i| fits(&self.pool[i])).collect();
        if !there.is_empty() && !self.one_in(5) {
            // Rather what came last.
            let last = there.len() - 1 - self.below(there.len()).min(self.random.below(there.len()));
            return self.read(there[last]);
        }
        let rank = self.between(*ranks.start() as i32, *ranks.end() as i32) as usize;
        let dims = if rank == 4 { self.image_dims() } else { self.dims(rank) };
        let kind = self.kind(format);
        self.input(kind, &dims)
    }

    fn read(&mut self, index: usize) -> Value {
        self.pool[index].is_read = true;
        self.pool[index].clone()
    }

    /// Of that kind and shape: what there is, a new input or a constant.
    fn other(&mut self, kind: Kind, dims: &[i32]) -> Value {
        let there = (0..self.pool.len()).find(|&i| self.pool[i].kind == kind && self.pool[i].dims == dims);
        match (there, self.below(3)) {
            (Some(index), 0 | 1) => self.read(index),
            (_, 0) => self.input(kind, dims),
            _ => self.constant(kind, dims),
        }
    }

    fn name(&mut self) -> String {
        self.tensors += 1;
        format!("t{}", self.tensors)
    }

    fn input(&mut self, kind: Kind, dims: &[i32]) -> Value {
        let name = self.name();
        let tensor = self.model.input(&name, kind.tensor(dims));
        let value = Value { tensor, kind, dims: dims.to_vec(), is_exact: true, is_read: true };
        self.pool.push(value.clone());
        value
    }

    fn constant(&mut self, kind: Kind, dims: &[i32]) -> Value {
        let count = dims.iter().product::<i32>() as usize;
        let data = self.data(kind.element, count);
        let name = self.name();
        let tensor = self.model.constant(&name, kind.tensor(dims), &data);
        Value { tensor, kind, dims: dims.to_vec(), is_exact: true, is_read: true }
    }

    /// Random elements: any stored values, floats between −1 and 1, small plain integers.
    fn data(&mut self, element: Element, count: usize) -> Vec<u8> {
        let mut data = Vec::new();
        for _ in 0..count {
            match element {
                Element::Float32 => data.extend(self.random.unit().to_le_bytes()),
                // Exponents below 15: no more than 1.
                Element::Float16 => data.extend(((self.below(1 << 16) & 0xbbff) as u16).to_le_bytes()),
                Element::Int32 => data.extend(self.between(-9, 9).to_le_bytes()),
                Element::Int64 => data.extend(i64::from(self.between(-9, 9)).to_le_bytes()),
                Element::Int16 => data.extend((self.below(1 << 16) as u16).to_le_bytes()),
                Element::Bool => data.push(self.below(2) as u8),
                _ => data.push(self.below(256) as u8),
            }
        }
        if element == Element::Int4 {
            data.truncate(count.div_ceil(2));
        }
        data
    }

    /// A constant list, for shapes, axes and the like.
    fn ints(&mut self, values: &[i32]) -> i32 {
        let name = self.name();
        self.model.ints(&name, values)
    }

    // ---- The operator

    /// Adds an operator with one result, of a shape that follows.
    fn emit(&mut self, code: i32, attributes: Attributes, operands: &[i32], kind: Kind) -> Option<()> {
        self.emit_all(code, attributes, operands, &[kind])
    }

    /// As [`Draw::emit`], with floats that every place computes to the bit, if the operands are so.
    fn emit_moved(
        &mut self,
        code: i32,
        attributes: Attributes,
        operands: &[&Value],
        others: &[i32],
        kind: Kind,
    ) -> Option<()> {
        let tensors: Vec<i32> = operands.iter().map(|v| v.tensor).chain(others.iter().copied()).collect();
        self.emit(code, attributes, &tensors, kind)?;
        self.keep_exact(operands);
        Some(())
    }

    /// The results are exact where all of these operands are.
    fn keep_exact(&mut self, operands: &[&Value]) {
        let exact = operands.iter().all(|v| v.is_exact);
        for result in &mut self.results {
            result.is_exact |= exact;
        }
    }

    fn emit_all(
        &mut self,
        code: i32,
        attributes: Attributes,
        operands: &[i32],
        kinds: &[Kind],
    ) -> Option<()> {
        let first = self.results.len();
        for &kind in kinds {
            let name = self.name();
            let tensor = self.model.value(&name, kind.tensor(&[1]).signature(&[-1]));
            let is_exact = kind.element != Element::Float32;
            self.results.push(Value { tensor, kind, dims: Vec::new(), is_exact, is_read: false });
        }
        let results: Vec<i32> = self.results[first..].iter().map(|v| v.tensor).collect();
        self.model.operator(code, attributes, operands, &results);
        Some(())
    }
}

/// Attributes as the schema numbers them.
fn attributes(kind: u8, table: Table) -> Attributes {
    Attributes::table(kind, table)
}

/// One operator of a component, and what is needed to add it again.
#[derive(Clone, Debug)]
struct Step {
    row: Row,
    format: Format,
    seed: u64,
    /// The shapes of its results.
    dims: Vec<Vec<i32>>,
}

/// A model of a few operators.
#[derive(Clone, Debug)]
pub struct Component {
    draw: Draw,
    steps: Vec<Step>,
}

/// What became of an operator that was drawn.
#[derive(Clone, Debug)]
pub enum Grown {
    /// It compiles: the graph with it.
    Yes(Box<Graph>),
    /// It does not, for this reason.
    Refused(String),
    /// The file is not sound: the operator was drawn wrong.
    Unsound(String),
    /// The operator has no such format.
    Senseless,
}

impl Default for Component {
    fn default() -> Self {
        Component { draw: Draw::new(), steps: Vec::new() }
    }
}

impl Component {
    /// Adds an operator, if Kiln compiles it.
    ///
    /// # Panics
    /// Where the compiler finds an error of its own.
    pub fn grow(&mut self, row: Row, format: Format, seed: u64) -> Grown {
        let mut draw = self.draw.clone();
        if !draw.add(row, format, seed) {
            return Grown::Senseless;
        }
        let outputs: Vec<i32> = self.results().chain(&draw.results).map(|v| v.tensor).collect();
        draw.model.outputs(&outputs);
        let compiles = import(&draw.model.build(), "draw", &Options::default())
            .and_then(|graph| compile_graph(graph.clone(), &Options::default()).map(|_| graph));
        let graph = match compiles {
            Ok(graph) => graph,
            Err(Error::Unsupported(problems)) => {
                return Grown::Refused(problems.iter().map(ToString::to_string).collect());
            }
            Err(error @ Error::Malformed(_)) => return Grown::Unsound(error.to_string()),
            Err(error) => panic!("operator {} in {} from seed {seed}: {error}", row.code, format.name()),
        };
        let new = &graph.outputs[graph.outputs.len() - draw.results.len()..];
        let dims = |&id: &_| graph.ty(id).shape.dims().iter().map(|&d| d as i32).collect();
        let step = Step { row, format, seed, dims: new.iter().map(dims).collect() };
        draw.keep(&step);
        self.draw = draw;
        self.steps.push(step);
        Grown::Yes(Box::new(graph))
    }

    /// Operators as bytes name them: six for each, its row of the table, its format and a seed.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let rows = rows();
        let mut component = Component::default();
        for operator in bytes.chunks_exact(6) {
            let &[row, format, ref seed @ ..] = operator else { continue };
            let (row, format) = (usize::from(row) % rows.len(), usize::from(format) % Format::ALL.len());
            let seed = seed.iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte));
            component.grow(rows[row], Format::ALL[format], seed);
        }
        component
    }

    fn results(&self) -> impl Iterator<Item = &Value> {
        self.draw.pool.iter().filter(|v| !self.draw.is_input(v))
    }

    /// How many operators it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Draw {
    fn add(&mut self, row: Row, format: Format, seed: u64) -> bool {
        self.random = Random::new(seed);
        self.results.clear();
        (row.recipe)(self, format).is_some()
    }

    /// The results of the last operator can be read from here on.
    fn keep(&mut self, step: &Step) {
        for (result, dims) in self.results.drain(..).zip(&step.dims) {
            self.pool.push(Value { dims: dims.clone(), ..result });
        }
    }

    fn is_input(&self, value: &Value) -> bool {
        self.model.is_input(value.tensor)
    }
}

/// Several components as one model, side by side: outputs are what no operator reads, and a few values besides.
pub fn merged(components: &[Component]) -> Vec<u8> {
    let mut draw = Draw::new();
    let mut outputs = Vec::new();
    for component in components {
        draw.pool.clear();
        for step in &component.steps {
            draw.add(step.row, step.format, step.seed);
            draw.keep(step);
        }
        for (k, value) in draw.pool.iter().enumerate() {
            if !draw.is_input(value) && (!value.is_read || k % 4 == 0) {
                outputs.push(value.tensor);
            }
        }
    }
    draw.model.outputs(&outputs);
    draw.model.build()
}

/// A component of up to `most` operators, mostly of one format. In a model there is uint8 or int8, not both.
pub fn component(random: &mut Random, is_unsigned: bool, most: usize) -> Component {
    let mut rows = rows();
    // CALL_ONCE comes first in a model, and components come side by side.
    rows.retain(|row| row.code != states::CALL_ONCE);
    let mut component = Component::default();
    let formats: Vec<Format> = Format::ALL
        .into_iter()
        .filter(|format| match format {
            Format::Int8 | Format::Int4 | Format::Int16 => !is_unsigned,
            Format::Uint8 => is_unsigned,
            _ => true,
        })
        .collect();
    let main = match is_unsigned {
        true => Format::Uint8,
        false => [Format::Int8, Format::Int8, Format::Float32, Format::Int16, Format::Int4, Format::Hybrid]
            [random.below(6)],
    };
    let wanted = 1 + random.below(most);
    for _ in 0..8 * most {
        let row = rows[random.below(rows.len())];
        let format = if random.below(4) > 0 { main } else { formats[random.below(formats.len())] };
        if format.is_of_weights() && !row.has_weights && format != main {
            continue;
        }
        component.grow(row, format, random.next());
        if component.len() == wanted {
            break;
        }
    }
    component
}
