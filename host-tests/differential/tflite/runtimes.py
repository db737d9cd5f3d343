"""TensorFlow Lite Micro and LiteRT's reference kernels, and the parts of a graph that they run alone."""

import copy
import os
import pickle

import numpy as np

from .model import ELEMENTS

NAMES = ("tflm", "litert")


def array(tensor, data):
    return np.frombuffer(data, ELEMENTS[tensor.element][1]).reshape(tensor.dims)


class Tflm:
    def __init__(self, file, main):
        from tflite_micro import runtime

        self.main = main
        self.interpreter = runtime.Interpreter.from_bytes(file, arena_size=4 << 20)

    def run(self, inputs):
        for k, (tensor, data) in enumerate(zip(self.main.inputs, inputs)):
            self.interpreter.set_input(array(self.main.tensors[tensor], data), k)
        self.interpreter.invoke()
        return [np.array(self.interpreter.get_output(k)) for k in range(len(self.main.outputs))]


class Litert:
    def __init__(self, file, main):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        self.main = main
        kernels = OpResolverType.BUILTIN_REF
        self.interpreter = Interpreter(model_content=file, experimental_op_resolver_type=kernels, num_threads=1)
        self.interpreter.allocate_tensors()
        self.inputs = [d["index"] for d in self.interpreter.get_input_details()]
        self.outputs = [d["index"] for d in self.interpreter.get_output_details()]

    def run(self, inputs):
        for place, tensor, data in zip(self.inputs, self.main.inputs, inputs):
            self.interpreter.set_tensor(place, array(self.main.tensors[tensor], data))
        self.interpreter.invoke()
        return [np.array(self.interpreter.get_tensor(place)) for place in self.outputs]


MAKE = {"tflm": Tflm, "litert": Litert}


def load():
    """Imports both, so that processes that are forked need not."""
    from ai_edge_litert import interpreter  # noqa: F401
    from tflite_micro import runtime  # noqa: F401


def run(name, file, main, inputs):
    """The bytes of the outputs of every invocation, or why there are none."""
    try:
        runtime = MAKE[name](file, main)
        return [[np.ascontiguousarray(y).tobytes() for y in runtime.run(case)] for case in inputs]
    except MemoryError:
        raise
    except Exception as error:
        return " ".join(str(error).split())[:300] or type(error).__name__


