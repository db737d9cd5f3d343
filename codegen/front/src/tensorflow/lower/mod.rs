//! Lowering of a model to a [`Graph`](kiln_ir::Graph).
//!
//! Nodes are lowered as somebody needs them, from the outputs on ([`run`]): what only saves, restores or trains is never looked at. One file per family of
//! operators. Each operator is given a [`Cx`]. An operator that cannot be lowered says why ([`Refusal`]); lowering goes on, so that one run reports
//! everything that stands in the way.
//!
//! Functions become part of the graph where they are called, loops are written out, and of branches all are computed and one is selected, unless it is known
//! which one is taken ([`control`], [`loops`]). Variables that an inference writes are states ([`variables`]).

mod activation;
mod arrange;
mod batch;
mod call;
mod complex;
mod control;
mod conv;
mod create;
mod cx;
mod elementwise;
mod gather;
mod inspect;
mod interface;
mod lists;
mod logic;
mod loops;
mod matrix;
mod normalise;
mod pad;
mod pool;
mod product;
mod quantise;
mod recognise;
mod recurrent;
mod reduce;
mod resize;
mod run;
mod scatter;
mod shape;
mod slice;
mod slot;
mod sort;
mod tables;
mod variables;
mod written;

use super::body::Model;
use super::proto::{short, Node};
use crate::budget::Budget;
use crate::onnx::lower::{Host, Importer as Means};
use crate::{Lowered, OperatorSummary, Read, Refusal, Summary};
use call::Call;
use cx::Cx;
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::ValueId;
use run::Run;
use slot::Slot;
use std::collections::{HashMap, HashSet};
use variables::Resource;

/// Bytes of graph that an operator takes: its nodes and values with their names.
const OPERATOR_BYTES: usize = 512;

/// How deep calls of functions may be nested.
const DEEPEST: usize = 40;

/// The state of one import.
pub(super) struct Importer<'m, 'p> {
    means: Means<'m, 'static>,
    host: &'m Host,
    model: &'p Model<'p>,
    options: &'m Options,
    /// Variables, tables and arrays.
    resources: Vec<Resource<'p>>,
    /// By name.
    named: HashMap<String, usize>,
    /// Names of variables that an inference writes.
    written: HashSet<String>,
    /// Values of constants, by the address of their bytes.
    constants: HashMap<usize, ValueId>,
    /// Functions that were called.
    called: HashSet<&'p str>,
    depth: usize,
    /// Operators so far.
    count: usize,
    /// What was lowered, for a summary.
    trace: Option<Vec<OperatorSummary>>,
}

/// Lowers a model.
pub(super) fn lower(model: &Model<'_>, name: &str, options: &Options, budget: Budget) -> Result<Read, Error> {
    let host = Host::default();
    let mut importer = Importer::new(model, name, options, &host, budget);
    let outputs = importer.run()?;
    Read::of(importer.means.graph, importer.means.report, options, &outputs)
}

/// What a model has, with shapes as far as it can be lowered.
pub(super) fn inspect(model: &Model<'_>, budget: Budget) -> Result<Summary, Error> {
    let (host, options) = (Host::default(), Options::default());
    let mut importer = Importer::new(model, "", &options, &host, budget);
    importer.trace = Some(Vec::new());
    match importer.run() {
        Ok(_) | Err(Error::Unsupported(_)) => Ok(importer.summary()),
        Err(error) => Err(error),
    }
}

impl<'m, 'p> Importer<'m, 'p> {
    fn new(model: &'p Model<'p>, name: &str, options: &'m Options, host: &'m Host, budget: Budget) -> Self {
        Importer {
            means: Means::hosted(host, name, options, budget),
            host,
            model,
            options,
            resources: Vec::new(),
            named: HashMap::new(),
            written: HashSet::new(),
            constants: HashMap::new(),
            called: HashSet::new(),
            depth: 0,
            count: 0,
            trace: None,
        }
    }

