#!/usr/bin/env python3
"""Trains the detector of "hey kiln" on speech that data.py makes, and writes the network. Ten minutes on a CPU core.

    venv/bin/pip install torch==2.11.0 torchaudio==2.11.0     # the environment of data.py
    venv/bin/python train.py FOLDER
    cargo kiln quantize FOLDER/wake_word_f32.pt2 --calibration FOLDER/calibration.npz --io quantized -o models/wake_word_int8.onnx

    FOLDER/wake_word_f32.pt2    float32[1, 35, 40] -> float32[1, 1]: rows of features to the probability that the word has just ended
    FOLDER/calibration.npz      in_0: windows of the training set
    golden/features.bin         torchaudio's features of the first committed clip: rows of 40 little-endian f32
    golden/probabilities.txt    the float network's probabilities for each window of each clip

It prints misses and false accepts of the validation voices by threshold; detector/src/lib.rs has the threshold. Seeds are fixed. Another CPU may
round differently while training, and the weights change a little.
"""
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torchaudio
from torch import nn
from torch.nn import functional

import data
from data import HERE, RATE, Speaker

# Features: as in detector/src/lib.rs.
WINDOW, HOP, BANDS, OFFSET = 512, 480, 40, 1e-5
ROWS = 35
CHANNELS, EPOCHS, BATCH = 64, 13, 128
SCENES, SCENE_ROWS = 20_000, 86
SCENE = (SCENE_ROWS - 1) * HOP + WINDOW
AVERAGED = 4

MEL = torchaudio.transforms.MelSpectrogram(RATE, n_fft=WINDOW, hop_length=HOP, n_mels=BANDS, f_min=60.0, f_max=7600.0, center=False)


def features(samples):
    """[rows, bands]"""
    return torch.log(MEL(torch.as_tensor(samples)) + OFFSET).T


