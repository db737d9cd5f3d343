//! Every model of the project's own (networks on real data, and single operators with all their variants), compiled by this crate's build
//! script and run here, against TFLite Micro's outputs. With overflow checks: arithmetic that may not wrap does not.

use cargo_kiln::compare::{compare, Difference};
use cargo_kiln::golden::Golden;
use cargo_kiln::place::interpret;
use kiln::Model;
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::Options;

/// Runs cases through a model: inputs, whether they are one sequence, outputs.
type Run = fn(&[Vec<Data>], bool) -> Vec<Vec<Data>>;

fn run<M: Model + Default>(cases: &[Vec<Data>], sequence: bool) -> Vec<Vec<Data>> {
    let mut model = Box::<M>::default();
    let mut outputs = Vec::new();
    for inputs in cases {
        if !sequence {
            model.reset();
        }
        for (k, data) in inputs.iter().enumerate() {
            model.input_bytes_mut(k).copy_from_slice(data.bytes());
        }
        model.invoke();
        outputs.push((0..M::INFO.outputs.len()).map(|k| Data::new(model.output_bytes(k))).collect());
    }
    outputs
}

mod generated {
    use super::{run, Run};
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
    for &(name, run) in generated::BANDS {
        failed.extend(against_golden(name, "generated code, in bands", generated(run)));
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    // Everything that can go row by row does.
    assert!(generated::PIPELINES.len() >= 80, "{}", generated::PIPELINES.len());
    assert_eq!(generated::BANDS.len(), generated::PIPELINES.len());
}

/// A line if the outputs are not the golden ones.
fn against_golden(
    name: &str,
    place: &str,
    run: impl Fn(&Graph, &Golden) -> Vec<Vec<Data>>,
) -> Option<String> {
    let model = kiln_host_tests::own_models().into_iter().find(|model| model.name == name).unwrap();
    let golden = Golden::read(&model.golden).unwrap();
    let graph =
        kiln_codegen::import(&std::fs::read(&model.path).unwrap(), name, &Options::default()).unwrap();
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
