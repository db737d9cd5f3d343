//! One case: a model, inputs and the outputs that ONNX's reference gives.

use crate::proto::{self, Elements, Tensor};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph, Type};
use kiln_codegen::{front, passes, verify};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// As ONNX's own runner has it: what a float may differ by, relative to the expected one and beside that.
const TOLERANCE: (f64, f64) = (1e-3, 1e-7);

/// A folder of the suites.
pub(crate) struct Case {
    /// `node/test_abs`.
    pub name: String,
    pub folder: PathBuf,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// With these operands as constants.
    Passes(Constants),
    Refused(String),
    Differs(String),
}

/// Which of a case's inputs are constants of the model that is compiled. The cases have shapes, axes and bounds as inputs, which models have as constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Constants {
    /// None: the model is that of the case.
    None,
    /// Integers of 32 and 64 bits, but for the first input.
    Indices,
    /// All but the first input.
    AllButFirst,
    /// All: what the compiler folds is compared.
    All,
}

const ATTEMPTS: [Constants; 4] =
    [Constants::None, Constants::Indices, Constants::AllButFirst, Constants::All];

/// The verdicts of all cases, in order.
pub(crate) fn run_all(cases: &[Case]) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(vec![None; cases.len()]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(index) else { return };
                let verdict = catch_unwind(|| case.run())
                    .unwrap_or_else(|_| Verdict::Differs("the compiler panics".into()));
                verdicts.lock().unwrap()[index] = Some(verdict);
            });
        }
    });
    verdicts.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
}

impl Case {
    fn run(&self) -> Verdict {
        let model = read(&self.folder.join("model.onnx"));
        let (inputs, outputs) = (self.tensors("input"), self.tensors("output"));
        let parsed: Vec<Tensor> = inputs.iter().map(|bytes| Tensor::parse(bytes)).collect();
        let names = proto::inputs(&model);
        // Tensors of the file go by name, or else by place.
        let is_named = parsed.iter().all(|tensor| names.contains(&tensor.name));
        let named = |k: usize| match is_named {
            true => parsed[k].name.clone(),
            false => names.get(k).cloned().unwrap_or_default(),
        };
        let mut why = String::new();
        for constants in ATTEMPTS {
            let is_constant = |k: usize| match constants {
                Constants::None => false,
                Constants::Indices => k > 0 && parsed[k].is_index(),
                Constants::AllButFirst => k > 0,
                Constants::All => true,
            };
            let mut bytes = model.clone();
            for k in (0..parsed.len()).filter(|&k| is_constant(k)) {
                proto::add_constant(&mut bytes, &named(k), &inputs[k]);
            }
            let graph = match front::read(&bytes, "case") {
                Ok(graph) => graph,
                Err(kiln_codegen::Error::Unsupported(problems)) => {
                    why = problems
                        .iter()
                        .map(|p| format!("{}: {}", p.place, p.what))
                        .collect::<Vec<_>>()
                        .join("; ");
                    continue;
                }
                Err(error) => {
                    why = error.to_string().replace('\n', " ");
                    continue;
                }
            };
            let given: Vec<(String, &Tensor)> =
                (0..parsed.len()).filter(|&k| !is_constant(k)).map(|k| (named(k), &parsed[k])).collect();
            // A model may leave a size open that the case has.
            if let Some(how) = misfit(&graph, &given) {
                why = how;
                continue;
            }
            let expected: Vec<Tensor> = outputs.iter().map(|bytes| Tensor::parse(bytes)).collect();
            return match compare(graph, &given, &expected) {
                Ok(()) => Verdict::Passes(constants),
                Err(how) => Verdict::Differs(how),
            };
        }
        Verdict::Refused(why)
    }

