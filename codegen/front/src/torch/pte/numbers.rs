//! Arithmetic on numbers that are known while a program is read: counters of loops, and sizes.

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Bool(bool),
    Double(f64),
}
use Number::{Bool, Double, Int};

impl Number {
    pub(super) fn real(self) -> f64 {
        match self {
            Int(number) => number as f64,
            Bool(truth) => f64::from(u8::from(truth)),
            Double(number) => number,
        }
    }

    /// Whether it counts as true.
    pub(super) fn is_true(self) -> bool {
        self.real() != 0.0
    }
}

/// What an operator of `executorch_prim` gives; `None` for others, for results that do not fit, and for divisions by 0.
pub(super) fn folded(operator: &str, operands: &[Number]) -> Option<Number> {
    let name = operator.strip_prefix("executorch_prim::")?.split('.').next()?;
    match *operands {
        [x] => of_one(name, x),
        [Int(x), Int(y)] => of_integers(name, x, y),
        [x, y] => of_reals(name, x.real(), y.real()),
        _ => None,
    }
}

fn of_one(name: &str, x: Number) -> Option<Number> {
    Some(match (name, x) {
        ("neg", Int(x)) => Int(x.checked_neg()?),
        ("neg", x) => Double(-x.real()),
        ("sym_float", x) => Double(x.real()),
        ("sym_int", Double(x)) if x.abs() < 9e15 => Int(x as i64),
        ("sym_int", Int(x)) => Int(x),
        ("sym_not", x) => Bool(!x.is_true()),
        _ => return None,
    })
}

fn of_integers(name: &str, x: i64, y: i64) -> Option<Number> {
    // Division rounds down, and what is left has the sign of the divisor.
    let rest =
        || x.checked_rem(y).map(|rest| if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest });
    Some(match name {
        "add" => Int(x.checked_add(y)?),
        "sub" => Int(x.checked_sub(y)?),
        "mul" => Int(x.checked_mul(y)?),
        "floordiv" => Int(x.checked_sub(rest()?)?.checked_div(y)?),
        "mod" => Int(rest()?),
        "truediv" if y != 0 => Double(x as f64 / y as f64),
        "sym_max" => Int(x.max(y)),
        "sym_min" => Int(x.min(y)),
        _ => return compared(name, x.cmp(&y)),
    })
}

fn of_reals(name: &str, x: f64, y: f64) -> Option<Number> {
    Some(match name {
        "add" => Double(x + y),
        "sub" => Double(x - y),
        "mul" => Double(x * y),
        "floordiv" if y != 0.0 => Double((x / y).floor()),
        "truediv" if y != 0.0 => Double(x / y),
        "sym_max" => Double(x.max(y)),
        "sym_min" => Double(x.min(y)),
        _ => return compared(name, x.partial_cmp(&y)?),
    })
}

fn compared(name: &str, order: std::cmp::Ordering) -> Option<Number> {
    Some(Bool(match name {
        "eq" => order.is_eq(),
        "gt" => order.is_gt(),
        "lt" => order.is_lt(),
        "ge" => order.is_ge(),
        "le" => order.is_le(),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_python() {
        let of = |name: &str, list: &[Number]| folded(&format!("executorch_prim::{name}.Scalar"), list);
        assert_eq!(of("add", &[Int(2), Int(3)]), Some(Int(5)));
        assert_eq!(of("add", &[Int(i64::MAX), Int(1)]), None);
        assert_eq!(of("floordiv", &[Int(-7), Int(2)]), Some(Int(-4)));
        assert_eq!(of("mod", &[Int(-7), Int(2)]), Some(Int(1)));
        assert_eq!(of("mod", &[Int(7), Int(-2)]), Some(Int(-1)));
        assert_eq!(of("floordiv", &[Int(1), Int(0)]), None);
        assert_eq!(of("floordiv", &[Int(i64::MIN), Int(-1)]), None);
        assert_eq!(of("truediv", &[Int(1), Int(2)]), Some(Double(0.5)));
        assert_eq!(of("sub", &[Double(1.5), Int(1)]), Some(Double(0.5)));
        assert_eq!(of("eq", &[Int(3), Int(3)]), Some(Bool(true)));
        assert_eq!(of("lt", &[Double(f64::NAN), Int(3)]), None);
        assert_eq!(of("sym_not", &[Bool(true)]), Some(Bool(false)));
        assert_eq!(of("sym_int", &[Double(-2.5)]), Some(Int(-2)));
        assert_eq!(folded("aten::add.out", &[Int(2), Int(3)]), None);
    }
}
