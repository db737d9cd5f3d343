"""Operators that move elements, and those that tell shapes."""

import math

import numpy as np

from .draw import ELEMENT, Kind, Senseless
from .elementwise import ALL, NUMBERS
from .model import options

INTEGERS = ["int32", "int64"]


def axis_of(d, rank):
    axis = d.r.randrange(rank)
    return axis, axis - rank if d.one_in(4) else axis


def concatenation(d, format):
    x = d.x(format, 1, 5)
    axis, stated = axis_of(d, x.rank)
    operands, total = [x], x.dims[axis]
    for _ in range(d.between(0, 4)):
        dims = list(x.dims)
        dims[axis] = d.size(3)
        total += dims[axis]
        kind = x.kind if not d.one_in(8) else d.kind_near(x.kind, format)
        operands.append(d.other(kind, dims))
    dims = list(x.dims)
    dims[axis] = total
    table = options("ConcatenationOptions", axis=stated, fusedActivationFunction=d.fused() if d.one_in(10) else 0)
    d.emit("CONCATENATION", table, operands, x.kind if not d.one_in(10) else d.kind_near(x.kind, format), dims)


def pack(d, format):
    x = d.x(format, 0, 4)
    operands = [x] + [d.other(x.kind, x.dims) for _ in range(d.between(0, 3))]
    axis = d.between(0, x.rank)
    dims = x.dims[:axis] + [len(operands)] + x.dims[axis:]
    stated = axis - x.rank - 1 if d.one_in(4) else axis
    d.emit("PACK", options("PackOptions", valuesCount=len(operands), axis=stated), operands, x.kind, dims)


def unpack(d, format):
    x = d.x(format, 1, 4)
    axis, stated = axis_of(d, x.rank)
    n = x.dims[axis]
    if not 0 < n <= 12:
        raise Senseless
    dims = x.dims[:axis] + x.dims[axis + 1 :]
    d.emit_all("UNPACK", options("UnpackOptions", num=n, axis=stated), [x], [(x.kind, dims)] * n)


def amounts(d, dims, most):
    return [(d.between(0, min(most(dim), 3)), d.between(0, min(most(dim), 3))) for dim in dims]


def pad(name):
    def recipe(d, format):
        x = d.x(format, 1, 5)
        pads = amounts(d, x.dims, lambda dim: 3)
        element = "int64" if d.one_in(4) else "int32"
        operands = [x, d.ints([n for p in pads for n in p], [x.rank, 2], element)]
        if name == "PADV2":
            operands.append(d.constant(x.kind, [1] if d.one_in(2) else []))
        dims = [dim + sum(p) for dim, p in zip(x.dims, pads)]
        kind = x.kind if not d.one_in(20) else d.kind_near(x.kind, format)
        d.emit(name, options("PadOptions" if name == "PAD" else "PadV2Options"), operands, kind, dims)

    return recipe


def mirror_pad(d, format):
    x = d.x(format, 1, 5)
    symmetric = d.one_in(2)
    pads = amounts(d, x.dims, lambda dim: max(dim if symmetric else dim - 1, 0))
    operands = [x, d.ints([n for p in pads for n in p], [x.rank, 2])]
    dims = [dim + sum(p) for dim, p in zip(x.dims, pads)]
    d.emit("MIRROR_PAD", options("MirrorPadOptions", mode=1 if symmetric else 0), operands, x.kind, dims)


def transpose(d, format):
    x = d.x(format, 1, 6)
    perm = list(range(x.rank))
    d.r.shuffle(perm)
    d.emit("TRANSPOSE", options("TransposeOptions"), [x, d.ints(perm)], x.kind, [x.dims[p] for p in perm])


def reverse_v2(d, format):
    x = d.x(format, 1, 5)
    axes = d.r.sample(range(x.rank), d.between(1, min(x.rank, 3)))
    stated = d.ints([a - x.rank if d.one_in(4) else a for a in axes])
    d.emit("REVERSE_V2", options("ReverseV2Options"), [x, stated], x.kind, x.dims)


