#!/usr/bin/env python3
"""Makes the models of `findings/exact` whose names begin with `corner_`: operators at scales and numbers where kernels leave what is usual.

    python corners.py        # packages as for oracle.py

Each has an archive with TensorFlow Lite Micro's outputs (`.tflm.npz`), or those of LiteRT's reference kernels where it does not take the model.
"""

import sys
from pathlib import Path

import numpy as np

from tflite.model import Model, Tensor, options
from tflite.runtimes import array, run

TO = Path(__file__).parent.parent / "findings" / "exact"
RNG = np.random.default_rng(20)
SAME, VALID = 0, 1


def tensor(element, dims, scale=None, zero=0, data=None):
    quantised = {} if scale is None else {"scales": [scale], "zeros": [zero]}
    return Tensor(element, dims, data=None if data is None else np.ascontiguousarray(data).tobytes(), **quantised)


def save(name, of, model, inputs):
    """Writes a model, and what the runtime makes of some invocations."""
    file = model.file()
    inputs = [[np.ascontiguousarray(x).tobytes() for x in case] for case in inputs]
    outcome = run(of, file, model.main, inputs)
    if isinstance(outcome, str):
        sys.exit(f"{name}: {outcome}")
    (TO / f"corner_{name}.tflite").write_bytes(file)
    ending = {"tflm": "tflm", "litert": "litert-ref"}[of]
    arrays = {}
    for prefix, tensors, cases in (("in", model.main.inputs, inputs), ("out", model.main.outputs, outcome)):
        for k, t in enumerate(tensors):
            arrays[f"{prefix}_{k}"] = np.stack([array(model.main.tensors[t], case[k]) for case in cases])
    np.savez(TO / f"corner_{name}.{ending}.npz", **arrays)


def pairs(name, of, operator, table, x, y, results, values, fused=None):
    """An operator of two operands, all of a column with all of a row; between several scales and zero points."""
    model = Model()
    main = model.main
    a, b = values
    for x, y, result in zip(x, y, results):
        operands = [main.input(tensor(x[0], [len(a), 1], *x[1:])), main.input(tensor(y[0], [1, len(b)], *y[1:]))]
        main.outputs.append(main.add(tensor(result[0], [len(a), len(b)], *result[1:])))
        main.operator(operator, options(table, **(fused or {})), operands, main.outputs[-1:])
    save(name, of, model, [[v for _ in main.outputs for v in (a[:, None], b[None])]])


def one(name, of, operator, table, x, result, values, **fields):
    model = Model()
    main = model.main
    operand = main.input(tensor(x[0], [len(values)], *x[1:]))
    main.outputs = [main.add(tensor(result[0], [len(values)], *result[1:]))]
    main.operator(operator, options(table, **fields) if table else None, [operand], main.outputs)
    save(name, of, model, [[values]])


def fully_connected(name, element, x, weights, scales, zero, result, bias, values, dtype):
    model = Model()
    main = model.main
    n, k = weights.shape
    operand = main.input(tensor(x[0], [len(values), k], *x[1:]))
    packed = weights.reshape(-1)
    if element == "int4":
        packed = (packed[0::2] & 15) | (packed[1::2] & 15) << 4
    w = main.add(Tensor(element, [n, k], scales, [zero] * len(scales), 0, packed.astype(dtype).tobytes()))
    own = [float(np.float32(x[1]) * np.float32(s)) for s in scales]
    b = main.add(Tensor("int32", [n], own, [0] * len(own), 0, bias.astype(np.int32).tobytes()))
    main.outputs = [main.add(tensor(result[0], [len(values), n], *result[1:]))]
    main.operator("FULLY_CONNECTED", options("FullyConnectedOptions"), [operand, w, b], main.outputs)
    save(name, "litert", model, [[values]])


