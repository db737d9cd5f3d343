#!/usr/bin/env python3
"""Makes op_<what>_<f32|int8>.tflite: models of one or two operators each, and TFLite Micro's outputs for random inputs.

Packages and seeds as in make_networks.py. Weights are random and fixed. `make_ops.py NAME…` makes only those whose name contains
one of the words (the manifest is then left alone).
"""
import sys

import numpy as np
from common import convert, describe, random_cases, update_manifest, write

import tensorflow as tf

CASES = 8
RNG = np.random.default_rng(2)


def weights(*shape):
    return tf.constant((RNG.standard_normal(shape) * 0.5).astype(np.float32))


def conv(filter_shape, activation=None, strides=1, padding="SAME", dilations=1):
    w, b = weights(*filter_shape), weights(filter_shape[3])
    act = activation or (lambda x: x)
    return lambda x: act(tf.nn.bias_add(tf.nn.conv2d(x, w, strides, padding, dilations=dilations), b))


def depthwise(filter_shape, activation=None, strides=1, padding="SAME", dilations=1):
    w, b = weights(*filter_shape), weights(filter_shape[2] * filter_shape[3])
    act = activation or (lambda x: x)
    return lambda x: act(tf.nn.bias_add(tf.nn.depthwise_conv2d(x, w, [1, strides, strides, 1], padding, dilations=[dilations] * 2), b))


def dense(k, n, activation=None, bias=True):
    w, b = weights(k, n), weights(n)
    act = activation or (lambda x: x)
    return lambda x: act(tf.matmul(x, w) + b if bias else tf.matmul(x, w))


def with_constant(f, *shape):
    """`f(x, c)` as a function of x alone."""
    c = weights(*shape)
    return lambda x: f(x, c)


def padded(f, pads):
    return lambda x: f(tf.pad(x, pads))


def relu_n1_to_1(x):
    return tf.maximum(-1.0, tf.minimum(x, 1.0))


IMAGE = [1, 7, 6, 5]
SQUEEZE_AXES, EXPAND_AXIS = [2], 2

