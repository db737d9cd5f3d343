//! Values as arguments of nodes.

use super::chain::{Now, Trace};
use super::numbers::Number;
use super::schema::{text, Value};
use crate::torch::program::{Arg, SymInt};
use crate::Lowered;

/// The number that files of `torch.export` have for a `ScalarType` in memory.
pub(super) fn scalar(number: i64) -> i64 {
    match number {
        0..=11 => number + 1,
        15 => 13,
        27 => 28,
        28 => 29,
        29 => 30,
        12..=14 | 16 | 17 => 14,
        _ => -1,
    }
}

/// Names of arguments that are element types.
const DTYPES: &[&str] = &["dtype", "input_dtype", "out_dtype", "output_dtype"];

impl Trace<'_, '_> {
    /// What a value is as the argument of that name.
    pub(super) fn argument(&mut self, name: &str, index: usize) -> Lowered<Arg> {
        let list = |count: usize| count.saturating_mul(std::mem::size_of::<SymInt>());
        Ok(match self.method.values.get(index).copied() {
            Some(Value::Ints(items)) => {
                self.budget.charge(list(items.len()))?;
                Arg::Ints(items.iter().map(|item| self.size(item)).collect::<Lowered<_>>()?)
            }
            Some(Value::Bools(items)) => {
                self.budget.charge(list(items.len()))?;
                Arg::Ints(items.iter().map(|truth| SymInt::Known(i64::from(truth != 0))).collect())
            }
            Some(Value::Doubles(items)) => {
                self.budget.charge(list(items.len()))?;
                Arg::Floats(items.iter().collect())
            }
            Some(Value::Tensors(items)) => {
                self.budget.charge(list(items.len()))?;
                let all = items.iter().map(|item| match self.now(self.index(item)?)? {
                    Now::Tensor(name) => Ok(name),
                    _ => Err(malformed!("value {item} is no tensor")),
                });
                Arg::Tensors(all.collect::<Lowered<_>>()?)
            }
            Some(Value::OptionalTensors(items)) => {
                self.budget.charge(list(items.len()))?;
                let one = |item: i32| match item {
                    -1 => Ok(None),
                    item => match self.now(self.index(item)?)? {
                        Now::Tensor(name) => Ok(Some(name)),
                        Now::None => Ok(None),
                        _ => Err(malformed!("value {item} is no tensor")),
                    },
                };
                Arg::OptionalTensors(items.iter().map(one).collect::<Lowered<_>>()?)
            }
            Some(Value::Text(bytes)) => Arg::Text(text(bytes)),
            Some(Value::Unknown(kind)) => {
                return Err(malformed!("value {index} is of a kind that is unknown: {kind}"))
            }
            _ => match self.now(index)? {
                Now::None => Arg::None,
                Now::Number(Number::Int(number)) if DTYPES.contains(&name) => Arg::Dtype(scalar(number)),
                Now::Number(Number::Int(number)) => Arg::Int(number),
                Now::Number(Number::Bool(truth)) => Arg::Bool(truth),
                Now::Number(Number::Double(number)) => Arg::Float(number),
                Now::Tensor(name) => Arg::Tensor(name),
                Now::Computed(name) => Arg::Computed(name),
                Now::Unset | Now::Pieces(_) => return Err(malformed!("value {index} is no argument")),
            },
        })
    }

    /// A size in a list.
    fn size(&mut self, item: i64) -> Lowered<SymInt> {
        let index = usize::try_from(item).map_err(|_| malformed!("it has no value {item}"))?;
        match self.now(index)? {
            Now::Number(Number::Int(number)) => Ok(SymInt::Known(number)),
            Now::Number(Number::Bool(truth)) => Ok(SymInt::Known(truth.into())),
            Now::Computed(name) | Now::Tensor(name) => Ok(SymInt::Named(name)),
            _ => Err(malformed!("value {item} is no integer")),
        }
    }
}
