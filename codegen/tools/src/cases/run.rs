//! Cases in the interpreter, on the graph whose meaning generated code is held to.

use super::golden::Golden;
use super::npz::{written, Array};
use super::{Error, Result};
use kiln_interp::Machine;
use kiln_ir::{Data, Graph};

/// How the cases of a model with state begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// As the golden file's array `fresh` says; without it, as steps of one sequence.
    #[default]
    AsTheFileSays,
    /// Each from a reset.
    Fresh,
    /// The first from a reset, each other one where the one before it ended.
    Sequence,
}

impl Start {
    /// Whether the cases of a model are steps of one sequence.
    pub fn is_sequence(self, graph: &Graph, golden: &Golden) -> bool {
        let fresh = match self {
            Start::AsTheFileSays => golden.fresh.unwrap_or(false),
            Start::Fresh => true,
            Start::Sequence => false,
        };
        is_sequence(graph) && !fresh
    }
}

/// Whether cases are steps of one sequence: the model has state.
pub fn is_sequence(graph: &Graph) -> bool {
    !graph.states.is_empty()
}

/// The interpreter, a case at a time.
#[derive(Debug)]
pub struct Run {
    machine: Machine,
    in_sequence: bool,
}

impl Run {
    /// Before the first case. Before each other one there is a reset, unless the cases are steps of one sequence.
    pub fn new(graph: &Graph, in_sequence: bool) -> Run {
        Run { machine: Machine::new(graph), in_sequence }
    }

    /// The outputs of the next case.
    ///
    /// # Errors
    /// Where the case does not fit the graph.
    pub fn next(&mut self, inputs: &[Data]) -> Result<Vec<Data>> {
        if !self.in_sequence {
            self.machine.reset();
        }
        Ok(self.machine.run(inputs)?)
    }
}

/// The interpreter's outputs of every case, which are the steps of one sequence if the model has state.
///
/// # Errors
/// Where a case does not fit the graph.
pub fn interpret(graph: &Graph, cases: &[Vec<Data>]) -> Result<Vec<Vec<Data>>> {
    interpret_as(graph, cases, is_sequence(graph))
}

/// The interpreter's outputs of every case, from a reset before each unless they are steps of one sequence.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_as(graph: &Graph, cases: &[Vec<Data>], in_sequence: bool) -> Result<Vec<Vec<Data>>> {
    let mut run = Run::new(graph, in_sequence);
    cases.iter().map(|inputs| run.next(inputs)).collect()
}

/// The outputs of all cases: the k-th array is the k-th output, and its first axis counts cases.
///
/// # Errors
/// Where a case lacks an output.
pub fn outputs(graph: &Graph, cases: &[Vec<Data>]) -> Result<Vec<Array>> {
    let output = |(k, &id): (usize, _)| -> Result<Array> {
        let ty = graph.ty(id);
        let all = cases.iter().map(|outputs| outputs.get(k).map(Data::bytes));
        let all = all.collect::<Option<Vec<&[u8]>>>().ok_or_else(|| Error::new("a case has no output"))?;
        Ok(Array {
            dtype: ty.dtype,
            shape: [&[all.len()], ty.shape.dims()].concat(),
            data: Data::new(all.concat()),
        })
    };
    graph.outputs.iter().enumerate().map(output).collect()
}

/// A NumPy archive of outputs: the arrays `out_0`, `out_1` …
///
/// # Errors
/// Where the archive cannot be written.
pub fn outputs_npz(outputs: &[Array]) -> Result<Vec<u8>> {
    let names: Vec<String> = (0..outputs.len()).map(|k| format!("out_{k}")).collect();
    let arrays: Vec<(&str, &Array)> = names.iter().map(String::as_str).zip(outputs).collect();
    written(&arrays)
}
