#!/usr/bin/env python3
"""Makes computed_<what>_<type>.tflite: layers whose weights or biases are computed at run time or stored behind a DEQUANTIZE, and values without elements on the way.

Needs tflite-micro and ai-edge-litert (and no TensorFlow: the files are written operator by operator). Outputs are TFLite Micro's, or those of LiteRT's reference
kernels where TFLite Micro refuses a model. `make_computed.py NAME…` makes only those whose name contains one of the words (the manifest is then left alone).
"""
import sys
from pathlib import Path

import numpy as np
from common import describe, random_cases, update_manifest, write

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "differential"))
from tflite.model import ELEMENTS, Model, SubGraph, Tensor, options

CASES = 6
NONE, RELU, RELU6 = 0, 1, 3
SAME, VALID = 0, 1
# Name of the type of a model: element of activations, of weights, and of biases.
TYPES = {"f32": ("float32",) * 3, "int8": ("int8", "int8", "int32"), "int16": ("int16", "int8", "int64"), "uint8": ("uint8", "uint8", "int32")}


class Maker:
    """A model that is being written."""

    def __init__(self, name, kind):
        self.rng = np.random.default_rng([7, *f"{name}_{kind}".encode()])
        self.model, self.kind = Model(), kind
        self.x, self.w, self.b = TYPES[kind]

    def quant(self, element, scale, zero=0):
        return {} if element in ("float32", "int64") or scale is None else {"scales": [scale], "zeros": [zero]}

    def input(self, dims, element=None, scale=0.05, zero=None):
        element = element or self.x
        zero = {"int8": -7, "uint8": 119}.get(element, 0) if zero is None else zero
        return self.model.main.input(Tensor(element, dims, **self.quant(element, scale, zero)))

    def weights(self, dims, zero=None):
        """Weights as an input."""
        zero = {"int8": 0, "uint8": 131}.get(self.w, 0) if zero is None else zero
        return self.input(dims, self.w, 0.02, zero)

    def random(self, element, dims, most=100):
        dtype = ELEMENTS[element][1]
        if element == "float32":
            return (np.round(self.rng.uniform(-1, 1, dims) * 64) / 64).astype(dtype)
        if element == "int4":
            return self.rng.integers(0, 256, (int(np.prod(dims)) + 1) // 2).astype(np.uint8)
        low, high = (0, 255) if element == "uint8" else (-most, most)
        return self.rng.integers(low, high, dims, endpoint=True).astype(dtype)

    def constant(self, element, dims, scales=None, zeros=None, axis=0, most=100):
        data = self.random(element, dims, most)
        zeros = [0] * len(scales) if scales and zeros is None else zeros
        return self.model.main.add(Tensor(element, dims, scales, zeros, axis, data.tobytes()))

    def bias(self, n, element=None):
        element = element or self.b
        return self.constant(element, [n], None if element == "float32" else [0.001], most=3000)

    def ints(self, values):
        values = np.array(values, np.int32)
        return self.model.main.add(Tensor("int32", [len(values)], data=values.tobytes()))

    def value(self, dims, element=None, scale=0.11, zero=None, **more):
        element = element or self.x
        zero = {"int8": 5, "uint8": 120}.get(element, 0) if zero is None else zero
        quant = more or self.quant(element, 0.0009 if element == "int16" else scale, zero)
        return self.model.main.add(Tensor(element, dims, **quant))

    def per_channel(self, weights, dims, axis):
        """The same bytes with a scale for each filter."""
        n = dims[axis]
        scales = [float(np.float32(0.005 * (1 + i))) for i in range(n)]
        result = self.value(dims, self.w, scales=scales, zeros=[0] * n, axis=axis)
        self.model.main.operator("RESHAPE", options("ReshapeOptions", newShape=np.array(dims, np.int32)), [weights, self.ints(dims)], [result])
        return result

    def dequantized(self, element, dims, scales, axis=0, zeros=None):
        stored = self.constant(element, dims, scales, zeros, axis)
        result = self.model.main.add(Tensor("float32", dims))
        self.model.main.operator("DEQUANTIZE", options("DequantizeOptions"), [stored], [result])
        return result

    def emit(self, name, table, inputs, dims, **more):
        result = self.value(dims, **more)
        self.model.main.operator(name, table, inputs, [result])
        self.model.main.outputs.append(result)
        return result

    # ---- Layers

    def dense(self, x, w, bias, dims, act=NONE, keep=False):
        return self.emit("FULLY_CONNECTED", options("FullyConnectedOptions", fusedActivationFunction=act, keepNumDims=keep), [x, w, bias], dims)

    def conv(self, x, w, bias, dims, act=NONE, padding=SAME, stride=(1, 1), dilation=(1, 1)):
        fields = dict(padding=padding, strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0], dilationWFactor=dilation[1])
        return self.emit("CONV_2D", options("Conv2DOptions", fusedActivationFunction=act, **fields), [x, w] + ([] if bias == -1 else [bias]), dims)

    def depthwise(self, x, w, bias, dims, multiplier=1, act=NONE, padding=SAME, stride=(1, 1)):
        fields = dict(padding=padding, strideH=stride[0], strideW=stride[1], depthMultiplier=multiplier, dilationHFactor=1, dilationWFactor=1)
        return self.emit("DEPTHWISE_CONV_2D", options("DepthwiseConv2DOptions", fusedActivationFunction=act, **fields), [x, w] + ([] if bias == -1 else [bias]), dims)

    def transposed(self, x, w, bias, dims, act=NONE, padding=SAME, stride=(2, 2)):
        table = options("TransposeConvOptions", padding=padding, strideH=stride[0], strideW=stride[1], fusedActivationFunction=act)
        return self.emit("TRANSPOSE_CONV", table, [self.ints(dims), w, x] + ([] if bias == -1 else [bias]), dims)


