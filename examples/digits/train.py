#!/usr/bin/env python3
"""Trains the digits network and writes everything this example commits. One minute on one CPU core.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 \\
                         tflite-micro==0.dev20261023182759
    venv/bin/python train.py

The data is scikit-learn's copy of the "Optical Recognition of Handwritten Digits" test set (E. Alpaydin and
C. Kaynak, UCI Machine Learning Repository, CC BY 4.0): 1797 images of 8x8 pixels, each pixel an ink count of 0..16.
The last 360 are held out. They are not shuffled first: neighbours in the file look alike, and a shuffled split would flatter.

    models/digits_f32.tflite    float32[1, 8, 8, 1] -> float32[1, 10]
    models/digits_int8.tflite   the same network in full integer: int8 in, int8 out, calibrated on the training images
    data/images.bin             the held-out images: 360 x 64 bytes, ink counts, row by row
    data/labels.bin             360 bytes, 0..9
    data/tflm.txt               how many of the held-out images TensorFlow Lite Micro gets right with each model
    golden/<model>.npz          in_0, out_0: its inputs and outputs on all of them (`cargo kiln validate`)

Seeds are fixed and TensorFlow runs its deterministic kernels, so on one machine the files come out the same every
time. Another CPU may round differently while training: then the weights, and all files with them, change a little.
"""
import os
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from scipy.ndimage import affine_transform
from sklearn.datasets import load_digits
from tflite_micro import runtime

HERE = Path(__file__).resolve().parent
HELD_OUT = 360
INK = 16.0  # full black
SEED = 8
EPOCHS = 20
BENT_COPIES = 7


def network():
    """A MobileNet in miniature: convolutions of all three kinds, both poolings, dense, softmax. 5,866 weights once the batch
    normalisation is folded."""
    conv = dict(padding="same", use_bias=False)
    block = lambda: [layers.BatchNormalization(), layers.ReLU()]
    return keras.Sequential([
        layers.Input((8, 8, 1), name="image"),
        layers.Conv2D(16, 3, **conv), *block(),
        layers.DepthwiseConv2D(3, **conv), *block(),
        layers.Conv2D(32, 1, **conv), *block(),
        layers.MaxPooling2D(2),
        layers.DepthwiseConv2D(3, **conv), *block(),
        layers.Conv2D(64, 1, **conv), *block(),
        layers.AveragePooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(10, activation="softmax"),
    ])


def bent(images, rng):
    """Every image once more, a little turned, stretched and slanted: handwriting of people who were not asked."""
    result = []
    for image in images[..., 0]:
        matrix = np.eye(2) + rng.uniform(-0.2, 0.2, (2, 2))
        offset = np.array([3.5, 3.5]) - matrix @ (np.array([3.5, 3.5]) + rng.uniform(-0.5, 0.5, 2))
        result.append(affine_transform(image, matrix, offset, order=1))
    return np.stack(result)[..., None]


def train(images, labels):
    rng = np.random.default_rng(SEED)
    images = np.concatenate([images] + [bent(images, rng) for _ in range(BENT_COPIES)])
    labels = np.tile(labels, BENT_COPIES + 1)
    model = network()
    steps = EPOCHS * -(-len(images) // 32)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, steps)),
                  "sparse_categorical_crossentropy")
    model.fit(images, labels, batch_size=32, epochs=EPOCHS, verbose=0)
    return model


def convert(model, calibration=None):
    """The TFLite file: float32, or full integer with the ranges seen on the calibration images."""
    spec = tf.TensorSpec([1, 8, 8, 1], tf.float32, name="image")
    function = tf.function(lambda image: model(image, training=False)).get_concrete_function(spec)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    if calibration is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[None]] for image in calibration)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def run_tflm(tflite, images):
    """Inputs and outputs of TensorFlow Lite Micro's reference kernels, one case per image."""
    interpreter = runtime.Interpreter.from_bytes(tflite, arena_size=1 << 20)
    details = interpreter.get_input_details(0)
    inputs = images[:, None]
    if details["dtype"] == np.int8:
        # As kiln's `quantize`: nearest, ties away from zero (the inputs are not negative).
        scale, zero = details["quantization_parameters"]["scales"][0], details["quantization_parameters"]["zero_points"][0]
        quantized = np.floor(inputs.astype(np.float32) / np.float32(scale) + np.float32(0.5)) + zero
        inputs = np.clip(quantized, -128, 127).astype(np.int8)
    outputs = []
    for case in inputs:
        interpreter.set_input(case, 0)
        interpreter.invoke()
        outputs.append(np.array(interpreter.get_output(0)))
    return inputs, np.stack(outputs)


def main():
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    for folder in ["models", "data", "golden"]:
        (HERE / folder).mkdir(exist_ok=True)

    digits = load_digits()
    images = (digits.images / INK).astype(np.float32)[..., None]
    labels = digits.target
    train_x, test_x = images[:-HELD_OUT], images[-HELD_OUT:]
    train_y, test_y = labels[:-HELD_OUT], labels[-HELD_OUT:]
    (HERE / "data/images.bin").write_bytes(digits.images[-HELD_OUT:].astype(np.uint8).tobytes())
    (HERE / "data/labels.bin").write_bytes(test_y.astype(np.uint8).tobytes())

    model = train(train_x, train_y)
    correct = lambda scores: int((scores.reshape(HELD_OUT, 10).argmax(1) == test_y).sum())
    report = lambda name, n: print(f"{name:28} {n} of {HELD_OUT} right, {100 * n / HELD_OUT:.2f} %")
    print(f"{model.count_params()} parameters, trained on {len(train_x)} images")
    report("Keras, float32", correct(model.predict(test_x, verbose=0)))

    recorded = []
    for name, calibration in [("digits_f32", None), ("digits_int8", train_x)]:
        tflite = convert(model, calibration)
        inputs, outputs = run_tflm(tflite, test_x)
        (HERE / f"models/{name}.tflite").write_bytes(tflite)
        np.savez_compressed(HERE / f"golden/{name}.npz", in_0=inputs, out_0=outputs)
        report(f"TFLite Micro, {name}", correct(outputs))
        recorded.append(f"{name} {correct(outputs)}\n")
        print(f"{'':28} {len(tflite)} bytes, input {inputs.dtype}{list(inputs.shape[1:])}")
    (HERE / "data/tflm.txt").write_text("".join(recorded))


if __name__ == "__main__":
    main()
