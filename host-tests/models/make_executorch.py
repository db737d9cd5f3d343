#!/usr/bin/env python3
"""The networks of make_torch.py as ExecuTorch writes them, with the outputs of its runtime. Weights are random.

    python3.11 -m venv venv
    venv/bin/pip install torch==2.15.0 executorch==1.5.1 torchao==0.18.0 numpy==2.3.5
    venv/bin/python make_executorch.py

writes each network to executorch/: <name>.pte and <name>.npz. `quantised` is quantised by PT2E, `external` has its weights in a file of its own
(_default_external_constant.ptd), and `scan` is a loop. A golden file has `in_k` and `out_k`, for the k-th input and output; the first axis counts cases.
Those of `stream.stateful`, which writes into buffers, are consecutive calls.
"""
import pathlib
import tempfile

import executorch.kernels.quantized  # noqa: F401 (kernels for the runtime)
import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.runtime import Runtime
from make_torch import Attention, Image, Recurrent, Stream
from torch import nn
from torch._higher_order_ops.scan import scan
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

FOLDER = pathlib.Path(__file__).parent / "executorch"
CASES = 4


class Scan(nn.Module):
    """Running sums and products over [4, 3]."""

    def forward(self, rows):
        return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(3), rows)


def quantised(model, shape):
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(model, (torch.zeros(shape),)).module(check_guards=False), quantizer)
    for _ in range(16):
        prepared(torch.randn(shape))
    return convert_pt2e(prepared)


def lowered(model, shape, config):
    program = torch.export.export(model, (torch.zeros(shape),))
    edge = to_edge_transform_and_lower(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    return edge.to_executorch(config or ExecutorchBackendConfig())


def record(name, model, shape, config=None, external=False):
    file = FOLDER / f"{name}.pte"
    lowered(model, shape, config).save(str(file))
    runs = file
    if external:
        whole = lowered(model, shape, ExecutorchBackendConfig(external_constants=True))
        whole.save(str(file))
        whole.write_tensor_data_to_file(str(FOLDER))
        runs = pathlib.Path(tempfile.mkdtemp()) / "whole.pte"
        lowered(model, shape, None).save(str(runs))
    method = Runtime.get().load_program(runs).load_method("forward")
    inputs = torch.randn(CASES, *shape)
    calls = [[result.clone() for result in method.execute([x])] for x in inputs]
    outputs = {f"out_{k}": np.stack([call[k].numpy() for call in calls]) for k in range(len(calls[0]))}
    np.savez_compressed(FOLDER / f"{name}.npz", in_0=inputs.numpy(), **outputs)


def frozen(model):
    return model.eval().requires_grad_(False)


def main():
    torch.manual_seed(7)
    FOLDER.mkdir(exist_ok=True)
    record("image", frozen(Image()), (1, 2, 8, 8))
    record("attention", frozen(Attention()), (1, 5, 8))
    record("recurrent", frozen(Recurrent()), (1, 6, 4))
    buffers = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["frames", "features", "mean"])])
    record("stream.stateful", frozen(Stream()), (1, 3, 1), buffers)
    record("quantised", quantised(frozen(Image()), (1, 2, 8, 8)), (1, 2, 8, 8))
    record("external", frozen(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))), (1, 6), external=True)
    record("scan", frozen(Scan()), (4, 3))


if __name__ == "__main__":
    main()
