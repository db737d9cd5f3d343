//! Typed views of a file's tables. Slots are the field numbers of `tosa.fbs`, version 1.0.
//!
//! [`Model::parse`] walks every table once; what it returns borrows the file. Lists that become `Vec`s are charged to a [`Budget`] first.

use crate::budget::Budget;
use crate::flatbuffer::{Broken, Strings, Table, Tables, Vector};
use kiln_ir::error::{Error, Problem};
use std::borrow::Cow;
use std::collections::HashMap;

/// Longest name that is kept; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

/// A name in the file. Not necessarily UTF-8.
pub(super) type Name<'a> = &'a [u8];

/// A name as text, cut to a sane length.
pub(super) fn text(name: Name<'_>) -> Cow<'_, str> {
    String::from_utf8_lossy(name.get(..LONGEST_NAME).unwrap_or(name))
}

/// A whole file.
pub(super) struct Model<'a> {
    /// Version of the specification.
    pub(super) version: [i32; 3],
    pub(super) regions: Vec<Region<'a>>,
}

/// Blocks that may call each other.
pub(super) struct Region<'a> {
    pub(super) name: Name<'a>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// Operators in their order, and what they compute with.
pub(super) struct Block<'a> {
    pub(super) name: Name<'a>,
    pub(super) operators: Vec<Operator<'a>>,
    pub(super) tensors: HashMap<Name<'a>, Tensor<'a>>,
    pub(super) shapes: HashMap<Name<'a>, &'a [u8]>,
    pub(super) inputs: Vec<Name<'a>>,
    pub(super) outputs: Vec<Name<'a>>,
}

/// What the file says of a tensor.
#[derive(Clone, Copy)]
pub(super) struct Tensor<'a> {
    /// Sizes; −1 for open ones. `None` where the number of axes is open, too.
    pub(super) shape: Option<Vector<'a, i32>>,
    /// Number of its element type.
    pub(super) element: u32,
    /// Elements of a constant, or of a variable at first; perhaps with some bytes behind them.
    pub(super) data: &'a [u8],
    /// Name of the variable that it stands for; empty for others.
    pub(super) variable: Name<'a>,
}

/// One operator.
pub(super) struct Operator<'a> {
    /// Number of its kind.
    pub(super) kind: u32,
    attribute: Option<Table<'a>>,
    pub(super) inputs: Vec<Name<'a>>,
    pub(super) outputs: Vec<Name<'a>>,
}

impl<'a> Model<'a> {
    /// Reads and checks all tables.
    pub(super) fn parse(file: &'a [u8], budget: &mut Budget) -> Result<Self, Error> {
        let root = Table::root(file).map_err(at("model"))?;
        let version = version(&root).map_err(at("version"))?;
        if version[0] != 1 {
            let [major, minor, patch] = version;
            return Err(Error::Unsupported(vec![Problem {
                place: "model".into(),
                what: format!("it is of version {major}.{minor}.{patch} of TOSA"),
                help: "export it for version 1.0 of the specification".into(),
            }]));
        }
        let tables = root.tables(1).map_err(at("regions"))?;
        let regions =
            list(tables, budget, "region", |table, budget, place| Region::parse(file, table, budget, place))?;
        Ok(Model { version, regions })
    }

    /// The block that the model is: the first one of the region `main`, or of the first region.
    pub(super) fn entry(&self) -> Result<(usize, &Block<'a>), Error> {
        let main = self.regions.iter().position(|region| region.name == b"main").unwrap_or(0);
        let block = self.regions.get(main).and_then(|region| region.blocks.first());
        block
            .map(|block| (main, block))
            .ok_or_else(|| Error::malformed("model", "it has no block of operators"))
    }

    /// The block of that name which a block of a region calls: one of the same region, or the first one of another region.
    pub(super) fn called(&self, region: usize, name: Name<'_>) -> Option<(usize, &Block<'a>)> {
        let own = self.regions.get(region)?.blocks.iter().find(|block| block.name == name);
        if let Some(own) = own {
            return Some((region, own));
        }
        let other = self.regions.iter().position(|region| region.name == name)?;
        self.regions.get(other)?.blocks.first().map(|block| (other, block))
    }
}

/// Version of the specification; what is not stated is −1.
fn version(root: &Table<'_>) -> Result<[i32; 3], Broken> {
    let Some(table) = root.table(0)? else { return Ok([-1; 3]) };
    Ok([table.scalar(0, -1)?, table.scalar(1, -1)?, table.scalar(2, -1)?])
}

impl<'a> Region<'a> {
    fn parse(file: &'a [u8], table: Table<'a>, budget: &mut Budget, place: &str) -> Result<Self, Error> {
        let blocks = table.tables(1).map_err(at(place))?;
        Ok(Region {
            name: table.string(0).map_err(at(place))?,
            blocks: list(blocks, budget, "block", |table, budget, place| {
                Block::parse(file, table, budget, place)
            })?,
        })
    }
}

