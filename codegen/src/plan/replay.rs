//! A plan run on real bytes: what a device would do, with the interpreter as its kernels. For tests and fuzzing.

use super::Plan;
use crate::interp::{eval, Machine};
use crate::ir::{Data, Graph, ValueId};
use crate::schedule::{Place, Role, Schedule, StepKind};

/// Runs a plan three times on inputs from `draw`, and compares outputs and states with the interpreter's on the same graph.
///
/// # Errors
/// Says what differs, or what the plan lacks.
pub fn compare(
    graph: &Graph,
    schedule: &Schedule,
    plan: &Plan,
    mut draw: impl FnMut() -> Vec<Data>,
) -> Result<(), String> {
    let mut machine = Machine::new(graph);
    let (arena, states) = (vec![0; plan.arena_bytes], vec![0; plan.state_bytes]);
    let mut device = Device { graph, schedule, plan, arena, states };
    device.reset()?;
    for run in 0..3 {
        let inputs = draw();
        if machine.run(&inputs).map_err(|e| e.to_string())? != device.invoke(&inputs)? {
            return Err(format!("the outputs of run {run} differ"));
        }
        for (state, want) in graph.states.iter().zip(machine.state()) {
            if want != &device.value(state.current)? {
                return Err(format!("state {} differs after run {run}", state.name));
            }
        }
    }
    Ok(())
}

/// A device: the arena and the states as bytes.
struct Device<'a> {
    graph: &'a Graph,
    schedule: &'a Schedule,
    plan: &'a Plan,
    arena: Vec<u8>,
    states: Vec<u8>,
}

impl Device<'_> {
    fn bytes(&mut self, place: Place, len: usize) -> Result<&mut [u8], String> {
        let index = place.buffer.0 as usize;
        let memory = match self.schedule.storage.buffer(place.buffer).role {
            Role::Scratch | Role::Transient => &mut self.arena,
            Role::State(_) | Role::Retained => &mut self.states,
        };
        let start = self.plan.offsets[index] + place.offset;
        memory.get_mut(start..start + len).ok_or_else(|| format!("{len} bytes at {start} leave the memory"))
    }

    fn store(&mut self, place: Place, data: &Data) -> Result<(), String> {
        self.bytes(place, data.bytes().len())?.copy_from_slice(data.bytes());
        Ok(())
    }

    fn load(&mut self, place: Place, id: ValueId) -> Result<Data, String> {
        let len = self.graph.ty(id).bytes();
        Ok(Data::new(&*self.bytes(place, len)?))
    }

    fn place(&self, id: ValueId) -> Result<Place, String> {
        self.schedule.storage.place(id).ok_or_else(|| format!("value %{} has no place", id.0))
    }

    fn value(&mut self, id: ValueId) -> Result<Data, String> {
        match self.graph.const_data(id) {
            Some(data) => Ok(data.clone()),
            None => self.load(self.place(id)?, id),
        }
    }

    fn reset(&mut self) -> Result<(), String> {
        self.graph.states.iter().try_for_each(|state| self.store(self.place(state.current)?, &state.init))
    }

    fn invoke(&mut self, inputs: &[Data]) -> Result<Vec<Data>, String> {
        let (graph, schedule) = (self.graph, self.schedule);
        // What an earlier run left must not matter.
        self.arena.fill(0xA5);
        for (&id, data) in graph.inputs.iter().zip(inputs) {
            self.store(self.place(id)?, data)?;
        }
        for step in &schedule.steps {
            match step.kind {
                StepKind::Compute(id) => {
                    let node = graph.node(id);
                    let operands =
                        node.operands.iter().map(|&o| self.value(o)).collect::<Result<Vec<_>, _>>()?;
                    let typed: Vec<_> = node.operands.iter().map(|&o| graph.ty(o)).zip(&operands).collect();
                    let result = eval(&node.op, &typed, graph.ty(node.result)).map_err(|e| e.to_string())?;
                    self.store(self.place(node.result)?, &result)?;
                }
                StepKind::Absorb { .. } => return Err("sums are not replayed".into()),
                StepKind::Copy { value, from, to } => {
                    let data = match from {
                        Some(place) => self.load(place, value)?,
                        None => self.value(value)?,
                    };
                    self.store(to, &data)?;
                }
            }
        }
        graph.outputs.iter().zip(&schedule.outputs).map(|(&id, &place)| self.load(place, id)).collect()
    }
}
