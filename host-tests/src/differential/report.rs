//! What came of all graphs, in words and as JSON.

use super::explained::Rule;
use super::judge::{Failure, Verdict};
use super::Format;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Failures that are described.
const SHOWN: usize = 40;

/// A graph that failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Its number.
    pub number: usize,
    /// What was drawn.
    pub title: String,
    /// What is wrong.
    pub failure: Failure,
}

/// Counts of one format.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Graphs that were drawn.
    pub graphs: usize,
    /// Numbers without a graph, by reason.
    pub none: BTreeMap<String, usize>,
    /// Graphs whose outputs are the runtime's.
    pub equal: usize,
    /// Graphs whose operators are, each alone.
    pub equal_by_parts: usize,
    /// Differences with a reason, by rule.
    pub explained: BTreeMap<usize, usize>,
    /// How often each operator of a rule was drawn alone and was equal all the same.
    pub passed: BTreeMap<usize, usize>,
    /// What Kiln refuses although a runtime runs it, by reason: how often, and the first number.
    pub refused: BTreeMap<String, (usize, usize)>,
    /// Graphs that both refuse.
    pub refused_by_both: usize,
    /// Graphs that no runtime runs, and Kiln does.
    pub oracle_refuses: usize,
    /// Graphs that ran as generated code.
    pub generated: usize,
    /// Operators that were drawn.
    pub drawn: BTreeSet<String>,
    /// Failures, by number.
    pub failed: Vec<Failed>,
}

impl Report {
    /// Counts a verdict.
    pub fn count(&mut self, number: usize, title: &str, verdict: &Verdict) {
        self.graphs += 1;
        match verdict {
            Verdict::Equal => self.equal += 1,
            Verdict::EqualByParts => self.equal_by_parts += 1,
            Verdict::Explained(rule) => *self.explained.entry(*rule).or_default() += 1,
            Verdict::Refused(why) => {
                for reason in reasons(why) {
                    let entry = self.refused.entry(reason).or_insert((0, number));
                    *entry = (entry.0 + 1, entry.1.min(number));
                }
            }
            Verdict::RefusedByBoth => self.refused_by_both += 1,
            Verdict::OracleRefuses => self.oracle_refuses += 1,
            Verdict::Failed(failure) => self.fail(number, title, failure.clone()),
        }
    }

    /// Notes the operators of a signature.
    pub fn drew(&mut self, signature: &str) {
        match signature.strip_prefix("chain ") {
            Some(operators) => self.drawn.extend(operators.split(' ').map(str::to_owned)),
            None => self.drawn.extend(signature.split(' ').next().map(str::to_owned)),
        }
    }

    /// Operators that Kiln reads and that were not drawn.
    pub fn missing(&self, format: Format) -> Vec<String> {
        let of = kiln_codegen::front::FORMATS.iter().find(|of| of.ending == format.name());
        let names = of.and_then(|of| of.reader).map_or(Vec::new(), |reader| (reader.operators)());
        let own = |name: &String| name.rsplit('.').next().unwrap_or_default().to_owned();
        names.into_iter().filter(|name| !self.drawn.contains(&own(name))).collect()
    }

    /// Counts a failure of a graph that may have been counted already.
    pub fn fail(&mut self, number: usize, title: &str, failure: Failure) {
        self.failed.push(Failed { number, title: title.to_owned(), failure });
    }

    /// Adds what another part of the run counted.
    pub fn merge(&mut self, other: Report) {
        self.graphs += other.graphs;
        self.equal += other.equal;
        self.equal_by_parts += other.equal_by_parts;
        self.refused_by_both += other.refused_by_both;
        self.oracle_refuses += other.oracle_refuses;
        self.generated += other.generated;
        self.drawn.extend(other.drawn);
        self.failed.extend(other.failed);
        self.failed.sort_by_key(|failed| (failed.number, failed.failure.kind));
        let add = |to: &mut BTreeMap<usize, usize>, from: BTreeMap<usize, usize>| {
            from.into_iter().for_each(|(key, count)| *to.entry(key).or_default() += count);
        };
        add(&mut self.explained, other.explained);
        add(&mut self.passed, other.passed);
        other.none.into_iter().for_each(|(why, count)| *self.none.entry(why).or_default() += count);
        for (why, (count, first)) in other.refused {
            let entry = self.refused.entry(why).or_insert((0, first));
            *entry = (entry.0 + count, entry.1.min(first));
        }
    }

    /// Whether nothing failed.
    pub fn passes(&self) -> bool {
        self.failed.is_empty()
    }

    fn refusals(&self) -> usize {
        let others = self.equal + self.equal_by_parts + self.refused_by_both + self.oracle_refuses;
        let explained: usize = self.explained.values().sum();
        let judged = self.failed.iter().filter(|failed| !failed.failure.kind.is_besides()).count();
        self.graphs.saturating_sub(others + explained + judged)
    }

