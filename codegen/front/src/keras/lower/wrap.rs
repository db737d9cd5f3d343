//! Layers around others.

use super::arguments::Given;
use super::cx::Cx;
use super::{Layers, Lowered, Refusal, Slot, Slots};
use crate::keras::model::Layer;
use crate::keras::value::Value;
use kiln_ir::ValueId;

pub(super) const LAYERS: Layers =
    &[("Bidirectional", Slots(bidirectional)), ("TimeDistributed", Slots(time_distributed))];

/// A layer for each step: the steps are part of the batch.
fn time_distributed(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let slot = cx.slot()?;
    let dims = cx.dims(slot.value);
    let &[batch, steps, ref rest @ ..] = &*dims else {
        return Err(malformed!("{} has no steps", cx.shown(slot.value)));
    };
    let flat = cx.reshaped(slot.value, &[&[batch * steps], rest].concat())?;
    let layer = Layer::read(cx.config().get("layer"))?;
    let results = cx.inner(layer, "layer", Given::of(Slot::plain(flat)))?;
    let mut slots = Vec::new();
    for result in results {
        let own = cx.dims(result.value);
        malformed_if!(own.first() != Some(&(batch * steps)), "its layer has no batch");
        let value = cx.reshaped(result.value, &[&[batch, steps], &own[1..]].concat())?;
        slots.push(Slot { value, mask: slot.mask });
    }
    Ok(slots)
}

/// The configuration of a layer, with a key set to a truth value.
fn with_flag(config: &Value, key: &str, flag: bool) -> Value {
    let mut entries: Vec<(Box<str>, Value)> = config.entries().to_vec();
    entries.retain(|(own, _)| &**own != key);
    entries.push((key.into(), Value::Bool(flag)));
    Value::Object(entries)
}

/// A recurrent layer in both directions.
fn bidirectional(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let forward = Layer::read(cx.config().get("layer"))?;
    // Of those whose layer goes backwards, the other one goes forwards.
    let turned = with_flag(forward.config, "go_backwards", !forward.config.get("go_backwards").flag(false));
    let backward = match cx.config().has("backward_layer") {
        true => Layer::read(cx.config().get("backward_layer"))?,
        false => Layer { config: &turned, ..forward },
    };
    // Steps that do not count are zeros in sequences of both directions.
    let sequences = forward.config.get("return_sequences").flag(false);
    let zeros = |layer: Layer<'_>| match sequences {
        true => with_flag(layer.config, "zero_output_for_mask", true),
        false => layer.config.clone(),
    };
    let (own, other) = (zeros(forward), zeros(backward));
    let (forward, backward) = (Layer { config: &own, ..forward }, Layer { config: &other, ..backward });
    let (slot, states) = super::recurrent::operands(cx)?;
    let half = states.len() / 2;
    malformed_if!(states.len() % 2 != 0, "it is called with {} states", states.len());
    let given = |states: &[Slot]| {
        let mut args = vec![slot];
        args.extend(states);
        let list = args.into_iter().map(super::arguments::Arg::Slot).collect();
        Given { args: vec![super::arguments::Arg::List(list)], kwargs: Vec::new() }
    };
    let first = cx.inner(forward, "forward_layer", given(&states[..half]))?;
    let second = cx.inner(backward, "backward_layer", given(&states[half..]))?;
    let (Some((&a, rest)), Some((&b, others))) = (first.split_first(), second.split_first()) else {
        return Err(malformed!("its layers have no results"));
    };
    let mut b = b.value;
    if sequences {
        b = backwards(cx, b)?;
    }
    let mask = if sequences { slot.mask } else { None };
    let mut results =
        merged(cx, a.value, b)?.into_iter().map(|value| Slot { value, mask }).collect::<Vec<_>>();
    results.extend(rest.iter().chain(others));
    Ok(results)
}

/// A sequence from its end on.
pub(super) fn backwards(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let steps = cx.dims(x).get(1).copied().unwrap_or(0);
    if steps < 2 {
        return Ok(x);
    }
    cx.part(x, 1, steps - 1, steps, -1)
}

fn merged(cx: &mut Cx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<Vec<ValueId>> {
    Ok(vec![match cx.config().get("merge_mode") {
        Value::Null => return Ok(vec![a, b]),
        mode => match mode.text() {
            "concat" => {
                let axis = cx.dims(a).len().saturating_sub(1);
                cx.joined(&[a, b], axis)?
            }
            "sum" => cx.sum(a, b)?,
            "mul" => cx.product(a, b)?,
            "ave" => {
                let sum = cx.sum(a, b)?;
                cx.times(sum, 0.5)?
            }
            other => {
                let what = format!("its merge_mode is {:?}", super::short(other));
                return Err(Refusal::unsupported(what, "use concat, sum, mul or ave"));
            }
        },
    }])
}
