#!/usr/bin/env python3
"""Trains a network that takes one sample of a smartwatch at a time, and exports it with torch.export. Two minutes on one CPU core.

    venv/bin/python stream.py        # the environment of train.py

    models/stream_f32.pt2    float32[1, 6] -> float32[1, 7]: a sample, accelerations and turning rates, to a score of each exercise.
                             What came before is in the model's buffers.
    data/stream.npz          in_0, out_0: windows of the training set, sample by sample, and PyTorch's outputs: to calibrate with, and to compare with

Data and split are those of `exercises` in train.py. The network is trained on whole windows, and exported step by step: `Causal` holds the samples
that its next convolution needs, and `Stream.mean` fades.
"""
import io
import zipfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from train import HERE, SEED, exercises, trained

WINDOWS = 20
FADING = 0.03


class Causal(nn.Module):
    """A depthwise convolution that sees this step and two before it, `dilation` apart."""

    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, dilation=dilation, groups=channels)
        self.register_buffer("history", torch.zeros(1, channels, 2 * dilation))

    def forward(self, x):
        """[n, channels, steps] from a beginning of zeros."""
        return self.conv(functional.pad(x, (self.history.shape[2], 0)))

    def step(self, x):
        """[1, channels, 1]"""
        window = torch.cat([self.history, x], 2)
        self.history.copy_(window[:, :, 1:])
        return self.conv(window)


class Stream(nn.Module):
    """[n, 6, steps] to seven logits behind the last step."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(6, 32, 1)
        self.causal = nn.ModuleList(Causal(32, dilation) for dilation in (1, 2, 4, 8))
        self.mixed = nn.ModuleList(nn.Conv1d(32, 32, 1) for _ in self.causal)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(32, 7)
        self.register_buffer("mean", torch.zeros(1, 32))

    def features(self, x, causal):
        x = torch.relu(self.first(x))
        for conv, mixed in zip(causal, self.mixed):
            x = x + self.drop(torch.relu(mixed(torch.relu(conv(x)))))
        return x

    def forward(self, motion):
        x = self.features(motion, self.causal)
        steps = x.shape[2]
        weights = FADING * (1 - FADING) ** torch.arange(steps - 1, -1, -1)
        return self.last((x * weights).sum(2))


class Step(nn.Module):
    """The same network for one sample, [1, 6]."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream

    def forward(self, motion):
        stream = self.stream
        x = stream.features(motion.unsqueeze(2), [causal.step for causal in stream.causal]).squeeze(2)
        stream.mean.lerp_(x, FADING)
        return stream.last(stream.mean)


def export(model, inputs, path):
    """As `torch.export.save` writes it, without the lines of this machine's files, and with a constant date."""
    program = torch.export.export(model, inputs)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            if "/.data" not in name and "sample_inputs" not in name:
                new.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), old.read(name))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    (train, train_labels), (test, labels) = exercises()
    stream = trained(Stream(), train, train_labels, 30, 0.4)
    with torch.no_grad():
        right = int((stream(torch.from_numpy(test)).argmax(1).numpy() == labels).sum())
    print(f"{right} of {len(test)}, {right / len(test):.2%}, {sum(p.numel() for p in stream.parameters())} parameters")

    step = Step(stream).eval()
    export(step, (torch.zeros(1, 6),), HERE / "models" / "stream_f32.pt2")
    picked = np.sort(np.random.default_rng(SEED).choice(len(train), WINDOWS, replace=False))
    inputs = torch.from_numpy(train[picked].transpose(0, 2, 1).reshape(-1, 1, 6).copy())
    with torch.no_grad():
        outputs = torch.stack([step(sample).clone() for sample in inputs])
    np.savez_compressed(HERE / "data" / "stream.npz", in_0=inputs.numpy(), out_0=outputs.numpy())


if __name__ == "__main__":
    main()
