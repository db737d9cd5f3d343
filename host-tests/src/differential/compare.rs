//! When outputs are the same: integers to the bit, floats within a bound that grows with the condition of the graph.

use super::kiln::{interpret_roughly, Off};
use cargo_kiln::compare::{compare, FLOAT_TOLERANCE};
use kiln_codegen::ir::{DType, Data, Graph};

/// How far floats are off in a graph that shows how well conditioned it is: half a step of their last digit.
const ROUNDING: f32 = 1.0 / (1 << 24) as f32;

/// Roundings of a sum that may go the same way.
const ROUNDINGS: f64 = 32.0;

/// How many graphs in rough arithmetic are asked.
const ASKED: u32 = 6;

/// An output that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Different {
    /// Its place among the outputs.
    pub output: usize,
    /// The case.
    pub case: usize,
    /// By how much.
    pub what: String,
}

impl std::fmt::Display for Different {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "output {} of case {}: {}", self.output, self.case, self.what)
    }
}

/// The first output that differs.
///
/// Integers have to be equal; if an operator computes floats, one may differ that also changes when all of them are off by as much as floats may differ.
/// Floats may differ by [`FLOAT_TOLERANCE`] of their output's largest magnitude, and by 32 times what a rounding error in every float of the graph makes of
/// that output.
pub fn difference(
    graph: &Graph,
    cases: &[Vec<Data>],
    actual: &[Vec<Data>],
    expected: &[Vec<Data>],
) -> Option<Different> {
    let (mut rough, mut allowed) = (None, None);
    let floats = graph.values().any(|(_, value)| value.ty.dtype == DType::F32);
    for (case, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        if actual.len() != expected.len() {
            let what = format!("{} outputs instead of {}", actual.len(), expected.len());
            return Some(Different { output: 0, case, what });
        }
        for (output, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            let dtype = graph.ty(graph.outputs[output]).dtype;
            let found = compare(dtype, actual, expected);
            if found.passes() {
                continue;
            }
            let same_size = actual.bytes().len() == expected.bytes().len();
            if floats && same_size {
                let rough = match dtype {
                    DType::F32 => rough.get_or_insert_with(|| roughly(graph, cases)),
                    _ => allowed.get_or_insert_with(|| as_allowed(graph, cases)),
                };
                let rough: Vec<&Data> = rough.iter().map(|outputs| &outputs[case][output]).collect();
                if !rough.is_empty() && within(dtype, actual, expected, &rough) {
                    continue;
                }
            }
            return Some(Different { output, case, what: found.to_string() });
        }
    }
    None
}

/// Outputs in rough arithmetic; the first are those of the interpreter as it is.
fn roughly(graph: &Graph, cases: &[Vec<Data>]) -> Vec<Vec<Vec<Data>>> {
    let exact = super::kiln::interpret(graph, cases);
    let off = Off::OfThemselves(ROUNDING * 2.0);
    let rough = (1..=ASKED).map(|seed| interpret_roughly(graph, cases, off, seed));
    std::iter::once(exact).chain(rough).filter_map(Result::ok).collect()
}

/// Outputs where every float that an operator computes may be off by as much as floats may differ; the first are those of the interpreter as it is.
fn as_allowed(graph: &Graph, cases: &[Vec<Data>]) -> Vec<Vec<Vec<Data>>> {
    let exact = super::kiln::interpret(graph, cases);
    let off = Off::OfTheLargest(FLOAT_TOLERANCE as f32);
    let rough = (1..=4 * ASKED).map(|seed| interpret_roughly(graph, cases, off, seed));
    std::iter::once(exact).chain(rough).filter_map(Result::ok).collect()
}

/// Whether a difference is one that roundings make.
fn within(dtype: DType, actual: &Data, expected: &Data, rough: &[&Data]) -> bool {
    let Some((exact, rough)) = rough.split_first() else { return false };
    if dtype != DType::F32 {
        let exact = exact.to_ints(dtype);
        let rough: Vec<Vec<i64>> = rough.iter().map(|data| data.to_ints(dtype)).collect();
        let pairs = actual.to_ints(dtype).into_iter().zip(expected.to_ints(dtype)).enumerate();
        let changes = |k: usize| rough.iter().any(|rough| rough[k] != exact[k]);
        return pairs.filter(|(_, (a, e))| a != e).all(|(k, _)| changes(k));
    }
    let exact = exact.to_f32();
    let finite = |x: &&f32| x.is_finite();
    let expected = expected.to_f32();
    let largest = expected.iter().filter(finite).fold(f32::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let mut moved = 0f64;
    for rough in rough {
        for (rough, exact) in rough.to_f32().iter().zip(&exact) {
            let by = (f64::from(*rough) - f64::from(*exact)).abs();
            moved = if by.is_finite() { moved.max(by) } else { moved };
        }
    }
    let bound = FLOAT_TOLERANCE * f64::from(largest) + ROUNDINGS * moved;
    let rough: Vec<Vec<f32>> = rough.iter().map(|data| data.to_f32()).collect();
    let pairs = actual.to_f32().into_iter().zip(expected).enumerate();
    let fits = |(k, (a, e)): (usize, (f32, f32))| {
        let near = (f64::from(a) - f64::from(e)).abs() <= bound;
        let odd = |x: f32| {
            if x.is_nan() {
                3
            } else if x.is_infinite() {
                1 + u8::from(x > 0.0)
            } else {
                0
            }
        };
        // What is infinite or none in one of them is so in rough arithmetic now and then.
        let unsure = odd(a) != odd(e) && rough.iter().any(|rough| odd(rough[k]) != odd(exact[k]));
        near || a.to_bits() == e.to_bits() || odd(a) != 0 && odd(a) == odd(e) || unsure
    };
    let mut pairs = pairs;
    pairs.all(fits)
}
