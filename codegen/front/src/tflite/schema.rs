//! Typed views of a model's tables. Slots are the field numbers of TFLite's `schema.fbs`.
//!
//! [`Model::parse`] walks every table once and checks it; what it returns borrows the file. Lists that become
//! `Vec`s are charged to a [`Budget`] first, because a few bytes of hostile file can declare a great many entries.

use super::names;
use crate::budget::Budget;
use crate::flatbuffer::{Broken, Table, Tables, Vector};
use kiln_ir::error::{Error, Problem};
use std::borrow::Cow;
use std::fmt;

/// Longest name that is kept; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

/// Longest name in a message, in characters.
const LONGEST_IN_MESSAGE: usize = 60;

/// A name in the file. Not necessarily UTF-8, unique or short.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Name<'a>(pub(super) &'a [u8]);

impl<'a> Name<'a> {
    /// The name as text, cut to a sane length.
    pub(super) fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0.get(..LONGEST_NAME).unwrap_or(self.0))
    }
}

/// For messages: cut further, because fused operators carry the names of everything that went into them.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        match text.char_indices().nth(LONGEST_IN_MESSAGE) {
            Some((end, _)) => write!(f, "{}…", text.get(..end).unwrap_or_default()),
            None => f.write_str(&text),
        }
    }
}

/// A whole file.
pub(super) struct Model<'a> {
    /// The bytes it was read from.
    file: &'a [u8],
    /// What the author wrote about it.
    pub(super) description: Name<'a>,
    /// Kinds of operators, which operators refer to by index.
    codes: Vec<OperatorCode<'a>>,
    /// The functions; the first one is the model, others are called by control operators.
    pub(super) subgraphs: Vec<SubGraph<'a>>,
    buffers: Tables<'a>,
}

/// A kind of operator.
#[derive(Clone, Copy)]
pub(super) struct OperatorCode<'a> {
    /// Number in the schema's list.
    pub(super) builtin: i32,
    /// Name of a custom operator.
    pub(super) custom: Name<'a>,
}

/// `BuiltinOperator` of custom operators.
pub(super) const CUSTOM: i32 = 32;

impl OperatorCode<'_> {
    /// The operator's name; `CUSTOM:<name>` for a custom one.
    pub(super) fn name(&self) -> String {
        match self.builtin {
            CUSTOM => format!("CUSTOM:{}", self.custom),
            code => names::builtin(code),
        }
    }
}

/// One function.
pub(super) struct SubGraph<'a> {
    /// Its name.
    pub(super) name: Name<'a>,
    /// Its values.
    pub(super) tensors: Vec<Tensor<'a>>,
    /// Tensors given by the caller.
    pub(super) inputs: Vector<'a, i32>,
    /// Tensors returned to the caller.
    pub(super) outputs: Vector<'a, i32>,
    /// Its operators in execution order.
    pub(super) operators: Vec<Operator<'a>>,
}

/// A value: constant, variable or computed.
#[derive(Clone, Copy)]
pub(super) struct Tensor<'a> {
    /// Dimensions; open ones count 1.
    pub(super) shape: Vector<'a, i32>,
    /// Dimensions with −1 for open ones; absent where none is.
    pub(super) signature: Option<Vector<'a, i32>>,
    /// `TensorType`.
    pub(super) element: i8,
    /// Index of the buffer with its data; that buffer is empty for computed tensors.
    pub(super) buffer: u32,
    /// Its name.
    pub(super) name: Name<'a>,
    /// How real numbers are stored.
    pub(super) quantization: Option<Quantization<'a>>,
    /// Whether `shape` tells the number of axes; old files never say so.
    has_rank: bool,
    /// Whether it keeps its value from one invocation to the next.
    pub(super) is_variable: bool,
    /// Whether the buffer holds a compressed sparse encoding.
    pub(super) is_sparse: bool,
    /// Whether the data lies in another file.
    pub(super) is_external: bool,
}

impl Tensor<'_> {
    /// Whether the file states all dimensions. An empty shape may mean a scalar or nothing.
    pub(super) fn has_static_shape(&self) -> bool {
        self.open_axes().is_empty() && (self.has_rank || !self.shape.is_empty())
    }

    /// Axes whose size the file leaves open.
    pub(super) fn open_axes(&self) -> Vec<usize> {
        let dims = self.signature.unwrap_or(self.shape);
        dims.iter().take(64).enumerate().filter(|(_, d)| *d < 0).map(|(axis, _)| axis).collect()
    }
}

