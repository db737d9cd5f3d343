//! Steps with the same weights that follow each other.

use super::affine::Weights;
use super::cells::{may_be, Feed, Kind, Row, Step};
use super::trace::Run;
use super::{Search, Work, FEWEST};
use crate::ir::{Graph, ValueId};
use std::collections::{HashMap, HashSet};

/// Where rows of a state come from; nothing where they are zeros.
pub(super) type State = Vec<Option<Run>>;

/// Steps of a layer.
pub(super) struct Chain {
    pub(super) kind: Kind,
    pub(super) units: usize,
    /// Of each gate: the weights of inputs and of outputs, and the bias.
    pub(super) gates: Vec<(Option<Weights>, Option<Weights>, Vec<f64>)>,
    /// Whether the update gate lets in what is new.
    pub(super) is_turned: bool,
    /// The inputs, by step and sequence.
    pub(super) inputs: Vec<Vec<Run>>,
    /// The output and the cell state before.
    pub(super) before: [State; 2],
    /// The outputs of steps.
    pub(super) results: Vec<ValueId>,
    /// The cell states of steps, if there are.
    pub(super) cells: Vec<Run>,
}

impl Chain {
    /// The factor of a gate's sum: 1 − σ(x) is σ(−x), which an update gate is that lets in what is new.
    pub(super) fn sign(&self, gate: usize) -> f64 {
        if self.is_turned && gate == 0 {
            -1.0
        } else {
            1.0
        }
    }
}

/// The first chain of a graph that is not kept, and the work that is left.
pub(super) fn first(graph: &Graph, kept: &HashSet<ValueId>, work: Work) -> Option<(Chain, Work)> {
    let candidates: Vec<_> =
        graph.nodes().filter(|(_, node)| may_be(graph, node)).map(|(id, node)| (id, node.result)).collect();
    let hidden = candidates.iter().map(|&(_, result)| result).collect();
    let mut search = Search { graph, work, hidden, copies: HashMap::new() };
    let steps: Vec<Step> = candidates.iter().filter_map(|&(id, _)| Step::of(&mut search, id)).collect();
    let next = followers(&steps);
    let has_previous: HashSet<usize> = next.values().copied().collect();
    for start in (0..steps.len()).filter(|at| !has_previous.contains(at)) {
        let mut path = vec![start];
        while let Some(&after) = path.last().and_then(|last| next.get(last)) {
            path.push(after);
        }
        let path: Vec<&Step> = path.into_iter().map(|at| &steps[at]).collect();
        let mut rest = &path[..];
        while rest.len() >= FEWEST {
            let (chain, used) = begun(rest);
            rest = &rest[used..];
            if let Some(chain) = chain.filter(|chain| !chain.results.iter().any(|id| kept.contains(id))) {
                return Some((chain, search.work));
            }
        }
    }
    None
}

/// The step that follows each step: that sees its state. Every step has one before it at most.
fn followers(steps: &[Step]) -> HashMap<usize, usize> {
    let mut made: HashMap<Run, usize> = HashMap::new();
    let mut next = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(row) = step.rows.first() else { continue };
        let sees = |run: &Run| made.get(run).copied().filter(|&before| steps[before].kind == step.kind);
        let before = match step.kind {
            Kind::Lstm => row.before.as_ref().and_then(sees),
            Kind::Gru { .. } => row.hidden.as_ref().and_then(sees),
            Kind::Rnn { .. } => row.gates.iter().flat_map(|gate| &gate.terms).find_map(|(run, _)| {
                // Outputs of the layer below are outputs of steps too.
                sees(run).filter(|&before| matrices(&steps[before]).is_subset(&matrices(step)))
            }),
        };
        if let Some(before) = before {
            next.entry(before).or_insert(at);
        }
        made.insert(row.cell.unwrap_or(step.output(0)), at);
    }
    next
}

/// The weights that a step of an RNN multiplies with.
fn matrices(step: &Step) -> HashSet<Weights> {
    step.rows.iter().flat_map(|row| &row.gates).flat_map(|gate| &gate.terms).map(|(_, own)| *own).collect()
}

/// The gates of a step that begins with those outputs: weights, biases and inputs.
struct Seen {
    gates: Vec<(Option<Weights>, Option<Weights>)>,
    inputs: Vec<Run>,
}

fn seen(step: &Step, outputs: &State) -> Option<Seen> {
    let mut all: Option<Seen> = None;
    for (row, &output) in step.rows.iter().zip(outputs) {
        let (gates, input) = seen_by(step.kind, row, output)?;
        let seen = all.get_or_insert(Seen { gates: gates.clone(), inputs: Vec::new() });
        let first = step.rows.first()?;
        let biases = row.gates.iter().zip(&first.gates).all(|(own, other)| own.has_bias_of(other));
        if seen.gates != gates || !biases || row.is_turned != first.is_turned {
            return None;
        }
        seen.inputs.push(input);
    }
    all.filter(|all| all.inputs.len() == step.rows.len())
}

type Products = Vec<(Option<Weights>, Option<Weights>)>;

