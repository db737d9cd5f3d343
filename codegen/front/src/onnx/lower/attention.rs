//! Attention and RotaryEmbedding, as what their function bodies in the specification compute.

use super::cx::NodeCx;
use super::{All, Lowered, One, Operators};
use kiln_ir::{Comparison, DType, Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[("Attention", All(attention)), ("RotaryEmbedding", One(rotary))];

/// Queries, keys or values as \[batch, heads, steps, size\].
fn heads(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, attribute: &str) -> Lowered<ValueId> {
    cx.want_float(x)?;
    match *cx.dims(x) {
        [_, _, _, _] => Ok(x),
        [b, s, all] => {
            let heads = usize::try_from(cx.int(attribute, 0)).unwrap_or(0);
            if heads == 0 || all % heads != 0 {
                return Err(malformed!("{} does not divide into {heads} heads", cx.shown(x)));
            }
            let split = cx.reshaped(x, &[b, s, heads, all / heads])?;
            cx.transposed(split, &[0, 2, 1, 3])
        }
        _ => Err(malformed!("{} does not have three or four axes", cx.shown(x))),
    }
}

/// Attention: softmax(softcap(Q·Kᵀ·scale) + mask)·V for each head.
fn attention(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, k, v) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let is_flat = cx.dims(x).len() == 3;
    let q = heads(cx, x, "q_num_heads")?;
    let (mut k, mut v) = (heads(cx, k, "kv_num_heads")?, heads(cx, v, "kv_num_heads")?);
    let (past_k, past_v) = (cx.optional(4)?, cx.optional(5)?);
    let past = past_k.map_or(0, |past| cx.dims(past).get(2).copied().unwrap_or(0));
    for (part, past) in [(&mut k, past_k), (&mut v, past_v)] {
        let Some(past) = past else { continue };
        let (mut own, mut before) = (cx.dims(*part), cx.dims(past));
        if own.len() == before.len() && own.len() == 4 {
            (own[2], before[2]) = (0, 0);
        }
        if own != before || own.len() != 4 {
            let (past, part) = (cx.shown(past), cx.shown(*part));
            return Err(malformed!("{past} does not fit {part}"));
        }
        *part = cx.joined(&[past, *part], 2)?;
    }
    cx.bind(1, k)?;
    cx.bind(2, v)?;
    let (&[b, q_heads, steps, size], &[_, kv_heads, all, _]) = (&*cx.dims(q), &*cx.dims(k)) else {
        return Err(malformed!("no heads"));
    };
    if kv_heads == 0 || q_heads % kv_heads != 0 {
        return Err(malformed!("{q_heads} heads of queries do not fit {kv_heads} heads of keys"));
    }
    // Each head of keys and values belongs to several neighbouring ones of queries.
    let repeats = q_heads / kv_heads;
    cx.importer.budget.charge(16 * q_heads)?;
    let owner: Vec<usize> = (0..q_heads).map(|head| head / repeats).collect();
    let (k, v) = (cx.picked(k, 1, &owner)?, cx.picked(v, 1, &owner)?);

    let scale = cx.attribute("scale").map_or(1.0 / (size as f64).sqrt(), |scale| scale.float.into());
    let scaled = cx.times(q, scale)?;
    let mut scores = cx.matrix_product(scaled, k)?;
    let mode = cx.int("qk_matmul_output_mode", 0);
    if mode == 0 {
        cx.bind(3, scores)?;
    }
    let softcap = f64::from(cx.float("softcap", 0.0));
    if softcap > 0.0 {
        let inner = cx.times(scores, 1.0 / softcap)?;
        let inner = cx.tanh(inner)?;
        scores = cx.times(inner, softcap)?;
    }
    if mode == 1 {
        cx.bind(3, scores)?;
    }
    let mask = mask(cx, [b, steps, all], past)?;
    if let Some(mask) = mask {
        let dims = cx.dims(scores);
        scores = cx.sum(scores, mask)?;
        malformed_if!(cx.dims(scores) != dims, "its mask {} is too large", cx.shown(mask));
    }
    if mode == 2 {
        cx.bind(3, scores)?;
    }
    let mut weights = cx.softmax(scores)?;
    if let Some(mask) = mask {
        weights = without_blind(cx, weights, mask)?;
    }
    if mode == 3 {
        cx.bind(3, weights)?;
    }
    let columns = cx.transposed(v, &[0, 1, 3, 2])?;
    let mut y = cx.matrix_product(weights, columns)?;
    if is_flat {
        let depth = cx.dims(v)[3];
        y = cx.transposed(y, &[0, 2, 1, 3])?;
        y = cx.reshaped(y, &[b, steps, q_heads * depth])?;
    }
    cx.bind(0, y)
}

