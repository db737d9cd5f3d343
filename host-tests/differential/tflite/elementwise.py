"""Operators that work element by element, or along axes."""

from .draw import ELEMENT, QUANTISED, RANGE, Kind, Senseless, Value, broadcast, f32
from .model import options

PLAIN = ["float32", "int32", "int64"]
NUMBERS = ["float32", "int8", "int16", "uint8", "int32", "int64"]
REAL = ["float32", "int8", "int16", "uint8"]
ALL = NUMBERS + ["bool"]


def broadcastable(d, dims):
    """A shape that broadcasts with `dims`."""
    if d.one_in(2):
        return list(dims)
    first = d.between(0, len(dims))
    return [1 if d.one_in(3) else dim for dim in dims[first:]]


def two(d, format, alike=False):
    x = d.x(format, 0, 5)
    kind = x.kind if alike else d.kind_like(x.kind, format)
    y = d.other(kind, broadcastable(d, x.dims))
    a, b = (y, x) if d.one_in(3) else (x, y)
    return a, b, broadcast(a.dims, b.dims)


def arithmetic(name, table):
    def recipe(d, format):
        x, y, dims = two(d, format)
        fused = d.fused() if format != "int64" or d.one_in(2) else 0
        kind = d.kind_near(x.kind, format)
        if name == "MUL" and x.kind.scale and not d.one_in(3):
            kind.scale = f32(x.kind.scale * y.kind.scale * 2 ** d.r.uniform(3, 8)) or kind.scale
        d.emit(name, options(table, fusedActivationFunction=fused), [x, y], kind, dims)

    return recipe


def pair(name, table=None, alike=False, kind=None):
    def recipe(d, format):
        x, y, dims = two(d, format, alike)
        result = kind or (x.kind if alike else d.kind_near(x.kind, format))
        d.emit(name, options(table) if table else None, [x, y], result, dims)

    return recipe


def comparison(name, table):
    def recipe(d, format):
        x, y, dims = two(d, format, alike=d.one_in(2))
        d.emit(name, options(table), [x, y], Kind("bool"), dims)

    return recipe


def power(d, format):
    """Of integers only where the result is one: beyond, C++ leaves undefined what a cast gives."""
    if format == "float32":
        return pair("POW", "PowOptions")(d, format)
    x = d.x(format, 0, 5)
    x = d.input(x.kind, x.dims)
    d.pool.remove(x)
    d.bounds[x.tensor] = 9
    y = d.ints([d.between(0, 8)], [], format)
    d.emit("POW", options("PowOptions"), [x, y], x.kind, x.dims)


def add_n(d, format):
    x = d.x(format, 0, 5)
    more = [d.other(x.kind, x.dims) for _ in range(d.between(1, 3))]
    d.emit("ADD_N", options("AddNOptions"), [x, *more], x.kind, x.dims)


def prelu(d, format):
    x = d.x(format, 1, 4)
    dims = broadcastable(d, x.dims) or [1]
    slopes = d.constant(d.kind(format), dims)
    d.emit("PRELU", None, [x, slopes], d.kind_near(x.kind, format), x.dims)


def function(name, table=None, alike=False, ranks=(0, 5), positive=False, **fields):
    def recipe(d, format):
        x = d.x(format, *ranks)
        if positive and ELEMENT[format] in ("int8", "uint8") and not d.one_in(4):
            x = d.input(Kind(x.kind.element, x.kind.scale, RANGE[x.kind.element][0]), x.dims)
        kind = x.kind if alike else d.kind_near(x.kind, format)
        drawn = {key: choose(d) for key, choose in fields.items()}
        d.emit(name, options(table, **drawn) if table else None, [x], kind, x.dims)

    return recipe


def fixed_scale(name, table, steps, zero, **fields):
    """The result's quantisation is given: so many steps for 1, and which stored value of int8 is 0."""

    def recipe(d, format):
        x = d.x(format, 1, 4)
        drawn = {key: choose(d) for key, choose in fields.items()}
        element = ELEMENT[format]
        kind = Kind(element)
        if element == "int16":
            kind = Kind(element, 1 / 32768, 0)
        elif element in QUANTISED:
            kind = Kind(element, f32(1 / steps), zero + (128 if element == "uint8" else 0))
        if kind.scale and d.one_in(20):
            kind = d.kind(format)
        d.emit(name, options(table, **drawn) if table else None, [x], kind, x.dims)

    return recipe


def select(name, table):
    def recipe(d, format):
        x, y, dims = two(d, format, alike=True)
        if name == "SELECT":
            if x.dims != y.dims:
                y = d.other(x.kind, x.dims)
            shape = x.dims[:1] if d.one_in(4) and x.rank else [] if d.one_in(6) else x.dims
            condition = d.other(Kind("bool"), shape)
            return d.emit(name, options(table), [condition, x, y], x.kind, x.dims)
        condition = d.other(Kind("bool"), broadcastable(d, dims))
        d.emit(name, options(table), [condition, x, y], x.kind, broadcast(condition.dims, dims))

    return recipe


