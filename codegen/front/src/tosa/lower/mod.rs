//! Lowering of a parsed file to a [`Graph`](kiln_ir::Graph).
//!
//! One file per family of operators. Each operator is given a [`Cx`]. An operator that cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so
//! that one run reports everything that stands in the way.
//!
//! TOSA has no scales. Integers have zero points, and a RESCALE states how sums become narrow integers. So a quantised layer is several operators, which this
//! reader puts together again: what computes integers of 32 bits is kept as an expression ([`lazy`]) until it is clear what becomes of it. Where it becomes 8 bits, [`recognise`]
//! looks for an op that has the same results for all operands, and [`layer`] makes integer layers. What is left is computed in plain integers of 64 bits. All ways have the same bits.
//!
//! A tensor of 8 bits has a scale of 1 in the graph, and the zero point with which an operator reads it.

mod bits;
mod cast;
mod control;
mod conv;
mod cx;
mod elementwise;
mod fourier;
mod gather;
mod interface;
mod layer;
mod lazy;
mod matmul;
mod movement;
mod plain;
mod pool;
mod recognise;
mod reduce;
mod rescale;
mod resize;
mod scale;
mod shape;
mod sums;
mod tensor;
mod transposed;
mod variable;

use super::names;
use super::schema::{text, Block, Model, Name, Operator};
use crate::budget::Budget;
use crate::onnx::lower::{Host, Importer as Means};
use crate::{Lowered, Read, Refusal};
use cx::Cx;
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::ValueId;
use lazy::{Lazies, LazyId};
use std::collections::HashMap;
use std::rc::Rc;
use variable::Variable;

pub(super) use tensor::{dims_of, dtype_of};

/// Bytes of graph that an operator takes: its nodes and values with their names.
const OPERATOR_BYTES: usize = 512;

/// How deep blocks may be nested.
const DEEPEST: usize = 32;

/// What a tensor or shape of the file became.
#[derive(Clone, Debug)]
enum Slot {
    Value(ValueId),
    /// Integers that are not computed yet.
    Lazy(LazyId),
    /// Sizes.
    Shape(Rc<[i64]>),
    /// The result of an operator that was refused.
    Refused,
}

/// A block while it is read.
struct Scope<'m, 'a> {
    region: usize,
    block: &'m Block<'a>,
    slots: HashMap<Name<'a>, Slot>,
}

/// The state of one import.
struct Importer<'m, 'a> {
    means: Means<'m, 'static>,
    host: &'m Host,
    model: &'m Model<'a>,
    options: &'m Options,
    lazies: Lazies,
    variables: Vec<(Name<'a>, Variable)>,
    /// Operators so far.
    count: usize,
    depth: usize,
}

/// Lowers a file.
pub(super) fn lower(model: &Model<'_>, name: &str, options: &Options, budget: Budget) -> Result<Read, Error> {
    let host = Host::default();
    let mut importer = Importer {
        means: Means::hosted(&host, name, options, budget),
        host: &host,
        model,
        options,
        lazies: Lazies::default(),
        variables: Vec::new(),
        count: 0,
        depth: 0,
    };
    let outputs = importer.run()?;
    importer.keep_variables();
    Read::of(importer.means.graph, importer.means.report, options, &outputs)
}

impl<'m, 'a> Importer<'m, 'a> {
    /// Lowers everything, and gives the names of outputs.
    fn run(&mut self) -> Result<Vec<String>, Error> {
        let (region, block) = self.model.entry()?;
        // Tables and coefficients follow from few numbers.
        self.means.budget.make(usize::MAX);
        let inputs = self.inputs(block)?;
        match self.block(region, block, inputs) {
            Ok(results) => self.outputs(block, results),
            Err(Refusal::Fatal(error)) => Err(error),
            Err(Refusal::Malformed(what)) => Err(Error::malformed("block", what)),
            Err(_) => self.outputs(block, vec![Slot::Refused; block.outputs.len()]),
        }
    }

    /// Lowers a block with these operands, and gives its results.
    fn block(&mut self, region: usize, block: &'m Block<'a>, operands: Vec<Slot>) -> Lowered<Vec<Slot>> {
        let count = block.inputs.len();
        malformed_if!(count != operands.len(), "a block of {count} inputs gets {}", operands.len());
        let slots = block.inputs.iter().copied().zip(operands).collect();
        let mut scope = Scope { region, block, slots };
        for operator in &block.operators {
            self.operator(&mut scope, operator)?;
        }
        block.outputs.iter().map(|&name| scope.find(name)).collect()
    }

