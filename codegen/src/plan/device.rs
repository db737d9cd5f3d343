//! A plan run on real bytes, for tests.

use super::Plan;
use crate::interp::{eval, Machine};
use crate::ir::{Data, Graph, ValueId};
use crate::schedule::random::Random;
use crate::schedule::{Place, Role, Schedule, StepKind};

/// Runs a plan three times and compares outputs and states with the interpreter's; the error says what differs.
pub(super) fn assert_runs(
    graph: &Graph,
    schedule: &Schedule,
    plan: &Plan,
    random: &mut Random,
) -> Result<(), String> {
    let mut machine = Machine::new(graph);
    let (arena, states) = (vec![0; plan.arena_bytes], vec![0; plan.state_bytes]);
    let mut device = Device { graph, schedule, plan, arena, states };
    device.reset();
    for run in 0..3 {
        let inputs = random.inputs(graph);
        if machine.run(&inputs).map_err(|e| e.to_string())? != device.invoke(&inputs) {
            return Err(format!("the outputs of run {run} differ"));
        }
        for (state, want) in graph.states.iter().zip(machine.state()) {
            if want != &device.value(state.current) {
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
    fn bytes(&mut self, place: Place, len: usize) -> &mut [u8] {
        let index = place.buffer.0 as usize;
        match self.schedule.storage.buffer(place.buffer).role {
            Role::Scratch => {
                let start = self.plan.offsets[index].unwrap() + place.offset;
                &mut self.arena[start..start + len]
            }
            Role::State(s) => {
                let start = self.plan.state[s] + place.offset;
                &mut self.states[start..start + len]
            }
        }
    }

    fn store(&mut self, place: Place, data: &Data) {
        self.bytes(place, data.bytes().len()).copy_from_slice(data.bytes());
    }

    fn load(&mut self, place: Place, id: ValueId) -> Data {
        Data::new(self.bytes(place, self.graph.ty(id).bytes()).to_vec())
    }

    fn value(&mut self, id: ValueId) -> Data {
        match self.graph.const_data(id) {
            Some(data) => data.clone(),
            None => self.load(self.schedule.storage.place(id).unwrap(), id),
        }
    }

    fn reset(&mut self) {
        for state in &self.graph.states {
            self.store(self.schedule.storage.place(state.current).unwrap(), &state.init);
        }
    }

    fn invoke(&mut self, inputs: &[Data]) -> Vec<Data> {
        let (graph, schedule) = (self.graph, self.schedule);
        self.arena.fill(0xA5);
        for (&id, data) in graph.inputs.iter().zip(inputs) {
            self.store(schedule.storage.place(id).unwrap(), data);
        }
        for step in &schedule.steps {
            match step.kind {
                StepKind::Compute(id) => {
                    let node = graph.node(id);
                    let operands: Vec<Data> = node.operands.iter().map(|&o| self.value(o)).collect();
                    let typed: Vec<_> = node.operands.iter().map(|&o| graph.ty(o)).zip(&operands).collect();
                    let result = eval(&node.op, &typed, graph.ty(node.result)).unwrap();
                    self.store(schedule.storage.place(node.result).unwrap(), &result);
                }
                StepKind::Copy { value, from, to } => {
                    let data = match from {
                        Some(place) => self.load(place, value),
                        None => self.graph.const_data(value).unwrap().clone(),
                    };
                    self.store(to, &data);
                }
            }
        }
        graph.outputs.iter().zip(&schedule.outputs).map(|(&id, &place)| self.load(place, id)).collect()
    }
}
