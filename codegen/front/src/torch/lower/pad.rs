//! Padding.

use super::cx::Cx;
use super::{Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("constant_pad_nd", One(|cx| pad(cx, "constant"))),
    ("pad", One(by_mode)),
    ("reflection_pad1d", One(|cx| pad(cx, "reflect"))),
    ("reflection_pad2d", One(|cx| pad(cx, "reflect"))),
    ("replication_pad1d", One(|cx| pad(cx, "edge"))),
    ("replication_pad2d", One(|cx| pad(cx, "edge"))),
    ("replication_pad3d", One(|cx| pad(cx, "edge"))),
];

fn by_mode(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mode = match cx.words("mode") {
        "reflect" => "reflect",
        "replicate" => "edge",
        "circular" => "wrap",
        "" | "constant" => "constant",
        other => return Err(malformed!("its mode is {other:?}")),
    };
    pad(cx, mode)
}

/// The list has pairs, of which the first one is that of the last axis.
fn pad(cx: &mut Cx<'_, '_, '_>, mode: &str) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let name = if cx.has("pad") { "pad" } else { "padding" };
    let given = cx.integers(name)?.unwrap_or_default();
    let rank = cx.dims(x).len();
    malformed_if!(given.len() % 2 != 0 || given.len() > 2 * rank, "its padding is {given:?}");
    let mut pads = vec![0; 2 * rank];
    for (k, pair) in given.chunks_exact(2).enumerate() {
        (pads[rank - 1 - k], pads[2 * rank - 1 - k]) = (pair[0], pair[1]);
    }
    let pads = cx.int_constant("pads", DType::I64, &[2 * rank], &pads)?;
    let number = cx.number_or("value", 0.0)?;
    let number = cx.number(x, number)?;
    let number = (mode == "constant").then_some(number);
    cx.call("Pad", &[Some(x), Some(pads), number], &[("mode", Set::Text(mode))])
}
