//! Small models whose layers go row by row, and all their pipelines.

use crate::ir::Graph;
use crate::schedule::pipeline::Draft;
use crate::schedule::{schedule, with_pipelines, Feed, Flow, Schedule};
use std::collections::BTreeSet;

/// Layers by name: their lines, the input's type, and what is returned.
const MODELS: [(&str, &str, &str, &str); 16] = [
    (
        "chain",
        "f32[1,11,4,2]",
        "%a \"a\": f32[1,11,4,2] = conv2d(%x, %w) {SAME, groups = 1, rescale = real, NOCLAMP}
         %b \"b\": f32[1,6,4,2] = max_pool2d(%a) {window = [3, 3] stride [2, 1] pad [1, 1, 1, 1], NOCLAMP}
         %c \"c\": f32[1,6,4,2] = softmax(%b) {beta = 1.0, scale = real}
         %d \"d\": f32[1,6,4,2] = max_pool2d(%c) {SAME, NOCLAMP}",
        "%d",
    ),
    (
        "residual",
        "f32[1,10,4,2]",
        "%a \"a\": f32[1,10,4,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %b \"b\": f32[1,10,4,2] = conv2d(%a, %w) {SAME, groups = 1, rescale = real, NOCLAMP}
         %c \"c\": f32[1,10,4,2] = max_pool2d(%b) {SAME, NOCLAMP}
         %d \"d\": f32[1,10,4,2] = add(%c, %a) {rescale = real, NOCLAMP}
         %e \"e\": f32[1,10,4,2] = tanh(%d)
         %f \"f\": f32[1,10,4,2] = max_pool2d(%e) {SAME, NOCLAMP}",
        "%f",
    ),
    (
        "separable",
        "f32[1,12,4,2]",
        "%a \"a\": f32[1,6,2,2] = conv2d(%x, %depth) {window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], groups = 2, rescale = real, NOCLAMP}
         %b \"b\": f32[1,6,2,3] = conv2d(%a, %wide) {window = [1, 1], groups = 1, rescale = real, NOCLAMP}
         %c \"c\": f32[1,6,2,3] = max_pool2d(%b) {SAME, NOCLAMP}
         %d \"d\": f32[1,6,2,2] = conv2d(%c, %narrow) {window = [1, 1], groups = 1, rescale = real, NOCLAMP}
         %e \"e\": f32[1,3,1,2] = avg_pool2d(%d) {window = [2, 2] stride [2, 2], NOCLAMP}",
        "%e",
    ),
    (
        "absorbed",
        "f32[1,9,4,2]",
        "%a \"a\": f32[1,9,4,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %b \"b\": f32[1,9,4,2] = softmax(%a) {beta = 1.0, scale = real}
         %m \"m\": f32[1,1,1,2] = mean(%b) {axes = [1, 2], rescale = real, NOCLAMP}
         %r \"r\": f32[1,2] = reshape(%m)
         %s \"s\": f32[1,2] = softmax(%r) {beta = 1.0, scale = real}",
        "%s",
    ),
    (
        "pooled",
        "f32[1,7,4,2]",
        "%a \"a\": f32[1,7,4,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %b \"b\": f32[1,1,1,2] = avg_pool2d(%a) {window = [7, 4], NOCLAMP}
         %c \"c\": f32[1,1,1,2] = tanh(%b)",
        "%c, %a",
    ),
    (
        "multiplied",
        "f32[1,8,3,2]",
        "%a \"a\": f32[1,8,3,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %b \"b\": f32[1,8,3,2] = tanh(%a)
         %p \"p\": f32[1,1,1,5] = conv2d(%b, %all) {window = [8, 3], groups = 1, rescale = real, NOCLAMP}
         %c \"c\": f32[1,1,1,5] = tanh(%p)",
        "%c",
    ),
    (
        "joined",
        "f32[1,8,3,2]",
        "%a \"a\": f32[1,8,3,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %p \"p\": f32[1,10,5,2] = pad(%a) {before = [0, 1, 1, 0], after = [0, 1, 1, 0], value = 0}
         %b \"b\": f32[1,8,3,2] = max_pool2d(%p) {window = [3, 3], NOCLAMP}
         %c \"c\": f32[1,8,3,6] = concat(%b, %x, %a) {axis = 3}
         %d \"d\": f32[1,4,1,6] = max_pool2d(%c) {window = [2, 3] stride [2, 3], NOCLAMP}",
        "%d",
    ),
    (
        "quantised",
        "f32[1,8,2,4]",
        "%q \"q\": i8[1,8,2,4] q(0.25 : -3) = quantize(%x)
         %a \"a\": i8[1,8,2,4] q(0.25 : -3) = max_pool2d(%q) {SAME, clamp = -128..=127}
         %b \"b\": i8[1,8,2,4] q(0.25 : -3) = clip(%a) {clamp = -20..=30}
         %d \"d\": f32[1,8,2,4] = dequantize(%b)
         %e \"e\": f32[1,8,2,4] = max_pool2d(%d) {SAME, NOCLAMP}",
        "%e",
    ),
    (
        "branches",
        "f32[1,12,4,2]",
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %b \"b\": f32[1,6,2,2] = max_pool2d(%a) {window = [3, 3] stride [2, 2] pad [0, 1, 0, 1], NOCLAMP}
         %s \"s\": f32[1,6,2,2] = max_pool2d(%a) {window = [1, 1] stride [2, 2], NOCLAMP}
         %d \"d\": f32[1,6,2,2] = mul(%b, %s) {rescale = real, NOCLAMP}
         %e \"e\": f32[1,6,2,2] = max_pool2d(%d) {SAME, NOCLAMP}",
        "%e, %b",
    ),
    (
        "slides",
        "f32[1,9,1,2]",
        "%a \"a\": f32[1,7,1,2] = max_pool2d(%x) {window = [3, 1], NOCLAMP}
         %b \"b\": f32[1,7,1,2] = tanh(%a)
         %c \"c\": f32[1,3,1,2] = conv2d(%b, %tall) {window = [3, 1] dilation [2, 1], groups = 1, rescale = real, NOCLAMP}
         %d \"d\": f32[1,1,1,2] = max_pool2d(%c) {window = [3, 1], NOCLAMP}
         %r \"r\": f32[1,2] = reshape(%d)
         %s \"s\": f32[1,2] = softmax(%r) {beta = 1.0, scale = real}",
        "%s",
    ),
    (
        "strides",
        "f32[1,9,1,2]",
        "%a \"a\": f32[1,4,1,2] = max_pool2d(%x) {window = [3, 1] stride [2, 1], NOCLAMP}
         %b \"b\": f32[1,2,1,2] = avg_pool2d(%a) {window = [3, 1], NOCLAMP}
         %c \"c\": f32[1,1,1,2] = max_pool2d(%b) {window = [2, 1], NOCLAMP}
         %d \"d\": f32[1,1,1,2] = tanh(%c)
         %e \"e\": f32[1,1,1,2] = add(%d, %c) {rescale = real, NOCLAMP}",
        "%e",
    ),
    (
        "reshaped",
        "f32[1,10,4,2]",
        "%a \"a\": f32[1,10,4,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %v \"v\": f32[1,10,2,4] = reshape(%a)
         %b \"b\": f32[1,10,2,4] = max_pool2d(%v) {SAME, NOCLAMP}
         %t \"t\": f32[1,10,4,2] = tanh(%a)
         %r \"r\": f32[1,10,4,2] = reshape(%b)
         %d \"d\": f32[1,10,4,2] = add(%t, %r) {rescale = real, NOCLAMP}
         %f \"f\": f32[1,5,2,2] = max_pool2d(%d) {window = [2, 2] stride [2, 2], NOCLAMP}
         %g \"g\": f32[1,5,4] = reshape(%f)
         %h \"h\": f32[1,5,4] = softmax(%g) {beta = 1.0, scale = real}",
        "%h",
    ),
    (
        "unfolded",
        "f32[1,8,4,2]",
        "%u \"u\": f32[1,8,8,1] = reshape(%x)
         %a \"a\": f32[1,8,8,1] = max_pool2d(%u) {SAME, NOCLAMP}
         %b \"b\": f32[1,8,4,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %z \"z\": f32[1,8,4,2] = reshape(%a)
         %v \"v\": f32[1,8,2,4] = reshape(%z)
         %c \"c\": f32[1,8,4,4] = concat(%z, %b) {axis = 3}
         %d \"d\": f32[1,8,2,4] = softmax(%v) {beta = 1.0, scale = real}
         %e \"e\": f32[1,4,4,4] = max_pool2d(%c) {window = [2, 1] stride [2, 1], NOCLAMP}",
        "%e, %d, %z",
    ),
    (
        "image of frames",
        "f32[1,11,1,2]",
        "%a \"a\": f32[1,5,1,4] = conv2d(%x, %four) {window = [3, 1] stride [2, 1], groups = 1, rescale = real, NOCLAMP}
         %v \"v\": f32[1,5,4,1] = reshape(%a)
         %b \"b\": f32[1,5,4,1] = tanh(%v)
         %c \"c\": f32[1,3,2,1] = max_pool2d(%b) {window = [3, 3], NOCLAMP}
         %z \"z\": f32[1,3,1,2] = reshape(%c)
         %d \"d\": f32[1,1,1,2] = conv2d(%z, %tall) {window = [3, 1], groups = 1, rescale = real, NOCLAMP}
         %r \"r\": f32[1,1,2] = reshape(%d)
         %s \"s\": f32[1,1,2] = softmax(%r) {beta = 1.0, scale = real}",
        "%s, %r",
    ),
    (
        "rows under two shapes",
        "f32[1,7,2,2]",
        "%a \"a\": f32[1,7,2,2] = tanh(%x)
         %v \"v\": f32[1,7,4,1] = reshape(%a)
         %b \"b\": f32[1,5,2,1] = max_pool2d(%v) {window = [3, 3], NOCLAMP}
         %c \"c\": f32[1,3,2,2] = max_pool2d(%a) {window = [5, 1], NOCLAMP}
         %d \"d\": f32[1,3,1,1] = max_pool2d(%b) {window = [3, 2], NOCLAMP}
         %e \"e\": f32[1,1,1,1] = avg_pool2d(%d) {window = [3, 1], NOCLAMP}
         %f \"f\": f32[1,1,1,2] = max_pool2d(%c) {window = [3, 2], NOCLAMP}
         %g \"g\": f32[1,1,2,1] = reshape(%f)
         %h \"h\": f32[1,1,2,2] = concat(%g, %g) {axis = 3}",
        "%e, %h",
    ),
    (
        "remembers",
        "f32[1,6,2,2]",
        "%a \"a\": f32[1,6,2,2] = max_pool2d(%x) {SAME, NOCLAMP}
         %b \"b\": f32[1,6,2,2] = max_pool2d(%a) {SAME, NOCLAMP}
         %h \"h\": f32[1,12,2,2] = concat(%state, %b) {axis = 1}
         %n \"n\": f32[1,6,2,2] = slice(%h) {begin = [0, 6, 0, 0], step = [1, 1, 1, 1]}
         %y \"y\": f32[1,12,2,2] = softmax(%h) {beta = 1.0, scale = real}
         next %state = %n",
        "%y",
    ),
];

