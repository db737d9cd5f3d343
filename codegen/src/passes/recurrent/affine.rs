//! What a gate is given before its activation: products of rows with constant weights, and a constant.

use super::trace::{floats, numbers, operand, root, roots, Run};
use super::{Search, DEEPEST};
use crate::ir::{AddRescale, Data, Graph, Node, Op, Rescale, ValueId};

/// What a look at an op counts, in elements.
const LEAST_WORK: usize = 64;

/// Rows of a constant matrix, from one column on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Weights {
    pub(super) matrix: ValueId,
    /// The first row; there are as many as the gate has units.
    row: usize,
    column: usize,
    pub(super) inputs: usize,
    /// Columns of the whole matrix.
    stride: usize,
}

impl Weights {
    /// The numbers, row by row.
    pub(super) fn numbers(&self, graph: &Graph, units: usize) -> Option<Vec<f32>> {
        let all = graph.const_data(self.matrix)?;
        let mut own = Vec::new();
        for row in self.row..self.row + units {
            let start = row * self.stride + self.column;
            own.extend(floats(all, start, self.inputs)?.map(|x| x as f32));
        }
        Some(own)
    }
}

/// A sum of products and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Affine {
    pub(super) terms: Vec<(Run, Weights)>,
    pub(super) bias: Vec<f64>,
    /// Elementwise products that are summands too.
    pub(super) rest: Vec<Run>,
}

impl Affine {
    /// Whether there is no such sum: it would only be multiplied with zeros.
    pub(super) fn is_absent(&self) -> bool {
        self.bias.is_empty()
    }

    /// Its one product with that row, and the others.
    pub(super) fn of(&self, row: Run) -> Option<Weights> {
        let mut own = self.terms.iter().filter(|(source, _)| *source == row).map(|(_, weights)| *weights);
        own.next().filter(|_| own.next().is_none())
    }

    /// Whether the constants are equal but for the order of sums.
    pub(super) fn has_bias_of(&self, other: &Affine) -> bool {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
        self.bias.len() == other.bias.len() && self.bias.iter().zip(&other.bias).all(close)
    }
}

/// The sum that a run is, if it is one without elementwise products.
pub(super) fn affine(search: &mut Search<'_>, run: Run) -> Option<Affine> {
    with_products(search, run).filter(|all| all.rest.is_empty())
}

/// The sum that a run is, if it is one.
pub(super) fn with_products(search: &mut Search<'_>, run: Run) -> Option<Affine> {
    let mut all = Affine { bias: vec![0.0; run.len], ..Affine::default() };
    add(search, run, DEEPEST, &mut all)?;
    Some(all)
}

/// The sum that a node clamps, which does so itself.
pub(super) fn before_clamp(search: &mut Search<'_>, node: &Node, run: Run) -> Option<Affine> {
    let mut all = Affine { bias: vec![0.0; run.len], ..Affine::default() };
    match node.op {
        Op::Add { rescale: AddRescale::Real, .. } => {
            for k in 0..2 {
                summand(search, node, k, run, DEEPEST, &mut all)?;
            }
        }
        _ => product(search, node, run, &mut all)?,
    }
    Some(all).filter(|all| all.rest.is_empty())
}

fn add(search: &mut Search<'_>, run: Run, depth: usize, all: &mut Affine) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let graph = search.graph;
    search.work.spend(run.len.max(LEAST_WORK))?;
    let run = root(graph, run, &mut search.work)?;
    if let Some(data) = graph.const_data(run.value) {
        return plus(&mut all.bias, floats(data, run.start, run.len)?);
    }
    let node = graph.node(graph.producer(run.value)?);
    match &node.op {
        Op::Add { rescale: AddRescale::Real, clamp } if clamp.holds_finite() => {
            for k in 0..2 {
                summand(search, node, k, run, depth, all)?;
            }
            Some(())
        }
        Op::Sub { rescale: AddRescale::Real, clamp } if clamp.holds_finite() => {
            let minus = numbers(graph, node, 1, run, &mut search.work)?;
            plus(&mut all.bias, minus.into_iter().map(|x| -x))?;
            summand(search, node, 0, run, depth, all)
        }
        Op::Mul { .. } => {
            all.rest.push(run);
            Some(())
        }
        _ if has_clamp(&node.op) => None,
        _ => product(search, node, run, all),
    }
}

