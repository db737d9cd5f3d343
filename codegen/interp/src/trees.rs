//! Decision trees.

use super::{Computed, InterpError, Tensor};
use kiln_ir::trees::{Record, Test};
use kiln_ir::{Data, Type};

/// See `trees` in the op table.
pub(super) fn trees(least: bool, operands: &[Tensor<'_>], result: &Type) -> Computed {
    let &[(x, features), (_, table), (_, roots)] = operands else {
        return Err(InterpError::new("trees want three operands"));
    };
    let (width, targets) = (x.shape.last(), result.shape.last());
    let records: Vec<Record> =
        table.to_i32().chunks_exact(2).map(|numbers| Record::read([numbers[0], numbers[1]])).collect();
    let beyond = || InterpError::new("a tree leads out of its table");
    let mut sums = Vec::new();
    for row in features.to_f32().chunks_exact(width.max(1)) {
        let start = if least { f32::INFINITY } else { 0.0 };
        let mut own = vec![start; targets];
        for root in roots.to_i32() {
            let mut at = usize::try_from(root).map_err(|_| beyond())?;
            loop {
                match *records.get(at).ok_or_else(beyond)? {
                    Record::Branch { test, feature, number, missing, otherwise } => {
                        let x = *row.get(usize::from(feature)).ok_or_else(beyond)?;
                        let holds = match test {
                            Test::AtMost => x <= number,
                            Test::Equal => x == number,
                        };
                        at +=
                            if holds || (missing && x.is_nan()) { 1 } else { usize::from(otherwise).max(1) };
                    }
                    Record::Leaf { target, number, more } => {
                        let sum = own.get_mut(usize::from(target)).ok_or_else(beyond)?;
                        *sum = match least {
                            true if number < *sum => number,
                            true => *sum,
                            false => *sum + number,
                        };
                        if !more {
                            break;
                        }
                        at += 1;
                    }
                }
            }
        }
        sums.extend(own.into_iter().map(|sum| if least && sum == f32::INFINITY { 0.0 } else { sum }));
    }
    Ok(Data::from_f32(&sums))
}
