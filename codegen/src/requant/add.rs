//! Sums and differences of two 8-bit operands.
//!
//! The reference rescales each operand, and then their sum: three double roundings. All together is nearly linear in both operands, and there
//! are 65,536 pairs: coefficients that are right for each of them replace it.

use crate::ir::Multiplier;

/// The exact meaning of an ADD or SUB: `(x − x_zero) << left_shift` times its multiplier, the same of y, the sum or difference of both
/// times the multiplier of the result, plus its zero point, clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddReference {
    /// Bits of headroom.
    pub left_shift: u32,
    /// Zero point and multiplier of the first operand.
    pub x: (i32, Multiplier),
    /// Zero point and multiplier of the second operand.
    pub y: (i32, Multiplier),
    /// Whether the second is subtracted.
    pub subtract: bool,
    /// Zero point and multiplier of the result.
    pub out: (i32, Multiplier),
    /// Smallest result, at least −128.
    pub lo: i32,
    /// Largest result, at most 127.
    pub hi: i32,
}

/// The exact meaning of an ADD in floats: `(constant + (x + offset)·x_factor) + (y + offset)·y_factor` rounded half to even, less `offset`, clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddFloatReference {
    /// Factors of both operands.
    pub by: [f32; 2],
    /// What is added.
    pub constant: f32,
    /// 0 or 128.
    pub offset: i32,
    /// Smallest result, at least −128.
    pub lo: i32,
    /// Largest result, at most 127.
    pub hi: i32,
}

impl AddFloatReference {
    /// The result of one pair of stored values.
    pub fn apply(&self, x: i8, y: i8) -> i32 {
        let operand = |stored: i8| (i32::from(stored) + self.offset) as f32;
        let sum = (self.constant + operand(x) * self.by[0]) + operand(y) * self.by[1];
        (sum.round_ties_even() as i32).saturating_sub(self.offset).max(self.lo).min(self.hi)
    }
}

/// How the products of an [`AddAffine`] are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Products {
    /// `SMLAWB`, `SMLAWT`: a coefficient times a halfword, of which the low 16 bits are dropped (towards −∞). The operands are
    /// pairs of sign-extended bytes, as `SXTB16` gives them.
    High,
    /// The same with operands 256 times as large: bytes in the upper halves of halfwords, as masking a word leaves them.
    Upper,
    /// `MLA`, or `MULS` and `ADDS`: a coefficient times a word, modulo 2³². The operands are sign-extended bytes.
    Low,
}

/// An ADD or SUB by two multiplications: `z = clamp((x·cx + y·cy + constant) >> shift, −128, 127)`, on stored values.
///
/// ```text
/// Products::High                          Products::Low
/// SMLAWB t, cx, x, constant               MLA  t, x, cx, constant
/// SMLAWB t, cy, y, t                      MLA  t, y, cy, t
/// SSAT   z, #8, t, ASR #shift             SSAT z, #8, t, ASR #shift
/// ```
///
/// with `SMLAWT` for the high halves. Nothing overflows for any pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddAffine {
    /// Coefficient of the first operand.
    pub x: i32,
    /// Coefficient of the second operand, negative in a difference.
    pub y: i32,
    /// Added to both products.
    pub constant: i32,
    /// At most 23.
    pub shift: u32,
}

impl AddReference {
    /// The result of one pair of stored values.
    pub fn apply(&self, x: i8, y: i8) -> i32 {
        self.result(scaled(x, self.x, self.left_shift), scaled(y, self.y, self.left_shift))
    }

    /// The result of two rescaled operands.
    fn result(&self, x: i32, y: i32) -> i32 {
        let sum = if self.subtract { x.wrapping_sub(y) } else { x.wrapping_add(y) };
        let (zero, by) = self.out;
        by.apply(sum).wrapping_add(zero).max(self.lo).min(self.hi)
    }

