"""What make_networks.py and make_ops.py share: conversion to TFLite, TFLite Micro's outputs, the manifest.

Layout of this folder:

    tflite/<name>.tflite   the models
    golden/<name>.npz      in_k and out_k: their k-th input and output, first axis = case (or step of a sequence)
    MANIFEST.csv           one row per model; `sequence` = yes: the cases are steps from a freshly reset model
"""
import csv
import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

HERE = Path(__file__).resolve().parent
COLUMNS = ["name", "bytes", "dtype_kind", "inputs", "outputs", "ops", "op_histogram", "cases", "sequence", "oracle", "data"]


def convert(specs, function, calibration=None, module=None, edge=None):
    """The TFLite file of `function`: float32, or full integer if there is calibration data (a list of input lists).

    `module` owns the tf.Variables that are to become resource variables. `edge` is the type of the inputs and outputs of a
    full integer model (default int8).
    """
    import tensorflow as tf

    concrete = tf.function(function, autograph=False).get_concrete_function(*[tf.TensorSpec(s, tf.float32) for s in specs])
    owner = [module] if module is not None else []
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], *owner)
    converter.experimental_enable_resource_variables = module is not None
    if calibration is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([x.astype(np.float32) for x in xs] for xs in calibration)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = edge or tf.int8
        converter._experimental_variable_quantization = module is not None
    return converter.convert()


def describe(tflite):
    """(inputs, outputs, op names) of the main subgraph; an input or output is (dtype, shape, scale, zero point)."""
    from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

    types = {v: k.lower() for k, v in vars(schema.TensorType).items() if isinstance(v, int)}
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(tflite, 0))
    graph = model.subgraphs[0]

    def tensor(index):
        t = graph.tensors[index]
        q = t.quantization
        quantized = q is not None and q.scale is not None and len(q.scale)
        shape = [] if t.shape is None else [int(d) for d in t.shape]
        return types[t.type], shape, float(q.scale[0]) if quantized else None, int(q.zeroPoint[0]) if quantized else 0

    codes = [max(c.builtinCode, c.deprecatedBuiltinCode) for c in model.operatorCodes]
    return [tensor(i) for i in graph.inputs], [tensor(i) for i in graph.outputs], [names[codes[o.opcodeIndex]] for o in graph.operators]


def quantized(values, tensor):
    """Real values in the type of a model's input: nearest step, clamped."""
    dtype, _, scale, zero = tensor
    if scale is None or dtype == "float32":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.round(values / scale) + zero, limits.min, limits.max).astype(dtype)


def random_cases(tensor, rng, n):
    """`n` cases: integers over the full range, floats on a grid in [-4, 4] (both dense around the kinks of activations);
    the last cases are all lowest, all highest, and the zero point."""
    dtype, shape, _, zero = tensor
    if dtype == "float32":
        cases = np.round(rng.uniform(-4, 4, [n, *shape]) * 64) / 64
        low, high, zero = -4, 4, 0
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        cases = rng.integers(low, high + 1, [n, *shape])
    for k, value in enumerate([low, high, zero]):
        cases[n - 3 + k] = value
    return cases.astype(dtype)


def run_tflm(tflite, inputs, outputs):
    """TFLite Micro's outputs for all cases, in order, without a reset. In a process of its own, because it aborts on models it
    does not know."""
    buffer = io.BytesIO()
    np.savez(buffer, model=np.frombuffer(tflite, np.uint8), outputs=outputs, **{f"in_{k}": x for k, x in enumerate(inputs)})
    done = subprocess.run([sys.executable, __file__, "--tflm"], input=buffer.getvalue(), capture_output=True)
    if done.returncode != 0:
        raise RuntimeError("TFLite Micro: " + done.stderr.decode(errors="replace").strip()[-600:])
    with np.load(io.BytesIO(done.stdout)) as result:
        return [result[f"out_{k}"] for k in range(outputs)]


def tflm_worker():
    from tflite_micro import runtime

    request = np.load(io.BytesIO(sys.stdin.buffer.read()))
    interpreter = runtime.Interpreter.from_bytes(request["model"].tobytes(), arena_size=1 << 20)
    inputs = [request[f"in_{k}"] for k in range(len(request.files) - 2)]
    outputs = [[] for _ in range(int(request["outputs"]))]
    for case in zip(*inputs):
        for k, x in enumerate(case):
            interpreter.set_input(x, k)
        interpreter.invoke()
        for k, out in enumerate(outputs):
            out.append(np.array(interpreter.get_output(k)))
    np.savez(sys.stdout.buffer, **{f"out_{k}": np.stack(out) for k, out in enumerate(outputs)})


def run_litert(tflite, inputs):
    """The outputs of LiteRT's reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_content=tflite, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1)
    interpreter.allocate_tensors()
    outputs = [[] for _ in interpreter.get_output_details()]
    for case in zip(*inputs):
        for x, detail in zip(case, interpreter.get_input_details()):
            interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        for out, detail in zip(outputs, interpreter.get_output_details()):
            out.append(interpreter.get_tensor(detail["index"]).copy())
    return [np.stack(out) for out in outputs]


def write(name, tflite, inputs, data, sequence=False, oracle="tflm"):
    """Writes model and golden file; returns the outputs and the manifest row."""
    ins, outs, ops = describe(tflite)
    outputs = run_tflm(tflite, inputs, len(outs)) if oracle == "tflm" else run_litert(tflite, inputs)
    assert all(x.dtype == t[0] and list(x.shape[1:]) == t[1] for x, t in zip(inputs + outputs, ins + outs)), name
    for folder in ["tflite", "golden"]:
        (HERE / folder).mkdir(exist_ok=True)
    (HERE / f"tflite/{name}.tflite").write_bytes(tflite)
    arrays = {f"in_{k}": x for k, x in enumerate(inputs)} | {f"out_{k}": x for k, x in enumerate(outputs)}
    np.savez_compressed(HERE / f"golden/{name}.npz", **arrays)
    text = lambda tensors: "; ".join(f"{t[0]}{t[1]}" for t in tensors)
    row = dict(name=name, bytes=len(tflite), dtype_kind=name.rsplit("_", 1)[1], inputs=text(ins), outputs=text(outs), ops=len(ops),
               op_histogram=" ".join(f"{op}:{n}" for op, n in Counter(ops).most_common()), cases=len(inputs[0]),
               sequence="yes" if sequence else "no", oracle=oracle, data=data)
    return outputs, row


def update_manifest(rows, keep):
    """Replaces the manifest's rows, except those whose name `keep` accepts."""
    path = HERE / "MANIFEST.csv"
    kept = []
    if path.exists():
        with open(path, newline="") as file:
            kept = [row for row in csv.DictReader(file) if keep(row["name"])]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(kept + rows, key=lambda row: (row["name"].startswith("op_"), row["name"])))


if __name__ == "__main__" and sys.argv[1:] == ["--tflm"]:
    tflm_worker()
