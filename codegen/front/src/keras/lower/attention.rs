//! Attention.

use super::activation::softmax;
use super::arguments::Arg;
use super::cx::Cx;
use super::normalise::scalar;
use super::{mask, All, Layers, Lowered, Refusal, Slot, Slots};
use crate::keras::value::Value;
use kiln_ir::{Clamp, DType, Data, Op, Reduction, Rescale, Type, ValueId};

pub(super) const LAYERS: Layers = &[
    ("AdditiveAttention", All(additive)),
    ("Attention", All(products)),
    ("GroupQueryAttention", Slots(grouped)),
    ("GroupedQueryAttention", Slots(grouped)),
    ("MultiHeadAttention", Slots(several)),
];

/// What is asked, and what answers.
struct Operands {
    query: Slot,
    value: Slot,
    /// `None` where the values are the keys.
    key: Option<Slot>,
}

fn operands(cx: &Cx<'_, '_, '_>) -> Lowered<Operands> {
    let missing = |what: &str| malformed!("it is called without {what}");
    Ok(Operands {
        query: cx.tensor_at(0, "query")?.ok_or_else(|| missing("a query"))?,
        value: cx.tensor_at(1, "value")?.ok_or_else(|| missing("a value"))?,
        key: cx.tensor_at(2, "key")?,
    })
}

/// A setting of the call.
fn asked(cx: &Cx<'_, '_, '_>, name: &str) -> bool {
    match cx.given.get(usize::MAX, name) {
        Some(Arg::Value(value)) => value.flag(false),
        _ => false,
    }
}

fn named(cx: &Cx<'_, '_, '_>, name: &str) -> Option<ValueId> {
    match cx.given.get(usize::MAX, name) {
        Some(Arg::Slot(slot)) => Some(slot.value),
        _ => None,
    }
}

/// Which of `columns` a row may look at.
fn pattern(
    cx: &mut Cx<'_, '_, '_>,
    rows: usize,
    columns: usize,
    may: impl Fn(usize, usize) -> bool,
) -> Lowered<ValueId> {
    crate::onnx::lower::check_size(DType::Bool, &[rows, columns])?;
    cx.importer.budget.make(rows * columns);
    cx.importer.budget.charge(rows * columns)?;
    let bytes: Vec<u8> = (0..rows)
        .flat_map(|row| (0..columns).map(move |c| (row, c)))
        .map(|(r, c)| u8::from(may(r, c)))
        .collect();
    Ok(cx.importer.graph.add_const("mask", Type::plain(DType::Bool, &[rows, columns]), Data::new(bytes)))
}

fn and(cx: &mut Cx<'_, '_, '_>, all: Option<ValueId>, mask: ValueId) -> Lowered<Option<ValueId>> {
    match all {
        None => Ok(Some(mask)),
        Some(all) => cx.both(all, mask).map(Some),
    }
}

/// All that limits which steps are looked at: \[batch, queries, steps\], of which axes may be 1 or missing.
fn limits(
    cx: &mut Cx<'_, '_, '_>,
    operands: &Operands,
    rows: usize,
    columns: usize,
) -> Lowered<Option<ValueId>> {
    let mut all = None;
    let own = [
        (named(cx, "query_mask").or(operands.query.mask), 2),
        (named(cx, "value_mask").or(operands.value.mask), 1),
        (named(cx, "key_mask").or(operands.key.and_then(|key| key.mask)), 1),
    ];
    for (given, axis) in own {
        let Some(given) = given else { continue };
        let given = mask::truth(cx, given)?;
        let mut dims = cx.dims(given);
        malformed_if!(dims.len() != 2, "its mask is {}", cx.shown(given));
        dims.insert(axis, 1);
        let given = cx.reshaped(given, &dims)?;
        all = and(cx, all, given)?;
    }
    if asked(cx, "use_causal_mask") {
        let causal = pattern(cx, rows, columns, |row, column| row >= column)?;
        all = and(cx, all, causal)?;
    }
    if let Some(window) = cx.integer("sliding_window").filter(|&window| window > 0) {
        let near = pattern(cx, rows, columns, |row, column| (row.abs_diff(column) as i64) < window)?;
        all = and(cx, all, near)?;
    }
    if let Some(given) = named(cx, "attention_mask") {
        let given = mask::truth(cx, given)?;
        all = and(cx, all, given)?;
    }
    Ok(all)
}

/// x · kernel + bias, with heads: \[batch, steps, heads, size\].
fn projected(cx: &mut Cx<'_, '_, '_>, name: &str, x: ValueId) -> Lowered<ValueId> {
    let inner = inner(cx, name)?;
    let kernel = cx.weights(&inner, 0)?;
    let &[depth, heads, size] = kernel.dims() else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    let weights = cx.constant(name, &kernel, &[1, 2, 0], &[heads * size, depth])?;
    let bias = cx.bias(&inner, 1, heads * size)?;
    let y = dense(cx, x, weights, bias)?;
    let &[batch, steps, _] = &*cx.dims(y) else { return Err(malformed!("{} is no sequence", cx.shown(x))) };
    cx.reshaped(y, &[batch, steps, heads, size])
}

