//! Large graphs take time about proportional to their size in every stage after the reader.

// Helpers of a test may panic as the test itself may.
#![allow(clippy::panic, clippy::unwrap_used)]

use kiln_codegen::ir::{
    AddRescale, Clamp, DType, Data, Graph, Op, Padding, Real, SoftmaxScale, Type, ValueId, Window,
};
use kiln_codegen::{passes, plan, schedule};
use std::time::{Duration, Instant};

/// Nodes of each graph: more than a file of a megabyte can hold.
const NODES: usize = 10_000;

/// Far more than any of them takes, for slow and busy machines; quadratic behaviour takes longer.
const LIMIT: Duration = Duration::from_secs(10);

fn compile(name: &str, mut graph: Graph) {
    let start = Instant::now();
    let lap = |what: &str| println!("{name:12} {what:10} {:6} ms", start.elapsed().as_millis());
    for optimised in [false, true] {
        if optimised {
            passes::run(&mut graph, &mut |_, _| {}).unwrap();
            lap("passes");
        }
        let schedule = schedule::schedule(&graph);
        lap("schedule");
        let plan = plan::plan(&graph, &schedule).unwrap();
        lap("plan");
        plan::check(&graph, &schedule, &plan).unwrap();
        lap("check");
    }
    assert!(start.elapsed() < LIMIT, "{name} takes {:?}", start.elapsed());
}

fn float(dims: &[usize]) -> Type {
    Type::plain(DType::F32, dims)
}

/// A graph of nodes that `add` appends, given all values so far.
fn graph(add: impl Fn(&mut Graph, &[ValueId])) -> Graph {
    let mut graph = Graph::new("large");
    let mut values = vec![graph.add_input("x", float(&[1, 8]))];
    while graph.order.len() < NODES {
        add(&mut graph, &values);
        values.extend(graph.order.last().map(|&id| graph.node(id).result));
    }
    graph.outputs.push(values[values.len() - 1]);
    graph
}

fn last(values: &[ValueId], back: usize) -> ValueId {
    values[values.len().saturating_sub(back)]
}

#[test]
fn chains() {
    let clip = Op::Clip { clamp: Clamp::Float { lo: Real(-1.0), hi: Real(1.0) } };
    for (name, op) in [("tanh", Op::Tanh {}), ("clip", clip), ("reshape", Op::Reshape {})] {
        let node = |g: &mut Graph, v: &[ValueId]| {
            g.add_node(op.clone(), &[last(v, 1)], "", float(&[1, 8]), "");
        };
        compile(name, graph(node));
    }
}

#[test]
fn long_lives() {
    let add = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
    let node = |g: &mut Graph, v: &[ValueId]| {
        let other = if v.len() < NODES / 2 { v[0] } else { v[(NODES - v.len()).min(v.len() - 1)] };
        g.add_node(add.clone(), &[last(v, 1), other], "", float(&[1, 8]), "");
    };
    compile("long lives", graph(node));
}

#[test]
fn many_slices_and_concats() {
    let node = |g: &mut Graph, v: &[ValueId]| {
        let (x, n) = (last(v, 1), v.len());
        if n % 2 == 1 {
            let op = Op::Slice { begin: vec![0, n % 5], step: vec![1, 1] };
            g.add_node(op, &[x], "", float(&[1, 4]), "");
        } else {
            g.add_node(Op::Concat { axis: 1 }, &[x, x], "", float(&[1, 8]), "");
        }
    };
    compile("slices", graph(node));
}

#[test]
fn growing_concats() {
    let node = |g: &mut Graph, v: &[ValueId]| {
        let x = last(v, 1);
        let n = g.ty(x).shape.dims()[1];
        let one = g.add_const("", float(&[1, 1]), Data::from_f32(&[n as f32]));
        g.add_node(Op::Concat { axis: 1 }, &[x, one], "", float(&[1, n + 1]), "");
    };
    compile("concats", graph(node));
}

#[test]
fn many_states() {
    let mut g = Graph::new("states");
    let x = g.add_input("x", float(&[1, 8]));
    let states: Vec<ValueId> =
        (0..NODES / 2).map(|i| g.add_state("", float(&[1, 8]), Data::from_f32(&[i as f32; 8]))).collect();
    let add = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
    let mut sum = x;
    for (i, &state) in states.iter().enumerate() {
        sum = g.add_node(add.clone(), &[sum, state], "", float(&[1, 8]), "");
        // Rings of a hundred, and every third computed.
        g.states[i].next = if i % 3 == 0 { sum } else { states[i / 100 * 100 + (i + 1) % 100] };
    }
    g.outputs.push(sum);
    compile("states", g);
}

/// Numbers that look random, the same every time.
fn noise(seed: usize) -> usize {
    let mut x = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (x ^ (x >> 32)) as usize
}

#[test]
fn random_images() {
    let mut g = Graph::new("images");
    let sizes = [[1, 8, 4, 2], [1, 4, 2, 8], [1, 16, 4, 1]];
    let mut values: Vec<ValueId> = sizes.iter().map(|dims| g.add_input("x", float(dims))).collect();
    let clamp = Clamp::NO_FLOAT;
    while g.order.len() < NODES {
        let dice = |k: usize| noise(7 * values.len() + k);
        // Mostly what is young, sometimes what is old.
        let back = if dice(0) % 8 == 0 { 1 + dice(1) % 200 } else { 1 + dice(1) % 6 };
        let x = last(&values, back);
        let ty = g.ty(x).clone();
        let alike: Vec<ValueId> = values.iter().rev().take(30).copied().filter(|&v| *g.ty(v) == ty).collect();
        let window = |size: usize| Window {
            size: [size, size],
            stride: [1, 1],
            dilation: [1, 1],
            pad: Padding { top: size / 2, bottom: size / 2, left: size / 2, right: size / 2 },
        };
        let (op, operands) = match dice(2) % 5 {
            0 => (Op::Tanh {}, vec![x]),
            1 => (Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real }, vec![x]),
            2 => (Op::MaxPool2d { window: window(3), clamp }, vec![x]),
            _ if alike.is_empty() => (Op::Tanh {}, vec![x]),
            _ => (Op::Add { rescale: AddRescale::Real, clamp }, vec![x, alike[dice(3) % alike.len()]]),
        };
        values.push(g.add_node(op, &operands, "", ty, ""));
    }
    g.outputs.extend(values.iter().rev().take(3));
    compile("images", g);
}
