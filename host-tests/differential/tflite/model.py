"""A TensorFlow Lite model as lists of tensors and operators, and its file."""

import copy
from dataclasses import dataclass, field

import flatbuffers
import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

# Names of element types: number in the schema, and NumPy's type of the values in memory.
ELEMENTS = {
    "float32": (0, np.float32),
    "float16": (1, np.float16),
    "int32": (2, np.int32),
    "uint8": (3, np.uint8),
    "int64": (4, np.int64),
    "bool": (6, np.bool_),
    "int16": (7, np.int16),
    "int8": (9, np.int8),
    "resource": (13, np.int32),
    "uint32": (15, np.uint32),
    "int4": (17, np.int8),
}

OPERATORS = {name: code for name, code in vars(schema.BuiltinOperator).items() if isinstance(code, int)}
OPTIONS = {name: code for name, code in vars(schema.BuiltinOptions).items() if isinstance(code, int)}


def options(name, **fields):
    """The attributes of an operator; a field that the schema does not have is an error."""
    table = getattr(schema, name + "T")()
    for key, value in fields.items():
        if not hasattr(table, key):
            raise AttributeError(f"{name} has no {key}")
        setattr(table, key, value)
    return OPTIONS[name], table


@dataclass
class Tensor:
    element: str
    dims: list
    # One scale and zero point, or one for each index of `axis`.
    scales: list = None
    zeros: list = None
    axis: int = 0
    data: bytes = None
    variable: bool = False
    name: str = ""

    def count(self):
        return int(np.prod(self.dims, dtype=np.int64))


@dataclass
class Operator:
    name: str
    options: tuple
    inputs: list
    outputs: list
    # Attributes of a custom operator, whose name begins with a capital and small letters.
    custom: bytes = None


@dataclass
class SubGraph:
    tensors: list = field(default_factory=list)
    operators: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def add(self, tensor):
        tensor.name = tensor.name or f"t{len(self.tensors)}"
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def input(self, tensor):
        self.inputs.append(self.add(tensor))
        return self.inputs[-1]

    def widens(self, operator):
        """Whether it makes float32 of constants of float16."""
        return operator.name == "DEQUANTIZE" and self.tensors[operator.inputs[0]].data is not None

    def needed(self, operator):
        """What an operator reads that is neither constant nor kept, each once."""
        fixed = {t for o in self.operators if self.widens(o) for t in o.outputs}
        computed = lambda t: self.tensors[t].data is None and not self.tensors[t].variable and t not in fixed
        return [t for t in dict.fromkeys(operator.inputs) if t >= 0 and computed(t)]

    def operator(self, name, options, inputs, outputs, custom=None):
        self.operators.append(Operator(name, options, list(inputs), list(outputs), custom))


@dataclass
class Model:
    subgraphs: list = field(default_factory=lambda: [SubGraph()])

    @property
    def main(self):
        return self.subgraphs[0]

    def file(self):
        """The bytes of the file."""
        codes, code_index = [], {}
        buffers = [schema.BufferT()]
        buffers[0].data = []
        graphs = []
        for graph in self.subgraphs:
            table = schema.SubGraphT()
            table.name = b"main"
            table.tensors = [self._tensor(tensor, buffers) for tensor in graph.tensors]
            table.inputs, table.outputs = list(graph.inputs), list(graph.outputs)
            table.operators = []
            for operator in graph.operators:
                if operator.name not in code_index:
                    code_index[operator.name] = len(codes)
                    codes.append(_code(operator))
                table.operators.append(_operator(operator, code_index[operator.name]))
            graphs.append(table)
        model = schema.ModelT()
        model.version, model.subgraphs, model.operatorCodes, model.buffers = 3, graphs, codes, buffers
        model.description = b"drawn at random"
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    @staticmethod
    def _tensor(tensor, buffers):
        table = schema.TensorT()
        table.name = tensor.name.encode()
        table.type = ELEMENTS[tensor.element][0]
        table.shape = np.array([max(dim, 1) if dim < 0 else dim for dim in tensor.dims], np.int32)
        if -1 in tensor.dims:
            # Open sizes.
            table.shapeSignature = np.array(tensor.dims, np.int32)
        table.hasRank = True
        table.isVariable = tensor.variable
        if tensor.scales is not None:
            quantization = schema.QuantizationParametersT()
            quantization.scale = np.array(tensor.scales, np.float32)
            quantization.zeroPoint = np.array(tensor.zeros, np.int64)
            quantization.quantizedDimension = tensor.axis
            table.quantization = quantization
        table.buffer = 0
        if tensor.data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(tensor.data, np.uint8)
            buffers.append(buffer)
            table.buffer = len(buffers) - 1
        return table

    def operators(self):
        return [operator for graph in self.subgraphs for operator in graph.operators]

    def single(self, index):
        """The operator of that place in the main subgraph alone, with its computed operands for inputs, in the order of its operands."""
        model = copy.deepcopy(self)
        main = model.main
        operator = main.operators[index]
        widened = [o for o in main.operators if main.widens(o) and o.outputs[0] in operator.inputs]
        main.operators = [*widened, operator]
        main.inputs = main.needed(operator)
        main.outputs = list(operator.outputs)
        model._drop_unused()
        return model

    def prefix(self, count):
        """The first operators alone, with everything that nothing reads for outputs."""
        model = copy.deepcopy(self)
        main = model.main
        main.operators = main.operators[:count]
        read = {t for operator in main.operators for t in operator.inputs}
        written = [t for operator in main.operators for t in operator.outputs]
        main.inputs = [t for t in main.inputs if t in read]
        main.outputs = [t for t in written if t not in read] or written[-1:]
        model._drop_unused()
        return model

    def _drop_unused(self):
        main = self.main
        used = {t for operator in main.operators for t in operator.inputs + operator.outputs if t >= 0}
        used |= set(main.inputs) | set(main.outputs)
        place = {old: new for new, old in enumerate(sorted(used))}
        main.tensors = [main.tensors[old] for old in sorted(used)]
        move = lambda ts: [place[t] if t >= 0 else -1 for t in ts]
        main.inputs, main.outputs = move(main.inputs), move(main.outputs)
        for operator in main.operators:
            operator.inputs, operator.outputs = move(operator.inputs), move(operator.outputs)


def _code(operator):
    code = schema.OperatorCodeT()
    code.version = 1
    number = OPERATORS.get(operator.name, OPERATORS["CUSTOM"])
    code.builtinCode, code.deprecatedBuiltinCode = number, min(number, 127)
    if operator.name not in OPERATORS:
        code.customCode = operator.name.encode()
    return code


def _operator(operator, code):
    table = schema.OperatorT()
    table.opcodeIndex = code
    table.inputs, table.outputs = np.array(operator.inputs, np.int32), np.array(operator.outputs, np.int32)
    if operator.options is not None:
        table.builtinOptionsType, table.builtinOptions = operator.options
    if operator.custom is not None:
        table.customOptions = np.frombuffer(operator.custom, np.uint8)
    return table
