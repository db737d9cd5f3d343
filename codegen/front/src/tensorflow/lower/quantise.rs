//! Quantisation that is simulated in floats: numbers are rounded to those that few bits can hold.

use super::{Cx, Lowered, One, Operators, Refusal};
use kiln_ir::{Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("FakeQuantWithMinMaxArgs", One(of_attributes)),
    ("FakeQuantWithMinMaxVars", One(of_operands)),
    ("FakeQuantWithMinMaxVarsPerChannel", One(of_operands)),
    ("QuantizeAndDequantizeV2", One(quantise_and_dequantise)),
    ("QuantizeAndDequantizeV3", One(quantise_and_dequantise)),
    ("QuantizeAndDequantizeV4", One(quantise_and_dequantise)),
];

fn of_attributes(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let range = [(cx.float_of("min", -6.0)?, cx.float_of("max", 6.0)?)];
    simulated(cx, &range)
}

fn of_operands(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (least, most) = (cx.known_numbers(1, "minimum")?, cx.known_numbers(2, "maximum")?);
    malformed_if!(least.len() != most.len(), "it has {} minima and {} maxima", least.len(), most.len());
    let range: Vec<(f32, f32)> = least.iter().zip(&most).map(|(&a, &b)| (a as f32, b as f32)).collect();
    simulated(cx, &range)
}

/// The range that is meant: 0 is one of its steps. With it, the size of a step.
fn nudged((least, most): (f32, f32), lowest: f32, highest: f32) -> (f32, f32, f32) {
    let scale = (most - least) / (highest - lowest);
    let zero = lowest - least / scale;
    let zero = if zero < lowest {
        lowest
    } else if zero > highest {
        highest
    } else {
        zero.round()
    };
    ((lowest - zero) * scale, (highest - zero) * scale, scale)
}

/// One range for all, or one for each channel.
fn simulated(cx: &mut Cx<'_, '_, '_>, ranges: &[(f32, f32)]) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    let bits = cx.int_of("num_bits", 8)?;
    malformed_if!(!(2..=16).contains(&bits), "it has {bits} bits");
    let lowest = if cx.flag("narrow_range")? { 1.0 } else { 0.0 };
    let highest = ((1u32 << bits) - 1) as f32;
    let dims = match ranges.len() {
        1 => Vec::new(),
        count if cx.dims(x).last() == Some(&count) => vec![count],
        count => return Err(malformed!("{count} ranges do not fit {}", cx.shown(x))),
    };
    let dims = if cx.node.op.ends_with("PerChannel") { vec![ranges.len()] } else { dims };
    let nudged: Vec<(f32, f32, f32)> = ranges
        .iter()
        // Without a range all is 0.
        .map(|&range| if range == (0.0, 0.0) { (0.0, 0.0, 1.0) } else { nudged(range, lowest, highest) })
        .collect();
    let list = |of: fn(&(f32, f32, f32)) -> f32| -> Vec<f32> { nudged.iter().map(of).collect() };
    let (least, most) = (list(|range| range.0), list(|range| range.1));
    let least = cx.float_constant("least", &dims, &least)?;
    let most = cx.float_constant("most", &dims, &most)?;
    let scale = cx.float_constant("scale", &dims, &list(|range| range.2))?;
    let per_step = cx.float_constant("steps", &dims, &list(|range| 1.0 / range.2))?;
    let clamped = cx.onnx("Max", &[x, least])?;
    let clamped = cx.onnx("Min", &[clamped, most])?;
    let above = cx.difference(clamped, least)?;
    let steps = cx.product(above, per_step)?;
    let half = cx.plus(steps, 0.5)?;
    let whole = cx.unary(Unary::Floor, half)?;
    let y = cx.product(whole, scale)?;
    cx.sum(y, least)
}

/// The same with symmetric steps, for a range that is given.
fn quantise_and_dequantise(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    if !cx.flag("range_given")? || cx.int_of("axis", -1)? != -1 {
        let what = "its range is computed from what it quantises, or there is one for each channel";
        return Err(Refusal::unsupported(what, "give it one constant range"));
    }
    let bits = match cx.node.op {
        "QuantizeAndDequantizeV3" => cx.known_int(3, "number of bits")?,
        _ => cx.int_of("num_bits", 8)?,
    };
    malformed_if!(!(2..=16).contains(&bits), "it has {bits} bits");
    let is_signed = cx.flag_or("signed_input", true)?;
    let (least, most) = (cx.known_number(1, "minimum")? as f32, cx.known_number(2, "maximum")? as f32);
    let narrow = cx.flag("narrow_range")?;
    let (lowest, highest) = match is_signed {
        true => {
            (-((1i64 << (bits - 1)) as f32) + f32::from(u8::from(narrow)), ((1i64 << (bits - 1)) - 1) as f32)
        }
        false => (0.0, ((1i64 << bits) - 1) as f32),
    };
    let by_least = if lowest * least > 0.0 { lowest / least } else { f32::MAX };
    let by_most = if highest * most > 0.0 { highest / most } else { f32::MAX };
    let scale = by_least.min(by_most);
    malformed_if!(!scale.is_finite() || scale <= 0.0 || scale == f32::MAX, "its range is {least} to {most}");
    let clamped = cx.clipped(x, lowest / scale, highest / scale)?;
    let steps = cx.times(clamped, scale.into())?;
    let whole = match cx.word("round_mode")? {
        "HALF_UP" => {
            let half = cx.plus(steps, 0.5)?;
            cx.unary(Unary::Floor, half)?
        }
        _ => cx.unary(Unary::Round, steps)?,
    };
    cx.times(whole, (1.0 / scale).into())
}
