//! Functions of 16 bits by linear interpolation between 513 entries: TFLite's `LUTPopulate` and `LUTLookup`.

use super::{Computed, InterpError};
use kiln_ir::{DType, Data};

/// Entries of a table: one for every 128 stored values, and one behind them.
pub(super) const ENTRIES: usize = 513;

/// The table of a function whose operand and result have these scales and zero points. Where interpolation would err in the middle between two
/// entries, half of that error is taken from the first one.
pub fn interpolation_table(operand: (f32, i32), result: (f32, i32), f: impl Fn(f32) -> f32) -> Vec<i16> {
    let end = |(scale, zero): (f32, i32), stored: i32| scale * (stored - zero) as f32;
    let (low, high) = (i32::from(i16::MIN), i32::from(i16::MAX));
    let (from, to) = (end(operand, low), end(operand, high));
    let step = (to - from) / 512.0;
    let half = step / 2.0;
    let inverse = 65536.0 / (end(result, high) - end(result, low));
    // What is no number becomes 0, as its conversion gives on x86-64.
    let stored = |x: f32| if x.is_nan() { 0 } else { x.max(low as f32).min(high as f32) as i16 };
    let entry = |i: usize| {
        if i + 1 == ENTRIES {
            return stored((f(to) * inverse).round());
        }
        let i = i as f32;
        let value = f(from + i * step) * inverse;
        let middle = (f(from + i * step + half) * inverse).round();
        let next = f(from + (i + 1.0) * step) * inverse;
        let between = ((next + value.round()) / 2.0).round();
        stored(value.round() - ((between - middle) / 2.0).round())
    };
    (0..ENTRIES).map(entry).collect()
}

/// A stored value's result.
pub(super) fn lookup(x: i16, table: &[i16]) -> i16 {
    let at = (256 + (x >> 7)) as usize;
    let (base, next) = (i32::from(table[at]), i32::from(table[at + 1]));
    // The slope has 16 bits, too.
    let slope = i32::from((next - base) as i16);
    (base + ((slope * i32::from(x & 0x7f) + 64) >> 7)) as i16
}

/// See `interpolate` in the op table.
pub(super) fn interpolate(operand: &Data, table: &Data) -> Computed {
    let short = |data: &Data| data.to_ints(DType::I16).into_iter().map(|x| x as i16).collect::<Vec<_>>();
    let table = short(table);
    if table.len() != ENTRIES {
        return Err(InterpError::new("interpolate wants a table of 513 entries"));
    }
    Ok(Data::from_i16(&short(operand).into_iter().map(|x| lookup(x, &table)).collect::<Vec<_>>()))
}
