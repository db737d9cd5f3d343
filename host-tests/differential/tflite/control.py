"""What one invocation leaves to the next, and operators with subgraphs."""

import numpy as np

from .draw import Kind, Value
from .elementwise import ALL
from .model import SubGraph, options

INT, BOOL, HANDLE = Kind("int32"), Kind("bool"), Kind("resource")


def handle(d, graph, name):
    tensor = graph.add(HANDLE.tensor([]))
    graph.operator("VAR_HANDLE", options("VarHandleOptions", container="", sharedName=name), [], [tensor])
    return tensor


def variable(d, format, initialised=False):
    """The variable's contents and something that takes their place, one behind the other."""
    x = d.x(format, 1, 4)
    main = d.model.main
    name = f"variable{len(main.tensors)}"
    if initialised:
        first = SubGraph()
        tensor = handle(d, first, name)
        value = first.add(x.kind.tensor(x.dims, data=d.data(x.kind, x.dims)))
        first.operator("ASSIGN_VARIABLE", options("AssignVariableOptions"), [tensor, value], [])
        d.model.subgraphs.append(first)
        main.operator("CALL_ONCE", options("CallOnceOptions", initSubgraphIndex=len(d.model.subgraphs) - 1), [], [])
    tensor = handle(d, main, name)
    old = d.emit("READ_VARIABLE", options("ReadVariableOptions"), [tensor], x.kind, x.dims)
    main.operator("ASSIGN_VARIABLE", options("AssignVariableOptions"), [tensor, x.tensor], [])
    dims = [2 * x.dims[0], *x.dims[1:]]
    d.emit("CONCATENATION", options("ConcatenationOptions", axis=0), [old, x], x.kind, dims)


def call_once(d, format):
    variable(d, format, initialised=True)


def reversed_graph(x, counted):
    """A subgraph of `x` that reverses it, or of a number and `x`, which it adds one to."""
    graph = SubGraph()
    outputs = []
    if counted:
        number = graph.input(INT.tensor([]))
        one = graph.add(INT.tensor([], data=np.int32(1).tobytes()))
        outputs.append(graph.add(INT.tensor([])))
        graph.operator("ADD", options("AddOptions"), [number, one], outputs)
    tensor = graph.input(x.kind.tensor(x.dims))
    axis = graph.add(INT.tensor([1], data=np.int32([0]).tobytes()))
    outputs.append(graph.add(x.kind.tensor(x.dims)))
    graph.operator("REVERSE_V2", options("ReverseV2Options"), [tensor, axis], outputs[-1:])
    graph.outputs = outputs
    return graph


def same_graph(d, x):
    """A subgraph of `x` that pads it by nothing."""
    graph = SubGraph()
    tensor = graph.input(x.kind.tensor(x.dims))
    pads = graph.add(INT.tensor([len(x.dims), 2], data=np.zeros([len(x.dims), 2], np.int32).tobytes()))
    graph.outputs = [graph.add(x.kind.tensor(x.dims))]
    graph.operator("PAD", options("PadOptions"), [tensor, pads], graph.outputs)
    return graph


def branch(d, format):
    x = d.x(format, 1, 4)
    condition = d.constant(BOOL, []) if d.one_in(3) else d.other(BOOL, [])
    graphs = [reversed_graph(x, False), same_graph(d, x)]
    d.r.shuffle(graphs)
    first = len(d.model.subgraphs)
    d.model.subgraphs += graphs
    table = options("IfOptions", thenSubgraphIndex=first, elseSubgraphIndex=first + 1)
    d.emit("IF", table, [condition, x], x.kind, x.dims)


def repeat(d, format):
    """Some passes, counted by an integer."""
    x = d.x(format, 1, 4)
    condition = SubGraph()
    number = condition.input(INT.tensor([]))
    condition.input(x.kind.tensor(x.dims))
    limit = condition.add(INT.tensor([], data=np.int32(d.between(0, 3)).tobytes()))
    condition.outputs = [condition.add(BOOL.tensor([]))]
    condition.operator("LESS", options("LessOptions"), [number, limit], condition.outputs)
    first = len(d.model.subgraphs)
    d.model.subgraphs += [condition, reversed_graph(x, True)]
    begin = d.ints([d.between(-1, 1)], [])
    table = options("WhileOptions", condSubgraphIndex=first, bodySubgraphIndex=first + 1)
    d.emit_all("WHILE", table, [begin, x], [(INT, []), (x.kind, x.dims)])


RECIPES = {
    "VAR_HANDLE": (variable, ALL),
    "READ_VARIABLE": (variable, ALL),
    "ASSIGN_VARIABLE": (variable, ALL),
    "CALL_ONCE": (call_once, ALL),
    "IF": (branch, ALL),
    "WHILE": (repeat, ALL),
}
