"""Whole graphs: which operators, and what they are run on."""

import numpy as np

from . import control, elementwise, layers, movement
from .draw import Draw, ELEMENT, Senseless
from .model import ELEMENTS

RECIPES = elementwise.RECIPES | layers.RECIPES | movement.RECIPES | control.RECIPES

# Every operator in every format that it is drawn in.
ROWS = [(name, format) for name, (_, formats) in RECIPES.items() for format in formats]
SUBGRAPH_FIRST = "CALL_ONCE"


class Graph:
    """A model, what it is run on, and what was drawn."""

    def __init__(self, model, inputs, drawn):
        self.model, self.inputs, self.drawn = model, inputs, drawn


def draw(seed, index, only=None):
    """The graph of that number."""
    rows = [row for row in ROWS if only is None or row[0] in only]
    for attempt in range(1000):
        d = Draw(seed, f"{index}.{attempt}")
        # Every row in turn begins a graph, so that all of them occur.
        drawn = [rows[index % len(rows)] if attempt < 20 else d.pick(rows)]
        for _ in range(0 if d.one_in(2) else d.between(1, 5)):
            drawn.append(next_row(d, rows, drawn[0][1]))
        try:
            for name, format in drawn:
                RECIPES[name][0](d, format)
        except Senseless:
            if len(drawn) > 1 and not d.pool:
                continue
            # What came before stands, but for the operator that was begun.
            continue
        return finished(d, drawn)
    raise RuntimeError(f"no graph {index} of seed {seed}")


def next_row(d, rows, format):
    """Rather one of the same format, so that it reads what there is."""
    fits = [row for row in rows if ELEMENT[row[1]] == ELEMENT[format] and row[0] != SUBGRAPH_FIRST]
    others = [row for row in rows if row[0] != SUBGRAPH_FIRST]
    return d.pick(fits if fits and not d.one_in(4) else others or rows)


def finished(d, drawn):
    main = d.model.main
    read = {t for operator in main.operators for t in operator.inputs}
    written = [t for operator in main.operators for t in operator.outputs if main.tensors[t].element != "resource"]
    constants = {t for t in written if main.tensors[t].element == "float32" and is_weights(main, t)}
    every = d.one_in(2)
    main.outputs = [t for t in written if t not in constants and (every or t not in read or d.one_in(6))]
    main.inputs = [t for t in main.inputs if t in read]
    # Operators with variables leave something to the next invocation.
    kept = any(t.variable or t.element == "resource" for t in main.tensors)
    inputs = [[values(d, main.tensors[t], d.bounds.get(t)) for t in main.inputs] for _ in range(4 if kept else 2)]
    return Graph(d.model, inputs, drawn)


def is_weights(main, tensor):
    """Whether a tensor is made of constants of fewer bits."""
    made = [o for o in main.operators if tensor in o.outputs]
    return bool(made) and made[0].name == "DEQUANTIZE" and main.tensors[made[0].inputs[0]].data is not None


def values(d, tensor, bound):
    dtype = ELEMENTS[tensor.element][1]
    if bound is not None:
        drawn = d.np.integers(0, 1 << 30, tensor.dims) % np.maximum(bound, 1)
        return drawn.astype(dtype).tobytes()
    from .draw import Kind

    zero = tensor.zeros[0] if tensor.zeros else 0
    return d.data(Kind(tensor.element, tensor.scales[0] if tensor.scales else None, zero), tensor.dims)
