//! ONNX files: what ONNX Runtime gives for them, and clear refusals instead of internal errors.

use super::path;
use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::interpret;
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::{compile_graph, import, import_with_drift, read_file, Error, Options, Qdq};

/// Reads and compiles a model, and holds the interpreter, before and after the passes, to ONNX Runtime's outputs.
fn check(name: &str) {
    let file = path("onnx").join(name);
    let golden = Golden::read(&file.with_extension("npz")).unwrap();
    let bytes = read_file(&file.with_extension("onnx")).unwrap();
    let graph = import(&bytes, name, &Options::default()).unwrap();
    let compiled = compile_graph(graph.clone(), &Options::default()).unwrap();
    for graph in [&graph, &compiled.graph] {
        let results = interpret(graph, &golden.inputs).unwrap();
        let outputs = graph.outputs.iter().copied().cycle();
        let pairs = results.iter().flatten().zip(golden.outputs.iter().flatten());
        for ((actual, expected), output) in pairs.zip(outputs) {
            let dtype = graph.ty(output).dtype;
            let difference = compare(dtype, actual, expected);
            assert!(difference.passes(), "{name}: {difference}");
        }
    }
}

/// A filter smaller than the stride: the result is as large as what the taps reach, and not the stride times the operand.
#[test]
fn transposed_convolutions_of_the_same_size() {
    ["convt_SAME_UPPER", "convt_SAME_LOWER", "o578"].iter().for_each(|name| check(name));
}

/// A window over more channels than there are counts those that there are.
#[test]
fn normalisation_over_more_channels_than_there_are() {
    check("o212");
}

/// A chain of floats, with transposed convolutions and a pooling.
#[test]
fn a_chain_of_floats() {
    check("o341");
}

/// Where steps are longer than windows, padding for a result of the image's size is negative: the outermost pixels are left out on both sides.
#[test]
fn convolutions_whose_steps_are_longer_than_their_windows() {
    ["conv_beyond_SAME_UPPER", "conv_beyond_SAME_LOWER", "stride_beyond_window"]
        .iter()
        .for_each(|name| check(name));
}

/// `pytorch_half_pixel` reads element 0 where the result has one element, whatever the scale says.
#[test]
fn resizing_to_one_element() {
    check("resize_to_one");
}

/// Coordinates that are half but for a rounded factor are half. An axis that is not resized is left alone. Without a mode, a shorter axis takes the element above.
#[test]
fn resizing_to_the_nearest_element() {
    ["resize_halves", "resize_unscaled", "resize_first", "resize_symmetric"]
        .iter()
        .for_each(|name| check(name));
}

/// An axis whose scale leaves its size is resampled, unless no axis has another size.
#[test]
fn resizing_to_the_same_size() {
    check("resize_same_size");
}

/// NaN stays NaN, and infinity does not become it.
#[test]
fn numbers_that_are_infinite_or_none() {
    ["clip_nan", "max_nan", "lp_nan", "asinh_infinite", "acosh_large", "log_sum_exp_infinite"]
        .iter()
        .for_each(|name| check(name));
}

/// LSTMs whose inputs and states are quantised as they come: of both directions, signed and unsigned weights, scales for each filter, peepholes, a clip, and sums of more than 24 bits.
#[test]
fn lstms_that_quantise_as_they_go() {
    ["dynamic_lstm_a", "dynamic_lstm_b", "dynamic_lstm_c", "dynamic_lstm_wide"]
        .iter()
        .for_each(|name| check(name));
}

/// With `auto_pad`, windows further apart than their size begin in the middle of what is left over; a window that is larger than its image, by less than a stride, is one.
#[test]
fn poolings_whose_windows_do_not_fit() {
    ["qpool_SAME_UPPER", "qpool_SAME_LOWER", "pool_beyond", "pool_beyond_19", "pool_beyond_ceil"]
        .iter()
        .for_each(|name| check(name));
}

/// NaN and infinities where stored values and indices are made of them.
#[test]
fn what_is_no_number_is_quantised_and_compared() {
    ["dynamic_numbers", "hardmax_numbers"].iter().for_each(|name| check(name));
}

/// Chains in QDQ format, whose integer layers were one step off here and there, which layers behind them made seven of. They give the very numbers of the floats now.
#[test]
fn chains_of_integer_layers_are_exact() {
    ["qdq_clip", "qdq_sums", "qdq_dense"].iter().for_each(|name| check(name));
}

/// Of 16 bits layers may be a step off, and what is behind them makes more of it: that is said, and refused beyond the limit.
#[test]
fn drift_beyond_the_limit_is_refused() {
    let bytes = read_file(&path("onnx").join("qdq16_drift.onnx")).unwrap();
    let options = Options { qdq_drift: Some(8), ..Options::default() };
    let error = import(&bytes, "qdq16_drift", &options).unwrap_err().to_string();
    assert!(error.contains("2 GlobalAveragePool: as integers, output \"y25\" is up to"), "{error}");
    assert!(error.contains("qdq = \"float\"") && error.contains("qdq_drift = "), "{error}");
    let options = Options::default();
    let (graph, drift) = import_with_drift(&bytes, "qdq16_drift", &options).unwrap();
    let drift = drift.unwrap();
    let output = &drift.outputs[0];
    assert!(output.measured > Some(8.0) && output.measured <= output.bound, "{drift}");
    // What the golden shows is within the bound, and the floats are the golden's.
    let golden = Golden::read(&path("onnx").join("qdq16_drift.npz")).unwrap();
    let float = import(&bytes, "qdq16_drift", &Options { qdq: Qdq::Float, ..Options::default() }).unwrap();
    let [floats, integers] =
        [&float, &graph].map(|graph| interpret(graph, &golden.inputs).unwrap().concat().concat_numbers());
    let wanted = golden.outputs.concat().concat_numbers();
    assert_eq!(floats, wanted);
    let step = f64::from(drift_step(&graph));
    let worst =
        integers.iter().zip(&wanted).map(|(a, b)| f64::from((a - b).abs()) / step).fold(0.0, f64::max);
    assert!(worst <= output.bound.unwrap() + 1e-3, "{worst} steps, {drift}");
}

/// The scale of the integers that the only output is made of.
fn drift_step(graph: &Graph) -> f32 {
    let node = graph.node(graph.producer(graph.outputs[0]).unwrap());
    graph.ty(node.operands[0]).scale().unwrap()
}

/// The floats of several tensors.
trait Numbers {
    fn concat_numbers(&self) -> Vec<f32>;
}

impl Numbers for Vec<Data> {
    fn concat_numbers(&self) -> Vec<f32> {
        self.iter().flat_map(Data::to_f32).collect()
    }
}

/// Element types that an operator does not have.
#[test]
fn element_types_that_no_op_has_are_refused() {
    for (name, what) in [("cumsum_u8", "u8[3,1]"), ("lstm_cell_state", "u8[1, 2, 4]")] {
        let bytes = read_file(&path("onnx").join(name).with_extension("onnx")).unwrap();
        let error = import(&bytes, name, &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        let said = error.to_string().replace(", ", ",");
        assert!(said.contains(&what.replace(", ", ",")), "{said}");
    }
}

/// What negative pads cut off is cut off before anything is padded, so that it does not come back.
#[test]
fn what_is_cut_off_pads_nothing() {
    check("pad_cut_off");
}

/// A norm of numbers whose squares are too small for a number is 0, and so is what is divided by it. Norms that are small themselves divide as others do.
#[test]
fn norms_of_little() {
    check("lp_of_little");
}
