#!/usr/bin/env python3
"""Trains the small networks of this folder on real data and records TFLite Micro's outputs. A few minutes on one CPU core.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 \\
                         tflite-micro==0.dev20261023182759 ai-edge-litert==2.3.0
    venv/bin/python make_networks.py && venv/bin/python make_ops.py

    residual    8x8 digits; adds, gates, splits, slices, concatenations and transposes between its convolutions
    temporal    the same digits as sequences of eight pen rows; dilated 1-D convolutions over time
    stream      the network of `temporal`'s kind as a streaming model: one row per step, history in resource variables
    autoencoder digits through a bottleneck of 8 numbers and back; the output is the image
    diabetes    regression from 10 body measurements; full integer with float edges, and uint8 edges
    cancer      tumour classification from 30 measurements of cell nuclei

All data comes with scikit-learn: `load_digits` (UCI Optical Recognition of Handwritten Digits, CC BY 4.0), `load_diabetes`
(Efron et al. 2004), `load_breast_cancer` (UCI Breast Cancer Wisconsin Diagnostic, CC BY 4.0). Every fifth sample is held
out; golden cases are held-out samples, and a few random and extreme inputs. Seeds are fixed and TensorFlow's kernels deterministic.
"""
import sys

import numpy as np
from common import convert, describe, quantized, random_cases, update_manifest, write

import keras
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

REAL_CASES, RANDOM_CASES, STEPS = 20, 5, 12


def held_out(x, y):
    """((training inputs, targets), (held-out inputs, targets)): every fifth sample is held out."""
    test = np.arange(len(x)) % 5 == 0
    return (x[~test], y[~test]), (x[test], y[test])


def digits():
    data = load_digits()
    return held_out((data.images / 16).astype(np.float32)[..., None], data.target)


def fit(model, train, epochs, loss="sparse_categorical_crossentropy", rate=3e-3):
    steps = epochs * -(-len(train[0]) // 32)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(rate, steps)), loss)
    model.fit(*train, batch_size=32, epochs=epochs, verbose=0)
    return model


def accuracy(scores, labels):
    right = int((scores.reshape(len(labels), -1).argmax(1) == labels).sum())
    return f"{right} of {len(labels)} right"


def save(name, tflite, real, data):
    """Writes a stateless model, whose golden cases are held-out samples followed by random ones."""
    tensor = describe(tflite)[0][0]
    cases = quantized(real[:REAL_CASES, None].reshape(-1, *tensor[1]), tensor)
    cases = np.concatenate([cases, random_cases(tensor, np.random.default_rng([4, *name.encode()]), RANDOM_CASES)])
    outputs, row = write(name, tflite, [cases], data)
    print(f"{name:20} {row['bytes']:6} bytes  {row['op_histogram']}", flush=True)
    return outputs[0][:REAL_CASES], row


def both(name, model, train, test, data):
    """The float32 and the int8 model of a Keras network."""
    spec, f = [1, *train[0].shape[1:]], lambda x: model(x, training=False)
    rows = []
    for kind, calibration in [("f32", None), ("int8", [[x[None]] for x in train[0][:300]])]:
        scores, row = save(f"{name}_{kind}", convert([spec], f, calibration), test[0], data)
        rows.append(row)
        if scores.shape[-1] == 10:
            print(f"{'':20} {accuracy(scores, test[1][:REAL_CASES])}")
    return rows


def residual():
    train, test = digits()
    image = layers.Input((8, 8, 1))
    x = layers.LeakyReLU(0.1)(layers.Conv2D(16, 3, padding="same")(image))
    y = layers.Conv2D(16, 3)(ops.pad(x, [[0, 0], [2, 0], [1, 1], [0, 0]]))
    x = ops.relu6(layers.BatchNormalization()(y) + x)
    gate, value = ops.split(x, 2, axis=-1)
    x = ops.concatenate([ops.sigmoid(gate) * ops.tanh(value), gate - value], axis=-1)
    x = ops.concatenate([layers.MaxPooling2D(2)(x), x[:, 1::2, ::2, :8]], axis=-1)
    x = x + ops.transpose(x, [0, 2, 1, 3])
    narrow, wide = ops.split(x, [8], axis=-1)
    narrow = layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2, activation="relu")(narrow)
    squeezed = layers.Dense(16, activation="sigmoid")(ops.mean(wide, axis=[1, 2]))
    x = layers.AveragePooling2D(2)(ops.concatenate([narrow, wide * ops.reshape(squeezed, [-1, 1, 1, 16])], axis=-1))
    out = layers.Dense(10, activation="softmax")(layers.Flatten()(x))
    return both("residual", fit(keras.Model(image, out), train, 15), train, test, "digits")


