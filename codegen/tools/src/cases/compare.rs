//! Comparison of outputs with a golden file.

use kiln_ir::{DType, Data, Graph, Type};
use std::fmt;

/// Largest difference of floats that passes: relative to the largest magnitude in the expected output of the case.
pub const FLOAT_TOLERANCE: f64 = 1e-5;

/// What a comparison found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// Elements compared.
    pub elements: usize,
    /// How many of them are floats.
    pub floats: usize,
    /// Integer elements that differ.
    pub mismatches: usize,
    /// Largest difference of two integers.
    pub largest: u64,
    /// Floats that have other bits, NaNs apart.
    pub other_bits: usize,
    /// Largest difference of two floats, relative to the largest expected magnitude of the case (at least the smallest normal number).
    pub relative: f64,
}

impl Difference {
    /// Whether the outputs are the same as far as their types demand.
    pub fn passes(&self) -> bool {
        self.mismatches == 0 && self.relative <= FLOAT_TOLERANCE
    }

    /// Whether integers and floats are the same to the bit.
    pub fn is_none(&self) -> bool {
        self.mismatches == 0 && self.other_bits == 0
    }

    /// Adds what another comparison found.
    pub fn merge(&mut self, other: Difference) {
        self.elements += other.elements;
        self.floats += other.floats;
        self.mismatches += other.mismatches;
        self.other_bits += other.other_bits;
        self.largest = self.largest.max(other.largest);
        self.relative = self.relative.max(other.relative);
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let integers = self.elements - self.floats;
        if integers > 0 {
            write!(f, "{} of {integers} integers differ", self.mismatches)?;
            if self.mismatches > 0 {
                write!(f, ", by at most {}", self.largest)?;
            }
        }
        if self.floats > 0 {
            let (separator, floats) = (if integers > 0 { "; " } else { "" }, self.floats);
            write!(
                f,
                "{separator}{floats} floats differ by at most {:.1e} of their output's",
                self.relative
            )?;
            write!(f, " largest magnitude (limit {FLOAT_TOLERANCE:.0e})")?;
        }
        Ok(())
    }
}

/// What was found of the outputs of a model, over all cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Each output over all cases.
    pub outputs: Vec<Difference>,
    /// The cases and outputs that differ, in words: the first [`SHOWN`].
    pub failures: Vec<String>,
    /// The cases that differ.
    pub failed: Vec<usize>,
}

/// Most failures that are described.
pub const SHOWN: usize = 8;

impl Agreement {
    /// Compares the outputs of cases, or of frames: `what` they are. Where no outputs are expected, there have to be none.
    pub fn of(what: &str, graph: &Graph, actual: &[Vec<Data>], expected: &[Vec<Data>]) -> Agreement {
        let none = vec![Difference::default(); graph.outputs.len()];
        let mut found = Agreement { outputs: none, ..Agreement::default() };
        each(graph, actual, expected, |case, k, ty, actual, expected| {
            let difference = compare(ty.dtype, actual, expected);
            found.outputs[k].merge(difference);
            if difference.passes() {
                return;
            }
            if found.failures.len() < SHOWN {
                found.failures.push(format!("{what} {case}, output {k}: {difference}"));
            }
            if found.failed.last() != Some(&case) {
                found.failed.push(case);
            }
        });
        found
    }

    /// All outputs together.
    pub fn total(&self) -> Difference {
        let mut total = Difference::default();
        self.outputs.iter().for_each(|&output| total.merge(output));
        total
    }

    /// Whether all outputs are the same as far as their types demand.
    pub fn passes(&self) -> bool {
        self.outputs.iter().all(Difference::passes)
    }
}

/// The verdict, in a word.
pub fn verdict(passes: bool) -> &'static str {
    if passes {
        "ok"
    } else {
        "FAILED"
    }
}

/// What may be wrong where the outputs of a model with state differ.
pub fn hint(in_sequence: bool) -> &'static str {
    match in_sequence {
        true => "help: the cases ran as steps of one sequence; if each starts afresh, say so: --fresh, or an array `fresh` in the golden file",
        false => "help: the model was reset before each case; if they are steps of one sequence, say so: --sequence",
    }
}

