//! The schedule: what every step computes when, and where its result is held.

use super::memory::{computed, held_at};
pub use super::memory::{held, Held};
use kiln_codegen::schedule::{Beat, StepKind};
use kiln_codegen::Compiled;
use kiln_ir::ValueId;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Index of the step.
    pub step: usize,
    /// Its op, or `copy`.
    pub op: &'static str,
    /// The name of what it computes.
    pub name: String,
    /// Index of the pipeline that it belongs to.
    pub pipeline: Option<usize>,
    /// How many rows it computes or absorbs in all.
    pub rows: usize,
    /// How many it computes, those that it computes again included.
    pub computed: usize,
    /// How many at a time, and when.
    pub beat: Beat,
    /// For a step that takes rows of its operand into sums: their bytes.
    pub absorbs: Option<usize>,
    /// Where the result is.
    pub held: Held,
    /// The name of the operand in whose place the result is computed.
    pub in_place_of: Option<String>,
}

/// Every step of a compilation.
pub fn lines(compiled: &Compiled) -> Vec<Line> {
    (0..compiled.schedule.steps.len()).filter_map(|step| line(compiled, step)).collect()
}

fn line(compiled: &Compiled, index: usize) -> Option<Line> {
    let (graph, schedule) = (&compiled.graph, &compiled.schedule);
    let step = schedule.steps.get(index)?;
    let (op, name) = computed(compiled, index);
    let (value, place, absorbs) = match step.kind {
        StepKind::Compute(node) => {
            let result = graph.node(node).result;
            (result, schedule.storage.place(result)?, None)
        }
        StepKind::Absorb { node, sums } => {
            let result = graph.node(node).result;
            (result, schedule.storage.place(result)?, Some(schedule.storage.buffer(sums.buffer).bytes))
        }
        StepKind::Copy { value, to, .. } => (value, to, None),
    };
    Some(Line {
        step: index,
        op,
        name: name.into(),
        pipeline: schedule.pipelines.iter().position(|p| p.steps.contains(&index)),
        rows: step.rows,
        computed: step.computed(),
        beat: step.beat,
        absorbs,
        held: held_at(compiled, value, place),
        in_place_of: replaced(compiled, &step.kind).map(|id| graph.value(id).label().into()),
    })
}

/// The operand in whose place a result begins.
fn replaced(compiled: &Compiled, kind: &StepKind) -> Option<ValueId> {
    let StepKind::Compute(node) = kind else { return None };
    let node = compiled.graph.node(*node);
    let place = |id: ValueId| compiled.schedule.storage.place(id).map(|p| (p.buffer, p.offset));
    let result = place(node.result)?;
    node.operands.iter().copied().find(|&operand| place(operand) == Some(result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{compiled, CHAIN};
    use kiln_codegen::Input;

    #[test]
    fn whole_steps() {
        let lines = lines(&compiled(CHAIN, Input::Whole));
        let about: Vec<_> =
            lines.iter().map(|l| (l.op, l.rows, l.pipeline, l.held.ring, l.held.bytes)).collect();
        assert_eq!(
            about,
            [
                ("max_pool2d", 8, None, None, 128),
                ("logistic", 8, None, None, 128),
                ("mean", 1, None, None, 8)
            ]
        );
        assert_eq!(lines[1].in_place_of.as_deref(), Some("a"));
        assert_eq!(lines[0].in_place_of, None);
    }

    #[test]
    fn rings_and_sums_of_a_pipeline() {
        let compiled = compiled(CHAIN, Input::Rows);
        let lines = lines(&compiled);
        assert_eq!(lines.iter().map(|l| l.pipeline).collect::<Vec<_>>(), [Some(0); 3]);
        assert_eq!(lines[0].held.ring, Some(1));
        assert_eq!(lines[0].held.bytes, 16);
        assert_eq!((lines[2].op, lines[2].rows, lines[2].absorbs), ("mean", 8, Some(8)));
        let input = held(&compiled, compiled.graph.inputs[0]).unwrap();
        assert_eq!((input.ring, input.bytes), (Some(3), 48));
    }
}
