//! Cells of recurrent layers that are one operator.

use super::{All, Cx, Lowered, Operators};
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[("GRUBlockCell", All(gru_cell)), ("LSTMBlockCell", All(lstm_cell))];

/// x · w + b.
fn layer(cx: &mut Cx<'_, '_, '_>, x: ValueId, w: ValueId, b: ValueId) -> Lowered<ValueId> {
    let y = cx.onnx("MatMul", &[x, w])?;
    cx.sum(y, b)
}

/// Operands x, cs, h, w, wci, wcf, wco, b; gates in the order input, cell, forget, output.
fn lstm_cell(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let all = cx.xs(0..8)?;
    let (cell, units) = (all[1], cx.dims(all[1]).get(1).copied().unwrap_or(0));
    malformed_if!(cx.dims(all[7]) != [4 * units], "its bias {} does not fit", cx.shown(all[7]));
    let peepholes = cx.flag("use_peephole")?;
    let forget = cx.float_of("forget_bias", 1.0)?;
    let most = cx.float_of("cell_clip", 3.0)?;
    let joined = cx.joined(&[all[0], all[2]], 1)?;
    let gates = layer(cx, joined, all[3], all[7])?;
    let gate = |cx: &mut Cx<'_, '_, '_>, k: usize| cx.part(gates, 1, k * units, units, 1);
    let [mut i, ci, mut f, mut o] = [gate(cx, 0)?, gate(cx, 1)?, gate(cx, 2)?, gate(cx, 3)?];
    f = cx.plus(f, forget.into())?;
    if peepholes {
        let (by_i, by_f) = (cx.product(cell, all[4])?, cx.product(cell, all[5])?);
        (i, f) = (cx.sum(i, by_i)?, cx.sum(f, by_f)?);
    }
    let (i, f, ci) = (cx.sigmoid(i)?, cx.sigmoid(f)?, cx.tanh(ci)?);
    let (new, kept) = (cx.product(ci, i)?, cx.product(cell, f)?);
    let mut cs = cx.sum(new, kept)?;
    if most > 0.0 {
        cs = cx.clipped(cs, -most, most)?;
    }
    if peepholes {
        let by_o = cx.product(cs, all[6])?;
        o = cx.sum(o, by_o)?;
    }
    let (o, co) = (cx.sigmoid(o)?, cx.tanh(cs)?);
    let h = cx.product(co, o)?;
    Ok(vec![i, cs, f, o, ci, co, h])
}

/// Operands x, h, w_ru, w_c, b_ru, b_c.
fn gru_cell(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let all = cx.xs(0..6)?;
    let (x, h) = (all[0], all[1]);
    let units = cx.dims(h).get(1).copied().unwrap_or(0);
    malformed_if!(cx.dims(all[4]) != [2 * units], "its bias {} does not fit", cx.shown(all[4]));
    let joined = cx.joined(&[x, h], 1)?;
    let gates = layer(cx, joined, all[2], all[4])?;
    let gates = cx.sigmoid(gates)?;
    let (r, u) = (cx.part(gates, 1, 0, units, 1)?, cx.part(gates, 1, units, units, 1)?);
    let kept = cx.product(h, r)?;
    let joined = cx.joined(&[x, kept], 1)?;
    let c = layer(cx, joined, all[3], all[5])?;
    let c = cx.tanh(c)?;
    // h' = u · h + (1 − u) · c.
    let gap = cx.difference(h, c)?;
    let part = cx.product(u, gap)?;
    let new = cx.sum(c, part)?;
    Ok(vec![r, u, c, new])
}