def cast(d, format):
    x = d.x(format, 0, 5)
    to = d.pick(ALL)
    kind = Kind(to)
    if ELEMENT[format] in QUANTISED and not d.one_in(4):
        x = d.input(Kind(x.kind.element), x.dims)
    d.emit("CAST", options("CastOptions"), [x], kind, x.dims)


def dequantize(d, format):
    x = d.x(format, 0, 5)
    d.emit("DEQUANTIZE", options("DequantizeOptions"), [x], Kind("float32"), x.dims)


def quantize(d, format):
    """From floats, or to another scale."""
    source = d.pick(["float32", "float32", format, "int8", "int16", "uint8"] + (["int32"] if d.one_in(3) else []))
    x = d.x(source, 0, 5)
    kind = d.kind(format)
    if x.kind.scale:
        kind = d.kind_near(x.kind, format)
    elif not d.one_in(3):
        kind.scale = f32(2 ** d.r.uniform(-9, -4)) if kind.element != "int16" else f32(2 ** d.r.uniform(-16, -10))
        if d.one_in(4):
            kind.scale = 0.0625
    d.emit("QUANTIZE", options("QuantizeOptions"), [x], kind, x.dims)


def axes_of(d, rank):
    """Some axes, each of which may count from the end."""
    axes = [a for a in range(rank) if d.one_in(2)] or [d.r.randrange(rank)]
    if d.one_in(12):
        axes.append(axes[0])
    d.r.shuffle(axes)
    return [a - rank if d.one_in(4) else a for a in axes]


def without(dims, axes, keep):
    axes = {a % len(dims) for a in axes}
    return [1 if a in axes else dim for a, dim in enumerate(dims) if keep or a not in axes]


def reduce(name, rescales=False):
    def recipe(d, format):
        x = d.x(format, 1, 5 if d.one_in(4) else 4)
        axes = axes_of(d, x.rank)
        keep = d.one_in(2)
        kind = d.kind_like(x.kind, format) if rescales else x.kind
        scalar = len(axes) == 1 and d.one_in(4)
        stated = d.ints(axes, [] if scalar else None)
        d.emit(name, options("ReducerOptions", keepDims=keep), [x, stated], kind, without(x.dims, axes, keep))

    return recipe


def arg(name, table):
    def recipe(d, format):
        x = d.x(format, 1, 4)
        axis = d.r.randrange(x.rank)
        stated = d.ints([axis - x.rank if d.one_in(4) else axis], [] if d.one_in(2) else None)
        element = d.pick(["int32", "int64"])
        number = {"int32": 2, "int64": 4}[element]
        dims = without(x.dims, [axis], False)
        d.emit(name, options(table, outputType=number), [x, stated], Kind(element), dims)

    return recipe


def cumsum(d, format):
    x = d.x(format, 1, 4)
    axis = d.r.randrange(x.rank)
    stated = d.ints([axis - x.rank if d.one_in(4) else axis], [] if d.one_in(2) else None)
    table = options("CumsumOptions", exclusive=d.one_in(2), reverse=d.one_in(2))
    d.emit("CUMSUM", table, [x, stated], x.kind, x.dims)


def zeros_like(d, format):
    x = d.x(format, 0, 5)
    d.emit("ZEROS_LIKE", options("ZerosLikeOptions"), [x], x.kind, x.dims)


