//! What came of a graph.

use super::compare::{difference, Different};
use super::explained::Rule;
use super::kiln::{compile, interpret, Ready, Refusal};
use super::oracle::{Drawn, Oracle};
use super::Format;
use kiln_codegen::ir::{DType, Data, Graph};

/// The end of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Kiln's interpreter gives the runtime's outputs.
    Equal,
    /// The graph differs because roundings of floats add up, or because its operators are held to two runtimes; each operator alone is equal.
    EqualByParts,
    /// It differs where this rule says so.
    Explained(usize),
    /// Kiln refuses what a runtime runs.
    Refused(String),
    /// Both refuse.
    RefusedByBoth,
    /// The runtimes refuse.
    OracleRefuses,
    /// It should not be: what, and where.
    Failed(Failure),
}

/// What should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub kind: Kind,
    /// The operator, with its types, and the runtime; or the operators of the graph.
    pub place: String,
    /// What was seen.
    pub what: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Outputs differ, without a known reason.
    Different,
    /// An internal error, a panic, too much time.
    Broken,
    /// Generated code does not compile, panics, or computes something else than the interpreter.
    Generated,
}

impl Kind {
    /// Whether such a failure comes besides another end of the graph.
    pub fn is_besides(self) -> bool {
        self == Kind::Generated
    }

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Different => "different",
            Kind::Broken => "broken",
            Kind::Generated => "generated code",
        }
    }
}

/// What Kiln made of a graph.
#[derive(Debug)]
pub struct Evaluated {
    /// The compiled graph.
    pub ready: Ready,
    /// The cases, `[case][k]`.
    pub cases: Vec<Vec<Data>>,
    /// The interpreter's outputs, `[case][k]`.
    pub outputs: Vec<Vec<Data>>,
}

/// A judged graph.
#[derive(Debug)]
pub struct Judged {
    /// The end.
    pub verdict: Verdict,
    /// What Kiln made of it, if it did.
    pub evaluated: Option<Evaluated>,
    /// Operators of it that fail alone.
    pub parts: Vec<Drawn>,
}

/// Judges graphs of one oracle.
#[derive(Debug)]
pub struct Judge<'a> {
    /// What is asked for the parts of a graph.
    pub oracle: &'a Oracle,
    /// Known reasons.
    pub rules: &'a [Rule],
}

/// What came of one model, a graph or a part of one.
enum One {
    Equal,
    Different(Different),
    Refused(Refusal),
}

impl Judge<'_> {
    /// Judges a graph.
    pub fn judge(&self, drawn: &Drawn) -> Judged {
        let verdict = |verdict| Judged { verdict, evaluated: None, parts: Vec::new() };
        let basis = basis(drawn);
        let ready = match compile(&drawn.file, self.oracle.format, drawn.number, &drawn.inputs) {
            Ok(ready) => ready,
            Err(Refusal::Broken(what)) => {
                let place = drawn.signature.clone();
                return verdict(Verdict::Failed(Failure { kind: Kind::Broken, place, what }));
            }
            Err(Refusal::Refused(_)) if basis.is_none() => return verdict(Verdict::RefusedByBoth),
            Err(Refusal::Refused(why)) => return verdict(Verdict::Refused(why)),
        };
        let inputs = cases(&drawn.inputs);
        let failed = |kind, what: String| {
            let place = match basis {
                Some((name, _)) => format!("{} @{name}", drawn.signature),
                None => drawn.signature.clone(),
            };
            Verdict::Failed(Failure { kind, place, what })
        };
        if let Some(what) = interface(&ready.graph, drawn) {
            return verdict(failed(Kind::Different, what));
        }
        let outputs = match interpret(&ready.graph, &inputs) {
            Ok(outputs) => outputs,
            Err(what) => return verdict(failed(Kind::Broken, what)),
        };
        let mut parts = Vec::new();
        let found =
            basis.and_then(|(_, expected)| difference(&ready.graph, &inputs, &outputs, &cases(expected)));
        let verdict = match (basis, found) {
            (None, _) => Verdict::OracleRefuses,
            (Some(_), None) => Verdict::Equal,
            (Some((name, _)), Some(found)) => match self.rule(&drawn.signature, name) {
                Some(rule) => Verdict::Explained(rule),
                None if drawn.signature.starts_with("chain ") => {
                    self.by_parts(drawn, &ready.graph, name, &found, &mut parts)
                }
                None => failed(Kind::Different, found.to_string()),
            },
        };
        Judged { verdict, evaluated: Some(Evaluated { ready, cases: inputs, outputs }), parts }
    }

    /// Judges a graph that differs by its operators.
    fn by_parts(
        &self,
        drawn: &Drawn,
        graph: &Graph,
        runtime: &str,
        found: &Different,
        failed: &mut Vec<Drawn>,
    ) -> Verdict {
        let whole = || Failure {
            kind: Kind::Different,
            place: format!("{} @{runtime}", drawn.signature),
            what: found.to_string(),
        };
        let parts = match self.oracle.parts(drawn.number) {
            Ok(parts) if !parts.is_empty() => parts,
            _ => return Verdict::Failed(Failure { what: format!("{found}; it has no parts"), ..whole() }),
        };
        let (mut explained, mut mixed) = (None, false);
        let mut failure: Option<Failure> = None;
        for part in parts {
            let Some((name, expected)) = basis(&part) else { continue };
            mixed |= name != runtime;
            // An operator that is known to differ need not do so on these operands.
            explained = explained.or(self.rule(&part.signature, name));
            match one(&part, expected, self.oracle.format) {
                One::Equal => {}
                One::Different(what) => match self.rule(&part.signature, name) {
                    Some(rule) => explained = Some(rule),
                    None => {
                        let place = format!("{} @{name}", part.signature);
                        let failure_of_part =
                            Failure { kind: Kind::Different, place, what: what.to_string() };
                        failure.get_or_insert(failure_of_part);
                        failed.push(part);
                    }
                },
                One::Refused(refusal) => {
                    let what = format!("{found}; alone, {} is refused: {refusal:?}", part.signature);
                    failure.get_or_insert(Failure { what, ..whole() });
                }
            }
        }
        // Roundings of floats, or another runtime's integers, go on through a graph; integers of one runtime do not.
        let floats = graph.values().any(|(_, value)| value.ty.dtype == DType::F32);
        match (failure, explained) {
            (Some(failure), _) => Verdict::Failed(failure),
            (None, Some(rule)) => Verdict::Explained(rule),
            (None, None) if floats || mixed => Verdict::EqualByParts,
            (None, None) => {
                let what = format!("{found}, though each operator alone is equal");
                Verdict::Failed(Failure { what, ..whole() })
            }
        }
    }

    /// The rule that says that this operator differs, where it does not.
    pub fn passed(&self, drawn: &Drawn, verdict: &Verdict) -> Option<usize> {
        let (name, _) = basis(drawn).filter(|_| *verdict == Verdict::Equal)?;
        self.rule(&drawn.signature, name)
    }

    fn rule(&self, signature: &str, runtime: &str) -> Option<usize> {
        self.rules.iter().position(|rule| rule.fits(signature, runtime))
    }
}

