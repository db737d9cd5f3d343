//! Lists, tuples and dictionaries.

use super::{Machine, Value, ELEMENT_BYTES};
use crate::{Lowered, Refusal};

/// Deepest nesting of what is compared.
const DEEPEST: usize = 8;

impl<'p> Machine<'_, 'p> {
    pub(super) fn list(&mut self, all: Vec<Value<'p>>) -> Lowered<Value<'p>> {
        self.stored(all).map(Value::List)
    }

    pub(super) fn tuple(&mut self, all: Vec<Value<'p>>) -> Lowered<Value<'p>> {
        self.stored(all).map(Value::Tuple)
    }

    fn stored(&mut self, all: Vec<Value<'p>>) -> Lowered<u32> {
        self.spend(all.len())?;
        self.importer.means.budget.charge(ELEMENT_BYTES * (1 + all.len()))?;
        self.lists.push(all);
        Ok(self.lists.len() as u32 - 1)
    }

    pub(super) fn dict(&mut self, all: Vec<(Value<'p>, Value<'p>)>) -> Lowered<Value<'p>> {
        self.spend(all.len())?;
        self.importer.means.budget.charge(2 * ELEMENT_BYTES * (1 + all.len()))?;
        let mut pairs: Vec<(Value<'p>, Value<'p>)> = Vec::new();
        for (key, value) in all {
            self.spend(pairs.len() / 8)?;
            match pairs.iter_mut().find(|(known, _)| *known == key) {
                Some(pair) => pair.1 = value,
                None => pairs.push((key, value)),
            }
        }
        self.dicts.push(pairs);
        Ok(Value::Dict(self.dicts.len() as u32 - 1))
    }

    pub(super) fn slice_of(&self, value: Value<'p>) -> Option<&[Value<'p>]> {
        match value {
            Value::List(at) | Value::Tuple(at) => self.lists.get(at as usize).map(Vec::as_slice),
            _ => None,
        }
    }

    pub(super) fn pairs(&self, value: Value<'p>) -> Option<&[(Value<'p>, Value<'p>)]> {
        match value {
            Value::Dict(at) => self.dicts.get(at as usize).map(Vec::as_slice),
            _ => None,
        }
    }

    /// The elements of a list, or the parts of a tensor along its first axis.
    pub(super) fn items(&mut self, value: Value<'p>) -> Lowered<Vec<Value<'p>>> {
        if let Value::Tensor(_) = value {
            let parts = self.aten("unbind", vec![value], Vec::new(), &[])?;
            return self.items(parts);
        }
        if let Some(pairs) = self.pairs(value) {
            return Ok(pairs.iter().map(|(key, _)| *key).collect());
        }
        let items = self.slice_of(value).map(<[Value<'p>]>::to_vec);
        let items = items.ok_or_else(|| malformed!("{} is no list", self.kind(value)))?;
        self.spend(items.len())?;
        Ok(items)
    }

    /// How many elements there are.
    pub(super) fn count(&mut self, value: Value<'p>) -> Lowered<usize> {
        match value {
            Value::Text(text) => Ok(text.chars().count()),
            Value::Dict(_) => Ok(self.pairs(value).map_or(0, <[_]>::len)),
            Value::Tensor(name) => {
                let first = self.importer.ty(name)?.shape.dims().first().copied();
                first.ok_or_else(|| malformed!("a tensor without axes has no length"))
            }
            Value::Object(id) => {
                let pickle = self.model.pickle(super::Heap::Data);
                let modules = pickle.attributes(id).filter(|(name, _)| name.parse::<u32>().is_ok());
                Ok(modules.count())
            }
            _ => match self.slice_of(value) {
                Some(items) => Ok(items.len()),
                None => Err(malformed!("{} has no length", self.kind(value))),
            },
        }
    }

    /// A place in a list, which may count from its end.
    fn place_in(&self, by: Value<'p>, count: usize) -> Lowered<usize> {
        let at = self.integer(by)?;
        let at = if at < 0 { at.saturating_add(count as i64) } else { at };
        let at = usize::try_from(at).ok().filter(|&at| at < count);
        at.ok_or_else(|| malformed!("a list of {count} has no such element"))
    }

    /// An element.
    pub(super) fn item(&mut self, of: Value<'p>, by: Value<'p>) -> Lowered<Value<'p>> {
        match of {
            Value::Dict(_) => {
                self.spend(self.pairs(of).map_or(0, <[_]>::len) / 8)?;
                let found = self.pairs(of).unwrap_or_default().iter().find(|(key, _)| *key == by);
                found.map(|(_, value)| *value).ok_or_else(|| malformed!("the dictionary has no such key"))
            }
            Value::Tensor(_) => self.aten("select", vec![of, Value::Int(0), by], Vec::new(), &[]),
            Value::Text(text) => {
                let count = text.chars().count();
                let at = self.place_in(by, count)?;
                let c = text.chars().nth(at).map(String::from).unwrap_or_default();
                self.keep(c).map(Value::Text)
            }
            _ => {
                let count = self.count(of)?;
                let at = self.place_in(by, count)?;
                Ok(self.slice_of(of).and_then(|items| items.get(at)).copied().unwrap_or(Value::Unset))
            }
        }
    }

    /// Changes an element.
    pub(super) fn set_item(&mut self, of: Value<'p>, by: Value<'p>, value: Value<'p>) -> Lowered {
        self.outside_of_branches()?;
        self.spend(1)?;
        match of {
            Value::List(list) => {
                let at = self.place_in(by, self.slice_of(of).map_or(0, <[_]>::len))?;
                if let Some(element) = self.lists.get_mut(list as usize).and_then(|list| list.get_mut(at)) {
                    *element = value;
                }
                Ok(())
            }
            Value::Dict(dict) => {
                self.importer.means.budget.charge(2 * ELEMENT_BYTES)?;
                self.spend(self.pairs(of).map_or(0, <[_]>::len) / 8)?;
                let pairs = &mut self.dicts[dict as usize];
                match pairs.iter_mut().find(|(key, _)| *key == by) {
                    Some(pair) => pair.1 = value,
                    None => pairs.push((by, value)),
                }
                Ok(())
            }
            _ => Err(malformed!("elements of {} cannot be changed", self.kind(of))),
        }
    }

    /// Functions that change a list; none for others.
    pub(super) fn changed(&mut self, name: &str, given: &[Value<'p>]) -> Lowered<Option<Value<'p>>> {
        let Some(&Value::List(at)) = given.first() else { return Ok(None) };
        let list = given[0];
        if !matches!(name, "append" | "extend" | "insert" | "pop" | "clear" | "reverse" | "sort") {
            return Ok(None);
        }
        self.outside_of_branches()?;
        let count = self.slice_of(list).map_or(0, <[_]>::len);
        match (name, given) {
            ("append", &[_, value]) => {
                self.importer.means.budget.charge(ELEMENT_BYTES)?;
                self.lists[at as usize].push(value);
            }
            ("extend", &[_, more]) => {
                let more = self.items(more)?;
                self.importer.means.budget.charge(ELEMENT_BYTES * more.len())?;
                self.lists[at as usize].extend(more);
            }
            ("insert", &[_, by, value]) => {
                let at_most = |by: i64| usize::try_from(by).unwrap_or(0).min(count);
                let by = self.integer(by)?;
                let by = if by < 0 { by.saturating_add(count as i64) } else { by };
                self.importer.means.budget.charge(ELEMENT_BYTES)?;
                self.spend(count)?;
                self.lists[at as usize].insert(at_most(by), value);
            }
            ("pop", _) => {
                let by = given.get(1).copied().unwrap_or(Value::Int(-1));
                let place = self.place_in(by, count)?;
                self.spend(count)?;
                return Ok(Some(self.lists[at as usize].remove(place)));
            }
            ("clear", _) => self.lists[at as usize].clear(),
            ("reverse", _) => {
                self.spend(count)?;
                self.lists[at as usize].reverse();
            }
            _ => {
                return Err(Refusal::unsupported(
                    format!("{name} of a list cannot be compiled"),
                    "write it as a loop",
                ))
            }
        }
        Ok(Some(list))
    }

    /// Part of a list.
    pub(super) fn part_of(&mut self, given: &[Value<'p>]) -> Lowered<Value<'p>> {
        let (of, items) = (given[0], self.items(given[0])?);
        let count = items.len() as i64;
        let number = |machine: &Self, k: usize, otherwise: i64| match given.get(k) {
            None | Some(Value::None) => Ok(otherwise),
            Some(&value) => machine.integer(value),
        };
        let step = number(self, 3, 1)?;
        if step < 1 {
            return Err(Refusal::unsupported(format!("its step is {step}"), "use a step of at least 1"));
        }
        let inside = |at: i64| (if at < 0 { at.saturating_add(count) } else { at }).clamp(0, count) as usize;
        let (first, end) = (inside(number(self, 1, 0)?), inside(number(self, 2, i64::MAX)?));
        let part = items.get(first..end.max(first)).unwrap_or_default();
        let part = part.iter().step_by(usize::try_from(step).unwrap_or(usize::MAX)).copied().collect();
        match of {
            Value::Tuple(_) => self.tuple(part),
            _ => self.list(part),
        }
    }

    /// Whether two values are equal; none where that is known only at run time.
    pub(super) fn equal(&mut self, a: Value<'p>, b: Value<'p>, depth: usize) -> Lowered<Option<bool>> {
        self.spend(1)?;
        if depth > DEEPEST {
            return Err(malformed!("what is compared is nested too deep"));
        }
        if let (Some(x), Some(y)) = (self.number(a), self.number(b)) {
            return Ok(Some(x == y));
        }
        if let (Some(x), Some(y)) = (self.slice_of(a), self.slice_of(b)) {
            if x.len() != y.len() {
                return Ok(Some(false));
            }
            let pairs: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
            for (x, y) in pairs {
                match self.equal(x, y, depth + 1)? {
                    Some(true) => {}
                    other => return Ok(other),
                }
            }
            return Ok(Some(true));
        }
        Ok(match (a, b) {
            (Value::Tensor(x) | Value::Scalar(x), Value::Tensor(y) | Value::Scalar(y)) if x == y => {
                Some(true)
            }
            (Value::Tensor(_) | Value::Scalar(_), _) | (_, Value::Tensor(_) | Value::Scalar(_)) => None,
            _ => Some(a == b),
        })
    }

    /// A value for messages.
    pub(super) fn kind(&self, value: Value<'p>) -> &'static str {
        match value {
            Value::None => "None",
            Value::Unset => "a variable without a value",
            Value::Bool(_) => "a truth value",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a text",
            Value::Tensor(_) => "a tensor",
            Value::Scalar(_) => "a number that is computed at run time",
            Value::List(_) => "a list",
            Value::Tuple(_) => "a tuple",
            Value::Dict(_) => "a dictionary",
            Value::Object(_) => "an object",
        }
    }

    /// An integer that is known.
    pub(super) fn integer(&self, value: Value<'p>) -> Lowered<i64> {
        match value {
            Value::Int(number) => Ok(number),
            Value::Bool(truth) => Ok(truth.into()),
            Value::Scalar(_) | Value::Tensor(_) => {
                let what = "an integer is known only at run time";
                Err(Refusal::unsupported(
                    what,
                    "export it with fixed shapes, so that it follows from constants",
                ))
            }
            _ => Err(malformed!("{} is no integer", self.kind(value))),
        }
    }

    /// A number that is known.
    pub(super) fn number(&self, value: Value<'p>) -> Option<f64> {
        match value {
            Value::Int(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            Value::Bool(truth) => Some(f64::from(u8::from(truth))),
            _ => None,
        }
    }
}
