#!/usr/bin/env python3
"""Makes the broken and unsupported models of the compile-error tests.

    pip install tensorflow-cpu==2.21.0
    python make_models.py
"""
import pathlib

import tensorflow as tf

HERE = pathlib.Path(__file__).parent / "models"
GOOD = HERE / "../../../examples/digits/models/digits_int8.tflite"


class Unsupported(tf.Module):
    """An op that Kiln does not compile, among some that it does."""

    @tf.function(input_signature=[tf.TensorSpec([1, 8], tf.float32, "x")])
    def call(self, x):
        y = tf.cos(x) + tf.nn.relu(x)
        values, _ = tf.math.top_k(tf.exp(y), k=2)
        return values


def main():
    model = Unsupported()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([model.call.get_concrete_function()], model)
    # The file has TOPK_V2, which Kiln compiles, as operator code {code 48 in both fields}: it becomes UNIQUE (103).
    file = bytearray(converter.convert())
    code = file.index(bytes([48, 0, 0, 0, 0, 0, 0, 48]))
    file[code] = file[code + 7] = 103
    (HERE / "unsupported.tflite").write_bytes(file)
    (HERE / "truncated.tflite").write_bytes(GOOD.read_bytes()[:3000])
    (HERE / "picture.tflite").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))


if __name__ == "__main__":
    main()