/// Judges one model by the interpreter.
fn one(drawn: &Drawn, expected: &[Vec<Vec<u8>>], format: Format) -> One {
    let ready = match compile(&drawn.file, format, drawn.number, &drawn.inputs) {
        Ok(ready) => ready,
        Err(refusal) => return One::Refused(refusal),
    };
    let different = |what| One::Different(Different { output: 0, case: 0, what });
    if let Some(what) = interface(&ready.graph, drawn) {
        return different(what);
    }
    let inputs = cases(&drawn.inputs);
    match interpret(&ready.graph, &inputs) {
        Ok(outputs) => match difference(&ready.graph, &inputs, &outputs, &cases(expected)) {
            None => One::Equal,
            Some(found) => One::Different(found),
        },
        Err(what) => One::Refused(Refusal::Broken(what)),
    }
}

/// The runtime that a graph is held to: TensorFlow Lite Micro, or LiteRT where that refuses or elements are unsigned; ONNX Runtime.
pub fn basis(drawn: &Drawn) -> Option<(&str, &[Vec<Vec<u8>>])> {
    let mut ran = drawn
        .runs
        .iter()
        .filter_map(|(name, outcome)| Some((name.as_str(), outcome.as_ref().ok()?.as_slice())));
    let first = ran.next()?;
    // The signature of a chain has no types; the title of an operator is that of the graph it is from.
    let types = if drawn.signature.starts_with("chain ") { &drawn.title } else { &drawn.signature };
    let unsigned = types.contains("uint8");
    let second = ran.next().filter(|(name, _)| unsigned && *name == "litert");
    Some(second.unwrap_or(first))
}

/// What differs between the inputs and outputs that a file has and those that Kiln sees.
fn interface(graph: &Graph, drawn: &Drawn) -> Option<String> {
    let bytes =
        |ids: &[kiln_codegen::ir::ValueId]| ids.iter().map(|&id| graph.ty(id).bytes()).collect::<Vec<_>>();
    let inputs: Vec<usize> = drawn.inputs.first()?.iter().map(Vec::len).collect();
    if inputs != bytes(&graph.inputs) {
        return Some(format!("its inputs have {inputs:?} bytes, Kiln's {:?}", bytes(&graph.inputs)));
    }
    let dims = graph.outputs.iter().map(|&id| graph.ty(id).shape.dims().to_vec()).collect::<Vec<_>>();
    let wanted: Vec<Vec<usize>> = drawn.outputs.iter().map(|(_, dims)| dims.clone()).collect();
    (dims != wanted).then(|| format!("its outputs have the shapes {wanted:?}, Kiln's {dims:?}"))
}

/// The cases as data.
pub fn cases(cases: &[Vec<Vec<u8>>]) -> Vec<Vec<Data>> {
    let case = |case: &Vec<Vec<u8>>| case.iter().map(|bytes| Data::new(bytes.as_slice())).collect();
    cases.iter().map(case).collect()
}
