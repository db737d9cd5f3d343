//! StableHLO's own test data: modules whose `@main` has its inputs and the expected results as constants, and compares with the latter by a rule.
//!
//! They are rewritten, in two ways. In the first, the results of `@inputs` are the inputs of the model. In the second only the first one is, and the others stay constants: indices
//! have to be constants in some operators. A case passes if one way does.

use super::{as_floats, GAPS};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_host_tests::conformance::{agree, beside, both_ways, graph, read, run};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How results are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Equal,
    /// By at most three units in the last place.
    Close,
    /// By at most 0.0001.
    AlmostEqual,
}

/// A result that is compared.
struct Check {
    rule: Rule,
    actual: String,
    expected: String,
    ty: String,
}

/// What a module's `@main` consists of.
struct Parts {
    before: String,
    after: String,
    /// Its operators, without calls of `@inputs`, comparisons and the return.
    lines: Vec<String>,
    /// Names of inputs and their types.
    inputs: Vec<(String, String)>,
    /// The lines that make the inputs as constants.
    sources: Vec<String>,
    /// Lines with constants, and calls of `@expected`.
    constants: Vec<String>,
    checks: Vec<Check>,
}

#[test]
fn modules() {
    let Some(folder) = beside("conformance/stablehlo") else { return };
    let mut cases: Vec<(String, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        cases.push((format!("stablehlo/{}", path.file_stem().unwrap().to_string_lossy()), path));
    }
    cases.sort();
    let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let verdict = |path: &PathBuf| {
        let parts = Parts::of(&String::from_utf8(read(path)).unwrap())?;
        let (given, expected) = parts.values()?;
        let ways = [parts.inputs.len(), 1.min(parts.inputs.len())];
        let mut verdicts = ways.into_iter().enumerate().map(|(way, count)| {
            let verdict = parts.judge(count, &given, &expected);
            counts[way].fetch_add(usize::from(verdict.is_ok()), Ordering::Relaxed);
            verdict
        });
        let (first, second) = (verdicts.next().unwrap(), verdicts.next().unwrap());
        match (first, second) {
            (Err(first), Err(second)) if first == second => Err(first),
            (Err(first), Err(second)) => Err(format!("{first}; with constants: {second}")),
            _ => Ok(()),
        }
    };
    run("stablehlo", &cases, GAPS, |gap| gap.starts_with("stablehlo/"), 613, verdict);
    let [first, second] = counts.map(AtomicUsize::into_inner);
    println!("stablehlo: {first} with all inputs, {second} with all but the first as constants");
}

/// A text with names of values instead of others.
fn renamed(line: &str, names: &[(String, String)]) -> String {
    let mut rest = line;
    let mut result = String::new();
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..at]);
        let name = &rest[at..];
        let end = name[1..]
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '#'))
            .map_or(name.len(), |end| end + 1);
        let name = &name[..end];
        result.push_str(names.iter().find(|(from, _)| from == name).map_or(name, |(_, to)| to));
        rest = &rest[at + end..];
    }
    result + rest
}

/// Types in parentheses, or one without.
fn types(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    let (mut depth, mut list, mut own) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            list.push(std::mem::take(&mut own).trim().to_owned());
        } else {
            own.push(c);
        }
    }
    list.push(own.trim().to_owned());
    list
}

