use super::super::{cse, dce, fold, narrow_operands, simplify};
use super::*;
use crate::interp::Machine;
use crate::ir::{AddRescale, Clamp, DType, Data, Op, Real, Rescale, Type};
use crate::schedule::random::Random;
use crate::verify::verify;

/// How a layer is written out.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) sequences: usize,
    pub(super) steps: usize,
    pub(super) inputs: usize,
    pub(super) units: usize,
    /// Where input, forget, cell and output gate stand.
    pub(super) order: [usize; 4],
    /// Whether the products with inputs are taken of all steps at once.
    pub(super) ahead: bool,
    /// Whether inputs and outputs are one row with one matrix.
    pub(super) joint: bool,
    /// Whether each gate has matrices of its own.
    pub(super) apart: bool,
    /// What is added to forget gates.
    pub(super) forget: Option<f32>,
    pub(super) biases: usize,
    /// Whether states are inputs, and not zeros.
    pub(super) given: bool,
    pub(super) backwards: bool,
    /// Whether all outputs are wanted.
    pub(super) all: bool,
}

pub(super) const PLAIN: Form = Form {
    sequences: 1,
    steps: 5,
    inputs: 3,
    units: 4,
    order: [0, 1, 2, 3],
    ahead: false,
    joint: false,
    apart: false,
    forget: None,
    biases: 1,
    given: false,
    backwards: false,
    all: true,
};

/// A graph that is being written.
pub(super) struct Writer {
    pub(super) graph: Graph,
    random: Random,
}

impl Writer {
    pub(super) fn new() -> Writer {
        Writer { graph: Graph::new("test"), random: Random::new(7) }
    }

    pub(super) fn op(&mut self, op: Op, operands: &[ValueId], dims: &[usize]) -> ValueId {
        self.graph.add_node(op, operands, "v", Type::plain(DType::F32, dims), "0 OP")
    }

    pub(super) fn two(&mut self, op: Op, a: ValueId, b: ValueId) -> ValueId {
        let dims = self.graph.ty(a).shape.dims().to_vec();
        self.op(op, &[a, b], &dims)
    }

    pub(super) fn one(&mut self, op: Op, a: ValueId) -> ValueId {
        let dims = self.graph.ty(a).shape.dims().to_vec();
        self.op(op, &[a], &dims)
    }

    pub(super) fn numbers(&mut self, dims: &[usize]) -> ValueId {
        let all: Vec<f32> =
            (0..dims.iter().product()).map(|_| self.random.below(2001) as f32 / 2000.0 - 0.5).collect();
        self.constant(&all, dims)
    }

    pub(super) fn constant(&mut self, all: &[f32], dims: &[usize]) -> ValueId {
        self.graph.add_const("c", Type::plain(DType::F32, dims), Data::from_f32(all))
    }

    pub(super) fn slice(&mut self, x: ValueId, begin: &[usize], dims: &[usize]) -> ValueId {
        let step = vec![1; begin.len()];
        self.op(Op::Slice { begin: begin.to_vec(), step }, &[x], dims)
    }
}

pub(super) const SUM: Op = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
pub(super) const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
pub(super) const DENSE: Op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };

/// The inputs of all steps, in the order of time: as rows, and the layer's operand.
fn inputs(w: &mut Writer, form: &Form) -> Vec<ValueId> {
    let Form { sequences, steps, inputs, .. } = *form;
    let x = w.graph.add_input("x", Type::plain(DType::F32, &[sequences, steps, inputs]));
    let rows: Vec<ValueId> = (0..steps)
        .map(|step| {
            let own = w.slice(x, &[0, step, 0], &[sequences, 1, inputs]);
            w.op(Op::Reshape {}, &[own], &[sequences, inputs])
        })
        .collect();
    if form.backwards {
        rows.into_iter().rev().collect()
    } else {
        rows
    }
}