    /// The results of all pairs, 256 for each x from −128 on.
    fn all(&self) -> Vec<i8> {
        let operand = |of| BYTES.map(move |byte| scaled(byte as i8, of, self.left_shift));
        let ys: Vec<i32> = operand(self.y).collect();
        operand(self.x).flat_map(|x| ys.iter().map(move |&y| self.result(x, y) as i8)).collect()
    }
}

/// All stored values.
const BYTES: std::ops::RangeInclusive<i32> = -128..=127;

fn scaled(stored: i8, (zero, by): (i32, Multiplier), left_shift: u32) -> i32 {
    by.apply(i32::from(stored).wrapping_sub(zero).wrapping_shl(left_shift))
}

impl Products {
    /// Bits that are dropped of each product.
    fn dropped(self) -> u32 {
        match self {
            Products::High => 16,
            Products::Upper => 8,
            Products::Low => 0,
        }
    }

    fn of(self, coefficient: i32, operand: i32) -> i64 {
        (i64::from(coefficient) * i64::from(operand)) >> self.dropped()
    }

    /// The products of all stored values, from −128 on.
    fn of_all(self, coefficient: i32) -> Vec<i64> {
        BYTES.map(|byte| self.of(coefficient, byte)).collect()
    }
}

impl AddAffine {
    /// The twin of the instructions.
    pub fn apply(&self, x: i8, y: i8, products: Products) -> i8 {
        let sum = products.of(self.x, x.into()) + products.of(self.y, y.into()) + i64::from(self.constant);
        (sum as i32 >> self.shift.min(31)).clamp(-128, 127) as i8
    }

    /// Whether all pairs give what `expected` lists, without overflow.
    fn is_exact(&self, expected: &[i8], products: Products) -> bool {
        let (xs, ys) = (products.of_all(self.x), products.of_all(self.y));
        let constant = i64::from(self.constant);
        xs.iter().zip(expected.chunks(ys.len())).all(|(x, row)| {
            ys.iter().zip(row).all(|(y, &z)| {
                let sum = i32::try_from(x + y + constant);
                sum.is_ok_and(|sum| (sum >> self.shift).clamp(-128, 127) == z.into())
            })
        })
    }
}

/// Finds coefficients that are exact for all pairs, or `None` where there are none near the real ones.
pub fn fit_add(reference: &AddReference, products: Products) -> Option<AddAffine> {
    let unit = f64::from(reference.left_shift).exp2() * reference.out.1.factor();
    let factors = [reference.x.1.factor() * unit, reference.y.1.factor() * unit];
    let sign = if reference.subtract { -1.0 } else { 1.0 };
    let (fx, fy) = (factors[0], sign * factors[1]);
    let centre = f64::from(reference.out.0) - fx * f64::from(reference.x.0) - fy * f64::from(reference.y.0);
    fit_all(&reference.all(), [fx, fy], centre, products)
}

/// As [`fit_add`].
pub fn fit_add_float(reference: &AddFloatReference, products: Products) -> Option<AddAffine> {
    let expected: Vec<i8> =
        BYTES.flat_map(|x| BYTES.map(move |y| reference.apply(x as i8, y as i8) as i8)).collect();
    let [fx, fy] = reference.by.map(f64::from);
    let offset = f64::from(reference.offset);
    fit_all(&expected, [fx, fy], f64::from(reference.constant) + offset * (fx + fy - 1.0), products)
}

/// Coefficients for these results of all pairs, which are about `x·fx + y·fy + centre`.
fn fit_all(expected: &[i8], [fx, fy]: [f64; 2], centre: f64, products: Products) -> Option<AddAffine> {
    // The largest shift with which neither the coefficients nor the sums overflow.
    let largest = fx.abs().max(fy.abs()).max(f64::MIN_POSITIVE);
    let by_coefficient = 30 - i64::from(products.dropped()) - largest.log2().floor() as i64;
    let sums = 128.0 * (fx.abs() + fy.abs()) + centre.abs() + 1.0;
    let by_sum = 30 - sums.log2().floor() as i64;
    let shift = u32::try_from(by_coefficient.min(by_sum).min(23)).ok()?;
    let coefficient = |f: f64| (f * f64::from(shift + products.dropped()).exp2()).round() as i64;
    let search = Search { expected, products, shift };
    search.near(coefficient(fx), coefficient(fy))
}

