//! The functions of a module, made of computations.

use super::literals::literal;
use super::shapes::{flat, leaves};
use super::{Computation, Instruction, Program};
use crate::stablehlo::module::{Attribute, Attributes, Function, Module, Operation, Region, Type, Value};
use crate::stablehlo::scanner::{Parsed, Scanner};
use std::borrow::Cow;
use std::collections::HashSet;

/// The module of a text.
pub(super) fn module<'m>(scan: &mut Scanner<'m>, program: &Program<'m>) -> Parsed<Module<'m>> {
    let mut emitter = Emitter { scan, program, types: Vec::new(), called: Vec::new(), known: HashSet::new() };
    let mut module = Module { name: program.name.into(), functions: Vec::new() };
    emitter.call(program.entry)?;
    while let Some(name) = emitter.called.pop() {
        let function = emitter.function(name)?;
        emitter.scan.charge(size_of::<Function<'_>>())?;
        module.functions.push(function);
    }
    Ok(module)
}

/// An operation before its results have numbers.
#[derive(Default)]
pub(super) struct Draft<'m> {
    pub(super) name: Cow<'m, str>,
    pub(super) operands: Vec<Value>,
    pub(super) attributes: Attributes<'m>,
    pub(super) regions: Vec<Region<'m>>,
}

/// The values of an instruction, with tuples taken apart.
#[derive(Default)]
struct Given {
    values: Vec<Value>,
    /// Where the values of each element of a tuple begin, and where the last ends.
    starts: Vec<usize>,
}

/// What makes functions of computations.
pub(super) struct Emitter<'a, 'm> {
    pub(super) scan: &'a mut Scanner<'m>,
    pub(super) program: &'a Program<'m>,
    /// The types of the function's values.
    pub(super) types: Vec<Type>,
    /// Computations that are to become functions, and those that are or will be.
    called: Vec<&'m str>,
    known: HashSet<&'m str>,
}

impl<'a, 'm> Emitter<'a, 'm> {
    /// Makes a computation a function.
    pub(super) fn call(&mut self, name: &'m str) -> Parsed<()> {
        if self.known.insert(name) {
            self.scan.charge(64)?;
            self.called.push(name);
        }
        Ok(())
    }

    /// The computation with the name that stands at a place.
    pub(super) fn computation(&mut self, at: usize) -> Parsed<(&'m str, &'a Computation<'m>)> {
        self.scan.jump(at);
        let name = super::parse::name(self.scan)?;
        match self.program.computations.get(name) {
            Some(computation) => Ok((name, computation)),
            None => self.scan.broken_at(at, format!("the computation {name} is not defined")),
        }
    }