class Network(nn.Module):
    """Convolutions along time, without padding: Kiln keeps the rows that they still need (`input = "sliding"`)."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(BANDS, CHANNELS, 3)
        layers = [nn.BatchNorm1d(CHANNELS), nn.ReLU()]
        for size in (5, 7, 9, 9):
            layers += [nn.Conv1d(CHANNELS, CHANNELS, size, groups=CHANNELS, bias=False), nn.BatchNorm1d(CHANNELS), nn.ReLU()]
            layers += [nn.Conv1d(CHANNELS, CHANNELS, 1, bias=False), nn.BatchNorm1d(CHANNELS), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Conv1d(CHANNELS, 1, 7)

    def logits(self, rows):
        """[n, rows, bands] to [n, windows]"""
        return self.last(self.drop(self.body(self.first(rows.transpose(1, 2))))).squeeze(1)

    def forward(self, rows):
        return torch.sigmoid(self.logits(rows))


def targets(end):
    """For each window of a scene: 1 where the word has just ended, NaN around that."""
    last = (np.arange(SCENE_ROWS - ROWS + 1) + ROWS - 1) * HOP + WINDOW
    behind = (last - end) / RATE
    wanted = np.zeros(len(last), np.float32)
    wanted[(behind > -0.15) & (behind < 0.5)] = np.nan
    wanted[(behind >= 0) & (behind <= 0.2)] = 1
    return wanted


def scenes(count, speaker, words, alike, sentences):
    rng, x, y = speaker.rng, [], []
    others = alike + sentences
    for k in range(count):
        kind = rng.random()
        end = np.inf
        if kind < 0.45:
            end = int(rng.uniform(1.1, 2.35) * RATE)
            sound = data.with_wake_word(rng, words[k % len(words)], others, SCENE, end)
        elif kind < 0.8:
            sound = data.stream(rng, [alike[int(rng.integers(len(alike)))] for _ in range(4)], SCENE)
        elif kind < 0.97:
            sound = data.stream(rng, [others[int(rng.integers(len(others)))] for _ in range(4)], SCENE)
        else:
            sound = np.zeros(SCENE, np.float32)
        x.append(features(data.recorded(rng, sound, sentences, 0)))
        y.append(targets(end))
    return torch.stack(x), torch.from_numpy(np.stack(y))


def speech(speaker, words, alike, sentences):
    return ([speaker.wake_word() for _ in range(words)], [speaker.alike() for _ in range(alike)], [speaker.sentence() for _ in range(sentences)])


def train(x, y):
    model = Network()
    # Normalised features while training; below, the first layer takes them as they are.
    flat = x.reshape(-1, BANDS)
    mean, deviation = flat.mean(0), flat.std(0)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
    steps = EPOCHS * (len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    for epoch in range(EPOCHS):
        started, total = time.time(), 0.0
        for batch in torch.randperm(len(x)).split(BATCH)[:len(x) // BATCH]:
            rows, wanted = (x[batch] - mean) / deviation, y[batch]
            # Whole bands of the spectrum are missing from time to time.
            low = torch.randint(0, BANDS - 6, ())
            rows[:: 4, :, low:low + torch.randint(1, 7, ())] = 0
            sure = ~torch.isnan(wanted)
            loss = functional.binary_cross_entropy_with_logits(model.logits(rows)[sure], wanted[sure], pos_weight=torch.tensor(1.5))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / (len(x) // BATCH):.4f}, {time.time() - started:.0f} s", flush=True)
    with torch.no_grad():
        first = model.first
        first.weight /= deviation[None, :, None]
        first.bias -= (first.weight * mean[None, :, None]).sum((1, 2))
    return model.eval()


def averaged(probabilities):
    """The largest average of AVERAGED neighbours."""
    return np.convolve(probabilities, np.ones(AVERAGED) / AVERAGED, "valid").max()


def validate(model):
    """Misses and false accepts of the validation voices, by threshold; a recording counts once."""
    speaker = Speaker("validation", 2)
    rng = speaker.rng
    sentences = [speaker.sentence() for _ in range(400)]
    with torch.no_grad():
        score = lambda sound: averaged(model(features(data.recorded(rng, sound, sentences, 5))[None])[0].numpy())
        around = lambda said: score(data.with_wake_word(rng, said, sentences, int(2.4 * RATE), int(rng.uniform(1.5, 1.9) * RATE)))
        heard = np.array([around(speaker.wake_word()) for _ in range(400)])
        alike = np.array([around(speaker.alike()) for _ in range(1000)])
        others = np.array([score(data.stream(rng, [speaker.pick(sentences) for _ in range(4)], 6 * RATE)) for _ in range(600)])
    for threshold in [0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98]:
        print(f"threshold {threshold}: {np.sum(heard < threshold)} of {len(heard)} missed; false accepts of {np.sum(alike >= threshold)} of {len(alike)} "
              f"that sound alike, {np.sum(others >= threshold)} in an hour of other speech")


def golden(model):
    """Features of the first clip, and the float network's probabilities for each window of each."""
    (HERE / "golden").mkdir(exist_ok=True)
    lines = []
    for path in sorted((HERE / "clips").glob("*/*.wav")):
        samples = np.frombuffer(path.read_bytes()[44:], "<i2").astype(np.float32) / 32768
        rows = features(samples)
        if not lines:
            (HERE / "golden/features.bin").write_bytes(rows.numpy().astype("<f4").tobytes())
        with torch.no_grad():
            probabilities = model(rows[None])[0].numpy()
        lines.append(f"{path.parent.name}/{path.stem} " + " ".join(f"{probability:.4f}" for probability in probabilities))
    (HERE / "golden/probabilities.txt").write_text("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(data.SEED)

    started = time.time()
    speaker = Speaker("training", 1)
    heard = speech(speaker, 3000, 6000, 1600)
    print(f"spoken: {time.time() - started:.0f} s", flush=True)
    x, y = scenes(SCENES, speaker, *heard)
    print(f"{len(x)} scenes: {time.time() - started:.0f} s", flush=True)
    model = train(x, y)
    torch.save(model.state_dict(), folder / "weights.pt")

    windows = torch.stack([x[k, at:at + ROWS] for k, at in zip(range(0, SCENES, SCENES // 800), np.random.default_rng(data.SEED).integers(0, SCENE_ROWS - ROWS, 800))])
    np.savez_compressed(folder / "calibration.npz", in_0=windows[:, None].numpy())
    torch.export.save(torch.export.export(model, (torch.zeros(1, ROWS, BANDS),)), folder / "wake_word_f32.pt2")
    golden(model)
    validate(model)


if __name__ == "__main__":
    main()