def reshape(d, format):
    """Another shape of as many elements."""
    x = d.x(format, 0, 5)
    rest, dims = x.count(), []
    while rest > 1 and len(dims) < 5:
        n = d.pick([n for n in range(1, rest + 1) if rest % n == 0])
        dims.append(n)
        rest //= n
    if rest != 1 or d.one_in(3):
        dims.append(rest)
    stated = list(dims)
    if stated and d.one_in(3) and 0 not in dims:
        stated[d.r.randrange(len(stated))] = -1
    if d.one_in(4):
        table, operands = options("ReshapeOptions", newShape=np.array(stated, np.int32)), [x]
    else:
        table, operands = options("ReshapeOptions"), [x, d.ints(stated)]
    d.emit("RESHAPE", table, operands, x.kind, dims)


def squeeze(d, format):
    x = d.x(format, 1, 5)
    named = [a for a, dim in enumerate(x.dims) if dim == 1 and d.one_in(2)]
    gone = named or [a for a, dim in enumerate(x.dims) if dim == 1]
    stated = np.array([a - x.rank if d.one_in(4) else a for a in named], np.int32)
    dims = [dim for a, dim in enumerate(x.dims) if a not in gone]
    d.emit("SQUEEZE", options("SqueezeOptions", squeezeDims=stated), [x], x.kind, dims)


def expand_dims(d, format):
    x = d.x(format, 0, 5)
    axis = d.between(0, x.rank)
    stated = axis - x.rank - 1 if d.one_in(4) else axis
    dims = x.dims[:axis] + [1] + x.dims[axis:]
    d.emit("EXPAND_DIMS", options("ExpandDimsOptions"), [x, d.ints([stated], [] if d.one_in(2) else None)], x.kind, dims)


def strided_slice(d, format):
    x = d.x(format, 1, 5 if d.one_in(4) else 4)
    begin, end, strides, dims = [], [], [], []
    masks = [0, 0, 0]
    named = x.rank if not d.one_in(6) else d.between(1, x.rank)
    for a, dim in enumerate(x.dims[:named]):
        if dim == 0:
            raise Senseless
        stride = d.pick([1, 1, 1, 2, 3, -1, -2])
        b = d.between(-dim - 1, dim) if d.one_in(4) else d.between(0, dim - 1)
        e = d.between(-dim - 1, dim + 1) if d.one_in(4) else (min(b % dim + d.between(1, dim), dim) if stride > 0 else max(b % dim - d.between(1, dim), 0))
        bits = [d.one_in(4), d.one_in(3), d.one_in(8)]
        if bits[2]:
            if not -dim <= b < dim:
                b = 0
            bits[0], bits[1], stride, e = False, False, 1, (b % dim) + 1
        # As Python slices.
        chosen = range(dim)[None if bits[0] else b : None if bits[1] else e : stride]
        for k, bit in enumerate(bits):
            masks[k] |= int(bit) << a
        begin.append(b)
        end.append(e)
        strides.append(stride)
        if not bits[2]:
            dims.append(len(chosen))
    dims += x.dims[named:]
    if 0 in dims and not d.one_in(10):
        raise Senseless
    fields = dict(beginMask=masks[0], endMask=masks[1], shrinkAxisMask=masks[2])
    operands = [x, d.ints(begin), d.ints(end), d.ints(strides)]
    d.emit("STRIDED_SLICE", options("StridedSliceOptions", **fields), operands, x.kind, dims)


def slice(d, format):
    x = d.x(format, 1, 5)
    begin = [d.between(0, max(dim - 1, 0)) for dim in x.dims]
    dims = [d.between(1, dim - b) if dim else 0 for b, dim in zip(begin, x.dims)]
    size = [-1 if d.one_in(4) else n for n in dims]
    dims = [dim - b if s == -1 else s for b, s, dim in zip(begin, size, x.dims)]
    element = "int64" if d.one_in(4) else "int32"
    operands = [x, d.ints(begin, element=element), d.ints(size, element=element)]
    d.emit("SLICE", options("SliceOptions"), operands, x.kind, dims)