/// A layer that is written out, with what a step does.
pub(super) fn written_out(
    form: &Form,
    states: usize,
    step: impl Fn(&mut Writer, ValueId, &[ValueId]) -> Vec<ValueId>,
    prepared: impl Fn(&mut Writer, Vec<ValueId>) -> Vec<ValueId>,
) -> Graph {
    let mut w = Writer::new();
    let rows = inputs(&mut w, form);
    let rows = prepared(&mut w, rows);
    let dims = [form.sequences, form.units];
    let mut state: Vec<ValueId> = (0..states)
        .map(|_| match form.given {
            true => w.graph.add_input("state", Type::plain(DType::F32, &dims)),
            false => w.constant(&vec![0.0; form.sequences * form.units], &dims),
        })
        .collect();
    let mut outputs = Vec::new();
    for row in rows {
        state = step(&mut w, row, &state);
        outputs.push(w.op(Op::Reshape {}, &[state[0]], &[form.sequences, 1, form.units]));
    }
    if form.all {
        let all = w.op(Op::Concat { axis: 1 }, &outputs, &[form.sequences, form.steps, form.units]);
        w.graph.outputs.push(all);
    }
    w.graph.outputs.extend(state);
    verify(&w.graph).unwrap_or_else(|v| panic!("{v:#?}"));
    w.graph
}

/// An LSTM that is written out.
fn lstm(form: &Form) -> Graph {
    let Form { sequences, units, inputs, .. } = *form;
    let mut constants = Writer::new();
    let blocks = if form.apart { 4 } else { 1 };
    let rows = 4 * units / blocks;
    let mut own = |dims: &[usize]| -> Vec<f32> {
        let id = constants.numbers(dims);
        constants.graph.const_data(id).unwrap().to_f32()
    };
    let weights: Vec<[Vec<f32>; 4]> = (0..blocks)
        .map(|_| [own(&[rows, inputs]), own(&[rows, units]), own(&[rows]), own(&[rows])])
        .collect();
    let product = |w: &mut Writer, x: ValueId, matrix: &[f32], bias: Option<&[f32]>| {
        let dims = w.graph.ty(x).shape.dims().to_vec();
        let matrix = w.constant(matrix, &[rows, dims[1]]);
        let bias = bias.map(|bias| w.constant(bias, &[rows]));
        let operands: Vec<ValueId> = [x, matrix].into_iter().chain(bias).collect();
        w.op(DENSE, &operands, &[dims[0], rows])
    };
    let step = |w: &mut Writer, x: ValueId, state: &[ValueId]| {
        let mut blocks = Vec::new();
        for [of_input, of_output, bias, second] in &weights {
            let second = (form.biases > 1).then_some(&second[..]);
            let bias = Some(&bias[..]).filter(|_| form.biases > 0);
            blocks.push(if form.joint {
                let both = w.op(Op::Concat { axis: 1 }, &[x, state[0]], &[sequences, inputs + units]);
                let of = |row: usize| {
                    let of_input = of_input[row * inputs..][..inputs].to_vec();
                    [of_input, of_output[row * units..][..units].to_vec()].concat()
                };
                product(w, both, &(0..rows).flat_map(of).collect::<Vec<f32>>(), bias)
            } else if form.ahead {
                let own = product(w, state[0], of_output, second);
                w.two(SUM, own, x)
            } else {
                let (a, b) = (product(w, x, of_input, bias), product(w, state[0], of_output, second));
                w.two(SUM, a, b)
            });
        }
        let gates: Vec<ValueId> = (form.order.iter())
            .map(|&at| match form.apart {
                true => blocks[at],
                false => w.slice(blocks[0], &[0, at * units], &[sequences, units]),
            })
            .collect();
        let forget = match form.forget {
            Some(more) => {
                let more = w.constant(&[more], &[1, 1]);
                w.two(SUM, gates[1], more)
            }
            None => gates[1],
        };
        let [i, f, o] = [gates[0], forget, gates[3]].map(|gate| w.one(Op::Logistic {}, gate));
        let g = w.one(Op::Tanh {}, gates[2]);
        let (added, kept) = (w.two(PRODUCT, i, g), w.two(PRODUCT, state[1], f));
        let cell = w.two(SUM, added, kept);
        let shown = w.one(Op::Tanh {}, cell);
        vec![w.two(PRODUCT, shown, o), cell]
    };
    written_out(form, 2, step, |w, rows| {
        if !form.ahead {
            return rows;
        }
        let all = w.op(Op::Concat { axis: 0 }, &rows, &[form.steps * sequences, inputs]);
        let [of_input, _, bias, _] = &weights[0];
        let all = product(w, all, of_input, Some(bias));
        (0..form.steps)
            .map(|step| w.slice(all, &[step * sequences, 0], &[sequences, rows_of(form)]))
            .collect()
    })
}

fn rows_of(form: &Form) -> usize {
    4 * form.units
}

