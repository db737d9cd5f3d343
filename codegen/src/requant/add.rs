//! Sums and differences of two 8-bit operands.
//!
//! The reference rescales each operand, and then their sum: three double roundings. All together is nearly linear in both operands, and there
//! are 65,536 pairs: coefficients that are right for each of them replace it.

use super::reference::rescaled;
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
        rescaled(by, sum).wrapping_add(zero).max(self.lo).min(self.hi)
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
    rescaled(by, i32::from(stored).wrapping_sub(zero).wrapping_shl(left_shift))
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

    /// Whether a pair gives `z`, without overflow.
    fn gives(&self, (x, y, z): Pair, products: Products) -> bool {
        let sum = products.of(self.x, x) + products.of(self.y, y) + i64::from(self.constant);
        let sum = i32::try_from(sum);
        sum.is_ok_and(|sum| (sum >> self.shift).clamp(-128, 127) == z.into())
    }

    /// The first pair that does not give what `expected` lists.
    fn exception(&self, expected: &[i8], products: Products) -> Option<Pair> {
        let (xs, ys) = (products.of_all(self.x), products.of_all(self.y));
        let constant = i64::from(self.constant);
        for ((x, &px), row) in BYTES.zip(&xs).zip(expected.chunks(ys.len())) {
            let differs = ys.iter().zip(row).position(|(&py, &z)| {
                let sum = i32::try_from(px + py + constant);
                !sum.is_ok_and(|sum| (sum >> self.shift).clamp(-128, 127) == z.into())
            });
            if let Some(at) = differs {
                return Some((x, at as i32 - 128, *row.get(at)?));
            }
        }
        None
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
    let search = Search { expected, products, shift, most: Witnesses::MOST };
    search.near(coefficient(fx), coefficient(fy))
}

struct Search<'a> {
    expected: &'a [i8],
    products: Products,
    shift: u32,
    /// How many demands may be asked for.
    most: usize,
}

/// What a pair demands of the constant: at least, at most.
type Demand = (i64, i64);

/// Two stored values, and their result.
type Pair = (i32, i32, i8);

/// The pairs that decide: products rise or fall with an operand all along, so that of neighbours with the same result those at the ends demand most.
fn corners(expected: &[i8]) -> Vec<Pair> {
    const ROW: usize = 256;
    let is_end = |i: usize, z: i8, stride: usize, first: bool, last: bool| {
        let other = |at: Option<usize>| at.and_then(|at| expected.get(at)) != Some(&z);
        first || last || other(i.checked_sub(stride)) || other(i.checked_add(stride))
    };
    let pairs = expected.iter().enumerate().filter(|&(i, &z)| {
        let (x, y) = (i / ROW, i % ROW);
        is_end(i, z, 1, y == 0, y == ROW - 1) && is_end(i, z, ROW, x == 0, x == ROW - 1)
    });
    pairs.map(|(i, &z)| ((i / ROW) as i32 - 128, (i % ROW) as i32 - 128, z)).collect()
}

/// Pairs whose demands a constant has to meet, for one choice of coefficients after the other.
///
/// Most coefficients contradict a few pairs, the same ones again and again: these witnesses are asked first, then those that demand most of the first coefficients, and all pairs only
/// where they agree. Each time that many were asked in vain, the two that contradicted each other most become witnesses.
struct Witnesses {
    /// All pairs, the tightest first.
    pairs: Vec<Pair>,
    tight: usize,
    witnesses: Vec<Pair>,
    /// How many demands may still be asked for.
    left: usize,
}

impl Witnesses {
    /// Most demands that are asked for: a few milliseconds.
    const MOST: usize = 1 << 20;

    /// How many pairs of each side are asked before all of them.
    const TIGHT: usize = 128;

    /// These pairs, with what they demand of the first coefficients.
    fn of(mut pairs: Vec<(Pair, Demand)>, left: usize) -> Self {
        let tight = Self::TIGHT.min(pairs.len() / 4);
        if tight > 0 {
            pairs.select_nth_unstable_by_key(tight, |(_, (least, _))| std::cmp::Reverse(*least));
            pairs[tight..].select_nth_unstable_by_key(tight, |(_, (_, most))| *most);
        }
        let pairs = pairs.into_iter().map(|(pair, _)| pair).collect();
        Witnesses { pairs, tight: 2 * tight, witnesses: Vec::new(), left }
    }

