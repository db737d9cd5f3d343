//! One model with its golden file.

use crate::table;
use cargo_kiln::npz;
use kiln_codegen::interp::{Machine, Values};
use kiln_codegen::ir::{DType, Data, Graph, ValueId};
use kiln_codegen::{import, verify, InputShape, Options, Reference};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Float outputs may differ by this much of the largest magnitude in the same tensor.
const TOLERANCE: f32 = 1e-5;

/// A model and what is known about it.
pub(crate) struct Case {
    pub name: String,
    pub model: PathBuf,
    pub golden: PathBuf,
    /// Every intermediate tensor of one evaluation; they are compared instead of the outputs.
    pub layers: Option<PathBuf>,
    /// The golden cases are consecutive steps.
    pub sequence: bool,
    /// The reader must accept it.
    pub in_scope: bool,
}

/// What came of a case.
pub(crate) enum Verdict {
    Passes,
    /// The reader refuses the model.
    Refused(String),
    Differs(String),
}

/// The verdicts of all cases, in order.
pub(crate) fn run_all(cases: &[Case]) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(cases.iter().map(|_| None).collect::<Vec<_>>());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(index) else { return };
                let verdict = case.run();
                verdicts.lock().unwrap()[index] = Some(verdict);
            });
        }
    });
    verdicts.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
}

/// Values that LiteRT computed, where TensorFlow Lite Micro computes others: those of FULLY_CONNECTED.
const OF_LITERT: [&str; 2] = ["mlperf_ad_int8", "fully_connected_wide_int4w"];

impl Case {
    /// Whose integers the golden values are.
    fn reference(&self) -> Reference {
        let of_litert = OF_LITERT.contains(&self.name.as_str());
        // The outputs of the corpus are those of TensorFlow Lite Micro, the layers inside are not.
        match of_litert && (self.layers.is_some() || self.name.starts_with("fully_connected")) {
            true => Reference::Litert,
            false => Reference::Tflm,
        }
    }

    fn run(&self) -> Verdict {
        let bytes = std::fs::read(&self.model).unwrap_or_else(|e| panic!("{}: {e}", self.model.display()));
        let options = Options {
            reference: self.reference(),
            input_shapes: self.open_shapes(&bytes),
            ..Options::default()
        };
        let graph = match import(&bytes, &self.name, &options) {
            Ok(graph) => graph,
            Err(error) => return Verdict::Refused(error.to_string()),
        };
        match self.compare(&graph) {
            Ok(()) => Verdict::Passes,
            Err(how) => Verdict::Differs(how),
        }
    }

    /// The shapes of the inputs whose sizes the file leaves open, but for the batch: those of the golden cases.
    fn open_shapes(&self, bytes: &[u8]) -> Vec<InputShape> {
        let Ok(summary) = kiln_codegen::front::inspect(bytes) else { return Vec::new() };
        let is_open = |dims: &[i32]| dims.iter().skip(1).any(|&dim| dim < 0);
        if !summary.inputs.iter().any(|input| is_open(&input.dims)) {
            return Vec::new();
        }
        let golden = npz::read(&self.golden).unwrap_or_else(|e| panic!("{}: {e:#}", self.golden.display()));
        let open = summary.inputs.iter().enumerate().filter(|(_, input)| is_open(&input.dims));
        open.filter_map(|(k, input)| {
            let shape = &golden.get(&format!("in_{k}"))?.shape;
            // Some suites have one case, without an axis for it.
            let dims = shape[shape.len().checked_sub(input.dims.len())?..].to_vec();
            Some(InputShape { name: Some(input.name.clone()), dims })
        })
        .collect()
    }