/// Asserts that a graph becomes one with so many ops of that name and no others but movements, with the same outputs.
pub(super) fn becomes(before: &Graph, name: &str, count: usize) -> Graph {
    let mut graph = before.clone();
    let mut fired = false;
    for _ in 0..3 {
        for pass in [fold::run, simplify::run, narrow_operands::run, cse::run, dce::run] {
            pass(&mut graph);
        }
        fired |= run(&mut graph);
        verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
    }
    assert!(fired, "the pass did not fire on\n{graph}");
    dce::run(&mut graph);
    let own = graph.nodes().filter(|(_, node)| node.op.name() == name).count();
    assert_eq!(own, count, "{graph}");
    let moves = ["slice", "reshape", "concat", "transpose", name];
    let others = graph.nodes().filter(|(_, node)| !moves.contains(&node.op.name())).count();
    assert_eq!(others, 0, "{graph}");
    near(before, &graph);
    graph
}

/// Asserts that two graphs give nearly the same.
fn near(before: &Graph, after: &Graph) {
    let mut random = Random::new(3);
    let (mut a, mut b) = (Machine::new(before), Machine::new(after));
    for _ in 0..3 {
        let inputs = random.inputs(before);
        let (want, got) = (a.run(&inputs).unwrap(), b.run(&inputs).unwrap());
        for (want, got) in want.iter().zip(&got) {
            let (want, got) = (want.to_f32(), got.to_f32());
            assert_eq!(want.len(), got.len());
            let largest = want.iter().fold(0f32, |most, x| most.max(x.abs()));
            let differs = want.iter().zip(&got).fold(0f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(differs <= 1e-5 * largest, "{differs} of {largest}\n{after}");
        }
    }
}

/// Asserts that the pass leaves a graph as it is.
pub(super) fn stays(before: &Graph) {
    let mut graph = before.clone();
    for pass in [fold::run, simplify::run, narrow_operands::run, cse::run, dce::run] {
        pass(&mut graph);
    }
    assert!(!run(&mut graph), "the pass fired: {graph}");
}

#[test]
fn all_forms_of_an_lstm() {
    becomes(&lstm(&PLAIN), "lstm", 1);
    becomes(&lstm(&Form { ahead: true, biases: 2, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { joint: true, order: [0, 2, 1, 3], forget: Some(1.0), ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { apart: true, biases: 2, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { order: [0, 2, 3, 1], biases: 0, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { backwards: true, all: false, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { given: true, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { sequences: 3, given: true, ahead: true, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { sequences: 2, backwards: true, joint: true, ..PLAIN }), "lstm", 1);
    becomes(&lstm(&Form { units: 1, inputs: 1, steps: 2, ..PLAIN }), "lstm", 1);
}

/// A cell state in the middle is wanted: the steps stay.
#[test]
fn states_in_between_are_kept() {
    let mut graph = lstm(&Form { given: true, ..PLAIN });
    let cells: Vec<ValueId> = graph
        .nodes()
        .filter(|(_, node)| matches!(node.op, Op::Add { .. }) && graph.ty(node.result).shape.last() == 4)
        .map(|(_, node)| node.result)
        .collect();
    graph.outputs.push(cells[2]);
    stays(&graph);
}

#[test]
fn a_step_alone_stays() {
    stays(&lstm(&Form { steps: 1, ..PLAIN }));
    stays(&lstm(&Form { steps: 1, given: true, ..PLAIN }));
}

/// A clipped cell state, another activation and other weights in a step are something else.
#[test]
fn other_arithmetic_stays() {
    let clip = Op::Clip { clamp: Clamp::Float { lo: Real(-1.0), hi: Real(1.0) } };
    let is_cell = |graph: &Graph, node: &crate::ir::Node| {
        matches!(node.op, Op::Tanh {})
            && graph.producer(node.operands[0]).is_some_and(|id| matches!(graph.node(id).op, Op::Add { .. }))
    };
    for other in [clip, Op::Logistic {}] {
        let mut graph = lstm(&Form { given: true, ..PLAIN });
        for id in graph.order.clone() {
            if is_cell(&graph, &graph.node(id).clone()) {
                graph.node_mut(id).op = other.clone();
            }
        }
        stays(&graph);
    }
}

/// How a GRU is written out.
#[derive(Clone, Copy, PartialEq)]
enum Blend {
    /// z · h + (1 − z) · n.
    Kept,
    /// (1 − z) · h + z · n.
    Turned,
    /// n + z · (h − n).
    Difference,
}

/// A GRU that is written out.
fn gru(form: &Form, linear: bool, blend: Blend) -> Graph {
    let Form { sequences, units, inputs, .. } = *form;
    let mut constants = Writer::new();
    let mut own = |dims: &[usize]| -> Vec<f32> {
        let id = constants.numbers(dims);
        constants.graph.const_data(id).unwrap().to_f32()
    };
    let (of_input, of_output) = (own(&[3 * units, inputs]), own(&[3 * units, units]));
    let (bias, second) = (own(&[3 * units]), own(&[3 * units]));
    let product = |w: &mut Writer, x: ValueId, matrix: &[f32], bias: &[f32]| {
        let dims = w.graph.ty(x).shape.dims().to_vec();
        let rows = bias.len();
        let (matrix, bias) = (w.constant(matrix, &[rows, dims[1]]), w.constant(bias, &[rows]));
        w.op(DENSE, &[x, matrix, bias], &[dims[0], rows])
    };
    let step = |w: &mut Writer, x: ValueId, state: &[ValueId]| {
        let h = state[0];
        let x = if form.ahead { x } else { product(w, x, &of_input, &bias) };
        let part =
            |w: &mut Writer, all: ValueId, k: usize| w.slice(all, &[0, k * units], &[sequences, units]);
        let both = product(w, h, &of_output, &second);
        let gate = |w: &mut Writer, k: usize| {
            let (a, b) = (part(w, x, k), part(w, both, k));
            let sum = w.two(SUM, a, b);
            w.one(Op::Logistic {}, sum)
        };
        let (z, r) = (gate(w, 0), gate(w, 1));
        let from_state = if linear {
            let own = part(w, both, 2);
            w.two(PRODUCT, r, own)
        } else {
            let kept = w.two(PRODUCT, h, r);
            product(w, kept, &of_output[2 * units * units..], &second[2 * units..])
        };
        let own = part(w, x, 2);
        let sum = w.two(SUM, own, from_state);
        let n = w.one(Op::Tanh {}, sum);
        let difference = Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
        if blend == Blend::Difference {
            let rest = w.two(difference, h, n);
            let rest = w.two(PRODUCT, rest, z);
            return vec![w.two(SUM, rest, n)];
        }
        let one = w.constant(&[1.0], &[1, 1]);
        let rest = w.op(difference, &[one, z], &[sequences, units]);
        let (of_state, of_new) = if blend == Blend::Kept { (z, rest) } else { (rest, z) };
        let (old, new) = (w.two(PRODUCT, of_state, h), w.two(PRODUCT, of_new, n));
        vec![w.two(SUM, old, new)]
    };
    written_out(form, 1, step, |w, rows| {
        if !form.ahead {
            return rows;
        }
        let all = w.op(Op::Concat { axis: 0 }, &rows, &[form.steps * sequences, inputs]);
        let all = product(w, all, &of_input, &bias);
        (0..form.steps).map(|step| w.slice(all, &[step * sequences, 0], &[sequences, 3 * units])).collect()
    })
}

#[test]
fn all_forms_of_a_gru() {
    for linear in [true, false] {
        for blend in [Blend::Kept, Blend::Turned, Blend::Difference] {
            becomes(&gru(&PLAIN, linear, blend), "gru", 1);
            becomes(&gru(&Form { ahead: true, given: true, ..PLAIN }, linear, blend), "gru", 1);
            becomes(
                &gru(&Form { sequences: 2, units: 5, backwards: true, ..PLAIN }, linear, blend),
                "gru",
                1,
            );
            becomes(&gru(&Form { all: false, units: 1, ..PLAIN }, linear, blend), "gru", 1);
        }
    }
    stays(&gru(&Form { steps: 1, ..PLAIN }, true, Blend::Kept));
}

/// A layer of the plainest kind, or several on top of each other.
fn rnn(form: &Form, relu: bool, layers: usize) -> Graph {
    let Form { sequences, units, inputs, .. } = *form;
    let mut constants = Writer::new();
    let mut own = |dims: &[usize]| -> Vec<f32> {
        let id = constants.numbers(dims);
        constants.graph.const_data(id).unwrap().to_f32()
    };
    let weights: Vec<[Vec<f32>; 3]> = (0..layers)
        .map(|k| [own(&[units, if k == 0 { inputs } else { units }]), own(&[units, units]), own(&[units])])
        .collect();
    let step = |w: &mut Writer, x: ValueId, state: &[ValueId]| {
        let (mut x, mut after) = (x, Vec::new());
        for ([of_input, of_output, bias], &h) in weights.iter().zip(state) {
            let columns = w.graph.ty(x).shape.last();
            let of_input = w.constant(of_input, &[units, columns]);
            let (of_output, bias) = (w.constant(of_output, &[units, units]), w.constant(bias, &[units]));
            let a = w.op(DENSE, &[x, of_input, bias], &[sequences, units]);
            let b = w.op(DENSE, &[h, of_output], &[sequences, units]);
            let clamp = Clamp::Float { lo: Real(0.0), hi: Real(f32::INFINITY) };
            x = if relu {
                w.two(Op::Add { rescale: AddRescale::Real, clamp }, a, b)
            } else {
                let sum = w.two(SUM, a, b);
                w.one(Op::Tanh {}, sum)
            };
            after.push(x);
        }
        after.reverse();
        after
    };
    // The state that is the output comes first.
    let turned = |w: &mut Writer, x: ValueId, state: &[ValueId]| {
        let states: Vec<ValueId> = state.iter().rev().copied().collect();
        step(w, x, &states)
    };
    written_out(form, layers, turned, |_, rows| rows)
}

#[test]
fn all_forms_of_an_rnn() {
    for relu in [true, false] {
        becomes(&rnn(&PLAIN, relu, 1), "rnn", 1);
        becomes(&rnn(&Form { given: true, backwards: true, ..PLAIN }, relu, 1), "rnn", 1);
        becomes(&rnn(&Form { sequences: 2, units: 6, given: true, ..PLAIN }, relu, 1), "rnn", 1);
        becomes(&rnn(&PLAIN, relu, 2), "rnn", 2);
        becomes(&rnn(&Form { units: 3, given: true, ..PLAIN }, relu, 3), "rnn", 3);
        stays(&rnn(&Form { steps: 1, given: true, ..PLAIN }, relu, 1));
    }
}

/// A matrix that was copied for each row of inputs.
#[test]
fn copies_of_a_matrix_are_one() {
    let (steps, units) = (4, 3);
    for copied in [true, false] {
        let mut w = Writer::new();
        let x = w.graph.add_input("x", Type::plain(DType::F32, &[steps, 1, 2]));
        let one = w.numbers(&[units, 2]);
        let mut all = w.graph.const_data(one).unwrap().to_f32().repeat(steps);
        if !copied {
            all[2 * units] += 1.0;
        }
        let matrix = w.constant(&all, &[steps, units, 2]);
        let product = Op::MatMul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let products = w.op(product, &[x, matrix], &[steps, 1, units]);
        let recurrent = w.numbers(&[units, units]);
        let mut h = w.graph.add_input("state", Type::plain(DType::F32, &[1, units]));
        for step in 0..steps {
            let own = w.slice(products, &[step, 0, 0], &[1, 1, units]);
            let own = w.op(Op::Reshape {}, &[own], &[1, units]);
            let kept = w.op(DENSE, &[h, recurrent], &[1, units]);
            let sum = w.two(SUM, own, kept);
            h = w.one(Op::Tanh {}, sum);
        }
        w.graph.outputs.push(h);
        match copied {
            true => drop(becomes(&w.graph, "rnn", 1)),
            false => stays(&w.graph),
        }
    }
}

/// Where only the last output is wanted, two are kept: that of the step before is read for the next one.
#[test]
fn outputs_that_nobody_reads_are_not_kept() {
    let width = |graph: &Graph, name: &str| {
        let own = graph.nodes().find(|(_, node)| node.op.name() == name).unwrap().1;
        graph.ty(own.result).shape.last()
    };
    for sequences in [1, 3] {
        let form = Form { sequences, all: false, ..PLAIN };
        let units = form.units;
        assert_eq!(width(&becomes(&lstm(&form), "lstm", 1), "lstm"), 3 * units);
        let both = [true, false].map(|linear| gru(&form, linear, Blend::Kept));
        assert_eq!(width(&becomes(&both[0], "gru", 1), "gru"), 2 * units);
        assert_eq!(width(&becomes(&both[1], "gru", 1), "gru"), 3 * units);
        assert_eq!(width(&becomes(&rnn(&form, false, 1), "rnn", 1), "rnn"), 2 * units);
        let form = Form { all: true, ..form };
        assert_eq!(width(&becomes(&rnn(&form, false, 1), "rnn", 1), "rnn"), form.steps * units);
    }
}
