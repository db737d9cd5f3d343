//! The operands, parameters and results of CMSIS-NN's unit tests, which the conformance suites beside the corpus have as data: each as a graph of one op, with the
//! very factors that the kernels are given there, interpreted and as generated code.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::npz::{self, Array};
use kiln_codegen::ir::{
    AddRescale, Binary, Clamp, DType, Data, Graph, Layout, Multiplier, Op, Padding, Real, Rescale,
    SoftmaxScale, Type, ValueId, Window,
};
use kiln_host_tests::{assert_generated_as_interpreted, corpus_folder};
use std::collections::BTreeMap;
use std::path::Path;

/// Functions whose data is not run here, with reasons.
const LEFT_OUT: &[(&str, &str)] = &[
    ("arm_ds_cnn_s_s8", "a whole network without its graph"),
    ("arm_lstm_unidirectional", "no state is kept from one call to the next: another operator than TFLite's"),
    (
        "arm_reverse_transpose_conv_s8",
        "the reader makes convolutions of them: the single-operator models hold those",
    ),
    ("arm_svdf", "the reader composes them of other ops: the single-operator models hold those"),
    ("arm_transpose_conv_s8", "the reader makes convolutions of them: the single-operator models hold those"),
];

/// One set of data.
struct Case {
    name: String,
    function: String,
    arrays: BTreeMap<String, Array>,
    defines: serde_json::Value,
}

impl Case {
    fn read(folder: &Path, name: &str) -> Case {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let function = json["family"][0].as_str().unwrap().to_string();
        let arrays = npz::read(&folder.join(format!("{name}.npz"))).unwrap().into_iter().collect();
        Case { name: name.into(), function, arrays, defines: json["defines"].clone() }
    }

    /// A parameter, if the set has it.
    fn maybe(&self, key: &str) -> Option<i64> {
        self.defines[key].as_i64()
    }

    fn get(&self, key: &str) -> i64 {
        self.maybe(key).unwrap_or_else(|| panic!("{} has no {key}", self.name))
    }

    fn size(&self, key: &str) -> usize {
        usize::try_from(self.get(key)).unwrap()
    }

    fn array(&self, key: &str) -> &Array {
        &self.arrays[key]
    }

    fn ints(&self, key: &str) -> Vec<i64> {
        let array = self.array(key);
        array.data.to_ints(array.dtype)
    }

    /// The range of results.
    fn clamp(&self) -> Clamp {
        let bound = |names: [&str; 2], end: fn(i64, i64) -> i64| {
            let range = self.array("output").dtype.int_range().unwrap();
            names.iter().find_map(|name| self.maybe(name)).unwrap_or(end(range.0, range.1)) as i32
        };
        let lo = bound(["out_activation_min", "activation_min"], |lo, _| lo);
        Clamp::Int { lo, hi: bound(["out_activation_max", "activation_max"], |_, hi| hi) }
    }

    /// The factors of a layer: one for each channel, or one for all.
    fn rescale(&self) -> Rescale {
        if !self.arrays.contains_key("output_mult") {
            return Rescale::FixedPoint(vec![self.factor("output_multiplier", "output_shift")]);
        }
        let (values, shifts) = (self.ints("output_mult"), self.ints("output_shift"));
        let pairs = values.into_iter().zip(shifts);
        Rescale::FixedPoint(pairs.map(|(value, shift)| multiplier(value, shift)).collect())
    }

    fn factor(&self, value: &str, shift: &str) -> Multiplier {
        multiplier(self.get(value), self.get(shift))
    }
}

fn multiplier(value: i64, shift: i64) -> Multiplier {
    Multiplier { value: value as i32, shift: shift as i32 }
}

/// A graph that grows case by case, with the data of its inputs and the results that are to come out.
#[derive(Default)]
struct Suite {
    graph: Option<Graph>,
    inputs: Vec<Data>,
    expected: Vec<(String, Data)>,
}

impl Suite {
    fn graph(&mut self) -> &mut Graph {
        self.graph.get_or_insert_with(|| Graph::new("cmsis_nn"))
    }

    fn input(&mut self, array: &Array, dims: &[usize], zero: i64) -> ValueId {
        self.inputs.push(array.data.clone());
        let ty = Type::quantized(array.dtype, dims, 1.0, zero as i32);
        self.graph().add_input("x", ty)
    }