def dense(m):
    x = m.input([3, 7])
    w = m.weights([5, 7])
    m.dense(x, w, m.bias(5), [3, 5], RELU)
    m.dense(x, w, -1, [3, 5])
    # Weights that an operator makes, and rows of an operand of more axes.
    y = m.input([1, 2, 3, 4])
    if m.kind != "uint8":
        turned = m.value([5, 4], m.w, 0.02, 0)
        m.model.main.operator("TRANSPOSE", options("TransposeOptions"), [m.weights([4, 5]), m.ints([1, 0])], [turned])
        m.dense(y, turned, m.bias(5), [1, 2, 3, 5], RELU6, keep=True)


def dense_bias(m):
    x = m.input([2, 9])
    bias = m.input([4], "float32" if m.x == "float32" else "int32", 0.001, 0)
    m.dense(x, m.constant(m.w, [4, 9], None if m.w == "float32" else [0.02], [3] if m.w == "uint8" else None), bias, [2, 4])
    m.dense(x, m.weights([4, 9]), bias, [2, 4], RELU)


def dense_zero_point(m):
    m.dense(m.input([3, 7]), m.weights([5, 7], 11), m.bias(5), [3, 5])


def conv(m):
    x = m.input([2, 6, 5, 4])
    w = m.weights([6, 3, 2, 4])
    m.conv(x, w, m.bias(6), [2, 3, 5, 6], RELU6, stride=(2, 1))
    m.conv(x, w, m.bias(6) if m.kind == "uint8" else -1, [2, 2, 3, 6], padding=VALID, dilation=(2, 2))
    m.conv(x, m.weights([3, 1, 1, 4]), m.bias(3), [2, 6, 5, 3])


def conv_groups(m):
    m.conv(m.input([1, 5, 4, 6]), m.weights([4, 3, 3, 3]), m.bias(4), [1, 5, 4, 4], RELU)


def conv_channels(m):
    dims = [5, 2, 3, 3]
    m.conv(m.input([1, 5, 5, 3]), m.per_channel(m.weights(dims), dims, 0), m.bias(5), [1, 5, 5, 5])


def conv_bias(m):
    bias = m.input([3], "float32" if m.x == "float32" else "int32", 0.001, 0)
    x = m.input([1, 5, 5, 2])
    m.conv(x, m.constant(m.w, [3, 3, 3, 2], None if m.w == "float32" else [0.02]), bias, [1, 5, 5, 3], RELU)
    m.conv(x, m.weights([3, 1, 2, 2]), bias, [1, 5, 5, 3])


def depthwise(m):
    x = m.input([2, 5, 6, 3])
    m.depthwise(x, m.weights([1, 3, 3, 3]), m.bias(3), [2, 3, 3, 3], act=RELU, stride=(2, 2))
    m.depthwise(x, m.weights([1, 2, 3, 6]), -1, [2, 4, 4, 6], multiplier=2, padding=VALID)


def depthwise_channels(m):
    dims = [1, 3, 2, 4]
    m.depthwise(m.input([1, 5, 5, 4]), m.per_channel(m.weights(dims), dims, 3), m.bias(4), [1, 5, 5, 4])


def depthwise_bias(m):
    # Sums of 16 bits take a bias of 64 there.
    bias = m.input([4], "int64" if m.kind == "int16" else "float32" if m.x == "float32" else "int32", 0.001, 0)
    m.depthwise(m.input([1, 4, 4, 4]), m.constant(m.w, [1, 3, 3, 4], None if m.w == "float32" else [0.02]), bias, [1, 4, 4, 4], act=RELU)


