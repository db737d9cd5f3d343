"""Chance, operands and quantisation: what the recipes of operators are written with."""

import math
import random

import numpy as np

from .model import ELEMENTS, Model, Tensor

FORMATS = ["float32", "int8", "int16", "uint8", "int32", "int64", "bool", "hybrid", "float16", "int4"]

# The element type of what is computed in a format.
ELEMENT = {f: f for f in FORMATS} | {"hybrid": "float32", "float16": "float32", "int4": "int8"}

RANGE = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
QUANTISED = ("int8", "uint8", "int16")

# Most elements of a tensor.
MOST = 3000


class Senseless(Exception):
    """The operator has no such format, or no operand fits."""


class Kind:
    """What a tensor holds: elements, quantised or plain."""

    def __init__(self, element, scale=None, zero=0):
        self.element, self.scale, self.zero = element, scale, zero

    def __eq__(self, other):
        return (self.element, self.scale, self.zero) == (other.element, other.scale, other.zero)

    def tensor(self, dims, **more):
        quantised = {} if self.scale is None else {"scales": [self.scale], "zeros": [self.zero]}
        return Tensor(self.element, [int(d) for d in dims], **quantised, **more)


class Value:
    """A tensor that operators can read."""

    def __init__(self, tensor, kind, dims, computed):
        self.tensor, self.kind, self.dims, self.computed = tensor, kind, list(dims), computed

    @property
    def rank(self):
        return len(self.dims)

    def count(self):
        return math.prod(self.dims)


def f32(x):
    return float(np.float32(x))


