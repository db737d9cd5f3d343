#!/usr/bin/env python3
"""Readings of an accelerometer as scipy filters and resamples them.

    python3.11 -m venv venv
    venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    venv/bin/python make.py

writes golden.npz: `readings`, of i16 with three axes, one step being 4 g / 32768; for each filter `<name>.sos`, `<name>.silent` and `<name>.settled`, what is behind it if silence came before, and if the
first reading came before; for each resampler `<name>.taps`, one row for each tap of a sample, and `<name>.resampled`.
"""
import pathlib

import numpy as np
from scipy import signal

COUNT = 150
RATE = 50


def readings():
    """Steps of someone who walks, on a device that is held at an angle."""
    random = np.random.default_rng(5)
    t = np.arange(COUNT) / RATE
    step = np.stack([0.3 * np.sin(2 * np.pi * 1.8 * t + phase) ** 3 for phase in (0, 1, 2.5)], axis=1)
    return np.round((step + [0.2, -0.5, 0.8] + 0.02 * random.normal(size=(COUNT, 3))) * 8192).astype(np.int16)


FILTERS = {
    "gravity": signal.butter(1, 0.5, "highpass", fs=RATE, output="sos"),
    "walking": signal.butter(2, [0.7, 3.5], "bandpass", fs=RATE, output="sos"),
    "smooth": signal.butter(3, 5, fs=RATE, output="sos"),
    "mains": signal.tf2sos(*signal.iirnotch(16.7, 20, fs=RATE)),
    "steep": signal.ellip(7, 0.5, 60, 10, fs=RATE, output="sos"),
}
RATIOS = [(1, 2), (1, 5), (2, 1), (3, 2), (2, 3), (5, 4), (10, 13), (25, 52)]


def taps(up, down):
    """The filter of resample_poly, with zeros behind it up to a whole number of rows."""
    most = max(up, down)
    taps = up * signal.firwin(20 * most + 1, 1 / most, window=("kaiser", 5.0))
    return np.pad(taps, (0, -len(taps) % up)).reshape(-1, up)


def main():
    steps = readings()
    # What the resampler gets is in float32, as here.
    samples = (steps * np.float32(4 / 32768)).astype(np.float64)
    arrays = {"readings": steps}
    for name, sos in FILTERS.items():
        first = signal.sosfilt_zi(sos)[:, :, None] * samples[0]
        arrays[f"{name}.sos"] = sos
        arrays[f"{name}.silent"] = signal.sosfilt(sos, samples, axis=0)
        arrays[f"{name}.settled"] = signal.sosfilt(sos, samples, axis=0, zi=first)[0]
    for up, down in RATIOS:
        name = f"{up}_{down}"
        arrays[f"{name}.taps"] = taps(up, down)
        results = signal.upfirdn(arrays[f"{name}.taps"].ravel(), samples, up, down, axis=0)
        # Those of samples that are there.
        arrays[f"{name}.resampled"] = results[: -(-COUNT * up // down)]
    single = {name: array if array.dtype == np.int16 else array.astype(np.float32, order="C") for name, array in arrays.items()}
    np.savez_compressed(pathlib.Path(__file__).parent / "golden.npz", **single)


main()