/// Weights of steps that may look nowhere are zeros, as in ONNX Runtime, and not what a softmax makes of −∞ alone.
fn without_blind(cx: &mut NodeCx<'_, '_, '_>, weights: ValueId, mask: ValueId) -> Lowered<ValueId> {
    let last = cx.dims(mask).len().wrapping_sub(1);
    if let Some(data) = cx.data(mask) {
        let row = cx.dims(mask).last().copied().unwrap_or(1).max(1);
        let is_blind = |row: &[f32]| row.iter().all(|&x| x == f32::NEG_INFINITY);
        if !data.to_f32().chunks(row).any(is_blind) {
            return Ok(weights);
        }
    }
    let (never, none) = (cx.number(mask, f64::NEG_INFINITY)?, cx.number(mask, 0.0)?);
    let hidden = cx.compared(Comparison::Equal, mask, never)?;
    let hidden = cx.cast(hidden, DType::F32)?;
    let blind = cx.reduced(Reduction::Min, hidden, &[last])?;
    let one = cx.number(blind, 1.0)?;
    let blind = cx.compared(Comparison::Equal, blind, one)?;
    cx.choice(blind, none, weights)
}

/// What is added to the scores of `[b, steps, all]`: −∞ where a step may not look.
fn mask(cx: &mut NodeCx<'_, '_, '_>, sizes: [usize; 3], past: usize) -> Lowered<Option<ValueId>> {
    let [b, steps, all] = sizes;
    let none = cx.float_constant("no mask", &[], &[0.0])?;
    let never = cx.float_constant("never", &[], &[f32::NEG_INFINITY])?;
    let mut sum: Option<ValueId> = None;
    if let Some(mut mask) = cx.optional(3)? {
        if cx.ty(mask).dtype == DType::Bool {
            mask = cx.choice(mask, none, never)?;
        }
        cx.want_float(mask)?;
        let dims = cx.dims(mask);
        // What the mask does not reach is not looked at.
        if let Some(missing) =
            dims.last().and_then(|&own| all.checked_sub(own)).filter(|&missing| missing > 0)
        {
            let mut after = vec![0; dims.len()];
            after[dims.len() - 1] = missing;
            mask = cx.padded(mask, &vec![0; dims.len()], &after, f32::NEG_INFINITY.to_bits().into())?;
        }
        sum = Some(mask);
    }
    let mut add = |cx: &mut NodeCx<'_, '_, '_>, truth: ValueId| -> Lowered {
        let mask = cx.choice(truth, none, never)?;
        sum = Some(sum.map_or(Ok(mask), |sum| cx.sum(sum, mask))?);
        Ok(())
    };
    if cx.int("is_causal", 0) != 0 {
        let (from, to) = (cx.counted(DType::I32, steps)?, cx.counted(DType::I32, all)?);
        let from = cx.reshaped(from, &[steps, 1])?;
        let last = cx.plus(from, past as f64)?;
        let truth = cx.compared(Comparison::LessEqual, to, last)?;
        add(cx, truth)?;
    }
    if let Some(lengths) = cx.optional(6)? {
        malformed_if!(cx.dims(lengths) != [b], "its lengths are {}", cx.shown(lengths));
        let lengths = cx.reshaped(lengths, &[b, 1, 1, 1])?;
        let to = cx.counted(cx.ty(lengths).dtype, all)?;
        let truth = cx.compared(Comparison::Less, to, lengths)?;
        add(cx, truth)?;
    }
    Ok(sum)
}

