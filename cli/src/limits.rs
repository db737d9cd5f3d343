//! How far outputs may be from the expected ones, where somebody says so.

use kiln_codegen::ir::{Data, Type};
use kiln_tools::cases::values::numbers;
use std::fmt;

/// Limits that replace the rule that integers are equal and floats nearly so. Quantised outputs are compared as the numbers that they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Each number may differ by so much, and by `rtol` of the expected one besides.
    pub atol: Option<f64>,
    /// The part of the expected number.
    pub rtol: Option<f64>,
    /// Least ratio of signal to noise of an output over all cases, in decibels.
    pub min_snr: Option<f64>,
    /// Least share of cases (0 to 1) in which the largest number of an output is at the expected place.
    pub top1: Option<f64>,
}

impl Limits {
    /// Whether there is none.
    pub fn are_none(&self) -> bool {
        *self == Limits::default()
    }

    /// By how much a number may differ, where that is limited.
    fn tolerance(&self, expected: f64) -> Option<f64> {
        let part = self.rtol.unwrap_or(0.0) * expected.abs();
        (self.atol.is_some() || self.rtol.is_some()).then(|| self.atol.unwrap_or(0.0) + part)
    }
}

/// What was found of an output over all cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Cases.
    pub cases: usize,
    /// Those in which the largest number is at the expected place.
    pub same_top: usize,
    /// Numbers.
    pub numbers: usize,
    /// Those beyond the tolerance.
    pub beyond: usize,
    /// The largest difference.
    pub largest: f64,
    signal: f64,
    noise: f64,
}

impl Found {
    /// Adds a case of an output of that type. One that is missing or too short is infinitely wrong.
    pub fn add(&mut self, limits: &Limits, ty: &Type, actual: &Data, expected: &Data) {
        let (actual, expected) = (numbers(ty, actual), numbers(ty, expected));
        self.cases += 1;
        self.same_top += usize::from(actual.len() == expected.len() && top(&actual) == top(&expected));
        self.numbers += expected.len();
        for (index, &expected) in expected.iter().enumerate() {
            let difference = match actual.get(index) {
                Some(&actual) if actual == expected || actual.is_nan() && expected.is_nan() => 0.0,
                Some(&actual) if (actual - expected).is_finite() => (actual - expected).abs(),
                _ => f64::INFINITY,
            };
            self.beyond += usize::from(limits.tolerance(expected).is_some_and(|most| difference > most));
            self.largest = self.largest.max(difference);
            self.noise += difference * difference;
            self.signal += if expected.is_finite() { expected * expected } else { 0.0 };
        }
    }

    /// Signal to noise in decibels; infinite where nothing differs.
    pub fn snr(&self) -> f64 {
        match self.noise == 0.0 {
            true => f64::INFINITY,
            false => 10.0 * (self.signal / self.noise).log10(),
        }
    }

    /// Share of cases with the largest number at the expected place.
    pub fn top1(&self) -> f64 {
        self.same_top as f64 / self.cases.max(1) as f64
    }

    /// Whether it is within the limits.
    pub fn passes(&self, limits: &Limits) -> bool {
        self.beyond == 0
            && limits.min_snr.is_none_or(|least| self.snr() >= least)
            && limits.top1.is_none_or(|least| self.top1() >= least)
    }

    /// In words, what is limited.
    pub fn describe(&self, limits: &Limits) -> impl fmt::Display {
        let mut parts = Vec::new();
        if limits.tolerance(1.0).is_some() {
            let Found { beyond, numbers, largest, .. } = self;
            parts.push(format!(
                "{beyond} of {numbers} numbers beyond the tolerance, the largest difference is {largest:.3e}"
            ));
        }
        if let Some(least) = limits.min_snr {
            parts.push(match self.snr() {
                snr if snr == f64::INFINITY => "no noise".into(),
                snr => format!("signal to noise {snr:.1} dB (at least {least})"),
            });
        }
        if let Some(least) = limits.top1 {
            let Found { same_top, cases, .. } = self;
            parts.push(format!(
                "the same largest number in {same_top} of {cases} cases (at least {:.4} %)",
                100.0 * least
            ));
        }
        parts.join("; ")
    }
}

/// Where the largest number is: the first of equal ones.
fn top(numbers: &[f64]) -> Option<usize> {
    let better = |best: usize, next: usize| match (numbers.get(best), numbers.get(next)) {
        (Some(a), Some(b)) if b > a => next,
        _ => best,
    };
    (0..numbers.len()).reduce(better)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::ir::DType;

    fn found(limits: &Limits, ty: &Type, cases: &[(Data, Data)]) -> Found {
        let mut found = Found::default();
        cases.iter().for_each(|(actual, expected)| found.add(limits, ty, actual, expected));
        found
    }

    #[test]
    fn tolerances_are_those_of_numpy() {
        let ty = Type::plain(DType::F32, &[2]);
        let limits = Limits { atol: Some(0.01), rtol: Some(0.1), ..Limits::default() };
        let case = |actual: [f32; 2]| [(Data::from_f32(&actual), Data::from_f32(&[1.0, -10.0]))];
        assert!(found(&limits, &ty, &case([1.109, -9.0])).passes(&limits));
        let wrong = found(&limits, &ty, &case([1.2, f32::NAN]));
        assert_eq!((wrong.beyond, wrong.passes(&limits)), (2, false));
        // Without a tolerance nothing is beyond it.
        let top = Limits { top1: Some(1.0), ..Limits::default() };
        assert!(found(&top, &ty, &case([0.5, -0.5])).passes(&top));
        assert!(!found(&top, &ty, &case([0.5, 0.75])).passes(&top));
    }

    #[test]
    fn integers_are_what_they_stand_for() {
        let ty = Type::quantized(DType::I8, &[3], 0.5, -128);
        let expected = Data::from_i8(&[-128, -28, -126]);
        let actual = Data::from_i8(&[-128, -29, -126]);
        let limits = Limits { min_snr: Some(40.0), ..Limits::default() };
        let one = found(&limits, &ty, &[(actual.clone(), expected.clone())]);
        // Numbers are 0, 50 and 1, and one is off by a half.
        assert!((one.snr() - 10.0 * (2501.0f64 / 0.25).log10()).abs() < 1e-9 && one.snr() < 40.01);
        assert!(one.passes(&limits) && one.largest == 0.5);
        let same = found(&limits, &ty, &[(expected.clone(), expected.clone())]);
        assert!(same.snr() == f64::INFINITY && same.passes(&limits));
        assert!(same.describe(&limits).to_string().contains("no noise"));
        let missing = found(&limits, &ty, &[(Data::from_i8(&[]), expected)]);
        assert!(!missing.passes(&limits) && missing.top1() == 0.0);
    }
}
