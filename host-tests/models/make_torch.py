#!/usr/bin/env python3
"""Small networks as PyTorch writes them, with PyTorch's outputs. Weights are random.

    python3.11 -m venv venv
    venv/bin/pip install torch==2.15.0 onnx==1.22.0 onnxscript==0.7.2 numpy==2.3.5
    venv/bin/python make_torch.py

writes each network to torch/: <name>.pt2 (torch.export), <name>.pt (TorchScript, frozen), <name>.onnx (torch.onnx) and <name>.npz. A golden file has
`in_k` and `out_k`, for the k-th input and output; the first axis counts cases. Those of `stream`, which writes into buffers, are
consecutive calls; ONNX has no buffers. All files of a network have the same weights.
"""
import io
import pathlib
import zipfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional

FOLDER = pathlib.Path(__file__).parent / "torch"
CASES = 4


class Image(nn.Module):
    """[1, 2, 8, 8] to five probabilities."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.body = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1), nn.Hardswish())
        self.last = nn.Linear(8, 5)

    def forward(self, image):
        x = functional.max_pool2d(self.first(image), 2)
        x = x + self.body(x)
        return functional.softmax(self.last(x.mean((2, 3))), 1)


class Recurrent(nn.Module):
    """[1, 6, 4], six steps, to three numbers."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True)
        self.gru = nn.GRU(5, 4, batch_first=True)
        self.last = nn.Linear(4, 3)

    def forward(self, steps):
        x, _ = self.lstm(steps)
        x, _ = self.gru(x)
        return self.last(x[:, -1])


class Stream(nn.Module):
    """A step of [1, 3, 1] to four numbers: two causal convolutions with their histories, and a mean that fades."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Conv1d(3, 6, 3), nn.Conv1d(6, 6, 3, dilation=2, groups=6), nn.Linear(6, 4)
        self.register_buffer("frames", torch.zeros(1, 3, 2))
        self.register_buffer("features", torch.zeros(1, 6, 4))
        self.register_buffer("mean", torch.full((1, 6), 0.5))

    def forward(self, frame):
        window = torch.cat([self.frames, frame], 2)
        self.frames.copy_(window[:, :, 1:])
        x = torch.relu(self.first(window))
        window = torch.cat([self.features, x], 2)
        self.features.copy_(window[:, :, 1:])
        x = torch.tanh(self.second(window)).squeeze(2)
        self.mean.mul_(0.75).add_(x, alpha=0.25)
        return self.last(self.mean)


class Attention(nn.Module):
    """A block of a transformer, [1, 5, 8] to [1, 5, 8]."""

    def __init__(self):
        super().__init__()
        self.norm, self.after = nn.LayerNorm(8), nn.LayerNorm(8)
        self.into, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.wide, self.narrow = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, tokens):
        q, k, v = self.into(self.norm(tokens)).reshape(1, 5, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        x = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(1, 5, 8)
        x = tokens + self.out(x)
        return x + self.narrow(functional.gelu(self.wide(self.after(x))))


def exported(model, inputs):
    """Without the lines of this machine's files, and the same bytes each time."""
    program = torch.export.export(model, inputs)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return repacked(buffer.getvalue(), "model")


def scripted(model):
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.freeze(torch.jit.script(model)), buffer)
    return repacked(buffer.getvalue(), "archive")


def repacked(archive, root):
    """The files of an archive that a reader needs, with a constant date."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            inside = name.split("/", 1)[1]
            if inside.endswith(".debug_pkl") or "sample_inputs" in inside or inside.startswith(".data"):
                continue
            new.writestr(zipfile.ZipInfo(f"{root}/{inside}", (2026, 1, 1, 0, 0, 0)), old.read(name))
    return out.getvalue()


def as_onnx(model, inputs):
    model = torch.onnx.export(model, inputs, external_data=False).model_proto
    for part in [model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output]:
        del part.metadata_props[:]  # lines of this machine's files
    return model.SerializeToString()


def record(name, model, shape):
    model = model.eval()
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.uniform_(-0.2, 0.2), layer.running_var.uniform_(0.5, 2)
        if isinstance(layer, nn.LayerNorm):
            nn.init.uniform_(layer.weight, 0.5, 1.5), nn.init.uniform_(layer.bias, -0.5, 0.5)
    files = {"pt2": exported(model, (torch.zeros(shape),)), "pt": scripted(model)}
    if not list(model.buffers(recurse=False)):
        files["onnx"] = as_onnx(model, (torch.zeros(shape),))
    inputs = torch.randn(CASES, *shape)
    with torch.no_grad():
        outputs = torch.stack([model(x).clone() for x in inputs])
    for ending, file in files.items():
        (FOLDER / f"{name}.{ending}").write_bytes(file)
    if name == "attention":  # make_jax.py's has the same weights
        np.savez_compressed(FOLDER / f"{name}.weights.npz", **{key: value.numpy() for key, value in model.state_dict().items()})
    np.savez_compressed(FOLDER / f"{name}.npz", in_0=inputs.numpy(), out_0=outputs.numpy())
    print(name, {ending: len(file) for ending, file in files.items()})


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(7)
    record("image", Image(), (1, 2, 8, 8))
    record("recurrent", Recurrent(), (1, 6, 4))
    record("stream", Stream(), (1, 3, 1))
    record("attention", Attention(), (1, 5, 8))


if __name__ == "__main__":
    main()
