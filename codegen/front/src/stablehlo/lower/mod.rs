//! Lowering of a module to a [`Graph`](kiln_ir::Graph).
//!
//! One file per family of operators. Each operator is given a [`Cx`]. An operator that cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so
//! that one run reports everything that stands in the way.
//!
//! Functions become part of the graph where they are called, and loops are written out: their conditions have to follow from constants, or have a part that does.
//! What XLA made of a layer is put together again where an op stands for it ([`recognise`]).

mod attributes;
mod bits;
mod chlo;
mod compare;
mod complex;
mod constant;
mod control;
mod conv;
mod convert;
mod cx;
mod dot;
mod dynamic;
mod elementwise;
mod functions;
mod gather;
mod inspect;
mod interface;
mod quantise;
mod recognise;
mod reduce;
mod scatter;
mod select;
mod shape;
mod slot;
mod solve;
mod sort;
#[cfg(test)]
mod tests;
mod values;
mod window;

use super::module::{Function, Module, Operation, Region, Value};
use crate::budget::Budget;
use crate::onnx::lower::{Host, Importer as Means};
use crate::{Lowered, OperatorSummary, Read, Refusal, Summary};
use cx::Cx;
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::ValueId;
use slot::Slot;
use std::collections::HashMap;

/// Bytes of graph that an operator takes: its nodes and values with their names.
const OPERATOR_BYTES: usize = 512;

/// How deep calls and regions may be nested.
const DEEPEST: usize = 48;

/// What the values of a function became.
type Slots = HashMap<Value, Slot>;

/// The state of one import.
struct Importer<'m, 'p> {
    means: Means<'m, 'static>,
    host: &'m Host,
    module: &'p Module<'p>,
    options: &'m Options,
    /// Sums over windows, by the value they became: see [`window`].
    pools: HashMap<ValueId, window::Pool>,
    /// Operators so far.
    count: usize,
    depth: usize,
    /// What was lowered, for a summary.
    trace: Option<Vec<OperatorSummary>>,
}

/// Lowers a module.
pub(super) fn lower(
    module: &Module<'_>,
    name: &str,
    options: &Options,
    budget: Budget,
) -> Result<Read, Error> {
    let host = Host::default();
    let mut importer = Importer::new(module, name, options, &host, budget);
    let outputs = importer.run()?;
    Read::of(importer.means.graph, importer.means.report, options, &outputs)
}

/// What a module has, with shapes as far as it can be lowered.
pub(super) fn inspect(module: &Module<'_>, budget: Budget) -> Result<Summary, Error> {
    let (host, options) = (Host::default(), Options::default());
    let mut importer = Importer::new(module, "", &options, &host, budget);
    importer.trace = Some(Vec::new());
    match importer.run() {
        Ok(_) | Err(Error::Unsupported(_)) => Ok(importer.summary()),
        Err(error) => Err(error),
    }
}

impl<'m, 'p> Importer<'m, 'p> {
    fn new(module: &'p Module<'p>, name: &str, options: &'m Options, host: &'m Host, budget: Budget) -> Self {
        Importer {
            means: Means::hosted(host, name, options, budget),
            host,
            module,
            options,
            pools: HashMap::new(),
            count: 0,
            depth: 0,
            trace: None,
        }
    }

    /// The function that the model is.
    fn entry(&self) -> Result<&'p Function<'p>, Error> {
        let functions = &self.module.functions;
        if let Some(main) = functions.iter().find(|function| function.name == "main") {
            return Ok(main);
        }
        let mut public = functions.iter().filter(|function| function.public);
        match (public.next(), public.next(), functions.as_slice()) {
            (Some(only), None, _) | (None, _, [only]) => Ok(only),
            _ => {
                let names: Vec<&str> = functions.iter().map(|function| &*function.name).take(8).collect();
                let what = format!("it has no function `main`, and several others: {}", names.join(", "));
                Err(Error::malformed("module", what))
            }
        }
    }

