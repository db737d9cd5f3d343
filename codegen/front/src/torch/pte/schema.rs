//! Typed views of a program's tables. Slots are the field numbers of `schema/program.fbs`.
//!
//! Lists that become `Vec`s are charged to a [`Budget`] first.

use super::data::Segments;
use crate::budget::Budget;
use crate::flatbuffer::{Broken, Table, Tables, Vector};
use crate::torch::lower::short;
use kiln_ir::error::{Error, Problem};

/// A program.
pub(super) struct Program<'a> {
    /// The method that is read.
    pub(super) method: Method<'a>,
    /// Names of the others.
    pub(super) others: Vec<String>,
    pub(super) data: Segments<'a>,
}

/// A method: values, and instructions on them.
pub(super) struct Method<'a> {
    pub(super) values: Vec<Value<'a>>,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    pub(super) operators: Vec<String>,
    /// Names of the backends that parts of it are compiled for.
    pub(super) delegates: Vec<String>,
    pub(super) instructions: Vec<Instruction<'a>>,
}

/// A value as it is before the first instruction. Lists of integers and of tensors name other values.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Double(f64),
    Text(&'a [u8]),
    Tensor(Tensor<'a>),
    Ints(Vector<'a, i64>),
    Doubles(Vector<'a, f64>),
    Bools(Vector<'a, u8>),
    Tensors(Vector<'a, i32>),
    OptionalTensors(Vector<'a, i32>),
    /// Of a kind that the schema does not have.
    Unknown(u8),
}

/// A tensor.
#[derive(Clone, Copy)]
pub(super) struct Tensor<'a> {
    /// `ScalarType` as in memory: 6 is float32.
    pub(super) scalar: i8,
    pub(super) sizes: Vector<'a, i32>,
    /// Axes from outer to inner in memory.
    pub(super) order: Vector<'a, u8>,
    /// Number of its data; 0 for none.
    pub(super) data: u32,
    /// Its place in the memory plan, if it has one: it is written at run time. Views have the place of what they are views of.
    pub(super) place: Option<Location>,
    /// Whether its sizes are bounds only.
    pub(super) is_dynamic: bool,
    /// The name of a weight, where the file has it.
    pub(super) name: &'a [u8],
    /// Whether its data is in another file.
    pub(super) is_external: bool,
}

/// A memory, and an offset in it.
pub(super) type Location = (u32, u32, u32);

/// An instruction. Numbers that are no index of anything are checked where they are used.
#[derive(Clone, Copy)]
pub(super) enum Instruction<'a> {
    Kernel {
        operator: i32,
        args: Vector<'a, i32>,
    },
    Delegate {
        delegate: i32,
        args: Vector<'a, i32>,
    },
    Move {
        from: i32,
        to: i32,
    },
    JumpFalse {
        condition: i32,
        to: i32,
    },
    Free,
    /// Of a kind that the schema does not have.
    Unknown(u8),
}

impl<'a> Program<'a> {
    /// Reads and checks the tables of one method: `forward`, or the only one.
    pub(super) fn parse(file: &'a [u8], budget: &mut Budget) -> Result<Self, Error> {
        let root = Table::root(file).map_err(at("program"))?;
        let tables = root.tables(1).map_err(at("methods"))?;
        let (mut names, mut chosen) = (Vec::new(), None);
        for (index, table) in tables.iter().enumerate() {
            let table = table.map_err(at("methods"))?;
            budget.charge(std::mem::size_of::<String>())?;
            let name = text(table.string(0).map_err(at("methods"))?);
            budget.charge(name.len())?;
            if name == "forward" || tables.len() == 1 {
                chosen = chosen.or(Some((index, table)));
            }
            names.push(name);
        }
        let Some((index, table)) = chosen else {
            let what = match names.is_empty() {
                true => "the program has no methods".to_owned(),
                false => format!("the program has no method forward; it has {}", listed(&names)),
            };
            let help = "export the method as forward, in a program of its own".into();
            return Err(Error::Unsupported(vec![Problem { place: "program".into(), what, help }]));
        };
        let name = names.remove(index);
        let place = format!("method \"{name}\"");
        let method = Method::parse(&table, budget, &place)?;
        Ok(Program { method, others: names, data: Segments::parse(file, &root, budget)? })
    }
}

/// Some names for a message.
fn listed(names: &[String]) -> String {
    names.iter().take(8).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

impl<'a> Method<'a> {
    fn parse(table: &Table<'a>, budget: &mut Budget, place: &str) -> Result<Self, Error> {
        let broken = || at(place);
        let values = list(table.tables(2).map_err(broken())?, budget, place, Value::parse)?;
        let operators = list(table.tables(6).map_err(broken())?, budget, place, operator)?;
        let delegates =
            list(table.tables(7).map_err(broken())?, budget, place, |table| Ok(text(table.string(0)?)))?;
        let mut chains = table.tables(5).map_err(broken())?.iter();
        let instructions = match (chains.next().transpose().map_err(broken())?, chains.next()) {
            (Some(chain), None) => {
                list(chain.tables(2).map_err(broken())?, budget, place, Instruction::parse)?
            }
            (None, _) => Vec::new(),
            (_, Some(_)) => {
                let what = "it has several chains of instructions".into();
                let help = "export it with one chain, as to_executorch() does".into();
                return Err(Error::Unsupported(vec![Problem { place: place.into(), what, help }]));
            }
        };
        let mut indices = |slot: usize| {
            let numbers = table.vector::<i32>(slot).map_err(at(place))?.unwrap_or(Vector::empty());
            budget.charge(numbers.len() * std::mem::size_of::<usize>())?;
            let index = |number: i32| {
                let index = usize::try_from(number).ok().filter(|&index| index < values.len());
                index.ok_or_else(|| Error::malformed(place, format!("it has no value {number}")))
            };
            numbers.iter().map(index).collect::<Result<Vec<usize>, Error>>()
        };
        let (inputs, outputs) = (indices(3)?, indices(4)?);
        Ok(Method { values, inputs, outputs, operators, delegates, instructions })
    }
}

/// Parses each table of a list.
fn list<'a, T>(
    tables: Tables<'a>,
    budget: &mut Budget,
    place: &str,
    parse: impl Fn(Table<'a>) -> Result<T, Broken>,
) -> Result<Vec<T>, Error> {
    budget.charge(tables.len().saturating_mul(std::mem::size_of::<T>()))?;
    let mut all = Vec::with_capacity(tables.len());
    for table in tables.iter() {
        all.push(table.and_then(&parse).map_err(at(place))?);
    }
    Ok(all)
}

/// `aten::add.out`; without a dot where there is no overload.
fn operator(table: Table<'_>) -> Result<String, Broken> {
    let (name, overload) = (text(table.string(0)?), text(table.string(1)?));
    Ok(if overload.is_empty() { name } else { format!("{name}.{overload}") })
}

/// A text of the file, cut to a sane length.
pub(super) fn text(bytes: &[u8]) -> String {
    short(&String::from_utf8_lossy(bytes.get(..256).unwrap_or(bytes)))
}

impl<'a> Value<'a> {
    fn parse(table: Table<'a>) -> Result<Self, Broken> {
        let kind = table.scalar::<u8>(0, 0)?;
        let Some(value) = table.table(1)? else { return Ok(Value::Null) };
        Ok(match kind {
            0 | 1 => Value::Null,
            2 => Value::Int(value.scalar(0, 0)?),
            3 => Value::Bool(value.flag(0)?),
            4 => Value::Double(value.scalar(0, 0.0)?),
            5 => Value::Tensor(Tensor::parse(&value)?),
            6 => Value::Text(value.string(0)?),
            7 => Value::Ints(value.vector(0)?.unwrap_or(Vector::empty())),
            8 => Value::Doubles(value.vector(0)?.unwrap_or(Vector::empty())),
            9 => Value::Bools(value.vector(0)?.unwrap_or(Vector::empty())),
            10 => Value::Tensors(value.vector(0)?.unwrap_or(Vector::empty())),
            11 => Value::OptionalTensors(value.vector(0)?.unwrap_or(Vector::empty())),
            other => Value::Unknown(other),
        })
    }
}

impl<'a> Tensor<'a> {
    fn parse(table: &Table<'a>) -> Result<Self, Broken> {
        let extra = table.table(9)?;
        let place = |plan: Table<'a>| Ok((plan.scalar(0, 0)?, plan.scalar(1, 0)?, plan.scalar(2, 0)?));
        Ok(Tensor {
            scalar: table.scalar(0, 0)?,
            sizes: table.vector(2)?.unwrap_or(Vector::empty()),
            order: table.vector(3)?.unwrap_or(Vector::empty()),
            data: table.scalar(5, 0)?,
            place: table.table(6)?.map(place).transpose()?,
            is_dynamic: table.scalar::<i8>(8, 0)? != 0,
            name: extra.as_ref().map(|extra| extra.string(1)).transpose()?.unwrap_or_default(),
            is_external: extra.map(|extra| extra.scalar::<i8>(2, 0)).transpose()? == Some(1),
        })
    }
}

impl<'a> Instruction<'a> {
    fn parse(table: Table<'a>) -> Result<Self, Broken> {
        let kind = table.scalar::<u8>(0, 0)?;
        let Some(call) = table.table(1)? else { return Ok(Instruction::Unknown(kind)) };
        let args = |slot| Ok(call.vector::<i32>(slot)?.unwrap_or(Vector::empty()));
        Ok(match kind {
            1 => Instruction::Kernel { operator: call.scalar(0, 0)?, args: args(1)? },
            2 => Instruction::Delegate { delegate: call.scalar(0, 0)?, args: args(1)? },
            3 => Instruction::Move { from: call.scalar(0, 0)?, to: call.scalar(1, 0)? },
            4 => Instruction::JumpFalse { condition: call.scalar(0, 0)?, to: call.scalar(1, 0)? },
            5 => Instruction::Free,
            other => Instruction::Unknown(other),
        })
    }
}

/// The error of a broken table at a place.
pub(super) fn at(place: &str) -> impl FnOnce(Broken) -> Error + '_ {
    move |broken| Error::malformed(place, broken.to_string())
}