def split(d, format):
    x = d.x(format, 1, 5)
    axis, stated = axis_of(d, x.rank)
    if x.dims[axis] == 0:
        raise Senseless
    n = d.pick([n for n in range(1, min(x.dims[axis], 8) + 1) if x.dims[axis] % n == 0])
    dims = list(x.dims)
    dims[axis] //= n
    operands = [d.ints([stated], [] if d.one_in(2) else None), x]
    d.emit_all("SPLIT", options("SplitOptions", numSplits=n), operands, [(x.kind, dims)] * n)


def split_v(d, format):
    x = d.x(format, 1, 5)
    axis, stated = axis_of(d, x.rank)
    rest, sizes = x.dims[axis], []
    while rest > 0 and len(sizes) < 3:
        sizes.append(d.between(0 if d.one_in(20) else 1, rest))
        rest -= sizes[-1]
    if rest or not sizes:
        sizes.append(rest)
    named = list(sizes)
    if d.one_in(3):
        named[d.r.randrange(len(named))] = -1
    results = []
    for n in sizes:
        dims = list(x.dims)
        dims[axis] = n
        results.append((x.kind, dims))
    operands = [x, d.ints(named), d.ints([stated], [] if d.one_in(2) else None)]
    d.emit_all("SPLIT_V", options("SplitVOptions", numSplits=len(sizes)), operands, results)


def indices(d, dims, sizes, elements=("int32", "int64"), constant=None):
    """Indices below `sizes`: one size, or one for each of the last axis."""
    element = d.pick(elements)
    sizes = np.maximum(np.array(sizes), 1)
    values = (d.np.integers(0, 1 << 30, dims) % sizes).astype(np.int64) if math.prod(dims) else np.zeros(dims, np.int64)
    data = values.astype(np.int32 if element == "int32" else np.int64).tobytes()
    if constant or d.one_in(2):
        return d.constant(Kind(element), dims, data)
    value = d.input(Kind(element), dims)
    # Not for other operators: their numbers would not be indices.
    d.pool.remove(value)
    d.bounds[value.tensor] = sizes
    return value


def gather(d, format):
    x = d.x(format, 1, 5 if d.one_in(4) else 4)
    axis, stated = axis_of(d, x.rank)
    shared = d.between(0, axis) if d.one_in(4) else 0
    own = [d.size(4) for _ in range(d.between(0, 2))]
    if x.dims[axis] == 0:
        raise Senseless
    chosen = indices(d, x.dims[:shared] + own, x.dims[axis])
    dims = x.dims[:axis] + own + x.dims[axis + 1 :]
    d.emit("GATHER", options("GatherOptions", axis=stated, batchDims=shared), [x, chosen], x.kind, dims)


def gather_nd(d, format):
    x = d.x(format, 1, 5 if d.one_in(4) else 4)
    depth = d.between(1, x.rank)
    outer = [d.size(5) for _ in range(d.between(1, 2))]
    if 0 in x.dims:
        raise Senseless
    chosen = indices(d, [*outer, depth], x.dims[:depth])
    d.emit("GATHER_ND", options("GatherNdOptions"), [x, chosen], x.kind, outer + x.dims[depth:])


def embedding_lookup(d, format):
    x = d.x(format, 2, 3)
    if x.computed and d.one_in(2):
        x = d.constant(x.kind, x.dims)
    if x.dims[0] == 0:
        raise Senseless
    n = d.size(6)
    chosen = indices(d, [n], x.dims[0], ("int32",))
    d.emit("EMBEDDING_LOOKUP", None, [chosen, x], x.kind, [n] + x.dims[1:])


def top_k(d, format):
    x = d.x(format, 1, 4)
    k = d.between(1, x.dims[-1])
    if x.dims[-1] == 0:
        raise Senseless
    dims = x.dims[:-1] + [k]
    d.emit_all("TOPK_V2", options("TopKV2Options"), [x, d.ints([k], [])], [(x.kind, dims), (Kind("int32"), dims)])


