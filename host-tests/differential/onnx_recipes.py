"""Recipes of random ONNX graphs: one for each family of operators.

A recipe draws an operator with its attributes and operands, and returns the names of its results. It is given an operand that it may use: a value
of floats that another operator computed, or a new input.
"""

import numpy as np
from onnx import TensorProto, helper

RECIPES = {}
"""By name: the function, and whether it takes the operand that it is given."""

SIZES = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17]
OPSETS = [7, 9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 17, 18, 19, 20, 21, 21, 22, 23]


class Refused(Exception):
    """A graph that cannot be."""


def recipe(*names, chains=False):
    """Declares a recipe, under each of these names."""

    def declare(function):
        for name in names:
            RECIPES[name] = (function, chains)
        return function

    return declare


class Draw:
    """A graph that is drawn."""

    def __init__(self, random, run):
        self.random, self.run_graph = random, run
        self.opset = int(random.choice(OPSETS))
        self.nodes, self.constants, self.inputs, self.results, self.drawn = [], {}, {}, [], []
        self.names = 0
        # Odd numbers, and sizes of zero, are rare: most operators refuse them or lose all others in them.
        self.odd, self.empty = self.chance(0.06), self.chance(0.015)

    def graph(self, names):
        length = int(self.random.choice([1, 1, 1, 2, 3]))
        operand = None
        for step in range(length):
            name = str(self.random.choice(names))
            function, chains = RECIPES[name]
            if operand is not None and not chains:
                break
            self.drawn.append(name)
            found = function(self, name, operand) if chains else function(self, name)
            found = [found] if isinstance(found, str) else list(found)
            # What the next operator reads is seldom an output, too.
            if operand in self.results and self.chance(0.7):
                self.results.remove(operand)
            self.results += found
            if step + 1 == length:
                break
            operand = found[0]
            value = self.value_of(operand)
            if value.dtype != np.float32 or value.size == 0 or value.ndim == 0:
                break
        if self.chance(0.1):
            self.results += [name for node in self.nodes for name in node.output if name and name not in self.results][:2]

    # ---- Choices

    def chance(self, share):
        return bool(self.random.random() < share)

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def int(self, low, high):
        """Both inclusive."""
        return int(self.random.integers(low, high + 1))

    def size(self):
        return 0 if self.empty and self.chance(0.3) else int(self.random.choice(SIZES))

    def shape(self, rank=None, most=4000):
        rank = self.int(1, 4) if rank is None else rank
        while True:
            shape = [self.size() for _ in range(rank)]
            if np.prod(shape) <= most:
                return shape

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank):
        count = self.int(1, rank)
        axes = self.random.choice(rank, count, replace=False)
        return [int(axis - rank if self.chance(0.3) else axis) for axis in axes]

    # ---- Values

    def floats(self, shape, low=None, high=None):
        shape = tuple(shape)
        if low is not None:
            return self.random.uniform(low, high, shape).astype(np.float32)
        kind = self.int(0, 4)
        array = self.random.normal(0, [1, 1, 3, 0.1, 10][kind], shape).astype(np.float32)
        if kind == 1:
            array = np.round(array * 2) / 2
        if self.odd and array.size:
            odd = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38, 1e-40, 88.8, -104.0], np.float32)
            places = self.random.random(shape) < 0.15
            array = np.where(places, self.random.choice(odd, shape), array).astype(np.float32)
        return array

    def array(self, shape, dtype=np.float32, low=None, high=None):
        dtype = np.dtype(dtype)
        if dtype == np.float32:
            return self.floats(shape, low, high)
        if dtype == np.bool_:
            return self.random.random(tuple(shape)) < 0.5
        if low is None:
            info = np.iinfo(dtype)
            low, high = (info.min, info.max) if dtype.itemsize == 1 else (-100, 100)
        return self.random.integers(low, high + 1, tuple(shape)).astype(dtype)

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def input(self, array):
        name = self.name("x")
        self.inputs[name] = np.asarray(array)
        return name

    def constant(self, array):
        name = self.name("c")
        self.constants[name] = np.ascontiguousarray(array).reshape(np.shape(array))
        return name

    def either(self, array, constant=0.35):
        return self.constant(array) if self.chance(constant) else self.input(array)

    def ints(self, *numbers, dtype=np.int64):
        return self.constant(np.array(numbers, dtype))

    def value_of(self, name):
        for known in (self.inputs, self.constants):
            if name in known:
                return known[name]
        if not self.inputs:
            raise Refused("no inputs")
        return self.run_graph(self, [name])[0]

    def operand(self, given, rank=None, shape=None):
        """The given operand, if its rank is right, or an input: its name and shape."""
        if given is not None:
            found = self.value_of(given).shape
            ranks = rank if isinstance(rank, tuple) else (rank,)
            if shape is None and (rank is None or len(found) in ranks) and all(found):
                return given, list(found)
            if shape is None and isinstance(rank, int) and all(found) and len(found) > 0:
                # Reshaped: axes of one in front, or the first axes joined.
                wanted = [1] * (rank - len(found)) + list(found)
                while len(wanted) > rank:
                    wanted[:2] = [wanted[0] * wanted[1]]
                return self.node("Reshape", [given, self.ints(*wanted)]), wanted
        if shape is None:
            shape = self.shape(self.pick(*rank) if isinstance(rank, tuple) else rank)
        return self.input(self.floats(shape)), list(shape)

    def node(self, op, inputs, count=1, domain="", **attributes):
        inputs = list(inputs)
        while inputs and not inputs[-1]:
            inputs.pop()
        outputs = [self.name("y") for _ in range(count)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs[0] if count == 1 else outputs

    def broadcast(self, shape):
        """A shape that broadcasts to another one."""
        other = [1 if self.chance(0.3) else size for size in shape]
        return other[self.int(0, len(other)) :] if self.chance(0.3) else other


# ---- Elementwise

UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Log Mish Neg Reciprocal Relu
Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu Celu Shrink Gelu Swish""".split()
ALPHA = {"Elu", "LeakyRelu", "HardSigmoid", "Selu", "ThresholdedRelu", "Celu", "Swish"}
RANGES = {"Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-1, 1), "Acosh": (1, 9), "Log": (0, 9), "Sqrt": (0, 9), "Tan": (-1.5, 1.5)}


@recipe(*UNARY, chains=True)
def unary(d, name, x):
    if name in RANGES and (x is None or d.chance(0.7)):
        x = d.input(d.floats(d.shape(), *RANGES[name]))
    x, _ = d.operand(x)
    attributes = {}
    if name in ALPHA and d.chance(0.6):
        attributes["alpha"] = float(np.float32(d.random.uniform(0.01, 2)))
    if name == "Selu" and d.chance(0.5):
        attributes["gamma"] = 1.5
    if name == "HardSigmoid" and d.chance(0.5):
        attributes["beta"] = float(np.float32(d.random.uniform(0, 1)))
    if name == "Shrink":
        attributes = {"lambd": float(np.float32(d.random.uniform(0, 1))), "bias": d.pick(0.0, 0.25)}
    if name == "Gelu":
        d.opset = max(d.opset, 20)
        attributes = {"approximate": d.pick("none", "tanh")}
    d.opset = max(d.opset, {"HardSwish": 14, "Mish": 18, "Celu": 12, "Round": 11, "Swish": 24}.get(name, 7))
    return d.node(name, [x], **attributes)


@recipe("AbsInt", "NegInt", "SignInt", "ReluInt", "ClipInt")
def unary_int(d, name):
    d.opset = max(d.opset, 14)
    x = d.input(d.array(d.shape(), d.pick(np.int32, np.int64, np.int8)))
    if name == "ClipInt":
        dtype = d.inputs[x].dtype
        bounds = [d.constant(np.array(bound, dtype)) for bound in (-d.int(0, 50), d.int(0, 50))]
        return d.node("Clip", [x, *d.pick(bounds, ["", bounds[1]], bounds[:1])])
    return d.node(name[:-3], [x])


@recipe("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Mod", chains=True)
def binary(d, name, x):
    if x is None and name != "PRelu" and d.chance(0.3):
        d.opset = max(d.opset, 14)
        dtype = d.pick(np.int32, np.int64)
        shape = d.shape()
        a = d.input(d.array(shape, dtype, 0 if name == "Pow" else -50, 8 if name == "Pow" else 50))
        b = d.array(d.broadcast(shape), dtype, 1 if name in ("Div", "Mod") else 0, 4)
        if name in ("Div", "Mod") and d.chance(0.5):
            b = -b
        fmod = {"fmod": 1} if name == "Mod" and d.chance(0.5) else {}
        return d.node(name, [a, d.either(b)], **fmod)
    x, shape = d.operand(x)
    if name == "Pow":
        x = d.node("Abs", [x])
        return d.node("Pow", [x, d.either(d.floats(d.broadcast(shape), -2, 3) if d.chance(0.5) else np.float32(d.pick(2, 0.5, 3, -1)))])
    if name == "PRelu":
        slope = d.broadcast(shape)
        return d.node(name, [x, d.either(d.floats(slope), 0.8)])
    other = d.array(d.broadcast(shape))
    if d.chance(0.1) and name != "PRelu":
        # Both grow.
        other = d.array([d.pick(2, 3), *[1] * len(shape)])
    y = d.either(other)
    if name == "Mod":
        d.opset = max(d.opset, 10)
        return d.node(name, [x, y], fmod=1)
    if name in ("Max", "Min") and d.chance(0.3):
        return d.node(name, [x, y, d.either(d.floats(d.broadcast(shape)))])
    return d.node(name, d.pick([x, y], [x, y], [y, x]))


@recipe("Sum", "Mean", chains=True)
def several(d, name, x):
    x, shape = d.operand(x)
    d.opset = max(d.opset, 8)
    return d.node(name, [x] + [d.either(d.floats(d.broadcast(shape))) for _ in range(d.int(0, 3))])


@recipe("Clip", chains=True)
def clip(d, name, x):
    x, _ = d.operand(x)
    lo, hi = sorted(d.random.normal(0, 1.5, 2).astype(np.float32).tolist())
    if d.opset < 11:
        return d.node(name, [x], **d.pick({"min": lo, "max": hi}, {"min": lo}, {"max": hi}, {}))
    lo, hi = d.either(np.float32(lo), 0.8), d.either(np.float32(hi), 0.8)
    return d.node(name, [x, *d.pick([lo, hi], [lo], ["", hi], [])])


@recipe("And", "Or", "Xor", "Not")
def logic(d, name):
    shape = d.shape()
    x = d.input(d.array(shape, np.bool_))
    return d.node(name, [x] if name == "Not" else [x, d.either(d.array(d.broadcast(shape), np.bool_))])


@recipe("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
def compare(d, name):
    d.opset = max(d.opset, 16)
    shape, dtype = d.shape(), d.pick(np.float32, np.int32, np.int64)
    low, high = (None, None) if dtype == np.float32 else (-3, 3)
    x, y = d.array(shape, dtype, low, high), d.array(d.broadcast(shape), dtype, low, high)
    if dtype == np.float32:
        x, y = np.round(x), np.round(y)
    return d.node(name, [d.input(x), d.either(y)])


@recipe("IsInf", "IsNaN")
def is_odd(d, name):
    d.odd, d.opset = True, max(d.opset, 10)
    attributes = {"detect_negative": d.int(0, 1), "detect_positive": d.int(0, 1)} if name == "IsInf" and d.chance(0.5) else {}
    return d.node(name, [d.input(d.floats(d.shape()))], **attributes)


@recipe("Where", chains=True)
def where(d, name, x):
    x, shape = d.operand(x)
    d.opset = max(d.opset, 9)
    condition = d.either(d.array(d.broadcast(shape), np.bool_), 0.2)
    other = d.either(d.floats(d.broadcast(shape)))
    return d.node(name, [condition, *d.pick([x, other], [other, x])])


@recipe("Cast", "CastLike")
def cast(d, name):
    source, target = (d.pick(np.float32, np.int32, np.int64, np.bool_, np.int8, np.uint8) for _ in range(2))
    shape = d.shape()
    x = d.array(shape, source) if source != np.float32 else d.floats(shape, 0 if target == np.uint8 else -100, 100)
    if name == "CastLike":
        d.opset = max(d.opset, 15)
        return d.node(name, [d.input(x), d.constant(np.zeros(1, target))])
    return d.node(name, [d.input(x)], to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))


@recipe("BitwiseNot")
def bitwise_not(d, name):
    d.opset = max(d.opset, 18)
    return d.node(name, [d.input(d.array(d.shape(), d.pick(np.int32, np.int64)))])


# ---- Windows


def window_attributes(d, size, image, dilations=True, pads=True):
    """Strides, dilations and padding of a window, odd ones included."""
    count = len(size)
    attributes = {}
    strides = [d.int(1, 4) for _ in range(count)]
    if d.chance(0.6):
        attributes["strides"] = strides
    if dilations and d.chance(0.3):
        attributes["dilations"] = [d.int(1, 3) for _ in range(count)]
    kind = d.int(0, 9) if pads else 9
    if kind <= 3:
        attributes["pads"] = [d.int(0, max(0, s - 1)) for s in size * 2]
    elif kind <= 6:
        attributes["auto_pad"] = d.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif kind == 7:
        attributes["auto_pad"] = "NOTSET"
    return attributes


def image_of(d, given, ranks=(3, 4)):
    return d.operand(given, ranks if given is None or len(d.value_of(given).shape) in ranks else 4)


@recipe("Conv", chains=True)
def conv(d, name, x):
    x, shape = image_of(d, x)
    c, image = shape[1], shape[2:]
    groups = d.pick(1, 1, 1, c, d.pick(*[g for g in range(1, c + 1) if c % g == 0] or [1]))
    o = groups * d.int(1, 4)
    size = [d.int(1, 4) for _ in image]
    w = d.floats([o, c // max(groups, 1), *size])
    attributes = window_attributes(d, size, image)
    if d.chance(0.5):
        attributes["kernel_shape"] = size
    if groups > 1 or d.chance(0.1):
        attributes["group"] = groups
    fixed = 0.85
    bias = d.pick("", d.either(d.floats([o]), fixed))
    return d.node(name, [x, d.either(w, fixed), bias], **attributes)


@recipe("ConvTranspose", chains=True)
def conv_transpose(d, name, x):
    x, shape = image_of(d, x)
    c, image = shape[1], shape[2:]
    groups = d.pick(1, 1, c, d.pick(*[g for g in range(1, c + 1) if c % g == 0] or [1]))
    o = d.int(1, 3)
    size = [d.int(1, 4) for _ in image]
    attributes = window_attributes(d, size, image)
    strides = attributes.get("strides", [1] * len(size))
    if d.chance(0.3):
        attributes["output_padding"] = [d.int(0, max(0, s - 1)) for s in strides]
    if d.chance(0.15):
        attributes["output_shape"] = [max(1, i * s + d.int(-1, 2)) for i, s in zip(image, strides)]
    if groups > 1:
        attributes["group"] = groups
    w = d.floats([c, o, *size])
    return d.node(name, [x, d.either(w, 0.85), d.pick("", d.either(d.floats([o * groups]), 0.8))], **attributes)


@recipe("MaxPool", "AveragePool", "LpPool", chains=True)
def pool(d, name, x):
    x, shape = image_of(d, x)
    size = [d.int(1, 4) for _ in shape[2:]]
    # Versions in which these have dilations.
    dilated = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[name] <= d.opset
    attributes = window_attributes(d, size, shape[2:], dilated) | {"kernel_shape": size}
    if name != "LpPool" and d.opset >= 10 and d.chance(0.3):
        attributes["ceil_mode"] = 1
    if name == "AveragePool" and d.chance(0.4):
        attributes["count_include_pad"] = 1
    if name == "LpPool" and d.chance(0.7):
        attributes["p"] = d.int(1, 3)
    return d.node(name, [x], **attributes)


@recipe("MaxPoolInt")
def pool_int(d, name):
    d.opset = max(d.opset, 12)
    shape = d.shape(d.pick(3, 4))
    size = [d.int(1, 3) for _ in shape[2:]]
    attributes = window_attributes(d, size, shape[2:])
    return d.node("MaxPool", [d.input(d.array(shape, d.pick(np.int8, np.uint8)))], kernel_shape=size, **attributes)


@recipe("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", chains=True)
def global_pool(d, name, x):
    x, _ = image_of(d, x)
    return d.node(name, [x], p=d.int(1, 3) if name == "GlobalLpPool" and d.chance(0.5) else None)


@recipe("Resize", "Upsample", chains=True)
def resize(d, name, x):
    x, shape = image_of(d, x)
    if name == "Upsample":
        d.opset = 9
        scales = [1.0, 1.0] + [float(d.pick(1, 2, 3)) for _ in shape[2:]]
        return d.node(name, [x, d.constant(np.array(scales, np.float32))], mode=d.pick("nearest", "linear") if len(shape) == 4 else "nearest")
    # A factor whose product with a size is rounded up to a whole number is another size in ONNX Runtime than in ONNX.
    factors = [f for f in (0.5, 1, 1.5, 2, 3, 0.75, 0.6, 0.3, 1.7, 1.1) if all(np.floor(np.float32(f) * np.float32(s)) == np.floor(float(np.float32(f)) * s) for s in shape)]
    factors = np.array([1.0, 1.0] + [float(d.pick(*factors)) for _ in shape[2:]], np.float32)
    if d.chance(0.1):
        d.opset = 10
        return d.node(name, [x, d.constant(factors)], mode=d.pick("nearest", "linear") if len(shape) == 4 else "nearest")
    d.opset = max(d.opset, 11)
    mode = d.pick("nearest", "linear", "cubic") if len(shape) == 4 else d.pick("nearest", "linear")
    coordinates = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"] + ["tf_half_pixel_for_nn"] * (d.opset < 13) + ["half_pixel_symmetric"] * (d.opset >= 19)
    attributes = {"mode": mode, "coordinate_transformation_mode": d.pick(*coordinates)}
    if mode == "nearest":
        attributes["nearest_mode"] = d.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        attributes |= {"cubic_coeff_a": d.pick(-0.5, -0.75), "exclude_outside": d.int(0, 1)}
    if d.opset >= 18 and mode != "nearest" and d.chance(0.3):
        attributes["antialias"] = 1
    roi = d.constant(np.zeros(0, np.float32)) if d.opset < 13 else ""
    if d.chance(0.5):
        return d.node(name, [x, roi, d.constant(factors)], **attributes)
    sizes = shape[:2] + [max(1, s + d.int(-3, 5)) for s in shape[2:]]
    none = d.constant(np.zeros(0, np.float32)) if d.opset < 13 else ""
    return d.node(name, [x, roi, none, d.ints(*sizes)], **attributes)


@recipe("Col2Im")
def col2im(d, name):
    d.opset = max(d.opset, 18)
    size, image, c = [d.int(1, 3), d.int(1, 3)], [d.int(3, 7), d.int(3, 7)], d.int(1, 3)
    blocks = (image[0] - size[0] + 1) * (image[1] - size[1] + 1)
    return d.node(name, [d.input(d.floats([d.int(1, 2), c * size[0] * size[1], blocks])), d.ints(*image), d.ints(*size)])


@recipe("DepthToSpace", "SpaceToDepth")
def depth_space(d, name):
    d.opset = max(d.opset, 11)
    block = d.int(1, 3)
    n, c, h, w = d.int(1, 2), d.int(1, 4), d.int(1, 5), d.int(1, 5)
    if name == "DepthToSpace":
        return d.node(name, [d.input(d.floats([n, c * block * block, h, w]))], blocksize=block, mode=d.pick("DCR", "CRD", None))
    return d.node(name, [d.input(d.floats([n, c, h * block, w * block]))], blocksize=block)


# ---- Products


@recipe("MatMul", chains=True)
def matmul(d, name, x):
    x, shape = d.operand(x)
    k = shape[-1]
    front = [1 if d.chance(0.3) else size for size in shape[:-2]]
    other = d.pick([k], [k, d.size()], [k, d.size()], [*front, k, d.size()])
    y = d.floats(other)
    if d.chance(0.15) and len(shape) >= 2:
        return d.node(name, [d.either(d.floats([d.size(), shape[-2]])), x])
    return d.node(name, [x, d.either(y, 0.6)])


@recipe("Gemm", chains=True)
def gemm(d, name, x):
    x, (m, k) = d.operand(x, 2)
    a, b = d.int(0, 1), d.int(0, 1)
    if a:
        m, k = k, m
    n = d.size()
    attributes = {"transA": a, "transB": b, "alpha": d.pick(None, 1.0, 0.5), "beta": d.pick(None, 1.0, 0.25, 0.0)}
    w = d.either(d.floats([n, k] if b else [k, n]), 0.7)
    c = d.pick([n], [1, n], [m, 1], [m, n], [1], None)
    if c is None and d.opset < 11:
        c = [n]
    return d.node(name, [x, w, d.either(d.floats(c), 0.7) if c else ""], **attributes)


@recipe("Einsum")
def einsum(d, name):
    d.opset = max(d.opset, 12)
    equation = d.pick("ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "ij->ji", "ij,ij->i", "i,j->ij", "bij->b", "ijk,kl->ijl", "ii->i", "...ij,...jk->...ik")
    sizes = {letter: d.pick(1, 2, 3, 5) for letter in "abcdefghijkl"}
    operands = []
    for term in equation.split("->")[0].split(","):
        front = [2] if "..." in term else []
        operands.append(d.floats(front + [sizes[letter] for letter in term if letter != "."]))
    names = [d.input(operands[0])] + [d.either(operand) for operand in operands[1:]]
    return d.node(name, names, equation=equation)


# ---- Normalisation


@recipe("Softmax", "LogSoftmax", "Hardmax", chains=True)
def softmax(d, name, x):
    x, shape = d.operand(x)
    axis = d.axis(len(shape)) if d.opset >= 11 else d.int(0, len(shape) - 1)
    return d.node(name, [x], axis=axis if d.chance(0.7) else None)


@recipe("LRN", chains=True)
def lrn(d, name, x):
    x, shape = d.operand(x, 4)
    attributes = {"alpha": d.pick(None, 0.1, 1.0), "beta": d.pick(None, 0.5, 1.0), "bias": d.pick(None, 0.5, 2.0)}
    return d.node(name, [x], size=d.pick(1, 3, 5, 7, 2 * shape[1] + 5, 11), **attributes)


@recipe("BatchNormalization", chains=True)
def batch_normalization(d, name, x):
    x, shape = d.operand(x, (2, 3, 4))
    c = shape[1] if len(shape) > 1 else 1
    lists = [d.floats([c]), d.floats([c]), d.floats([c]), d.floats([c], 0.1, 2)]
    fixed = 0.9
    return d.node(name, [x, *[d.either(array, fixed) for array in lists]], epsilon=d.pick(None, 1e-3))


@recipe("InstanceNormalization", chains=True)
def instance_normalization(d, name, x):
    x, shape = image_of(d, x)
    return d.node(name, [x, d.either(d.floats([shape[1]])), d.either(d.floats([shape[1]]))], epsilon=d.pick(None, 1e-3))


@recipe("GroupNormalization", chains=True)
def group_normalization(d, name, x):
    d.opset = max(d.opset, 21)
    x, shape = image_of(d, x)
    c = shape[1]
    groups = d.pick(*[g for g in range(1, c + 1) if c % g == 0] or [1])
    return d.node(name, [x, d.either(d.floats([c])), d.either(d.floats([c]))], num_groups=groups)


@recipe("LayerNormalization", "RMSNormalization", chains=True)
def layer_normalization(d, name, x):
    d.opset = max(d.opset, 17 if name[0] == "L" else 23)
    x, shape = d.operand(x)
    axis = d.axis(len(shape))
    scale = shape[axis:] if axis < 0 else shape[axis:]
    operands = [x, d.either(d.floats(scale), 0.8)]
    if name[0] == "L" and d.chance(0.7):
        operands.append(d.either(d.floats(scale), 0.8))
    return d.node(name, operands, axis=axis, epsilon=d.pick(None, 1e-3))


@recipe("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_layer(d, name):
    shape = d.shape(3)
    last = shape[-1]
    operands = [d.input(d.floats(shape)), d.either(d.floats(shape)), d.constant(d.floats([last]))]
    if name == "SkipLayerNormalization":
        operands.append(d.pick("", d.constant(d.floats([last]))))
    operands.append(d.pick("", d.constant(d.floats([last]))))
    return d.node(name, operands, domain="com.microsoft", epsilon=1e-5)


@recipe("MeanVarianceNormalization", chains=True)
def mean_variance(d, name, x):
    d.opset = max(d.opset, 9)
    x, shape = d.operand(x, 4)
    return d.node(name, [x], axes=d.pick(None, [0, 2, 3], [1], [2, 3]))


@recipe("LpNormalization", chains=True)
def lp_normalization(d, name, x):
    x, shape = d.operand(x)
    return d.node(name, [x], p=d.pick(1, 2), axis=d.axis(len(shape)))


# ---- Reductions


@recipe("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", chains=True)
def reduce(d, name, x):
    if name == "ReduceLogSum":
        x = d.input(d.floats(d.shape(), 0.1, 3))
    if x is None and name in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare", "ReduceMean") and d.chance(0.25):
        shape = d.shape()
        x = d.input(d.array(shape, d.pick(np.int32, np.int64), -4, 4))
    else:
        x, shape = d.operand(x)
    axes = d.pick(None, d.axes(len(shape)), d.axes(len(shape)))
    keep = d.pick(None, 0, 1)
    if d.opset >= 18 or name == "ReduceSum" and d.opset >= 13:
        if axes is None:
            return d.node(name, [x], keepdims=keep, noop_with_empty_axes=d.pick(None, 0, 1))
        return d.node(name, [x, d.ints(*axes)], keepdims=keep)
    if d.opset < 11 and axes:
        axes = [axis % len(shape) for axis in axes]
    return d.node(name, [x], axes=axes, keepdims=keep)


@recipe("ArgMax", "ArgMin")
def arg(d, name):
    d.opset = max(d.opset, 13)
    shape = d.shape()
    x = np.round(d.array(shape)) if d.chance(0.7) else d.array(shape, np.int32, -3, 3)
    return d.node(name, [d.input(x)], axis=d.axis(len(shape)), keepdims=d.pick(None, 0, 1), select_last_index=d.pick(None, 0, 1))


@recipe("TopK")
def top(d, name):
    d.opset = max(d.opset, 11)
    shape = d.shape()
    axis = d.axis(len(shape))
    x = d.array(shape) if d.chance(0.7) else d.array(shape, np.int64)
    k = d.int(1, max(1, shape[axis]))
    return d.node(name, [d.input(x), d.ints(k)], count=2, axis=axis, largest=d.pick(None, 0, 1))


@recipe("CumSum", "CumProd")
def cumulative(d, name):
    d.opset = max(d.opset, 14 if name == "CumSum" else 26)
    shape, dtype = d.shape(), d.pick(np.float32, np.float32, np.int32, np.int64)
    x = d.input(d.array(shape, dtype, -2, 2))
    axis = d.constant(np.array(d.axis(len(shape)), d.pick(np.int32, np.int64)))
    return d.node(name, [x, axis], exclusive=d.pick(None, 0, 1), reverse=d.pick(None, 0, 1))


# ---- Moves


def any_array(d, shape):
    dtype = d.pick(np.float32, np.float32, np.float32, np.int32, np.int64, np.int8, np.uint8, np.bool_)
    return d.array(shape, dtype)


@recipe("Transpose", chains=True)
def transpose(d, name, x):
    x = x or d.input(any_array(d, d.shape()))
    rank = d.value_of(x).ndim
    return d.node(name, [x], perm=d.pick(None, [int(axis) for axis in d.random.permutation(rank)]))


@recipe("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", chains=True)
def shape(d, name, x):
    x = x or d.input(any_array(d, d.shape()))
    have = list(d.value_of(x).shape)
    if name == "Reshape":
        target = d.pick([-1], [1, -1], [*have[::-1]], [0, -1] if len(have) > 1 else [-1], [-1, have[-1]])
        return d.node(name, [x, d.ints(*target)])
    if name == "Flatten":
        return d.node(name, [x], axis=d.pick(None, d.int(0, len(have))))
    if name == "Expand":
        d.opset = max(d.opset, 8)
        target = [d.int(2, 4) if size == 1 and d.chance(0.7) else size for size in have]
        return d.node(name, [x, d.ints(*([d.int(1, 2)] if d.chance(0.3) else []), *target)])
    if name == "Tile":
        return d.node(name, [x, d.ints(*[d.int(1, 3) for _ in have])])
    ones = [axis for axis, size in enumerate(have) if size == 1]
    axes = ones[: d.int(1, 2)] if name == "Squeeze" else [d.int(0, len(have))]
    if name == "Squeeze" and (not axes or d.chance(0.2)):
        return d.node(name, [x])
    return d.node(name, [x, d.ints(*axes)]) if d.opset >= 13 else d.node(name, [x], axes=axes)


@recipe("Concat", chains=True)
def concat(d, name, x):
    x = x or d.input(any_array(d, d.shape()))
    value = d.value_of(x)
    axis = d.axis(value.ndim)
    parts = [x]
    for _ in range(d.int(0, 3)):
        other = list(value.shape)
        other[axis] = d.size() or 1
        parts.append(d.either(d.array(other, value.dtype)))
    order = d.random.permutation(len(parts))
    return d.node(name, [parts[k] for k in order], axis=axis if d.opset >= 11 else axis % value.ndim)


@recipe("Split", chains=True)
def split(d, name, x):
    x = x or d.input(any_array(d, d.shape()))
    have = list(d.value_of(x).shape)
    axis = d.axis(len(have))
    size, count = have[axis], d.int(1, 3)
    if d.opset >= 18 and d.chance(0.4):
        return d.node(name, [x], count=min(count, size), axis=axis, num_outputs=min(count, size)) if count > 1 and size > 1 else d.node(name, [x], axis=axis, num_outputs=1)
    cuts = sorted(d.int(0 if d.chance(0.1) else 1, size) for _ in range(count - 1))
    sizes = [int(b - a) for a, b in zip([0, *cuts], [*cuts, size])]
    axis = axis if d.opset >= 11 else axis % len(have)
    if d.opset >= 13:
        return d.node(name, [x, d.ints(*sizes)], count=count, axis=axis)
    return d.node(name, [x], count=count, axis=axis, split=sizes)


@recipe("Slice", chains=True)
def slices(d, name, x):
    x = x or d.input(any_array(d, d.shape()))
    have = list(d.value_of(x).shape)
    axes = d.axes(len(have))
    if d.opset < 10:
        axes = [axis % len(have) for axis in axes]
        starts = [d.int(0, max(0, have[axis] - 1)) for axis in axes]
        return d.node(name, [x], axes=axes, starts=starts, ends=[d.pick(s + d.int(1, 4), 2**31 - 1, -1) for s in starts])
    starts, ends, steps = [], [], []
    for axis in axes:
        size, step = have[axis], d.pick(1, 1, 2, 3, -1, -2)
        start = d.int(-size, max(0, size - 1))
        end = d.pick(start + step * d.int(1, 4), 2**62 if step > 0 else -(2**62))
        if start < 0 <= end < 2**40 or end < 0 <= start and step > 0:
            end = 2**62
        starts.append(start), ends.append(end), steps.append(step)
    operands = [x, d.ints(*starts), d.ints(*ends), d.ints(*axes)]
    return d.node(name, operands + ([d.ints(*steps)] if d.chance(0.8) or min(steps) < 0 else []))


@recipe("Pad", chains=True)
def pad(d, name, x):
    x, have = d.operand(x)
    mode = d.pick("constant", "constant", "reflect", "edge", "wrap" if d.opset >= 19 else "edge")
    most = lambda size: 3 if mode in ("constant", "edge") else max(0, size - 1) if mode == "reflect" else size
    pads = [d.int(-1 if d.chance(0.15) and size > 2 else 0, min(3, most(size))) for size in have * 2]
    if d.opset < 11:
        return d.node(name, [x], pads=pads, mode=mode, value=d.pick(None, 1.5))
    value = d.constant(np.float32(d.pick(0, -1.5, 7))) if mode == "constant" and d.chance(0.5) else ""
    return d.node(name, [x, d.ints(*pads), value], mode=mode)


@recipe("CenterCropPad", chains=True)
def center(d, name, x):
    d.opset = max(d.opset, 18)
    x, have = d.operand(x)
    return d.node(name, [x, d.ints(*[max(1, s + d.int(-3, 3)) for s in have])])


@recipe("Gather", "GatherElements", "GatherND")
def gather(d, name):
    d.opset = max(d.opset, 13)
    x = any_array(d, d.shape())
    axis = d.axis(x.ndim)
    size = x.shape[axis]
    if not x.size:
        raise Refused("nothing to gather")
    if name == "Gather":
        index = d.random.integers(-size, size, tuple(d.shape(d.int(0, 2))))
        return d.node(name, [d.either(x, 0.2), d.either(index.astype(d.pick(np.int32, np.int64)), 0.5)], axis=axis)
    if name == "GatherElements":
        other = list(x.shape)
        other[axis] = d.size() or 1
        return d.node(name, [d.either(x, 0.2), d.either(d.random.integers(-size, size, other).astype(np.int64), 0.5)], axis=axis)
    batch = d.int(0, max(0, x.ndim - 1))
    depth = d.int(1, x.ndim - batch)
    lead = list(x.shape[:batch]) + [d.int(1, 3)]
    parts = [d.random.integers(-x.shape[batch + k], x.shape[batch + k], lead) for k in range(depth)]
    return d.node(name, [d.either(x, 0.2), d.either(np.stack(parts, -1).astype(np.int64), 0.6)], batch_dims=batch)


@recipe("ScatterElements", "ScatterND")
def scatter(d, name):
    d.opset = max(d.opset, 16)
    x = d.array(d.shape(), d.pick(np.float32, np.int32))
    if not x.size:
        raise Refused("nothing to scatter to")
    reduction = d.pick(None, "add", "mul", *(["max", "min"] if d.opset >= 18 else []))
    axis = d.axis(x.ndim)
    size = x.shape[axis]
    if name == "ScatterElements":
        count = d.int(1, size)
        other = list(x.shape)
        other[axis] = count
        index = np.argsort(d.random.random(x.shape), axis)
        index = np.take(index, range(count), axis) if reduction is None else d.random.integers(-size, size, other)
        operands = [d.either(x, 0.2), d.either(index.astype(np.int64), 0.6), d.either(d.array(other, x.dtype))]
        return d.node(name, operands, axis=axis, reduction=reduction)
    rows = d.int(1, x.shape[0])
    index = d.random.permutation(x.shape[0])[:rows].reshape(-1, 1).astype(np.int64)
    return d.node(name, [d.either(x, 0.2), d.either(index, 0.6), d.either(d.array([rows, *x.shape[1:]], x.dtype))], reduction=reduction)


@recipe("OneHot")
def one_hot(d, name):
    d.opset = max(d.opset, 11)
    depth = d.int(1, 7)
    index = d.array(d.shape(d.int(1, 3)), d.pick(np.int32, np.int64), -depth - 1, depth)
    return d.node(name, [d.input(index), d.ints(depth), d.constant(np.array([-1, 2], np.float32))], axis=d.pick(None, 0, -1))


@recipe("ReverseSequence")
def reverse_sequence(d, name):
    d.opset = max(d.opset, 10)
    have = d.shape(d.int(2, 4))
    batch = d.int(0, 1)
    lengths = d.random.integers(1, max(2, have[1 - batch] + 1), have[batch])
    return d.node(name, [d.input(d.floats(have)), d.either(lengths.astype(np.int64))], batch_axis=batch, time_axis=1 - batch)


@recipe("Compress")
def compress(d, name):
    d.opset = max(d.opset, 11)
    have = d.shape()
    axis = d.axis(len(have))
    condition = d.array([have[axis]], np.bool_)
    return d.node(name, [d.input(d.floats(have)), d.constant(condition)], axis=axis)


@recipe("Trilu", "EyeLike")
def matrix(d, name):
    d.opset = max(d.opset, 14)
    if name == "EyeLike":
        x = d.input(d.floats(d.shape(2)))
        return d.node("Add", [x, d.node(name, [x], k=d.pick(None, -1, 2))])
    have = d.shape(d.int(2, 4))
    x = d.input(d.array(have, d.pick(np.float32, np.int64)))
    return d.node(name, [x, d.pick("", d.ints(d.int(-3, 3)))], upper=d.pick(None, 0, 1))


@recipe("Shape", "Size", "ConstantOfShape", "Range", chains=True)
def sizes(d, name, x):
    x, have = d.operand(x)
    if name == "Range":
        d.opset = max(d.opset, 11)
        bounds = [d.constant(np.array(bound, np.float32)) for bound in (0, have[-1], 1)]
        return d.node("Add", [x, d.node(name, bounds)])
    if name == "ConstantOfShape":
        d.opset = max(d.opset, 9)
        fill = helper.make_tensor("fill", TensorProto.FLOAT, [1], [d.pick(0.0, 2.5)])
        return d.node("Add", [x, d.node(name, [d.node("Shape", [x])], value=fill)])
    y = d.node(name, [x])
    return d.node("Mul", [x, d.node("ReduceMax", [d.node("Cast", [y], to=TensorProto.FLOAT)], keepdims=0) if name == "Shape" else d.node("Cast", [y], to=TensorProto.FLOAT)])


@recipe("Dropout", chains=True)
def dropout(d, name, x):
    x, _ = d.operand(x)
    return d.node(name, [x])


# ---- Recurrent


@recipe("LSTM", "GRU", "RNN")
def recurrent(d, name):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    steps, batch, inputs, units = d.int(1, 6), d.int(1, 3), d.int(1, 5), d.int(1, 5)
    direction = d.pick(None, "forward", "reverse", "bidirectional")
    count = 2 if direction == "bidirectional" else 1
    layout = None
    uniform = lambda *shape: d.floats(shape, -0.7, 0.7)
    operands = [d.input(d.floats([steps, batch, inputs], -2, 2)), d.constant(uniform(count, gates * units, inputs)), d.constant(uniform(count, gates * units, units))]
    operands.append(d.pick("", d.constant(uniform(count, 2 * gates * units))))
    lengths = d.pick(None, None, None, np.full(batch, d.int(1, steps), np.int32))
    operands.append("" if lengths is None else d.constant(lengths))
    for _ in range(2 if name == "LSTM" else 1):
        operands.append(d.pick("", d.either(uniform(count, batch, units), 0.3)))
    if name == "LSTM":
        operands.append(d.pick("", "", d.constant(uniform(count, 3 * units))))
    attributes = {"hidden_size": units, "direction": direction, "layout": layout, "clip": d.pick(None, None, None, 0.8)}
    if name == "GRU":
        attributes["linear_before_reset"] = d.pick(None, 0, 1)
    if name == "LSTM" and d.chance(0.15):
        attributes["input_forget"] = 1
    if d.chance(0.25):
        each = {"LSTM": 3, "GRU": 2, "RNN": 1}[name]
        attributes["activations"] = [d.pick("Sigmoid", "Tanh", "Relu") for _ in range(each * count)]
    return d.node(name, operands, count=3 if name == "LSTM" else 2, **attributes)


# ---- Attention


@recipe("Attention")
def attention(d, name):
    d.opset = 23
    batch, heads, queries, keys, size = d.int(1, 2), d.int(1, 3), d.int(1, 5), d.int(1, 5), d.int(1, 4)
    q, k, v = (d.floats([batch, heads, rows, size]) for rows in (queries, keys, keys))
    mask = d.pick("", d.either(d.floats([queries, keys])), d.constant(d.array([queries, keys], np.bool_) | np.eye(queries, keys, dtype=bool)))
    return d.node(name, [d.input(q), d.input(k), d.either(v), mask], is_causal=d.pick(None, 1) if not mask else None, scale=d.pick(None, 0.5), softcap=d.pick(None, None, 2.0))


@recipe("RotaryEmbedding")
def rotary(d, name):
    d.opset = 23
    batch, heads, steps, size = d.int(1, 2), d.int(1, 2), d.int(1, 4), 2 * d.int(1, 4)
    x = d.input(d.floats([batch, heads, steps, size]))
    cos, sin = (d.constant(d.floats([batch, steps, size // 2], -1, 1)) for _ in range(2))
    return d.node(name, [x, cos, sin], interleaved=d.pick(None, 0, 1))


# ---- Quantised


def scale_of(d, array, dtype):
    """A scale and a zero point with which a tensor fits an integer type, nearly."""
    info = np.iinfo(dtype)
    finite = array[np.isfinite(array)] if array.size else np.zeros(1)
    low, high = min(0, float(finite.min(initial=0))), max(0, float(finite.max(initial=0)))
    if dtype == np.int16:
        return np.float32(max(high, -low, 1e-3) / 32767), np.int16(0)
    scale = np.float32(max(high - low, 1e-3) / 255 * d.pick(1, 1, 0.6, 1.7))
    zero = np.clip(round(info.min - low / scale), info.min, info.max)
    if d.chance(0.1):
        zero = d.int(info.min, info.max)
    return scale, dtype(zero)


def q(d, x, dtype, domain=""):
    scale, zero = scale_of(d, d.value_of(x), dtype)
    names = [d.constant(np.float32(scale)), d.constant(np.array(zero, dtype))]
    return d.node("QuantizeLinear", [x, *names], domain=domain), names


def qdq(d, x, dtype):
    domain = "com.microsoft" if dtype == np.int16 and d.opset < 21 else ""
    y, names = q(d, x, dtype, domain)
    return d.node("DequantizeLinear", [y, *names], domain=domain)


def weights_qdq(d, array, axis):
    """Constant weights behind a DequantizeLinear, of one scale or of one for each filter."""
    if d.chance(0.5) or d.opset < 13:
        scale = np.float32(max(np.abs(array).max(), 1e-3) / 127)
        stored = np.clip(np.round(array / scale), -127, 127).astype(np.int8)
        return d.node("DequantizeLinear", [d.constant(stored), d.constant(scale), d.constant(np.int8(0))]), scale
    others = tuple(k for k in range(array.ndim) if k != axis)
    scale = np.maximum(np.abs(array).max(others), 1e-3).astype(np.float32) / np.float32(127)
    along = scale.reshape([-1 if k == axis else 1 for k in range(array.ndim)])
    stored = np.clip(np.round(array / along), -127, 127).astype(np.int8)
    return d.node("DequantizeLinear", [d.constant(stored), d.constant(scale), d.constant(np.zeros(len(scale), np.int8))], axis=axis), scale


QDQ = "conv matmul gemm add mul sub average max mean relu clip sigmoid softmax concat transpose resize hardswish leaky global tanh".split()


def qdq_layer(d, kind, x, dtype):
    have = list(d.value_of(x).shape)
    image = len(have) == 4
    if kind == "conv":
        c = have[1]
        groups = d.pick(1, 1, c)
        o = groups * d.int(1, 3)
        size = [d.int(1, 3), d.int(1, 3)]
        w, _ = weights_qdq(d, d.floats([o, c // groups, *size], -1, 1), 0)
        bias = d.pick("", d.constant(d.floats([o], -1, 1)))
        return d.node("Conv", [x, w, bias], group=groups, **window_attributes(d, size, have[2:]))
    if kind == "gemm":
        flat = d.node("Flatten", [x])
        k, n = int(np.prod(have[1:])), d.int(1, 9)
        w, _ = weights_qdq(d, d.floats([n, k], -1, 1), 0)
        return d.node("Gemm", [flat, w, d.constant(d.floats([n], -1, 1))], transB=1)
    if kind == "matmul":
        w, _ = weights_qdq(d, d.floats([have[-1], d.int(1, 9)], -1, 1), 1)
        return d.node("MatMul", [x, w])
    if kind in ("add", "mul", "sub"):
        other = d.pick(x, qdq(d, d.input(d.floats(d.broadcast(have))), dtype), qdq(d, d.constant(d.floats(d.broadcast(have))), dtype))
        return d.node(kind.capitalize(), [x, other])
    if kind in ("average", "max"):
        size = [d.int(1, 3), d.int(1, 3)]
        attributes = window_attributes(d, size, have[2:], dilations=False) | {"kernel_shape": size}
        return d.node("AveragePool" if kind == "average" else "MaxPool", [x], **attributes)
    if kind == "mean":
        return d.node("ReduceMean", [x, d.ints(len(have) - 1)] if d.opset >= 18 else [x], axes=None if d.opset >= 18 else [len(have) - 1])
    if kind == "softmax":
        return d.node("Softmax", [x], axis=-1 if d.opset >= 13 else len(have) - 1)
    if kind == "concat":
        return d.node("Concat", [x, qdq(d, d.input(d.floats(have)), dtype)], axis=1)
    if kind == "transpose":
        return d.node("Transpose", [x])
    if kind == "resize":
        d.opset = max(d.opset, 13)
        return d.node("Resize", [x, "", d.constant(np.array([1, 1, 2, 2], np.float32))], mode=d.pick("nearest", "linear"))
    if kind == "hardswish":
        d.opset = max(d.opset, 14)
    if kind == "clip":
        d.opset = max(d.opset, 11)
        return d.node("Clip", [x, d.constant(np.float32(0)), d.constant(np.float32(6))])
    op = {"relu": "Relu", "sigmoid": "Sigmoid", "hardswish": "HardSwish", "leaky": "LeakyRelu", "global": "GlobalAveragePool", "tanh": "Tanh"}[kind]
    return d.node(op, [x])


@recipe("QDQ", "QDQ16")
def qdq_chain(d, name):
    """One to four layers between DequantizeLinear and QuantizeLinear."""
    d.opset, d.odd, d.empty = max(d.opset, 13), False, False
    dtype = np.int16 if name == "QDQ16" else d.pick(np.int8, np.uint8)
    x = d.input(d.floats(d.shape(d.pick(2, 3, 4, 4), most=600)))
    x = qdq(d, x, dtype)
    for _ in range(d.int(1, 4)):
        image = d.value_of(x).ndim == 4
        kinds = [kind for kind in QDQ if image or kind not in ("conv", "average", "max", "resize", "global")]
        x = qdq_layer(d, d.pick(*kinds), x, dtype)
        if d.value_of(x).size == 0:
            raise Refused("no elements are left")
        if d.chance(0.85):
            x = qdq(d, x, dtype)
    return x


@recipe("QuantizeLinear", "DequantizeLinear")
def quantise(d, name):
    d.opset = max(d.opset, 13)
    have, dtype = d.shape(), d.pick(np.int8, np.uint8, *([np.int16] if d.opset >= 21 else []))
    x = d.floats(have) if name[0] == "Q" else d.array(have, dtype)
    if d.chance(0.6):
        scale, zero = scale_of(d, np.asarray(x, np.float32), dtype)
        return d.node(name, [d.input(x), d.constant(np.float32(scale)), d.constant(np.array(zero, dtype))])
    axis = d.axis(len(have))
    scale = d.floats([have[axis]], 0.01, 0.3)
    zero = d.array([have[axis]], dtype) if dtype != np.int16 else np.zeros(have[axis], dtype)
    return d.node(name, [d.input(x), d.constant(scale), d.constant(zero)], axis=axis)


def tensor(d, have, dtype):
    """An input of integers, its scale and its zero point."""
    return d.input(d.array(have, dtype)), d.constant(np.float32(d.random.uniform(0.005, 0.1))), d.constant(np.array(d.int(np.iinfo(dtype).min, np.iinfo(dtype).max), dtype))


def target(d, dtype):
    return d.constant(np.float32(d.random.uniform(0.01, 0.3))), d.constant(np.array(d.int(np.iinfo(dtype).min, np.iinfo(dtype).max), dtype))


def filters(d, have, dtype, count):
    scale = d.floats([count] if d.chance(0.5) else [], 0.005, 0.05)
    stored = d.array(have, dtype)
    zero = np.zeros(scale.shape, dtype) + dtype(0 if dtype == np.int8 else 128)
    return d.constant(stored), d.constant(scale), d.constant(zero.astype(dtype))


@recipe("QLinearConv", "ConvInteger")
def integer_conv(d, name):
    d.opset = max(d.opset, 10)
    dtype = d.pick(np.uint8, np.int8) if name[0] == "Q" else np.uint8
    have = d.shape(d.pick(3, 4), most=800)
    c = have[1] or 1
    groups = d.pick(1, 1, c)
    o, size = groups * d.int(1, 3), [d.int(1, 3) for _ in have[2:]]
    attributes = window_attributes(d, size, have[2:]) | {"group": groups}
    x, scale, zero = tensor(d, have, dtype)
    w = [o, c // groups, *size]
    if name == "ConvInteger":
        return d.node(name, [x, d.constant(d.array(w, np.uint8)), d.pick("", zero), d.pick("", d.constant(np.uint8(d.int(0, 255))))], **attributes)
    filter_type = np.int8 if dtype == np.int8 else d.pick(np.int8, np.uint8)
    bias = d.pick("", d.constant(d.array([o], np.int32, -2000, 2000)))
    return d.node(name, [x, scale, zero, *filters(d, w, filter_type, o), *target(d, dtype), bias], **attributes)


@recipe("QLinearMatMul", "MatMulInteger")
def integer_matmul(d, name):
    d.opset = max(d.opset, 10)
    dtype = d.pick(np.uint8, np.int8)
    m, k, n = d.size() or 1, d.size() or 1, d.size() or 1
    x, scale, zero = tensor(d, d.pick([m, k], [2, m, k]), dtype)
    if name == "MatMulInteger":
        return d.node(name, [x, d.either(d.array([k, n], d.pick(np.uint8, np.int8)), 0.8), d.pick("", zero)])
    return d.node(name, [x, scale, zero, *filters(d, [k, n], np.int8 if dtype == np.int8 else d.pick(np.int8, np.uint8), n), *target(d, dtype)])


@recipe("QGemm")
def qgemm(d, name):
    dtype = d.pick(np.uint8, np.int8)
    m, k, n = d.size() or 1, d.size() or 1, d.size() or 1
    b = d.int(0, 1)
    x, scale, zero = tensor(d, [m, k], dtype)
    w, own, none = filters(d, [n, k] if b else [k, n], np.int8 if dtype == np.int8 else np.uint8, n)
    bias = d.pick("", d.constant(d.array([n], np.int32, -2000, 2000)))
    return d.node(name, [x, scale, zero, w, own, none, bias, *d.pick(target(d, dtype), [])], domain="com.microsoft", transB=b, alpha=d.pick(None, 1.0, 0.5))


@recipe("QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearAveragePool", "QLinearGlobalAveragePool")
def qlinear(d, name):
    dtype = d.pick(np.uint8, np.int8)
    pools = "Pool" in name
    have = d.shape(4 if pools else None, most=900)
    x, to = tensor(d, have, dtype), target(d, dtype)
    ms = {"domain": "com.microsoft"}
    if name in ("QLinearAdd", "QLinearMul"):
        other = tensor(d, d.broadcast(have), dtype)
        if d.chance(0.3):
            d.constants[other[0]] = d.inputs.pop(other[0])
        return d.node(name, [*x, *other, *to], **ms)
    if name == "QLinearConcat":
        return d.node(name, [*to, *x, *tensor(d, have, dtype)], axis=d.int(0, len(have) - 1), **ms)
    if name == "QLinearLeakyRelu":
        return d.node(name, [*x, *to], alpha=0.1, **ms)
    if name == "QLinearSoftmax":
        return d.node(name, [*x, *to], axis=len(have) - 1, opset=13, **ms)
    if name == "QLinearGlobalAveragePool":
        return d.node(name, [*x, *to], **ms)
    if name == "QLinearAveragePool":
        size = [d.int(1, 3), d.int(1, 3)]
        attributes = window_attributes(d, size, have[2:], dilations=False)
        return d.node(name, [*x, *to], kernel_shape=size, **attributes, **ms)
    return d.node(name, [*x, *to], **ms)


@recipe("DynamicQuantizeLinear", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")
def dynamic(d, name):
    d.opset = max(d.opset, 11)
    m, k, n = d.size() or 1, d.size() or 1, d.size() or 1
    x = d.input(d.floats([m, k]))
    if name == "DynamicQuantizeLinear":
        return d.node(name, [x], count=3)
    dtype = d.pick(np.int8, np.uint8)
    w, scale, zero = filters(d, [k, n], dtype, n)
    bias = d.pick("", d.constant(d.floats([n])))
    if name == "DynamicQuantizeMatMul":
        return d.node(name, [x, w, scale, zero, bias], domain="com.microsoft")
    stored, own, none = tensor(d, [m, k], np.uint8)
    d.inputs.pop(x)
    return d.node(name, [stored, w, own, scale, none, zero, bias], domain="com.microsoft")


@recipe("DynamicQuantizeLSTM")
def dynamic_lstm(d, name):
    steps, batch, inputs, units = d.int(1, 6), d.int(1, 3), d.int(1, 5), d.int(1, 5)
    direction = d.pick(None, "forward", "reverse", "bidirectional")
    count = 2 if direction == "bidirectional" else 1
    dtype = d.pick(np.int8, np.uint8)
    each = d.chance(0.4)
    scale = lambda: d.floats([count, 4 * units] if each else [count], 0.002, 0.01)
    zero = lambda like: np.full(like.shape, 0 if dtype == np.int8 else 128, dtype)
    w, r = d.array([count, inputs, 4 * units], dtype), d.array([count, units, 4 * units], dtype)
    w_scale, r_scale = scale(), scale()
    bias = d.pick("", d.constant(d.floats([count, 8 * units], -0.5, 0.5)))
    state = lambda: d.pick("", d.either(d.floats([count, batch, units], -0.7, 0.7)))
    operands = [d.input(d.floats([steps, batch, inputs], -2, 2)), d.constant(w), d.constant(r), bias, "", state(), state(), ""]
    operands += [d.constant(value) for value in (w_scale, zero(w_scale), r_scale, zero(r_scale))]
    return d.node(name, operands, count=3, domain="com.microsoft", hidden_size=units, direction=direction)


# ---- Classical


@recipe("BlackmanWindow", "HammingWindow", "HannWindow")
def window_function(d, name):
    d.opset = max(d.opset, 17)
    size = d.int(1, 17)
    weights = d.node(name, [d.constant(np.int64(size))], periodic=d.pick(None, 0, 1))
    return d.node("Mul", [d.input(d.floats([d.int(1, 3), size])), weights])


@recipe("Constant")
def constant(d, name):
    have = d.shape()
    value = helper.make_tensor("value", TensorProto.FLOAT, have, d.floats(have).ravel())
    return d.node("Add", [d.input(d.floats(have)), d.node(name, [], value=value)])


@recipe("SimplifiedLayerNormalization")
def simplified_layer(d, name):
    have = d.shape()
    return d.node(name, [d.input(d.floats(have)), d.constant(d.floats([have[-1]]))], axis=-1, epsilon=1e-5)


@recipe("Scaler", "Normalizer", "Binarizer", "Imputer", "LinearRegressor", "ArrayFeatureExtractor", "FeatureVectorizer")
def classical(d, name):
    domain = "ai.onnx.ml"
    rows, columns = d.int(1, 4), d.int(1, 6)
    list_of = lambda count, low=-2, high=2: [float(v) for v in d.floats([count], low, high)]
    x = d.input(d.floats([rows, columns], -2, 2))
    if name == "Scaler":
        return d.node(name, [x], domain=domain, offset=list_of(d.pick(1, columns)), scale=list_of(d.pick(1, columns)))
    if name == "Normalizer":
        return d.node(name, [x], domain=domain, norm=d.pick("MAX", "L1", "L2"))
    if name == "Binarizer":
        return d.node(name, [x], domain=domain, threshold=float(np.float32(d.random.uniform(-1, 1))))
    if name == "Imputer":
        return d.node(name, [x], domain=domain, imputed_value_floats=list_of(columns), replaced_value_float=float("nan"))
    if name == "LinearRegressor":
        targets = d.int(1, 3)
        return d.node(name, [x], domain=domain, coefficients=list_of(targets * columns), intercepts=list_of(targets), targets=targets)
    if name == "FeatureVectorizer":
        y = d.input(d.floats([rows, d.int(1, 3)], -2, 2))
        return d.node(name, [x, y], domain=domain, inputdimensions=[columns, d.inputs[y].shape[1]])
    index = d.random.integers(0, columns, d.int(1, 4)).astype(np.int64)
    return d.node(name, [x, d.constant(index)], domain=domain)