def rounded_once():
    """Sums whose results lie half between two integers, or so near that it matters how scales are multiplied. Operands of the zero point leave the bias."""
    rng = np.random.default_rng(21)
    fill = lambda dims, low, high, dtype: rng.integers(low, high, dims).astype(dtype)
    ties = np.int32(range(-31, 33, 2)) * 128
    rows = lambda zero, low, high, dtype: np.concatenate([np.full([1, 8], zero, dtype), fill([7, 8], low, high, dtype)])
    weights, values = fill([32, 8], 0, 256, np.uint8), rows(128, 0, 256, np.uint8)
    fully_connected("FULLY_CONNECTED_u8_ties", "uint8", ("uint8", 2**-10, 128), weights, [0.5], 128, ("uint8", 2**-3, 95), ties, values, np.uint8)
    weights, values = fill([32, 8], -8, 8, np.int8), rows(9, -128, 128, np.int8)
    scales = [2.0 ** -(1 + i % 3) for i in range(32)]
    fully_connected("FULLY_CONNECTED_i4_ties", "int4", ("int8", 2**-7, 9), weights, scales, 0, ("int8", 2**-3, -9), ties, values, np.uint8)
    # The product of these two scales has another last digit in single precision.
    near = np.int32(84016 + 168032 * np.arange(11))
    weights, values = fill([22, 8], 0, 256, np.uint8), rows(128, 0, 256, np.uint8)
    x, w, y = 0.044982749968767166, 0.044242583215236664, 30.400854110717773
    bias = np.concatenate([-near, near])
    fully_connected("FULLY_CONNECTED_u8_near", "uint8", ("uint8", x, 128), weights, [w], 128, ("uint8", y, 128), bias, values, np.uint8)


def pad():
    """int16 with a zero point, which is not to be."""
    model = Model()
    main = model.main
    x = main.input(tensor("int16", [5], 0.5, -78))
    main.outputs = [main.add(tensor("int16", [8], 0.5, -78))]
    main.operator("PAD", options("PadOptions"), [x, main.add(tensor("int32", [1, 2], data=np.int32([1, 2])))], main.outputs)
    save("PAD_i16", "tflm", model, [[np.arange(5, dtype=np.int16)]])


def infinite_layers():
    """Layers and poolings whose sums are beyond the largest number: fused activations clamp."""
    model = Model()
    main = model.main
    image = [1, 2, 2, 2]
    x = main.input(tensor("float32", image))
    # A filter's weights have one sign, so that no order of the sum makes NaN of it.
    constant = lambda dims, *values: main.add(tensor("float32", dims, data=np.resize(np.float32(values), dims)))
    filters = lambda dims, *values: main.add(tensor("float32", dims, data=np.repeat(np.float32(values), np.prod(dims[1:]))))
    result = lambda dims: main.outputs.append(main.add(tensor("float32", dims))) or main.outputs[-1:]
    whole = dict(padding=VALID, strideH=1, strideW=1)
    pool = options("Pool2DOptions", **whole, filterHeight=2, filterWidth=2)
    for operator in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        main.operator(operator, pool, [x], result([1, 1, 1, 2]))
    dilated = whole | dict(dilationHFactor=1, dilationWFactor=1)
    weights = filters([3, 2, 2, 2], 2, -3, 0.5)
    main.operator("CONV_2D", options("Conv2DOptions", **dilated), [x, weights, constant([3], 1)], result([1, 1, 1, 3]))
    weights = constant([1, 2, 2, 2], 2, -3)
    table = options("DepthwiseConv2DOptions", **dilated, depthMultiplier=1, fusedActivationFunction=1)
    main.operator("DEPTHWISE_CONV_2D", table, [x, weights, constant([2], 1)], result([1, 1, 1, 2]))
    weights = filters([3, 8], 2, -3, 0.5)
    main.operator("FULLY_CONNECTED", options("FullyConnectedOptions"), [x, weights, constant([3], 1)], result([1, 3]))
    for operator, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        main.operator(operator, options(table), [x, constant([2], 3e38, -3e38)], result(image))
    main.operator("L2_NORMALIZATION", options("L2NormOptions"), [x], result(image))
    finite = np.float32([3e38, 3e38, 2e38, 1, 0, 1, 3e38, 2]).reshape(image)
    other = np.float32([1, np.inf, 2, 3, 4, 5, 6, 7]).reshape(image)
    none = np.float32([1, 2, np.nan, 4, 5, 6, 7, 8]).reshape(image)
    save("infinite_layers", "tflm", model, [[finite], [-finite], [other], [-other], [none]])