def transpose(m):
    x = m.input([1, 4, 3, 3])
    m.transposed(x, m.weights([2, 3, 3, 3]), m.bias(2), [1, 8, 6, 2])
    m.transposed(x, m.weights([4, 2, 5, 3]), -1, [1, 7, 9, 4], padding=VALID)


def stored(m):
    """Weights of 8 bits behind a DEQUANTIZE."""
    x = m.input([1, 6, 6, 3])
    each = lambda n: [float(np.float32(0.003 * (1 + i))) for i in range(n)]
    m.conv(x, m.dequantized("int8", [5, 3, 3, 3], each(5)), m.bias(5), [1, 6, 6, 5], RELU)
    m.conv(x, m.dequantized("int8", [2, 1, 1, 3], [0.02], zeros=[9]), m.bias(2), [1, 6, 6, 2])
    m.depthwise(x, m.dequantized("int8", [1, 3, 3, 3], each(3), 3), m.bias(3), [1, 6, 6, 3])
    m.depthwise(x, m.dequantized("int8", [1, 2, 2, 6], [0.01]), m.bias(6), [1, 6, 6, 6], multiplier=2)
    m.transposed(x, m.dequantized("int8", [2, 3, 3, 3], each(2)), -1, [1, 12, 12, 2])
    rows = m.input([2, 8])
    m.dense(rows, m.dequantized("int8", [6, 8], each(6)), m.dequantized("int16", [6], [0.001]), [2, 6])
    m.dense(rows, m.dequantized("int16", [3, 8], [0.0003]), -1, [2, 3])


def stored_small(m):
    """Weights of 4 bits behind a DEQUANTIZE."""
    each = lambda n: [float(np.float32(0.03 * (1 + i))) for i in range(n)]
    m.dense(m.input([2, 7]), m.dequantized("int4", [5, 7], each(5)), m.bias(5), [2, 5], RELU)
    m.conv(m.input([1, 4, 4, 3]), m.dequantized("int4", [3, 3, 1, 3], each(3)), m.bias(3), [1, 4, 4, 3])


def stored_table(m):
    """Rows of a table behind a DEQUANTIZE."""
    indices = m.ints([3, 0, 4, 4])
    table = m.dequantized("int8", [5, 6], [float(np.float32(0.01 * (1 + i))) for i in range(5)])
    rows = m.value([4, 6])
    m.model.main.operator("GATHER", options("GatherOptions", axis=0, batchDims=0), [table, indices], [rows])
    m.emit("ADD", options("AddOptions"), [m.input([4, 6]), rows], [4, 6])
    again = m.value([4, 6])
    m.model.main.operator("EMBEDDING_LOOKUP", None, [indices, table], [again])
    m.emit("MUL", options("MulOptions"), [m.model.main.inputs[0], again], [4, 6])


def empty(m):
    """Slices of no rows that are joined to others."""
    x = m.input([3, 4])
    same = dict(element=m.x, scale=0.05, zero={"int8": -7}.get(m.x, 0))
    cut = lambda begin, size, dims: (m.model.main.operator("SLICE", options("SliceOptions"), [x, m.ints(begin), m.ints(size)], [y := m.value(dims, **same)]), y)[1]
    none, rest = cut([0, 0], [0, -1], [0, 4]), cut([3, 0], [-1, 4], [0, 4])
    m.emit("CONCATENATION", options("ConcatenationOptions", axis=0), [none, x, rest], [3, 4], **same)
    first, last = m.value([3, 0], **same), m.value([3, 4], **same)
    axis = m.model.main.add(Tensor("int32", [], data=np.array(1, np.int32).tobytes()))
    m.model.main.operator("SPLIT_V", options("SplitVOptions", numSplits=2), [x, m.ints([0, 4]), axis], [first, last])
    m.emit("CONCATENATION", options("ConcatenationOptions", axis=1), [last, first, x], [3, 8], **same)


