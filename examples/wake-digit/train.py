#!/usr/bin/env python3
"""Trains a detector of one handwritten digit in a stream of rows, and writes everything this example commits.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scikit-learn==1.9.1 \\
                         tflite-micro==0.dev20261023182759
    venv/bin/python train.py

The data is scikit-learn's copy of the "Optical Recognition of Handwritten Digits" test set (E. Alpaydin and C. Kaynak, UCI Machine
Learning Repository, CC BY 4.0). Its images of 8x8 pixels are written one below the other on an endless strip, with 2 to 8 blank rows
between them, and the strip is read row by row: each row is a frame, as the 40 energies of 20 ms of sound are to a wake-word model.
The last 360 images are held out and make a strip of their own.

    models/wake_digit_int8.tflite   int8[1, 10, 8, 1] -> int8[1, 1]: the probability that the wake digit has just been completed
    data/strip.bin                  the held-out strip: 8 bytes of ink (0..16) a row
    data/ends.bin                   for each image on it: its last row (little-endian u16) and its digit (u16)
    data/tflm.txt                   rows at which the detector reports, fed with TensorFlow Lite Micro's outputs for each window
    golden/wake_digit_int8.npz      in_0, out_0: TensorFlow Lite Micro's inputs and outputs for the first windows (`cargo kiln validate`)

Seeds are fixed; another CPU may round differently while training, and all files with it change a little.
"""
import os
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
HELD_OUT = 360
INK = 16.0
SEED = 8
EPOCHS = 12
WAKE_DIGIT = 0
ROWS = 10  # of a window: a digit and two rows
# The detector, as in firmware/src/main.rs.
AVERAGED, THRESHOLD, REFRACTORY = 2, 0.75, 6


def strip_of(images, labels, rng):
    """The rows of a strip, and of each image on it: its last row and its label."""
    rows, ends = [np.zeros((ROWS, 8))], []
    length = ROWS
    for image, label in zip(images, labels):
        gap = int(rng.integers(2, 9))
        rows += [image, np.zeros((gap, 8))]
        ends.append((length + 7, label))
        length += 8 + gap
    return np.concatenate(rows), ends


def windows_of(strip):
    """Every window of the strip; window k ends with row k + ROWS - 1."""
    return np.stack([strip[k:k + ROWS] for k in range(len(strip) - ROWS + 1)])[..., None]


def targets_of(ends, count):
    """1 where a window holds all of the wake digit: that ended 0 to 2 rows ago. NaN one row around that, where either answer is fine."""
    targets = np.zeros(count)
    for end, label in ends:
        if label == WAKE_DIGIT:
            last = end - (ROWS - 1)
            for k, value in [(-1, np.nan), (0, 1), (1, 1), (2, 1), (3, np.nan)]:
                if 0 <= last + k < count:
                    targets[last + k] = value
    return targets


def network():
    """Convolutions over time, without padding along the rows: what Kiln turns into rings for `input = "sliding"`."""
    conv = lambda filters, size: [layers.Conv2D(filters, size, use_bias=False), layers.BatchNormalization(), layers.ReLU()]
    return keras.Sequential([
        layers.Input((ROWS, 8, 1), name="window"),
        *conv(16, (3, 8)),
        *conv(24, (3, 1)),
        *conv(24, (3, 1)),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(1, activation="sigmoid"),
    ])


def train(images, labels):
    rng = np.random.default_rng(SEED)
    x, y = [], []
    for _ in range(6):
        order = rng.permutation(len(images))
        strip, ends = strip_of(images[order], labels[order], rng)
        windows = windows_of(strip)
        targets = targets_of(ends, len(windows))
        sure = ~np.isnan(targets)
        x.append(windows[sure])
        y.append(targets[sure])
    x, y = np.concatenate(x).astype(np.float32), np.concatenate(y).astype(np.float32)
    model = network()
    steps = EPOCHS * -(-len(x) // 256)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps)), "binary_crossentropy")
    model.fit(x, y, batch_size=256, epochs=EPOCHS, verbose=0)
    return model, x


def convert(model, calibration):
    spec = tf.TensorSpec([1, ROWS, 8, 1], tf.float32, name="window")
    function = tf.function(lambda window: model(window, training=False)).get_concrete_function(spec)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([window[None]] for window in calibration)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def run_tflm(tflite, windows):
    """Quantised windows, and TensorFlow Lite Micro's outputs for them."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(tflite, arena_size=1 << 20)
    parameters = interpreter.get_input_details(0)["quantization_parameters"]
    scale, zero = parameters["scales"][0], parameters["zero_points"][0]
    # As kiln's `quantize`: nearest, ties away from zero (the inputs are not negative).
    inputs = np.clip(np.floor(windows.astype(np.float32) / np.float32(scale) + np.float32(0.5)) + zero, -128, 127)
    inputs = inputs.astype(np.int8)[:, None]
    outputs = []
    for window in inputs:
        interpreter.set_input(window, 0)
        interpreter.invoke()
        outputs.append(np.array(interpreter.get_output(0)))
    return inputs, np.stack(outputs)


def reports(outputs):
    """The rows at which the detector reports: the average of the last outputs reaches the threshold, and none was reported lately."""
    held, quiet, found = [], 0, []
    for k, output in enumerate(outputs.reshape(-1)):
        held = (held + [(int(output) + 128) / 256])[-AVERAGED:]
        if quiet > 0:
            quiet -= 1
        elif len(held) == AVERAGED and sum(held) >= THRESHOLD * AVERAGED:
            found.append(k + ROWS - 1)
            held, quiet = [], REFRACTORY
    return found


def main():
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    for folder in ["models", "data", "golden"]:
        (HERE / folder).mkdir(exist_ok=True)

    digits = load_digits()
    images, labels = digits.images, digits.target
    model, x = train(images[:-HELD_OUT] / INK, labels[:-HELD_OUT])
    print(f"{model.count_params()} parameters, trained on {len(x)} windows")
    tflite = convert(model, x[np.random.default_rng(SEED).permutation(len(x))[:2000]])
    (HERE / "models/wake_digit_int8.tflite").write_bytes(tflite)

    strip, ends = strip_of(images[-HELD_OUT:], labels[-HELD_OUT:], np.random.default_rng(SEED + 1))
    (HERE / "data/strip.bin").write_bytes(strip.astype(np.uint8).tobytes())
    (HERE / "data/ends.bin").write_bytes(np.array(ends, "<u2").tobytes())
    inputs, outputs = run_tflm(tflite, windows_of(strip / INK))
    np.savez_compressed(HERE / "golden/wake_digit_int8.npz", in_0=inputs[:200], out_0=outputs[:200])
    found = reports(outputs)
    (HERE / "data/tflm.txt").write_text("".join(f"{row}\n" for row in found))

    wake = [end for end, label in ends if label == WAKE_DIGIT]
    right = [row for row in found if any(0 <= row - end <= 4 for end in wake)]
    print(f"{len(strip)} rows, {len(ends)} digits, {len(wake)} of them the wake digit: "
          f"{len(right)} heard, {len(found) - len(right)} false alarms; {len(tflite)} bytes")


if __name__ == "__main__":
    main()