    /// Adds the op whose result is the case's.
    fn result(&mut self, case: &Case, op: Op, operands: &[ValueId], dims: &[usize], zero: i64) {
        let array = case.array("output");
        let ty = Type::quantized(array.dtype, dims, 1.0, zero as i32);
        self.finish(case, op, operands, ty);
    }

    fn finish(&mut self, case: &Case, op: Op, operands: &[ValueId], ty: Type) {
        let result = self.graph().add_node(op, operands, case.name.as_str(), ty, case.name.as_str());
        self.graph().outputs.push(result);
        self.expected.push((case.name.clone(), case.array("output").data.clone()));
    }

    /// Weights, unpacked where two share a byte, with filters in front of everything; and the bias.
    fn layer(&mut self, case: &Case, dims: &[usize], depthwise: bool) -> Vec<ValueId> {
        let mut weights = case.ints("weights");
        let count: usize = dims.iter().product();
        if weights.len() < count {
            let bytes = case.array("weights").data.bytes().to_vec();
            weights =
                bytes.iter().flat_map(|&b| [(b << 4) as i8 >> 4, b as i8 >> 4]).map(i64::from).collect();
            weights.truncate(count);
        }
        if depthwise {
            let taps = count / dims[0];
            weights = (0..count).map(|i| weights[i % taps * dims[0] + i / taps]).collect();
        }
        let offset = case.maybe("filter_offset").unwrap_or(0);
        let weights: Vec<i8> = weights.iter().map(|w| i8::try_from(w + offset).unwrap()).collect();
        let ty = Type::quantized(DType::I8, dims, 1.0, 0);
        let mut operands = vec![self.graph().add_const("w", ty, Data::from_i8(&weights))];
        if let Some(bias) = case.arrays.get("bias").filter(|bias| bias.data.bytes().len() > 1) {
            let ty = Type::plain(bias.dtype, &[dims[0]]);
            operands.push(self.graph().add_const("b", ty, bias.data.clone()));
        }
        operands
    }
}

/// The window that gives as many results as the set has.
fn window(case: &Case, size: [usize; 2], keys: [[&str; 2]; 3]) -> Window {
    let pair = |keys: [&str; 2]| keys.map(|key| case.maybe(key).map_or(1, |v| v as usize));
    let [stride, dilation, pad] = keys.map(pair);
    let (input, output) = (pair(["input_h", "input_w"]), pair(["output_h", "output_w"]));
    let after: Vec<usize> = (0..2)
        .map(|axis| {
            let reach = (output[axis] - 1) * stride[axis] + (size[axis] - 1) * dilation[axis] + 1;
            reach.saturating_sub(input[axis] + pad[axis])
        })
        .collect();
    let pad = Padding { top: pad[0], bottom: after[0], left: pad[1], right: after[1] };
    Window { size, stride, dilation, pad }
}

fn convolution(suite: &mut Suite, case: &Case, depthwise: bool) {
    let batch = case.size("input_batches");
    let (in_c, out_c) = (case.size("in_ch"), case.size("out_ch"));
    let size = [case.size("filter_y"), case.size("filter_x")];
    let share = match depthwise {
        true => 1,
        false => case.maybe("filter_ch").map_or(in_c, |c| c as usize),
    };
    let window =
        window(case, size, [["stride_y", "stride_x"], ["dilation_y", "dilation_x"], ["pad_y", "pad_x"]]);
    let dims = [batch, case.size("input_h"), case.size("input_w"), in_c];
    let x = suite.input(case.array("input"), &dims, -case.get("input_offset"));
    let mut operands = vec![x];
    operands.extend(suite.layer(case, &[out_c, size[0], size[1], share], depthwise));
    let groups = in_c / share;
    let op = Op::Conv2d {
        window,
        groups,
        rescale: case.rescale(),
        clamp: case.clamp(),
        layout: Layout::default(),
    };
    let dims = [batch, case.size("output_h"), case.size("output_w"), out_c];
    suite.result(case, op, &operands, &dims, case.get("output_offset"));
}

