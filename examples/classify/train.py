#!/usr/bin/env python3
"""Trains the dense digits network and writes everything this example commits. A few seconds on a CPU.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scikit-learn==1.9.1
    venv/bin/python train.py

The data is scikit-learn's copy of the "Optical Recognition of Handwritten Digits" test set (E. Alpaydin and C. Kaynak, UCI Machine
Learning Repository, CC BY 4.0): 1797 images of 8x8 pixels. The last 360 are held out.

    models/digits_dense_f32.tflite   float32[1, 64] -> float32[1, 10]
    data/held_out.csv                the held-out images: the ink of 64 pixels, and the digit
    data/tflite.txt                  how many of them TensorFlow Lite gets right
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
SEED = 8


def main():
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    for folder in ["models", "data"]:
        (HERE / folder).mkdir(exist_ok=True)

    digits = load_digits()
    x, y = (digits.data / 16).astype(np.float32), digits.target
    model = keras.Sequential([
        layers.Input((64,), name="ink"),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(10, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy")
    model.fit(x[:-HELD_OUT], y[:-HELD_OUT], batch_size=32, epochs=30, verbose=0)

    spec = tf.TensorSpec([1, 64], tf.float32, name="ink")
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    tflite = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
    (HERE / "models/digits_dense_f32.tflite").write_bytes(tflite)

    interpreter = tf.lite.Interpreter(model_content=tflite)
    interpreter.allocate_tensors()
    right = 0
    for image, label in zip(x[-HELD_OUT:], y[-HELD_OUT:]):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image[None])
        interpreter.invoke()
        right += int(interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0].argmax() == label)
    rows = [",".join(str(int(v)) for v in [*image, label]) for image, label in zip(digits.data[-HELD_OUT:], y[-HELD_OUT:])]
    (HERE / "data/held_out.csv").write_text("\n".join(rows) + "\n")
    (HERE / "data/tflite.txt").write_text(f"digits_dense_f32 {right}\n")
    print(f"{model.count_params()} parameters; {right} of {HELD_OUT} right; {len(tflite)} bytes")


if __name__ == "__main__":
    main()
