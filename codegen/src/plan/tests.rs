//! Random graphs: scheduled, planned and checked, and the plan run on real bytes against the interpreter.

use super::{check, plan, Plan};
use crate::interp::{eval, Machine};
use crate::ir::{Data, Graph, ValueId};
use crate::schedule::random::{self, Random};
use crate::schedule::{schedule, Place, Role, Schedule, StepKind};
use crate::verify::verify;

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

#[test]
fn random_graphs_run_in_their_plans() {
    let mut views = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let size = 2 + random.below(25);
        let graph = random::graph(&mut random, size);
        verify(&graph).unwrap();
        let schedule = schedule(&graph);
        let plan = plan(&graph, &schedule).unwrap();
        if let Err(violations) = check(&graph, &schedule, &plan) {
            panic!("seed {seed}: {violations:#?}\n{graph:#?}\n{schedule:#?}");
        }
        assert!(plan.arena_bytes >= plan.lower_bound, "seed {seed}");
        views += usize::from(schedule.steps.len() < graph.order.len());

        let mut machine = Machine::new(&graph);
        let (arena, states) = (vec![0; plan.arena_bytes], vec![0; plan.state_bytes]);
        let mut device = Device { graph: &graph, schedule: &schedule, plan: &plan, arena, states };
        device.reset();
        for run in 0..3 {
            let inputs = random.inputs(&graph);
            assert_eq!(machine.run(&inputs).unwrap(), device.invoke(&inputs), "seed {seed}, run {run}");
            for (state, want) in graph.states.iter().zip(machine.state()) {
                assert_eq!(want, &device.value(state.current), "seed {seed}, run {run}, {}", state.name);
            }
        }
    }
    assert!(views > 500, "random graphs must exercise views");
}
