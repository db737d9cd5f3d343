//! Operations, their values and regions in MLIR's text.

use super::pretty::canonical_name;
use super::Reader;
use crate::stablehlo::module::{Attributes, Operation, Region, Type, Value};
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

/// An operation as it is read, before its results have numbers.
#[derive(Default)]
pub(super) struct Draft<'m> {
    pub(super) name: Cow<'m, str>,
    pub(super) operands: Vec<Value>,
    pub(super) attributes: Attributes<'m>,
    pub(super) regions: Vec<Region<'m>>,
    /// The types of its results.
    pub(super) results: Vec<Type>,
}

/// What is charged for a value: its number, its type and its name.
const VALUE: usize = 64;

impl<'m> Reader<'m> {
    /// A value of that type without a name.
    pub(super) fn new_value(&mut self, ty: Type) -> Parsed<Value> {
        self.scan.charge(size_of::<Type>() + size_of::<Value>())?;
        self.types.push(ty);
        Ok(Value(self.types.len() - 1))
    }

    /// Reads `%name`.
    pub(super) fn value_name(&mut self) -> Parsed<&'m str> {
        let at = self.scan.at();
        self.scan.wants("%")?;
        match self.scan.run(|byte| byte.is_ascii_alphanumeric() || b"_$.-".contains(&byte)) {
            "" => self.scan.broken_at(at, "a name is wanted behind %"),
            name => Ok(name),
        }
    }

    /// Gives values a name.
    fn define(&mut self, name: &'m str, first: Value, count: usize, at: usize) -> Parsed<()> {
        self.scan.charge(VALUE)?;
        self.defined.push(name);
        match self.names.insert(name, (first, count)) {
            None => Ok(()),
            Some(_) => self.scan.broken_at(at, format!("%{name} is defined twice")),
        }
    }

    /// Reads an operand: `%name` or `%name#1`.
    pub(super) fn operand(&mut self) -> Parsed<Value> {
        self.scan.space();
        let at = self.scan.at();
        let name = self.value_name()?;
        let index = match self.scan.joins("#") {
            false => 0,
            true => match self.scan.run(|byte| byte.is_ascii_digit()).parse() {
                Ok(index) => index,
                Err(_) => return self.scan.broken("the number of a result is wanted behind #"),
            },
        };
        self.scan.step()?;
        self.scan.charge(size_of::<Value>())?;
        match self.names.get(name) {
            Some(&(first, count)) if index < count => Ok(Value(first.0 + index)),
            Some(_) => self.scan.broken_at(at, format!("%{name} has no result {index}")),
            None => self.scan.broken_at(at, format!("%{name} is not defined here")),
        }
    }

    /// Reads operands in brackets, the first of which has been read.
    pub(super) fn operands_up_to(&mut self, close: &str) -> Parsed<Vec<Value>> {
        let mut operands = Vec::new();
        if self.scan.takes(close) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if self.scan.takes(close) {
                return Ok(operands);
            }
            self.scan.wants(",")?;
        }
    }

    /// Reads an operation.
    pub(super) fn operation(&mut self) -> Parsed<Operation<'m>> {
        self.scan.enter()?;
        self.scan.space();
        let start = self.scan.at();
        let line = self.scan.line(start);
        let mut names = Vec::new();
        if self.scan.sees("%") {
            loop {
                let at = self.scan.at();
                let name = self.value_name()?;
                let mut count = 1;
                if self.scan.takes(":") {
                    count = usize::try_from(self.scan.integer()?).unwrap_or(usize::MAX);
                }
                names.push((name, count, at));
                if !self.scan.takes(",") {
                    break;
                }
            }
            self.scan.wants("=")?;
        }
        self.scan.space();
        let at = self.scan.at();
        let draft = match self.scan.peek() {
            b'"' => self.generic()?,
            _ => match self.scan.word() {
                "" => return self.scan.broken("an operation is wanted here"),
                name => self.pretty(name, at)?,
            },
        };
        let Draft { name, operands, attributes, regions, results: types } = draft;
        let named = names.iter().try_fold(0usize, |sum, (_, count, _)| sum.checked_add(*count));
        if !names.is_empty() && named != Some(types.len()) {
            let what = format!("{name} has {} results, but other ones are named", types.len());
            return self.scan.broken_at(start, what);
        }
        let mut results = Vec::with_capacity(types.len());
        for ty in types {
            results.push(self.new_value(ty)?);
        }
        let mut next = results.first().copied().unwrap_or(Value(0));
        for (name, count, at) in names {
            self.define(name, next, count, at)?;
            next.0 += count;
        }
        let place = match self.location()? {
            Some((text, _)) => text,
            None => {
                self.scan.charge(24)?;
                Cow::Owned(format!("line {line}"))
            }
        };
        self.scan.charge(size_of::<Operation<'_>>())?;
        self.scan.leave();
        Ok(Operation { name, operands, results, attributes, regions, place })
    }

    /// An operation in the generic form: `"stablehlo.add"(%0, %1) <{…}> ({…}) {…} : (…) -> …`.
    fn generic(&mut self) -> Parsed<Draft<'m>> {
        let name = self.scan.string()?;
        let mut draft = Draft::named(canonical_name(name));
        self.scan.wants("(")?;
        draft.operands = self.operands_up_to(")")?;
        self.behind_operands(&mut draft)?;
        Ok(draft)
    }

    /// What follows the operands in the generic form.
    pub(super) fn behind_operands(&mut self, draft: &mut Draft<'m>) -> Parsed<()> {
        if self.scan.sees("[") {
            let at = self.scan.at();
            let help = "export the model with the control flow of StableHLO: stablehlo.if, stablehlo.while";
            return self.scan.unsupported(at, "an operation jumps to another block", help);
        }
        if self.scan.takes("<") {
            self.dictionary(&mut draft.attributes)?;
            self.scan.wants(">")?;
        }
        if self.scan.takes("(") {
            loop {
                let region = self.region(Vec::new())?;
                self.scan.charge(size_of::<Region<'_>>())?;
                draft.regions.push(region);
                if self.scan.takes(")") {
                    break;
                }
                self.scan.wants(",")?;
            }
        }
        self.dictionary(&mut draft.attributes)?;
        self.scan.wants(":")?;
        let at = self.scan.at();
        let (operands, results) = self.signature()?;
        self.check_types(&draft.operands, &operands, at)?;
        draft.results = results;
        Ok(())
    }

    /// Whether operands have these types.
    pub(super) fn check_types(&self, operands: &[Value], types: &[Type], at: usize) -> Parsed<()> {
        if operands.len() != types.len() {
            let what = format!("{} types are said of {} operands", types.len(), operands.len());
            return self.scan.broken_at(at, what);
        }
        for (index, (operand, ty)) in operands.iter().zip(types).enumerate() {
            if self.types.get(operand.0) != Some(ty) {
                let what = format!("operand {index} has another type where it is defined");
                return self.scan.broken_at(at, what);
            }
        }
        Ok(())
    }

    /// Reads a region. Where its first block has no label, these are its arguments.
    pub(super) fn region(&mut self, arguments: Vec<(&'m str, Type)>) -> Parsed<Region<'m>> {
        self.scan.enter()?;
        self.scan.wants("{")?;
        let at = self.scan.at();
        let mut region = Region::default();
        let outer = self.defined.len();
        for (name, ty) in arguments {
            let value = self.new_value(ty)?;
            self.define(name, value, 1, at)?;
            region.arguments.push(value);
        }
        if self.scan.takes("^") {
            self.scan.word();
            if self.scan.takes("(") && !self.scan.takes(")") {
                loop {
                    self.scan.space();
                    let at = self.scan.at();
                    let name = self.value_name()?;
                    self.scan.wants(":")?;
                    let ty = self.ty()?;
                    self.location()?;
                    let value = self.new_value(ty)?;
                    self.define(name, value, 1, at)?;
                    region.arguments.push(value);
                    if self.scan.takes(")") {
                        break;
                    }
                    self.scan.wants(",")?;
                }
            }
            self.scan.wants(":")?;
        }
        while !self.scan.takes("}") {
            self.scan.space();
            let at = self.scan.at();
            if self.scan.sees("^") {
                let help =
                    "export the model with the control flow of StableHLO: stablehlo.if, stablehlo.while";
                return self.scan.unsupported(at, "a region has several blocks", help);
            }
            let operation = self.operation()?;
            region.operations.push(operation);
        }
        // Names of this region end with it.
        for name in self.defined.drain(outer..) {
            self.names.remove(name);
        }
        self.scan.leave();
        Ok(region)
    }
}