# name: (input shapes, function)
OPS = {
    # Convolutions.
    "conv2d_same": ([IMAGE], conv([3, 3, 5, 7])),
    "conv2d_valid_relu": ([IMAGE], conv([3, 2, 5, 4], tf.nn.relu, padding="VALID")),
    "conv2d_stride2_relu6": ([IMAGE], conv([3, 3, 5, 6], tf.nn.relu6, strides=2)),
    "conv2d_stride2_even": ([[1, 8, 8, 3]], conv([4, 5, 3, 3], strides=[1, 2, 3, 1])),
    "conv2d_relu_n1_to_1": ([IMAGE], conv([1, 3, 5, 4], relu_n1_to_1)),
    "conv2d_dilated": ([[1, 9, 9, 3]], conv([3, 3, 3, 4], tf.nn.relu, dilations=2, padding="VALID")),
    "conv2d_dilated_same": ([[1, 9, 9, 3]], conv([3, 3, 3, 4], dilations=2)),
    "conv2d_pointwise": ([IMAGE], conv([1, 1, 5, 9], tf.nn.relu)),
    "conv2d_one_channel": ([[1, 8, 8, 1]], conv([5, 3, 1, 8], tf.nn.relu)),
    "conv2d_whole_image": ([[1, 5, 4, 6]], conv([5, 4, 6, 3], padding="VALID")),
    "conv2d_larger_than_image": ([[1, 2, 2, 3]], conv([5, 5, 3, 2])),
    "conv2d_groups": ([[1, 5, 5, 6]], conv([3, 3, 2, 9])),
    "conv2d_batch": ([[2, 5, 5, 3]], conv([3, 3, 3, 4], tf.nn.relu)),
    "depthwise_same": ([IMAGE], depthwise([3, 3, 5, 1])),
    "depthwise_valid_relu": ([IMAGE], depthwise([3, 2, 5, 1], tf.nn.relu, padding="VALID")),
    "depthwise_stride2_relu6": ([[1, 8, 8, 4]], depthwise([3, 3, 4, 1], tf.nn.relu6, strides=2)),
    "depthwise_multiplier": ([[1, 6, 6, 3]], depthwise([3, 3, 3, 4])),
    "depthwise_multiplier_one_channel": ([[1, 6, 6, 1]], depthwise([3, 3, 1, 8], tf.nn.relu)),
    "depthwise_dilated": ([[1, 9, 9, 3]], depthwise([3, 3, 3, 1], tf.nn.relu, dilations=2, padding="VALID")),
    "depthwise_batch": ([[2, 5, 5, 3]], depthwise([3, 3, 3, 1])),
    # Dense.
    "dense": ([[1, 19]], dense(19, 11)),
    "dense_relu": ([[1, 16]], dense(16, 10, tf.nn.relu)),
    "dense_relu6_no_bias": ([[1, 7]], dense(7, 5, tf.nn.relu6, bias=False)),
    "dense_rows": ([[4, 9]], dense(9, 6, tf.nn.relu)),
    "dense_rank3": ([[1, 3, 8]], with_constant(lambda x, w: tf.tensordot(x, w, 1), 8, 5)),
    # Pooling.
    "avg_pool": ([[1, 6, 6, 5]], lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID")),
    "avg_pool_same": ([[1, 7, 5, 3]], lambda x: tf.nn.avg_pool2d(x, [3, 2], [2, 1], "SAME")),
    "avg_pool_relu6": ([IMAGE], lambda x: tf.nn.relu6(tf.nn.avg_pool2d(x, 3, 1, "VALID"))),
    "avg_pool_whole_image": ([[1, 7, 5, 4]], lambda x: tf.nn.avg_pool2d(x, [7, 5], 1, "VALID")),
    "max_pool": ([[1, 6, 6, 5]], lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID")),
    "max_pool_same_relu": ([[1, 7, 5, 3]], lambda x: tf.nn.relu(tf.nn.max_pool2d(x, 3, 2, "SAME"))),
    # Arithmetic.
    "add": ([IMAGE, IMAGE], lambda a, b: a + b),
    "add_relu": ([IMAGE, IMAGE], lambda a, b: tf.nn.relu(a + b)),
    "add_relu6_scaled": ([[1, 40], [1, 40]], lambda a, b: tf.nn.relu6(a + 0.125 * b)),
    "add_channels": ([IMAGE], with_constant(lambda a, c: a + c, 5)),
    "add_scalar": ([IMAGE], lambda a: a + 0.7),
    "add_broadcast": ([[1, 4, 1, 3], [1, 1, 5, 3]], lambda a, b: a + b),
    "add_self": ([[1, 17]], lambda a: a + a),
    "sub": ([IMAGE, IMAGE], lambda a, b: a - b),
    "sub_relu": ([[1, 33], [1, 33]], lambda a, b: tf.nn.relu(a - b)),
    "sub_constant_left": ([IMAGE], with_constant(lambda a, c: c - a, 5)),
    "sub_broadcast": ([[1, 4, 5, 3], [1, 1, 1, 3]], lambda a, b: a - b),
    "mul": ([IMAGE, IMAGE], lambda a, b: a * b),
    "mul_relu6": ([[1, 33], [1, 33]], lambda a, b: tf.nn.relu6(a * b)),
    "mul_channels": ([IMAGE], with_constant(lambda a, c: a * c, 5)),
    "mul_gate": ([IMAGE, [1, 1, 1, 5]], lambda a, b: a * b),
    "mul_square": ([[1, 21]], lambda a: a * a),
    # Activations.
    "softmax": ([[1, 10]], tf.nn.softmax),
    "softmax_rows": ([[3, 7]], tf.nn.softmax),
    "softmax_image": ([[1, 2, 3, 4]], tf.nn.softmax),
    "softmax_sharp": ([[1, 12]], lambda x: tf.nn.softmax(4.0 * x)),
    "logistic": ([[1, 64]], tf.nn.sigmoid),
    "tanh": ([[1, 64]], tf.nn.tanh),
    "relu": ([[1, 64]], tf.nn.relu),
    "relu6": ([[1, 64]], tf.nn.relu6),
    "relu6_rescaled": ([[1, 64]], tf.nn.relu6),
    "leaky_relu": ([[1, 64]], lambda x: tf.nn.leaky_relu(x, 0.1)),
    "leaky_relu_steep": ([[1, 64]], lambda x: tf.nn.leaky_relu(x, 0.3)),
    # Shape and movement.
    "reshape": ([IMAGE], lambda x: tf.reshape(x, [1, 14, 15])),
    "reshape_flatten": ([[1, 3, 4, 5]], lambda x: tf.reshape(x, [1, -1])),
    "squeeze": ([[1, 6, 1, 5]], lambda x: tf.squeeze(x, SQUEEZE_AXES)),
    "expand_dims": ([[1, 6, 5]], lambda x: tf.expand_dims(x, EXPAND_AXIS)),
    "pad": ([IMAGE], lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 3], [0, 0]])),
    "pad_channels": ([IMAGE], lambda x: tf.pad(x, [[0, 0], [0, 0], [0, 0], [2, 1]])),
    "pad_rank2": ([[1, 9]], lambda x: tf.pad(x, [[0, 0], [4, 3]])),
    "pad_conv2d": ([[1, 6, 6, 3]], padded(conv([3, 3, 3, 4], padding="VALID"), [[0, 0], [1, 1], [2, 0], [0, 0]])),
    "concat_channels": ([[1, 4, 4, 3], [1, 4, 4, 5]], lambda a, b: tf.concat([a, b], -1)),
    "concat_rows": ([[1, 2, 4, 3], [1, 3, 4, 3], [1, 1, 4, 3]], lambda a, b, c: tf.concat([a, b, c], 1)),
    "concat_rescaled": ([[1, 12], [1, 9]], lambda a, b: tf.concat([a * 3.0, tf.nn.sigmoid(b)], 1)),
    "concat_constant": ([[1, 2, 6]], with_constant(lambda a, c: tf.concat([c, a], 1), 1, 3, 6)),
    "concat_twice": ([[1, 5, 2]], lambda a: tf.concat([a, a], 1)),
    "strided_slice": ([IMAGE], lambda x: x[:, 1:6:2, ::3, 1:4]),
    "strided_slice_negative": ([[1, 9, 4]], lambda x: x[:, ::-2, -3:-1]),
    "strided_slice_shrink": ([IMAGE], lambda x: x[:, 2, :, 3:]),
    "strided_slice_tail": ([[1, 8, 1, 5]], lambda x: x[:, -3:, :, :]),
    "split": ([[1, 4, 4, 6]], lambda x: tf.split(x, 3, -1)),
    "split_rows": ([[1, 6, 5]], lambda x: tf.split(x, 2, 1)),
    "split_v": ([[1, 4, 4, 9]], lambda x: tf.split(x, [2, 3, 4], -1)),
    "split_v_rows": ([[1, 7, 5]], lambda x: tf.split(x, [5, 2], 1)),
    "transpose": ([[1, 3, 4, 5]], lambda x: tf.transpose(x, [0, 3, 1, 2])),
    "transpose_swap": ([[1, 4, 6, 3]], lambda x: tf.transpose(x, [0, 2, 1, 3])),
    "transpose_rank3": ([[2, 3, 7]], lambda x: tf.transpose(x, [2, 0, 1])),
    # Reductions.
    "mean_image": ([IMAGE], lambda x: tf.reduce_mean(x, [1, 2])),
    "mean_image_keep": ([IMAGE], lambda x: tf.reduce_mean(x, [1, 2], keepdims=True)),
    "mean_channels": ([IMAGE], lambda x: tf.reduce_mean(x, -1)),
    "mean_rows": ([[1, 9, 5]], lambda x: tf.reduce_mean(x, 1)),
    "mean_relu": ([[1, 9, 5]], lambda x: tf.nn.relu(tf.reduce_mean(x, 1))),
}