    /// In words.
    pub fn text(&self, format: Format, seed: u64, rules: &[Rule]) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}, seed {seed}: {} graphs", format.name(), self.graphs);
        let mut line = |count: usize, what: &str| {
            let _ = writeln!(out, "  {count:6} {what}");
        };
        line(self.equal, "equal");
        line(self.equal_by_parts, "equal operator by operator (roundings of floats go on through the graph)");
        line(self.explained.values().sum(), "different for a known reason");
        line(self.refusals(), "refused by Kiln, run by a runtime");
        line(self.refused_by_both, "refused by both");
        line(self.oracle_refuses, "refused by the runtimes");
        line(self.failed.len(), "FAILED");
        line(self.generated, "of them ran as generated code");
        for (why, count) in &self.none {
            let _ = writeln!(out, "  {count:6} numbers without a graph: {why}");
        }
        if !self.refused.is_empty() {
            let _ = writeln!(out, "  Kiln refuses (times, first number):");
        }
        let mut refused: Vec<_> = self.refused.iter().collect();
        refused.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (why, (count, first)) in refused {
            let _ = writeln!(out, "  {count:6} #{first}: {why}");
        }
        for (rule, count) in &self.explained {
            let Rule { pattern, reason, page } = &rules[*rule];
            let _ = writeln!(out, "  {count:6} {pattern}: {reason} ({page})");
        }
        for (rule, count) in self.passed.iter().filter(|(rule, _)| !self.explained.contains_key(rule)) {
            let pattern = &rules[*rule].pattern;
            let _ = writeln!(out, "  explained, but equal in all {count} graphs: {pattern}");
        }
        let missing = self.missing(format);
        if !missing.is_empty() {
            let _ = writeln!(out, "  never drawn, {} operators: {}", missing.len(), missing.join(" "));
        }
        for failed in self.failed.iter().take(SHOWN) {
            let Failure { kind, place, what } = &failed.failure;
            let what: String = what.lines().next().unwrap_or_default().chars().take(300).collect();
            let _ = writeln!(out, "  FAILED #{} {}: {place}: {what}", failed.number, kind.name());
        }
        if self.failed.len() > SHOWN {
            let _ = writeln!(out, "  … and {} more", self.failed.len() - SHOWN);
        }
        out
    }

    /// As JSON.
    pub fn json(&self, format: Format, seed: u64, rules: &[Rule]) -> serde_json::Value {
        let failed = self.failed.iter().map(|failed| {
            serde_json::json!({
                "number": failed.number, "drawn": failed.title, "kind": failed.failure.kind.name(),
                "place": failed.failure.place, "what": failed.failure.what,
            })
        });
        let explained: BTreeMap<_, _> =
            self.explained.iter().map(|(rule, count)| (rules[*rule].pattern.clone(), *count)).collect();
        let refused: BTreeMap<_, _> =
            self.refused.iter().map(|(why, (count, _))| (why.clone(), *count)).collect();
        serde_json::json!({
            "format": format.name(), "seed": seed, "graphs": self.graphs, "without_graph": self.none,
            "equal": self.equal, "equal_by_parts": self.equal_by_parts, "explained": explained,
            "refused_by_kiln": self.refusals(), "refusals": refused, "refused_by_both": self.refused_by_both,
            "refused_by_runtimes": self.oracle_refuses, "never_drawn": self.missing(format), "generated": self.generated,
            "failed": failed.collect::<Vec<_>>(),
        })
    }
}

/// The reasons of a refusal, a line each, without the places and numbers that tell models apart.
fn reasons(why: &str) -> Vec<String> {
    let lines = why.lines().map(str::trim).filter(|line| !line.starts_with("help:"));
    let mut found: Vec<String> = lines.map(general).filter(|line| !line.is_empty()).collect();
    if found.len() > 1 {
        found.retain(|line| !line.ends_with("cannot be compiled:"));
    }
    found.sort();
    found.dedup();
    found
}

/// A line without names in quotation marks, shapes and numbers.
fn general(line: &str) -> String {
    let mut out = String::new();
    let (mut quoted, mut in_word, mut depth) = (false, false, 0usize);
    for c in line.trim_start_matches("- ").chars() {
        match c {
            '"' | '`' => quoted = !quoted,
            _ if quoted => {}
            '[' => {
                depth += 1;
                if depth == 1 {
                    out.push_str("[…");
                }
            }
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    out.push(']');
                }
            }
            _ if depth > 0 => {}
            // `int8` is a word, and so is `N`.
            c if c.is_ascii_digit() && !in_word => {
                if !out.ends_with('N') {
                    out.push('N');
                }
            }
            c => {
                in_word = c.is_ascii_alphanumeric() || c == '_';
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_same_for_all_models() {
        let why = "this model cannot be compiled:\n  - operator 12 CONV_2D \"a/b\": 13 of int8[2, 3]\n    help: none";
        assert_eq!(reasons(why), ["operator N CONV_2D : N of int8[…]"]);
    }

    #[test]
    fn parts_of_a_run_add_up() {
        let mut all = Report::default();
        for number in [7, 3] {
            let mut report = Report::default();
            report.count(number, "ADD", &Verdict::Refused("no".into()));
            report.count(number + 1, "ADD", &Verdict::Equal);
            all.merge(report);
        }
        assert_eq!((all.graphs, all.equal, all.refusals()), (4, 2, 2));
        assert_eq!(all.refused["no"], (2, 3));
        assert!(all.passes() && all.text(Format::Onnx, 1, &[]).contains("2 refused by Kiln"));
    }
}
