#!/usr/bin/env python3
"""Trains three float networks in PyTorch and writes everything this example commits but Kiln's own files. A few minutes on one CPU core.

    python3.11 -m venv venv
    venv/bin/pip install torch==2.15.0 onnx==1.22.0 onnxscript==0.7.2 onnxruntime==1.32.0 numpy==2.3.5 \\
                         scikit-learn==1.9.1 seglearn==1.2.5 aeon==1.6.0
    venv/bin/python train.py && (a venv for TensorFlow, see its header)/bin/python tflite.py

    digits     8x8 images of handwritten digits; depthwise-separable convolutions and a residual connection
    exercises  four seconds of a smartwatch's accelerometer and gyroscope (6 channels, 25 Hz); which of seven shoulder exercises
    speakers   two Japanese vowels as 25 frames of 12 cepstral coefficients; which of nine men speaks. Dilated, gated convolutions

    models/<name>_f32.onnx    as `torch.onnx.export` writes it
    data/<name>.npz           in_0: training samples to calibrate with; test_0, labels: samples training never saw;
                              logits: ONNX Runtime's outputs for them
    data/accuracy.csv         how many of the test samples ONNX Runtime gets right with the float network, and with its own quantiser's

The data comes in packages: scikit-learn's copy of "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak; UCI, CC BY 4.0), the last
360 images held out; seglearn's of shoulder physiotherapy exercises (D. Burns et al., "Shoulder physiotherapy exercise recognition: machine
learning the inertial signals from a smartwatch", 2018; BSD licence of the package), three of ten people held out; aeon's of "Japanese Vowels"
(M. Kudo, J. Toyama, M. Shimbo; UCI, CC BY 4.0), with the split it comes with. Seeds are fixed: on one machine, the files come out the same.
"""
import csv
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn
from torch.nn import functional

HERE = Path(__file__).resolve().parent
CALIBRATION = 128
SEED = 3


def block(conv):
    """A convolution with its batch normalisation and ReLU6."""
    return nn.Sequential(conv, nn.BatchNorm2d(conv.out_channels) if conv.weight.dim() == 4 else nn.BatchNorm1d(conv.out_channels), nn.ReLU6())


class Digits(nn.Module):
    """[1, 1, 8, 8], ink of 0..1, to ten logits."""

    def __init__(self):
        super().__init__()
        conv = lambda *args, **options: block(nn.Conv2d(*args, bias=False, **options))
        self.first = conv(1, 16, 3, padding=1)
        self.body = nn.Sequential(conv(16, 16, 3, padding=1, groups=16), conv(16, 16, 1))
        self.down = nn.Sequential(conv(16, 16, 3, padding=1, stride=2, groups=16), conv(16, 48, 1), nn.Dropout(0.2))
        self.last = nn.Linear(48, 10)

    def forward(self, image):
        x = self.first(image)
        x = self.down(x + self.body(x))
        return self.last(x.mean((2, 3)))


class Exercises(nn.Module):
    """[1, 6, 100], accelerations and turning rates scaled to a standard deviation of 1, to seven logits."""

    def __init__(self):
        super().__init__()
        conv = lambda *args, **options: block(nn.Conv1d(*args, bias=False, **options))
        self.body = nn.Sequential(
            conv(6, 24, 5, stride=2, padding=2),
            conv(24, 24, 5, padding=2, groups=24), conv(24, 32, 1), nn.MaxPool1d(2),
            conv(32, 32, 5, padding=2, groups=32), conv(32, 48, 1), nn.MaxPool1d(2),
            conv(48, 48, 3, padding=1), nn.Dropout(0.3),
        )
        self.last = nn.Linear(48, 7)

    def forward(self, motion):
        return self.last(self.body(motion).mean(2))


