//! One step of a cell, as frameworks write it out.

use super::affine::{affine, before_clamp, with_products, Affine};
use super::trace::{numbers, operand, root, Run};
use super::Search;
use crate::ir::{AddRescale, Clamp, Graph, Node, NodeId, Op, Real, Rescale, ValueId};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Lstm,
    Gru {
        /// Whether the reset gate is applied to the product with the state, and not to the state.
        linear_before_reset: bool,
    },
    Rnn {
        relu: bool,
    },
}

/// What a gate's sum is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feed {
    /// The step's input and the output before.
    Both,
    Input,
    Output,
    /// The step's input, and the output before times the reset gate.
    Reset,
}

impl Kind {
    /// What each of its sums is made of.
    pub(super) fn feeds(self) -> &'static [Feed] {
        match self {
            Kind::Lstm => &[Feed::Both; 4],
            Kind::Gru { linear_before_reset: true } => &[Feed::Both, Feed::Both, Feed::Input, Feed::Output],
            Kind::Gru { linear_before_reset: false } => &[Feed::Both, Feed::Both, Feed::Reset],
            Kind::Rnn { .. } => &[Feed::Both],
        }
    }
}

/// A step of one sequence.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Input, forget, cell, output; update, reset, hidden (input and output apart where the reset is between); hidden.
    pub(super) gates: Vec<Affine>,
    /// Whether the update gate, of a GRU, lets in what is new.
    pub(super) is_turned: bool,
    /// The cell state before, if it is not zeros.
    pub(super) before: Option<Run>,
    /// The cell state.
    pub(super) cell: Option<Run>,
    /// The output before as a GRU sees it, if it is not zeros.
    pub(super) hidden: Option<Run>,
    /// The output before times the reset gate.
    pub(super) reset: Option<Run>,
}

/// A step of all sequences.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) result: ValueId,
    pub(super) units: usize,
    pub(super) rows: Vec<Row>,
}

impl Step {
    /// The step whose result is that node's.
    pub(super) fn of(search: &mut Search<'_>, id: NodeId) -> Option<Step> {
        let graph = search.graph;
        let node = graph.node(id);
        let shape = &graph.ty(node.result).shape;
        let (units, all) = (*shape.dims().last()?, shape.numel());
        let sequences = all.checked_div(units).filter(|&count| count > 0)?;
        let mut rows: Vec<Row> = Vec::new();
        let mut kind = None;
        for sequence in 0..sequences {
            let run = Run { value: node.result, start: sequence * units, len: units };
            let (own, row) = match &node.op {
                Op::Mul { .. } => (Kind::Lstm, lstm(search, node, run)?),
                Op::Add { clamp, .. } if clamp.holds_finite() => gru(search, node, run)?,
                _ => rnn(search, node, run)?,
            };
            if *kind.get_or_insert(own) != own {
                return None;
            }
            // The cell state as a whole is replaced too: its rows lie in the order of sequences.
            let first = rows.first().unwrap_or(&row);
            let value = first.cell.map(|cell| cell.value);
            let fits = |cell: Run| Some(cell.value) == value && cell.start == run.start;
            if !row.cell.is_none_or(fits) {
                return None;
            }
            rows.push(row);
        }
        Some(Step { kind: kind?, result: node.result, units, rows })
    }

    /// The output of a sequence.
    pub(super) fn output(&self, sequence: usize) -> Run {
        Run { value: self.result, start: sequence * self.units, len: self.units }
    }
}

/// Whether a node may be the result of a step.
pub(super) fn may_be(graph: &Graph, node: &Node) -> bool {
    match &node.op {
        Op::Mul { rescale: Rescale::Real, clamp } => clamp.holds_finite(),
        Op::Add { rescale: AddRescale::Real, clamp } => clamp.holds_finite() || is_relu(clamp),
        Op::Dense { clamp, .. } | Op::Clip { clamp } => is_relu(clamp),
        Op::Tanh {} => graph.ty(node.result).dtype == crate::ir::DType::F32,
        _ => false,
    }
}

fn is_relu(clamp: &Clamp) -> bool {
    matches!(*clamp, Clamp::Float { lo, hi } if lo == Real(0.0) && hi.0 >= f32::MAX)
}