def main():
    signed, unsigned = np.arange(-128, 128, 3, np.int8), np.arange(0, 255, 3, np.uint8)
    plain = dict(fusedActivationFunction=0)
    # Quotients beyond the result's range, and below its steps; one divisor is zero.
    scales = [(1.0, 0.5, 0.001), (0.25, 0.004, 2.0), (0.1, 0.1, 1.0), (2.0, 0.01, 0.5)]
    kinds = lambda element, zeros: [[(element, s[k], zeros[k]) for s in scales] for k in range(3)]
    pairs("DIV_i8", "tflm", "DIV", "DivOptions", *kinds("int8", (-5, 1, 3)), (signed, signed), plain)
    pairs("DIV_u8", "litert", "DIV", "DivOptions", *kinds("uint8", (100, 1, 128)), (unsigned, unsigned), plain)
    # Scales above 1, at which TensorFlow Lite Micro gives up.
    operands = [("int8", 2.0, 3), ("int8", 107.6, -45), ("int8", 0.9, 0)]
    others = [("int8", 0.25, -2), ("int8", 342.4, -82), ("int8", 8367.0, 17)]
    for operator, table in (("LESS", "LessOptions"), ("EQUAL", "EqualOptions")):
        pairs(f"{operator}_i8", "litert", operator, table, operands, others, [("bool",)] * 3, (signed, signed))
    one("HARD_SWISH_i8", "tflm", "HARD_SWISH", "HardSwishOptions", ("int8", 8.7e-7, 0), ("int8", 0.012, 2), signed)
    one("HARD_SWISH_u8", "litert", "HARD_SWISH", "HardSwishOptions", ("uint8", 8.7e-7, 128), ("uint8", 0.012, 130), unsigned)
    for k, scale in enumerate((1.4e-9, 3.5e-9)):
        one(f"LOGISTIC_i8_{k}", "tflm", "LOGISTIC", None, ("int8", scale, -29), ("int8", 1 / 256, -128), signed)
    words = RNG.integers(-(2**15), 2**15, 999).astype(np.int16)
    one("EXP_i16_overflow", "litert", "EXP", "ExpOptions", ("int16", 0.11, 0), ("int16", 0.76, 0), words)
    one("EXP_i16_steep", "litert", "EXP", "ExpOptions", ("int16", 0.0025, 0), ("int16", 1e-9, 0), words)
    one("LEAKY_RELU_i16", "tflm", "LEAKY_RELU", "LeakyReluOptions", ("int16", 0.0003, 0), ("int16", 0.00007, 0), words, alpha=0.3)
    fill = lambda dims, lo, hi, dtype: RNG.integers(lo, hi, dims).astype(dtype)
    bias = fill([24], -3000, 3000, np.int32)
    # Weights whose differences to the zero point have 8 bits, and 16.
    narrow, wide = fill([24, 40], 60, 180, np.uint8), fill([24, 40], 0, 256, np.uint8)
    values = fill([7, 40], 0, 256, np.uint8)
    for name, weights, zero in (("narrow", narrow, 120), ("wide", wide, 3)):
        result = ("uint8", 0.9 if name == "narrow" else 4.1, 77)
        fully_connected(f"FULLY_CONNECTED_u8_{name}", "uint8", ("uint8", 0.03, 99), weights, [0.02], zero, result, bias, values, np.uint8)
    scales = [float(np.float32(s)) for s in 2.0 ** RNG.uniform(-6, -4, 24)]
    values = fill([7, 40], -128, 128, np.int8)
    result = ("int8", 0.35, -9)
    fully_connected("FULLY_CONNECTED_i4", "int4", ("int8", 0.03, 9), fill([24, 40], -8, 8, np.int8), scales, 0, result, bias, values, np.uint8)
    pad()
    infinite_layers()
    rounded_once()


if __name__ == "__main__":
    main()