    fn compare(&self, graph: &Graph) -> Result<(), String> {
        verify::verify(graph).map_err(|violations| {
            let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
            format!("does not verify: {}", list.join("; "))
        })?;
        let text = graph.to_string();
        let again = Graph::parse(&text).map_err(|e| format!("its textual form does not parse: {e}"))?;
        if again != graph.compact() {
            return Err("its textual form reads back as another graph".into());
        }

        let golden = npz::read(&self.golden).map_err(|e| format!("{e:#}"))?;
        let series = |kind: &str, index: usize, id: ValueId| {
            let key = format!("{kind}_{index}");
            let array = golden.get(&key).ok_or_else(|| format!("the golden file has no {key}"))?;
            // Some suites have one case, without an axis for it.
            let whole = array.data.bytes().len() == graph.ty(id).bytes();
            Ok::<_, String>(if whole { vec![array.data.clone()] } else { array.split() })
        };
        let all = |kind, ids: &[ValueId]| {
            ids.iter().enumerate().map(|(k, &id)| series(kind, k, id)).collect::<Result<Vec<_>, _>>()
        };
        let (inputs, outputs) = (all("in", &graph.inputs)?, all("out", &graph.outputs)?);
        let count = outputs.first().map_or(0, Vec::len);
        let mut machine = Machine::new(graph);
        for step in 0..count {
            if !self.sequence {
                machine.reset();
            }
            let given: Vec<Data> = inputs.iter().map(|series| series[step].clone()).collect();
            let values = machine.run_values(&given).map_err(|e| format!("case {step}: {e}"))?;
            if let Some(layers) = &self.layers {
                // Those of the first case, or of a sequence's last step.
                match self.sequence && step + 1 < count {
                    true => continue,
                    false => return compare_layers(layers, graph, &values),
                }
            }
            for (k, &id) in graph.outputs.iter().enumerate() {
                let actual = values.get(id).map_err(|e| e.to_string())?;
                difference(graph.ty(id).dtype, actual, &outputs[k][step])
                    .map_or(Ok(()), |how| Err(format!("case {step}, output {k}: {how}")))?;
            }
        }
        Ok(())
    }
}

/// The first layer that differs, in the order of evaluation.
fn compare_layers(path: &Path, graph: &Graph, values: &Values) -> Result<(), String> {
    let arrays = npz::read(path).map_err(|e| format!("{e:#}"))?;
    let rows = table::read(&path.with_extension("csv"));
    let mut compared = 0;
    for row in &rows {
        let Some(array) = arrays.get(&row["key"]) else { continue };
        let Some(id) = find(graph, &row["op"], &row["name"]) else { continue };
        let actual = values.get(id).map_err(|e| e.to_string())?;
        if let Some(how) = difference(array.dtype, actual, &array.data) {
            return Err(format!("layer {} ({} {:?}): {how}", row["key"], row["op"], row["name"]));
        }
        compared += 1;
    }
    // Inputs and constants have no node.
    match compared * 2 >= rows.len() {
        true => Ok(()),
        false => Err(format!("only {compared} of {} layers were found", rows.len())),
    }
}

/// The value that an operator of the model computes: the last one of that origin and name.
fn find(graph: &Graph, origin: &str, name: &str) -> Option<ValueId> {
    let named = graph.nodes().filter(|(_, n)| n.origin == origin && graph.value(n.result).name == name);
    named.map(|(_, node)| node.result).last()
}

/// How two tensors differ, if they do by more than is tolerated.
fn difference(dtype: DType, actual: &Data, expected: &Data) -> Option<String> {
    let (have, want) = (actual.bytes().len(), expected.bytes().len());
    if have != want {
        return Some(format!("{have} bytes instead of {want}"));
    }
    if dtype != DType::F32 {
        let (a, e) = (actual.to_ints(dtype), expected.to_ints(dtype));
        let wrong: Vec<usize> = (0..a.len()).filter(|&i| a[i] != e[i]).collect();
        let first = *wrong.first()?;
        let largest = wrong.iter().map(|&i| a[i].abs_diff(e[i])).max().unwrap_or(0);
        let (all, ours, theirs) = (a.len(), a[first], e[first]);
        return Some(format!(
            "{} of {all} elements, by up to {largest}; element {first} is {ours} instead of {theirs}",
            wrong.len()
        ));
    }
    let (a, e) = (actual.to_f32(), expected.to_f32());
    let largest = e.iter().filter(|x| x.is_finite()).fold(0f32, |m, x| m.max(x.abs()));
    let off = |i: usize| {
        let same = a[i] == e[i] || (a[i].is_nan() && e[i].is_nan());
        if same {
            0.0
        } else {
            (a[i] - e[i]).abs() / largest
        }
    };
    let worst = (0..a.len()).max_by(|&i, &j| off(i).total_cmp(&off(j)))?;
    let error = off(worst);
    (error.is_nan() || error > TOLERANCE).then(|| {
        format!("element {worst} is {} instead of {}, off by {error:e} of the largest", a[worst], e[worst])
    })
}
