//! Models that exercise most of the reader, for tests that mutate them.

use super::testing::{op, Element, ModelBuilder, Options, Tensor};
use Element::{Bool, Float32, Int16, Int32, Int8, Resource, Uint32, Uint8};

/// All of them, with names.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("image", image()),
        ("stream", stream()),
        ("float", float()),
        ("shapes", shapes()),
        ("signal", signal()),
        ("control", control()),
    ]
}

/// An int8 image classifier: convolutions per channel, pooling, dense layer, softmax.
pub fn image() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    let bytes = |n: usize| (0..n).map(|i| (i * 37 % 251) as u8).collect::<Vec<u8>>();
    let x = m.input("image", Tensor::new(Uint8, &[1, 8, 8, 1]).quantized(1.0 / 255.0, 0));
    let q = m.value("quantized", Tensor::new(Int8, &[1, 8, 8, 1]).quantized(1.0 / 255.0, -128));
    m.operator(op::QUANTIZE, Options::none(), &[x], &[q]);

    let scales = [0.01, 0.02, 0.03, 0.04];
    let w = Tensor::new(Int8, &[4, 3, 3, 1]).per_channel(&scales, &[0; 4], 0);
    let w = m.constant("conv/weights", w, &bytes(36));
    let b = Tensor::new(Int32, &[4]).per_channel(&scales.map(|s| s / 255.0), &[0; 4], 3);
    let b = m.constant("conv/bias", b, &bytes(16));
    let y = m.value("conv", Tensor::new(Int8, &[1, 4, 4, 4]).quantized(0.05, -128));
    m.operator(op::CONV_2D, Options::conv(true, [2, 2], 1), &[q, w, b], &[y]);

    let dw = Tensor::new(Int8, &[1, 3, 3, 4]).per_channel(&scales, &[0; 4], 3);
    let dw = m.constant("depthwise/weights", dw, &bytes(36));
    let z = m.value("depthwise", Tensor::new(Int8, &[1, 4, 4, 4]).quantized(0.04, 3));
    m.operator(op::DEPTHWISE_CONV_2D, Options::depthwise(true, [1, 1], 1, 3), &[y, dw, -1], &[z]);

    let sum = m.value("sum", Tensor::new(Int8, &[1, 4, 4, 4]).quantized(0.06, -20));
    m.operator(op::ADD, Options::add(0), &[y, z], &[sum]);
    let pooled = m.value("pooled", Tensor::new(Int8, &[1, 2, 2, 4]).quantized(0.06, -20));
    m.operator(op::AVERAGE_POOL_2D, Options::pool(false, 2, 2), &[sum], &[pooled]);
    let flat_shape = m.ints("flat/shape", &[-1, 16]);
    let flat = m.value("flat", Tensor::new(Int8, &[1, 16]).quantized(0.06, -20).signature(&[-1, 16]));
    m.operator(op::RESHAPE, Options::none(), &[pooled, flat_shape], &[flat]);

    let w = m.constant("dense/weights", Tensor::new(Int8, &[3, 16]).quantized(0.02, 0), &bytes(48));
    let b = m.constant("dense/bias", Tensor::new(Int32, &[3]).quantized(0.0012, 0), &bytes(12));
    let logits = m.value("logits", Tensor::new(Int8, &[1, 3]).quantized(0.1, 5));
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(0), &[flat, w, b], &[logits]);
    let scores = m.value("scores", Tensor::new(Int8, &[1, 3]).quantized(1.0 / 256.0, -128));
    m.operator(op::SOFTMAX, Options::softmax(1.0), &[logits], &[scores]);
    m.outputs(&[scores]);
    m.build()
}