/// All models, by name.
pub(crate) fn models() -> Vec<(&'static str, Graph)> {
    let parse = |&(name, input, lines, output): &(&'static str, &str, &str, &str)| {
        let lines = lines
            .replace("SAME", "window = [3, 3] pad [1, 1, 1, 1]")
            .replace("NOCLAMP", "clamp = -inf..=inf");
        let weights = "const %w: f32[2,3,3,2] = splat 0.25 const %depth: f32[2,3,3,1] = splat 0.5
                       const %wide: f32[3,1,1,2] = splat 0.5 const %tall: f32[2,3,1,2] = splat 0.25 const %narrow: f32[2,1,1,3] = splat 0.5
                       const %four: f32[4,3,1,2] = splat 0.125 const %all: f32[5,8,3,2] = splat 0.25";
        let state =
            if lines.contains("%state") { "state %state \"state\": f32[1,6,2,2] = splat 0.0" } else { "" };
        let text = format!(
            "graph \"{name}\" {{ {weights} input %x \"x\": {input} {state} {lines} return {output} }}"
        );
        let graph = Graph::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        crate::verify::verify(&graph).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        (name, graph)
    };
    MODELS.iter().map(parse).collect()
}

/// The pipeline with each node that may compute rows again, and with all of them.
fn repeated(graph: &Graph, flow: &Flow, draft: &Draft) -> Vec<Draft> {
    let all: BTreeSet<usize> = draft.nodes.clone().filter(|&at| draft.can_repeat(graph, flow, at)).collect();
    let mut sets: Vec<BTreeSet<usize>> = all.iter().map(|&at| BTreeSet::from([at])).collect();
    sets.extend((all.len() > 1).then_some(all));
    let again = |set| Draft::repeating(graph, flow, draft.nodes.clone(), draft.feed, &set).unwrap();
    sets.into_iter().map(again).collect()
}

