#!/usr/bin/env python3
"""Recurrent layers with all their attributes, and as PyTorch exports them, with what ONNX Runtime gives for them. Weights are random.

    python3.11 -m venv venv
    venv/bin/pip install torch==2.15.0 onnx==1.22.0 onnxscript==0.7.2 onnxruntime==1.32.0 numpy==2.3.5
    venv/bin/python make_onnx_recurrent.py        # writes onnx_recurrent/<name>.onnx and .npz

`lstm_*`, `gru_*` and `rnn_*` are single operators, `torch_*` layers of PyTorch with a dense layer behind them. A golden file
has `in_k` and `out_k`, for the k-th input and output; the first axis counts cases.
"""
import io
import pathlib

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "onnx_recurrent"
CASES, STEPS, SEQUENCES, INPUTS, UNITS = 4, 3, 2, 3, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
random = np.random.default_rng(5)


def numbers(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def record(name, model, inputs):
    """Writes a model with its golden outputs for cases of inputs, by name."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = [session.run(None, {key: value[case] for key, value in inputs.items()}) for case in range(CASES)]
    names = [given.name for given in session.get_inputs()]
    arrays = {f"in_{k}": inputs[key] for k, key in enumerate(names)} | {f"out_{k}": np.stack(values) for k, values in enumerate(zip(*found))}
    FOLDER.mkdir(exist_ok=True)
    onnx.save(model, FOLDER / f"{name}.onnx")
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
    print(f"{name:28} {(FOLDER / f'{name}.onnx').stat().st_size:6} bytes  {' '.join(dict.fromkeys(n.op_type for n in model.graph.node))}")


def single(name, operator, direction="forward", bias=True, initial=(), lengths=None, peepholes=False, steps=STEPS, **attributes):
    """One operator. `initial` are the states that are given: `const` ones or `input` ones, hidden ones and cells. Long ones give the last states alone."""
    directions, gates = 2 if direction == "bidirectional" else 1, GATES[operator]
    batch_first = attributes.get("layout", 0) == 1
    constants, inputs, operands = {}, {}, ["x", "w", "r"]
    shape = (SEQUENCES, steps, INPUTS) if batch_first else (steps, SEQUENCES, INPUTS)
    inputs["x"] = 2 * numbers(CASES, *shape)
    constants["w"], constants["r"] = numbers(directions, gates * UNITS, INPUTS), numbers(directions, gates * UNITS, UNITS)
    state = (SEQUENCES, directions, UNITS) if batch_first else (directions, SEQUENCES, UNITS)

    def add(key, value):
        operands.append(key if value is not None else "")
        if value is not None:
            constants[key] = value

    add("b", numbers(directions, 2 * gates * UNITS) if bias else None)
    add("lengths", None if lengths is None else np.array(lengths, np.int32))
    for key, kind in zip(["hidden", "cell"], initial):
        add(key, numbers(*state) if kind == "const" else None)
        if kind == "input":
            operands[-1] = key
            inputs[key] = numbers(CASES, *state)
    if peepholes:
        while len(operands) < 7:
            operands.append("")
        add("p", numbers(directions, 3 * UNITS))
    results = ["y" if steps == STEPS else "", "last", "last_cell"][: 3 if operator == "LSTM" else 2]
    node = helper.make_node(operator, operands, results, hidden_size=UNITS, direction=direction, **attributes)
    given = [helper.make_tensor_value_info(key, TensorProto.FLOAT, value.shape[1:]) for key, value in inputs.items()]
    outputs = [helper.make_tensor_value_info(key, TensorProto.FLOAT, None) for key in results if key]
    tensors = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph([node], name, given, outputs, tensors)
    record(name, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), inputs)


class Layer(torch.nn.Module):
    """A recurrent layer with a dense layer behind its last step; its states are inputs and outputs, if they are `kept`."""

    def __init__(self, kind, kept=False, **options):
        super().__init__()
        self.layer = getattr(torch.nn, kind)(INPUTS, UNITS, batch_first=True, **options)
        self.dense = torch.nn.Linear(UNITS * (2 if options.get("bidirectional") else 1), 2)
        self.kept = kept

    def forward(self, x, *states):
        if not self.kept:
            return self.dense(self.layer(x)[0][:, -1])
        y, states = self.layer(x, states if len(states) == 2 else states[0])
        return (self.dense(y[:, -1]), *(states if isinstance(states, tuple) else [states]))


def exported(name, kind, kept=0, dynamo=False, **options):
    torch.manual_seed(5)
    module = Layer(kind, kept > 0, **options).eval()
    sequences = 1 if dynamo else SEQUENCES
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    inputs = [numbers(CASES, sequences, STEPS, INPUTS), *(numbers(CASES, count, sequences, UNITS) for _ in range(kept))]
    example = tuple(torch.from_numpy(value[0].copy()) for value in inputs)
    names = ["x", "hidden", "cell"][: 1 + kept]
    file = io.BytesIO()
    if dynamo:
        program = torch.onnx.export(module, example, input_names=names, dynamo=True, verbose=False, external_data=False)
        file.write(program.model_proto.SerializeToString())
    else:
        torch.onnx.export(module, example, file, input_names=names, dynamo=False, opset_version=17)
    model = onnx.load_model_from_string(file.getvalue())
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]:
        del value.metadata_props[:]
    record(f"torch_{name}", model, dict(zip(names, inputs)))


for operator in GATES:
    states = 2 if operator == "LSTM" else 1
    low = operator.lower()
    for direction in ["forward", "reverse", "bidirectional"]:
        single(f"{low}_{direction}", operator, direction)
    single(f"{low}_without_bias", operator, bias=False)
    single(f"{low}_constant_states", operator, "bidirectional", initial=["const"] * states)
    single(f"{low}_states", operator, "reverse", initial=["input"] * states)
    single(f"{low}_lengths", operator, "bidirectional", lengths=[STEPS] * SEQUENCES)
    single(f"{low}_short", operator, "bidirectional", lengths=[STEPS - 1] * SEQUENCES)
    single(f"{low}_clip", operator, clip=0.4)
single("lstm_peepholes", "LSTM", "bidirectional", peepholes=True)
single("lstm_peepholes_states", "LSTM", initial=["input", "const"], peepholes=True)
single("lstm_input_forget", "LSTM", input_forget=1)
single("lstm_activations", "LSTM", activations=["Sigmoid", "Relu", "Tanh"])
single("gru_after_product", "GRU", "bidirectional", linear_before_reset=1, initial=["input"])
single("rnn_relu", "RNN", "bidirectional", activations=["Relu", "Tanh"])
for kind in ["LSTM", "GRU", "RNN"]:
    low = kind.lower()
    exported(low, kind)
    exported(f"{low}_stacked_both", kind, num_layers=2, bidirectional=True)
    exported(f"{low}_states", kind, kept=2 if kind == "LSTM" else 1)
    exported(f"{low}_program", kind, dynamo=True)
exported("rnn_relu", "RNN", nonlinearity="relu")
# More steps than are written out.
single("gru_long", "GRU", "bidirectional", initial=["const"], steps=260)
single("gru_long_after_product", "GRU", linear_before_reset=1, steps=260)
single("rnn_long", "RNN", "reverse", initial=["input"], steps=260)
single("rnn_long_relu", "RNN", activations=["Relu"], steps=260)
