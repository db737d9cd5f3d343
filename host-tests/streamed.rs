//! Models with everything in pipelines that can be, worth it or not: for tests of all kernels row by row.

use kiln_codegen::ir::Graph;
use kiln_codegen::schedule::pipeline::Draft;
use kiln_codegen::schedule::{with_pipelines, Feed, Flow, Schedule};
use kiln_codegen::{passes, plan, select, Compiled, Error, Options};

/// As many nodes as possible in each pipeline, a row at a time.
pub fn in_long_pipelines(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    compile(graph, options, usize::MAX, 1)
}

/// Each node a pipeline of its own, three rows at a time.
pub fn in_bands(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    compile(graph, options, 1, 3)
}

/// Nothing where no node goes row by row.
fn compile(
    mut graph: Graph,
    options: Options,
    longest: usize,
    band: usize,
) -> Result<Option<Compiled>, Error> {
    passes::run(&mut graph, &mut |_, _| {})?;
    let flow = Flow::of(&graph);
    let mut drafts = Vec::new();
    let mut start = 0;
    while start < graph.order.len() {
        let ends = (start + 1..=graph.order.len()).take_while(|end| end - start <= longest);
        let draft = |end| Draft::new(&graph, &flow, start..end, Feed::Whole).ok();
        let found: Option<Draft> = ends.map_while(draft).last();
        start = found.as_ref().map_or(start + 1, |draft| draft.nodes.end);
        drafts.extend(found);
    }
    let mut schedule = with_pipelines(&graph, &drafts);
    if schedule.pipelines.is_empty() {
        return Ok(None);
    }
    if band > 1 {
        widen(&mut schedule, band);
    }
    planned(graph, schedule, options).map(Some)
}

/// A model with that schedule.
pub fn planned(graph: Graph, schedule: Schedule, options: Options) -> Result<Compiled, Error> {
    let plan = plan::plan(&graph, &schedule)?;
    if let Err(objection) = plan::check(&graph, &schedule, &plan) {
        panic!("{}: {objection:?}", graph.name);
    }
    let program = select::select(&graph, &schedule, &plan, &options)?;
    Ok(Compiled {
        graph,
        schedule,
        plan,
        program,
        alternatives: Vec::new(),
        unused: Vec::new(),
        passes: options.optimize,
        log: Default::default(),
        options,
    })
}

/// More rows at a time, where no ring is in the way.
fn widen(schedule: &mut Schedule, band: usize) {
    for pipeline in &mut schedule.pipelines {
        for step in &mut schedule.steps[pipeline.steps.clone()] {
            step.beat.band = band;
        }
        pipeline.ticks = pipeline.ticks.div_ceil(band);
    }
}
