//! Random graphs of images, in which random runs of nodes are pipelines: planned, checked, and run on real bytes.

use super::apart;
use crate::ir::{AddRescale, Clamp, DType, Graph, Op, Padding, Real, SoftmaxScale, Type, ValueId, Window};
use crate::plan::{check, plan, replay};
use crate::schedule::pipeline::{self, Draft};
use crate::schedule::random::Random;
use crate::schedule::{self, with_pipelines, Feed, Flow, Schedule};

const CLAMP: Clamp = Clamp::NO_FLOAT;

/// A random graph of images; `flat`: without padding along the rows.
fn images(random: &mut Random, flat: bool) -> Graph {
    let mut g = Graph::new("images");
    let float = |dims: &[usize]| Type::plain(DType::F32, dims);
    let input = float(&[1, 6 + random.below(12), 1 + random.below(4), 1 + random.below(3)]);
    let mut values = vec![g.add_input("x", input)];
    for _ in 0..2 + random.below(9) {
        let back = if random.below(4) == 0 { random.below(values.len()) } else { 0 };
        let x = values[values.len() - 1 - back];
        let ty = g.ty(x).clone();
        let alike: Vec<ValueId> = values.iter().copied().filter(|&v| *g.ty(v) == ty).collect();
        let pad = if flat { 0 } else { random.below(2) };
        let window = Window {
            size: [1 + random.below(3), 1],
            stride: [1 + random.below(4) / 3, 1],
            dilation: [1, 1],
            pad: Padding { top: pad, bottom: pad, left: 0, right: 0 },
        };
        let dims = ty.shape.dims().to_vec();
        let (op, operands, ty) = match random.below(6) {
            0 => (Op::Tanh {}, vec![x], ty),
            1 => (Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real }, vec![x], ty),
            2 => {
                let other = alike[random.below(alike.len())];
                (Op::Add { rescale: AddRescale::Real, clamp: CLAMP }, vec![x, other], ty)
            }
            3 => {
                let other = alike[random.below(alike.len())];
                let ty = float(&[1, dims[1], dims[2], 2 * dims[3]]);
                (Op::Concat { axis: 3 }, vec![x, other], ty)
            }
            _ => match window.output([dims[1], dims[2]]) {
                Some([h, w]) if pad < window.size[0] => {
                    let ty = float(&[1, h, w, dims[3]]);
                    (Op::MaxPool2d { window, clamp: CLAMP }, vec![x], ty)
                }
                _ => continue,
            },
        };
        if ty.bytes() < 4096 {
            values.push(g.add_node(op, &operands, "", ty, ""));
        }
    }
    let last = values[values.len() - 1];
    let dims = g.ty(last).shape.dims().to_vec();
    if flat {
        // All rows of a window become one.
        let pad = Padding { top: 0, bottom: 0, left: 0, right: 0 };
        let window = Window { size: [dims[1], 1], stride: [1, 1], dilation: [1, 1], pad };
        let ty = float(&[1, 1, dims[2], dims[3]]);
        values.push(g.add_node(Op::MaxPool2d { window, clamp: CLAMP }, &[last], "", ty, ""));
    } else if random.below(2) == 0 {
        let mean = Op::Mean { axes: vec![1, 2], rescale: crate::ir::Rescale::Real, clamp: CLAMP };
        values.push(g.add_node(mean, &[last], "", float(&[1, 1, 1, dims[3]]), ""));
    }
    g.outputs.push(values[values.len() - 1]);
    crate::passes::run(&mut g, &mut |_, _| {}).unwrap();
    g
}

/// Plans a schedule, checks it and runs it. Says whether overlays made it smaller.
fn prove(graph: &Graph, schedule: &Schedule, random: &mut Random, what: &str) -> bool {
    let plan = plan(graph, schedule).unwrap();
    let fails = |e: &dyn std::fmt::Debug| panic!("{what}: {e:#?}\n{graph:#?}\n{schedule:#?}\n{plan:#?}");
    check(graph, schedule, &plan).unwrap_or_else(|e| fails(&e));
    replay::compare(graph, schedule, &plan, || random.inputs(graph)).unwrap_or_else(|e| fails(&e));
    let apart = apart(graph, schedule);
    assert!(plan.lower_bound <= plan.arena_bytes && plan.arena_bytes <= apart, "{what}");
    plan.arena_bytes < apart
}

#[test]
fn pipelines_of_random_graphs() {
    let (mut piped, mut smaller) = (0, 0);
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let graph = images(&mut random, false);
        let flow = Flow::of(&graph);
        let (mut drafts, mut next) = (Vec::new(), 0);
        while next < graph.order.len() {
            let end = (next + 1 + random.below(6)).min(graph.order.len());
            match Draft::new(&graph, &flow, next..end, Feed::Whole) {
                Ok(draft) if end > next + 1 => drafts.push(draft),
                _ => {}
            }
            next = end;
        }
        let schedule = with_pipelines(&graph, &drafts);
        piped += usize::from(!drafts.is_empty());
        smaller += usize::from(prove(&graph, &schedule, &mut random, &format!("seed {seed}")));
    }
    assert!(piped > 300 && smaller > 200, "{piped} with pipelines, {smaller} smaller with overlays");
}

#[test]
fn fed_pipelines_of_random_graphs() {
    let (mut fed, mut sliding) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let graph = images(&mut random, seed % 2 == 0);
        let flow = Flow::of(&graph);
        if let Ok(draft) = pipeline::fed(&graph, &flow) {
            prove(&graph, &with_pipelines(&graph, &[draft]), &mut random, &format!("rows, seed {seed}"));
            fed += 1;
        }
        let schedule = pipeline::sliding(&graph, &flow).map(|draft| with_pipelines(&graph, &[draft]));
        // Whether the schedule itself is sound is tested elsewhere.
        if let Some(schedule) = schedule.ok().filter(|schedule| schedule::check(&graph, schedule).is_ok()) {
            prove(&graph, &schedule, &mut random, &format!("sliding, seed {seed}"));
            sliding += 1;
        }
    }
    assert!(fed > 100 && sliding > 10, "{fed} fed, {sliding} sliding");
}