# Integer models whose edges are not int8: they begin with QUANTIZE and end with DEQUANTIZE, or rescale to uint8.
EDGES = {
    "float_edges": ([[1, 24]], dense(24, 8, tf.nn.relu), tf.float32),
    "uint8_edges": ([[1, 6, 6, 3]], conv([3, 3, 3, 4]), tf.uint8),
}


def edited(tflite, change):
    """The model after `change(schema, model, its one operator, that operator's code)`: for what the converter does not write."""
    import flatbuffers
    from tensorflow.lite.python import schema_py_generated as schema

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(tflite, 0))
    (operator,), (code,) = model.subgraphs[0].operators, model.operatorCodes
    change(schema, model, operator, code)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def to_squeeze(schema, model, operator, code):
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.SQUEEZE
    operator.inputs = operator.inputs[:1]
    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.SqueezeOptions, schema.SqueezeOptionsT()
    operator.builtinOptions.squeezeDims = SQUEEZE_AXES


def to_expand_dims(schema, model, operator, code):
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.EXPAND_DIMS
    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.ExpandDimsOptions, schema.ExpandDimsOptionsT()
    axis = model.subgraphs[0].tensors[operator.inputs[1]]
    axis.shape = np.array([1], np.int32)
    model.buffers[axis.buffer].data = np.frombuffer(np.array([EXPAND_AXIS], np.int32).tobytes(), np.uint8)


