//! Functions of each element: `unary` and `binary` of the op table. What each computes is what TFLite Micro's reference kernels compute, in `f32`.

use super::elementwise::{clamp_i64, for_each_pair};
use super::tensor::{clamp_f32, pack};
use crate::ir::{Binary, Clamp, DType, Data, Type, Unary};

/// See `unary` in the op table.
pub(super) fn unary(function: Unary, data: &Data) -> Data {
    Data::from_f32(&data.to_f32().into_iter().map(|x| of_one(function, x)).collect::<Vec<_>>())
}

fn of_one(function: Unary, x: f32) -> f32 {
    match function {
        Unary::Abs => x.abs(),
        Unary::Ceil => x.ceil(),
        Unary::Cos => x.cos(),
        Unary::Elu if x < 0.0 => x.exp_m1(),
        Unary::Elu => x,
        Unary::Exp => x.exp(),
        Unary::Floor => x.floor(),
        Unary::HardSwish => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Unary::Log => x.ln(),
        Unary::Neg => -x,
        Unary::Round => x.round_ties_even(),
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Sin => x.sin(),
        Unary::Sqrt => x.sqrt(),
        Unary::Square => x * x,
    }
}

/// See `binary` in the op table.
pub(super) fn binary(function: Binary, clamp: &Clamp, operands: &[(&Type, &Data)], result: &Type) -> Data {
    let (x, y) = (operands[0], operands[1]);
    if result.dtype == DType::F32 {
        let (xs, ys) = (x.1.to_f32(), y.1.to_f32());
        let mut z = Vec::with_capacity(result.shape.numel());
        for_each_pair(x.0, y.0, result, |i, j| {
            z.push(clamp_f32(of_two(function, xs[i], ys[j]), clamp.float_bounds()))
        });
        return Data::from_f32(&z);
    }
    let (xs, ys) = (x.1.to_ints(x.0.dtype), y.1.to_ints(y.0.dtype));
    let mut z = Vec::with_capacity(result.shape.numel());
    for_each_pair(x.0, y.0, result, |i, j| {
        // No other function takes stored values.
        let chosen = if function == Binary::Max { xs[i].max(ys[j]) } else { xs[i].min(ys[j]) };
        z.push(clamp_i64(chosen, clamp));
    });
    pack(result.dtype, z)
}

fn of_two(function: Binary, a: f32, b: f32) -> f32 {
    match function {
        Binary::Div => a / b,
        Binary::FloorDiv => (a / b).floor(),
        Binary::FloorMod => {
            let rest = a % b;
            if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
                rest + b
            } else {
                rest
            }
        }
        Binary::Max if a > b => a,
        Binary::Min if a < b => a,
        Binary::Max | Binary::Min => b,
        Binary::Pow => a.powf(b),
        Binary::SquaredDifference => (a - b) * (a - b),
    }
}
