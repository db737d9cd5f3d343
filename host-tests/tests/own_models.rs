//! Every model of the project's own (networks on real data, and single operators with all their variants), compiled by this crate's build
//! script and run here, against TFLite Micro's outputs. With overflow checks: arithmetic that may not wrap does not.

use cargo_kiln::compare::{compare, Difference};
use cargo_kiln::golden::Golden;
use cargo_kiln::place::interpret;
use cargo_kiln::slide::Sequence;
use kiln::{Crew, Model};
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::{schedule, Options};

/// Runs cases through a model: inputs (or single rows of a model that is fed by rows), whether they are one sequence, outputs (none where
/// they are not complete).
type Run = fn(&[Vec<Data>], bool) -> Vec<Vec<Data>>;

fn run<M: Model + Default>(cases: &[Vec<Data>], sequence: bool) -> Vec<Vec<Data>> {
    run_with::<M>(cases, sequence, M::invoke)
}

/// With two more threads, and one in three cases alone.
fn run_on_a_crew<M: Model + Default>(cases: &[Vec<Data>], sequence: bool) -> Vec<Vec<Data>> {
    Crew::of_threads(2, |crew| {
        while crew.helpers() < 2 {
            std::thread::yield_now();
        }
        let mut count = 0;
        run_with::<M>(cases, sequence, |model| {
            count += 1;
            if count % 3 == 0 {
                model.invoke()
            } else {
                model.invoke_on(crew)
            }
        })
    })
}

fn run_with<M: Model + Default>(
    cases: &[Vec<Data>],
    sequence: bool,
    mut invoke: impl FnMut(&mut M) -> bool,
) -> Vec<Vec<Data>> {
    let mut model = Box::<M>::default();
    let mut outputs = Vec::new();
    for inputs in cases {
        if !sequence {
            model.reset();
        }
        let pieces = inputs[0].bytes().len() / model.input_bytes_mut(0).len();
        let mut complete = false;
        for piece in 0..pieces {
            for (k, data) in inputs.iter().enumerate() {
                let len = data.bytes().len() / pieces;
                model.input_bytes_mut(k).copy_from_slice(&data.bytes()[piece * len..][..len]);
            }
            complete = invoke(&mut model);
        }
        let given = if complete { M::INFO.outputs.len() } else { 0 };
        outputs.push((0..given).map(|k| Data::new(model.output_bytes(k))).collect());
    }
    outputs
}

mod generated {
    use super::{run, run_on_a_crew, Run};
    include!(concat!(env!("OUT_DIR"), "/own_models.rs"));
}

#[test]
fn generated_code_and_interpreter_give_the_golden_outputs() {
    assert_eq!(generated::REFUSED, []);
    assert_eq!(kiln_host_tests::own_models().len(), generated::MODELS.len());
    let interpreter = |graph: &Graph, golden: &Golden| interpret(graph, &golden.inputs).unwrap();
    let generated =
        |run: Run| move |graph: &Graph, golden: &Golden| run(&golden.inputs, !graph.states.is_empty());
    let mut failed = Vec::new();
    for &(name, run) in generated::MODELS {
        failed.extend(against_golden(name, "interpreter", interpreter));
        failed.extend(against_golden(name, "generated code", generated(run)));
    }
    for &(name, run) in generated::PIPELINES {
        failed.extend(against_golden(name, "generated code, row by row", generated(run)));
    }
    for &(name, run) in generated::AGAIN {
        failed.extend(against_golden(name, "generated code, computing rows again", generated(run)));
    }
    for &(name, run) in generated::BANDS {
        failed.extend(against_golden(name, "generated code, in bands", generated(run)));
    }
    for &(name, run) in generated::ROWS.iter().chain(generated::ROWS_MEMORY) {
        failed.extend(against_golden(name, "generated code, fed by rows", generated(run)));
    }
    for &(name, run) in generated::FAST {
        failed.extend(against_golden(name, "generated code, in two arenas", generated(run)));
    }
    for &(name, run) in generated::CREW {
        failed.extend(against_golden(name, "generated code, on a crew", generated(run)));
    }
    for &(name, run) in generated::SLIDING {
        failed.extend(against_golden(name, "generated code, sliding", generated(run)));
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    // Everything that can go row by row does.
    assert!(generated::PIPELINES.len() >= 80, "{}", generated::PIPELINES.len());
    assert_eq!(generated::FAST.len(), generated::MODELS.len());
    assert!(generated::CREW.len() >= 40, "{}", generated::CREW.len());
    assert_eq!(generated::BANDS.len(), generated::PIPELINES.len());
    assert!(generated::AGAIN.len() >= 3, "{}", generated::AGAIN.len());
    assert!(generated::ROWS.len() >= 60, "{}", generated::ROWS.len());
    assert_eq!(generated::ROWS_MEMORY.len(), generated::ROWS.len());
    assert!(generated::SLIDING.len() >= 4, "{}", generated::SLIDING.len());
}

/// Every output of a long sequence of frames, against the interpreter on that window.
#[test]
fn sliding_models_compute_every_window() {
    for (name, run) in generated::SLIDING {
        let (graph, golden) = model(name);
        let rows = schedule::rows(&graph.ty(graph.inputs[0]).shape);
        let Sequence { frames, outputs } = Sequence::new(&graph, &golden.inputs, rows, 1).unwrap();
        let actual = run(&frames, true);
        assert_eq!(actual.len(), outputs.len());
        for (frame, (actual, expected)) in actual.iter().zip(&outputs).enumerate() {
            assert_eq!(actual.len(), expected.len(), "{name}, frame {frame}");
            for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                let difference = compare(graph.ty(graph.outputs[k]).dtype, actual, expected);
                assert!(difference.passes(), "{name}, frame {frame}: {difference:?}");
            }
        }
    }
}

/// A model's graph as imported, and its golden cases.
fn model(name: &str) -> (Graph, Golden) {
    let model = kiln_host_tests::own_models().into_iter().find(|model| model.name == name).unwrap();
    let bytes = std::fs::read(&model.path).unwrap();
    (kiln_codegen::import(&bytes, name, &Options::default()).unwrap(), Golden::read(&model.golden).unwrap())
}

/// A line if the outputs are not the golden ones.
fn against_golden(
    name: &str,
    place: &str,
    run: impl Fn(&Graph, &Golden) -> Vec<Vec<Data>>,
) -> Option<String> {
    let (graph, golden) = model(name);
    let difference = total(&graph, &run(&graph, &golden), &golden);
    (!difference.passes()).then(|| format!("{name}, {place}: {difference:?}"))
}

fn total(graph: &Graph, actual: &[Vec<Data>], golden: &Golden) -> Difference {
    assert_eq!(actual.len(), golden.outputs.len());
    let mut total = Difference::default();
    for (actual, expected) in actual.iter().zip(&golden.outputs) {
        for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            total.merge(compare(graph.ty(graph.outputs[k]).dtype, actual, expected));
        }
    }
    total
}