/// Whether an op is that one, as far as numbers are finite: TFLite's layers give no others.
fn is(own: &Op, op: &Op) -> bool {
    let mut own = own.clone();
    if let Op::Add { clamp, .. } | Op::Sub { clamp, .. } | Op::Mul { clamp, .. } = &mut own {
        if clamp.holds_finite() {
            *clamp = Clamp::NO_FLOAT;
        }
    }
    own == *op
}

/// The node that computes a run, through movements.
fn made<'g>(search: &mut Search<'g>, run: Run) -> Option<(&'g Node, Run)> {
    let run = root(search.graph, run, &mut search.work)?;
    Some((search.graph.node(search.graph.producer(run.value)?), run))
}

/// What an elementwise op reads for a run of its result, behind movements. Zeros are nothing.
fn operands(search: &mut Search<'_>, node: &Node, run: Run) -> Option<[Option<Run>; 2]> {
    let mut all = [None; 2];
    for (k, own) in all.iter_mut().enumerate() {
        let graph = search.graph;
        if graph.const_data(*node.operands.get(k)?).is_some() {
            let zeros = numbers(graph, node, k, run, &mut search.work)?.iter().all(|&x| x == 0.0);
            if zeros {
                continue;
            }
        }
        let whole = operand(graph, node, k, run, &mut search.work)?;
        *own = Some(root(graph, whole, &mut search.work)?);
    }
    Some(all)
}

/// The operands of a plain sum or product, in both orders.
fn pair(search: &mut Search<'_>, run: Run, op: &Op) -> Option<[[Option<Run>; 2]; 2]> {
    let (node, run) = made(search, run)?;
    let [a, b] = Some(&node.op).filter(|own| is(own, op)).and_then(|_| operands(search, node, run))?;
    Some([[a, b], [b, a]])
}

const SUM: Op = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };

/// What an activation is given.
fn inside(search: &mut Search<'_>, run: Run, op: &Op) -> Option<Run> {
    let (node, run) = made(search, run)?;
    let value = *node.operands.first().filter(|_| node.op == *op)?;
    root(search.graph, Run { value, ..run }, &mut search.work)
}

/// A gate: the sum in a logistic function.
fn gate(search: &mut Search<'_>, run: Run) -> Option<Affine> {
    let inner = inside(search, run, &Op::Logistic {})?;
    affine(search, inner)
}

/// h = o · tanh(c), c = f · c + i · g.
fn lstm(search: &mut Search<'_>, node: &Node, run: Run) -> Option<Row> {
    let [a, b] = operands(search, node, run)?;
    let (a, b) = (a?, b?);
    let (output, cell) = match inside(search, b, &Op::Tanh {}) {
        Some(cell) => (a, cell),
        None => (b, inside(search, a, &Op::Tanh {})?),
    };
    inside(search, output, &Op::Logistic {})?;
    let none = Affine { bias: Vec::new(), ..Affine::default() };
    let (before, [i, f, g]) = match pair(search, cell, &SUM) {
        Some(orders) => orders.into_iter().find_map(|[kept, added]| {
            let [i, g] = added_to_cell(search, added?)?;
            let (f, before) = kept_of_cell(search, kept?)?;
            Some((before, [i, f, g]))
        })?,
        None => {
            let [i, g] = added_to_cell(search, cell)?;
            (None, [i, none, g])
        }
    };
    let output = gate(search, output)?;
    let gates = vec![i, f, g, output];
    Some(Row { gates, is_turned: false, before, cell: Some(cell), hidden: None, reset: None })
}

/// i · g.
fn added_to_cell(search: &mut Search<'_>, run: Run) -> Option<[Affine; 2]> {
    pair(search, run, &PRODUCT)?.into_iter().find_map(|[i, g]| {
        let g = inside(search, g?, &Op::Tanh {})?;
        Some([gate(search, i?)?, affine(search, g)?])
    })
}

/// f · c, with the cell state before.
fn kept_of_cell(search: &mut Search<'_>, run: Run) -> Option<(Affine, Option<Run>)> {
    pair(search, run, &PRODUCT)?.into_iter().find_map(|[f, c]| Some((gate(search, f?)?, c)))
}