struct Search<'a> {
    expected: &'a [i8],
    products: Products,
    shift: u32,
}

/// What a pair demands of the constant: at least, at most.
type Demand = (i64, i64);

impl Search<'_> {
    /// Tries coefficients around the given ones. Only pairs that are close to a step are looked at, until those agree.
    fn near(&self, x: i64, y: i64) -> Option<AddAffine> {
        let (cx, cy) = (i32::try_from(x).ok()?, i32::try_from(y).ok()?);
        let (xs, ys) = (self.products.of_all(cx), self.products.of_all(cy));
        let rows = || BYTES.zip(&xs).zip(self.expected.chunks(ys.len()));
        let pairs = || {
            rows().flat_map(|((x, px), row)| {
                BYTES.zip(&ys).zip(row).map(move |((y, py), &z)| ((x, y, z), px + py))
            })
        };
        let (least, most) = pairs().map(|((.., z), sum)| self.demand(sum, z)).fold(ANY, both);
        // A coefficient's neighbours move a product by less than this.
        const CLOSE: i64 = 6;
        let (lowest, highest) = (least.min(most) - CLOSE, most.max(least) + CLOSE);
        let critical: Vec<(i32, i32, i8)> = pairs()
            .filter(|&((.., z), sum)| {
                let (lo, hi) = self.demand(sum, z);
                lo >= lowest || hi <= highest
            })
            .map(|(pair, _)| pair)
            .collect();
        // A step moves the product of the largest operand by a sixteenth.
        let step = 1i32 << self.products.dropped().saturating_sub(11);
        neighbours(64).find_map(|(dx, dy)| {
            let (cx, cy) = (cx.checked_add(dx * step)?, cy.checked_add(dy * step)?);
            let narrowed = critical.iter().try_fold(ANY, |window, &(x, y, z)| {
                let sum = self.products.of(cx, x) + self.products.of(cy, y);
                let window = both(window, self.demand(sum, z));
                (window.0 <= window.1).then_some(window)
            });
            let (least, most) = narrowed?;
            let constant = (least.max(-1 << 31) / 2 + most.min(1 << 31) / 2).clamp(least, most);
            let constant = i32::try_from(constant).ok()?;
            let affine = AddAffine { x: cx, y: cy, constant, shift: self.shift };
            affine.is_exact(self.expected, self.products).then_some(affine)
        })
    }

    /// What a pair with that sum of products demands.
    fn demand(&self, sum: i64, z: i8) -> Demand {
        let least = i64::from(z) << self.shift;
        let most = least + (1 << self.shift) - 1;
        (if z > i8::MIN { least - sum } else { ANY.0 }, if z < i8::MAX { most - sum } else { ANY.1 })
    }
}

const ANY: Demand = (i64::MIN / 4, i64::MAX / 4);

fn both(a: Demand, b: Demand) -> Demand {
    (a.0.max(b.0), a.1.min(b.1))
}

/// Points around zero, square by square.
fn neighbours(radius: i32) -> impl Iterator<Item = (i32, i32)> {
    (0..=radius).flat_map(|r| {
        (-r..=r).flat_map(move |x| {
            // All of the left and the right side, two points of every line between them.
            let step = if x.abs() == r { 1 } else { 2 * r };
            (-r..=r).step_by(step as usize).map(move |y| (x, y))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_all_points_of_a_square_once() {
        let points: Vec<(i32, i32)> = neighbours(3).collect();
        assert_eq!(points.len(), 49);
        let mut sorted = points.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 49);
        let distance = |&(x, y): &(i32, i32)| x.abs().max(y.abs());
        assert!(points.windows(2).all(|pair| distance(&pair[0]) <= distance(&pair[1])));
    }
}