/// Each output of each case: case, index, type, and what was found and expected.
pub fn each(
    graph: &Graph,
    actual: &[Vec<Data>],
    expected: &[Vec<Data>],
    mut visit: impl FnMut(usize, usize, &Type, &Data, &Data),
) {
    // An output that is missing on one side is an empty one.
    let (none, missing) = (Vec::new(), Data::new([]));
    for (case, expected) in expected.iter().enumerate() {
        let actual = actual.get(case).unwrap_or(&none);
        for (k, &id) in graph.outputs.iter().enumerate() {
            let (found, data) = (actual.get(k).unwrap_or(&missing), expected.get(k).unwrap_or(&missing));
            visit(case, k, graph.ty(id), found, data);
        }
    }
}

/// Compares one output of one case. Outputs of different length differ in every element.
pub fn compare(dtype: DType, actual: &Data, expected: &Data) -> Difference {
    let elements = expected.bytes().len() / dtype.size();
    if actual.bytes().len() != expected.bytes().len() {
        return Difference {
            elements,
            floats: 0,
            mismatches: elements.max(1),
            largest: u64::MAX,
            other_bits: 0,
            relative: f64::INFINITY,
        };
    }
    if dtype == DType::F32 {
        let (actual, expected) = (actual.to_f32(), expected.to_f32());
        return Difference {
            elements,
            floats: elements,
            other_bits: actual.iter().zip(&expected).filter(|&(&a, &e)| !same_bits(a, e)).count(),
            relative: relative(&actual, &expected),
            ..Difference::default()
        };
    }
    let pairs = actual.to_ints(dtype).into_iter().zip(expected.to_ints(dtype));
    let differences: Vec<u64> = pairs.map(|(a, e)| a.abs_diff(e)).filter(|&d| d != 0).collect();
    Difference {
        elements,
        floats: 0,
        mismatches: differences.len(),
        largest: differences.into_iter().max().unwrap_or(0),
        other_bits: 0,
        relative: 0.0,
    }
}

/// Which NaN an operation gives, its sign included, is the processor's choice.
fn same_bits(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn relative(actual: &[f32], expected: &[f32]) -> f64 {
    let magnitude = expected
        .iter()
        .filter(|v| v.is_finite())
        .fold(f64::from(f32::MIN_POSITIVE), |m, &v| m.max(f64::from(v).abs()));
    let difference = |(&a, &e): (&f32, &f32)| match same_bits(a, e) {
        true => 0.0,
        false => (f64::from(a) - f64::from(e)).abs() / magnitude,
    };
    // A NaN on one side only is an infinite difference.
    actual
        .iter()
        .zip(expected)
        .map(difference)
        .fold(0.0, |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_must_be_equal() {
        let expected = Data::from_i8(&[1, 2, 3, -128]);
        assert!(compare(DType::I8, &expected, &expected).passes());
        let difference = compare(DType::I8, &Data::from_i8(&[1, 2, 4, 127]), &expected);
        assert_eq!(difference.to_string(), "2 of 4 integers differ, by at most 255");
        assert!(!difference.passes());
        assert!(!compare(DType::I8, &Data::from_i8(&[1]), &expected).passes());
    }

    #[test]
    fn floats_are_compared_to_the_largest() {
        let expected = Data::from_f32(&[100.0, 0.001]);
        assert!(compare(DType::F32, &Data::from_f32(&[100.0005, 0.0015]), &expected).passes());
        assert!(!compare(DType::F32, &Data::from_f32(&[100.01, 0.001]), &expected).passes());
        assert!(!compare(DType::F32, &Data::from_f32(&[f32::NAN, 0.001]), &expected).passes());
        let difference = compare(DType::F32, &Data::from_f32(&[99.0, 0.001]), &expected);
        assert_eq!(
            difference.to_string(),
            "2 floats differ by at most 1.0e-2 of their output's largest magnitude (limit 1e-5)"
        );
        let other_nan = Data::from_f32(&[-f32::NAN]);
        assert!(compare(DType::F32, &Data::from_f32(&[f32::NAN]), &other_nan).passes());
        let zeros = compare(DType::F32, &Data::from_f32(&[-0.0, 1.0]), &Data::from_f32(&[0.0, 1.0]));
        assert!(zeros.passes() && !zeros.is_none() && zeros.other_bits == 1);
        let infinite = Data::from_f32(&[f32::INFINITY]);
        assert!(compare(DType::F32, &infinite, &infinite).passes());
    }
}