/// h = z · h + (1 − z) · n, or n + z · (h − n).
fn gru(search: &mut Search<'_>, node: &Node, run: Run) -> Option<(Kind, Row)> {
    let [a, b] = operands(search, node, run)?;
    [[a, b], [b, a]].into_iter().find_map(|[kept, added]| {
        let (z, hidden, n, is_turned) = blended(search, kept?, added?)?;
        let update = affine(search, z)?;
        let inner = inside(search, n, &Op::Tanh {})?;
        let new = with_products(search, inner)?;
        let (kind, mut gates, reset) = match new.rest[..] {
            [product] => {
                let (reset, of_output) =
                    pair(search, product, &PRODUCT)?.into_iter().find_map(|[r, own]| {
                        let reset = gate(search, r?)?;
                        let own = match own {
                            Some(own) => affine(search, own)?,
                            None => Affine { bias: vec![0.0; run.len], ..Affine::default() },
                        };
                        Some((reset, own))
                    })?;
                let of_input = Affine { rest: Vec::new(), ..new };
                (Kind::Gru { linear_before_reset: true }, vec![update, reset, of_input, of_output], None)
            }
            [] => {
                // One of its rows is a product of the reset gate and the output before.
                let (source, reset) = new.terms.iter().find_map(|&(source, _)| {
                    let reset = pair(search, source, &PRODUCT)?
                        .into_iter()
                        .find_map(|[r, own]| Some(gate(search, r?)?).filter(|_| own == hidden))?;
                    Some((source, reset))
                })?;
                (Kind::Gru { linear_before_reset: false }, vec![update, reset, new], Some(source))
            }
            _ => return None,
        };
        gates.iter_mut().for_each(|gate| gate.rest.clear());
        Some((kind, Row { gates, is_turned, before: None, cell: None, hidden, reset }))
    })
}

/// The update gate's sum, the state, what is new, and whether the gate lets in what is new.
fn blended(search: &mut Search<'_>, kept: Run, added: Run) -> Option<(Run, Option<Run>, Run, bool)> {
    if inside(search, added, &Op::Tanh {}).is_some() {
        // n + z · (h − n).
        return pair(search, kept, &PRODUCT)?.into_iter().find_map(|[z, rest]| {
            let [hidden, new] = difference(search, rest?)?;
            let z = inside(search, z?, &Op::Logistic {})?;
            (new == Some(added)).then_some((z, hidden, added, false))
        });
    }
    // Which factor of the sum is new: the other one is the state.
    pair(search, added, &PRODUCT)?.into_iter().find_map(|[weight, new]| {
        let new = new?;
        inside(search, new, &Op::Tanh {})?;
        let (z, is_turned) = update(search, weight?)?;
        let hidden = pair(search, kept, &PRODUCT)?
            .into_iter()
            .find_map(|[weight, hidden]| (update(search, weight?)? == (z, !is_turned)).then_some(hidden))?;
        Some((z, hidden, new, is_turned))
    })
}

/// The sum in a gate z, and whether it is z and not 1 − z.
fn update(search: &mut Search<'_>, run: Run) -> Option<(Run, bool)> {
    if let Some(z) = inside(search, run, &Op::Logistic {}) {
        return Some((z, true));
    }
    let (node, run) = made(search, run)?;
    Some(()).filter(|()| is_difference(&node.op))?;
    let graph = search.graph;
    let ones = numbers(graph, node, 0, run, &mut search.work)?.iter().all(|&x| x == 1.0);
    let z = operand(graph, node, 1, run, &mut search.work).filter(|_| ones)?;
    Some((inside(search, z, &Op::Logistic {})?, false))
}

fn is_difference(op: &Op) -> bool {
    is(op, &Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT })
}

/// The operands of a plain difference.
fn difference(search: &mut Search<'_>, run: Run) -> Option<[Option<Run>; 2]> {
    let (node, run) = made(search, run)?;
    Some(()).filter(|()| is_difference(&node.op))?;
    operands(search, node, run)
}

/// h = tanh(…), or what is positive of it.
fn rnn(search: &mut Search<'_>, node: &Node, run: Run) -> Option<(Kind, Row)> {
    let sum = match &node.op {
        Op::Tanh {} | Op::Clip { .. } => affine(search, Run { value: *node.operands.first()?, ..run })?,
        _ => before_clamp(search, node, run)?,
    };
    let kind = Kind::Rnn { relu: !matches!(node.op, Op::Tanh {}) };
    let row = Row { gates: vec![sum], is_turned: false, before: None, cell: None, hidden: None, reset: None };
    Some((kind, row))
}
