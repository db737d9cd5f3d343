#!/usr/bin/env python3
"""Trains the tumour network and writes everything this example commits. A few seconds on a CPU.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scikit-learn==1.9.1
    venv/bin/python train.py

The data is scikit-learn's copy of the "Breast Cancer Wisconsin (Diagnostic)" data set (W. Wolberg, O. Mangasarian, N. Street and W. Street,
UCI Machine Learning Repository, CC BY 4.0): 569 patients with 30 measurements each. Every fifth is held out.

    models/tumour.tflite   float32[1, 30] -> float32[1, 1]: the measurements as they are, and the probability that the tumour is malignant
    data/held_out.csv      the held-out patients: 30 measurements, and 1 where the tumour was malignant
    data/tflite.txt        how many of them TensorFlow Lite gets right
"""
import os
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_breast_cancer

HERE = Path(__file__).resolve().parent
SEED = 8


def main():
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    for folder in ["models", "data"]:
        (HERE / folder).mkdir(exist_ok=True)

    data = load_breast_cancer()
    x, malignant = data.data.astype(np.float32), (data.target == 0).astype(np.float32)
    held_out = np.arange(len(x)) % 5 == 0
    train_x, train_y = x[~held_out], malignant[~held_out]
    mean, deviation = train_x.mean(axis=0), train_x.std(axis=0)
    model = keras.Sequential([
        layers.Input((30,), name="measurements"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy")
    model.fit((train_x - mean) / deviation, train_y, batch_size=32, epochs=40, verbose=0)
    # The first layer takes the measurements as they are.
    weights, bias = model.layers[0].get_weights()
    model.layers[0].set_weights([weights / deviation[:, None], bias - (mean / deviation) @ weights])

    spec = tf.TensorSpec([1, 30], tf.float32, name="measurements")
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    tflite = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
    (HERE / "models/tumour.tflite").write_bytes(tflite)

    interpreter = tf.lite.Interpreter(model_content=tflite)
    interpreter.allocate_tensors()
    right = 0
    for measurements, truth in zip(x[held_out], malignant[held_out]):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], measurements[None])
        interpreter.invoke()
        probability = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0, 0]
        right += int((probability >= 0.5) == bool(truth))
    lines = [",".join([f"{value:.9g}" for value in row] + [f"{int(truth)}"]) for row, truth in zip(x[held_out], malignant[held_out])]
    (HERE / "data/held_out.csv").write_text("\n".join(lines) + "\n")
    (HERE / "data/tflite.txt").write_text(f"{right}\n")
    print(f"{model.count_params()} parameters; {right} of {int(held_out.sum())} right; {len(tflite)} bytes")


if __name__ == "__main__":
    main()