impl Parts {
    fn of(text: &str) -> Result<Parts, String> {
        let lines: Vec<&str> = text.lines().collect();
        let begin = lines.iter().position(|line| line.contains("@main(")).ok_or("there is no @main")?;
        let end = begin + lines[begin..].iter().position(|line| *line == "  }").ok_or("@main has no end")?;
        let mut parts = Parts {
            before: lines[..begin].join("\n"),
            after: lines[end + 1..].join("\n"),
            lines: Vec::new(),
            inputs: Vec::new(),
            sources: Vec::new(),
            constants: Vec::new(),
            checks: Vec::new(),
        };
        let mut names: Vec<(String, String)> = Vec::new();
        let body = &lines[begin + 1..end];
        for line in body {
            let quantised = line.split_once("uniform_quantize %cst").map(|(_, rest)| rest);
            let Some(rest) = quantised else { continue };
            let name = format!("%cst{}", rest.split(' ').next().unwrap_or_default());
            if names.iter().any(|(from, _)| *from == name) {
                continue;
            }
            let source = body.iter().find(|line| line.trim().starts_with(&format!("{name} = ")));
            let ty = source.and_then(|line| line.rsplit_once(" : ")).map(|(_, ty)| ty.to_owned());
            let new = format!("%in_{}", names.len());
            names.push((name, new.clone()));
            parts.inputs.push((new, ty.unwrap_or_default()));
        }
        for line in body {
            // Constants of regions stay where they are.
            let is_inner = line.starts_with("     ");
            let line = line.trim();
            if is_inner {
                parts.lines.push(line.to_owned());
            } else if let Some((result, rest)) = line.split_once(" = call @inputs() : () -> ") {
                let list = types(rest);
                let name = result.split(':').next().unwrap_or_default();
                for (k, ty) in list.iter().enumerate() {
                    let own = if list.len() == 1 { name.to_owned() } else { format!("{name}#{k}") };
                    let new = format!("%in_{}", names.len());
                    names.push((own, new.clone()));
                    parts.inputs.push((new, ty.clone()));
                }
                parts.sources.push(line.to_owned());
            } else if let Some((_, call)) = line.split_once("custom_call @check.") {
                let rule = match call.split('(').next() {
                    Some("expect_eq" | "eq") => Rule::Equal,
                    Some("expect_close") => Rule::Close,
                    _ => Rule::AlmostEqual,
                };
                let operands = call.split(['(', ')']).nth(1).unwrap_or_default();
                let (first, second) = operands.split_once(", ").ok_or("a check has other operands")?;
                let (actual, expected) =
                    if first.starts_with("%cst") { (second, first) } else { (first, second) };
                let ty = types(
                    line.rsplit_once(" : ").map_or("", |(_, ty)| ty.split(" -> ").next().unwrap_or_default()),
                );
                parts.checks.push(Check {
                    rule,
                    actual: actual.into(),
                    expected: expected.into(),
                    ty: ty[0].clone(),
                });
            } else if line.contains("call @expected()") {
                parts.constants.push(line.to_owned());
            } else if line.contains(" = stablehlo.constant ") {
                let name = line.split(" = ").next().unwrap_or_default();
                match names.iter().any(|(from, _)| from == name) {
                    true => parts.sources.push(line.to_owned()),
                    false => parts.constants.push(line.to_owned()),
                }
            } else if !line.starts_with("return ") {
                parts.lines.push(line.to_owned());
            }
        }
        for line in parts.lines.iter_mut().chain(&mut parts.sources).chain(&mut parts.constants) {
            *line = renamed(line, &names);
        }
        // Several results of one call keep a name together.
        for source in &mut parts.sources {
            if source.contains("call @inputs()") {
                let count = parts.inputs.len();
                let name = if count == 1 { parts.inputs[0].0.clone() } else { format!("%all:{count}") };
                *source = format!("{name} = {}", source.split_once(" = ").map_or("", |(_, call)| call));
            }
        }
        for check in &mut parts.checks {
            check.actual = renamed(&check.actual, &names);
        }
        Ok(parts)
    }

    /// How an input is called where it is a constant.
    fn constant(&self, k: usize) -> String {
        match self.sources.iter().any(|line| line.starts_with("%all:")) {
            true => format!("%all#{k}"),
            false => self.inputs[k].0.clone(),
        }
    }

    /// The values of inputs and expected results.
    fn values(&self) -> Result<(Vec<Data>, Vec<Data>), String> {
        let names: Vec<String> = (0..self.inputs.len())
            .map(|k| self.constant(k))
            .chain(self.checks.iter().map(|check| check.expected.clone()))
            .collect();
        let types: Vec<String> = self
            .inputs
            .iter()
            .map(|(_, ty)| ty.clone())
            .chain(self.checks.iter().map(|check| check.ty.clone()))
            .collect();
        let lines = [&self.sources[..], &self.constants].concat();
        let graph = graph(self.module(&[], &lines, &names, &types).as_bytes(), &as_floats())?;
        let mut values = Machine::new(&graph).run(&[]).map_err(|e| e.to_string())?;
        let expected = values.split_off(self.inputs.len());
        Ok((values, expected))
    }