class Speakers(nn.Module):
    """[1, 12, 25], cepstral coefficients, to nine logits."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(12, 24, 1)
        self.content = nn.ModuleList(nn.Conv1d(24, 24, 3, padding=d, dilation=d) for d in (1, 2, 4))
        self.gate = nn.ModuleList(nn.Conv1d(24, 24, 3, padding=d, dilation=d) for d in (1, 2, 4))
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(24, 9)

    def forward(self, frames):
        x = self.first(frames)
        for content, gate in zip(self.content, self.gate):
            x = x + self.drop(torch.tanh(content(x)) * torch.sigmoid(gate(x)))
        return self.last(functional.relu(x).mean(2))


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    return (images[:-360], data.target[:-360]), (images[-360:], data.target[-360:])


def exercises():
    from seglearn.datasets import load_watch

    data = load_watch()
    held_out = (8, 9, 10)
    spread = np.concatenate(data["X"]).std(0)
    train, test = ([], []), ([], [])
    for series, label, subject in zip(data["X"], data["y"], data["subject"]):
        windows, labels = test if subject in held_out else train
        # 50 Hz to 25 Hz; what is held out overlaps by half, what is learnt from by three quarters.
        series = (series[: len(series) // 2 * 2] / spread).reshape(-1, 2, 6).mean(1)
        for start in range(0, len(series) - 100 + 1, 50 if subject in held_out else 25):
            windows.append(series[start : start + 100].T)
            labels.append(label)
    return tuple((np.round(np.array(windows, np.float32) * 512) / 512, np.array(labels)) for windows, labels in (train, test))


def speakers():
    from aeon.datasets import load_from_ts_file
    import aeon.datasets

    folder = Path(aeon.datasets.__file__).parent / "data" / "JapaneseVowels"
    sets = (load_from_ts_file(str(folder / f"JapaneseVowels_eq_{part}.ts")) for part in ("TRAIN", "TEST"))
    return tuple((frames.astype(np.float32), labels.astype(np.int64) - 1) for frames, labels in sets)


def trained(model, samples, labels, epochs, noise):
    """`noise` is the standard deviation of what is added to samples, that the network does not learn them by heart."""
    samples, labels = torch.from_numpy(samples), torch.from_numpy(labels.astype(np.int64))
    optimizer = torch.optim.AdamW(model.parameters(), 5e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        for batch in torch.randperm(len(samples)).split(64):
            optimizer.zero_grad()
            x = samples[batch]
            functional.cross_entropy(model(x + noise * torch.randn_like(x)), labels[batch], label_smoothing=0.05).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def logits(path, samples):
    """ONNX Runtime's, on one thread, one sample after the other."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options)
    name = session.get_inputs()[0].name
    return np.concatenate([session.run(None, {name: sample[None]})[0] for sample in samples])


class Samples(CalibrationDataReader):
    def __init__(self, name, samples):
        self.rest = iter([{name: sample[None]} for sample in samples])

    def get_next(self):
        return next(self.rest, None)


def quantized_by_onnx_runtime(path, samples, out):
    """As its documentation says: batch normalisations folded first, int8 activations and weights, one scale per channel."""
    prepared = out.with_suffix(".prepared.onnx")
    quant_pre_process(str(path), str(prepared))
    name = onnxruntime.InferenceSession(str(path)).get_inputs()[0].name
    quantize_static(str(prepared), str(out), Samples(name, samples), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)


def main():
    torch.set_num_threads(1)  # sums of several threads differ from run to run
    rows = []
    for name, module, data, epochs, noise in [("digits", Digits, digits, 40, 0.1), ("exercises", Exercises, exercises, 15, 0.2), ("speakers", Speakers, speakers, 60, 0.1)]:
        torch.manual_seed(SEED)
        (train, train_labels), (test, labels) = data()
        model = trained(module(), train, train_labels, epochs, noise)
        path = HERE / "models" / f"{name}_f32.onnx"
        torch.onnx.export(model, (torch.zeros(1, *train.shape[1:]),), path, external_data=False, input_names=["in"], output_names=["logits"])
        picked = np.random.default_rng(SEED).choice(len(train), CALIBRATION, replace=False)
        calibration = train[np.sort(picked)]

        outputs = logits(path, test)
        with tempfile.TemporaryDirectory() as folder:
            theirs = Path(folder) / "quantised.onnx"
            quantized_by_onnx_runtime(path, calibration, theirs)
            right = [int((out.argmax(1) == labels).sum()) for out in (outputs, logits(theirs, test))]
        np.savez_compressed(HERE / "data" / f"{name}.npz", in_0=calibration, test_0=test, labels=labels.astype(np.uint8), logits=outputs)
        rows.append([name, len(test), *right])
        print(*rows[-1], f"{right[0] / len(test):.2%} {right[1] / len(test):.2%}", sum(p.numel() for p in model.parameters()))
    with open(HERE / "data" / "accuracy.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["network", "samples", "float", "onnxruntime"], *rows])


if __name__ == "__main__":
    main()