/// A streaming int8 model: a resource variable holds the last frames, CALL_ONCE sets them.
pub fn stream() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    let int8 = |dims: &[i32]| Tensor::new(Int8, dims).quantized(0.1, -5);
    let frame = m.input("frame", int8(&[1, 1, 4]));
    m.operator(op::CALL_ONCE, Options::call_once(1), &[], &[]);
    let handle = m.value("handle", Tensor::new(Resource, &[]));
    m.operator(op::VAR_HANDLE, Options::variable("history"), &[], &[handle]);
    let past = m.value("past", int8(&[1, 3, 4]));
    m.operator(op::READ_VARIABLE, Options::none(), &[handle], &[past]);
    let window = m.value("window", int8(&[1, 4, 4]));
    m.operator(op::CONCATENATION, Options::concatenation(1), &[past, frame], &[window]);
    let (begin, end, step) = (m.ints("b", &[0, 1, 0]), m.ints("e", &[1, 4, 4]), m.ints("s", &[1, 1, 1]));
    let kept = m.value("kept", int8(&[1, 3, 4]));
    m.operator(op::STRIDED_SLICE, Options::strided_slice(5, 7, 0), &[window, begin, end, step], &[kept]);
    m.operator(op::ASSIGN_VARIABLE, Options::none(), &[handle, kept], &[]);
    let (sizes, axis) = (m.ints("sizes", &[1, -1]), m.ints("axis", &[1]));
    let (old, new) = (m.value("old", int8(&[1, 1, 4])), m.value("new", int8(&[1, 3, 4])));
    m.operator(op::SPLIT_V, Options::none(), &[window, sizes, axis], &[old, new]);
    let mean_axis = m.ints("mean/axis", &[1]);
    let mean = m.value("mean", Tensor::new(Int8, &[1, 4]).quantized(0.07, 2));
    m.operator(op::MEAN, Options::mean(false), &[new, mean_axis], &[mean]);
    let gate = m.value("gate", Tensor::new(Int8, &[1, 4]).quantized(1.0 / 256.0, -128));
    m.operator(op::LOGISTIC, Options::none(), &[mean], &[gate]);
    let product = m.value("product", Tensor::new(Int8, &[1, 1, 4]).quantized(0.03, 1));
    m.operator(op::MUL, Options::mul(0), &[old, gate], &[product]);
    m.outputs(&[product, gate]);

    m.begin_subgraph("init");
    let handle = m.value("handle", Tensor::new(Resource, &[]));
    m.operator(op::VAR_HANDLE, Options::variable("history"), &[], &[handle]);
    let zeros = m.constant("zeros", int8(&[1, 3, 4]), &[0xfb; 12]);
    m.operator(op::ASSIGN_VARIABLE, Options::none(), &[handle, zeros], &[]);
    m.build()
}

/// A float model whose constants lie behind the flatbuffer.
pub fn float() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    m.buffers_behind();
    let float = |dims: &[i32]| Tensor::new(Float32, dims);
    let values = |n: usize| (0..n).map(|i| i as f32 * 0.25 - 1.0).collect::<Vec<f32>>();
    let x = m.input("x", float(&[1, 2, 5, 5]));
    let perm = m.ints("perm", &[0, 2, 3, 1]);
    let nhwc = m.value("nhwc", float(&[1, 5, 5, 2]));
    m.operator(op::TRANSPOSE, Options::none(), &[x, perm], &[nhwc]);
    let padding = m.constant("padding", Tensor::new(Int32, &[4, 2]), &paddings(&[0, 0, 1, 1, 1, 0, 0, 0]));
    let padded = m.value("padded", float(&[1, 7, 6, 2]));
    m.operator(op::PAD, Options::none(), &[nhwc, padding], &[padded]);
    let w = m.floats("w", &[3, 2, 2, 2], &values(24));
    let b = m.floats("b", &[3], &values(3));
    let y = m.value("conv", float(&[1, 6, 5, 3]));
    m.operator(op::CONV_2D, Options::conv(false, [1, 1], 3), &[padded, w, b], &[y]);
    let leaky = m.value("leaky", float(&[1, 6, 5, 3]));
    m.operator(op::LEAKY_RELU, Options::leaky_relu(0.1), &[y], &[leaky]);
    let max = m.value("max", float(&[1, 3, 3, 3]));
    m.operator(op::MAX_POOL_2D, Options::pool(true, 2, 2), &[leaky], &[max]);
    let axes = m.ints("axes", &[1, 2]);
    let mean = m.value("mean", float(&[1, 1, 1, 3]));
    m.operator(op::MEAN, Options::mean(true), &[max, axes], &[mean]);
    let w = m.floats("dense/w", &[2, 3], &values(6));
    let out = m.value("out", float(&[1, 2]));
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(1), &[mean, w, -1], &[out]);
    m.outputs(&[out]);
    m.build()
}

fn paddings(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A loop that counts to three, and in its body a branch that depends on the input.
pub fn control() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    let (int, bool) = (|| Tensor::new(Int32, &[]), || Tensor::new(Bool, &[]));
    let float = || Tensor::new(Float32, &[1, 2]);
    let x = m.input("x", float());
    let above = m.input("above", bool());
    let zero = m.constant("zero", int(), &0i32.to_le_bytes());
    let [i, y, kept] = [("i", int()), ("y", float()), ("kept", bool())].map(|(name, ty)| m.value(name, ty));
    m.operator(op::WHILE, Options::repeated(1, 2), &[zero, x, above], &[i, y, kept]);
    m.outputs(&[y]);

    m.begin_subgraph("condition");
    let i = m.input("i", int());
    m.input("x", float());
    m.input("above", bool());
    let three = m.constant("three", int(), &3i32.to_le_bytes());
    let less = m.value("less", bool());
    m.operator(op::LESS, Options::none(), &[i, three], &[less]);
    m.outputs(&[less]);

    m.begin_subgraph("body");
    let (i, x, above) = (m.input("i", int()), m.input("x", float()), m.input("above", bool()));
    let one = m.constant("one", int(), &1i32.to_le_bytes());
    let (next, y) = (m.value("next", int()), m.value("y", float()));
    m.operator(op::ADD, Options::add(0), &[i, one], &[next]);
    m.operator(op::IF, Options::branches(3, 4), &[above, x], &[y]);
    m.outputs(&[next, y, above]);

    for (name, code) in [("sum", op::ADD), ("tanh", op::TANH)] {
        m.begin_subgraph(name);
        let x = m.input("x", float());
        let y = m.value("y", float());
        let operands = if code == op::ADD { vec![x, x] } else { vec![x] };
        m.operator(code, Options::none(), &operands, &[y]);
        m.outputs(&[y]);
    }
    m.build()
}