/// RotaryEmbedding: pairs of elements, turned by angles of their positions.
fn rotary(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, mut cos, mut sin) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    cx.want_float(x)?;
    let dims = cx.dims(x);
    // As [batch, steps, heads, size].
    let steps = match *dims {
        [_, _, _, _] => cx.transposed(x, &[0, 2, 1, 3])?,
        [b, s, all] => {
            let heads = usize::try_from(cx.int("num_heads", 0)).unwrap_or(0);
            if heads == 0 || all % heads != 0 {
                return Err(malformed!("{} does not divide into {heads} heads", cx.shown(x)));
            }
            cx.reshaped(x, &[b, s, heads, all / heads])?
        }
        _ => return Err(malformed!("{} has no heads", cx.shown(x))),
    };
    let &[b, s, heads, size] = &*cx.dims(steps) else { return Err(malformed!("no heads")) };
    let turned = match usize::try_from(cx.int("rotary_embedding_dim", 0)).unwrap_or(usize::MAX) {
        0 => size,
        turned => turned,
    };
    malformed_if!(turned > size || turned % 2 != 0, "it rotates {turned} elements, but there are {size}");
    let half = turned / 2;
    if let Some(positions) = cx.optional(3)? {
        let named = [&cx.dims(positions)[..], &[1]].concat();
        let positions = cx.reshaped(positions, &named)?;
        for cache in [&mut cos, &mut sin] {
            let dims = [&named[..named.len() - 1], &[half]].concat();
            let op = kiln_ir::Op::Gather { batch: 0, axis: 0, depth: 1 };
            malformed_if!(cx.dims(*cache).len() != 2, "its cache is {}", cx.shown(*cache));
            *cache = cx.add_like(op, &[*cache, positions], &dims)?;
        }
    }
    for cache in [&mut cos, &mut sin] {
        malformed_if!(cx.dims(*cache) != [b, s, half], "its cache is {}", cx.shown(*cache));
        *cache = cx.reshaped(*cache, &[b, s, 1, half])?;
    }
    let rotated = cx.part(steps, 3, 0, turned, 1)?;
    let interleaved = cx.int("interleaved", 0) != 0;
    let (first, second) = match interleaved {
        true => (cx.part(rotated, 3, 0, half, 2)?, cx.part(rotated, 3, 1, half, 2)?),
        false => (cx.part(rotated, 3, 0, half, 1)?, cx.part(rotated, 3, half, half, 1)?),
    };
    let (a, c) = (cx.product(cos, first)?, cx.product(sin, second)?);
    let real = cx.difference(a, c)?;
    let (a, c) = (cx.product(sin, first)?, cx.product(cos, second)?);
    let imaginary = cx.sum(a, c)?;
    let mut y = match interleaved {
        true => {
            let pair = [b, s, heads, half, 1];
            let (real, imaginary) = (cx.reshaped(real, &pair)?, cx.reshaped(imaginary, &pair)?);
            let pairs = cx.joined(&[real, imaginary], 4)?;
            cx.reshaped(pairs, &[b, s, heads, turned])?
        }
        false => cx.joined(&[real, imaginary], 3)?,
    };
    if turned < size {
        let rest = cx.part(steps, 3, turned, size - turned, 1)?;
        y = cx.joined(&[y, rest], 3)?;
    }
    y = match dims.len() {
        4 => cx.transposed(y, &[0, 2, 1, 3])?,
        _ => cx.reshaped(y, &dims)?,
    };
    Ok(y)
}