RECIPES = {
    "ADD": (arithmetic("ADD", "AddOptions"), NUMBERS),
    "SUB": (arithmetic("SUB", "SubOptions"), NUMBERS),
    "MUL": (arithmetic("MUL", "MulOptions"), NUMBERS),
    "DIV": (arithmetic("DIV", "DivOptions"), NUMBERS),
    "SQUARED_DIFFERENCE": (pair("SQUARED_DIFFERENCE", "SquaredDifferenceOptions"), NUMBERS),
    "POW": (power, PLAIN),
    "ATAN2": (pair("ATAN2"), ["float32"]),
    "FLOOR_DIV": (pair("FLOOR_DIV", "FloorDivOptions"), NUMBERS),
    "FLOOR_MOD": (pair("FLOOR_MOD", "FloorModOptions"), NUMBERS),
    "MAXIMUM": (pair("MAXIMUM", "MaximumMinimumOptions", alike=True), NUMBERS),
    "MINIMUM": (pair("MINIMUM", "MaximumMinimumOptions", alike=True), NUMBERS),
    "ADD_N": (add_n, PLAIN),
    "PRELU": (prelu, REAL),
    "FLOOR": (function("FLOOR"), ["float32"]),
    "CEIL": (function("CEIL"), ["float32"]),
    "ROUND": (function("ROUND"), ["float32"]),
    "SIGN": (function("SIGN"), ["float32"]),
    "EXP": (function("EXP", "ExpOptions"), REAL),
    "NEG": (function("NEG", "NegOptions", alike=True), ["float32", "int32", "int64", "int8"]),
    "SIN": (function("SIN"), ["float32"]),
    "COS": (function("COS", "CosOptions"), ["float32"]),
    "LOG": (function("LOG", positive=True), REAL),
    "SQRT": (function("SQRT", positive=True), REAL),
    "RSQRT": (function("RSQRT", positive=True), REAL),
    "SQUARE": (function("SQUARE", "SquareOptions"), REAL),
    "ABS": (function("ABS", "AbsOptions"), REAL + ["int32"]),
    "ELU": (function("ELU"), REAL),
    "HARD_SWISH": (function("HARD_SWISH", "HardSwishOptions"), REAL),
    "GELU": (function("GELU", "GeluOptions", approximate=lambda d: d.one_in(2)), REAL),
    "RELU": (function("RELU"), REAL),
    "RELU6": (function("RELU6"), REAL),
    "RELU_N1_TO_1": (function("RELU_N1_TO_1"), REAL),
    "RELU_0_TO_1": (function("RELU_0_TO_1"), REAL),
    "LEAKY_RELU": (
        function("LEAKY_RELU", "LeakyReluOptions", alpha=lambda d: f32(d.r.choice([d.r.uniform(-1, 1), d.r.uniform(0, 0.5), 0.0, 1.5]))),
        REAL,
    ),
    "LOGISTIC": (fixed_scale("LOGISTIC", None, 256, -128), REAL),
    "TANH": (fixed_scale("TANH", None, 128, 0), REAL),
    "SOFTMAX": (fixed_scale("SOFTMAX", "SoftmaxOptions", 256, -128, beta=lambda d: d.pick([1.0, 1.0, 0.5, 2.0, f32(d.r.uniform(0.01, 10))])), REAL),
    "LOG_SOFTMAX": (fixed_scale("LOG_SOFTMAX", "LogSoftmaxOptions", 16, 127), REAL),
    "L2_NORMALIZATION": (fixed_scale("L2_NORMALIZATION", "L2NormOptions", 128, 0), REAL),
    "LESS": (comparison("LESS", "LessOptions"), NUMBERS),
    "GREATER": (comparison("GREATER", "GreaterOptions"), NUMBERS),
    "GREATER_EQUAL": (comparison("GREATER_EQUAL", "GreaterEqualOptions"), NUMBERS),
    "LESS_EQUAL": (comparison("LESS_EQUAL", "LessEqualOptions"), NUMBERS),
    "EQUAL": (comparison("EQUAL", "EqualOptions"), ALL),
    "NOT_EQUAL": (comparison("NOT_EQUAL", "NotEqualOptions"), ALL),
    "LOGICAL_OR": (pair("LOGICAL_OR", "LogicalOrOptions", alike=True), ["bool"]),
    "LOGICAL_AND": (pair("LOGICAL_AND", "LogicalAndOptions", alike=True), ["bool"]),
    "LOGICAL_NOT": (function("LOGICAL_NOT", "LogicalNotOptions", alike=True), ["bool"]),
    "SELECT": (select("SELECT", "SelectOptions"), ALL),
    "SELECT_V2": (select("SELECT_V2", "SelectV2Options"), ALL),
    "CAST": (cast, ALL),
    "DEQUANTIZE": (dequantize, ["int8", "uint8", "int16"]),
    "QUANTIZE": (quantize, ["int8", "uint8", "int16"]),
    "ZEROS_LIKE": (zeros_like, ALL),
    "MEAN": (reduce("MEAN", rescales=True), NUMBERS),
    "SUM": (reduce("SUM", rescales=True), NUMBERS),
    "REDUCE_PROD": (reduce("REDUCE_PROD", rescales=True), NUMBERS),
    "REDUCE_MAX": (reduce("REDUCE_MAX"), NUMBERS),
    "REDUCE_MIN": (reduce("REDUCE_MIN"), NUMBERS),
    "REDUCE_ANY": (reduce("REDUCE_ANY"), ["bool"]),
    "REDUCE_ALL": (reduce("REDUCE_ALL"), ["bool"]),
    "ARG_MAX": (arg("ARG_MAX", "ArgMaxOptions"), ALL),
    "ARG_MIN": (arg("ARG_MIN", "ArgMinOptions"), ALL),
    "CUMSUM": (cumsum, ["float32", "int32", "int64", "int8"]),
}
