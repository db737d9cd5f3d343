"""A peer of Kiln's in `cargo xtask bench-host`: LiteRT, ONNX Runtime or tract, on one thread.

A line on standard input is a command, its words apart by tabs; each is answered by one line on standard output. `load NAME MODEL IN OUT
KINDS SIZES` reads cases of inputs from the file IN and writes the outputs to OUT as float32; KINDS are types and shapes of the inputs
(`<f4:1x96x96x3`), SIZES how many elements each output has, both apart by commas. `run NAME MS` runs the first case for at least that many
milliseconds and answers `times LEAST MEDIAN COUNT`, in nanoseconds; `call MS` does the same with a model that computes nothing. What goes wrong is answered by `error` and why.
"""
import os
import sys
import tempfile
from ctypes import CDLL, byref, c_void_p
from time import perf_counter_ns

import numpy as np


class LiteRT:
    """Its interpreter, with XNNPACK, which it uses unless told otherwise."""

    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter

        model = {"model_path": path} if path else {"model_content": self.nothing()}
        self.interpreter = Interpreter(**model, num_threads=1)
        self.interpreter.allocate_tensors()
        self.inputs = [(d["index"], tuple(d["shape"]), d["dtype"]) for d in self.interpreter.get_input_details()]
        # What `invoke` calls, without what it checks on the way.
        self.invoke = self.interpreter._interpreter.Invoke

    def write(self, arrays):
        for (index, _, _), array in zip(self.inputs, arrays):
            self.interpreter.set_tensor(index, array)

    def outputs(self):
        return [self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()]

    @staticmethod
    def nothing():
        """A model without operators, whose output is its input."""
        import flatbuffers
        from ai_edge_litert import schema_py_generated as schema

        tensor, graph, model = schema.TensorT(), schema.SubGraphT(), schema.ModelT()
        tensor.shape, tensor.name, tensor.buffer = [1], b"x", 0
        graph.tensors, graph.inputs, graph.outputs, graph.operators = [tensor], [0], [0], []
        model.version, model.subgraphs, model.buffers, model.operatorCodes = 3, [graph], [schema.BufferT()], []
        builder = flatbuffers.Builder(64)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


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


class Tract:
    """A runnable model and its state, through the functions that its Python package calls."""

    def __init__(self, path):
        import onnx
        import tract

        self.tract, model = tract, standard(path)
        file = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model)
        with tempfile.NamedTemporaryFile(suffix=".onnx") as copy:
            onnx.save(file, copy.name)
            model = tract.onnx().load(copy.name)
        constants = {tensor.name for tensor in file.graph.initializer}
        self.inputs = []
        for node in file.graph.input:
            if node.name in constants:
                continue
            kind = node.type.tensor_type
            shape = tuple(dim.dim_value or 1 for dim in kind.shape.dim)
            dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            fact = ",".join([*map(str, shape), f"{dtype.kind}{8 * dtype.itemsize}"])
            model.set_input_fact(len(self.inputs), fact)
            self.inputs.append((node.name, shape, dtype))
        self.runnable = model.into_model().into_runnable()
        self.results = (c_void_p * self.runnable.output_count())()

    def write(self, arrays):
        self.held = [self.tract.Tensor.from_numpy(np.ascontiguousarray(array)) for array in arrays]
        self.state = self.runnable.spawn_state()
        inputs, results = (c_void_p * len(self.held))(*[tensor.ptr.value for tensor in self.held]), self.results
        run, destroy = self.tract.bindings.lib.tract_state_run, self.tract.bindings.lib.tract_tensor_destroy
        state, check = self.state.ptr, self.tract.bindings.check

        def invoke():
            for index, result in enumerate(results):
                if result:
                    destroy(byref(c_void_p(result)))
                    results[index] = None
            check(run(state, inputs, results))

        self.invoke = invoke

    def outputs(self):
        tensors = [self.tract.Tensor(c_void_p(result)) for result in self.results]
        self.results[:] = [None] * len(tensors)
        return [tensor.to_numpy() for tensor in tensors]


def nothing():
    """An ONNX model whose output is its input."""
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "nothing", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def standard(path):
    """A file of Deeploy's dialect in words that ONNX Runtime knows, its own op for RMSNorm among them; others as they are. Without
    a path, a model that computes nothing."""
    import onnx

    if path is None:
        return nothing()
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


PEERS = {"litert": LiteRT, "onnxruntime": OnnxRuntime, "tract": Tract}


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
        case ["call", milliseconds]:
            peer = kind(None)
            peer.write([np.zeros(1, np.float32)])
            return run(peer, int(milliseconds))
    raise ValueError("no such command: " + " ".join(words))


def main():
    kind, loaded = PEERS[sys.argv[1]], {}
    limit = os.environ.get("KILN_LIMIT")
    if limit and CDLL(limit).kiln_answer_as_avx2() != 0:
        sys.exit("the peer cannot be limited to AVX2")
    # What libraries print is not an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            answer = obey(kind, loaded, line.rstrip("\n").split("\t"))
        except Exception as error:
            answer = "error\t" + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)


main()
