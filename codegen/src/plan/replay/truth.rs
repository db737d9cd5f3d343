//! What every value is, by row.

use crate::interp::{Machine, Values};
use crate::ir::{Data, Graph, ValueId};
use crate::schedule::{rows, views, Pipeline, Schedule, StepKind};

/// The bytes of every value; of a value that slides, those of all its rows so far.
#[derive(Default)]
pub(super) struct Truth {
    values: Vec<Vec<u8>>,
}

impl Truth {
    /// Of one evaluation.
    pub(super) fn of(graph: &Graph, values: &Values) -> Truth {
        let bytes = |id: ValueId| values.get(id).map_or(Vec::new(), |data| data.bytes().to_vec());
        Truth { values: graph.values().map(|(id, _)| bytes(id)).collect() }
    }

    /// All bytes known of a value.
    pub(super) fn bytes(&self, id: ValueId) -> &[u8] {
        self.values.get(id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Adds the rows of a window that begins at row `start` of the input.
    pub(super) fn extend(
        &mut self,
        graph: &Graph,
        schedule: &Schedule,
        pipeline: &Pipeline,
        values: &Values,
        start: usize,
    ) -> Result<(), String> {
        self.values.resize(graph.values().count(), Vec::new());
        let lanes = schedule.steps[pipeline.steps.clone()].iter().filter_map(|step| match step.kind {
            StepKind::Compute(id) => Some((graph.node(id).result, step.beat.every, step.beat.band)),
            _ => None,
        });
        let mut beats: Vec<_> = graph.inputs.iter().map(|&id| (id, 1, 1)).chain(lanes).collect();
        // Views have no steps.
        for (_, node) in graph.nodes().filter(|(_, node)| views::keeps_rows(graph, node)) {
            let beat = beats.iter().find(|(id, ..)| node.operands.first() == Some(id));
            let view = beat.map(|&(_, every, band)| (node.result, every, band));
            beats.extend(view);
        }
        for (id, every, band) in beats {
            let data = values.get(id).map_err(|e| e.to_string())?.bytes();
            let row = data.len() / rows(&graph.ty(id).shape).max(1);
            let first = start / every * band * row;
            let known = &mut self.values[id.0 as usize];
            // What two windows share must be the same, or the model does not slide.
            let shared = known.get(first..).ok_or("rows between windows are unknown")?;
            let shared = shared.len().min(data.len());
            if known[first..first + shared] != data[..shared] {
                return Err(format!("rows of %{} differ between windows", id.0));
            }
            known.truncate(first);
            known.extend_from_slice(data);
        }
        Ok(())
    }
}

/// Evaluates the window of a long input that begins at row `start`.
pub(super) fn window(
    graph: &Graph,
    machine: &mut Machine,
    input: &[u8],
    start: usize,
) -> Result<Values, String> {
    let Some(&id) = graph.inputs.first() else { return Err("no input".into()) };
    let ty = graph.ty(id);
    let first = start * (ty.bytes() / rows(&ty.shape).max(1));
    let bytes = input.get(first..first + ty.bytes()).ok_or("the input is too short")?;
    machine.run_values(&[Data::new(bytes)]).map_err(|e| e.to_string())
}
