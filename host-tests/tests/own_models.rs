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
    let models = kiln_host_tests::own_models();
    assert_eq!(models.len(), generated::MODELS.len());
    let mut failed = Vec::new();
    for (model, (name, run)) in models.iter().zip(generated::MODELS) {
        assert_eq!(model.name, *name);
        let golden = Golden::read(&model.golden).unwrap();
        let bytes = std::fs::read(&model.path).unwrap();
        let graph = kiln_codegen::import(&bytes, name, &Options::default()).unwrap();
        let sequence = !graph.states.is_empty();
        let generated = total(&graph, &run(&golden.inputs, sequence), &golden);
        let interpreted = total(&graph, &interpret(&graph, &golden.inputs).unwrap(), &golden);
        for (place, difference) in [("generated code", generated), ("interpreter", interpreted)] {
            if !difference.passes() {
                failed.push(format!("{name}, {place}: {difference:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), models.len(), failed.join("\n"));
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
