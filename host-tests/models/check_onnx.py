"""Holds ONNX files that Kiln wrote to the ONNX checker and to ONNX Runtime.

    cargo kiln quantize kws.onnx --calibration kws.npz -o kws_int8.onnx
    pip install numpy onnx onnxruntime
    python check_onnx.py kws_int8.onnx kws.npz

`kws.npz` has `in_0` and the float model's `out_0`, the first axis counting cases. Prints the signal-to-noise ratio of the
outputs, without and with ONNX Runtime's optimisations: it is what `cargo kiln quantize` says for the same samples.

Without the second argument, the file is only checked, loaded and run on noise:

    KILN_WRITE_TO=/tmp/written cargo test -p kiln-codegen --test write
    for file in /tmp/written/*.onnx; do python check_onnx.py $file; done
"""
import sys

import numpy as np
import onnx
import onnxruntime as ort

TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


def session(path, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main(path, cases=None):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
        runner = session(path, level)
        first = runner.get_inputs()[0]
        if cases is None:
            noise = {i.name: np.random.rand(*i.shape).astype(TYPES[i.type]) for i in runner.get_inputs()}
            runner.run(None, noise)
            continue
        golden = np.load(cases)
        found = np.concatenate(
            [runner.run(None, {first.name: x.reshape(first.shape)})[0].reshape(1, -1) for x in golden["in_0"]]
        )
        wanted = golden["out_0"].reshape(found.shape)
        noise = ((wanted - found) ** 2).sum()
        print(level, f"{10 * np.log10((wanted ** 2).sum() / noise):.1f} dB" if noise else "equal")


main(*sys.argv[1:])
