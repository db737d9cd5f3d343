//! Branches and loops, of subgraphs that reverse what they are given, or return it as it is.

use super::{row, Draw, Format, Kind, Row, Value};
use kiln_codegen::front::tflite::testing::{Element, Options as Attributes};

pub(super) const ROWS: &[Row] = &[row(118, branch), row(119, repeat)];

const BOOL: Kind = Kind::plain(Element::Bool);
const INT: Kind = Kind::plain(Element::Int32);

/// Of a condition that is known, or an input.
fn branch(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let condition = if d.one_in(2) { d.constant(BOOL, &[]) } else { d.other(BOOL, &[]) };
    let then = subgraph(d, &x);
    let reversed = reverse(d, &x, 0);
    end(d, &[reversed]);
    let otherwise = subgraph(d, &x);
    end(d, &[0]);
    let branches = match d.one_in(2) {
        true => Attributes::branches(then, otherwise),
        false => Attributes::branches(otherwise, then),
    };
    d.emit(118, branches, &[condition.tensor, x.tensor], x.kind)?;
    d.keep_exact(&[&x]);
    Some(())
}

/// Up to three passes, counted by an integer.
fn repeat(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let (begin, limit) = (d.between(-1, 1), d.between(0, 2));
    let begin = number(d, begin);
    let condition = counted(d, &x);
    let limit = number(d, limit);
    let less = d.model.value("less", BOOL.tensor(&[]));
    d.model.operator(58, Attributes::none(), &[0, limit], &[less]);
    end(d, &[less]);
    let body = counted(d, &x);
    let one = number(d, 1);
    let next = d.model.value("next", INT.tensor(&[]));
    d.model.operator(0, Attributes::none(), &[0, one], &[next]);
    let reversed = reverse(d, &x, 1);
    end(d, &[next, reversed]);
    d.emit_all(119, Attributes::repeated(condition, body), &[begin, x.tensor], &[INT, x.kind])?;
    d.keep_exact(&[&x]);
    Some(())
}

/// Begins a subgraph of `x`, its tensor 0.
fn subgraph(d: &mut Draw, x: &Value) -> i32 {
    let name = d.name();
    let index = d.model.begin_subgraph(&name);
    d.model.input("x", x.kind.tensor(&x.dims));
    index
}

/// Begins a subgraph of an integer, its tensor 0, and `x`, its tensor 1.
fn counted(d: &mut Draw, x: &Value) -> i32 {
    let name = d.name();
    let index = d.model.begin_subgraph(&name);
    d.model.input("i", INT.tensor(&[]));
    d.model.input("x", x.kind.tensor(&x.dims));
    index
}

/// Ends a subgraph with these outputs.
fn end(d: &mut Draw, outputs: &[i32]) {
    d.model.outputs(outputs);
    d.model.end_subgraph();
}

/// A tensor of the subgraph, like `x`, reversed along its first axis.
fn reverse(d: &mut Draw, x: &Value, tensor: i32) -> i32 {
    let axis = d.ints(&[0]);
    let reversed = d.model.value("reversed", x.kind.tensor(&x.dims));
    d.model.operator(105, Attributes::none(), &[tensor, axis], &[reversed]);
    reversed
}

fn number(d: &mut Draw, value: i32) -> i32 {
    let name = d.name();
    d.model.constant(&name, INT.tensor(&[]), &value.to_le_bytes())
}