impl<'a> Block<'a> {
    fn parse(file: &'a [u8], table: Table<'a>, budget: &mut Budget, place: &str) -> Result<Self, Error> {
        let tables = table.tables(2).map_err(at(place))?;
        let mut tensors = HashMap::new();
        for (name, tensor) in
            list(tables, budget, "tensor", |table, _, place| Tensor::parse(file, table, place))?
        {
            tensors.insert(name, tensor);
        }
        let tables = table.tables(5).map_err(at(place))?;
        let mut shapes = HashMap::new();
        for (name, data) in list(tables, budget, "shape", |table, _, place| shape(table).map_err(at(place)))?
        {
            shapes.insert(name, data);
        }
        let operators = table.tables(1).map_err(at(place))?;
        Ok(Block {
            name: table.string(0).map_err(at(place))?,
            operators: list(operators, budget, "operator", Operator::parse)?,
            tensors,
            shapes,
            inputs: names(table.strings(3), budget, place)?,
            outputs: names(table.strings(4), budget, place)?,
        })
    }
}

/// A shape: its name, and its sizes as integers of 64 bits.
fn shape(table: Table<'_>) -> Result<(Name<'_>, &[u8]), Broken> {
    let data = table.string(2)?;
    let rank = usize::try_from(table.scalar::<u32>(1, 0)?).unwrap_or(usize::MAX);
    let bytes = data.get(..rank.saturating_mul(8));
    Ok((table.string(0)?, bytes.unwrap_or(data)))
}

impl<'a> Tensor<'a> {
    fn parse(file: &'a [u8], table: Table<'a>, place: &str) -> Result<(Name<'a>, Self), Error> {
        let read = || -> Result<(Name<'a>, Self, u64, u64), Broken> {
            let is_open = table.flag(5)?;
            let tensor = Tensor {
                shape: Some(table.vector(1)?.unwrap_or(Vector::empty())).filter(|_| !is_open),
                element: table.scalar(2, 0)?,
                data: table.string(3)?,
                variable: table.string(6)?,
            };
            Ok((table.string(0)?, tensor, table.scalar(7, 0)?, table.scalar(8, 0)?))
        };
        let (name, tensor, offset, size) = read().map_err(at(place))?;
        // The data of large models lies behind the tables.
        if offset <= 1 || size == 0 || !tensor.data.is_empty() {
            return Ok((name, tensor));
        }
        let first = usize::try_from(offset).ok();
        let range = first.and_then(|first| file.get(first..first.checked_add(usize::try_from(size).ok()?)?));
        let outside =
            || Error::malformed(place, format!("its {size} bytes at {offset} lie outside the file"));
        Ok((name, Tensor { data: range.ok_or_else(outside)?, ..tensor }))
    }
}

impl<'a> Operator<'a> {
    fn parse(table: Table<'a>, budget: &mut Budget, place: &str) -> Result<Self, Error> {
        Ok(Operator {
            kind: table.scalar(0, 0).map_err(at(place))?,
            attribute: table.table(2).map_err(at(place))?,
            inputs: names(table.strings(3), budget, place)?,
            outputs: names(table.strings(4), budget, place)?,
        })
    }

    /// A list of integers among its attributes.
    pub(super) fn list(&self, slot: usize) -> Result<Vec<i64>, Broken> {
        let Some(table) = &self.attribute else { return Ok(Vec::new()) };
        let list = table.vector::<i32>(slot)?.unwrap_or(Vector::empty());
        // No attribute has more entries than a tensor has axes, on both sides.
        Ok(list.iter().take(64).map(i64::from).collect())
    }

    /// An integer among its attributes.
    pub(super) fn int(&self, slot: usize) -> Result<i32, Broken> {
        self.attribute.as_ref().map_or(Ok(0), |table| table.scalar(slot, 0))
    }

    /// A flag among its attributes.
    pub(super) fn flag(&self, slot: usize) -> Result<bool, Broken> {
        self.attribute.as_ref().map_or(Ok(false), |table| table.flag(slot))
    }

    /// Bytes or a text among its attributes.
    pub(super) fn bytes(&self, slot: usize) -> Result<&'a [u8], Broken> {
        self.attribute.as_ref().map_or(Ok(&[][..]), |table| table.string(slot))
    }
}

fn names<'a>(
    strings: Result<Strings<'a>, Broken>,
    budget: &mut Budget,
    place: &str,
) -> Result<Vec<Name<'a>>, Error> {
    let strings = strings.map_err(at(place))?;
    budget.charge(strings.len().saturating_mul(std::mem::size_of::<Name<'_>>()))?;
    strings.iter().map(|name| name.map_err(at(place))).collect()
}

fn at(place: &str) -> impl Fn(Broken) -> Error + '_ {
    move |broken| Error::malformed(place, broken.to_string())
}

/// Parses every table of a list.
fn list<'a, T>(
    tables: Tables<'a>,
    budget: &mut Budget,
    what: &str,
    parse: impl Fn(Table<'a>, &mut Budget, &str) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    budget.charge(tables.len().saturating_mul(2 * std::mem::size_of::<T>()))?;
    let mut all = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let place = format!("{what} {i}");
        let table = table.map_err(at(&place))?;
        all.push(parse(table, budget, &place)?);
    }
    Ok(all)
}