/// The path of a projection, which older files begin with an underscore.
fn inner(cx: &Cx<'_, '_, '_>, name: &str) -> Lowered<String> {
    let plain = format!("{name}_dense");
    let path = crate::keras::variables::path(&super::run::joined(&cx.path, &plain), 0);
    Ok(if cx.shared.store.has(&path)? { plain } else { format!("_{plain}") })
}

fn dense(cx: &mut Cx<'_, '_, '_>, x: ValueId, weights: ValueId, bias: Option<ValueId>) -> Lowered<ValueId> {
    let (mut dims, shape) = (cx.dims(x), cx.dims(weights));
    malformed_if!(dims.last() != shape.last(), "its kernel does not fit {}", cx.shown(x));
    if let Some(last) = dims.last_mut() {
        *last = shape[0];
    }
    let operands: Vec<ValueId> = [x, weights].into_iter().chain(bias).collect();
    cx.add_like(Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &operands, &dims)
}

/// The result of heads \[batch, steps, heads, size\] by the last projection.
fn given_out(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let inner = inner(cx, "output")?;
    let kernel = cx.weights(&inner, 0)?;
    let (&[heads, size, ref out @ ..], &[batch, steps, own, depth]) = (kernel.dims(), &*cx.dims(x)) else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    malformed_if!([heads, size] != [own, depth] || out.is_empty(), "its kernel is {:?}", kernel.dims());
    let perm: Vec<usize> = (2..out.len() + 2).chain([0, 1]).collect();
    let count: usize = out.iter().product();
    let weights = cx.constant("output", &kernel, &perm, &[count, heads * size])?;
    let bias = cx.bias(&inner, 1, count)?;
    let rows = cx.reshaped(x, &[batch, steps, heads * size])?;
    let y = dense(cx, rows, weights, bias)?;
    cx.reshaped(y, &[&[batch, steps], out].concat())
}

/// Heads of queries, keys and values.
struct Heads {
    query: ValueId,
    key: ValueId,
    value: ValueId,
    gate: Option<ValueId>,
}

/// Weighted means of values: \[batch, queries, heads, size\], and the weights \[batch, heads, queries, steps\].
fn attend(
    cx: &mut Cx<'_, '_, '_>,
    heads: &Heads,
    limits: Option<ValueId>,
    scale: f64,
) -> Lowered<[ValueId; 2]> {
    let query = cx.times(heads.query, scale)?;
    let (query, key) = (cx.transposed(query, &[0, 2, 1, 3])?, cx.transposed(heads.key, &[0, 2, 1, 3])?);
    let value = cx.transposed(heads.value, &[0, 2, 3, 1])?;
    let mut scores = cx.matrix_product(query, key)?;
    if let Some(limits) = limits {
        // Heads stand behind the batch.
        let dims = cx.dims(limits);
        let wide = match *dims {
            [batch, rows, columns] => cx.reshaped(limits, &[batch, 1, rows, columns])?,
            _ => limits,
        };
        let least = cx.number(scores, -1e9)?;
        scores = cx.choice(wide, scores, least)?;
    }
    let weights = cx.softmax(scores)?;
    let mean = cx.matrix_product(weights, value)?;
    let mut mean = cx.transposed(mean, &[0, 2, 1, 3])?;
    if let Some(gate) = heads.gate {
        mean = cx.product(mean, gate)?;
    }
    Ok([mean, weights])
}

fn gate(cx: &mut Cx<'_, '_, '_>, query: ValueId) -> Lowered<Option<ValueId>> {
    if !cx.flag("use_gate", false) {
        return Ok(None);
    }
    let gate = projected(cx, "gate", query)?;
    cx.sigmoid(gate).map(Some)
}

/// `x` with the axes that are attended to as one, and all others in front of it as the batch; with its own sizes of both.
fn sequences(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    axes: &[usize],
) -> Lowered<(ValueId, Vec<usize>, Vec<usize>)> {
    let dims = cx.dims(x);
    let rank = dims.len();
    let others: Vec<usize> = (0..rank.saturating_sub(1)).filter(|axis| !axes.contains(axis)).collect();
    let perm: Vec<usize> = others.iter().chain(axes).copied().chain([rank.saturating_sub(1)]).collect();
    let turned = cx.transposed(x, &perm)?;
    let size = |axes: &[usize]| axes.iter().map(|&axis| dims[axis]).collect::<Vec<usize>>();
    let (front, own) = (size(&others), size(axes));
    let last = dims.last().copied().unwrap_or(1);
    let flat = cx.reshaped(turned, &[front.iter().product(), own.iter().product(), last])?;
    Ok((flat, front, own))
}

