"""Random small ONNX graphs of all operators that Kiln reads, with what ONNX Runtime gives for them.

ONNX Runtime runs without optimisations, on one thread: its kernels are what the operators mean. A graph that it refuses is drawn again, at
most TRIES times. Everything follows from a seed and a number.
"""

import numpy as np
import onnxruntime as ort
from onnx import ValueInfoProto, helper, numpy_helper

from onnx_recipes import RECIPES, Draw, Refused

TRIES = 12
"""How often a graph is drawn until ONNX Runtime takes it."""

ort.set_default_logger_severity(4)


def model_of(draw, outputs):
    info = lambda name, array: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    tensors = [numpy_helper.from_array(array, name) for name, array in draw.constants.items()]
    inputs = [info(name, array) for name, array in draw.inputs.items()]
    results = [ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph(draw.nodes, "differential", inputs, results, tensors)
    graph.doc_string = " ".join(sorted({node.op_type for node in draw.nodes}))
    opsets = [helper.make_opsetid("", draw.opset)]
    domains = {node.domain for node in draw.nodes if node.domain}
    opsets += [helper.make_opsetid(domain, 3 if domain == "ai.onnx.ml" else 1) for domain in sorted(domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8 if draw.opset < 19 else 10)


def run(draw, outputs):
    """The values of these names; raises Refused."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model_of(draw, outputs).SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(outputs, draw.inputs)
    except Exception as error:
        raise Refused(str(error)) from error


class Part:
    """A model with what it is run on, and what ONNX Runtime makes of it. Raises Refused."""

    runtimes = ("ort",)

    def __init__(self, draw, outputs):
        self.title = " ".join(draw.drawn)
        # In a file, the size zero of an input says that it is open.
        if any(value.size == 0 for value in draw.inputs.values()):
            raise Refused("an input without elements")
        values = run(draw, outputs)
        if not outputs or not draw.inputs or any(not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub" for value in values):
            raise Refused("nothing to compare")
        model = model_of(draw, outputs)
        for info, value in zip(model.graph.output, values):
            info.CopyFrom(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        self.file = model.SerializeToString()
        self.inputs = [[data(value) for value in draw.inputs.values()]]
        self.outputs = [(value.dtype.name, value.shape) for value in values]
        self.values = [data(value) for value in values]
        self.signature = signature(draw)

    def run(self, name):
        return [self.values]


def data(array):
    """Row by row, also what is a transposed view."""
    return np.array(array, order="C").tobytes()


def signature(draw):
    """What tells operators apart: the types of what they read, and what is odd in it."""
    if len(draw.nodes) != 1:
        return "chain " + " ".join(node.op_type for node in draw.nodes)
    node = draw.nodes[0]
    types = ["none" if not name else (draw.inputs | draw.constants)[name].dtype.name for name in node.input]
    read = [(draw.inputs | draw.constants)[name] for name in node.input if name]
    marks = "".join(f" +{mark}" for mark in marks_of(node, read))
    return f"{node.op_type} {' '.join(types)}{marks}"


def marks_of(node, read):
    floats = [array for array in read if array.dtype == np.float32]
    if any(np.isnan(array).any() for array in floats):
        yield "nan"
    # Squares of numbers as large as these are infinite.
    if any(not np.isfinite(array).all() or np.any(np.abs(array) > 1e18) for array in floats):
        yield "odd"
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "MeanVarianceNormalization":
        axes = attributes.get("axes", [0, 2, 3])
        with np.errstate(all="ignore"):
            deviation = np.std(read[0].astype(np.float64), axis=tuple(axis for axis in axes if axis < read[0].ndim))
        if np.any(deviation <= 1e-6 * np.abs(read[0]).max()) or np.any(deviation < 1e-3):
            yield "constant"
    if node.op_type in ("Sigmoid", "Swish") and read[0].size and np.nanmax(read[0] * attributes.get("alpha", 1.0)) < -5:
        yield "small"
    if node.op_type in ("Elu", "Selu", "Celu") and read[0].size and np.nanmax(np.abs(read[0])) < 1e-2:
        yield "small"
    # Squares that are taken off the sum again leave their last bit in it.
    if node.op_type == "LRN" and read[0].size and np.abs(read[0]).max() > 10 * np.abs(read[0]).min() + 10:
        yield "wide"
    if node.op_type == "GroupNormalization":
        groups = read[0].reshape(read[0].shape[0], attributes["num_groups"], -1).astype(np.float64)
        with np.errstate(all="ignore"):
            if np.any(groups.std(-1) < 0.1 * np.abs(groups.mean(-1))):
                yield "alike"
    if node.op_type == "Resize" and attributes.get("coordinate_transformation_mode") == b"align_corners" and read[-1].dtype == np.float32:
        sizes = read[-1][-read[0].ndim :].astype(np.float64) * np.array(read[0].shape[-read[-1].size :])
        if np.any(sizes != np.floor(sizes)):
            yield "fraction"


def draw(seed, number, only=None):
    """The graph of that number: what is drawn, and the names of its outputs. None where every try is refused."""
    names = sorted(RECIPES) if only is None else sorted(only)
    for attempt in range(TRIES):
        drawn = Draw(np.random.default_rng([seed, number, attempt]), run)
        try:
            drawn.graph(names)
            outputs = [name for name in drawn.results if name not in drawn.inputs and name not in drawn.constants]
            return drawn, Part(drawn, outputs)
        except (Refused, ValueError, IndexError, KeyError, TypeError):
            continue
    return None


def whole(graph):
    return graph[1]


def parts(graph):
    """Each node of a graph alone, on what ONNX Runtime gives for its operands."""
    drawn, found = graph[0], []
    names = [name for node in drawn.nodes for name in node.output if name]
    try:
        values = dict(zip(names, run(drawn, names)))
    except Refused:
        return []
    # What follows from constants is one.
    constants = dict(drawn.constants)
    for node in drawn.nodes:
        read = [name for name in dict.fromkeys(node.input) if name]
        if all(name in constants for name in read):
            constants |= {name: values[name] for name in node.output if name}
            continue
        alone = Draw(np.random.default_rng(0), run)
        alone.opset, alone.drawn, alone.nodes = drawn.opset, drawn.drawn, [node]
        alone.constants = {name: constants[name] for name in read if name in constants}
        known = drawn.inputs | values
        alone.inputs = {name: known[name] for name in read if name not in constants}
        try:
            found.append(Part(alone, [name for name in node.output if name]))
        except Refused:
            return []
        # Shapes are fixed.
        if node.op_type in ("Shape", "Size"):
            constants |= {name: values[name] for name in node.output if name}
    return found
