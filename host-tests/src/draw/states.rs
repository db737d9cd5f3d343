//! Variables, which one invocation leaves to the next.

use super::{row, Draw, Format, Kind, Row};
use kiln_codegen::front::tflite::testing::{Element, Options as Attributes};

/// CALL_ONCE, VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE come together.
pub(super) const ROWS: &[Row] = &[row(142, variable), row(143, variable), row(144, variable)];

/// A sum of what was there and what comes, and that is kept.
fn variable(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let name = d.name();
    let handle = d.model.value(&name, Kind::plain(Element::Resource).tensor(&[]));
    d.model.operator(142, Attributes::variable(&name), &[], &[handle]);
    let dims = x.dims.clone();
    let name = d.name();
    let tensor = d.model.value(&name, x.kind.tensor(&dims));
    d.model.operator(143, Attributes::none(), &[handle], &[tensor]);
    d.model.operator(144, Attributes::none(), &[handle, x.tensor], &[]);
    let old = super::Value { tensor, kind: x.kind, dims, is_exact: true, is_read: false };
    d.emit_moved(2, Attributes::concatenation(0), &[&old, &x], &[], x.kind)
}