    /// The files `input_0.pb`, … or `output_0.pb`, … of the first set of data.
    fn tensors(&self, kind: &str) -> Vec<Vec<u8>> {
        let file = |k: usize| self.folder.join(format!("test_data_set_0/{kind}_{k}.pb"));
        (0..).map(file).take_while(|path| path.exists()).map(|path| read(&path)).collect()
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Evaluates the graph as it was read, and as passes leave it.
fn compare(mut graph: Graph, given: &[(String, &Tensor)], expected: &[Tensor]) -> Result<(), String> {
    verify::verify(&graph).map_err(|e| format!("the graph is not sound: {e:?}"))?;
    evaluate(&graph, given, expected)?;
    passes::run(&mut graph, &mut |_, _| {}).map_err(|e| format!("passes: {e}"))?;
    evaluate(&graph, given, expected).map_err(|e| format!("behind the passes: {e}"))
}

fn evaluate(graph: &Graph, given: &[(String, &Tensor)], expected: &[Tensor]) -> Result<(), String> {
    let mut inputs = Vec::new();
    for &id in &graph.inputs {
        let value = graph.value(id);
        let tensors = given.iter().filter(|(name, _)| *name == value.name);
        inputs.extend(tensors.filter_map(|(_, tensor)| data(tensor, &value.ty).ok()));
    }
    let results = Machine::new(graph).run(&inputs).map_err(|e| e.to_string())?;
    if results.len() != expected.len() {
        return Err(format!("{} outputs, {} expected", results.len(), expected.len()));
    }
    for (k, ((&id, result), expected)) in graph.outputs.iter().zip(&results).zip(expected).enumerate() {
        agree(graph.ty(id), result, expected).map_err(|how| format!("output {k}: {how}"))?;
    }
    Ok(())
}

/// What does not fit of the inputs that are given.
fn misfit(graph: &Graph, given: &[(String, &Tensor)]) -> Option<String> {
    graph.inputs.iter().map(|&id| graph.value(id)).find_map(|value| {
        let Some((_, tensor)) = given.iter().find(|(name, _)| *name == value.name) else {
            return Some(format!("there is no input \"{}\"", value.name));
        };
        data(tensor, &value.ty).err().map(|how| format!("input \"{}\": {how}", value.name))
    })
}

fn data(tensor: &Tensor, ty: &Type) -> Result<Data, String> {
    if tensor.dims != ty.shape.dims() {
        return Err(format!("the case has {:?} for {ty}", tensor.dims));
    }
    match (&tensor.elements, ty.dtype) {
        (Elements::Floats(list), DType::F32) => {
            Ok(Data::from_f32(&list.iter().map(|&x| x as f32).collect::<Vec<_>>()))
        }
        (Elements::Ints(list), dtype) if dtype != DType::F32 => {
            Ok(Data::from_ints(dtype, list.iter().copied()))
        }
        _ => Err(format!("the case has elements of type {} for {ty}", tensor.element)),
    }
}

fn agree(ty: &Type, result: &Data, expected: &Tensor) -> Result<(), String> {
    if ty.shape.dims() != expected.dims {
        return Err(format!("{ty}, shape {:?} expected", expected.dims));
    }
    match (&expected.elements, ty.dtype) {
        (Elements::Floats(list), DType::F32) => {
            for (at, (x, &wanted)) in result.to_f32().into_iter().zip(list).enumerate() {
                let x = f64::from(x);
                let (relative, absolute) = TOLERANCE;
                let same = x == wanted || (x.is_nan() && wanted.is_nan());
                if !same && ((x - wanted).abs() > absolute + relative * wanted.abs() || !wanted.is_finite()) {
                    return Err(format!("element {at} of {ty} is {x}, {wanted} expected"));
                }
            }
            Ok(())
        }
        (Elements::Ints(list), dtype) if dtype != DType::F32 => {
            match result.to_ints(dtype).iter().zip(list).enumerate().find(|(_, (x, wanted))| x != wanted) {
                None => Ok(()),
                Some((at, (x, wanted))) => Err(format!("element {at} of {ty} is {x}, {wanted} expected")),
            }
        }
        _ => Err(format!("{ty}, elements of type {} expected", expected.element)),
    }
}