fn has_clamp(op: &Op) -> bool {
    match op {
        Op::Dense { clamp, .. } | Op::Conv2d { clamp, .. } | Op::MatMul { clamp, .. } => {
            !clamp.holds_finite()
        }
        _ => false,
    }
}

fn plus(bias: &mut [f64], numbers: impl Iterator<Item = f64>) -> Option<()> {
    bias.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    Some(())
}

fn summand(
    search: &mut Search<'_>,
    node: &Node,
    k: usize,
    run: Run,
    depth: usize,
    all: &mut Affine,
) -> Option<()> {
    let graph = search.graph;
    if graph.const_data(*node.operands.get(k)?).is_some() {
        let own = numbers(graph, node, k, run, &mut search.work)?;
        return plus(&mut all.bias, own.into_iter());
    }
    let own = operand(graph, node, k, run, &mut search.work)?;
    add(search, own, depth, all)
}

/// Adds the product of a matrix that a run is a part of.
fn product(search: &mut Search<'_>, node: &Node, run: Run, all: &mut Affine) -> Option<()> {
    let graph = search.graph;
    let (&x, &matrix) = (node.operands.first()?, node.operands.get(1)?);
    graph.const_data(matrix)?;
    let dims = graph.ty(matrix).shape.dims();
    let (rows, columns) = match &node.op {
        Op::Dense { rescale: Rescale::Real, .. } => (*dims.first()?, *dims.get(1)?),
        Op::Conv2d { window, groups: 1, rescale: Rescale::Real, layout, .. }
            if window.size == [1, 1]
                && window.stride == [1, 1]
                && window.pad == Default::default()
                && *layout == Default::default() =>
        {
            (*dims.first()?, *dims.get(3)?)
        }
        Op::MatMul { rescale: Rescale::Real, .. } => {
            let (&[.., rows, columns], 2..) = (dims, dims.len()) else { return None };
            // Each row has one of its own, and all have one matrix: no other axis is repeated.
            let images = [x, node.result].map(|id| graph.ty(id).shape.numel());
            let same = images[0].checked_div(columns)? == images[1].checked_div(rows)?;
            if !same || !search.is_one_matrix(matrix, rows.checked_mul(columns)?) {
                return None;
            }
            (rows, columns)
        }
        _ => return None,
    };
    let (image, first) = (run.start.checked_div(rows)?, run.start % rows);
    if first + run.len > rows || columns == 0 {
        return None;
    }
    if let Some(&bias) = node.operands.get(2) {
        plus(&mut all.bias, floats(graph.const_data(bias)?, first, run.len)?)?;
    }
    let mut column = 0;
    for part in sources(search, Run { value: x, start: image * columns, len: columns })? {
        let weights = Weights { matrix, row: first, column, inputs: part.len, stride: columns };
        column += part.len;
        match graph.const_data(part.value) {
            Some(data) => {
                search.work.spend(part.len.checked_mul(run.len)?)?;
                constant(graph, &weights, data, part, &mut all.bias)?;
            }
            None => all.terms.push((part, weights)),
        }
    }
    Some(())
}

/// Adds the product of a constant row.
fn constant(graph: &Graph, weights: &Weights, data: &Data, part: Run, bias: &mut [f64]) -> Option<()> {
    let row: Vec<f64> = floats(data, part.start, part.len)?.collect();
    let matrix = weights.numbers(graph, bias.len())?;
    for (sum, weights) in bias.iter_mut().zip(matrix.chunks(part.len.max(1))) {
        *sum += weights.iter().zip(&row).map(|(&w, x)| f64::from(w) * x).sum::<f64>();
    }
    Some(())
}

/// What a row consists of: one run, or several where outputs of cells and constants are among them.
fn sources(search: &mut Search<'_>, row: Run) -> Option<Vec<Run>> {
    let graph = search.graph;
    let whole = root(graph, row, &mut search.work)?;
    let parts = roots(graph, whole, &mut search.work)?;
    let known = |part: &Run| search.hidden.contains(&part.value) || graph.const_data(part.value).is_some();
    Some(if parts.len() > 1 && parts.iter().any(known) { parts } else { vec![whole] })
}