    /// Lowers everything, and gives the names of outputs.
    fn run(&mut self) -> Result<Vec<String>, Error> {
        let entry = self.entry()?;
        // Functions of numbers may stand for many nodes, also in a small file.
        self.means.budget.make(usize::MAX);
        let inputs = self.inputs(entry)?;
        let mut slots = Slots::new();
        let results = match self.region(entry, &mut slots, &entry.body, inputs) {
            Ok(results) => results,
            Err(Refusal::Fatal(error)) => return Err(error),
            Err(Refusal::Malformed(what)) => return Err(Error::malformed("function", what)),
            Err(_) => vec![Slot::Refused; entry.results.len()],
        };
        self.outputs(entry, results)
    }

    /// Lowers a region with these arguments, and gives what it returns.
    fn region(
        &mut self,
        function: &'p Function<'p>,
        slots: &mut Slots,
        region: &'p Region<'p>,
        arguments: Vec<Slot>,
    ) -> Lowered<Vec<Slot>> {
        malformed_if!(
            region.arguments.len() != arguments.len(),
            "a function or region of {} arguments gets {}",
            region.arguments.len(),
            arguments.len()
        );
        slots.extend(region.arguments.iter().copied().zip(arguments));
        for operation in &region.operations {
            if is_return(&operation.name) {
                return operation.operands.iter().map(|&value| find(slots, value)).collect();
            }
            self.operation(function, slots, operation)?;
        }
        Err(malformed!("a function or region does not end in a return"))
    }

    /// A region inside of an operator: counted, and refused as a whole.
    fn inner(
        &mut self,
        function: &'p Function<'p>,
        slots: &mut Slots,
        region: &'p Region<'p>,
        arguments: Vec<Slot>,
    ) -> Lowered<Vec<Slot>> {
        let is_work =
            |operation: &&Operation<'_>| !is_return(&operation.name) && !operation.name.ends_with("constant");
        let count = region.operations.iter().filter(is_work).count() + region.arguments.len() / 8;
        if !self.means.budget.inline(count) {
            return Err(Refusal::too_long());
        }
        if self.depth >= DEEPEST {
            let what = format!("functions and regions are nested more than {DEEPEST} deep");
            return Err(Refusal::unsupported(what, "export the model with fewer nested functions"));
        }
        self.depth += 1;
        let refused = self.means.report.count();
        let results = self.region(function, slots, region, arguments);
        self.depth -= 1;
        match results {
            // What was refused is reported where it stands.
            Ok(_) if self.means.report.count() > refused => Err(Refusal::Follows),
            results => results,
        }
    }

    fn operation(
        &mut self,
        function: &'p Function<'p>,
        slots: &mut Slots,
        operation: &'p Operation<'p>,
    ) -> Lowered {
        let links = operation.operands.len() + operation.results.len();
        self.means.budget.charge(OPERATOR_BYTES + 64 * links)?;
        let index = self.count;
        self.count += 1;
        let before = self.means.graph.order.len();
        let lowered = self.computed(index, function, slots, operation);
        let results = match lowered {
            Ok(results) => results,
            Err(refusal) => {
                let place = place(index, operation);
                self.means.report.refuse(place, Some((index, &operation.name)), refusal)?;
                // What was made of it so far is not part of the model.
                self.means.graph.order.truncate(before);
                operation.results.iter().map(|&value| self.stand_in(function, value)).collect()
            }
        };
        self.note(index, operation, slots, &results);
        slots.extend(operation.results.iter().copied().zip(results));
        Ok(())
    }