    fn module(
        &self,
        inputs: &[(String, String)],
        lines: &[String],
        results: &[String],
        types: &[String],
    ) -> String {
        let inputs: Vec<String> = inputs.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let (inputs, results, types) = (inputs.join(", "), results.join(", "), types.join(", "));
        let body = lines.join("\n    ");
        format!(
            "{}\n  func.func public @main({inputs}) -> ({types}) {{\n    {body}\n    return {results} : {types}\n  }}\n{}",
            self.before, self.after
        )
    }

    /// The model with the first inputs.
    fn judge(&self, count: usize, given: &[Data], expected: &[Data]) -> Result<(), String> {
        let mut lines = self.constants.clone();
        let renames: Vec<(String, String)> =
            (count..self.inputs.len()).map(|k| (self.inputs[k].0.clone(), self.constant(k))).collect();
        if count < self.inputs.len() {
            let is_given = |line: &&String| {
                self.inputs[..count].iter().any(|(name, _)| line.starts_with(&format!("{name} = ")))
            };
            lines.extend(self.sources.iter().filter(|line| !is_given(line)).cloned());
        }
        lines.extend(self.lines.iter().map(|line| renamed(line, &renames)));
        let results: Vec<String> = self.checks.iter().map(|check| renamed(&check.actual, &renames)).collect();
        let types: Vec<String> = self.checks.iter().map(|check| check.ty.clone()).collect();
        let text = self.module(&self.inputs[..count], &lines, &results, &types);
        both_ways(graph(text.as_bytes(), &as_floats())?, |graph| {
            self.compare(graph, &given[..count], expected)
        })
    }

    fn compare(&self, graph: &Graph, given: &[Data], expected: &[Data]) -> Result<(), String> {
        let results = Machine::new(graph).run(given).map_err(|e| e.to_string())?;
        for (k, ((result, expected), check)) in results.iter().zip(expected).zip(&self.checks).enumerate() {
            let dtype = graph.ty(graph.outputs[k]).dtype;
            let verdict = match check.judge(dtype, result, expected) {
                true => Ok(()),
                false => agree(dtype, result, expected),
            };
            verdict.map_err(|how| format!("output {k}: {how}"))?;
        }
        Ok(())
    }
}

impl Check {
    /// The bits of a float in its type, in the order of numbers.
    fn place(&self, x: f32) -> i64 {
        let bits = match self.element() {
            "bf16" => i64::from(rounded(x, 8).to_bits() >> 16),
            "f16" => {
                return (rounded(x, 11) * 2f32.powi(24)) as i64 * i64::from(x.abs() < 6.2e-5)
                    + half(rounded(x, 11))
            }
            _ => i64::from(x.to_bits()),
        };
        let sign = if self.element() == "bf16" { 1 << 15 } else { 1 << 31 };
        if bits & sign != 0 {
            -(bits & (sign - 1))
        } else {
            bits
        }
    }

    fn element(&self) -> &str {
        self.ty.trim_start_matches("tensor<").trim_end_matches('>').rsplit('x').next().unwrap_or_default()
    }

    /// Whether floats agree by the rule.
    fn judge(&self, dtype: DType, result: &Data, expected: &Data) -> bool {
        if dtype != DType::F32 {
            return false;
        }
        result.to_f32().into_iter().zip(expected.to_f32()).all(|(own, wanted)| {
            let distance = (self.place(own) - self.place(wanted)).abs();
            own == wanted
                || (own.is_nan() && wanted.is_nan())
                || match self.rule {
                    _ if own.is_nan() || wanted.is_nan() => false,
                    Rule::Equal => distance == 0,
                    Rule::Close => distance <= 3,
                    Rule::AlmostEqual => (own - wanted).abs() <= 1e-4,
                }
        })
    }
}

/// A float with so many bits of significand.
fn rounded(x: f32, bits: u32) -> f32 {
    if !x.is_finite() {
        return x;
    }
    let drop = 24 - bits;
    let own = x.to_bits();
    let half = (1u32 << (drop - 1)) - 1 + (own >> drop & 1);
    f32::from_bits((own.wrapping_add(half) >> drop) << drop)
}

/// Units in the last place of half precision above its normal numbers.
fn half(x: f32) -> i64 {
    if x.abs() < 6.2e-5 {
        return 0;
    }
    let place = i64::from(x.abs().to_bits() >> 13) - (113 << 10) + 1024;
    // Beyond the largest number all are infinite.
    let place = place.min(31 << 10);
    if x < 0.0 {
        -place
    } else {
        place
    }
}