fn fully_connected(suite: &mut Suite, case: &Case) {
    let (batch, k, n) = (case.size("input_batches"), case.size("accumulation_depth"), case.size("out_ch"));
    let x = suite.input(case.array("input"), &[batch, k], -case.get("input_offset"));
    let mut operands = vec![x];
    operands.extend(suite.layer(case, &[n, k], false));
    let op = Op::Dense { rescale: case.rescale(), clamp: case.clamp() };
    suite.result(case, op, &operands, &[batch, n], case.get("output_offset"));
}

fn pool(suite: &mut Suite, case: &Case, average: bool) {
    let (count, channels) = (case.array("input").data.bytes().len(), case.size("input_c"));
    let pixels = case.size("input_h") * case.size("input_w") * channels;
    let batch = count / case.array("input").dtype.size() / pixels;
    let size = [case.size("filter_h"), case.size("filter_w")];
    let window = window(case, size, [["stride_h", "stride_w"], ["-", "-"], ["padding_h", "padding_w"]]);
    let dims = [batch, case.size("input_h"), case.size("input_w"), channels];
    let x = suite.input(case.array("input"), &dims, 0);
    let clamp = case.clamp();
    let op = if average { Op::AvgPool2d { window, clamp } } else { Op::MaxPool2d { window, clamp } };
    suite.result(case, op, &[x], &[batch, case.size("output_h"), case.size("output_w"), channels], 0);
}

fn elementwise(suite: &mut Suite, case: &Case) {
    let count = case.size("dst_size");
    let a = suite.input(case.array("input1"), &[count], -case.get("input1_offset"));
    let b = suite.input(case.array("input2"), &[count], -case.get("input2_offset"));
    let (clamp, out) = (case.clamp(), case.factor("output_mult", "output_shift"));
    let op = match case.maybe("left_shift") {
        None => Op::Mul { rescale: Rescale::FixedPoint(vec![out]), clamp },
        Some(left_shift) => {
            let x = case.factor("input1_mult", "input1_shift");
            let y = case.factor("input2_mult", "input2_shift");
            Op::Add { rescale: AddRescale::FixedPoint { left_shift: left_shift as u32, x, y, out }, clamp }
        }
    };
    suite.result(case, op, &[a, b], &[count], case.get("output_offset"));
}

fn choice(suite: &mut Suite, case: &Case) {
    let dims = |suffix: &str| {
        ["batch", "height", "width", "channel"].map(|axis| case.size(&format!("{axis}_{suffix}")))
    };
    let result = ["batch", "height", "width", "channel"].map(|axis| case.size(&format!("output_{axis}")));
    let a = suite.input(case.array("input_tensor_1"), &dims("1"), 0);
    let b = suite.input(case.array("input_tensor_2"), &dims("2"), 0);
    let function = match case.defines["layer_type"].as_str() {
        Some("minimum") => Binary::Min,
        _ => Binary::Max,
    };
    let op = Op::Binary { function, rescale: Rescale::Real, clamp: Clamp::I8 };
    suite.result(case, op, &[a, b], &result, 0);
}

fn pad(suite: &mut Suite, case: &Case) {
    let sizes = |prefix: &str| ["n", "h", "w", "c"].map(|axis| case.size(&format!("{prefix}_{axis}")));
    let (dims, before, after) = (sizes("input"), sizes("pre_pad"), sizes("post_pad"));
    let x = suite.input(case.array("input"), &dims, 0);
    let result: Vec<usize> = (0..4).map(|axis| before[axis] + dims[axis] + after[axis]).collect();
    let op = Op::Pad { before: before.to_vec(), after: after.to_vec(), value: case.get("pad_value") };
    suite.result(case, op, &[x], &result, 0);
}

fn transpose(suite: &mut Suite, case: &Case) {
    let list = |key: &str| -> Vec<usize> {
        let values = case.defines[key].as_array().unwrap().iter().map(|v| v.as_i64().unwrap() as usize);
        values.take(case.size("perm_size")).collect()
    };
    let x = suite.input(case.array("input"), &list("in_dim"), 0);
    suite.result(case, Op::Transpose { perm: list("perm") }, &[x], &list("out_dim"), 0);
}