def where(d, format):
    """Of a constant: how many there are has to be known."""
    dims = d.dims(d.between(1, 4))
    kind = Kind(ELEMENT[format])
    x = d.constant(kind, dims)
    dtype = {"bool": np.bool_, "float32": np.float32, "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "int64": np.int64}[kind.element]
    count = int(np.count_nonzero(np.frombuffer(d.model.main.tensors[x.tensor].data, dtype)))
    d.emit("WHERE", options("WhereOptions"), [x], Kind("int64"), [count, len(dims)])


def reverse_sequence(d, format):
    x = d.x(format, 2, 4)
    seq, batch = d.r.sample(range(x.rank), 2)
    lengths = indices(d, [x.dims[batch]], x.dims[seq] + 1)
    table = options("ReverseSequenceOptions", seqDim=seq, batchDim=batch)
    d.emit("REVERSE_SEQUENCE", table, [x, lengths], x.kind, x.dims)


def dynamic_update_slice(d, format):
    x = d.x(format, 1, 5)
    if 0 in x.dims:
        raise Senseless
    update = d.other(x.kind, [d.between(1, dim) for dim in x.dims])
    first = indices(d, [x.rank], [dim + 2 for dim in x.dims], ("int32", "int64"))
    d.emit("DYNAMIC_UPDATE_SLICE", options("DynamicUpdateSliceOptions"), [x, update, first], x.kind, x.dims)


def tile(d, format):
    x = d.x(format, 1, 5)
    times = [d.pick([1, 1, 2, 3]) for _ in x.dims]
    stated = d.ints(times, element=d.pick(INTEGERS))
    d.emit("TILE", options("TileOptions"), [x, stated], x.kind, [t * n for t, n in zip(times, x.dims)])


def broadcast_to(d, format):
    x = d.x(format, 0, 4)
    dims = [d.between(1, 4) if dim == 1 else dim for dim in x.dims]
    if d.one_in(2):
        dims.insert(0, d.between(1, 3))
    stated = d.ints(dims, element=d.pick(INTEGERS))
    d.emit("BROADCAST_TO", options("BroadcastToOptions"), [x, stated], x.kind, dims)


def broadcast_args(d, format):
    dims = [d.between(1, 4) for _ in range(3)]
    other = [1 if d.one_in(2) else dim for dim in dims[d.between(0, 2) :]]
    operands = [d.ints(dims, element=format), d.ints(other, element=format)]
    d.emit("BROADCAST_ARGS", None, operands, Kind(format), [3])


def fill(d, format):
    value = d.other(d.kind(format), [])
    dims = d.dims(d.between(0, 4))
    d.emit("FILL", options("FillOptions"), [d.ints(dims, element=d.pick(INTEGERS)), value], value.kind, dims)


def shape(d, format):
    x = d.x(format, 0, 5)
    element = d.pick(INTEGERS)
    table = options("ShapeOptions", outType={"int32": 2, "int64": 4}[element])
    d.emit("SHAPE", table, [x], Kind(element), [x.rank])


def rank(d, format):
    d.emit("RANK", options("RankOptions"), [d.x(format, 0, 5)], Kind("int32"), [])


def one_hot(d, format):
    dims = [d.size(5) for _ in range(d.between(0, 3))]
    depth = d.between(1, 6)
    chosen = indices(d, dims, depth + 2)
    kind = d.kind(format)
    operands = [chosen, d.ints([depth], []), d.constant(kind, []), d.constant(kind, [])]
    axis = d.between(-1, len(dims))
    at = len(dims) if axis == -1 else axis
    d.emit("ONE_HOT", options("OneHotOptions", axis=axis), operands, kind, dims[:at] + [depth] + dims[at:])


def depth_to_space(d, format):
    b = d.between(1, 3)
    h, w, c = d.size(4), d.size(4), d.size(3)
    n = d.between(1, 2)
    x = d.input(d.kind(format), [n, h, w, b * b * c])
    d.emit("DEPTH_TO_SPACE", options("DepthToSpaceOptions", blockSize=b), [x], x.kind, [n, h * b, w * b, c])


def space_to_depth(d, format):
    b = d.between(1, 3)
    h, w, c = d.size(4), d.size(4), d.size(3)
    n = d.between(1, 2)
    x = d.input(d.kind(format), [n, h * b, w * b, c])
    d.emit("SPACE_TO_DEPTH", options("SpaceToDepthOptions", blockSize=b), [x], x.kind, [n, h, w, b * b * c])


def space_to_batch(d, format):
    x = d.x(format, 3, 4)
    axes = x.rank - 2
    blocks = [d.between(1, 3) for _ in range(axes)]
    pads, dims = [], [x.dims[0] * math.prod(blocks)]
    for dim, block in zip(x.dims[1:], blocks):
        lead = d.between(0, 2)
        trail = -(dim + lead) % block
        pads += [lead, trail]
        dims.append((dim + lead + trail) // block)
    operands = [x, d.ints(blocks), d.ints(pads, [axes, 2])]
    d.emit("SPACE_TO_BATCH_ND", options("SpaceToBatchNDOptions"), operands, x.kind, dims + x.dims[1 + axes :])


def batch_to_space(d, format):
    axes = d.pick([1, 2, 2, 2])
    blocks = [d.between(1, 3) for _ in range(axes)]
    n = d.between(1, 2)
    sizes = [d.between(1, 4) for _ in range(axes)]
    c = d.size(3)
    x = d.input(d.kind(format), [n * math.prod(blocks), *sizes, c])
    cuts = [(d.between(0, min(b, s * b - 1)), 0) for b, s in zip(blocks, sizes)]
    dims = [n] + [s * b - sum(cut) for s, b, cut in zip(sizes, blocks, cuts)] + [c]
    operands = [x, d.ints(blocks), d.ints([n for cut in cuts for n in cut], [axes, 2])]
    d.emit("BATCH_TO_SPACE_ND", options("BatchToSpaceNDOptions"), operands, x.kind, dims)


RECIPES = {
    "CONCATENATION": (concatenation, ALL),
    "PACK": (pack, ALL),
    "UNPACK": (unpack, ALL),
    "PAD": (pad("PAD"), ALL),
    "PADV2": (pad("PADV2"), ALL),
    "MIRROR_PAD": (mirror_pad, ALL),
    "TRANSPOSE": (transpose, ALL),
    "REVERSE_V2": (reverse_v2, ALL),
    "RESHAPE": (reshape, ALL),
    "SQUEEZE": (squeeze, ALL),
    "EXPAND_DIMS": (expand_dims, ALL),
    "STRIDED_SLICE": (strided_slice, ALL),
    "SLICE": (slice, ALL),
    "SPLIT": (split, ALL),
    "SPLIT_V": (split_v, ALL),
    "GATHER": (gather, ALL),
    "GATHER_ND": (gather_nd, ALL),
    "EMBEDDING_LOOKUP": (embedding_lookup, ALL),
    "TOPK_V2": (top_k, NUMBERS),
    "WHERE": (where, ["bool", "float32", "int8", "uint8", "int32", "int64"]),
    "REVERSE_SEQUENCE": (reverse_sequence, ALL),
    "DYNAMIC_UPDATE_SLICE": (dynamic_update_slice, ALL),
    "TILE": (tile, ALL),
    "BROADCAST_TO": (broadcast_to, ALL),
    "BROADCAST_ARGS": (broadcast_args, INTEGERS),
    "FILL": (fill, ALL),
    "SHAPE": (shape, ALL),
    "RANK": (rank, ALL),
    "ONE_HOT": (one_hot, ALL),
    "DEPTH_TO_SPACE": (depth_to_space, ALL),
    "SPACE_TO_DEPTH": (space_to_depth, ALL),
    "SPACE_TO_BATCH_ND": (space_to_batch, ALL),
    "BATCH_TO_SPACE_ND": (batch_to_space, ALL),
}