    fn function(&mut self, name: &'m str) -> Parsed<Function<'m>> {
        self.types.clear();
        let Some(computation) = self.program.computations.get(name) else {
            return self.scan.broken(format!("the computation {name} is not defined"));
        };
        let (arguments, values) = self.arguments(computation)?;
        let mut argument_attributes = Vec::with_capacity(arguments.len());
        for (&parameter, values) in computation.parameters.iter().zip(&values) {
            let name = computation.instructions.get(parameter).map_or("", |instruction| instruction.name);
            for index in 0..values.len() {
                self.scan.charge(size_of::<Attributes<'_>>() + 128 + name.len())?;
                let name = match values.len() {
                    1 => Cow::Borrowed(name),
                    _ => Cow::Owned(format!("{name}.{index}")),
                };
                argument_attributes.push(Attributes(vec![("name".into(), Attribute::Text(name))]));
            }
        }
        let (mut operations, returned) = self.body(computation, &values)?;
        let results: Vec<Type> = returned.iter().map(|value| self.ty(*value).clone()).collect();
        operations.push(self.end("func.return", returned)?);
        Ok(Function {
            name: name.into(),
            public: name == self.program.entry,
            result_attributes: vec![Attributes::default(); results.len()],
            results,
            argument_attributes,
            types: std::mem::take(&mut self.types),
            body: Region { arguments, operations },
        })
    }

    pub(super) fn ty(&self, value: Value) -> &Type {
        self.types.get(value.0).unwrap_or(&Type::Other)
    }

    fn new_value(&mut self, ty: Type) -> Parsed<Value> {
        let rank = if let Type::Tensor(tensor) = &ty { tensor.shape.len() } else { 0 };
        self.scan.charge(size_of::<Type>() + 16 * rank)?;
        self.types.push(ty);
        Ok(Value(self.types.len() - 1))
    }

    /// New values for the parameters of a computation: all of them, and those of each.
    fn arguments(&mut self, computation: &Computation<'m>) -> Parsed<(Vec<Value>, Vec<Vec<Value>>)> {
        let (mut all, mut each) = (Vec::new(), Vec::new());
        for &parameter in &computation.parameters {
            let mut types = Vec::new();
            if let Some(instruction) = computation.instructions.get(parameter) {
                flat(&instruction.ty, &mut types);
            }
            let mut values = Vec::with_capacity(types.len());
            for ty in types {
                values.push(self.new_value(ty)?);
            }
            self.scan.charge(size_of::<Vec<Value>>())?;
            all.extend(values.iter().copied());
            each.push(values);
        }
        Ok((all, each))
    }

    /// The operation at the end of a region.
    fn end(&mut self, name: &'static str, operands: Vec<Value>) -> Parsed<Operation<'m>> {
        self.scan.charge(size_of::<Operation<'_>>())?;
        Ok(Operation { name: name.into(), operands, place: "its result".into(), ..Operation::default() })
    }

    /// The region of a computation that is applied to new values.
    pub(super) fn region(&mut self, computation: &'a Computation<'m>) -> Parsed<Region<'m>> {
        let (arguments, values) = self.arguments(computation)?;
        let (mut operations, returned) = self.body(computation, &values)?;
        operations.push(self.end("stablehlo.return", returned)?);
        self.scan.charge(size_of::<Region<'_>>())?;
        Ok(Region { arguments, operations })
    }

    /// The region of a computation that is applied to values of the function.
    pub(super) fn branch(
        &mut self,
        computation: &'a Computation<'m>,
        of: &[Vec<Value>],
    ) -> Parsed<Region<'m>> {
        let (mut operations, returned) = self.body(computation, of)?;
        operations.push(self.end("stablehlo.return", returned)?);
        self.scan.charge(size_of::<Region<'_>>())?;
        Ok(Region { arguments: Vec::new(), operations })
    }

    /// The operations of a computation, and the values that it gives.
    fn body(
        &mut self,
        computation: &'a Computation<'m>,
        arguments: &[Vec<Value>],
    ) -> Parsed<(Vec<Operation<'m>>, Vec<Value>)> {
        self.scan.enter()?;
        if arguments.len() != computation.parameters.len() {
            let at = computation.instructions.first().map_or(0, |instruction| instruction.at);
            let (given, wanted) = (arguments.len(), computation.parameters.len());
            let what = format!("the computation has {wanted} parameters, but is applied to {given} values");
            return self.scan.broken_at(at, what);
        }
        let mut operations = Vec::new();
        let mut all: Vec<Given> = Vec::new();
        for instruction in &computation.instructions {
            self.scan.step()?;
            let given = self.instruction(instruction, &all, arguments, &mut operations)?;
            let mut types = Vec::new();
            flat(&instruction.ty, &mut types);
            if !given.iter().map(|value| self.ty(*value)).eq(&types) {
                let what = format!("{} has another shape than its operands say", instruction.name);
                return self.scan.broken_at(instruction.at, what);
            }
            let mut starts = Vec::new();
            if let Type::Tuple(parts) = &instruction.ty {
                let mut start = 0;
                for part in parts {
                    starts.push(start);
                    start += leaves(part);
                }
                starts.push(start);
            }
            self.scan.charge(size_of::<Given>() + size_of_val(&*given) + size_of_val(&*starts))?;
            all.push(Given { values: given, starts });
        }
        let returned = all.into_iter().nth(computation.root).unwrap_or_default().values;
        self.scan.leave();
        Ok((operations, returned))
    }

    /// The values that an instruction gives.
    fn instruction(
        &mut self,
        instruction: &'a Instruction<'m>,
        all: &[Given],
        arguments: &[Vec<Value>],
        operations: &mut Vec<Operation<'m>>,
    ) -> Parsed<Vec<Value>> {
        let operands: Vec<&Given> =
            instruction.operands.iter().filter_map(|&operand| all.get(operand)).collect();
        let count: usize = operands.iter().map(|operand| operand.values.len()).sum();
        match instruction.opcode {
            "parameter" => {
                self.scan.jump(instruction.at);
                let number = usize::try_from(self.scan.integer()?).ok();
                Ok(number.and_then(|number| arguments.get(number)).cloned().unwrap_or_default())
            }
            "tuple" => {
                // It can be much more than its text where a tuple is in it often.
                self.scan.charge(8 * count)?;
                Ok(operands.iter().flat_map(|operand| operand.values.iter().copied()).collect())
            }
            "get-tuple-element" => {
                let index = self.integer_of(instruction, "index")?;
                let part = operands.first().and_then(|of| {
                    let index = usize::try_from(index).ok()?;
                    let (start, end) = (*of.starts.get(index)?, *of.starts.get(index.checked_add(1)?)?);
                    of.values.get(start..end)
                });
                match part {
                    Some(part) => Ok(part.to_vec()),
                    None => self.scan.broken_at(instruction.at, "a tuple has no such element"),
                }
            }
            // The same values, whatever they mean for memory or order.
            "copy" | "opt-barrier" | "domain" | "add-dependency" => {
                Ok(operands.first().map(|of| of.values.clone()).unwrap_or_default())
            }
            "constant" => {
                self.scan.jump(instruction.at);
                let mut parts = Vec::new();
                literal(self.scan, &instruction.ty, &mut parts)?;
                let mut given = Vec::new();
                for dense in parts {
                    let ty = dense.ty.clone();
                    let attributes = Attributes(vec![("value".into(), Attribute::Dense(dense))]);
                    let draft = Draft { name: "stablehlo.constant".into(), attributes, ..Draft::default() };
                    given.extend(self.push(draft, vec![ty], instruction, operations)?);
                }
                Ok(given)
            }
            _ => {
                self.scan.charge(8 * count + size_of::<Vec<Value>>() * operands.len())?;
                let operands = operands.iter().map(|operand| operand.values.clone()).collect();
                let draft = self.draft(instruction, operands)?;
                let mut types = Vec::new();
                flat(&instruction.ty, &mut types);
                self.push(draft, types, instruction, operations)
            }
        }
    }

    /// Adds an operation. Gives its results.
    fn push(
        &mut self,
        draft: Draft<'m>,
        types: Vec<Type>,
        instruction: &Instruction<'m>,
        operations: &mut Vec<Operation<'m>>,
    ) -> Parsed<Vec<Value>> {
        let place = self.place(instruction)?;
        let mut results = Vec::with_capacity(types.len());
        for ty in types {
            results.push(self.new_value(ty)?);
        }
        self.scan.charge(size_of::<Operation<'_>>() + 8 * (draft.operands.len() + results.len()))?;
        let Draft { name, operands, attributes, regions } = draft;
        operations.push(Operation { name, operands, results: results.clone(), attributes, regions, place });
        Ok(results)
    }

    /// What a person calls the place of an instruction: the name that its metadata has, or its line.
    fn place(&mut self, instruction: &Instruction<'m>) -> Parsed<Cow<'m, str>> {
        if let Some(at) = instruction.attribute("metadata") {
            self.scan.jump(at);
            self.scan.wants("{")?;
            while !self.scan.takes("}") && !self.scan.ends() {
                if self.scan.takes_word("op_name") && self.scan.takes("=") {
                    let name = self.scan.string()?;
                    if !name.is_empty() {
                        return Ok(name);
                    }
                } else if self.scan.peek() == b'"' {
                    self.scan.string()?;
                } else if self.scan.word().is_empty() {
                    self.scan.advance();
                }
            }
        }
        self.scan.charge(24)?;
        Ok(Cow::Owned(format!("line {}", instruction.line)))
    }
}