    /// A block that an operator calls: counted, and refused as a whole.
    fn inner(&mut self, region: usize, block: &'m Block<'a>, operands: Vec<Slot>) -> Lowered<Vec<Slot>> {
        if !self.means.budget.inline(block.operators.len()) {
            return Err(Refusal::too_long());
        }
        if self.depth >= DEEPEST {
            let what = format!("blocks are nested more than {DEEPEST} deep");
            return Err(Refusal::unsupported(what, "export the model with fewer nested blocks"));
        }
        self.depth += 1;
        let refused = self.means.report.count();
        let results = self.block(region, block, operands);
        self.depth -= 1;
        match results {
            // What was refused is reported where it stands.
            Ok(_) if self.means.report.count() > refused => Err(Refusal::Follows),
            results => results,
        }
    }

    fn operator(&mut self, scope: &mut Scope<'m, 'a>, operator: &'m Operator<'a>) -> Lowered {
        let links = operator.inputs.len() + operator.outputs.len();
        self.means.budget.charge(OPERATOR_BYTES + 64 * links)?;
        let index = self.count;
        self.count += 1;
        let name = names::operator(operator.kind);
        let before = self.means.graph.order.len();
        let results = match self.computed(index, &name, scope, operator) {
            Ok(results) => results,
            Err(refusal) => {
                self.means.report.refuse(place(index, &name, operator), Some((index, &name)), refusal)?;
                // What was made of it so far is not part of the model.
                self.means.graph.order.truncate(before);
                self.lazies.forget(&self.means.graph);
                vec![Slot::Refused; operator.outputs.len()]
            }
        };
        scope.slots.extend(operator.outputs.iter().copied().zip(results));
        Ok(())
    }

    /// What an operator computes.
    fn computed(
        &mut self,
        index: usize,
        name: &str,
        scope: &mut Scope<'m, 'a>,
        operator: &'m Operator<'a>,
    ) -> Lowered<Vec<Slot>> {
        let lower = lowering(name);
        let operands =
            operator.inputs.iter().map(|&name| scope.find(name)).collect::<Lowered<Vec<Slot>>>()?;
        if operands.iter().any(|slot| matches!(slot, Slot::Refused)) {
            return Err(Refusal::Follows);
        }
        let lower = lower.ok_or_else(|| refused_kind(name, operator))?;
        let origin = format!("{index} {name}");
        let mut cx = Cx { importer: self, scope, operator, operands, origin };
        let results = match lower {
            Lower::One(lower) => vec![Slot::Value(lower(&mut cx)?)],
            Lower::Kept(lower) => vec![lower(&mut cx)?],
            Lower::All(lower) => lower(&mut cx)?,
        };
        let wanted = operator.outputs.len();
        malformed_if!(results.len() < wanted, "it has {wanted} results, but computes {}", results.len());
        for (&name, slot) in operator.outputs.iter().zip(&results) {
            cx.check(name, slot)?;
        }
        Ok(results)
    }
}

impl<'a> Scope<'_, 'a> {
    fn find(&self, name: Name<'a>) -> Lowered<Slot> {
        let found = self.slots.get(name).cloned();
        found.ok_or_else(|| malformed!("\"{}\" is used before it is computed", text(name)))
    }
}

/// The refusal of an operator without a lowering.
fn refused_kind(name: &str, operator: &Operator<'_>) -> Refusal {
    if name != "CUSTOM" {
        return Refusal::unknown();
    }
    let of = |slot: usize| operator.bytes(slot).map(|bytes| text(bytes).into_owned()).unwrap_or_default();
    let what = format!("the custom operator \"{}\" of the domain \"{}\" cannot be compiled", of(0), of(1));
    Refusal::unsupported(what, "replace it with operators of TOSA, or move the computation out of the model")
}

fn place(index: usize, name: &str, operator: &Operator<'_>) -> String {
    match operator.outputs.first() {
        Some(result) => format!("operator {index} {name} \"{}\"", text(result)),
        None => format!("operator {index} {name}"),
    }
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
enum Lower {
    /// Gives the only result.
    One(fn(&mut Cx<'_, '_, '_>) -> Lowered<ValueId>),
    /// Gives the only result, which need not be a computed tensor.
    Kept(fn(&mut Cx<'_, '_, '_>) -> Lowered<Slot>),
    /// Gives all results.
    All(fn(&mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>>),
}
use Lower::{All, Kept, One};

/// The operators of a family: name and lowering.
type Operators = &'static [(&'static str, Lower)];

/// The operators that Kiln compiles.
const FAMILIES: &[Operators] = &[
    bits::OPERATORS,
    cast::OPERATORS,
    control::OPERATORS,
    conv::OPERATORS,
    elementwise::OPERATORS,
    fourier::OPERATORS,
    gather::OPERATORS,
    matmul::OPERATORS,
    movement::OPERATORS,
    pool::OPERATORS,
    reduce::OPERATORS,
    rescale::OPERATORS,
    resize::OPERATORS,
    shape::OPERATORS,
    tensor::OPERATORS,
    variable::OPERATORS,
];

/// Names of all operators.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|(name, _)| *name)
}

fn lowering(name: &str) -> Option<Lower> {
    FAMILIES.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}
