//! Memory over time: which buffers are live at each step.

use crate::ir::ValueId;
use crate::schedule::{BufferId, StepKind};
use crate::Compiled;

/// One step and what is live during it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the step.
    pub step: usize,
    /// Its op, or `copy`.
    pub op: String,
    /// The name of what it computes.
    pub name: String,
    /// Sum of the sizes of the live scratch buffers.
    pub live_bytes: usize,
    /// The live scratch buffers, by offset.
    pub buffers: Vec<Region>,
}

/// A live buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The name of the largest value in it.
    pub name: String,
    /// Bytes from the start of the arena.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
}

/// Every step of a compilation.
pub fn rows(compiled: &Compiled) -> Vec<Row> {
    let names = buffer_names(compiled);
    (0..compiled.schedule.steps.len())
        .map(|step| {
            let (op, name) = computed(compiled, step);
            let buffers = live(compiled, step, &names);
            Row {
                step,
                op: op.into(),
                name: name.into(),
                live_bytes: buffers.iter().map(|b| b.bytes).sum(),
                buffers,
            }
        })
        .collect()
}

/// What a step does and to which value: its op, or `copy`, and the value's label. Panics only on a step of another schedule.
pub fn computed(compiled: &Compiled, step: usize) -> (&'static str, &str) {
    let (op, value) = match compiled.schedule.steps[step].kind {
        StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
            (compiled.graph.node(id).op.name(), compiled.graph.node(id).result)
        }
        StepKind::Copy { value, .. } => ("copy", value),
    };
    (op, compiled.graph.value(value).label())
}

/// The step that needs most memory, in words: its name and the buffers live there.
pub fn peak(compiled: &Compiled) -> String {
    let rows = rows(compiled);
    let Some(row) = rows.iter().max_by_key(|row| row.live_bytes) else { return "no step at all".into() };
    let buffers: Vec<String> =
        row.buffers.iter().map(|b| format!("{:?} ({} bytes)", b.name, b.bytes)).collect();
    format!("step {} {} {:?}, where {} are live", row.step, row.op, row.name, buffers.join(" and "))
}

fn live(compiled: &Compiled, step: usize, names: &[String]) -> Vec<Region> {
    let plan = &compiled.plan;
    let mut regions: Vec<Region> = (0..names.len())
        .filter(|&b| plan.lifetimes[b].covers_step(step))
        .filter_map(|b| {
            let buffer = compiled.schedule.storage.buffer(BufferId(b as u32));
            let region = Region { name: names[b].clone(), offset: plan.offsets[b], bytes: buffer.bytes };
            buffer.role.in_arena().then_some(region)
        })
        .collect();
    regions.sort_by_key(|r| r.offset);
    regions
}

/// The name of the largest value in each scratch buffer.
fn buffer_names(compiled: &Compiled) -> Vec<String> {
    let storage = &compiled.schedule.storage;
    let mut named: Vec<Option<ValueId>> = vec![None; storage.buffers.len()];
    for (id, value) in compiled.graph.values() {
        let Some(place) = storage.place(id) else { continue };
        let slot = &mut named[place.buffer.0 as usize];
        let larger = slot.is_none_or(|old| value.ty.bytes() > compiled.graph.ty(old).bytes());
        if storage.buffer(place.buffer).role.in_arena() && larger {
            *slot = Some(id);
        }
    }
    named.iter().map(|id| id.map_or(String::new(), |id| compiled.graph.value(id).label().into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ir::Graph, plan, schedule, select, verify, Options};

    #[test]
    fn operand_and_result_are_live_during_a_step() {
        let text = "graph \"chain\" {
            input %x: f32[1,4,4,1]
            %big: f32[1,4,4,2] = concat(%x, %x) {axis = 3}
            %small: f32[1,1,1,2] = max_pool2d(%big) {window = [4, 4], clamp = -inf..=inf}
            return %small
        }";
        let graph = Graph::parse(text).unwrap();
        verify::verify(&graph).unwrap();
        let schedule = schedule::schedule(&graph);
        let plan = plan::plan(&graph, &schedule).unwrap();
        let program = select::select(&graph, &schedule, &plan).unwrap();
        let compiled = Compiled {
            graph,
            schedule,
            plan,
            program,
            alternatives: Vec::new(),
            options: Options::default(),
        };
        let live: Vec<Vec<usize>> = rows(&compiled)
            .iter()
            .map(|row| {
                let mut sizes: Vec<usize> = row.buffers.iter().map(|b| b.bytes).collect();
                sizes.sort_unstable();
                sizes
            })
            .collect();
        assert_eq!(live, [[64, 128], [8, 128]]);
        assert!(peak(&compiled).starts_with("step 0 concat"), "{}", peak(&compiled));
    }
}
