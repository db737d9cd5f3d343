"""Layers with weights, and windows over images."""

import numpy as np

from .draw import ELEMENT, Kind, Senseless, Tensor, f32
from .model import options

WEIGHTED = ["float32", "int8", "int16", "uint8", "hybrid", "float16", "int4"]
REAL = ["float32", "int8", "int16", "uint8"]
SAME, VALID = 0, 1

OF_WEIGHTS = {"float32": "float32", "float16": "float16", "uint8": "uint8", "int4": "int4", "int8": "int8", "int16": "int8", "hybrid": "int8"}


def weights(d, format, dims, axis, per_channel):
    """Weights with filters along `axis`; their tensor and scales."""
    element = OF_WEIGHTS[format]
    if format in REAL and d.one_in(6):
        return computed_weights(d, element, dims)
    if format == "float32" and d.one_in(8):
        return stored_weights(d, dims, axis, per_channel)
    data = d.data(Kind(element), dims)
    scales, zeros, along = None, None, 0
    if element in ("int8", "int4"):
        if element == "int8":
            lowest = -128 if d.one_in(10) else -127
            data = np.maximum(np.frombuffer(data, np.int8), lowest).astype(np.int8).tobytes()
        channels = dims[axis] if per_channel else 1
        one = d.scale()
        scales = [f32(one * 2 ** d.r.uniform(-3, 1)) if per_channel else one for _ in range(channels)]
        if per_channel and d.one_in(6):
            scales = [f32(2.0 ** d.between(-10, -3)) for _ in scales]
        zeros, along = [0] * channels, axis if per_channel else 0
    elif element == "uint8":
        scales, zeros = [d.scale()], [d.zero("uint8")]
    tensor = d.model.main.add(Tensor(element, list(dims), scales, zeros, along, data))
    if element == "float16":
        half = tensor
        tensor = d.model.main.add(Tensor("float32", list(dims)))
        d.model.main.operator("DEQUANTIZE", options("DequantizeOptions"), [half], [tensor])
    return tensor, scales


def computed_weights(d, element, dims):
    """Weights that are no constants."""
    kind = Kind(element)
    if element != "float32":
        symmetric = element == "int8" and not d.one_in(4)
        kind = Kind(element, d.scale(), 0 if symmetric else d.zero(element))
    value = d.input(kind, dims)
    return value.tensor, [kind.scale] if kind.scale else None


def stored_weights(d, dims, axis, per_channel):
    """Floats that are stored as integers."""
    stored, _ = weights(d, d.pick(["int8", "int4"]), dims, axis, per_channel)
    if d.model.main.tensors[stored].data is None:
        raise Senseless
    tensor = d.model.main.add(Tensor("float32", list(dims)))
    d.model.main.operator("DEQUANTIZE", options("DequantizeOptions"), [stored], [tensor])
    return tensor, None


def bias(d, format, x, scales, channels):
    """A bias for so many channels, or none (−1)."""
    if d.one_in(4):
        return -1
    if format in REAL and d.one_in(10) and (scales is None or len(scales) == 1):
        scale = scales and f32(np.float32(x.kind.scale) * np.float32(scales[0]))
        return d.input(Kind("int32", scale, 0) if scales else Kind("float32"), [channels]).tensor
    if ELEMENT[format] == "float32":
        return d.constant(Kind("float32"), [channels]).tensor
    wide = format == "int16" and not d.one_in(3)
    element = "int64" if wide else "int32"
    own = [f32(np.float32(x.kind.scale) * np.float32(s)) for s in scales]
    most = d.pick([10, 2000, 100000])
    if wide and d.one_in(6):
        most = 2**38
    values = d.np.integers(-most, most, channels, np.int64, endpoint=True)
    data = values.astype(np.int64 if wide else np.int32).tobytes()
    return d.model.main.add(Tensor(element, [channels], own, [0] * len(own), 0, data))


def result(d, format, x, scales, taps):
    """What a layer computes from so many products: the sums mostly spread over the result's range."""
    kind = d.kind(format)
    if kind.scale is None or scales is None or d.one_in(8):
        return kind
    spread = 50 if kind.element == "int16" else 80
    kind.scale = f32(x.kind.scale * max(scales, default=1.0) * spread * max(taps, 1) ** 0.5 * d.r.uniform(0.3, 3))
    if d.one_in(4) and kind.scale > 0:
        kind.scale = f32(2.0 ** round(np.log2(kind.scale)))
    kind.scale = kind.scale or 1e-30
    return kind