/// The schedule without pipelines, those with one, and those with one behind another.
pub(crate) fn schedules(graph: &Graph) -> Vec<Schedule> {
    let flow = Flow::of(graph);
    let count = graph.order.len();
    let mut found = vec![schedule(graph)];
    let drafts = |start: usize, feed: Feed| -> Vec<Draft> {
        let plain = (start + 1..=count).filter_map(|end| Draft::new(graph, &flow, start..end, feed).ok());
        plain.flat_map(|draft| [repeated(graph, &flow, &draft), vec![draft]].concat()).collect()
    };
    let reads_input =
        |at: usize| graph.node(graph.order[at]).operands.iter().any(|id| graph.inputs.contains(id));
    for feed in [Feed::Whole, Feed::Rows, Feed::Sliding] {
        for start in 0..if feed == Feed::Whole { count } else { 1 } {
            for first in drafts(start, feed) {
                let end = first.nodes.end;
                // A fed input is not there afterwards.
                if feed != Feed::Whole && (end..count).any(reads_input) {
                    continue;
                }
                if feed == Feed::Whole && first.nodes.len() < 2 {
                    continue;
                }
                if feed != Feed::Sliding {
                    let behind = drafts(end, Feed::Whole).into_iter().filter(|second| second.nodes.len() > 1);
                    found.extend(behind.map(|second| with_pipelines(graph, &[first.clone(), second])));
                }
                found.push(with_pipelines(graph, &[first]));
            }
        }
    }
    found
}
