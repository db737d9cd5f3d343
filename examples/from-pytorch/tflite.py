#!/usr/bin/env python3
"""Quantises the networks of train.py as TensorFlow Lite does, and adds its accuracy to data/accuracy.csv. A minute on one CPU core.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 ai-edge-litert==2.3.0 onnx==1.22.0 numpy==2.4.6
    venv/bin/python tflite.py

The operators of models/<name>_f32.onnx are written with TensorFlow's, channel-last and with the same weights; the converter calibrates them with the same
samples and writes int8 throughout. That both are one network, the float outputs say: they have to be ONNX Runtime's to 1e-4.
"""
import csv
import os
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import onnx
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

HERE = Path(__file__).resolve().parent


def operators(path):
    """Nodes with their attributes, and constants, of an ONNX file."""
    graph = onnx.load(path).graph
    nodes = [(n.op_type, list(n.input), n.output[0], {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}) for n in graph.node]
    return nodes, {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}, graph.input[0].name, graph.output[0].name


def convolved(x, weights, bias, attributes):
    """A convolution of NHWC images; `weights` as ONNX stores them, [filters, channels of a group, height, width]."""
    strides, dilations, pads = attributes["strides"], attributes["dilations"], attributes["pads"]
    space = len(strides)
    filters = np.moveaxis(weights, (0, 1), (-1, -2))
    before, after = pads[:space], pads[space:]
    if space == 1:
        filters, strides, dilations, before, after = filters[None], [1, *strides], [1, *dilations], [0, *before], [0, *after]
    reach = [d * (k - 1) for d, k in zip(dilations, filters.shape)]
    if strides == [1, 1] and [a + b for a, b in zip(before, after)] == reach and before == after:
        padding = "SAME"
    else:
        padding = "VALID"
        x = tf.pad(x, [[0, 0], *zip(before, after), [0, 0]])
    if attributes["group"] > 1:
        filters = np.moveaxis(filters, -1, -2)
        x = tf.nn.depthwise_conv2d(x, filters, [1, *strides, 1], padding, dilations=dilations)
    else:
        x = tf.nn.conv2d(x, filters, strides, padding, dilations=dilations)
    return tf.nn.bias_add(x, bias)


def network(path):
    """The network of an ONNX file as a function of an NHWC image (of height 1 for a series)."""
    nodes, constants, first, last = operators(path)

    def run(x):
        values = {first: x}
        get = lambda name: values[name] if name in values else constants[name]
        for op, names, out, attributes in nodes:
            a = [get(name) for name in names]
            if op == "Conv":
                y = convolved(a[0], a[1], a[2], attributes)
            elif op == "Clip":
                assert (float(a[1]), float(a[2])) == (0, 6)
                y = tf.nn.relu6(a[0])
            elif op == "MaxPool":
                assert attributes["kernel_shape"] == attributes["strides"] == [2] and not any(attributes["pads"])
                y = tf.nn.max_pool2d(a[0], [1, 2], [1, 2], "VALID")
            elif op == "ReduceMean":
                y = tf.reduce_mean(a[0], [1, 2])
            elif op == "Gemm":
                y = tf.linalg.matmul(a[0], a[1], transpose_b=bool(attributes["transB"])) + a[2]
            else:
                y = {"Add": tf.add, "Mul": tf.multiply, "Tanh": tf.tanh, "Sigmoid": tf.sigmoid, "Relu": tf.nn.relu}[op](*a)
            values[out] = y
        return values[last]

    return run


def channel_last(samples):
    """[n, c, h, w] or [n, c, t] to [n, h, w, c], with a height of 1."""
    samples = samples if samples.ndim == 4 else samples[:, :, None]
    return np.ascontiguousarray(np.moveaxis(samples, 1, -1))


def quantised(function, shape, calibration):
    concrete = tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec(shape, tf.float32))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([sample[None]] for sample in calibration)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def labels_of(model, samples):
    """What LiteRT's kernels say of each sample."""
    interpreter = Interpreter(model_content=model, num_threads=1)
    interpreter.allocate_tensors()
    (given,), (taken,) = interpreter.get_input_details(), interpreter.get_output_details()
    scale, zero = given["quantization"]
    labels = []
    for sample in samples:
        interpreter.set_tensor(given["index"], np.clip(np.round(sample[None] / scale) + zero, -128, 127).astype(np.int8))
        interpreter.invoke()
        labels.append(interpreter.get_tensor(taken["index"]).argmax())
    return np.array(labels)


def main():
    table = HERE / "data" / "accuracy.csv"
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        data = np.load(HERE / "data" / f"{row['network']}.npz")
        function = network(HERE / "models" / f"{row['network']}_f32.onnx")
        test, calibration = channel_last(data["test_0"]), channel_last(data["in_0"])
        difference = np.abs(function(test).numpy() - data["logits"]).max()
        assert difference < 1e-4, f"{row['network']}: float outputs differ by {difference}"
        model = quantised(function, [1, *test.shape[1:]], calibration)
        row["tflite"] = int((labels_of(model, test) == data["labels"]).sum())
        print(row)
    with open(table, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
