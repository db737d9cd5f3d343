//! Models with everything in pipelines that can be, worth it or not: for tests of all kernels row by row.

use kiln_codegen::ir::Graph;
use kiln_codegen::schedule::pipeline::Draft;
use kiln_codegen::schedule::{with_pipelines, Feed, Flow, Schedule};
use kiln_codegen::{passes, plan, select, Compiled, Error, Options};

/// As many nodes as possible in each pipeline, a row at a time.
pub fn in_long_pipelines(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    compile(graph, options, Way { longest: usize::MAX, band: 1, again: false })
}

/// Each node a pipeline of its own, three rows at a time.
pub fn in_bands(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    compile(graph, options, Way { longest: 1, band: 3, again: false })
}

/// As many nodes as possible in each pipeline, which compute rows again where they may.
pub fn computing_again(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    compile(graph, options, Way { longest: usize::MAX, band: 1, again: true })
}

/// What is in a pipeline.
struct Way {
    /// Most nodes.
    longest: usize,
    /// Rows at a time.
    band: usize,
    /// Whether rows are computed again.
    again: bool,
}

/// Nothing where no node goes row by row, or none computes rows again that should.
fn compile(
    mut graph: Graph,
    options: Options,
    Way { longest, band, again }: Way,
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
        drafts.extend(match found {
            Some(draft) if again => {
                let may = draft.nodes.clone().filter(|&at| draft.can_repeat(&graph, &flow, at));
                Draft::repeating(&graph, &flow, draft.nodes.clone(), draft.feed, &may.collect()).ok()
            }
            found => found,
        });
    }
    if again && drafts.iter().all(|draft| draft.repeated().next().is_none()) {
        return Ok(None);
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
        groups: Vec::new(),
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