/// Affine quantisation as the file states it.
#[derive(Clone, Copy)]
pub(super) struct Quantization<'a> {
    /// One scale, or one per index of `axis`.
    pub(super) scales: Vector<'a, f32>,
    /// As many zero points; sometimes fewer in old files.
    pub(super) zero_points: Vector<'a, i64>,
    /// The axis of the scales. Some files state an axis that the tensor does not have.
    pub(super) axis: i32,
}

/// One operator.
#[derive(Clone, Copy)]
pub(super) struct Operator<'a> {
    /// Index of its kind.
    code: u32,
    /// Operand tensors; −1 for one that is left out.
    pub(super) inputs: Vector<'a, i32>,
    /// Result tensors.
    pub(super) outputs: Vector<'a, i32>,
    /// `BuiltinOptions` type of `options`.
    pub(super) options_type: u8,
    /// Its attributes.
    pub(super) options: Option<Table<'a>>,
    /// The attributes of a custom operator: bytes of its own format.
    pub(super) custom_options: &'a [u8],
    /// Whether these lie behind the flatbuffer, in models of two gigabytes and more.
    pub(super) has_far_options: bool,
}

impl<'a> Model<'a> {
    /// Reads and checks all tables.
    pub(super) fn parse(file: &'a [u8], budget: &mut Budget) -> Result<Self, Error> {
        let root = Table::root(file).map_err(at("model"))?;
        let version = root.scalar::<u32>(0, 0).map_err(at("model"))?;
        if version != 3 {
            return Err(Error::malformed("model", format!("schema version {version}, expected 3")));
        }
        compressed(&root)?;
        let codes = root.tables(1).map_err(at("operator codes"))?;
        let codes = list(codes, budget, |i| format!("operator code {i}"), OperatorCode::parse)?;
        let subgraphs = root.tables(2).map_err(at("subgraphs"))?;
        let subgraphs = list(subgraphs, budget, |i| format!("subgraph {i}"), Ok)?;
        let parse = |(i, table)| SubGraph::parse(table, i, budget);
        let subgraphs = subgraphs.into_iter().enumerate().map(parse).collect::<Result<Vec<_>, _>>()?;
        if subgraphs.is_empty() {
            return Err(Error::malformed("model", "the model has no subgraph"));
        }
        Ok(Model {
            file,
            description: Name(root.string(3).map_err(at("description"))?),
            codes,
            subgraphs,
            buffers: root.tables(4).map_err(at("buffers"))?,
        })
    }

    /// Names of the custom operators.
    pub(super) fn custom_names(&self) -> Vec<String> {
        let custom = self.codes.iter().filter(|code| code.builtin == CUSTOM);
        custom.map(|code| code.custom.text().into_owned()).collect()
    }

    /// The kind of an operator.
    pub(super) fn code(&self, operator: &Operator<'_>) -> Option<OperatorCode<'a>> {
        self.codes.get(usize::try_from(operator.code).ok()?).copied()
    }

    /// The contents of a buffer: inside the flatbuffer, or behind it in the same file. `None` for an empty one.
    pub(super) fn buffer(&self, index: u32) -> Result<Option<&'a [u8]>, Error> {
        let place = || format!("buffer {index}");
        let broken = |b: Broken| Error::malformed(place(), b.to_string());
        let table = usize::try_from(index).ok().map(|i| self.buffers.get(i));
        let Some(table) = table.transpose().map_err(broken)?.flatten() else {
            return Err(Error::malformed(place(), format!("there are only {} buffers", self.buffers.len())));
        };
        if let Some(data) = table.vector::<u8>(0).map_err(broken)? {
            if !data.is_empty() {
                return Ok(Some(data.bytes()));
            }
        }
        let (offset, size) = (table.scalar::<u64>(1, 0), table.scalar::<u64>(2, 0));
        let (offset, size) = (offset.map_err(broken)?, size.map_err(broken)?);
        // Writers put offset 1 where the data is yet to be placed.
        if offset <= 1 || size == 0 {
            return Ok(None);
        }
        let range = || {
            let first = usize::try_from(offset).ok()?;
            self.file.get(first..first.checked_add(usize::try_from(size).ok()?)?)
        };
        let outside =
            || Error::malformed(place(), format!("its {size} bytes at {offset} lie outside the file"));
        range().map(Some).ok_or_else(outside)
    }
}

impl<'a> OperatorCode<'a> {
    fn parse(table: Table<'a>) -> Result<Self, Broken> {
        // Old files have the code in a byte; new ones write both, with 127 in the byte where it does not fit.
        let deprecated = i32::from(table.scalar::<i8>(0, 0)?);
        let builtin = table.scalar::<i32>(3, 0)?.max(deprecated);
        Ok(OperatorCode { builtin, custom: Name(table.string(1)?) })
    }
}

