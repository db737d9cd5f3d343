//! Printing.

use super::attrs::{put, quote};
use super::compact::{declarations, Declaration};
use crate::{Attr, DType, Data, Graph, Quant, Real, Type, ValueId};
use std::fmt;
use std::fmt::Write as _;

/// Longest data printed as a list of elements.
const LIST: usize = 16;
/// Longest list that [`Graph::print_short`] prints whole.
const SHORT_LIST: usize = 4;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self, false))
    }
}

impl Graph {
    /// As the textual form, but long data and long lists are elided with `…`, which does not read back.
    pub fn print_short(&self) -> String {
        print(self, true)
    }
}

fn print(graph: &Graph, short: bool) -> String {
    let mut out = String::from("graph ");
    quote(&graph.name, &mut out);
    out.push_str(" {\n");
    for line in declarations(graph) {
        match line {
            Declaration::Input(id) => print_value(graph, "input ", id, short, &mut out),
            Declaration::State(id) => {
                print_value(graph, "state ", id, short, &mut out);
                if let Some(state) = graph.states.iter().find(|s| s.current == id) {
                    out.push_str(" = ");
                    print_data(graph, id, &state.init, short, &mut out);
                }
            }
            Declaration::Const(id) => {
                print_value(graph, "const ", id, short, &mut out);
                if let Some(data) = graph.const_data(id) {
                    out.push_str(" = ");
                    print_data(graph, id, data, short, &mut out);
                }
            }
            Declaration::Node(id) => {
                let Some(node) = graph.get_node(id) else { continue };
                print_value(graph, "", node.result, short, &mut out);
                put!(out, " = {}(", node.op.name());
                print_values(&node.operands, &mut out);
                out.push(')');
                elided(short, &mut out, |out| node.op.print_attrs(out));
                if !node.origin.is_empty() {
                    out.push_str(" from ");
                    quote(&node.origin, &mut out);
                }
            }
        }
        out.push('\n');
    }
    for state in graph.states.iter().filter(|s| s.next != s.current) {
        put!(out, "  next %{} = %{}\n", state.current.0, state.next.0);
    }
    out.push_str("  return ");
    print_values(&graph.outputs, &mut out);
    out.push_str("\n}\n");
    out
}

fn print_values(ids: &[ValueId], out: &mut String) {
    for (i, id) in ids.iter().enumerate() {
        put!(out, "{}%{}", if i == 0 { "" } else { ", " }, id.0);
    }
}

/// Appends the line's beginning: `  input %0 "name": type`.
fn print_value(graph: &Graph, kind: &str, id: ValueId, short: bool, out: &mut String) {
    put!(out, "  {kind}%{}", id.0);
    let Some(value) = graph.get_value(id) else { return };
    if !value.name.is_empty() {
        out.push(' ');
        quote(&value.name, out);
    }
    out.push_str(": ");
    elided(short, out, |out| print_type(&value.ty, out));
}

fn print_type(ty: &Type, out: &mut String) {
    let dims: Vec<String> = ty.shape.dims().iter().map(usize::to_string).collect();
    put!(out, "{}[{}]", ty.dtype.name(), dims.join(","));
    if let Some(quant) = &ty.quant {
        print_quant(quant, out);
    }
}

fn print_quant(quant: &Quant, out: &mut String) {
    out.push_str(" q(");
    if let Some(axis) = quant.axis {
        put!(out, "axis {axis}, ");
    }
    match &quant.scales[..] {
        [scale] => scale.print(out),
        scales => {
            out.push('[');
            for (i, scale) in scales.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                scale.print(out);
            }
            out.push(']');
        }
    }
    out.push_str(" : ");
    match &quant.zero_points[..] {
        [first, rest @ ..]
            if quant.zero_points.len() == quant.scales.len() && rest.iter().all(|z| z == first) =>
        {
            put!(out, "{first}");
        }
        zeros => put!(out, "{zeros:?}"),
    }
    out.push(')');
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        print_type(self, &mut out);
        f.write_str(&out)
    }
}

/// Appends what `print` appends, with long lists elided if `short`.
fn elided(short: bool, out: &mut String, print: impl FnOnce(&mut String)) {
    if !short {
        return print(out);
    }
    let mut whole = String::new();
    print(&mut whole);
    let mut rest = whole.as_str();
    while let Some(open) = rest.find('[') {
        let end = rest[open..].find(']').map_or(rest.len(), |close| open + close);
        let commas: Vec<usize> = rest[open..end].match_indices(", ").map(|(at, _)| open + at).collect();
        if commas.len() < SHORT_LIST {
            out.push_str(&rest[..end]);
        } else {
            put!(out, "{}, …", &rest[..commas[0]]);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
}

fn print_data(graph: &Graph, id: ValueId, data: &Data, short: bool, out: &mut String) {
    let Some(ty) = graph.get_value(id).map(|v| &v.ty) else { return };
    let size = ty.dtype.size();
    let bytes = data.bytes();
    let elements = ty.shape.checked_numel().unwrap_or(0);
    // A bool that is neither 0 nor 1 is no element either.
    let fits = elements.checked_mul(size) == Some(bytes.len())
        && !(ty.dtype == DType::Bool && bytes.iter().any(|&b| b > 1));
    if fits && elements > 1 && bytes.chunks_exact(size).all(|e| e == &bytes[..size]) {
        out.push_str("splat ");
        print_elements(ty.dtype, &Data::new(&bytes[..size]), out);
    } else if fits && elements <= LIST {
        out.push('[');
        print_elements(ty.dtype, data, out);
        out.push(']');
    } else if short {
        out.push('…');
    } else {
        out.push_str("hex \"");
        bytes.iter().for_each(|b| put!(out, "{b:02x}"));
        out.push('"');
    }
}

fn print_elements(dtype: DType, data: &Data, out: &mut String) {
    if dtype == DType::F32 {
        for (i, x) in data.to_f32().into_iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            Real(x).print(out);
        }
    } else {
        for (i, x) in data.to_ints(dtype).into_iter().enumerate() {
            put!(out, "{}{x}", if i == 0 { "" } else { ", " });
        }
    }
}