/// MultiHeadAttention.
fn several(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let operands = operands(cx)?;
    let rank = cx.dims(operands.query.value).len();
    malformed_if!(rank < 3, "{} is no sequence", cx.shown(operands.query.value));
    let axes: Vec<usize> = match cx.config().get("attention_axes") {
        Value::Null => (1..rank - 1).collect(),
        _ => cx.axes_of("attention_axes", 1, rank)?,
    };
    let mut flat = Vec::new();
    for slot in [operands.query, operands.value, operands.key.unwrap_or(operands.value)] {
        let x = cx.floating(slot.value)?;
        malformed_if!(cx.dims(x).len() != rank, "{} does not fit its query", cx.shown(x));
        flat.push(sequences(cx, x, &axes)?);
    }
    let [(query, front, own), (value, ..), (key, ..)] = &flat[..] else { return Err(malformed!("no query")) };
    let (query, value, key) = (*query, *value, *key);
    let (rows, columns) = (cx.dims(query)[1], cx.dims(key)[1]);
    let limits = limits(cx, &operands, rows, columns)?;
    if limits.is_some() && (front.len() > 1) {
        let help = "attend to all axes, or do without masks";
        return Err(Refusal::unsupported("it has masks, and attends only to some axes", help));
    }
    let heads = Heads {
        query: projected(cx, "query", query)?,
        key: projected(cx, "key", key)?,
        value: projected(cx, "value", value)?,
        gate: gate(cx, query)?,
    };
    let depth = cx.dims(heads.query)[3];
    let [mean, weights] = attend(cx, &heads, limits, 1.0 / (depth as f64).sqrt())?;
    let y = given_out(cx, mean)?;
    let last = cx.dims(y)[2..].to_vec();
    let y = cx.reshaped(y, &[&front[..], &own[..], &last[..]].concat())?;
    // The axes that are not attended to were in front; they go back to their places.
    let others: Vec<usize> = (0..rank - 1).filter(|axis| !axes.contains(axis)).collect();
    let now: Vec<usize> = others.iter().chain(&axes).copied().collect();
    let mut back: Vec<usize> =
        (0..rank - 1).map(|axis| now.iter().position(|&at| at == axis).unwrap_or(axis)).collect();
    back.extend(rank - 1..rank - 1 + last.len());
    let value = cx.transposed(y, &back)?;
    let mut results = vec![Slot { value, mask: operands.query.mask }];
    if asked(cx, "return_attention_scores") {
        if front.len() > 1 || own.len() > 1 {
            let help = "attend to one axis, or do without scores";
            return Err(Refusal::unsupported("the scores of several axes cannot be compiled", help));
        }
        results.push(Slot::plain(weights));
    }
    Ok(results)
}

/// GroupQueryAttention: several heads of queries share keys and values.
fn grouped(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let operands = operands(cx)?;
    let (query, value) = (cx.floating(operands.query.value)?, cx.floating(operands.value.value)?);
    let key = cx.floating(operands.key.unwrap_or(operands.value).value)?;
    let is_sequence = [query, key, value].iter().all(|&x| cx.dims(x).len() == 3);
    malformed_if!(!is_sequence, "{} is no sequence", cx.shown(query));
    let (rows, columns) = (cx.dims(query)[1], cx.dims(key)[1]);
    let limits = limits(cx, &operands, rows, columns)?;
    let gate = gate(cx, query)?;
    let (query, key, value) =
        (projected(cx, "query", query)?, projected(cx, "key", key)?, projected(cx, "value", value)?);
    let (own, shared, depth) = (cx.dims(query)[2], cx.dims(key)[2], cx.dims(query)[3]);
    malformed_if!(shared == 0 || own % shared != 0, "{own} heads do not share {shared}");
    let key = super::resize::repeated(cx, key, 2, own / shared)?;
    let value = super::resize::repeated(cx, value, 2, own / shared)?;
    let heads = Heads { query, key, value, gate };
    let [mean, weights] = attend(cx, &heads, limits, 1.0 / (depth as f64).sqrt())?;
    let y = given_out(cx, mean)?;
    let mut results = vec![Slot { value: y, mask: operands.query.mask }];
    if asked(cx, "return_attention_scores") {
        results.push(Slot::plain(weights));
    }
    Ok(results)
}

/// Query, value and key of the layers without projections.
fn listed(cx: &mut Cx<'_, '_, '_>) -> Lowered<Operands> {
    let all = cx.given.first();
    let mut slots = Vec::new();
    for slot in all {
        slots.push(Slot { value: cx.floating(slot.value)?, mask: slot.mask });
    }
    match slots[..] {
        [query, value] => Ok(Operands { query, value, key: None }),
        [query, value, key] => Ok(Operands { query, value, key: Some(key) }),
        _ => Err(malformed!("it is called with {} tensors", slots.len())),
    }
}

