//! The op that computes what a chain of steps did.

use super::cells::Kind;
use super::chain::{Chain, State};
use super::trace::Run;
use crate::ir::{Clamp, DType, Data, Graph, NodeId, Op, Type, ValueId};
use std::collections::{HashMap, HashSet};

/// Most operands of one concatenation.
const MOST_JOINED: usize = 64;

/// The graph with the op instead of a chain; `None` if some of the steps are needed all the same.
pub(super) fn replaced(graph: &Graph, chain: &Chain) -> Option<Graph> {
    let mut graph = graph.clone();
    let first = graph.producer(*chain.results.first()?)?;
    let new = Builder::at(&mut graph, first).op(chain)?;
    replace(&mut graph, &new);
    graph.order = ordered(&graph)?;
    let gone: HashSet<ValueId> = new.keys().copied().chain(chain.cells.iter().map(|run| run.value)).collect();
    let stays = graph.nodes().any(|(_, node)| gone.contains(&node.result));
    (!stays).then_some(graph)
}

/// What adds nodes to a graph, with the name and origin of another.
pub(super) struct Builder<'g> {
    graph: &'g mut Graph,
    name: String,
    origin: String,
}

impl<'g> Builder<'g> {
    pub(super) fn at(graph: &'g mut Graph, id: NodeId) -> Builder<'g> {
        let node = graph.node(id);
        let (name, origin) = (graph.value(node.result).name.clone(), node.origin.clone());
        Builder { graph, name, origin }
    }

    pub(super) fn node(&mut self, op: Op, operands: &[ValueId], dims: &[usize]) -> ValueId {
        let ty = Type::plain(DType::F32, dims);
        let id = self.graph.add_detached_node(op, operands, self.name.clone(), ty, self.origin.clone());
        self.graph.node(id).result
    }

    fn constant(&mut self, numbers: &[f32], dims: &[usize]) -> ValueId {
        let name = self.name.clone();
        self.graph.add_const(name, Type::plain(DType::F32, dims), Data::from_f32(numbers))
    }

    pub(super) fn reshaped(&mut self, value: ValueId, dims: &[usize]) -> ValueId {
        match self.graph.ty(value).shape.dims() == dims {
            true => value,
            false => self.node(Op::Reshape {}, &[value], dims),
        }
    }

    fn slice(&mut self, value: ValueId, begin: &[usize], step: &[i64], dims: &[usize]) -> ValueId {
        self.node(Op::Slice { begin: begin.to_vec(), step: step.to_vec() }, &[value], dims)
    }

    /// The op, and what stands for each output and for the last cell state.
    fn op(&mut self, chain: &Chain) -> Option<HashMap<ValueId, ValueId>> {
        let (units, steps) = (chain.units, chain.inputs.len());
        let sequences = chain.inputs.first()?.len();
        let x = self.rows(&chain.inputs)?;
        let h = self.state(&chain.before[0], units)?;
        let (w, r) = (self.weights(chain, true)?, self.weights(chain, false)?);
        let (op, operands) = match chain.kind {
            Kind::Lstm => {
                let c = self.state(&chain.before[1], units)?;
                (Op::float_lstm(Clamp::NO_FLOAT), vec![x, h, c, w, r, self.bias(chain, 0..4)?])
            }
            Kind::Gru { linear_before_reset } => {
                let of_inputs = self.bias(chain, 0..3)?;
                // Of the products with outputs only the one behind the reset gate has a bias of its own.
                let mut of_outputs = vec![0.0; 2 * units];
                match chain.gates.get(3) {
                    Some((_, _, bias)) => of_outputs.extend(bias.iter().map(|&x| x as f32)),
                    None => of_outputs.resize(3 * units, 0.0),
                }
                let of_outputs = self.constant(&of_outputs, &[3 * units]);
                (Op::Gru { linear_before_reset }, vec![x, h, w, r, of_inputs, of_outputs])
            }
            Kind::Rnn { relu } => (Op::Rnn { relu }, vec![x, h, w, r, self.bias(chain, 0..1)?]),
        };
        let kept = op.before_outputs(units);
        let all = self.node(op, &operands, &[sequences, kept + steps * units]);
        let mut new = HashMap::new();
        for (step, &result) in chain.results.iter().enumerate() {
            let own = self.slice(all, &[0, kept + step * units], &[1, 1], &[sequences, units]);
            let dims = self.graph.ty(result).shape.dims().to_vec();
            new.insert(result, self.reshaped(own, &dims));
        }
        if let Some(cell) = chain.cells.last() {
            let own = self.slice(all, &[0, 0], &[1, 1], &[sequences, units]);
            let dims = self.graph.ty(cell.value).shape.dims().to_vec();
            if dims.iter().product::<usize>() != sequences * units {
                return None;
            }
            new.insert(cell.value, self.reshaped(own, &dims));
        }
        Some(new)
    }

    /// The weights of inputs, or of outputs: \[gates · units, …\].
    fn weights(&mut self, chain: &Chain, of_inputs: bool) -> Option<ValueId> {
        let mut all = Vec::new();
        let mut columns = 0;
        for (k, (of_input, of_output, _)) in chain.gates.iter().enumerate() {
            let Some(weights) = (if of_inputs { of_input } else { of_output }) else { continue };
            columns = weights.inputs;
            let sign = chain.sign(k) as f32;
            all.extend(weights.numbers(self.graph, chain.units)?.into_iter().map(|x| sign * x));
        }
        let rows = all.len().checked_div(columns)?;
        Some(self.constant(&all, &[rows, columns]))
    }

    /// The biases of some gates.
    fn bias(&mut self, chain: &Chain, gates: std::ops::Range<usize>) -> Option<ValueId> {
        let mut all: Vec<f32> = Vec::new();
        for k in gates {
            let (_, _, bias) = chain.gates.get(k)?;
            all.extend(bias.iter().map(|&x| (chain.sign(k) * x) as f32));
        }
        let len = all.len();
        Some(self.constant(&all, &[len]))
    }

    /// The rows of a state: \[sequences, units\].
    fn state(&mut self, state: &State, units: usize) -> Option<ValueId> {
        let dims = [state.len(), units];
        let runs: Option<Vec<Run>> = state.iter().copied().collect();
        match runs {
            Some(runs) => {
                let rows = self.rows(&[runs])?;
                Some(self.reshaped(rows, &dims))
            }
            None if state.iter().all(Option::is_none) => {
                Some(self.constant(&vec![0.0; state.len() * units], &dims))
            }
            None => None,
        }
    }

    /// Rows by step and sequence, as \[sequences, steps, elements\].
    fn rows(&mut self, runs: &[Vec<Run>]) -> Option<ValueId> {
        let first = *runs.first()?.first()?;
        let (steps, sequences) = (runs.len(), runs.first()?.len());
        match self.grid(runs, first) {
            Some(value) => Some(self.reshaped(value, &[sequences, steps, first.len])),
            None => self.joined(runs, first.len),
        }
    }

    /// Rows that lie at equal distances in one value.
    pub(super) fn grid(&mut self, runs: &[Vec<Run>], first: Run) -> Option<ValueId> {
        let (steps, sequences) = (runs.len(), runs.first()?.len());
        let len = first.len;
        let start = |run: &Run| i64::try_from(run.start).ok();
        let origin = start(&first)?;
        let by_step = if steps > 1 { start(runs[1].first()?)? - origin } else { 0 };
        let by_sequence = if sequences > 1 { start(runs[0].get(1)?)? - origin } else { 0 };
        for (step, row) in runs.iter().enumerate() {
            for (sequence, run) in row.iter().enumerate() {
                let want = origin + step as i64 * by_step + sequence as i64 * by_sequence;
                if run.value != first.value || run.len != len || start(run)? != want {
                    return None;
                }
            }
        }
        let axes = [(sequences, by_sequence), (steps, by_step)];
        // The axis with the larger distance is the outer one; one of a single row is no axis.
        let steps_outside = by_step.abs() > by_sequence.abs();
        let [outer, inner] = if steps_outside { [axes[1], axes[0]] } else { axes };
        let all = self.graph.ty(first.value).shape.numel();
        if steps == 1 && sequences == 1 {
            let flat = self.reshaped(first.value, &[all]);
            return Some(self.slice(flat, &[first.start], &[1], &[len]));
        }
        let height = usize::try_from(outer.1.abs()).ok()?;
        let width = usize::try_from(inner.1.abs()).ok()?;
        let width = if inner.0 == 1 { height } else { width };
        if width == 0 || height == 0 || all % height != 0 || height % width != 0 {
            return None;
        }
        let begin = [first.start / height, first.start % height / width, first.start % width];
        let fits = |at: usize, (count, by): (usize, i64), size: usize| {
            let last = at as i64 + (count as i64 - 1) * by.signum();
            (0..size as i64).contains(&last)
        };
        let sizes = [all / height, height / width, width];
        if !fits(begin[0], outer, sizes[0]) || !fits(begin[1], inner, sizes[1]) || begin[2] + len > width {
            return None;
        }
        let step = [outer.1.signum(), inner.1.signum(), 1].map(|by| if by == 0 { 1 } else { by });
        let value = self.reshaped(first.value, &sizes);
        let value = self.slice(value, &begin, &step, &[outer.0, inner.0, len]);
        Some(match steps_outside {
            true => self.node(Op::Transpose { perm: vec![1, 0, 2] }, &[value], &[inner.0, outer.0, len]),
            false => value,
        })
    }

    /// Any rows, put together.
    fn joined(&mut self, runs: &[Vec<Run>], len: usize) -> Option<ValueId> {
        let (steps, sequences) = (runs.len(), runs.first()?.len());
        let mut parts = Vec::new();
        for sequence in 0..sequences {
            for row in runs {
                let run = *row.get(sequence).filter(|run| run.len == len)?;
                let all = self.graph.ty(run.value).shape.numel();
                let flat = self.reshaped(run.value, &[all]);
                let own = self.slice(flat, &[run.start], &[1], &[len]);
                parts.push(self.reshaped(own, &[1, len]));
            }
        }
        while parts.len() > 1 {
            let mut fewer = Vec::new();
            for group in parts.chunks(MOST_JOINED) {
                let rows = group.iter().map(|&part| self.graph.ty(part).shape.dims()[0]).sum();
                fewer.push(self.node(Op::Concat { axis: 0 }, group, &[rows, len]));
            }
            parts = fewer;
        }
        let alone = *parts.first()?;
        Some(self.reshaped(alone, &[sequences, steps, len]))
    }
}

/// Lets every use of old values name new ones. Outputs keep their names.
pub(super) fn replace(graph: &mut Graph, new: &HashMap<ValueId, ValueId>) {
    for id in graph.order.clone() {
        for operand in &mut graph.node_mut(id).operands {
            *operand = new.get(operand).copied().unwrap_or(*operand);
        }
    }
    for at in 0..graph.outputs.len() {
        let old = graph.outputs[at];
        let Some(&own) = new.get(&old) else { continue };
        graph.outputs[at] = own;
        let name = graph.value(old).name.clone();
        graph.value_mut(own).name = name;
    }
    for state in &mut graph.states {
        state.next = new.get(&state.next).copied().unwrap_or(state.next);
    }
}

/// The nodes that outputs and states need, in an order in which operands come first; `None` if there is none.
pub(super) fn ordered(graph: &Graph) -> Option<Vec<NodeId>> {
    let live = live(graph);
    let (mut order, mut done) = (Vec::new(), HashMap::new());
    let ends = graph.outputs.iter().copied().chain(graph.states.iter().map(|state| state.next));
    let ends = ends.filter_map(|id| graph.producer(id));
    for first in graph.order.iter().copied().filter(|id| live.contains(id)).chain(ends) {
        visit(graph, first, &mut done, &mut order)?;
    }
    Some(order)
}

/// The nodes that outputs and states need.
fn live(graph: &Graph) -> HashSet<NodeId> {
    let mut live = HashSet::new();
    let ends = graph.outputs.iter().copied().chain(graph.states.iter().map(|state| state.next));
    let mut pending: Vec<ValueId> = ends.collect();
    while let Some(id) = pending.pop() {
        if let Some(node) = graph.producer(id).filter(|&node| live.insert(node)) {
            pending.extend(&graph.node(node).operands);
        }
    }
    live
}

/// Puts a node behind those that it reads. `true` in `done` is a node that is in the order already, `false` one that waits for its operands.
fn visit(
    graph: &Graph,
    first: NodeId,
    done: &mut HashMap<NodeId, bool>,
    order: &mut Vec<NodeId>,
) -> Option<()> {
    let mut pending = vec![first];
    while let Some(&id) = pending.last() {
        match done.get(&id) {
            Some(true) => {
                pending.pop();
                continue;
            }
            // All of its operands are in the order now.
            Some(false) => {
                let producers = graph.node(id).operands.iter().filter_map(|&own| graph.producer(own));
                if producers.into_iter().any(|own| done.get(&own) != Some(&true)) {
                    return None;
                }
                done.insert(id, true);
                order.push(id);
                pending.pop();
                continue;
            }
            None => {
                done.insert(id, false);
            }
        }
        for own in graph.node(id).operands.iter().filter_map(|&own| graph.producer(own)) {
            match done.get(&own) {
                Some(true) => {}
                // It waits for this one.
                Some(false) => return None,
                None => pending.push(own),
            }
        }
    }
    Some(())
}