fn softmax(suite: &mut Suite, case: &Case) {
    let dims = [case.size("num_rows"), case.size("row_size")];
    let x = suite.input(case.array("input"), &dims, 0);
    let scale = SoftmaxScale::FixedPoint {
        multiplier: case.factor("input_mult", "input_left_shift"),
        diff_min: case.maybe("diff_min").unwrap_or(0) as i32,
    };
    let ty = match case.array("output").dtype {
        DType::I8 => Type::quantized(DType::I8, &dims, 1.0 / 256.0, -128),
        wide => Type::quantized(wide, &dims, 1.0 / 32768.0, 0),
    };
    suite.finish(case, Op::Softmax { beta: Real(1.0), scale }, &[x], ty);
}

fn matmul(suite: &mut Suite, case: &Case) {
    let sizes =
        |side: &str| ["batch", "height", "rows", "cols"].map(|axis| case.size(&format!("{side}_{axis}")));
    let turned = [0, 1, 3, 2];
    let mut operand = |side: &str, transposed: bool| {
        let dims = sizes(side);
        let zero = -case.get(&format!("{side}_offset"));
        let x = suite.input(case.array(&format!("{side}_input_tensor")), &dims, zero);
        if !transposed {
            return x;
        }
        let ty =
            Type::quantized(case.array("output").dtype, &turned.map(|axis| dims[axis]), 1.0, zero as i32);
        suite.graph().add_node(Op::Transpose { perm: turned.to_vec() }, &[x], "turned", ty, "turned")
    };
    // The op wants rows of the first and columns of the second operand.
    let (x, y) = (operand("lhs", case.get("adj_x") == 1), operand("rhs", case.get("adj_y") == 0));
    let op = Op::MatMul { rescale: case.rescale(), clamp: case.clamp() };
    suite.result(case, op, &[x, y], &sizes("output"), case.get("output_offset"));
}

/// Adds a case; says why not, if not.
fn add(suite: &mut Suite, case: &Case) -> Result<(), String> {
    if let Some((_, reason)) = LEFT_OUT.iter().find(|(function, _)| case.function.starts_with(function)) {
        return Err((*reason).into());
    }
    let zero_points = [case.maybe("input_offset").map(|offset| -offset), case.maybe("output_offset")];
    if zero_points.iter().flatten().any(|zero| !(-128..=127).contains(zero)) {
        return Err("a zero point that no int8 tensor has".into());
    }
    match case.function.trim_start_matches("arm_") {
        f if f.starts_with("depthwise") => convolution(suite, case, case.maybe("ch_mult").is_some()),
        f if f.contains("convolve") => convolution(suite, case, false),
        f if f.starts_with("fully_connected") => fully_connected(suite, case),
        f if f.starts_with("avgpool") => pool(suite, case, true),
        f if f.starts_with("max_pool") => pool(suite, case, false),
        f if f.starts_with("elementwise") => elementwise(suite, case),
        "maximum_minimum_s8" => choice(suite, case),
        "pad_s8" => pad(suite, case),
        "transpose_s8" => transpose(suite, case),
        f if f.starts_with("softmax") => softmax(suite, case),
        f if f.starts_with("batch_matmul") => matmul(suite, case),
        other => panic!("{}: there is no test for arm_{other}", case.name),
    }
    Ok(())
}

#[test]
fn kernels_give_cmsis_nns_results() {
    let Some(corpus) = corpus_folder() else {
        println!("KILN_CORPUS is not set: there is no data of CMSIS-NN's");
        return;
    };
    let folder = corpus.join("../conformance/cmsis_nn");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_string()))
        .collect();
    names.sort();
    if names.is_empty() {
        println!("there are no conformance suites beside the corpus");
        return;
    }
    let (mut wrong, mut run, mut left_out) = (Vec::new(), 0, 0);
    for names in names.chunks(60) {
        let mut suite = Suite::default();
        for name in names {
            match add(&mut suite, &Case::read(&folder, name)) {
                Ok(()) => run += 1,
                Err(why) => {
                    println!("{name}: {why}");
                    left_out += 1;
                }
            }
        }
        let inputs = std::mem::take(&mut suite.inputs);
        let outputs = assert_generated_as_interpreted(suite.graph(), &inputs, &["host"]);
        for (actual, (name, expected)) in outputs.iter().zip(&suite.expected) {
            if actual != expected {
                wrong.push(name.clone());
            }
        }
    }
    println!("{run} sets, {left_out} left out");
    assert!(wrong.is_empty(), "{} of {run} differ: {wrong:?}", wrong.len());
    assert!(run >= 150);
}