def run_apart(name, file, main, inputs):
    """The same in a process of its own: some runtimes write beyond their memory, and take down what they run in."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(run(name, file, main, inputs), pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        outcome = pipe.read()
    _, status = os.waitpid(child, 0)
    return f"takes its process down, by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else pickle.loads(outcome)


def signature(model, inputs):
    """What tells operators apart: types of operands and results, and what is odd in the numbers that they read."""
    main = model.main
    conversions = [o for o in main.operators if o.name == "DEQUANTIZE" and main.tensors[o.inputs[0]].element == "float16"]
    operators = [o for o in main.operators if o not in conversions]
    half = {t for o in conversions for t in o.outputs}
    if len(operators) != 1:
        # Constants behind a DEQUANTIZE leave one operator, whose numbers may be odd.
        others = [o for o in operators if o.name != "DEQUANTIZE"]
        odd = len(others) == 1 and "odd" in marks_of_numbers(main, others[0], inputs)
        stored = [main.tensors[o.inputs[0]] for o in operators if o.name == "DEQUANTIZE"]
        each = any(len(t.scales or ()) > 1 for t in stored)
        return "chain " + " ".join(o.name for o in operators) + (" +scale-each" if each else "") + (" +odd" if odd else "")
    element = lambda t: "none" if t < 0 else "float16" if t in half else main.tensors[t].element
    one = operators[0]
    marks = "".join(f" +{mark}" for mark in [*marks_of(main, one), *marks_of_numbers(main, one, inputs)])
    return f"{one.name} {' '.join(map(element, one.inputs))} -> {' '.join(map(element, one.outputs))}{marks}"


COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL")


def marks_of(main, operator):
    """Attributes with which a runtime leaves what its kernel is defined for."""
    tensors = [main.tensors[t] for t in operator.inputs if t >= 0]
    result = main.tensors[operator.outputs[0]] if operator.outputs else None
    quantised = [t for t in tensors if t.scales]
    if operator.name in COMPARISONS and any(t.scales[0] >= 1 for t in quantised):
        yield "scale>=1"
    if operator.name == "ADD" and operator.options[1].fusedActivationFunction:
        yield "fused"
    if operator.name == "ATAN2" and tensors[0].dims != tensors[1].dims:
        yield "broadcast"
    if operator.name == "DEPTHWISE_CONV_2D" and len(tensors[1].scales or ()) == 1 and tensors[0].element == "float32":
        yield "one-scale"
    if operator.name == "HARD_SWISH" and quantised and tensors[0].scales[0] / result.scales[0] < 2**-8:
        yield "shift>15"
    if operator.name == "RSQRT" and quantised and tensors[0].scales[0] ** -0.5 / result.scales[0] < 2**-12:
        yield "shift>31"
    alone = {"RELU6": 6, "RELU_N1_TO_1": 1, "RELU_0_TO_1": 1}.get(operator.name)
    if alone and quantised and alone / result.scales[0] >= 2**31:
        yield "beyond"
    bound = {2: 1, 3: 6}.get(getattr(operator.options[1], "fusedActivationFunction", 0)) if operator.options else None
    if bound and result.scales and bound / result.scales[0] >= 2**31:
        yield "bound"
    if operator.name == "FULLY_CONNECTED" and tensors[1].element == "int4" and len(tensors[1].scales) > 1:
        yield "scale-each"
    if operator.name in LAYERS and tensors[0].element == "float32" and tensors[1].element == "int8" and b"\x80" in (tensors[1].data or b""):
        yield "lowest"
    if operator.name in LAYERS and len(quantised) > 1 and result.scales:
        first, weights = (tensors[2], tensors[1]) if operator.name == "TRANSPOSE_CONV" else tensors[:2]
        if first.scales and weights.scales and first.scales[0] * max(weights.scales) / result.scales[0] >= 256:
            yield "factor>=256"


INTEGERS = {element: (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) for element, bits in (("int8", 8), ("int16", 16), ("int32", 32), ("int64", 64))}
INTEGERS |= {"uint8": (0.0, 256.0), "uint32": (0.0, 2.0**32)}


def marks_of_numbers(main, operator, inputs):
    """What is odd in the floats that it reads."""
    read = []
    for t in operator.inputs:
        if t < 0 or main.tensors[t].element != "float32":
            continue
        cases = [case[main.inputs.index(t)] for case in inputs] if t in main.inputs else [main.tensors[t].data or b""]
        read.append(np.concatenate([np.frombuffer(data, np.float32) for data in cases]))
    if any(not np.isfinite(x).all() or np.any(np.abs(x) > 1e19) for x in read):
        yield "odd"
    result = main.tensors[operator.outputs[0]] if operator.outputs else None
    if operator.name == "CAST" and read and result.element in INTEGERS:
        lo, hi = INTEGERS[result.element]
        if not np.all((read[0] > lo - 1) & (read[0] < hi)):
            yield "beyond"
    if operator.name == "QUANTIZE" and read and result.scales:
        steps = read[0].astype(np.float64) / min(result.scales)
        if not np.all(np.abs(steps) < 2.0**31 - 2**16):
            yield "beyond"


class Part:
    """A model with what it is run on, and what the runtimes make of it."""

    def __init__(self, model, inputs, title):
        self.model, self.inputs, self.title = model, inputs, title
        self.file, self.signature = model.file(), signature(model, inputs)
        main = model.main
        self.outputs = [(main.tensors[t].element, main.tensors[t].dims) for t in main.outputs]
        self.runtimes = NAMES

    def run(self, name):
        return run(name, self.file, self.model.main, self.inputs)


def whole(graph):
    return Part(graph.model, graph.inputs, title(graph.drawn))


def title(drawn):
    return " ".join(f"{name}:{format}" for name, format in drawn)


KEEPERS = ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE")


def parts(graph):
    """Each operator of a graph alone, on what LiteRT (where it refuses, TensorFlow Lite Micro) gives for its operands; none where both refuse."""
    model, found = graph.model, []
    main = model.main
    values = all_values(model, graph.inputs)
    if values is None:
        return []
    for k, operator in enumerate(main.operators):
        needed = main.needed(operator)
        if operator.name in KEEPERS or main.widens(operator) or any(t not in values for t in needed):
            continue
        inputs = [[values[t][case] for t in needed] for case in range(len(graph.inputs))]
        found.append(Part(model.single(k), inputs, title(graph.drawn)))
    return found


def all_values(model, inputs):
    """What every tensor holds in every invocation, by tensor."""
    every = copy.deepcopy(model)
    main = every.main
    main.outputs = list(dict.fromkeys(t for o in main.operators for t in o.outputs if main.tensors[t].element != "resource"))
    file = every.file()
    for name in ("litert", "tflm"):
        outcome = run_apart(name, file, main, inputs)
        if not isinstance(outcome, str):
            values = {t: [case[k] for case in outcome] for k, t in enumerate(main.outputs)}
            return values | {t: [case[k] for case in inputs] for k, t in enumerate(main.inputs)}
    return None