def window_size(d, axis):
    if d.one_in(8):
        return axis + d.between(1, 3)
    return max(axis, 1) if d.one_in(5) else d.between(1, min(max(axis, 1), 4))


class Window:
    """Padding, strides and dilations."""

    def __init__(self, d, dilates=True):
        self.same = d.one_in(2)
        self.stride = [d.between(1, 3), d.between(1, 3)] if d.one_in(2) else [1, 1]
        if d.one_in(10):
            self.stride = [d.between(1, 6), d.between(1, 6)]
        self.dilation = [d.between(1, 3), d.between(1, 3)] if dilates and d.one_in(5) else [1, 1]

    def size(self, axis, kernel, k):
        extent = (kernel - 1) * self.dilation[k] + 1
        stride = self.stride[k]
        out = -(-axis // stride) if self.same else (axis - extent + stride) // stride
        if out < 0:
            raise Senseless
        return out

    def fields(self):
        return dict(padding=SAME if self.same else VALID, strideH=self.stride[0], strideW=self.stride[1])

    def dilated(self):
        return self.fields() | dict(dilationHFactor=self.dilation[0], dilationWFactor=self.dilation[1])


def conv_2d(d, format):
    x = d.x(format, 4)
    n, h, w, c = x.dims
    groups = 2 if d.one_in(8) and c % 2 == 0 and c else 1
    o = d.between(1, 9) * groups
    size = [1, 1] if d.one_in(3) else [window_size(d, h), window_size(d, w)]
    dims = [o, *size, c // groups]
    kernel, scales = weights(d, format, dims, 0, not d.one_in(3))
    window = Window(d)
    out = [n, window.size(h, size[0], 0), window.size(w, size[1], 1), o]
    operands = [x, kernel, bias(d, format, x, scales, o)]
    kind = result(d, format, x, scales, size[0] * size[1] * (c // groups))
    table = options("Conv2DOptions", **window.dilated(), fusedActivationFunction=d.fused())
    d.emit("CONV_2D", table, operands, kind, out)


def depthwise_conv_2d(d, format):
    x = d.x(format, 4)
    n, h, w, c = x.dims
    multiplier = d.between(2, 4) if d.one_in(3) else 1
    o = c * multiplier
    size = [window_size(d, h), window_size(d, w)]
    kernel, scales = weights(d, format, [1, *size, o], 3, not d.one_in(3))
    window = Window(d)
    out = [n, window.size(h, size[0], 0), window.size(w, size[1], 1), o]
    operands = [x, kernel, bias(d, format, x, scales, o)]
    kind = result(d, format, x, scales, size[0] * size[1])
    table = options("DepthwiseConv2DOptions", **window.dilated(), depthMultiplier=multiplier, fusedActivationFunction=d.fused())
    d.emit("DEPTHWISE_CONV_2D", table, operands, kind, out)


def fully_connected(d, format):
    x = d.x(format, 1, 4)
    keep = d.one_in(2)
    count = x.count()
    rows = x.dims[0] if x.rank > 1 and d.one_in(2) else 1
    k = x.dims[-1] if keep or d.one_in(3) else count // max(rows, 1)
    if k == 0:
        raise Senseless
    o = d.between(1, 12)
    kernel, scales = weights(d, format, [o, k], 0, d.one_in(3))
    out = [*x.dims[:-1], o] if keep else [count // k, o]
    operands = [x, kernel, bias(d, format, x, scales, o)]
    fields = dict(keepNumDims=keep, fusedActivationFunction=d.fused(), asymmetricQuantizeInputs=d.one_in(2))
    d.emit("FULLY_CONNECTED", options("FullyConnectedOptions", **fields), operands, result(d, format, x, scales, k), out)


def transpose_conv(d, format):
    x = d.x(format, 4)
    n, h, w, c = x.dims
    o, kh, kw = d.between(1, 5), d.between(1, 4), d.between(1, 4)
    window = Window(d, dilates=False)
    kernel, scales = weights(d, format, [o, kh, kw, c], 0, not d.one_in(3))
    sizes = []
    for size, k, stride in ((h, kh, window.stride[0]), (w, kw, window.stride[1])):
        if window.same:
            sizes.append(size * stride - (d.between(0, stride - 1) if d.one_in(4) else 0))
        else:
            sizes.append((size - 1) * stride + (k if d.one_in(2) else max(k, stride)))
    out = [n, *sizes, o]
    shape = d.ints(out)
    operands = [shape, kernel, x]
    if not d.one_in(3):
        operands.append(bias(d, format, x, scales, o))
        if operands[-1] == -1:
            operands.pop()
    table = options("TransposeConvOptions", **window.fields(), fusedActivationFunction=d.fused())
    d.emit("TRANSPOSE_CONV", table, operands, result(d, format, x, scales, kh * kw * c), out)


def batch_matmul(d, format):
    x = d.x(format, 2, 5)
    adj_x, adj_y = d.one_in(3), d.one_in(2)
    m, k = x.dims[-2:][::-1] if adj_x else x.dims[-2:]
    n = d.between(1, 6)
    outer = [1 if d.one_in(3) else dim for dim in x.dims[:-2]]
    out = list(x.dims[:-2])
    if d.one_in(4) and outer:
        outer = outer[1:]
    dims = outer + ([n, k] if adj_y else [k, n])
    # Weights of a product have zero in the middle, mostly.
    kind = d.kind(format)
    if kind.scale and kind.element != "uint8" and d.one_in(2):
        kind.zero = 0
    y = d.other(kind, dims)
    table = options("BatchMatMulOptions", adjX=adj_x, adjY=adj_y, asymmetricQuantizeInputs=d.one_in(2))
    scales = [y.kind.scale] if y.kind.scale else None
    d.emit("BATCH_MATMUL", table, [x, y], result(d, format, x, scales, k), [*out, m, n])


def pool(name):
    def recipe(d, format):
        x = d.x(format, 4)
        n, h, w, c = x.dims
        size = [window_size(d, h), window_size(d, w)]
        window = Window(d, dilates=False)
        out = [n, window.size(h, size[0], 0), window.size(w, size[1], 1), c]
        fields = dict(filterHeight=size[0], filterWidth=size[1], fusedActivationFunction=d.fused())
        kind = x.kind if not d.one_in(10) else d.kind_near(x.kind, format)
        d.emit(name, options("Pool2DOptions", **window.fields(), **fields), [x], kind, out)

    return recipe


def local_response_normalization(d, format):
    x = d.x(format, 4)
    fields = dict(radius=d.between(0, 5), bias=1.0, alpha=f32(d.r.random()), beta=d.pick([0.5, 0.75, 1.0]))
    table = options("LocalResponseNormalizationOptions", **fields)
    d.emit("LOCAL_RESPONSE_NORMALIZATION", table, [x], d.kind(format), x.dims)


def resize(name, table):
    def recipe(d, format):
        x = d.x(format, 4)
        h, w = d.between(1, 9), d.between(1, 9)
        if d.one_in(3):
            h, w = x.dims[1] * d.between(1, 2), x.dims[2] * d.between(1, 2)
        corners, centres = d.pick([(False, False), (True, False), (False, True)] + ([(True, True)] if d.one_in(6) else []))
        size = d.ints([h, w])
        drawn = options(table, alignCorners=corners, halfPixelCenters=centres)
        d.emit(name, drawn, [x, size], x.kind, [x.dims[0], h, w, x.dims[3]])

    return recipe


def svdf(d, format):
    x = d.x(format, 2)
    batch, features = x.dims
    rank, units, memory = d.between(1, 3), d.between(1, 4), d.between(1, 6)
    filters = rank * units
    first, scales = weights(d, format, [filters, features], 0, False)
    main = d.model.main
    if ELEMENT[format] == "float32":
        if format == "hybrid":
            time, _ = weights(d, format, [filters, memory], 0, False)
        else:
            time = d.constant(Kind("float32"), [filters, memory]).tensor
        state = main.add(Tensor("float32", [batch, memory * filters], variable=True))
        added = bias(d, format, x, scales, units)
        kind = Kind("float32")
    else:
        element = d.pick(["int16", "int16", "int8"])
        most = 127 if element == "int8" else 32767
        state_scale = f32(x.kind.scale * max(scales, default=1.0) * 2000 * max(features, 1) ** 0.5 / most * d.r.uniform(0.5, 3)) or 1e-30
        time_kind = Kind(element, d.scale(), 0)
        time = d.constant(time_kind, [filters, memory]).tensor
        state = main.add(Kind(element, state_scale, 0).tensor([batch, memory * filters], variable=True))
        bias_scale = f32(state_scale * time_kind.scale)
        data = d.np.integers(-20000, 20000, units).astype(np.int32).tobytes()
        added = main.add(Tensor("int32", [units], [bias_scale], [0], 0, data)) if not d.one_in(5) else -1
        kind = d.kind(format)
        if not d.one_in(4):
            kind.scale = f32(bias_scale * most * (0.5 * memory * rank) ** 0.5 * most / 40 * d.r.uniform(0.3, 3)) or 1e-30
    table = options("SVDFOptions", rank=rank, fusedActivationFunction=d.pick([0, 1]), asymmetricQuantizeInputs=d.one_in(2))
    d.emit("SVDF", table, [x, first, time, added, state], kind, [batch, units])


def lstm(d, format):
    float = ELEMENT[format] == "float32"
    x = d.x(format, 3)
    time_major = d.one_in(3)
    batch = x.dims[1] if time_major else x.dims[0]
    steps = x.dims[0] if time_major else x.dims[1]
    k, n = x.dims[2], d.between(1, 6)
    outer = Kind("float32") if float else Kind("int8", f32(1 / 128) if d.one_in(2) else f32(2 ** d.r.uniform(-8, -5)), 0 if d.one_in(2) else d.zero("int8"))
    operands = [x.tensor]
    scales = []
    for columns in (k, n):
        for _ in range(4):
            tensor, own = weights(d, format, [n, columns], 0, False)
            if own:
                own = [f32(2 ** d.r.uniform(-9, -4))]
                d.model.main.tensors[tensor].scales = own
            operands.append(tensor)
            scales.append(own)
    operands += [-1] * 3
    for gate in range(4):
        if float:
            operands.append(d.constant(Kind("float32"), [n]).tensor)
        else:
            scale = f32(x.kind.scale * scales[gate][0])
            data = d.np.integers(-3000, 3000, n).astype(np.int32).tobytes()
            operands.append(d.model.main.add(Tensor("int32", [n], [scale], [0], 0, data)))
    operands += [-1] * 2
    cell = Kind("float32") if float else Kind("int16", f32(2.0 ** d.between(-15, -9)), 0)
    for kind in (outer, cell):
        operands.append(d.model.main.add(kind.tensor([batch, n], variable=True)))
    operands += [-1] * 4
    clip = d.pick([0.0, 0.0, 10.0, 0.5])
    fields = dict(fusedActivationFunction=4, cellClip=clip, projClip=0.0, timeMajor=time_major, asymmetricQuantizeInputs=d.one_in(2))
    table = options("UnidirectionalSequenceLSTMOptions", **fields)
    out = [steps, batch, n] if time_major else [batch, steps, n]
    d.emit("UNIDIRECTIONAL_SEQUENCE_LSTM", table, operands, outer, out)


RECIPES = {
    "CONV_2D": (conv_2d, WEIGHTED),
    "DEPTHWISE_CONV_2D": (depthwise_conv_2d, WEIGHTED),
    "FULLY_CONNECTED": (fully_connected, WEIGHTED),
    "TRANSPOSE_CONV": (transpose_conv, ["float32", "int8", "int16", "uint8", "float16", "int4"]),
    "SVDF": (svdf, ["float32", "int8", "hybrid", "float16", "int4"]),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (lstm, ["float32", "int8", "hybrid", "float16", "int4"]),
    "BATCH_MATMUL": (batch_matmul, REAL),
    "AVERAGE_POOL_2D": (pool("AVERAGE_POOL_2D"), REAL),
    "MAX_POOL_2D": (pool("MAX_POOL_2D"), REAL),
    "L2_POOL_2D": (pool("L2_POOL_2D"), ["float32"]),
    "LOCAL_RESPONSE_NORMALIZATION": (local_response_normalization, ["float32"]),
    "RESIZE_BILINEAR": (resize("RESIZE_BILINEAR", "ResizeBilinearOptions"), REAL),
    "RESIZE_NEAREST_NEIGHBOR": (resize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"), REAL + ["int32", "int64"]),
}
