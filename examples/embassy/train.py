#!/usr/bin/env python3
"""Trains a network that takes long, on large images of handwritten digits, and writes everything this example commits.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    venv/bin/python train.py

The data is scikit-learn's copy of the "Optical Recognition of Handwritten Digits" test set (E. Alpaydin and C. Kaynak, UCI Machine
Learning Repository, CC BY 4.0): 1797 images of 8x8 pixels, here enlarged to 32x32, the resolution that they were scanned at. The last
360 are held out.

    models/digits32_int8.tflite   int8[1, 32, 32, 1] -> int8[1, 10], calibrated on the training images
    firmware/data/images.bin           the first ten held-out images, as the model stores them: 1024 bytes each
    firmware/data/labels.bin           their digits

Seeds are fixed; another CPU may round differently while training, and the files change a little.
"""
import os
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
HELD_OUT, SHOWN = 360, 10
SEED = 8
EPOCHS = 24


def network():
    """A MobileNet in miniature: three depthwise-separable blocks at 32x32, 16x16 and 8x8."""
    conv = dict(padding="same", use_bias=False)
    block = lambda: [layers.BatchNormalization(momentum=0.9), layers.ReLU()]
    separable = lambda filters: [layers.DepthwiseConv2D(3, **conv), *block(), layers.Conv2D(filters, 1, **conv), *block()]
    return keras.Sequential([
        layers.Input((32, 32, 1), name="image"),
        layers.Conv2D(16, 3, **conv), *block(),
        *separable(24),
        layers.MaxPooling2D(2),
        *separable(48),
        layers.MaxPooling2D(2),
        *separable(64),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(0.2),
        layers.Dense(10, activation="softmax"),
    ])


def convert(model, calibration):
    spec = tf.TensorSpec([1, 32, 32, 1], tf.float32, name="image")
    function = tf.function(lambda image: model(image, training=False)).get_concrete_function(spec)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[None]] for image in calibration)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def run(tflite, images):
    """Quantised images, and the classes that TensorFlow Lite gives them."""
    interpreter = tf.lite.Interpreter(model_content=tflite)
    interpreter.allocate_tensors()
    source, target = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    scale, zero = source["quantization"]
    inputs = np.clip(np.round(images / scale) + zero, -128, 127).astype(np.int8)
    classes = []
    for image in inputs:
        interpreter.set_tensor(source["index"], image[None])
        interpreter.invoke()
        classes.append(int(interpreter.get_tensor(target["index"])[0].argmax()))
    return inputs, np.array(classes)


def main():
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    for folder in ["models", "firmware/data"]:
        (HERE / folder).mkdir(parents=True, exist_ok=True)

    digits = load_digits()
    images = np.clip(zoom(digits.images / 16.0, (1, 4, 4), order=1), 0, 1).astype(np.float32)[..., None]
    labels = digits.target
    model = network()
    steps = EPOCHS * -(-(len(images) - HELD_OUT) // 32)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps)), "sparse_categorical_crossentropy")
    model.fit(images[:-HELD_OUT], labels[:-HELD_OUT], batch_size=32, epochs=EPOCHS, verbose=0)

    tflite = convert(model, images[:-HELD_OUT:4])
    (HERE / "models/digits32_int8.tflite").write_bytes(tflite)
    inputs, classes = run(tflite, images[-HELD_OUT:])
    right = int((classes == labels[-HELD_OUT:]).sum())
    print(f"{model.count_params()} parameters; TensorFlow Lite: {right} of {HELD_OUT} right, "
          f"{(classes == labels[-HELD_OUT:])[:SHOWN].sum()} of the first {SHOWN}; {len(tflite)} bytes")
    (HERE / "firmware/data/images.bin").write_bytes(inputs[:SHOWN].tobytes())
    (HERE / "firmware/data/labels.bin").write_bytes(labels[-HELD_OUT:][:SHOWN].astype(np.uint8).tobytes())


if __name__ == "__main__":
    main()