impl<'a> SubGraph<'a> {
    fn parse(table: Table<'a>, index: usize, budget: &mut Budget) -> Result<Self, Error> {
        let whole = |b: Broken| Error::malformed(format!("subgraph {index}"), b.to_string());
        // The model itself needs no number in messages.
        let prefix = if index == 0 { String::new() } else { format!("subgraph {index}, ") };
        let tensor = |i: usize| format!("{prefix}tensor {i}");
        let operator = |i: usize| format!("{prefix}operator {i}");
        Ok(SubGraph {
            tensors: list(table.tables(0).map_err(whole)?, budget, tensor, Tensor::parse)?,
            inputs: table.vector(1).map_err(whole)?.unwrap_or(Vector::empty()),
            outputs: table.vector(2).map_err(whole)?.unwrap_or(Vector::empty()),
            operators: list(table.tables(3).map_err(whole)?, budget, operator, Operator::parse)?,
            name: Name(table.string(4).map_err(whole)?),
        })
    }

    /// The tensor of that index, as operators name it.
    pub(super) fn tensor(&self, index: i32) -> Option<&Tensor<'a>> {
        self.tensors.get(usize::try_from(index).ok()?)
    }
}

impl<'a> Tensor<'a> {
    fn parse(table: Table<'a>) -> Result<Self, Broken> {
        let quantization = match table.table(4)? {
            Some(q) => Quantization::parse(q)?,
            None => None,
        };
        Ok(Tensor {
            shape: table.vector(0)?.unwrap_or(Vector::empty()),
            element: table.scalar(1, 0)?,
            buffer: table.scalar(2, 0)?,
            name: Name(table.string(3)?),
            quantization,
            has_rank: table.flag(8)?,
            is_variable: table.flag(5)?,
            is_sparse: table.has(6),
            signature: table.vector(7)?.filter(|v| !v.is_empty()),
            is_external: table.scalar::<u32>(10, 0)? != 0,
        })
    }
}

impl<'a> Quantization<'a> {
    /// `None` where the table only records the range seen in training.
    fn parse(table: Table<'a>) -> Result<Option<Self>, Broken> {
        let scales = table.vector::<f32>(2)?.unwrap_or(Vector::empty());
        let zero_points = table.vector::<i64>(3)?.unwrap_or(Vector::empty());
        let axis = table.scalar::<i32>(6, 0)?;
        Ok((!scales.is_empty()).then_some(Quantization { scales, zero_points, axis }))
    }
}

impl<'a> Operator<'a> {
    fn parse(table: Table<'a>) -> Result<Self, Broken> {
        Ok(Operator {
            code: table.scalar(0, 0)?,
            inputs: table.vector(1)?.unwrap_or(Vector::empty()),
            outputs: table.vector(2)?.unwrap_or(Vector::empty()),
            options_type: table.scalar(3, 0)?,
            options: table.table(4)?,
            custom_options: table.string(5)?,
            has_far_options: table.scalar::<u64>(9, 0)? != 0,
        })
    }
}

fn at(place: &str) -> impl Fn(Broken) -> Error + '_ {
    move |broken| Error::malformed(place, broken.to_string())
}

/// Parses every table of a list.
/// Refuses files whose constants are indices into lookup tables: they would be read as the constants themselves.
fn compressed(root: &Table<'_>) -> Result<(), Error> {
    /// The name under which TFLite Micro finds the tables.
    const NAME: &[u8] = b"COMPRESSION_METADATA";
    for entry in root.tables(6).map_err(at("metadata"))?.iter() {
        if entry.and_then(|entry| entry.string(0)).map_err(at("metadata"))? == NAME {
            return Err(Error::Unsupported(vec![Problem {
                place: "model".into(),
                what:
                    "its constants are compressed: they are indices into lookup tables (COMPRESSION_METADATA)"
                        .into(),
                help: "use the file before compression; `weights = \"packed\"` keeps 4-bit weights in 4 bits"
                    .into(),
            }]));
        }
    }
    Ok(())
}

fn list<'a, T>(
    tables: Tables<'a>,
    budget: &mut Budget,
    place: impl Fn(usize) -> String,
    parse: impl Fn(Table<'a>) -> Result<T, Broken>,
) -> Result<Vec<T>, Error> {
    budget.charge(tables.len().saturating_mul(std::mem::size_of::<T>()))?;
    let mut all = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let parsed = table.and_then(&parse);
        all.push(parsed.map_err(|b| Error::malformed(place(i), b.to_string()))?);
    }
    Ok(all)
}
