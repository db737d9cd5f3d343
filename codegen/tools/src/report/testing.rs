//! Small compilations to report about.

use kiln_codegen::search::{search, Found};
use kiln_codegen::{compile_graph, verify, Compiled, Input, Optimize, Options};
use kiln_ir::Graph;

/// Three steps that go row by row: a pooling, an activation in place, sums.
pub(super) const CHAIN: &str = "graph \"chain\" {
    input %x \"x\": f32[1,8,2,2]
    %a \"a\": f32[1,8,2,2] = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}
    %b \"b\": f32[1,8,2,2] = logistic(%a)
    %m \"m\": f32[1,1,1,2] = mean(%b) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
    return %m
}";

/// One step whose window is as tall as the input.
pub(super) const SLIDING: &str = "graph \"sliding\" {
    input %x \"x\": f32[1,3,2,2]
    %a \"a\": f32[1,1,1,2] = max_pool2d(%x) {window = [3, 2], clamp = -inf..=inf}
    return %a
}";

/// Compiles a graph with whole tensors, then finds the schedule for that input: of least memory if it comes row by row.
pub(super) fn compiled(text: &str, input: Input) -> Compiled {
    let graph = Graph::parse(text).unwrap();
    verify::verify(&graph).unwrap();
    let whole = compile_graph(graph, &Options::default()).unwrap();
    let optimize = if input == Input::Whole { Optimize::Speed } else { Optimize::Memory };
    let options = Options { input, optimize, ..Options::default() };
    let Found { schedule, plan, alternatives, .. } = search(&whole.graph, &options).unwrap();
    Compiled { schedule, plan, alternatives, options, ..whole }
}
