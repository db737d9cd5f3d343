#!/usr/bin/env python3
"""Trains a recurrent network in JAX and writes everything this example commits. A minute on one CPU core.

    python3.11 -m venv venv
    venv/bin/pip install jax==0.10.2 numpy==2.3.5 scikit-learn==1.9.1
    venv/bin/python train.py

    models/digits.mlir         as `jax.jit(network).lower(...).as_text()` writes it: float32[1, 8, 8] -> float32[1, 10]
    models/digits.jaxexport    the same from `jax.export`
    data/digits.npz            in_0: images that training never saw, ink of 0..1; labels; out_0: JAX's outputs for them

A gated recurrent unit reads an image of 8x8 pixels from top to bottom, a row at each step of `lax.scan`, behind a convolution along the row. The data is
scikit-learn's copy of "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak; UCI, CC BY 4.0), the last 360 images held out. Seeds are
fixed: on one machine, the files come out the same.
"""
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
FEATURES, UNITS = 8, 32
EPOCHS, BATCH = 100, 64


def network(weights, images):
    """[n, 8, 8], ink of 0..1, to [n, 10] logits."""
    x = lax.conv_general_dilated(images, weights["conv"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    # The convolution runs down the image: 8 pixels of 3 rows make the features of a row.
    rows = jax.nn.relu(x + weights["conv_bias"]).transpose(1, 0, 2)

    def cell(hidden, row):
        gates = row @ weights["into"] + weights["bias"]
        again = hidden @ weights["again"]
        update, reset = jnp.split(jax.nn.sigmoid(gates[:, : 2 * UNITS] + again[:, : 2 * UNITS]), 2, axis=1)
        new = jnp.tanh(gates[:, 2 * UNITS :] + reset * again[:, 2 * UNITS :])
        return update * hidden + (1 - update) * new, None

    hidden, _ = lax.scan(cell, jnp.zeros((images.shape[0], UNITS)), rows)
    return hidden @ weights["last"] + weights["last_bias"]


def initial(key):
    shapes = {"conv": (3, 8, FEATURES), "into": (FEATURES, 3 * UNITS), "again": (UNITS, 3 * UNITS), "last": (UNITS, 10)}
    keys = jax.random.split(key, len(shapes))
    weights = {name: jax.random.normal(k, shape) / np.sqrt(np.prod(shape[:-1])) for (name, shape), k in zip(shapes.items(), keys)}
    return weights | {"conv_bias": jnp.zeros(FEATURES), "bias": jnp.zeros(3 * UNITS), "last_bias": jnp.zeros(10)}


def loss(weights, images, labels):
    scores = jax.nn.log_softmax(network(weights, images))
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean() + 1e-4 * sum((w**2).sum() for w in jax.tree.leaves(weights))


@jax.jit
def step(weights, moments, count, images, labels):
    """Adam (D. Kingma, J. Ba, 2015)."""
    gradients = jax.grad(loss)(weights, images, labels)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], gradients)
    rate = 5e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    return jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, first, second), (first, second)


def main():
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # names of files without their folders
    data = load_digits()
    images, labels = (data.images / 16).astype(np.float32), data.target
    (train, train_labels), (test, test_labels) = (images[:-360], labels[:-360]), (images[-360:], labels[-360:])

    random = np.random.default_rng(1)
    weights = initial(jax.random.key(0))
    moments, count = (jax.tree.map(jnp.zeros_like, weights),) * 2, 0
    for _ in range(EPOCHS):
        for batch in np.array_split(random.permutation(len(train)), len(train) // BATCH):
            noisy = train[batch] + random.normal(0, 0.2, train[batch].shape).astype(np.float32)
            count += 1
            weights, moments = step(weights, moments, count, noisy, train_labels[batch])

    fixed = jax.jit(lambda image: network(weights, image))
    outputs = np.stack([np.asarray(fixed(image[None])) for image in test])
    print(f"{(outputs[:, 0].argmax(1) == test_labels).mean():.2%}, {sum(w.size for w in jax.tree.leaves(weights))} parameters")
    shape = jax.ShapeDtypeStruct((1, 8, 8), np.float32)
    (HERE / "models" / "digits.mlir").write_text(fixed.lower(shape).as_text())
    (HERE / "models" / "digits.jaxexport").write_bytes(bytes(export.export(fixed)(shape).serialize()))
    np.savez_compressed(HERE / "data" / "digits.npz", in_0=test[:, None], out_0=outputs, labels=test_labels.astype(np.uint8))


if __name__ == "__main__":
    main()
