//! Models with everything shared by several threads that can be, worth it or not: for tests of all kernels in parts.

use crate::streamed::planned;
use kiln_codegen::ir::Graph;
use kiln_codegen::kernel::{crew, Kernel};
use kiln_codegen::schedule::schedule;
use kiln_codegen::{passes, Compiled, Error, Options, Target};

/// Everything for three threads that can be; nothing where nothing can.
pub fn on_a_crew(mut graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    let options = Options { cores: Some(3), target: Some(Target::Vectors), ..options };
    passes::run(&mut graph, &mut |_, _| {})?;
    let mut schedule = schedule(&graph);
    let shared = |node| crew::workspaces_of_any(&graph, graph.node(node), &options);
    let alone = |node| Kernel::of(&graph, graph.node(node), &options, true).workspace();
    schedule.add_workspaces(|node, _| shared(node).unwrap_or_else(|| alone(node)));
    schedule.share(|node| shared(node).is_some());
    schedule.align(Target::Vectors.alignment());
    match schedule.steps.iter().any(|step| step.shared) {
        true => planned(graph, schedule, options).map(Some),
        false => Ok(None),
    }
}
