#!/usr/bin/env python3
"""Small models of quantised ONNX operators over random shapes and scales, with what ONNX Runtime gives for them.

    pip install onnx==1.22.0 onnxruntime==1.32.0 numpy
    python make_onnx_quantised.py        # writes onnx_quantised/<name>.onnx and .npz
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "onnx_quantised"
random = np.random.default_rng(7)
TYPES = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.float32): TensorProto.FLOAT,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int16): TensorProto.INT16}


def scale():
    """Half of the scales are powers of two, which make ties."""
    return np.float32(2.0 ** random.integers(-8, -3) if random.integers(2) else random.uniform(0.003, 0.1))


def integers(dtype, shape):
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


def zero(dtype):
    return integers(dtype, ())


class Model:
    """One operator and its constants."""

    def __init__(self):
        self.constants, self.inputs, self.data = [], [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def input(self, value):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[value.dtype], value.shape))
        self.data.append(value)
        return name

    def write(self, name, nodes, outputs):
        results = [helper.make_tensor_value_info(result, kind, None) for result, kind in outputs]
        graph = helper.make_graph(nodes, name, self.inputs, results, self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        given = {info.name: value for info, value in zip(self.inputs, self.data)}
        expected = session.run(None, given)
        FOLDER.mkdir(exist_ok=True)
        onnx.save(model, FOLDER / f"{name}.onnx")
        arrays = {f"in_{k}": value[None] for k, value in enumerate(self.data)}
        arrays |= {f"out_{k}": value[None] for k, value in enumerate(expected)}
        np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


def triple(model, dtype):
    return [model.constant(scale()), model.constant(zero(dtype))]


def conv(k):
    model, dtype = Model(), [np.int8, np.uint8][k % 2]
    groups = int(random.choice([1, 2]))
    c, o, size = 2 * groups, 4 * groups, int(random.integers(1, 4))
    x = model.input(integers(dtype, (1, c, 7, 6)))
    weights = random.integers(-127, 128, (o, c // groups, size, size)).astype(np.int8)
    per_channel = k % 3 == 0
    scales = np.array([scale() for _ in range(o)]) if per_channel else scale()
    zeros = np.zeros(o if per_channel else (), np.int8)
    bias = random.integers(-2000, 2000, o).astype(np.int32)
    nodes = [helper.make_node("QLinearConv", [x, *triple(model, dtype), model.constant(weights), model.constant(scales), model.constant(zeros),
                                              model.constant(np.float32(random.uniform(0.05, 2))), model.constant(zero(dtype)), model.constant(bias)],
                              ["y"], group=groups, pads=[1, 0, 1, 2], strides=[1, 2])]
    model.write(f"conv_{k}", nodes, [("y", TYPES[np.dtype(dtype)])])


def matmul(k):
    model, dtype = Model(), [np.int8, np.uint8][k % 2]
    a = model.input(integers(dtype, (2, 3, 9)))
    constant = k % 3 != 0
    b = integers(np.int8 if dtype == np.int8 else np.uint8, (9, 5) if constant else (2, 9, 5))
    b = model.constant(b) if constant else model.input(b)
    nodes = [helper.make_node("QLinearMatMul", [a, *triple(model, dtype), b, *triple(model, dtype), model.constant(np.float32(random.uniform(0.05, 2))),
                                                model.constant(zero(dtype))], ["y"])]
    model.write(f"matmul_{k}", nodes, [("y", TYPES[np.dtype(dtype)])])


def pair(operator, k):
    model, dtype = Model(), [np.int8, np.uint8][k % 2]
    a = model.input(integers(dtype, (2, 5, 8)))
    b = model.input(integers(dtype, [(2, 5, 8), (5, 1), (8,)][k % 3]))
    nodes = [helper.make_node(operator, [a, *triple(model, dtype), b, *triple(model, dtype), *triple(model, dtype)], ["y"], domain="com.microsoft")]
    model.write(f"{operator[7:].lower()}_{k}", nodes, [("y", TYPES[np.dtype(dtype)])])


def one(operator, k, **attributes):
    model, dtype = Model(), [np.int8, np.uint8][k % 2]
    x = model.input(integers(dtype, (1, 4, 6, 6)))
    nodes = [helper.make_node(operator, [x, *triple(model, dtype), *triple(model, dtype)], ["y"], domain="com.microsoft", **attributes)]
    model.write(f"{operator[7:].lower()}_{k}", nodes, [("y", TYPES[np.dtype(dtype)])])


def quantize(k):
    model, dtype = Model(), [np.int8, np.uint8, np.int16][k % 3]
    x = model.input((random.integers(-400, 400, (3, 40)) / 8).astype(np.float32))
    parameters = [model.constant(scale()), model.constant(zero(dtype) if dtype != np.int16 else np.int16(0))]
    nodes = [helper.make_node("QuantizeLinear", [x, *parameters], ["y"]), helper.make_node("DequantizeLinear", ["y", *parameters], ["z"])]
    model.write(f"quantize_{k}", nodes, [("y", TYPES[np.dtype(dtype)]), ("z", TensorProto.FLOAT)])


for k in range(6):
    conv(k)
    matmul(k)
    pair("QLinearAdd", k)
    pair("QLinearMul", k)
    quantize(k)
for k in range(2):
    one("QLinearAveragePool", k, kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 0, 1])
    one("QLinearGlobalAveragePool", k)
    one("QLinearLeakyRelu", k, alpha=0.2)
