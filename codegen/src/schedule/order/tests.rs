//! The order against brute force, on random graphs, and in bounded time.

use super::model::{profile, Model, Progress};
use super::{estimate, order, reorder, BUDGET};
use crate::ir::{DType, Graph, NodeId, Op, Real, SoftmaxScale, Type};
use crate::schedule::random::{self, Random};
use crate::verify::verify;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

fn parse(lines: &str) -> Graph {
    let graph = Graph::parse(&format!("graph \"case\" {{ {lines} }}")).unwrap();
    verify(&graph).unwrap_or_else(|v| panic!("{v:#?}"));
    graph
}

/// The graph in another order; a valid one.
fn ordered(graph: &Graph, order: Vec<NodeId>) -> Graph {
    let (mut old, mut new) = (graph.order.clone(), order.clone());
    old.sort();
    new.sort();
    assert_eq!(old, new, "the same nodes");
    let mut graph = graph.clone();
    graph.order = order;
    verify(&graph).unwrap_or_else(|v| panic!("{v:#?}"));
    graph
}

/// The names of the results, in order.
fn names(graph: &Graph) -> String {
    graph.nodes().map(|(_, node)| graph.value(node.result).name.as_str()).collect::<Vec<_>>().join(" ")
}

/// The lowest peak of all topological orders.
fn brute_force(model: &Model, progress: &Progress<'_>, done: &mut BTreeSet<usize>, most: usize) -> usize {
    if done.len() == model.items.len() {
        return most;
    }
    let ready = |i: &usize| !done.contains(i) && model.items[*i].needs.iter().all(|need| done.contains(need));
    let next: Vec<usize> = (0..model.items.len()).filter(ready).collect();
    let after = |item: usize, done: &mut BTreeSet<usize>| {
        let mut progress = progress.clone();
        let effect = progress.run(item);
        done.insert(item);
        let lowest = brute_force(model, &progress, done, most.max(effect.during));
        done.remove(&item);
        lowest
    };
    next.into_iter().map(|item| after(item, done)).min().unwrap_or(most)
}

#[test]
fn small_graphs_are_ordered_exactly() {
    let (mut better, mut largest) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed + 31);
        let size = 3 + random.below(8);
        let graph = random::graph(&mut random, size);
        let apart = BTreeSet::new();
        let model = Model::of(&graph, &apart);
        if model.items.len() > 8 {
            continue;
        }
        largest = largest.max(model.items.len());
        let lowest = brute_force(&model, &Progress::new(&model), &mut BTreeSet::new(), 0);
        let peak = |graph: &Graph| {
            let model = Model::of(graph, &apart);
            let order: Vec<usize> = (0..model.items.len()).collect();
            profile(Progress::new(&model), &order).into_iter().max().unwrap_or(0)
        };
        let found = ordered(&graph, reorder(&graph, &apart, &mut BUDGET.clone()));
        assert_eq!(peak(&found), lowest, "seed {seed}\n{graph}");
        if lowest == peak(&graph) {
            assert_eq!(found, graph, "seed {seed}: the file's order is as good");
        } else {
            better += 1;
        }
    }
    assert!(better > 20 && largest == 8, "{better} graphs, up to {largest} items");
}

#[test]
fn no_order_is_worse_than_the_file_s() {
    let mut better = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed + 77_000);
        let size = 5 + random.below(60);
        let graph = random::graph(&mut random, size);
        let new = ordered(&graph, order(&graph));
        assert!(new.order == graph.order || estimate(&new) < estimate(&graph), "seed {seed}");
        better += usize::from(new.order != graph.order);
    }
    assert!(better > 50, "{better} graphs");
}

#[test]
fn branches_run_one_after_the_other() {
    let graph = parse(
        r#"input %x "x": f32[1,6,1,8]
           %a "a": f32[1,6,1,4] = slice(%x) {begin = [0, 0, 0, 0], step = [1, 1, 1, 1]}
           %b "b": f32[1,6,1,4] = slice(%x) {begin = [0, 0, 0, 4], step = [1, 1, 1, 1]}
           %q "q": f32[1,1,1,4] = max_pool2d(%b) {window = [6, 1], clamp = -inf..=inf}
           %p "p": f32[1,1,1,4] = max_pool2d(%a) {window = [6, 1], clamp = -inf..=inf}
           %y "y": f32[1,1,1,8] = concat(%p, %q) {axis = 3}
           return %y"#,
    );
    let new = ordered(&graph, order(&graph));
    assert_eq!(names(&new), "a p b q y", "the first of the best orders, in the file's sense");
    // x and a and b, and x, a and p.
    assert_eq!((estimate(&graph), estimate(&new)), (4 * (48 + 24 + 24), 4 * (48 + 24 + 4)));
}

#[test]
fn a_state_is_read_before_its_next_value_is_computed() {
    let graph = parse(
        r#"input %x "x": f32[1]
           state %s "s": f32[64] = splat 0.0
           const %c "c": f32[64] = splat 1.0
           %n "n": f32[64] = add(%x, %c) {rescale = real, clamp = -inf..=inf}
           %m "m": f32[64] = softmax(%s) {beta = 1.0, scale = real}
           %k "k": f32[1] = slice(%m) {begin = [3], step = [1]}
           %a "a": f32[1] = tanh(%k)
           next %s = %n
           return %a"#,
    );
    let new = ordered(&graph, order(&graph));
    assert_eq!(names(&new), "m k n a");
    // n and m, or x and m.
    assert_eq!((estimate(&graph), estimate(&new)), (2 * 256, 256 + 4));
}

fn tensor(elements: usize) -> Type {
    Type::plain(DType::F32, &[elements])
}

fn softmax() -> Op {
    Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real }
}

#[test]
fn large_graphs_take_little_time() {
    let mut chain = Graph::new("chain");
    let mut last = chain.add_input("x", tensor(8));
    for _ in 0..10_000 {
        last = chain.add_node(softmax(), &[last], "", tensor(8), "");
    }
    chain.outputs.push(last);

    // Wide and tangled: an element of a random earlier value, spread again.
    let mut tangle = Graph::new("tangle");
    let mut random = Random::new(5);
    let mut pool = vec![tangle.add_input("x", tensor(64))];
    while tangle.order.len() < 10_000 {
        let from = pool[pool.len() - 1 - random.below(pool.len().min(300))];
        let elements = 1 + random.below(64);
        let zeros = crate::ir::Data::from_f32(&vec![0.0; elements]);
        let spread = tangle.add_const("", tensor(elements), zeros);
        let op = Op::Slice { begin: vec![0], step: vec![-1] };
        let one = tangle.add_node(op, &[from], "", tensor(1), "");
        let add = Op::Add {
            rescale: crate::ir::AddRescale::Real,
            clamp: crate::ir::Clamp::Float { lo: Real(f32::NEG_INFINITY), hi: Real(f32::INFINITY) },
        };
        pool.push(tangle.add_node(add, &[one, spread], "", tensor(elements), ""));
    }
    tangle.outputs.extend(pool.iter().rev().take(3));

    for graph in [chain, tangle] {
        verify(&graph).unwrap();
        let start = Instant::now();
        let found = order(&graph);
        let took = start.elapsed();
        let new = ordered(&graph, found);
        println!("{}: {} to {} in {took:?}", graph.name, estimate(&graph), estimate(&new));
        assert!(took < Duration::from_millis(1500), "{}: {took:?}", graph.name);
        assert_eq!(new.order == graph.order, graph.name == "chain");
    }
}
