//! Options that change the interface of ONNX models, and normalisations of ONNX Runtime: what it gives for small models, which `models/make_onnx_small.py` writes.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::Place;
use kiln_codegen::ir::{DType, Data, Graph, Op};
use kiln_codegen::{compile_graph, import, read_file, Compiled, Options};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/onnx_small").join(name)
}

fn golden(name: &str) -> Golden {
    Golden::read(&file(name).with_extension("npz")).unwrap()
}

fn options(pairs: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    pairs.iter().for_each(|(name, value)| options.set(name, value).unwrap());
    options
}

fn graph(name: &str, options: &Options) -> Graph {
    import(&read_file(&file(name).with_extension("onnx")).unwrap(), name, options).unwrap()
}

/// Runs cases in the interpreter and as generated code on the host, and holds the outputs to these.
fn check(graph: &Graph, options: &Options, inputs: &[Vec<Data>], outputs: &[Vec<Data>]) -> Compiled {
    let compiled = compile_graph(graph.clone(), options).unwrap();
    for place in ["interp", "host"] {
        let results = Place::find(place).unwrap().run(graph, &compiled, inputs).unwrap();
        assert_eq!(results.len(), outputs.len());
        for (case, (actual, expected)) in results.iter().zip(outputs).enumerate() {
            assert_eq!(actual.len(), expected.len());
            for (actual, expected) in actual.iter().zip(expected) {
                let difference = compare(DType::F32, actual, expected);
                assert!(difference.passes(), "case {case} of {} on {place}: {difference:?}", graph.name);
            }
        }
    }
    compiled
}

#[test]
fn normalisations() {
    for name in ["rms_norm", "skip_layer_norm", "skip_rms_norm"] {
        let golden = golden(name);
        check(&graph(name, &Options::default()), &Options::default(), &golden.inputs, &golden.outputs);
    }
}

/// Channel-last, from \[c, pixels\].
fn channel_last(data: &Data, channels: usize) -> Data {
    let numbers = data.to_f32();
    let pixels = numbers.len() / channels;
    let at = |k: usize| numbers[k % channels * pixels + k / channels];
    Data::from_f32(&(0..numbers.len()).map(at).collect::<Vec<_>>())
}

fn transposes(graph: &Graph) -> usize {
    graph.nodes().filter(|(_, node)| matches!(node.op, Op::Transpose { .. })).count()
}

#[test]
fn images_as_they_come() {
    let Golden { inputs, outputs, .. } = golden("image");
    let plain = graph("image", &Options::default());
    let compiled = check(&plain, &Options::default(), &inputs, &outputs);
    assert_eq!((transposes(&plain), transposes(&compiled.graph)), (6, 2));

    let options = options(&[("channels_last", "image"), ("channels_last", "heat")]);
    let last = graph("image", &options);
    let inputs: Vec<_> = inputs.iter().map(|case| vec![channel_last(&case[0], 3)]).collect();
    let outputs: Vec<_> =
        outputs.iter().map(|case| vec![channel_last(&case[0], 5), case[1].clone()]).collect();
    let compiled = check(&last, &options, &inputs, &outputs);
    assert_eq!(transposes(&compiled.graph), 0);
    let text = compiled.file(&quote::quote!(pub)).unwrap();
    for shape in ["shape: &[1, 8, 10, 3]", "shape: &[1, 4, 5, 5]"] {
        assert!(text.contains(shape), "{shape} in {text}");
    }
}

#[test]
fn sequences_as_they_come() {
    let Golden { inputs, outputs, .. } = golden("sequence");
    let options = options(&[("channels_last", "x"), ("channels_last", "y")]);
    let inputs: Vec<_> = inputs.iter().map(|case| vec![channel_last(&case[0], 3)]).collect();
    let outputs: Vec<_> = outputs.iter().map(|case| vec![channel_last(&case[0], 4)]).collect();
    let compiled = check(&graph("sequence", &options), &options, &inputs, &outputs);
    assert_eq!(transposes(&compiled.graph), 0);
}

#[test]
fn names_that_have_no_channels() {
    let refused = |model: &str, name: &str| {
        let bytes = read_file(&file(model)).unwrap();
        let options = options(&[("channels_last", name)]);
        import(&bytes, "m", &options).unwrap_err().to_string()
    };
    let message = refused("image.onnx", "scores");
    assert!(message.contains("option `channels_last`: \"scores\" is f32[1, 5]"), "{message}");
    let message = refused("image.onnx", "picture");
    assert!(message.contains("no input or output \"picture\"") && message.contains("\"heat\""), "{message}");
    let message = refused("../tflite/residual_int8.tflite", "x");
    assert!(message.contains("already channel-last"), "{message}");
}

/// Steps with kept state give what the layer gives for the whole sequence, again after a reset.
#[test]
fn kept_state() {
    let pairs: [(&str, &[(&str, &str)]); 2] = [
        ("gru", &[("state", "h_out=h_in")]),
        ("lstm", &[("state", "h_out=h_in"), ("state", "c_out = c_in")]),
    ];
    for (layer, pairs) in pairs {
        let Golden { inputs, outputs, .. } = golden(&format!("{layer}_sequence"));
        assert!(inputs.len() == 7 && outputs.len() == 7);
        let options = options(pairs);
        let step = graph(&format!("{layer}_step"), &options);
        assert_eq!((step.inputs.len(), step.outputs.len(), step.states.len()), (1, 1, pairs.len()));
        let compiled = check(&step, &options, &inputs, &outputs);
        assert_eq!(compiled.plan.state_bytes, pairs.len() * 6 * 4);
    }
}
