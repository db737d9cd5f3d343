"""A peer of Kiln's in `cargo xtask bench-host`: LiteRT or ONNX Runtime, on one thread.

A line on standard input is a command, its words apart by tabs; each is answered by one line on standard output. `load NAME MODEL IN OUT
KINDS SIZES` reads cases of inputs from the file IN and writes the outputs to OUT as float32; KINDS are types and shapes of the inputs
(`<f4:1x96x96x3`), SIZES how many elements each output has, both apart by commas. `run NAME MS` runs the first case for at least that many
milliseconds and answers `times LEAST MEDIAN COUNT`, in nanoseconds. What goes wrong is answered by `error` and why.
"""
import sys
from time import perf_counter_ns

import numpy as np


class LiteRT:
    """Its interpreter, with XNNPACK, which it uses unless told otherwise."""

    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter

        self.interpreter = Interpreter(model_path=path, num_threads=1)
        self.interpreter.allocate_tensors()
        self.inputs = [(d["index"], tuple(d["shape"]), d["dtype"]) for d in self.interpreter.get_input_details()]
        # What `invoke` calls, without what it checks on the way.
        self.invoke = self.interpreter._interpreter.Invoke

    def write(self, arrays):
        for (index, _, _), array in zip(self.inputs, arrays):
            self.interpreter.set_tensor(index, array)

    def outputs(self):
        return [self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()]


class OnnxRuntime:
    """A session with all optimisations, whose inputs and outputs are bound to memory of their own."""

    def __init__(self, path):
        import onnxruntime

        self.runtime = onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(standard(path), options, providers=["CPUExecutionProvider"])
        # Sizes that the file leaves open are one.
        shape = lambda node: tuple(size if isinstance(size, int) else 1 for size in node.shape)
        types = {"tensor(float)": "f4", "tensor(int8)": "i1", "tensor(uint8)": "u1", "tensor(int64)": "i8", "tensor(int32)": "i4"}
        self.inputs = [(node.name, shape(node), np.dtype(types[node.type])) for node in self.session.get_inputs()]
        self.binding = None

    def write(self, arrays):
        values = self.runtime.OrtValue.ortvalue_from_numpy
        self.held = [values(np.ascontiguousarray(array)) for array in arrays]
        self.binding = self.session.io_binding()
        for (name, _, _), value in zip(self.inputs, self.held):
            self.binding.bind_ortvalue_input(name, value)
        names = [node.name for node in self.session.get_outputs()]
        given = {name: array for (name, _, _), array in zip(self.inputs, arrays)}
        self.results = [values(result) for result in self.session.run(names, given)]
        for name, value in zip(names, self.results):
            self.binding.bind_ortvalue_output(name, value)
        run, binding, options = self.session._sess.run_with_iobinding, self.binding._iobinding, None
        self.invoke = lambda: run(binding, options)

    def outputs(self):
        return [value.numpy() for value in self.results]


def standard(path):
    """A file of Deeploy's dialect in words that ONNX Runtime knows, its own op for RMSNorm among them; others as they are."""
    import onnx

    model = onnx.load(path)
    if all(node.op_type != "RMSNorm" for node in model.graph.node):
        return path
    for node in model.graph.node:
        if node.op_type == "RMSNorm":
            node.op_type = "SimplifiedLayerNormalization"
            del node.attribute[:]
            node.attribute.extend([onnx.helper.make_attribute("axis", -1), onnx.helper.make_attribute("epsilon", 1e-6)])
        elif node.op_type in ("Div", "HardSwish"):
            del node.attribute[:]
    del model.opset_import[:]
    model.opset_import.append(onnx.helper.make_opsetid("", 14))
    model.ir_version = 8
    return model.SerializeToString()


PEERS = {"litert": LiteRT, "onnxruntime": OnnxRuntime}


def cases(peer, path, kinds):
    """The inputs of each case, in the shapes that the peer's file wants: images may be channel-first there."""
    kinds = [kind.split(":") for kind in kinds.split(",")]
    kinds = [(np.dtype(descr), tuple(int(n) for n in shape.split("x") if n)) for descr, shape in kinds]
    sizes = [dtype.itemsize * int(np.prod(shape)) for dtype, shape in kinds]
    data = open(path, "rb").read()
    if len(kinds) != len(peer.inputs):
        raise ValueError(f"the file has {len(peer.inputs)} inputs for {len(kinds)}")
    for start in range(0, len(data), sum(sizes)):
        arrays = []
        for (dtype, shape), size, (name, wanted, want) in zip(kinds, sizes, peer.inputs):
            array = np.frombuffer(data, dtype, int(np.prod(shape)), start).reshape(shape)
            start += size
            if array.dtype != want:
                raise ValueError(f"the input {name} is of {want}, not of {array.dtype}")
            if array.shape != wanted and array.ndim == 4:
                array = array.transpose(0, 3, 1, 2)
            if array.shape != wanted:
                raise ValueError(f"the input {name} is {wanted}, not {array.shape}")
            arrays.append(np.ascontiguousarray(array))
        yield arrays


def arranged(outputs, sizes):
    """Outputs in the order of the sizes they are to have."""
    left = list(outputs)
    for size in sizes:
        index = next((index for index, array in enumerate(left) if array.size == size), None)
        if index is None:
            raise ValueError(f"no output has {size} elements")
        yield left.pop(index).astype("<f4").ravel()


def load(peer, inputs, outputs, kinds, sizes):
    sizes = [int(size) for size in sizes.split(",")]
    every = list(cases(peer, inputs, kinds))
    with open(outputs, "wb") as out:
        for arrays in every:
            peer.write(arrays)
            peer.invoke()
            for array in arranged(peer.outputs(), sizes):
                out.write(array.tobytes())
    peer.write(every[0])


def run(peer, milliseconds):
    invoke, clock, times, at_least = peer.invoke, perf_counter_ns, [], milliseconds * 1_000_000
    warm_until = clock() + at_least // 10
    while clock() < warm_until:
        invoke()
    timed = 0
    while timed < at_least:
        started = clock()
        invoke()
        took = clock() - started
        times.append(took)
        timed += took
    times.sort()
    return f"times\t{times[0]}\t{times[len(times) // 2]}\t{len(times)}"


def obey(kind, loaded, words):
    match words:
        case ["load", name, model, inputs, outputs, kinds, sizes]:
            peer = kind(model)
            load(peer, inputs, outputs, kinds, sizes)
            loaded[name] = peer
            return "loaded"
        case ["run", name, milliseconds]:
            return run(loaded[name], int(milliseconds))
    raise ValueError("no such command: " + " ".join(words))


def main():
    kind, loaded = PEERS[sys.argv[1]], {}
    # What libraries print is not an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            answer = obey(kind, loaded, line.rstrip("\n").split("\t"))
        except Exception as error:
            answer = "error\t" + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)


main()
