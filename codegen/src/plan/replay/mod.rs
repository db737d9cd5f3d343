//! A plan run on real bytes: what a device would do, with the interpreter as its kernels. For tests and fuzzing.
//!
//! The interpreter computes every value first. Then the schedule runs band by band: the rows that a kernel reads must lie
//! in the device's memory as they are, before and after the row is written that is made of them; then the true row is stored where the
//! result's place says. So a byte that is overwritten too early is found, whoever wrote it.

mod device;
mod truth;

use super::Plan;
use crate::interp::Machine;
use crate::ir::{Data, Graph};
use crate::schedule::{Feed, Schedule};
use device::Device;
use truth::Truth;

/// Windows that a sliding schedule is run on, after one another.
const WINDOWS: usize = 6;

/// Runs a plan three times on inputs from `draw`, and compares outputs and states with the interpreter's on the same graph. A sliding
/// schedule runs on one long input, of which every window is compared.
///
/// # Errors
/// Says what differs, or what the plan lacks.
pub fn compare(
    graph: &Graph,
    schedule: &Schedule,
    plan: &Plan,
    draw: impl FnMut() -> Vec<Data>,
) -> Result<(), String> {
    let mut device = Device::new(graph, schedule, plan);
    for state in &graph.states {
        device.store_all(state.current, &state.init)?;
    }
    match schedule.feed() {
        Feed::Sliding => slide(&mut device, draw),
        Feed::Whole | Feed::Rows => invoke(&mut device, draw),
    }
}

fn invoke(device: &mut Device<'_>, mut draw: impl FnMut() -> Vec<Data>) -> Result<(), String> {
    let (graph, schedule) = (device.graph, device.schedule);
    let mut machine = Machine::new(graph);
    for run in 0..3 {
        let inputs = draw();
        let values = machine.run_values(&inputs).map_err(|e| e.to_string())?;
        let truth = Truth::of(graph, &values);
        device.scramble();
        if schedule.feed() == Feed::Whole {
            for (&id, data) in graph.inputs.iter().zip(&inputs) {
                device.store_all(id, data)?;
            }
        }
        let mut pipelines = schedule.pipelines.iter().peekable();
        let mut step = 0;
        while step < schedule.steps.len() {
            let (steps, ticks) = match pipelines.next_if(|p| p.steps.start == step) {
                Some(pipeline) => (pipeline.steps.clone(), pipeline.ticks),
                None => (step..step + 1, 1),
            };
            for tick in 0..ticks {
                if step == schedule.pipelines.first().map_or(usize::MAX, |p| p.steps.start) {
                    device.feed(&truth, tick)?;
                }
                device.tick(&truth, steps.clone(), tick, false)?;
            }
            step = steps.end.max(step + 1);
        }
        device.ends(&truth, &machine).map_err(|e| format!("run {run}: {e}"))?;
    }
    Ok(())
}

/// Rows without end: the steps of the pipeline at every tick, those behind it for every window.
fn slide(device: &mut Device<'_>, mut draw: impl FnMut() -> Vec<Data>) -> Result<(), String> {
    let (graph, schedule) = (device.graph, device.schedule);
    let Some(pipeline) = schedule.pipelines.first() else { return Err("nothing slides".into()) };
    let hop = schedule.steps[pipeline.steps.clone()].iter().map(|step| step.beat.every).max().unwrap_or(1);
    let mut input = Vec::new();
    for _ in 0..WINDOWS {
        draw().iter().take(1).for_each(|data| input.extend_from_slice(data.bytes()));
    }
    let mut machine = Machine::new(graph);
    let mut truth = Truth::default();
    // All windows first: the rows of later ones are computed before the earlier one is complete.
    let mut windows = Vec::new();
    for window in 0..WINDOWS {
        let values = truth::window(graph, &mut machine, &input, window * hop)?;
        truth.extend(graph, schedule, pipeline, &values, window * hop)?;
        windows.push((values, machine.clone()));
    }
    let mut next = 0;
    for tick in 0..pipeline.ticks + (WINDOWS - 1) * hop {
        device.scramble();
        device.feed(&truth, tick)?;
        device.tick(&truth, pipeline.steps.clone(), tick, true)?;
        if tick + 1 == pipeline.ticks + next * hop {
            let (values, machine) = &windows[next];
            // Behind the pipeline, its last rows are whole values.
            let window = Truth::of(graph, values);
            for step in pipeline.steps.end..schedule.steps.len() {
                device.tick(&window, step..step + 1, 0, false)?;
            }
            device.ends(&window, machine).map_err(|e| format!("window {next}: {e}"))?;
            next += 1;
        }
    }
    Ok(())
}
