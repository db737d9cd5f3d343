//! Variables, which one invocation leaves to the next.

use super::{row, Draw, Format, Kind, Row, Value};
use kiln_codegen::front::tflite::testing::{Element, Options as Attributes};

/// The operator that initialises variables.
pub(super) const CALL_ONCE: i32 = 129;

/// CALL_ONCE, VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE come together.
pub(super) const ROWS: &[Row] =
    &[row(CALL_ONCE, initialised), row(142, variable), row(143, variable), row(144, variable)];

/// What came last and what comes.
fn variable(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let shared = d.name();
    followed(d, &x, &shared)
}

/// The variable's contents and `x`, which takes their place.
fn followed(d: &mut Draw, x: &Value, shared: &str) -> Option<()> {
    let name = d.name();
    let handle = d.model.value(&name, Kind::plain(Element::Resource).tensor(&[]));
    d.model.operator(142, Attributes::variable(shared), &[], &[handle]);
    let dims = x.dims.clone();
    let name = d.name();
    let tensor = d.model.value(&name, x.kind.tensor(&dims));
    d.model.operator(143, Attributes::none(), &[handle], &[tensor]);
    d.model.operator(144, Attributes::none(), &[handle, x.tensor], &[]);
    let old = Value { tensor, kind: x.kind, dims, is_exact: true, is_read: false };
    d.emit_moved(2, Attributes::concatenation(0), &[&old, x], &[], x.kind)
}

/// As `variable`, which another subgraph gives its first contents.
fn initialised(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let shared = d.name();
    let init = d.model.begin_subgraph(&shared);
    let handle = d.model.value("handle", Kind::plain(Element::Resource).tensor(&[]));
    d.model.operator(142, Attributes::variable(&shared), &[], &[handle]);
    let first = d.constant(x.kind, &x.dims);
    d.model.operator(144, Attributes::none(), &[handle, first.tensor], &[]);
    d.model.end_subgraph();
    d.model.operator(CALL_ONCE, Attributes::call_once(init), &[], &[]);
    followed(d, &x, &shared)
}
