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
        if state.init != Data::zeros(&ty) {
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
    let mut with_states = Vec::new();
    calls(&graph, &places, held, samples, |sample, _| {
        with_states.push(sample);
        Ok(())
    })?;
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
    let held = float.states.iter().map(|state| state.init.clone()).collect();
    let (mut machine, mut all) = (Machine::new(float), Vec::new());
    calls(&integers, places, held, samples, |sample, outputs| {
        let expected = machine.run(sample.get(..float.inputs.len()).unwrap_or_default()).map_err(internal)?;
        all.push(powers(&expected, outputs));
        Ok(())
    })?;
    Ok(Some(ratio(float, &all)))
}

/// Runs an opened graph on consecutive samples: each call has the states that the one before it left, the first one those that are `held`. `seen` is given each sample with its states, and
/// the outputs.
fn calls(
    graph: &Graph,
    places: &[Place],
    mut held: Vec<Data>,
    samples: &[Vec<Data>],
    mut seen: impl FnMut(Vec<Data>, &[Data]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut machine = Machine::new(graph);
    for sample in samples {
        let sample = [&sample[..], &held[..]].concat();
        let outputs = machine.run(&sample).map_err(internal)?;
        held = places.iter().filter_map(|place| outputs.get(place.output).cloned()).collect();
        seen(sample, &outputs)?;
    }
    Ok(())
}

/// The name, or one like it, that no input or output has.
fn unused(graph: &Graph, mut name: String) -> String {
    while graph.inputs.iter().chain(&graph.outputs).any(|&id| graph.value(id).name == name) {
        name.push('_');
    }
    name
}