def loop(m):
    """A loop that replaces a row of a list in each pass, as Keras' recurrent layers do."""
    rows, width = 4, 3
    x = m.input([rows, width])
    condition, body = SubGraph(), SubGraph()
    m.model.subgraphs += [condition, body]
    number = lambda graph, n: graph.add(Tensor("int32", [], data=np.array(n, np.int32).tobytes()))
    numbers = lambda graph, ns: graph.add(Tensor("int32", [len(ns)], data=np.array(ns, np.int32).tobytes()))
    for graph in (condition, body):
        graph.input(Tensor("int32", []))
        graph.input(Tensor("float32", [rows, width]))
        graph.input(Tensor("float32", [rows, width]))
    less = condition.add(Tensor("bool", []))
    condition.operator("LESS", options("LessOptions"), [0, number(condition, rows)], [less])
    condition.outputs = [less]
    g = body
    at = lambda value: (g.operator("RESHAPE", options("ReshapeOptions", newShape=np.array([1], np.int32)), [value, numbers(g, [1])], [r := g.add(Tensor("int32", [1]))]), r)[1]
    joined = lambda a, b: (g.operator("CONCATENATION", options("ConcatenationOptions", axis=0), [a, b], [r := g.add(Tensor("int32", [2]))]), r)[1]
    after = g.add(Tensor("int32", []))
    g.operator("ADD", options("AddOptions"), [0, number(g, 1)], [after])
    row = g.add(Tensor("float32", [1, width]))
    g.operator("GATHER", options("GatherOptions", axis=0, batchDims=0), [2, at(0)], [row])
    new = g.add(Tensor("float32", [1, width]))
    g.operator("MUL", options("MulOptions"), [row, row], [new])
    before, behind = g.add(Tensor("float32", [-1, -1])), g.add(Tensor("float32", [-1, width]))
    g.operator("SLICE", options("SliceOptions"), [1, numbers(g, [0, 0]), joined(at(0), numbers(g, [-1]))], [before])
    g.operator("SLICE", options("SliceOptions"), [1, joined(at(after), numbers(g, [0])), numbers(g, [-1, -1])], [behind])
    whole = g.add(Tensor("float32", [rows, width]))
    g.operator("CONCATENATION", options("ConcatenationOptions", axis=0), [before, new, behind], [whole])
    g.outputs = [after, whole, 2]
    start = m.model.main.add(Tensor("float32", [rows, width], data=np.zeros([rows, width], np.float32).tobytes()))
    zero = m.model.main.add(Tensor("int32", [], data=np.array(0, np.int32).tobytes()))
    results = [m.model.main.add(Tensor("int32", [])), m.model.main.add(Tensor("float32", [rows, width])), m.model.main.add(Tensor("float32", [rows, width]))]
    m.model.main.operator("WHILE", options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2), [zero, start, x], results)
    m.model.main.outputs.append(results[1])


JOBS = {
    "dense": (dense, ["f32", "int8", "int16", "uint8"]),
    "dense_bias": (dense_bias, ["f32", "int8", "int16", "uint8"]),
    "dense_zero_point": (dense_zero_point, ["int8"]),
    "conv": (conv, ["f32", "int8", "int16", "uint8"]),
    "conv_groups": (conv_groups, ["f32", "int8"]),
    "conv_channels": (conv_channels, ["int8", "int16"]),
    "conv_bias": (conv_bias, ["f32", "int8", "int16"]),
    "depthwise": (depthwise, ["f32", "int8", "int16", "uint8"]),
    "depthwise_channels": (depthwise_channels, ["int8", "int16"]),
    "depthwise_bias": (depthwise_bias, ["f32", "int8", "int16"]),
    "transpose": (transpose, ["f32", "int8", "int16"]),
    "stored": (stored, ["f32"]),
    "stored_small": (stored_small, ["f32"]),
    "stored_table": (stored_table, ["f32"]),
    "empty": (empty, ["f32", "int8"]),
    "loop": (loop, ["f32"]),
}


def make(name, kind, build):
    maker = Maker(name, kind)
    build(maker)
    tflite = maker.model.file()
    rng = np.random.default_rng([3, *name.encode()])
    inputs = [random_cases(tensor, rng, CASES) for tensor in describe(tflite)[0]]
    for x in inputs:
        if x.dtype in (np.int32, np.int64):
            x[:] = rng.integers(-3000, 3000, x.shape)
    full = f"computed_{name}_{kind}"
    # TFLite Micro never ends the loop, whose slices have open sizes, and dequantises all filters by the first scale.
    litert = name == "loop" or name.startswith("stored")
    try:
        _, row = write(full, tflite, inputs, "random", oracle="litert-ref" if litert else "tflm")
    except RuntimeError as refused:
        if litert:
            raise
        print(f"{full:45} refused by TFLite Micro: {str(refused).splitlines()[-1]}")
        _, row = write(full, tflite, inputs, "random", oracle="litert-ref")
    print(f"{full:45} {row['bytes']:6} bytes  {row['op_histogram']}", flush=True)
    return row


def main(words):
    rows, failed = [], []
    for name, (build, kinds) in JOBS.items():
        for kind in kinds:
            if words and not any(word in f"computed_{name}_{kind}" for word in words):
                continue
            try:
                rows.append(make(name, kind, build))
            except Exception as error:
                failed.append(f"{name}_{kind}")
                print(f"computed_{name}_{kind:10} FAILED: {error}")
    if not words:
        update_manifest(rows, keep=lambda name: not name.startswith("computed_"))
    if failed:
        sys.exit(f"not made: {' '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
