//! Functions of real numbers for tables that are computed at compile time: in `f64`, to about its last digits.

const LN_2: f64 = core::f64::consts::LN_2;

/// cos x, for |x| up to some turns.
pub(super) const fn cos(x: f64) -> f64 {
    const TURN: f64 = 2.0 * core::f64::consts::PI;
    let mut x = if x < 0.0 { -x } else { x };
    while x >= TURN {
        x -= TURN;
    }
    // Symmetries bring it to the first eighth of a turn, where series are short and exact.
    const HALF: f64 = core::f64::consts::PI;
    if x > HALF {
        x = TURN - x;
    }
    let (x, sign) = if x > HALF / 2.0 { (HALF - x, -1.0) } else { (x, 1.0) };
    sign * if x > HALF / 4.0 { series(HALF / 2.0 - x, 1) } else { series(x, 0) }
}

/// sin x, for |x| up to some turns.
pub(super) const fn sin(x: f64) -> f64 {
    cos(x - core::f64::consts::FRAC_PI_2)
}

/// Σ (−1)ᵏ · x^(2k + odd) / (2k + odd)!, for small x.
const fn series(x: f64, odd: u32) -> f64 {
    let mut term = if odd == 1 { x } else { 1.0 };
    let (mut sum, mut n) = (term, odd);
    while n < 24 {
        term *= -x * x / ((n + 1) as f64 * (n + 2) as f64);
        sum += term;
        n += 2;
    }
    sum
}

/// ln x, for x > 0.
pub(super) const fn ln(x: f64) -> f64 {
    let (mut x, mut doublings) = (x, 0);
    while x > 1.5 {
        x /= 2.0;
        doublings += 1;
    }
    while x < 0.75 {
        x *= 2.0;
        doublings -= 1;
    }
    // ln x = 2 · artanh((x − 1) / (x + 1)).
    let z = (x - 1.0) / (x + 1.0);
    let (mut power, mut sum, mut n) = (z, 0.0, 1);
    while n < 41 {
        sum += power / n as f64;
        power *= z * z;
        n += 2;
    }
    2.0 * sum + doublings as f64 * LN_2
}

/// eˣ, for |x| up to some hundreds.
pub(super) const fn exp(x: f64) -> f64 {
    let (mut x, mut factor) = (x, 1.0);
    while x > 0.5 {
        x -= LN_2;
        factor *= 2.0;
    }
    while x < -0.5 {
        x += LN_2;
        factor /= 2.0;
    }
    let (mut term, mut sum, mut n) = (1.0, 1.0, 1);
    while n < 20 {
        term *= x / n as f64;
        sum += term;
        n += 1;
    }
    sum * factor
}

#[cfg(test)]
mod tests {
    use super::{cos, exp, ln, sin};

    #[test]
    fn functions_are_close_to_the_library() {
        for i in (-4000..4000).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let x = f64::from(i) * 0.00317;
            assert!((cos(x) - libm::cos(x)).abs() < 1e-15, "cos {x}");
            assert!((sin(x) - libm::sin(x)).abs() < 2e-15, "sin {x}");
            assert!((exp(x) / libm::exp(x) - 1.0).abs() < 1e-14, "exp {x}");
            let y = f64::from(i + 4001) * 0.37;
            assert!((ln(y) - libm::log(y)).abs() < 4e-15, "ln {y}");
        }
    }
}