def temporal():
    (train_x, train_y), (test_x, test_y) = digits()
    model = keras.Sequential([
        layers.Input((8, 8)),
        layers.Conv1D(16, 3, padding="same", activation="relu"),
        layers.Conv1D(16, 3, dilation_rate=2, padding="causal", activation="relu"),
        layers.Conv1D(32, 2, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(10, activation="softmax"),
    ])
    train, test = (train_x[..., 0], train_y), (test_x[..., 0], test_y)
    return both("temporal", fit(model, train, 30), train, test, "digits, row by row")


class Stream(tf.Module):
    """`stream` as it runs: a row in, the scores of the last eight rows out. Each layer keeps the rows that its window reaches back to."""

    def __init__(self, model):
        super().__init__()
        first, second, dense = (model.get_layer(n) for n in ["first", "second", "scores"])
        self.weights = [[tf.constant(np.asarray(w)) for w in layer.get_weights()] for layer in [first, second, dense]]
        zeros = lambda name, rows, channels: tf.Variable(tf.zeros([1, rows, 1, channels]), name=name)
        self.rows, self.first, self.second = zeros("rows", 2, 8), zeros("first", 2, 16), zeros("second", 3, 16)

    def history(self, state, new):
        window = tf.concat([state, new], 1)
        state.assign(window[:, 1:])
        return window

    def __call__(self, row):
        (w1, b1), (w2, b2), (w3, b3) = self.weights
        x = tf.nn.relu(tf.nn.conv2d(self.history(self.rows, row), w1, 1, "VALID") + b1)
        x = tf.nn.relu(tf.nn.conv2d(self.history(self.first, x), w2, 1, "VALID") + b2)
        x = tf.reshape(self.history(self.second, x), [1, 4 * 16])
        return tf.nn.softmax(tf.matmul(x, w3) + b3)

    def reset(self):
        for v in self.variables:
            v.assign(tf.zeros_like(v))


def stream():
    (train_x, train_y), (test_x, test_y) = digits()
    rows = lambda x: x.transpose(0, 1, 3, 2)  # image as [8 rows, 1, 8 pixels]
    model = keras.Sequential([
        layers.Input((8, 1, 8)),
        layers.Conv2D(16, (3, 1), activation="relu", name="first"),
        layers.Conv2D(16, (3, 1), activation="relu", name="second"),
        layers.Flatten(),
        layers.Dense(10, activation="softmax", name="scores"),
    ])
    fit(model, (rows(train_x), train_y), 30)
    manifest = []
    for kind in ["f32", "int8"]:
        module = Stream(model)
        steps = [[r[None, None]] for image in rows(train_x)[:150] for r in image] if kind == "int8" else None
        tflite = convert([[1, 1, 1, 8]], module, steps, module=module)
        tensor = describe(tflite)[0][0]
        real = np.concatenate(rows(test_x)[:2])[:STEPS]  # one digit and the upper half of the next
        outputs, row = write(f"stream_{kind}", tflite, [quantized(real[:, None, None], tensor)], "digits, one row per step", sequence=True)
        manifest.append(row)
        print(f"stream_{kind:13} {row['bytes']:6} bytes  {row['op_histogram']}")
        print(f"{'':20} after 8 rows: {outputs[0][7].argmax()}, right is {test_y[0]}")
    return manifest


def autoencoder():
    (train_x, _), (test_x, _) = digits()
    train, test = (train_x.reshape(-1, 64),) * 2, (test_x.reshape(-1, 64),) * 2
    act = lambda n: layers.Dense(n, activation="relu")
    model = keras.Sequential([layers.Input((64,)), act(48), act(8), act(48), layers.Dense(64, activation="sigmoid")])
    return both("autoencoder", fit(model, train, 40, loss="mse"), train, test, "digits")


def standardised(data):
    x = (data.data - data.data.mean(0)) / data.data.std(0)
    return held_out(np.clip(x, -4, 4).astype(np.float32), data.target)


def cancer():
    train, test = standardised(load_breast_cancer())
    model = keras.Sequential([layers.Input((30,)), layers.Dense(16, activation="tanh"), layers.Dense(2, activation="softmax")])
    return both("cancer", fit(model, train, 20), train, test, "breast cancer")


def diabetes():
    data = load_diabetes()
    data.target = ((data.target - 152) / 77).astype(np.float32)
    train, test = standardised(data)
    model = keras.Sequential([layers.Input((10,)), layers.Dense(24, activation="leaky_relu"), layers.Dense(12, activation="relu6"), layers.Dense(1)])
    fit(model, train, 40, loss="mse")
    f, calibration = (lambda x: model(x, training=False)), [[x[None]] for x in train[0]]
    edges = {"floatedges": tf.float32, "uint8edges": tf.uint8}
    return [save(f"diabetes_{n}_int8", convert([[1, 10]], f, calibration, edge=e), test[0], "diabetes")[1] for n, e in edges.items()]


def main(words):
    tf.config.experimental.enable_op_determinism()
    rows = []
    for make in [residual, temporal, stream, autoencoder, cancer, diabetes]:
        if not words or make.__name__ in words:
            keras.utils.set_random_seed(8)
            rows += make()
    if not words:
        update_manifest(rows, keep=lambda name: name.startswith("op_"))


if __name__ == "__main__":
    main(sys.argv[1:])