fn seen_by(kind: Kind, row: &Row, output: Option<Run>) -> Option<(Products, Run)> {
    let is_gru = matches!(kind, Kind::Gru { .. });
    if is_gru && row.hidden != output {
        return None;
    }
    let (mut gates, mut input) = (Vec::new(), None);
    for (gate, feed) in row.gates.iter().zip(kind.feeds()) {
        if gate.is_absent() {
            gates.push((None, None));
            continue;
        }
        let state = match feed {
            Feed::Both | Feed::Output => output,
            Feed::Input => None,
            Feed::Reset => row.reset,
        };
        let of_state = state.map(|state| gate.of(state));
        if of_state == Some(None) {
            return None;
        }
        let mut others = gate.terms.iter().filter(|(source, _)| Some(*source) != state);
        let other = others.next();
        if others.next().is_some() || other.is_some() == (*feed == Feed::Output) {
            return None;
        }
        if let Some((source, _)) = other {
            if *input.get_or_insert(*source) != *source {
                return None;
            }
        }
        gates.push((other.map(|(_, weights)| *weights), of_state.flatten()));
    }
    Some((gates, input?))
}

/// The longest chain at the beginning of a path, and how many steps it is done with.
fn begun(path: &[&Step]) -> (Option<Chain>, usize) {
    let outputs = |step: &Step| -> State { (0..step.rows.len()).map(|k| Some(step.output(k))).collect() };
    let &[first, second, ..] = path else { return (None, path.len()) };
    let Some(row) = second.rows.first() else { return (None, path.len()) };
    let Some(model) = seen(second, &outputs(first)).filter(|_| continues(first, second)) else {
        return (None, 1);
    };
    let (mut inputs, mut used) = (vec![model.inputs.clone()], 2);
    for (before, step) in path[1..].iter().zip(&path[2..]) {
        let Some(own) = seen(step, &outputs(before)).filter(|own| own.gates == model.gates) else { break };
        if !same_constants(second, step) || !continues(before, step) {
            break;
        }
        inputs.push(own.inputs);
        used += 1;
    }
    let mut steps = &path[1..used];
    let mut before = [outputs(first), cells(first)];
    if let Some((own, start)) = start(first, second, &model) {
        inputs.insert(0, own);
        steps = &path[..used];
        before = [start, first.rows.iter().map(|row| row.before).collect()];
    }
    if steps.len() < FEWEST {
        return (None, used - 1);
    }
    let gates = model.gates.iter().zip(&row.gates);
    let gates = gates.map(|(&(of_input, of_output), gate)| (of_input, of_output, gate.bias.clone()));
    let chain = Chain {
        kind: second.kind,
        units: second.units,
        gates: gates.collect(),
        is_turned: row.is_turned,
        inputs,
        before,
        results: steps.iter().map(|step| step.result).collect(),
        cells: steps.iter().filter_map(|step| step.rows.first()?.cell).collect(),
    };
    (Some(chain), used)
}

fn cells(step: &Step) -> State {
    step.rows.iter().map(|row| row.cell).collect()
}

/// Whether all sequences of a step begin with what another has left.
fn continues(before: &Step, step: &Step) -> bool {
    let kept = step.rows.iter().map(|row| row.before);
    before.units == step.units && before.rows.len() == step.rows.len() && kept.eq(cells(before))
}

fn same_constants(a: &Step, b: &Step) -> bool {
    let (Some(a), Some(b)) = (a.rows.first(), b.rows.first()) else { return false };
    a.is_turned == b.is_turned && a.gates.iter().zip(&b.gates).all(|(a, b)| a.has_bias_of(b))
}

/// The inputs of a first step, and the outputs before it, if it is of the same layer.
fn start(first: &Step, second: &Step, model: &Seen) -> Option<(Vec<Run>, State)> {
    let (own, other) = (first.rows.first()?, second.rows.first()?);
    let same =
        own.gates.iter().zip(&other.gates).all(|(own, other)| own.is_absent() || own.has_bias_of(other));
    if !same || own.is_turned != other.is_turned {
        return None;
    }
    let of_output = model.gates.iter().find_map(|(_, of_output)| *of_output);
    let state = |row: &Row| match first.kind {
        Kind::Gru { .. } => row.hidden,
        _ => {
            let mut terms = row.gates.iter().flat_map(|gate| &gate.terms);
            terms.find(|(_, weights)| Some(*weights) == of_output).map(|(source, _)| *source)
        }
    };
    let state: State = first.rows.iter().map(state).collect();
    let zeros = state.iter().all(Option::is_none);
    let seen = seen(first, &state)?;
    let mut gates = seen.gates.iter().zip(&model.gates).zip(first.kind.feeds()).zip(&own.gates);
    let fits = gates.all(|(((seen, model), feed), gate)| {
        let output = if zeros && *feed != Feed::Reset { None } else { model.1 };
        gate.is_absent() || seen.0 == model.0 && seen.1 == output
    });
    fits.then_some((seen.inputs, state))
}