    /// The constants that meet all demands; `None` where there are none, or the work comes to an end.
    fn window(&mut self, demand: impl Fn(Pair) -> Demand) -> Option<Demand> {
        // The latest are those of coefficients nearby.
        let mut window = ANY;
        for &pair in self.witnesses.iter().rev() {
            self.left = self.left.checked_sub(1)?;
            window = both(window, demand(pair));
            if window.0 > window.1 {
                return None;
            }
        }
        for asked in [self.tight, self.pairs.len()] {
            self.left = self.left.checked_sub(asked)?;
            let mut tightest = [None; 2];
            window = ANY;
            for &pair in &self.pairs[..asked] {
                let (least, most) = demand(pair);
                if least > window.0 {
                    (window.0, tightest[0]) = (least, Some(pair));
                }
                if most < window.1 {
                    (window.1, tightest[1]) = (most, Some(pair));
                }
            }
            if window.0 > window.1 {
                self.witnesses.extend(tightest.into_iter().flatten());
                return None;
            }
        }
        Some(window)
    }
}

impl Search<'_> {
    /// Tries coefficients around the given ones. Only pairs that are close to a step are looked at, until those agree.
    fn near(&self, x: i64, y: i64) -> Option<AddAffine> {
        let (cx, cy) = (i32::try_from(x).ok()?, i32::try_from(y).ok()?);
        let (xs, ys) = (self.products.of_all(cx), self.products.of_all(cy));
        let demands = |corners: &[Pair]| -> Vec<Demand> {
            let product = |of: &[i64], stored: i32| of.get((stored + 128) as usize).copied().unwrap_or(0);
            corners.iter().map(|&(x, y, z)| self.demand(product(&xs, x) + product(&ys, y), z)).collect()
        };
        let corners = corners(self.expected);
        let demands = demands(&corners);
        let (least, most) = demands.iter().copied().fold(ANY, both);
        // A coefficient's neighbours move a product by less than this.
        const CLOSE: i64 = 6;
        let (lowest, highest) = (least.min(most) - CLOSE, most.max(least) + CLOSE);
        let critical = corners.iter().zip(&demands).filter(|(_, &(lo, hi))| lo >= lowest || hi <= highest);
        let critical = critical.map(|(&pair, &demand)| (pair, demand)).collect();
        let mut witnesses = Witnesses::of(critical, self.most);
        // Pairs that were not close to a step, and differed all the same.
        let mut exceptions: Vec<Pair> = Vec::new();
        // A step moves the product of the largest operand by a sixteenth.
        let step = 1i32 << self.products.dropped().saturating_sub(11);
        neighbours(64).find_map(|(dx, dy)| {
            let (cx, cy) = (cx.checked_add(dx * step)?, cy.checked_add(dy * step)?);
            let demand = |(x, y, z): Pair| self.demand(self.products.of(cx, x) + self.products.of(cy, y), z);
            let (least, most) = witnesses.window(demand)?;
            let constant = (least.max(-1 << 31) / 2 + most.min(1 << 31) / 2).clamp(least, most);
            let constant = i32::try_from(constant).ok()?;
            let affine = AddAffine { x: cx, y: cy, constant, shift: self.shift };
            if !exceptions.iter().all(|&pair| affine.gives(pair, self.products)) {
                return None;
            }
            witnesses.left = witnesses.left.checked_sub(self.expected.len())?;
            let exception = affine.exception(self.expected, self.products);
            exceptions.extend(exception);
            exception.is_none().then_some(affine)
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

    /// A sum of operands whose scales are up to `span` times as large or small as the result's, by chance.
    fn reference(random: &mut impl FnMut() -> f64, span: f64) -> AddReference {
        let mut scale = || span.powf(2.0 * random() - 1.0);
        let (x, y, out) = (scale(), scale(), scale());
        let twice = 2.0 * x.max(y);
        let by = |factor: f64| Multiplier::of(factor).unwrap();
        let mut zero = || (256.0 * random()) as i32 - 128;
        AddReference {
            left_shift: 20,
            x: (zero(), by(x / twice)),
            y: (zero(), by(y / twice)),
            subtract: zero() < -60,
            out: (zero(), by(twice / (f64::from(1 << 20) * out))),
            lo: -128,
            hi: 127,
        }
    }

    fn chance(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// As [`Search::near`], by its definition: all pairs are asked about all coefficients.
    fn asking_all(search: &Search<'_>, x: i64, y: i64) -> Option<AddAffine> {
        let step = 1 << search.products.dropped().saturating_sub(11);
        neighbours(64).find_map(|(dx, dy)| {
            let (cx, cy) = (x as i32 + dx * step, y as i32 + dy * step);
            let (xs, ys) = (search.products.of_all(cx), search.products.of_all(cy));
            let mut window = ANY;
            for (x, row) in xs.iter().zip(search.expected.chunks(256)) {
                for (y, &z) in ys.iter().zip(row) {
                    window = both(window, search.demand(x + y, z));
                }
                if window.0 > window.1 {
                    return None;
                }
            }
            let constant = window.0.max(-1 << 31) / 2 + window.1.min(1 << 31) / 2;
            let constant = i32::try_from(constant.clamp(window.0, window.1)).ok()?;
            let affine = AddAffine { x: cx, y: cy, constant, shift: search.shift };
            affine.exception(search.expected, search.products).is_none().then_some(affine)
        })
    }

    #[test]
    fn witnesses_find_what_all_pairs_find() {
        let mut random = chance(5);
        let mut found = 0;
        for case in 0..9 {
            let reference = reference(&mut random, [1.2, 2.0, 6.0][case % 3]);
            let expected = reference.all();
            for products in [Products::Upper, Products::Low] {
                let unit = f64::from(reference.left_shift).exp2() * reference.out.1.factor();
                let sign = if reference.subtract { -1.0 } else { 1.0 };
                let of = |f: f64| (f * unit * f64::from(18 + products.dropped()).exp2()).round() as i64;
                let [x, y] = [of(reference.x.1.factor()), of(sign * reference.y.1.factor())];
                let search = Search { expected: &expected, products, shift: 18, most: Witnesses::MOST };
                let near = search.near(x, y);
                found += usize::from(near.is_some());
                assert_eq!(near, asking_all(&search, x, y), "{reference:?} {products:?}");
            }
        }
        assert!(found > 6, "{found}");
    }

    /// Scales for which there are no coefficients, or almost none: the work has an end, and is enough where there are some.
    #[test]
    fn the_work_is_bounded_for_any_scales() {
        let mut random = chance(11);
        let (mut found, mut given_up) = (0, 0);
        let started = std::time::Instant::now();
        const CASES: usize = 60;
        for case in 0..CASES {
            let reference = reference(&mut random, [1.1, 2.0, 20.0, 1e4][case % 4]);
            found += usize::from(fit_add(&reference, Products::Low).is_some());
            let expected = reference.all();
            let largest = reference.x.1.factor().max(reference.y.1.factor());
            let unit = f64::from(reference.left_shift).exp2() * reference.out.1.factor() * largest;
            let most = 4 * Witnesses::MOST;
            let search = Search { expected: &expected, products: Products::Low, shift: 16, most };
            let of = |by: Multiplier| (by.factor() / largest * unit * 65_536.0) as i64;
            let (x, y) = (of(reference.x.1), of(reference.y.1));
            let little = Search { most: Witnesses::MOST, ..search };
            given_up += usize::from(search.near(x, y) != little.near(x, y));
        }
        println!("{found} of {CASES} were fitted, {given_up} with more work only; {:?}", started.elapsed());
        assert!(found > CASES / 4 && given_up == 0, "{found} {given_up}");
        assert!(started.elapsed().as_millis() < 60 * CASES as u128, "{:?}", started.elapsed());
    }

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