def keep_scale(schema, model, operator, code):
    tensors = model.subgraphs[0].tensors
    tensors[operator.outputs[0]].quantization = tensors[operator.inputs[0]].quantization


# The converter writes RESHAPE for the first two, though other versions of it (and other tools) do not.
EDITS = {
    "op_squeeze_f32": to_squeeze, "op_squeeze_int8": to_squeeze,
    "op_expand_dims_f32": to_expand_dims, "op_expand_dims_int8": to_expand_dims,
    "op_relu6_int8": keep_scale,
}

# TFLite Micro's RELU6 forgets to rescale where input and output have different scales; LiteRT's reference kernel does not.
LITERT = ["op_relu6_rescaled_int8"]


def calibration(shapes):
    """Eight inputs that span about [-4, 4], less for every further input so that their scales differ."""
    rng = np.random.default_rng(5)
    return [[rng.uniform(-4, 4, s) / (1 + 0.5 * k) for k, s in enumerate(shapes)] for _ in range(8)]


def make(name, shapes, function, quantize, edge=None):
    tflite = convert(shapes, function, calibration(shapes) if quantize else None, edge=edge)
    if name in EDITS:
        tflite = edited(tflite, EDITS[name])
    rng = np.random.default_rng([3, *name.encode()])
    inputs = [random_cases(tensor, rng, CASES) for tensor in describe(tflite)[0]]
    _, row = write(name, tflite, inputs, "random", oracle="litert-ref" if name in LITERT else "tflm")
    print(f"{name:45} {row['bytes']:6} bytes  {row['op_histogram']}", flush=True)
    return row


def main(words):
    jobs = [(f"op_{n}_{kind}", *job, kind == "int8") for n, job in OPS.items() for kind in ["f32", "int8"]]
    jobs += [(f"op_{n}_int8", shapes, f, True, edge) for n, (shapes, f, edge) in EDGES.items()]
    rows, failed = [], []
    for job in jobs:
        if words and not any(word in job[0] for word in words):
            continue
        try:
            rows.append(make(*job))
        except Exception as error:
            failed.append(job[0])
            print(f"{job[0]:45} FAILED: {error}")
    if not words:
        update_manifest(rows, keep=lambda name: not name.startswith("op_"))
    if failed:
        sys.exit(f"not made: {' '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