/// A reshape whose target is computed from the shape of its operand.
pub fn shapes() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Float32, &[1, 6, 2]).signature(&[-1, 6, 2]));
    let shape = m.value("shape", Tensor::new(Int32, &[3]));
    m.operator(op::SHAPE, Options::none(), &[x], &[shape]);
    let (begin, end, step) = (m.ints("b", &[0]), m.ints("e", &[1]), m.ints("s", &[1]));
    let batch = m.value("batch", Tensor::new(Int32, &[]));
    m.operator(op::STRIDED_SLICE, Options::strided_slice(0, 0, 1), &[shape, begin, end, step], &[batch]);
    let rows = m.constant("rows", Tensor::new(Int32, &[]), &3i32.to_le_bytes());
    let rest = m.constant("rest", Tensor::new(Int32, &[]), &(-1i32).to_le_bytes());
    let target = m.value("target", Tensor::new(Int32, &[3]));
    m.operator(op::PACK, Options::none(), &[batch, rows, rest], &[target]);
    let y = m.value("y", Tensor::new(Float32, &[1, 1, 1]).signature(&[-1, -1, -1]));
    m.operator(op::RESHAPE, Options::none(), &[x, target], &[y]);
    let z = m.value("z", Tensor::new(Float32, &[1, 1, 1]).signature(&[-1, -1, -1]));
    m.operator(op::TANH, Options::none(), &[y], &[z]);
    m.outputs(&[z]);
    m.build()
}

/// A part of an audio front end, whose operators are custom ones with options of their own.
pub fn signal() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    let samples = m.input("samples", Tensor::new(Int16, &[1, 8]));
    let (frames, valid) =
        (m.value("frames", Tensor::new(Int16, &[1, 2, 8])), m.value("valid", Tensor::new(Bool, &[])));
    let options = [("frame_size", 8), ("frame_step", 4), ("prefill", 0)];
    m.custom_numbers("SignalFramer", &options, &[samples], &[frames, valid]);
    let window = m.constant("window", Tensor::new(Int16, &[8]), &[5; 16]);
    let windowed = m.value("windowed", Tensor::new(Int16, &[1, 2, 8]));
    m.custom_numbers("SignalWindow", &[("shift", 12)], &[frames, window], &[windowed]);
    let flat = m.ints("flat", &[16]);
    let row = m.value("row", Tensor::new(Int16, &[16]));
    m.operator(op::RESHAPE, Options::none(), &[windowed, flat], &[row]);
    let (scaled, bits) =
        (m.value("scaled", Tensor::new(Int16, &[16])), m.value("bits", Tensor::new(Int32, &[])));
    m.custom("SignalFftAutoScale", &[row], &[scaled, bits]);
    let spectrum = m.value("spectrum", Tensor::new(Int16, &[34]));
    m.custom_numbers("SignalRfft", &[("T", 7), ("fft_length", 32)], &[scaled], &[spectrum]);
    let energy = m.value("energy", Tensor::new(Uint32, &[17]));
    m.custom_numbers("SignalEnergy", &[("end_index", 17), ("start_index", 1)], &[spectrum], &[energy]);
    let numbers = m.value("numbers", Tensor::new(Int32, &[17]));
    m.operator(op::CAST, Options::none(), &[energy], &[numbers]);
    m.outputs(&[numbers, valid, bits]);
    m.build()
}

/// Two inputs, of which one is open in its second axis, joined along it.
pub fn two_open_inputs() -> Vec<u8> {
    let float = |dims: &[i32]| Tensor::new(Element::Float32, dims);
    let mut m = ModelBuilder::new();
    let audio = m.input("audio", float(&[1, 1]).signature(&[-1, -1]));
    let mask = m.input("mask", float(&[1, 4]).signature(&[-1, 4]));
    let y = m.value("y", float(&[1, 5]).signature(&[-1, -1]));
    m.operator(op::CONCATENATION, Options::concatenation(1), &[audio, mask], &[y]);
    m.outputs(&[y]);
    m.build()
}
