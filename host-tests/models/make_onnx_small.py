#!/usr/bin/env python3
"""Small ONNX models of floats for options and for operators of ONNX Runtime, with what ONNX Runtime gives for them.

    pip install onnx==1.23.2 onnxruntime==1.32.0 numpy
    python make_onnx_small.py        # writes onnx_small/<name>.onnx and .npz

`<name>_step` computes one step of a recurrent layer from the state before it, `<name>_sequence` all steps: its cases are the steps.
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "onnx_small"
random = np.random.default_rng(11)


def floats(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def info(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(name, nodes, inputs, outputs, constants):
    tensors = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, name, [info(key, shape) for key, shape in inputs.items()], [info(key) for key in outputs], tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    result = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    FOLDER.mkdir(exist_ok=True)
    onnx.save(result, FOLDER / f"{name}.onnx")
    return onnxruntime.InferenceSession(result.SerializeToString())


def write(name, cases, results):
    """Arrays of each input and each output, the first axis counting cases."""
    arrays = {f"in_{k}": np.stack(values) for k, values in enumerate(zip(*cases))}
    arrays |= {f"out_{k}": np.stack(values) for k, values in enumerate(zip(*results))}
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


def normalisation(name, operator, operands, domain="com.microsoft", **attributes):
    names = [f"c{k}" for k in range(len(operands))]
    constants = {key: value for key, value in zip(names, operands) if value is not None}
    names = [key if key in constants else "" for key in names]
    inputs = {"x": [1, 3, 8]} if domain == "" else {"x": [1, 3, 8], "skip": [1, 3, 8]}
    outputs = ["y"] if domain == "" else ["y", "", "", "sum"]
    node = helper.make_node(operator, [*inputs, *names], outputs, domain=domain, epsilon=1e-5, **attributes)
    results = [output for output in outputs if output]
    session = model(name, [node], inputs, results, constants)
    cases = [[floats(*shape) for shape in inputs.values()] for _ in range(3)]
    write(name, cases, [session.run(None, dict(zip(inputs, case))) for case in cases])


def image():
    """An image becomes a smaller one, and a list of scores."""
    nodes = [
        helper.make_node("Conv", ["image", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["c", "w1", "b1"], ["heat"]),
        helper.make_node("GlobalAveragePool", ["heat"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["scores"]),
    ]
    constants = {"w0": floats(4, 3, 3, 3), "b0": floats(4), "w1": floats(5, 4, 1, 1), "b1": floats(5)}
    session = model("image", nodes, {"image": [1, 3, 8, 10]}, ["heat", "scores"], constants)
    cases = [[floats(1, 3, 8, 10)] for _ in range(2)]
    write("image", cases, [session.run(None, {"image": case[0]}) for case in cases])


def sequence():
    """A convolution along a sequence."""
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["a"], strides=[2], pads=[1, 1]), helper.make_node("Relu", ["a"], ["y"])]
    session = model("sequence", nodes, {"x": [1, 3, 16]}, ["y"], {"w": floats(4, 3, 3), "b": floats(4)})
    cases = [[floats(1, 3, 16)] for _ in range(2)]
    write("sequence", cases, [session.run(None, {"x": case[0]}) for case in cases])


def recurrent(operator, gates, states):
    """Features of each step go through a recurrent layer to two numbers."""
    size, width, steps = 6, 4, 7
    constants = {"w": floats(1, gates * size, width), "r": floats(1, gates * size, size), "b": floats(1, 2 * gates * size), "v": floats(size, 2)}

    def layer(length, step):
        given = [f"{state}_in" for state in states] if step else []
        left = [f"{state}_out" for state in states] if step else []
        attributes = {"linear_before_reset": 1} if operator == "GRU" else {}
        nodes = [
            helper.make_node(operator, ["x", "w", "r", "b", "", *given], ["all", *left], hidden_size=size, **attributes),
            helper.make_node("MatMul", ["all", "v"], ["y"]),
        ]
        inputs = {"x": [length, 1, width]} | {state: [1, 1, size] for state in given}
        name = f"{operator.lower()}_{'step' if step else 'sequence'}"
        return model(name, nodes, inputs, [*left, "y"] if step else ["y"], constants)

    layer(1, True)
    x = floats(steps, 1, width)
    (y,) = layer(steps, False).run(None, {"x": x})
    write(f"{operator.lower()}_sequence", [[step[None]] for step in x], [[step[None]] for step in y])


normalisation("skip_layer_norm", "SkipLayerNormalization", [floats(8), floats(8), floats(8)])
normalisation("skip_rms_norm", "SkipSimplifiedLayerNormalization", [floats(8), floats(8)])
normalisation("rms_norm", "SimplifiedLayerNormalization", [floats(8)], domain="", axis=-1)
image()
sequence()
recurrent("LSTM", 4, ["h", "c"])
recurrent("GRU", 3, ["h"])
