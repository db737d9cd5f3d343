//! Models with state: quantised as models that take each state as an input and give its next value as an output, which is also how their file is written.

use super::simulate::{internal, powers, ratio};
use kiln_codegen::{passes, verify};
use kiln_interp::Machine;
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::StatePair;
use kiln_ir::{Data, Graph, Op, ValueDef};

/// A graph without state of its own, with samples that hold what the states were.
pub(super) struct Opened {
    pub(super) graph: Graph,
    /// `samples[sample][input]`, the states behind the inputs.
    pub(super) samples: Vec<Vec<Data>>,
    /// Names of the outputs and inputs that were states.
    pub(super) pairs: Vec<StatePair>,
    /// The same, as places among the graph's inputs and outputs.
    pub(super) places: Vec<Place>,
}

/// Where a state is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) input: usize,
    pub(super) output: usize,
}

/// Opens a graph with state. The samples are consecutive calls from a fresh start.
///
/// # Errors
/// [`Error::Options`] for states that do not begin with zeros: the option `state` has no other beginning.
pub(super) fn opened(graph: &Graph, samples: &[Vec<Data>]) -> Result<Opened, Error> {
    let mut graph = graph.clone();
    let states = std::mem::take(&mut graph.states);
    let (mut pairs, mut places) = (Vec::new(), Vec::new());
    let mut held: Vec<Data> = Vec::new();
    for state in states {
        let ty = graph.ty(state.current).clone();
        if state.init != Data::from_ints(ty.dtype, vec![0; ty.shape.numel()]) {
            return Err(Error::Options(Problem {
                place: format!("state \"{}\"", state.name),
                what: "it does not begin with zeros, and cannot be quantised".into(),
                help: "let it begin with zeros, or make it an input and an output of the model".into(),
            }));
        }
        held.push(state.init);
        let input = unused(&graph, state.name.clone());
        let current = graph.value_mut(state.current);
        (current.def, current.name) = (ValueDef::Input, input.clone());
        places.push(Place { input: graph.inputs.len(), output: 0 });
        graph.inputs.push(state.current);
        let mut next = state.next;
        if graph.producer(next).is_none() {
            // What was given is an output, too, under a name of its own.
            next = graph.add_node(Op::Reshape {}, &[next], "", ty, "");
        }
        let output = match graph.outputs.iter().position(|&output| output == next) {
            Some(place) => place,
            None => {
                let name = unused(&graph, format!("{input}.next"));
                graph.value_mut(next).name = name;
                graph.outputs.push(next);
                graph.outputs.len() - 1
            }
        };
        if let Some(place) = places.last_mut() {
            place.output = output;
        }
        pairs.push(StatePair { output: graph.value(next).name.clone(), input });
    }
    if places.is_empty() {
        return Ok(Opened { graph, samples: samples.to_vec(), pairs, places });
    }
    let mut machine = Machine::new(&graph);
    let mut with_states = Vec::new();
    for sample in samples {
        let sample = [&sample[..], &held[..]].concat();
        let outputs = machine.run(&sample).map_err(internal)?;
        held = places.iter().filter_map(|place| outputs.get(place.output).cloned()).collect();
        with_states.push(sample);
    }
    Ok(Opened { graph, samples: with_states, pairs, places })
}

/// The ratio of signal to noise in dB over consecutive calls, of which each has the states that the one before it left: the float graph's own, and the quantised graph's own.
/// `None` without states.
pub(super) fn ratio_of_calls(
    float: &Graph,
    quantised: &Graph,
    places: &[Place],
    samples: &[Vec<Data>],
) -> Result<Option<f64>, Error> {
    if places.is_empty() {
        return Ok(None);
    }
    let mut integers = quantised.clone();
    if passes::qdq::run_as_floats_round(&mut integers) {
        verify::after_stage("pass qdq", &integers)?;
    }
    let (mut float_machine, mut machine) = (Machine::new(float), Machine::new(&integers));
    let mut held: Vec<Data> = float.states.iter().map(|state| state.init.clone()).collect();
    let mut all = Vec::new();
    for sample in samples {
        let expected = float_machine.run(sample).map_err(internal)?;
        let outputs = machine.run(&[&sample[..], &held[..]].concat()).map_err(internal)?;
        held = places.iter().filter_map(|place| outputs.get(place.output).cloned()).collect();
        all.push(powers(&expected, &outputs));
    }
    Ok(Some(ratio(float, &all)))
}

/// The name, or one like it, that no input or output has.
fn unused(graph: &Graph, mut name: String) -> String {
    while graph.inputs.iter().chain(&graph.outputs).any(|&id| graph.value(id).name == name) {
        name.push('_');
    }
    name
}
