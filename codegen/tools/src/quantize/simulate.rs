//! Running graphs on samples, several at a time.

use super::build::Built;
use kiln_interp::{eval, InterpError, Machine, Values};
use kiln_ir::error::Error;
use kiln_ir::{DType, Data, Graph, Op, ValueDef};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Told how far a step of the work is: what, how much of it is done, and how much it is.
pub type Progress<'a> = &'a (dyn Fn(&str, usize, usize) + Sync);

/// Memory that values of samples may take that are computed at a time.
const MOST_BYTES: usize = 1 << 30;

/// How many samples are computed at a time.
pub(super) fn workers(graph: &Graph) -> usize {
    let bytes: usize = graph.values().map(|(_, value)| value.ty.bytes()).sum();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads.min(MOST_BYTES / bytes.max(1)).max(1)
}

/// Calls a function for each of so many tasks, by several threads; the answers are in the order of tasks.
///
/// # Errors
/// The first one of the function's.
pub(super) fn each<T: Send>(
    workers: usize,
    tasks: usize,
    progress: (Progress<'_>, &str),
    task: impl Fn(usize) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answers: Mutex<Vec<Option<Result<T, Error>>>> = Mutex::new((0..tasks).map(|_| None).collect());
    let work = || loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= tasks {
            return;
        }
        let answer = task(index);
        if answer.is_err() {
            next.store(tasks, Ordering::Relaxed);
        }
        if let Ok(mut answers) = answers.lock() {
            answers[index] = Some(answer);
        }
        progress.0(progress.1, done.fetch_add(1, Ordering::Relaxed) + 1, tasks);
    };
    std::thread::scope(|scope| {
        for _ in 1..workers.min(tasks) {
            scope.spawn(work);
        }
        work();
    });
    let answers = answers.into_inner().map_err(|_| Error::internal("quantize", "a thread ended early"))?;
    answers.into_iter().flatten().collect()
}

pub(super) fn internal(error: InterpError) -> Error {
    Error::internal("quantize", error.to_string())
}

/// All values of the float graph for a sample.
pub(super) fn values(graph: &Graph, sample: &[Data]) -> Result<Values, Error> {
    Machine::new(graph).run_values(sample).map_err(internal)
}

/// The outputs of a graph for a sample.
pub(super) fn outputs_of(graph: &Graph, sample: &[Data]) -> Result<Vec<Data>, Error> {
    Machine::new(graph).run(sample).map_err(internal)
}

/// The outputs of a quantised graph. What nothing quantised is before is taken from the float graph's values.
pub(super) fn outputs(built: &Built, sample: &[Data], float: &Values) -> Result<Vec<Data>, Error> {
    let graph = &built.graph;
    let mut found: HashMap<_, Data> = HashMap::new();
    let mut touched = std::collections::HashSet::new();
    graph.inputs.iter().zip(sample).for_each(|(&id, data)| {
        found.insert(id, data.clone());
    });
    let get = |found: &HashMap<_, Data>, id| -> Result<Data, Error> {
        match &graph.value(id).def {
            ValueDef::Const(data) => Ok(data.clone()),
            _ => found.get(&id).cloned().ok_or_else(|| Error::internal("quantize", "a value is missing")),
        }
    };
    for (_, node) in graph.nodes() {
        let changes = matches!(node.op, Op::Quantize { .. } | Op::Dequantize {});
        let known = built.same.get(&node.result);
        if changes || node.operands.iter().any(|operand| touched.contains(operand)) {
            touched.insert(node.result);
        } else if let Some(&id) = known {
            found.insert(node.result, float.get(id).map_err(internal)?.clone());
            continue;
        }
        let operands: Result<Vec<Data>, Error> = node.operands.iter().map(|&id| get(&found, id)).collect();
        let operands = operands?;
        let typed: Vec<_> = node.operands.iter().map(|&id| graph.ty(id)).zip(&operands).collect();
        let result = eval(&node.op, &typed, graph.ty(node.result)).map_err(internal)?;
        found.insert(node.result, result);
    }
    graph.outputs.iter().map(|&id| get(&found, id)).collect()
}

/// Power of outputs, and of what they differ by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Powers {
    signal: f64,
    noise: f64,
}

impl Powers {
    /// Of one output of one sample.
    pub(super) fn of(float: &Data, quantised: &Data) -> Powers {
        let (float, quantised) = (float.to_f32(), quantised.to_f32());
        let pairs = float.iter().zip(&quantised).map(|(&x, &y)| (f64::from(x), f64::from(y)));
        pairs.fold(Powers::default(), |sum, (x, y)| Powers {
            signal: sum.signal + x * x,
            noise: sum.noise + (x - y) * (x - y),
        })
    }

    fn plus(self, other: Powers) -> Powers {
        Powers { signal: self.signal + other.signal, noise: self.noise + other.noise }
    }
}

/// The ratio of signal to noise in dB; the least of all outputs. `powers[sample][output]`.
pub(super) fn ratio(graph: &Graph, powers: &[Vec<Powers>]) -> f64 {
    let floats = (0..graph.outputs.len()).filter(|&k| graph.ty(graph.outputs[k]).dtype == DType::F32);
    let of = |k: usize| {
        let sum =
            powers.iter().filter_map(|sample| sample.get(k)).fold(Powers::default(), |sum, &p| sum.plus(p));
        match sum.noise > 0.0 {
            // An output of nothing but zeros has no signal; what is not zero there is all noise.
            true => 10.0 * (sum.signal / sum.noise).log10(),
            false => f64::INFINITY,
        }
    };
    floats.map(of).fold(f64::INFINITY, f64::min)
}

/// The powers of all outputs of a sample.
pub(super) fn powers(float: &[Data], quantised: &[Data]) -> Vec<Powers> {
    float.iter().zip(quantised).map(|(float, quantised)| Powers::of(float, quantised)).collect()
}
