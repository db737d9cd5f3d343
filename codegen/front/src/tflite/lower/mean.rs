//! MEAN.

use super::cx::{axis, Format, OpCx};
use super::{Lowered, Operators};
use kiln_ir::{Clamp, Multiplier, Op, Rescale};

pub(super) const OPERATORS: Operators = &[(40, mean)];

/// MEAN over constant axes.
fn mean(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let keep = cx.options(27)?.keep_dims()?;
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let mut axes = Vec::new();
    for index in cx.ints(1, "axes")? {
        axes.push(axis(index, dims.len())?);
    }
    axes.sort_unstable();
    axes.dedup();
    let reduced = |i: usize| axes.contains(&i);
    let result_dims: Vec<usize> = match keep {
        true => dims.iter().enumerate().map(|(i, &d)| if reduced(i) { 1 } else { d }).collect(),
        false => dims.iter().enumerate().filter(|(i, _)| !reduced(*i)).map(|(_, &d)| d).collect(),
    };
    let count: usize = axes.iter().map(|&i| dims[i]).product();
    let result = cx.declared(0)?;
    let (rescale, clamp) = match cx.format(&[x])? {
        Format::Float => (Rescale::Real, Clamp::NO_FLOAT),
        Format::Int8 | Format::Int16 => {
            let whole = cx.ratio(cx.ty(x), &result)?;
            (Rescale::FixedPoint(vec![divided(whole, count)?]), result.dtype.whole_range())
        }
    };
    cx.emit(Op::Mean { axes, rescale, clamp }, &[x], 0, &result_dims)
}

/// `whole / count`: the mantissa is divided, after a shift that keeps as many bits as 64-bit arithmetic and the range of
/// shifts allow (TFLite's `QuantizedMeanOrSum`).
fn divided(whole: Multiplier, count: usize) -> Lowered<Multiplier> {
    let too_many = || malformed!("a mean over {count} elements");
    let divisor = i64::try_from(count).ok().filter(|&n| n > 0).ok_or_else(too_many)?;
    let shift = (divisor.ilog2() as i32).min(32).min(31 + whole.shift);
    let value = i32::try_from((i64::from(whole.value) << shift) / divisor).map_err(|_| too_many())?;
    Ok(Multiplier { value, shift: whole.shift - shift })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_goes_into_the_multiplier() {
        let one = Multiplier::ONE;
        assert_eq!(divided(one, 1).unwrap(), one);
        assert_eq!(divided(one, 64).unwrap(), Multiplier { value: 1 << 30, shift: -5 });
        assert_eq!(divided(one, 49).unwrap(), Multiplier { value: ((1i64 << 35) / 49) as i32, shift: -4 });
        // No shift is left below −31.
        let tiny = Multiplier { value: 1 << 30, shift: -31 };
        assert_eq!(divided(tiny, 4).unwrap(), Multiplier { value: 1 << 28, shift: -31 });
        assert!(divided(one, 0).is_err());
    }
}
