//! Phrases that text and page share.

use super::data::{Advice, Chosen, Pass, Read};
use crate::advice;
use crate::number::grouped;
use kiln_codegen::{Door, Float};
use std::fmt;

impl Chosen {
    /// The options in words.
    pub fn describe(&self) -> String {
        let mut out =
            format!("for {}, optimize = {:?}, input = {:?}", self.target, self.optimize, self.input);
        if self.float != Float::default().name() {
            out += &format!(", float = {:?}", self.float);
        }
        for (what, budget) in [("ram", self.ram), ("flash", self.flash)] {
            out += &budget.map_or(String::new(), |bytes| format!(", {what} = {bytes}"));
        }
        out + &self.measured_on.as_ref().map_or(String::new(), |on| format!(", measured on {on}"))
    }
}

impl From<advice::Advice> for Advice {
    fn from(advice: advice::Advice) -> Self {
        let advice::Advice { topic, place, what, help, cycles, bytes } = advice;
        // As flags of the commands that show it.
        let help = Door::CommandLine.translate(&help);
        Advice { topic: topic.name(), place, what, help, cycles, bytes }
    }
}

impl Advice {
    /// What following it saves, in words; empty where nothing was estimated.
    pub fn saves(&self) -> String {
        match (self.cycles, self.bytes) {
            (0, 0) => String::new(),
            (cycles, 0) => format!(" (about {} cycles)", grouped(cycles)),
            (0, bytes) => format!(" (about {} B)", grouped(bytes)),
            (cycles, bytes) => format!(" (about {} cycles, {} B)", grouped(cycles), grouped(bytes)),
        }
    }
}

impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Read::Input(name) => write!(f, "input {name:?}"),
            Read::State(name) => write!(f, "state {name:?}"),
            Read::Step(step) => write!(f, "step {step}"),
        }
    }
}

impl Pass {
    /// What became of the graph, in words.
    pub fn effect(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |what: &str, [before, after]: [u64; 2]| {
            if before != after {
                parts.push(format!("{} → {} {what}", grouped(before), grouped(after)));
            }
        };
        part("ops", self.ops.map(|n| n as u64));
        part("MACs", self.macs);
        part("B of constants", self.constant_bytes.map(|n| n as u64));
        match parts.is_empty() {
            true if self.changed.is_empty() => "took away what nobody reads".into(),
            true => format!("{} changed, as many as before", count(self.changed.len(), "op")),
            false => parts.join(", "),
        }
    }

    /// The operators that went, by what became of them.
    pub fn fates(&self) -> Vec<(&str, Vec<&str>)> {
        let mut fates: Vec<(&str, Vec<&str>)> = Vec::new();
        for gone in &self.gone {
            match fates.iter_mut().find(|(why, _)| *why == gone.why) {
                Some((_, operators)) => operators.push(&gone.operator),
                None => fates.push((&gone.why, vec![&gone.operator])),
            }
        }
        fates
    }
}

/// `1 op`, `2 ops`.
pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
