//! Pipelines as Rust: one function per tick, one per step, and a loop.

use super::emit;
use crate::ir::Graph;
use crate::schedule::pipeline::Draft;
use crate::schedule::{with_pipelines, Feed, Flow, Schedule};
use crate::{plan, select};
use kiln_ir::options::Options;
use std::ops::Range;

/// Some max poolings in a row, of which those in the range are one pipeline.
fn poolings(pipeline: Range<usize>) -> (Graph, Schedule) {
    let graph = Graph::parse(
        "graph \"g\" {
           input %x: f32[1,12,4,2]
           %a \"a\": f32[1,12,4,2] = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}
           %b \"b\": f32[1,12,4,2] = softmax(%a) {beta = 1.0, scale = real}
           %c \"c\": f32[1,6,2,2] = max_pool2d(%b) {window = [2, 2] stride [2, 2], clamp = -inf..=inf}
           %d \"d\": f32[1,1,1,2] = mean(%c) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
           return %d
         }",
    )
    .unwrap();
    let draft = Draft::new(&graph, &Flow::of(&graph), pipeline, Feed::Whole).unwrap();
    let schedule = with_pipelines(&graph, &[draft]);
    (graph, schedule)
}

/// The emitted Rust, with every run of spaces as one.
fn emitted(graph: &Graph, schedule: &Schedule, options: &Options) -> String {
    let plan = plan::plan(graph, schedule).unwrap();
    let program = select::select(graph, schedule, &plan, &crate::Options::default()).unwrap();
    let code =
        super::pretty(emit(graph, &program, options, &quote::quote!(pub), super::Place::Macro(&[]))).unwrap();
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn has(code: &str, part: &str) {
    assert!(code.contains(part), "no `{part}` in\n{code}");
}

#[test]
fn a_pipeline_is_a_loop() {
    let (graph, schedule) = poolings(0..4);
    let code = emitted(&graph, &schedule, &Options::default());
    has(&code, "for tick in 0..12 { pipeline_00(m, tick); } }");
    has(&code, "tick: usize) { step_00(m, tick); step_01(m, tick); step_02(m, tick); step_03(m, tick); }");
    has(&code, "/// One of the 12 ticks in which steps 0 to 3 take turns");
    // Rows are due where they are needed: a row of c for every two of b.
    has(&code, "let Some(band) = kiln::due(tick, 0, 1, 1, 12) else { return };");
    has(&code, "let Some(band) = kiln::due(tick, 1, 2, 1, 6) else { return };");
    has(&code, "/// One of its 6 rows every 2 ticks from tick 1 on. It reads the last 2 of 12 rows, and keeps only the last of its own.");
    // A kernel with a band gets it, one without is called for each row.
    has(&code, "kiln::Rows::whole(m.cells::<f32, ");
    has(&code, "for row in band.range() { k::softmax_f32( 2, 1.0, kiln::Rows::ring(m.cells::<f32, ");
    has(&code, ", 8, 2).row(row)");
    has(&code, "k::mean_rows_f32( 6, ");
}

#[test]
fn what_is_outside_runs_once() {
    let (graph, schedule) = poolings(1..3);
    let code = emitted(&graph, &schedule, &Options::default());
    has(&code, "step_00(m); for tick in 0..12 { pipeline_00(m, tick); } step_03(m);");
    has(&code, "k::max_pool2d_f32( ");
    has(&code, "kiln::Band { first: 0, rows: 12 }, );");
    has(&code, "k::mean_f32( ");
}

#[test]
fn every_call_of_a_step_is_marked() {
    let (graph, schedule) = poolings(0..4);
    let code = emitted(&graph, &schedule, &Options { trace: true, ..Options::default() });
    has(&code, "kiln::trace(1); step_01(m, tick); kiln::trace(2); step_02(m, tick);");
    has(&code, "for tick in 0..12 { pipeline_00(m, tick); } kiln::trace(u32::MAX);");
}

#[test]
fn bands_say_how_many_rows() {
    let (graph, mut schedule) = poolings(1..2);
    schedule.steps[1].beat.band = 5;
    schedule.pipelines[0].ticks = 3;
    let code = emitted(&graph, &schedule, &Options::default());
    has(&code, "/// 5 of its 12 rows at every tick.");
    has(&code, "let Some(band) = kiln::due(tick, 0, 1, 5, 12) else { return };");
    has(&code, "for tick in 0..3 { pipeline_00(m, tick); }");
}