    /// What an operator computes.
    fn computed(
        &mut self,
        index: usize,
        function: &'p Function<'p>,
        slots: &mut Slots,
        operation: &'p Operation<'p>,
    ) -> Lowered<Vec<Slot>> {
        let operands = operation.operands.iter().map(|&value| find(slots, value));
        let operands = operands.collect::<Lowered<Vec<Slot>>>()?;
        if operands.iter().any(|slot| matches!(slot, Slot::Refused)) {
            return Err(Refusal::Follows);
        }
        let name = bare(&operation.name);
        let lower = lowering(name).ok_or_else(Refusal::unknown)?;
        let mut cx = Cx { importer: self, function, slots, operation, operands, index };
        let results = cx.quantised(lower)?;
        malformed_if!(
            results.len() != operation.results.len(),
            "it has {} results, but computes {}",
            operation.results.len(),
            results.len()
        );
        for (&value, slot) in operation.results.iter().zip(&results) {
            cx.check(value, slot)?;
        }
        Ok(results)
    }

    /// A value to stand for a result of a refused operator, so that the operators behind it are looked at too. Integers may be an index, which has to be constant.
    fn stand_in(&mut self, function: &'p Function<'p>, value: Value) -> Slot {
        use kiln_ir::{DType, Type};
        let mut stand_in = || -> Option<Slot> {
            let tensor = slot::declared(function.types.get(value.0)?).ok()?;
            let (dims, dtype) = (slot::sizes(tensor).ok()?, slot::dtype(&tensor.element).ok()?);
            let is_sound = !dims.contains(&0) && crate::onnx::lower::check_size(dtype, &dims).is_ok();
            let is_plain = !matches!(tensor.element, super::module::Element::Quantised(_));
            if self.means.report.is_empty()
                || !is_sound
                || !is_plain
                || matches!(dtype, DType::I32 | DType::I64)
            {
                return None;
            }
            self.means.budget.charge(OPERATOR_BYTES).ok()?;
            let value = self.means.graph.add_input("refused", Type::plain(dtype, &dims));
            self.means.graph.inputs.pop();
            Some(Slot::Tensor(slot::Tensor::of(value, &dims, &tensor.element)))
        };
        stand_in().unwrap_or(Slot::Refused)
    }
}

/// Longest name that is shown; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

fn short(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

fn is_return(name: &str) -> bool {
    name.ends_with(".return") || name == "return"
}

/// The name without the dialect of most operators.
fn bare(name: &str) -> &str {
    name.strip_prefix("stablehlo.").unwrap_or(name)
}

fn find(slots: &Slots, value: Value) -> Lowered<Slot> {
    slots.get(&value).cloned().ok_or_else(|| malformed!("a value is used before it is computed"))
}

fn place(index: usize, operation: &Operation<'_>) -> String {
    let mut place = format!("operator {index} {}", short(&operation.name));
    if !operation.place.is_empty() {
        place += &format!(" ({})", short(&operation.place));
    }
    place
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
enum Lower {
    /// Gives the only result.
    One(fn(&mut Cx<'_, '_, '_>) -> Lowered<slot::Tensor>),
    /// Gives all results.
    All(fn(&mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>>),
}
use Lower::{All, One};

/// The operators of a family: name, of other dialects with the dialect in front, and lowering.
type Operators = &'static [(&'static str, Lower)];

/// The operators that Kiln compiles.
const FAMILIES: &[Operators] = &[
    bits::OPERATORS,
    chlo::OPERATORS,
    compare::OPERATORS,
    complex::OPERATORS,
    constant::OPERATORS,
    control::OPERATORS,
    convert::OPERATORS,
    conv::OPERATORS,
    dot::OPERATORS,
    dynamic::OPERATORS,
    elementwise::OPERATORS,
    functions::OPERATORS,
    gather::OPERATORS,
    quantise::OPERATORS,
    reduce::OPERATORS,
    scatter::OPERATORS,
    select::OPERATORS,
    shape::OPERATORS,
    solve::OPERATORS,
    sort::OPERATORS,
    window::OPERATORS,
];

/// Names of all operators.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|(name, _)| *name)
}

fn lowering(name: &str) -> Option<Lower> {
    FAMILIES.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}
