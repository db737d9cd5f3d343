//! Models with everything shared by several threads that can be, worth it or not: for tests of all kernels in parts.

use crate::streamed::planned;
use kiln_codegen::ir::{Graph, NodeId};
use kiln_codegen::schedule::{schedule, Sharing};
use kiln_codegen::select::{Choice, Kernels};
use kiln_codegen::{passes, Compiled, Error, Options, Target};

/// Everything for three threads that can be; nothing where nothing can.
pub fn on_a_crew(mut graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    let options = Options { cores: Some(3), target: Some(Target::Vectors), ..options };
    passes::run(&mut graph, &mut |_, _| {})?;
    let mut schedule = schedule(&graph);
    let mut kernels = Kernels::default();
    let mut kernel = |node| kernels.of(&graph, node, &options, true);
    let shared =
        |kernel: &Choice, node: NodeId| kernel.possible_workspaces(&graph, graph.node(node), options.cores());
    schedule.add_workspaces(|node, _| {
        let kernel = kernel(node);
        shared(&kernel, node).unwrap_or(kernel.workspace)
    });
    schedule.share(|node| {
        let shared = shared(&kernel(node), node).is_some();
        Sharing { shared, apart: shared || kernel(node).apart, at_once: 1 }
    });
    schedule.align(Target::Vectors.alignment());
    match schedule.steps.iter().any(|step| step.shared) {
        true => planned(graph, schedule, options).map(Some),
        false => Ok(None),
    }
}
