#!/usr/bin/env python3
"""The networks of make_keras.py as TensorFlow writes them, with TensorFlow's outputs.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1
    venv/bin/python -P make_tensorflow.py

reads keras/<name>.keras and writes to tensorflow/: the SavedModel <name>.saved_model, the frozen graph <name>.pb, <name>.tflite and <name>.npz. A golden file has
`in_k` and `out_k`, for the k-th input and output; the first axis counts cases.
"""
import pathlib
import shutil

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "tensorflow"
NETWORKS = "image", "attention", "recurrent"


def record(name):
    model = keras.models.load_model(HERE / f"keras/{name}.keras")
    shape = (1, *model.input_shape[1:])
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(tf.TensorSpec(shape, tf.float32, name="x"))
    inputs = np.load(HERE / f"keras/{name}.npz")["in_0"]
    outputs = np.stack([np.asarray(function(tf.constant(x))) for x in inputs])
    folder = FOLDER / f"{name}.saved_model"
    shutil.rmtree(folder, ignore_errors=True)
    model.export(folder, verbose=False, input_signature=[tf.TensorSpec(shape, tf.float32, name=model.inputs[0].name)])
    shutil.rmtree(folder / "assets", ignore_errors=True)
    (folder / "fingerprint.pb").unlink()
    frozen = convert_variables_to_constants_v2(function)
    (FOLDER / f"{name}.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString(deterministic=True))
    (FOLDER / f"{name}.tflite").write_bytes(tf.lite.TFLiteConverter.from_saved_model(str(folder)).convert())
    np.savez_compressed(FOLDER / f"{name}.npz", in_0=inputs, out_0=outputs)
    print(name, (FOLDER / f"{name}.tflite").stat().st_size, "bytes of TFLite")


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in NETWORKS:
        record(name)


if __name__ == "__main__":
    main()
