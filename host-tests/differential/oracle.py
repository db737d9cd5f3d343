#!/usr/bin/env python3
"""Draws random models and runs them with the runtimes that Kiln is held to: TensorFlow Lite Micro, LiteRT's reference kernels, ONNX Runtime.

    pip install tflite-micro ai-edge-litert flatbuffers onnx onnxruntime numpy
    python oracle.py --format tflite --seed 1 --first 0 --count 100

`cargo xtask differential` starts it and reads what it writes. The output is binary: messages of a length in four bytes, little-endian, and a
body. The first byte of a body is its kind:

    G  a graph: its number, what was drawn, the model's file, and what it is run on
    R  a runtime is done with it: its name, and its outputs or why it refuses
    D  all runtimes are
    X  there is no graph of that number, and why
    E  that was the last one

Graphs are drawn and run in a process that is forked from this one, because runtimes run in it: where a graph takes it down, the next process
goes on behind it. `--split N` writes the parts of graph N instead: each operator alone. `--list` prints what is drawn.
"""

import argparse
import mmap
import os
import signal
import struct
import sys
import traceback

# Whatever runtimes print must not be among the messages.
OUT = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
ERRORS = os.fdopen(os.dup(2), "w")
if "--loud" not in sys.argv:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

SECONDS = 20
"""Seconds of the processor that drawing and running one graph may take."""


class Tflite:
    """Graphs of TensorFlow Lite."""

    def __init__(self):
        from tflite import graphs, runtimes

        runtimes.load()
        self.whole, self.parts, self.draw = runtimes.whole, runtimes.parts, graphs.draw
        self.rows = [f"{name} {format}" for name, format in graphs.ROWS]


class Onnx:
    """Graphs of ONNX."""

    def __init__(self):
        import onnx_graphs

        self.whole, self.parts, self.draw = onnx_graphs.whole, onnx_graphs.parts, onnx_graphs.draw
        self.rows = sorted(onnx_graphs.RECIPES)


FORMATS = {"tflite": Tflite, "onnx": Onnx}


# ---- Messages


def text(x):
    x = x.encode() if isinstance(x, str) else x
    return struct.pack("<I", len(x)) + x


def many(items):
    return struct.pack("<I", len(items)) + b"".join(items)


def send(kind, *parts):
    body = kind + b"".join(parts)
    OUT.write(struct.pack("<I", len(body)) + body)


def send_graph(number, part):
    outputs = [text(element) + many([struct.pack("<I", dim) for dim in dims]) for element, dims in part.outputs]
    inputs = many([many([text(data) for data in case]) for case in part.inputs])
    send(b"G", struct.pack("<I", number), text(part.title), text(part.signature), text(part.file), inputs, many(outputs))


def send_outcome(name, outcome):
    if isinstance(outcome, str):
        send(b"R", text(name), b"\0", text(outcome))
    else:
        send(b"R", text(name), b"\1", many([many([text(data) for data in case]) for case in outcome]))


# ---- Graphs


class Progress:
    """How far the forked process is: the place of the graph, and how many of its messages are written."""

    def __init__(self):
        self.shared = mmap.mmap(-1, 8)

    def set(self, place, stage):
        self.shared[:] = struct.pack("<II", place, stage)

    def get(self):
        return struct.unpack("<II", self.shared[:])


def one(number, make, place, stage, progress):
    """Writes the messages of a graph, from the one of that number on."""
    progress.set(place, stage)
    # Time of the processor: who reads the messages may be slow.
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    part = make(number)
    if part is None:
        return send(b"X", struct.pack("<I", number), text("the runtime refuses every try"))
    if stage == 0:
        send_graph(number, part)
        stage = 1
    for k, name in enumerate(part.runtimes):
        if stage <= k + 1:
            OUT.flush()
            progress.set(place, k + 1)
            send_outcome(name, part.run(name))
    OUT.flush()
    # Between these two nothing can take it down.
    send(b"D")
    OUT.flush()
    progress.set(place, len(part.runtimes) + 1)


def all_of(numbers, make, runtimes):
    """Writes the messages of all graphs, whatever takes a process down."""
    progress = Progress()
    place = stage = 0
    while place < len(numbers):
        progress.set(place, stage)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for k in range(place, len(numbers)):
                    one(numbers[k], make, k, stage if k == place else 0, progress)
                OUT.flush()
                status = 0
            except BaseException:
                traceback.print_exc(file=ERRORS)
                ERRORS.flush()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return
        place, stage = progress.get()
        why = f"takes its process down, by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "is no graph: an error of the script"
        if stage == 0:
            send(b"X", struct.pack("<I", numbers[place]), text(f"drawing it {why}"))
            place += 1
        elif stage <= len(runtimes):
            send_outcome(runtimes[stage - 1], why)
            stage += 1
        if stage > len(runtimes):
            send(b"D")
            place, stage = place + 1, 0
        OUT.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=sorted(FORMATS), default="tflite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--step", type=int, default=1, help="every so manieth graph")
    parser.add_argument("--only", help="operators, with commas between")
    parser.add_argument("--split", type=int, help="parts of that graph")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--loud", action="store_true", help="let runtimes print")
    args = parser.parse_args()
    only = set(args.only.split(",")) if args.only else None
    of = FORMATS[args.format]()
    runtimes = {"tflite": ("tflm", "litert"), "onnx": ("ort",)}[args.format]
    whole = lambda graph: None if graph is None else of.whole(graph)
    if args.list:
        OUT.write("".join(f"{row}\n" for row in of.rows).encode())
        OUT.flush()
        return
    if args.split is not None:
        parts = of.parts(of.draw(args.seed, args.split, only))
        all_of(range(len(parts)), lambda k: parts[k], runtimes)
    else:
        numbers = range(args.first, args.first + args.count, args.step)
        all_of(numbers, lambda number: whole(of.draw(args.seed, number, only)), runtimes)
    send(b"E")
    OUT.flush()


if __name__ == "__main__":
    main()
