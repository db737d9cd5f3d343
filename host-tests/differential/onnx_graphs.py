#!/usr/bin/env python3
"""Random small ONNX graphs of all operators that Kiln reads, with what ONNX Runtime gives for them.

    pip install onnx onnxruntime numpy
    python onnx_graphs.py --seed 1 --count 1000 --out folder

Writes `<n>.onnx` and `<n>.npz` (in0, in1 …, out0, out1 …) for n below count. The same seed gives the same files, whatever the count and the
number of jobs. The graph's documentation names the file's operators. ONNX Runtime runs without optimisations, on one thread: its kernels are
what the operators mean. Each graph is drawn and run in a process of its own, so that none takes others down with it. A graph that ONNX Runtime
refuses is drawn again, at most TRIES times; after that the number has no file.

`--only Conv,LRN` draws graphs with these operators alone (a name of RECIPES), `--list` prints the names.
"""

import argparse
import multiprocessing
import os
import pathlib
import signal
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from onnx_recipes import RECIPES, Draw, Refused

TRIES = 12
"""How often a graph is drawn until ONNX Runtime takes it."""

SECONDS = 20
"""What a graph may take."""

ort.set_default_logger_severity(4)


def model_of(draw, outputs):
    info = lambda name, array: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    tensors = [numpy_helper.from_array(array, name) for name, array in draw.constants.items()]
    inputs = [info(name, array) for name, array in draw.inputs.items()]
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
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


def write(folder, n, draw):
    outputs = [name for name in draw.results if name not in draw.inputs and name not in draw.constants]
    values = run(draw, outputs)
    if not outputs or not draw.inputs or any(not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub" for value in values):
        raise Refused("nothing to compare")
    model = model_of(draw, outputs)
    for info, value in zip(model.graph.output, values):
        info.CopyFrom(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    onnx.save(model, folder / f"{n}.onnx")
    arrays = {f"in{k}": value for k, value in enumerate(draw.inputs.values())}
    arrays |= {f"out{k}": value for k, value in enumerate(values)}
    # Row by row, also what is a transposed view.
    np.savez_compressed(folder / f"{n}.npz", **{name: np.array(value, order="C") for name, value in arrays.items()})


def draw_one(folder, seed, n, names, say):
    """Draws graph n until one is taken. Each try has a process of its own."""
    for attempt in range(TRIES):
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            status = 1
            try:
                draw = Draw(np.random.default_rng([seed, n, attempt]), run)
                draw.graph(names)
                write(folder, n, draw)
                status = 0
            except Refused as refused:
                if say:
                    print(n, attempt, draw.drawn, str(refused)[:300], file=sys.stderr)
            except Exception as error:
                if say:
                    print(n, attempt, draw.drawn, repr(error), file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return True
    return False


def draw_some(job):
    folder, seed, numbers, names, say = job
    return sum(draw_one(folder, seed, n, names, say) for n in numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", help="names of recipes, with commas between")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--say", action="store_true", help="print why graphs were refused")
    parser.add_argument("--list", action="store_true", help="print the names of recipes")
    args = parser.parse_args()
    if args.list:
        print("\n".join(sorted(RECIPES)))
        return
    names = args.only.split(",") if args.only else sorted(RECIPES)
    if args.out is None or any(name not in RECIPES for name in names):
        parser.error("--out and known names, please")
    args.out.mkdir(parents=True, exist_ok=True)
    numbers = range(args.first, args.first + args.count)
    jobs = [(args.out, args.seed, numbers[k :: args.jobs], names, args.say) for k in range(args.jobs)]
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        written = sum(pool.map(draw_some, jobs))
    print(f"{written} of {args.count} graphs written to {args.out}, with ONNX Runtime {ort.__version__}")


if __name__ == "__main__":
    main()