class Draw:
    """A model that is being drawn."""

    def __init__(self, seed, index):
        self.r = random.Random(f"{seed}/{index}")
        self.np = np.random.default_rng(self.r.getrandbits(64))
        self.model = Model()
        self.pool = []
        # Inputs that are indices, each below its bound.
        self.bounds = {}
        # Sizes of zero make most graphs empty: few have any.
        self.zero_sizes = self.one_in(40)
        self.specials = self.one_in(40)
        self.wild = self.one_in(2)

    # ---- Chance

    def one_in(self, n):
        return self.r.randrange(n) == 0

    def between(self, lo, hi):
        return self.r.randint(lo, max(lo, hi))

    def pick(self, items):
        return items[self.r.randrange(len(items))]

    def scale(self):
        """A scale, ordinary or odd."""
        way = self.r.randrange(10) if self.wild else self.r.randrange(4)
        if way < 3:
            return f32(2 ** self.r.uniform(-8, -2))
        if way < 6:
            return f32(2.0 ** self.between(-12, 3))
        if way < 9:
            return f32(10 ** self.r.uniform(-9, 4))
        return f32(10 ** self.r.uniform(-5, 0))

    def zero(self, element):
        if element == "int16":
            return self.between(-300, 300) if self.one_in(60) else 0
        lo, hi = RANGE[element]
        way = self.r.randrange(6)
        return {0: lo, 1: hi, 2: (lo + hi + 1) // 2}.get(way, self.between(lo, hi))

    def kind(self, format):
        element = ELEMENT[format]
        if element not in QUANTISED:
            return Kind(element)
        return Kind(element, self.scale(), self.zero(element))

    def kind_like(self, kind, format):
        """The same quantisation, or another one."""
        return kind if self.one_in(3) else self.kind_near(kind, format)

    def kind_near(self, kind, format):
        """Another quantisation, rather of a range that has something to do with the operand's."""
        result = self.kind(format)
        if result.scale is not None and kind.scale is not None and not self.one_in(4):
            result.scale = max(f32(kind.scale * 2 ** self.r.uniform(-3, 3)), 1e-30)
            if self.one_in(4):
                result.scale = f32(kind.scale * 2.0 ** self.between(-3, 3))
        return result

    def size(self, most):
        if self.zero_sizes and self.one_in(6):
            return 0
        way = self.r.randrange(6)
        if way == 0:
            return 1
        if way == 1:
            return min(most, self.pick([2, 3, 5, 7, 11, 13, 17]))
        return self.between(1, most)

    def dims(self, rank):
        most = [1, 40, 16, 8, 7, 5, 3][rank] if rank < 7 else 2
        return [1 if axis == 0 and self.one_in(3) else self.size(most) for axis in range(rank)]

    def image_dims(self):
        n = 2 if self.one_in(5) else 1
        c = self.pick([4, 8, 12, 16, 32]) if self.one_in(3) else self.between(1, 5)
        return [n, self.size(9), self.size(9), c if not self.zero_sizes else self.size(4)]

    # ---- Data

    def data(self, kind, dims):
        """Random elements of a kind."""
        count = int(math.prod(dims))
        element = kind.element
        if element == "float32":
            return self.floats(count).tobytes()
        if element == "float16":
            return (self.np.uniform(-1, 1, count)).astype(np.float16).tobytes()
        if element == "bool":
            return self.np.integers(0, 2, count).astype(np.bool_).tobytes()
        if element == "int4":
            return self.np.integers(0, 256, (count + 1) // 2).astype(np.uint8).tobytes()
        lo, hi = RANGE[element]
        dtype = ELEMENTS[element][1]
        if element in ("int32", "int64"):
            if not self.one_in(12):
                lo, hi = (-9, 9) if not self.one_in(3) else (-1000, 1000)
            return self.np.integers(lo, hi, count, dtype, endpoint=True).tobytes()
        if self.one_in(8):
            # The ends, where clamps and roundings are.
            zero = min(max(kind.zero, lo), hi)
            return self.np.choice(np.array([lo, lo + 1, hi - 1, hi, zero], dtype), count).tobytes()
        return self.np.integers(lo, hi, count, dtype, endpoint=True).tobytes()

    def floats(self, count):
        way = self.r.randrange(8)
        if way < 4:
            x = self.np.uniform(-1, 1, count)
        elif way == 4:
            x = self.np.normal(0, 10.0 ** self.between(-3, 3), count)
        elif way == 5:
            # Ties, of whatever rounds.
            x = self.np.integers(-12, 13, count) / 2
        elif way == 6:
            x = self.np.uniform(-8, 8, count)
        else:
            x = self.np.uniform(0, 4, count)
        x = x.astype(np.float32)
        if self.specials and count:
            some = self.np.integers(0, count, max(1, count // 8))
            x[some] = self.np.choice(np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 0.0, -0.0, 1e-40], np.float32), len(some))
        return x

    # ---- Operands

    def x(self, format, lo, hi=None):
        """Something of that format with so many axes: what there is, or a new input."""
        hi = lo if hi is None else hi
        element = ELEMENT[format]
        right = lambda kind: kind.element == element and (kind.scale is not None) == (element in QUANTISED)
        fits = [v for v in self.pool if right(v.kind) and lo <= v.rank <= hi and v.count() <= 600]
        if fits and not self.one_in(6):
            return fits[-1 - min(self.r.randrange(len(fits)), self.r.randrange(len(fits)))]
        rank = self.between(lo, hi)
        dims = self.image_dims() if rank == 4 and not self.one_in(4) else self.dims(rank)
        return self.input(self.kind(format), dims)

    def input(self, kind, dims):
        value = Value(self.model.main.input(kind.tensor(dims)), kind, dims, True)
        self.pool.append(value)
        return value

    def constant(self, kind, dims, data=None):
        data = self.data(kind, dims) if data is None else data
        tensor = kind.tensor(dims, data=data)
        return Value(self.model.main.add(tensor), kind, dims, False)

    def other(self, kind, dims):
        """Of that kind and shape: what there is, a new input or a constant."""
        there = [v for v in self.pool if v.kind == kind and v.dims == list(dims)]
        if there and self.one_in(2):
            return self.pick(there)
        return self.input(kind, dims) if self.one_in(2) else self.constant(kind, dims)

    def ints(self, values, dims=None, element="int32"):
        """A constant list of integers."""
        values = np.array(values, ELEMENTS[element][1])
        dims = [len(values)] if dims is None else dims
        return self.constant(Kind(element), dims, values.tobytes()).tensor

    # ---- The operator

    def emit(self, name, options, inputs, kind, dims):
        return self.emit_all(name, options, inputs, [(kind, dims)])[0]

    def emit_all(self, name, options, inputs, results, custom=None):
        """Adds an operator whose results are of these kinds and shapes."""
        for _, dims in results:
            if math.prod(dims) > MOST or any(d < 0 for d in dims):
                raise Senseless
        inputs = [v.tensor if isinstance(v, Value) else v for v in inputs]
        values = []
        for kind, dims in results:
            tensor = self.model.main.add(kind.tensor(dims))
            values.append(Value(tensor, kind, dims, True))
        self.model.main.operator(name, options, inputs, [v.tensor for v in values], custom)
        self.pool.extend(values)
        return values

    def fused(self):
        """A fused activation: none, RELU, RELU_N1_TO_1, RELU6."""
        return self.pick([0, 0, 0, 1, 2, 3])


def broadcast(a, b):
    """The shape of two that broadcast."""
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + list(a), [1] * (rank - len(b)) + list(b)
    out = []
    for x, y in zip(a, b):
        if x != y and x != 1 and y != 1:
            raise Senseless
        out.append(y if x == 1 else x)
    return out
