#!/usr/bin/env python3
"""Draws TensorFlow Lite models and runs them with TFLite Micro and with LiteRT's reference kernels.

    pip install tflite-micro ai-edge-litert flatbuffers numpy
    python oracle.py --seed 1 --first 0 --count 100

`cargo xtask differential` starts it, reads what it writes and starts it again behind a graph that took it down: runtimes run in this process. The
output is binary: messages of a length in four bytes, little-endian, and a body. The first byte of a body is its kind:

    G  a graph: its number, what was drawn, the model's file, and what it is run on
    B  a runtime begins with it: its name
    R  a runtime has finished with it: its name, and its outputs or why it refuses
    E  that was the last graph

`--skip N:tflm` leaves out a runtime that graph N takes down. `--split N` writes parts of graph N instead: each operator alone, run on what
LiteRT (where it refuses, TFLite Micro) gives for its operands, and each beginning of the graph. `--list` prints what is drawn.
"""

import argparse
import copy
import os
import struct
import sys
from pathlib import Path

import numpy as np

# Whatever runtimes print must not be among the messages.
OUT = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
if "--loud" not in sys.argv:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

from tflite import graphs  # noqa: E402
from tflite.model import ELEMENTS  # noqa: E402

RUNTIMES = ("tflm", "litert")


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


def run(name, file, main, inputs):
    """The outputs of every invocation, or why there are none."""
    try:
        runtime = MAKE[name](file, main)
        return [runtime.run(case) for case in inputs]
    except MemoryError:
        raise
    except Exception as error:
        return " ".join(str(error).split())[:300] or type(error).__name__


# ---- Messages


def text(x):
    x = x.encode() if isinstance(x, str) else x
    return struct.pack("<I", len(x)) + x


def many(items):
    return struct.pack("<I", len(items)) + b"".join(items)


def send(kind, *parts):
    body = kind + b"".join(parts)
    OUT.write(struct.pack("<I", len(body)) + body)
    OUT.flush()


def signature(model):
    """What tells operators apart: types of operands and results."""
    main = model.main
    conversions = [o for o in main.operators if o.name == "DEQUANTIZE" and main.tensors[o.inputs[0]].element == "float16"]
    operators = [o for o in main.operators if o not in conversions]
    half = {t for o in conversions for t in o.outputs}
    if len(operators) != 1:
        return "chain " + " ".join(o.name for o in operators)
    element = lambda t: "none" if t < 0 else "float16" if t in half else main.tensors[t].element
    one = operators[0]
    return f"{one.name} {' '.join(map(element, one.inputs))} -> {' '.join(map(element, one.outputs))}"


def graph_message(number, title, model, file, inputs):
    main = model.main
    outputs = [text(main.tensors[t].element) + many([struct.pack("<I", dim) for dim in main.tensors[t].dims]) for t in main.outputs]
    return [struct.pack("<I", number), text(title), text(signature(model)), text(file), many([many([text(d) for d in case]) for case in inputs]), many(outputs)]


def compare(number, title, model, inputs, args):
    """Sends a graph and what the runtimes make of it."""
    file, main = model.file(), model.main
    if args.write and args.part in (None, number):
        Path(f"{args.write}.tflite").write_bytes(file)
    send(b"G", *graph_message(number, title, model, file, inputs))
    for name in RUNTIMES:
        if f"{number}:{name}" in args.skip:
            continue
        send(b"B", text(name))
        outcome = run(name, file, main, inputs)
        if isinstance(outcome, str):
            send(b"R", text(name), b"\0", text(outcome))
            continue
        cases = many([many([text(np.ascontiguousarray(y).tobytes()) for y in case]) for case in outcome])
        send(b"R", text(name), b"\1", cases)
        if args.write and args.part in (None, number):
            write_golden(f"{args.write}.{name}.npz", main, inputs, outcome)


def write_golden(path, main, inputs, outcome):
    """in_k and out_k, whose first axis counts the invocations."""
    arrays = {f"in_{k}": np.stack([array(main.tensors[t], case[k]) for case in inputs]) for k, t in enumerate(main.inputs)}
    arrays |= {f"out_{k}": np.stack([case[k] for case in outcome]) for k in range(len(main.outputs))}
    np.savez_compressed(path, **arrays)


def title(operators):
    return " ".join(f"{name}:{format}" for name, format in operators)


KEEPERS = ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE")


def split(graph, args):
    """Parts of a graph, numbered from 0: operators alone, then its beginnings."""
    model, parts = graph.model, []
    main = model.main
    computed = lambda t: main.tensors[t].data is None and not main.tensors[t].variable
    values = all_values(model, graph.inputs) or {}
    for k, operator in enumerate(main.operators):
        needed = [t for t in dict.fromkeys(operator.inputs) if t >= 0 and computed(t)]
        if operator.name in KEEPERS or any(t not in values for t in needed):
            continue
        inputs = [[values[t][case] for t in needed] for case in range(len(graph.inputs))]
        parts.append((model.single(k), inputs))
    for count in range(1, len(main.operators)):
        part = model.prefix(count)
        place = {main.tensors[t].name: k for k, t in enumerate(main.inputs)}
        chosen = [place[part.main.tensors[t].name] for t in part.main.inputs]
        parts.append((part, [[case[k] for k in chosen] for case in graph.inputs]))
    for number, (part, inputs) in enumerate(parts):
        compare(number, title(graph.drawn), part, inputs, args)


def all_values(model, inputs):
    """What every tensor holds in every invocation, by tensor."""
    every = copy.deepcopy(model)
    main = every.main
    main.outputs = list(dict.fromkeys(t for o in main.operators for t in o.outputs if main.tensors[t].element != "resource"))
    file = every.file()
    for name in ("litert", "tflm"):
        outcome = run(name, file, main, inputs)
        if not isinstance(outcome, str):
            values = {t: [np.ascontiguousarray(case[k]).tobytes() for case in outcome] for k, t in enumerate(main.outputs)}
            return values | {t: [case[k] for case in inputs] for k, t in enumerate(main.inputs)}
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--step", type=int, default=1, help="every so manieth graph")
    parser.add_argument("--only", help="operators, with commas between")
    parser.add_argument("--skip", action="append", default=[], help="graph and runtime: 17:tflm")
    parser.add_argument("--split", type=int, help="parts of that graph")
    parser.add_argument("--part", type=int, help="the part to be written")
    parser.add_argument("--write", help="write the model and what it is held to as files whose names begin so")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--loud", action="store_true", help="let runtimes print")
    args = parser.parse_args()
    only = set(args.only.split(",")) if args.only else None
    if args.list:
        OUT.write("".join(f"{name} {format}\n" for name, format in graphs.ROWS).encode())
        OUT.flush()
        return
    if args.split is not None:
        split(graphs.draw(args.seed, args.split, only), args)
    else:
        for number in range(args.first, args.first + args.count, args.step):
            graph = graphs.draw(args.seed, number, only)
            compare(number, title(graph.drawn), graph.model, graph.inputs, args)
    send(b"E")


if __name__ == "__main__":
    main()