    /// Lowers everything, and gives the names of outputs.
    fn run(&mut self) -> Result<Vec<String>, Error> {
        // Functions of numbers may stand for many nodes, also in a small file.
        self.means.budget.make(usize::MAX);
        let ends = self.ends()?;
        self.restore(&ends)?;
        let mut run = Run::of(&self.model.body, Vec::new(), String::new());
        self.inputs(&ends, &mut run)?;
        self.outputs(&ends, &mut run)?;
        self.states()?;
        Ok(ends.output_names())
    }

    /// Lowers a node whose operands are known.
    fn operator(&mut self, call: Call<'p>) -> Result<Vec<Slot<'p>>, Error> {
        let links = call.operands.len();
        self.means.budget.charge(OPERATOR_BYTES + 64 * links)?;
        let index = self.count;
        self.count += 1;
        let before = self.means.graph.order.len();
        let (node, operands) = (call.node, call.operands.clone());
        let place = call.place(index);
        let lowered = match find(node.op) {
            _ if call.operands.iter().any(|slot| matches!(slot, Slot::Refused)) => Err(Refusal::Follows),
            Some(Lower::Deep(lower)) => lower(self, &call),
            Some(lower) => {
                let name = call.name();
                let origin = format!("{index} {}", short(node.op));
                let means = self.means.hosted_cx(self.host, name, origin);
                lower.run(&mut Cx { means, node, operands: call.operands })
            }
            None => Err(Refusal::unknown()),
        };
        let results = match lowered {
            Ok(results) => results,
            Err(refusal) => {
                self.means.report.refuse(place, Some((index, &short(node.op))), refusal)?;
                // What was made of it so far is not part of the model.
                self.means.graph.order.truncate(before);
                vec![Slot::Refused]
            }
        };
        self.note(index, node, &operands, &results);
        Ok(results)
    }
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
enum Lower {
    /// Gives the only result.
    One(fn(&mut Cx<'_, '_, '_>) -> Lowered<ValueId>),
    /// Gives all results, which are tensors.
    All(fn(&mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>>),
    /// Gives all results, whatever they are.
    Slots(for<'p> fn(&mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>>),
    /// Sees the whole import.
    Deep(for<'m, 'p> fn(&mut Importer<'m, 'p>, &Call<'p>) -> Lowered<Vec<Slot<'p>>>),
}
use Lower::{All, Deep, One, Slots};

impl Lower {
    fn run<'p>(self, cx: &mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
        if let Some(results) = complex::arithmetic(cx)? {
            return Ok(results);
        }
        match self {
            One(lower) => Ok(vec![Slot::Tensor(lower(cx)?)]),
            All(lower) => Ok(lower(cx)?.into_iter().map(Slot::Tensor).collect()),
            Slots(lower) => lower(cx),
            Deep(_) => Err(malformed!("it is no operator of tensors")),
        }
    }
}

/// The operators of a family: name and lowering.
type Operators = &'static [(&'static str, Lower)];

/// The operators that Kiln compiles.
const FAMILIES: &[Operators] = &[
    activation::OPERATORS,
    arrange::OPERATORS,
    batch::OPERATORS,
    complex::OPERATORS,
    control::OPERATORS,
    conv::OPERATORS,
    create::OPERATORS,
    elementwise::OPERATORS,
    gather::OPERATORS,
    lists::OPERATORS,
    logic::OPERATORS,
    loops::OPERATORS,
    matrix::OPERATORS,
    normalise::OPERATORS,
    pad::OPERATORS,
    pool::OPERATORS,
    product::OPERATORS,
    quantise::OPERATORS,
    recurrent::OPERATORS,
    reduce::OPERATORS,
    resize::OPERATORS,
    scatter::OPERATORS,
    shape::OPERATORS,
    slice::OPERATORS,
    sort::OPERATORS,
    tables::OPERATORS,
    variables::OPERATORS,
];

/// Names of all operators.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|(name, _)| *name)
}

fn find(op: &str) -> Option<Lower> {
    FAMILIES.iter().copied().flatten().find(|(known, _)| *known == op).map(|(_, lower)| *lower)
}

/// The element types of results, as attributes of a node say.
fn declared(node: &Node<'_>, attribute: &str) -> Lowered<Option<kiln_ir::DType>> {
    node.attributes.dtype(attribute)?.map(super::tensor::dtype).transpose()
}
