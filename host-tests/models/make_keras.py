#!/usr/bin/env python3
"""Small networks as Keras writes them, with Keras's outputs. Weights are random.

    python3.11 -m venv venv
    venv/bin/pip install keras==3.15.1 jax==0.10.2 h5py==3.16.0 numpy==2.3.5
    KERAS_BACKEND=jax venv/bin/python make_keras.py

writes each network to keras/: <name>.keras, <name>.h5 (the older form) and <name>.npz. A golden file has `in_k` and `out_k`, for the
k-th input and output; the first axis counts cases.
"""
import pathlib

import keras
import numpy as np
from keras import layers, ops

FOLDER = pathlib.Path(__file__).parent / "keras"
CASES = 4


def image():
    """[1, 8, 8, 2] to five probabilities: the layers of make_torch.py's, channel-last."""
    pixels = keras.Input((8, 8, 2), name="image")
    x = layers.Conv2D(8, 3, padding="same", use_bias=False)(pixels)
    x = layers.BatchNormalization(epsilon=1e-5)(x)
    x = layers.ReLU(6.0)(x)
    x = layers.MaxPooling2D()(x)
    y = layers.DepthwiseConv2D(3, padding="same")(x)
    y = layers.Conv2D(8, 1, activation="hard_swish")(y)
    x = layers.Add()([x, y])
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(pixels, layers.Dense(5, activation="softmax")(x), name="image")


def recurrent():
    """[1, 6, 4], six steps, to three numbers."""
    return keras.Sequential(
        [keras.Input((6, 4), name="steps"), layers.LSTM(5, return_sequences=True), layers.GRU(4), layers.Dense(3)], name="recurrent"
    )


def attention():
    """A block of a transformer, [1, 5, 8] to [1, 5, 8]: the layers of make_torch.py's."""
    tokens = keras.Input((5, 8), name="tokens")
    x = layers.Dense(24)(layers.LayerNormalization(epsilon=1e-5)(tokens))
    q, k, v = ops.unstack(ops.transpose(ops.reshape(x, (-1, 5, 3, 2, 4)), (2, 0, 3, 1, 4)), axis=0)
    weights = ops.softmax(ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / 2.0)
    x = ops.reshape(ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3)), (-1, 5, 8))
    x = layers.Add()([tokens, layers.Dense(8)(x)])
    y = layers.Dense(16, activation="gelu")(layers.LayerNormalization(epsilon=1e-5)(x))
    return keras.Model(tokens, layers.Add()([x, layers.Dense(8)(y)]), name="attention")


def record(name, model):
    random = np.random.default_rng(7)
    # Moving averages of a batch normalisation are not random by themselves; its variances are the last of its weights.
    model.set_weights([(weights + 0.3 * random.random(weights.shape)).astype(np.float32) for weights in model.get_weights()])
    inputs = random.standard_normal((CASES, 1, *model.input_shape[1:])).astype(np.float32)
    outputs = np.stack([np.asarray(model(x, training=False)) for x in inputs])
    model.save(FOLDER / f"{name}.keras")
    model.save(FOLDER / f"{name}.h5")
    np.savez_compressed(FOLDER / f"{name}.npz", in_0=inputs, out_0=outputs)
    print(name, {path.name: path.stat().st_size for path in sorted(FOLDER.glob(f"{name}.*"))})


def main():
    keras.utils.set_random_seed(5)
    FOLDER.mkdir(exist_ok=True)
    for make in (image, recurrent, attention):
        record(make.__name__, make())


if __name__ == "__main__":
    main()