/// The masks of query and value: as an argument, or with their tensors.
fn given_masks(cx: &mut Cx<'_, '_, '_>, operands: &Operands) -> Lowered<[Option<ValueId>; 2]> {
    let given = match cx.given.get(usize::MAX, "mask") {
        Some(Arg::List(list)) => {
            let mask = |k: usize| match list.get(k) {
                Some(Arg::Slot(slot)) => Some(slot.value),
                _ => None,
            };
            [mask(0), mask(1)]
        }
        _ => [operands.query.mask, operands.value.mask],
    };
    let mut masks = [None; 2];
    for (own, given) in masks.iter_mut().zip(given) {
        *own = given.map(|mask| mask::truth(cx, mask)).transpose()?;
    }
    Ok(masks)
}

/// Means of values by scores \[batch, queries, steps\].
fn by_scores(cx: &mut Cx<'_, '_, '_>, operands: &Operands, scores: ValueId) -> Lowered<Vec<ValueId>> {
    let [query_mask, value_mask] = given_masks(cx, operands)?;
    let &[_, rows, columns] = &*cx.dims(scores) else { return Err(malformed!("it has no scores")) };
    let mut limits = None;
    if asked(cx, "use_causal_mask") || cx.flag("causal", false) {
        limits = Some(pattern(cx, rows, columns, |row, column| row >= column)?);
    }
    if let Some(mask) = value_mask {
        let dims = cx.dims(mask);
        let mask = cx.reshaped(mask, &[dims[0], 1, columns])?;
        limits = and(cx, limits, mask)?;
    }
    let mut scores = scores;
    if let Some(limits) = limits {
        let less = cx.plus(scores, -1e9)?;
        scores = cx.choice(limits, scores, less)?;
    }
    let weights = softmax(cx, scores, &[2])?;
    let value = cx.transposed(operands.value.value, &[0, 2, 1])?;
    let mut mean = cx.matrix_product(weights, value)?;
    if let Some(mask) = query_mask {
        let mask = mask::widened(cx, mask, 3)?;
        let zero = cx.number(mean, 0.0)?;
        mean = cx.choice(mask, mean, zero)?;
    }
    Ok(match asked(cx, "return_attention_scores") {
        true => vec![mean, weights],
        false => vec![mean],
    })
}

/// Σ tanh(scale · (query + key)) for each pair, or Σ scale · tanh(query + key).
fn sums(
    cx: &mut Cx<'_, '_, '_>,
    operands: &Operands,
    inside: Option<f64>,
    outside: Option<ValueId>,
) -> Lowered<ValueId> {
    let key = operands.key.unwrap_or(operands.value).value;
    let query = operands.query.value;
    let (&[b, rows, depth], &[n, columns, _]) = (&*cx.dims(query), &*cx.dims(key)) else {
        return Err(malformed!("{} is no sequence", cx.shown(query)));
    };
    let (query, key) =
        (cx.reshaped(query, &[b, rows, 1, depth])?, cx.reshaped(key, &[n, 1, columns, depth])?);
    let mut sum = cx.sum(query, key)?;
    if let Some(scale) = inside {
        sum = cx.times(sum, scale)?;
    }
    let mut bent = cx.tanh(sum)?;
    if let Some(scale) = outside {
        bent = cx.product(bent, scale)?;
    }
    let all = cx.reduced(Reduction::Sum, bent, &[3])?;
    cx.reshaped(all, &[b, rows, columns])
}

/// Attention: scores are products, or sums by a number.
fn products(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let operands = listed(cx)?;
    let scale = match cx.flag("use_scale", false) {
        true => {
            let weights = cx.weights("", 0)?;
            Some(scalar(&weights)?)
        }
        false => None,
    };
    let scores = if cx.word("score_mode") == "concat" {
        let weights = cx.weights("", usize::from(scale.is_some()))?;
        let factor = scalar(&weights)?;
        let sums = sums(cx, &operands, scale, None)?;
        cx.times(sums, factor)?
    } else {
        let key = operands.key.unwrap_or(operands.value).value;
        let scores = cx.matrix_product(operands.query.value, key)?;
        scale.map_or(Ok(scores), |scale| cx.times(scores, scale))?
    };
    by_scores(cx, &operands, scores)
}

/// AdditiveAttention.
fn additive(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let operands = listed(cx)?;
    let scale = match cx.flag("use_scale", true) {
        true => {
            let weights = cx.weights("", 0)?;
            Some(cx.constant("scale", &weights, &[0], weights.dims())?)
        }
        false => None,
    };
    let scores = sums(cx, &operands, None, scale)?;
    by_scores(cx, &operands, scores)
}
