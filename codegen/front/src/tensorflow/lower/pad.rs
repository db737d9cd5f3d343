//! Padding.

use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[("MirrorPad", One(mirror)), ("Pad", One(pad)), ("PadV2", One(pad))];

/// Amounts in front of all axes, then behind all.
fn amounts(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let list = cx.known_sizes(1, "padding")?;
    malformed_if!(list.len() != 2 * cx.dims(x).len(), "its padding {list:?} does not fit {}", cx.shown(x));
    let all: Vec<i64> =
        list.iter().step_by(2).chain(list.iter().skip(1).step_by(2)).map(|&pad| pad as i64).collect();
    cx.int_constant("padding", DType::I64, &[all.len()], &all)
}

fn pad(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let pads = amounts(cx, x)?;
    let number = if cx.count() > 2 { Some(cx.x(2)?) } else { None };
    cx.call("Pad", &[Some(x), Some(pads), number], &[])
}

fn mirror(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let mode = cx.word("mode")?;
    if mode == "SYMMETRIC" {
        return symmetric(cx, x);
    }
    let pads = amounts(cx, x)?;
    cx.call("Pad", &[Some(x), Some(pads)], &[("mode", Set::Text("reflect"))])
}

/// What is inside, with the edge once more.
fn symmetric(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let list = cx.known_sizes(1, "padding")?;
    let dims = cx.dims(x);
    malformed_if!(list.len() != 2 * dims.len(), "its padding {list:?} does not fit {}", cx.shown(x));
    let mut y = x;
    for (axis, pads) in list.chunks_exact(2).enumerate() {
        let (size, before, after) = (dims[axis], pads[0], pads[1]);
        malformed_if!(
            before > size || after > size,
            "axis {axis} of {} is padded with more than it has",
            cx.shown(x)
        );
        let indices: Vec<usize> =
            (0..before).rev().chain(0..size).chain((size - after..size).rev()).collect();
        y = cx.picked(y, axis, &indices)?;
    }
    Ok(y)
}
