//! Everything that stands in the way of a model, for one error.

use crate::Refusal;
use kiln_ir::error::{Error, Problem};

/// The problems found so far. Refusals of one kind of operator for one reason count as one problem, which names them all.
#[derive(Default)]
pub(crate) struct Report {
    entries: Vec<Entry>,
}

struct Entry {
    /// Name of the refused operators; empty for inputs and outputs.
    operator: String,
    problem: Problem,
    /// Indices of further operators.
    more: Vec<usize>,
}

impl Report {
    /// Whether nothing stands in the way.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many operators, inputs and outputs were refused.
    pub(crate) fn count(&self) -> usize {
        self.entries.iter().map(|entry| 1 + entry.more.len()).sum()
    }

    /// Notes a problem. `operator` is the index and name of a refused operator.
    fn add(&mut self, place: String, operator: Option<(usize, &str)>, what: String, help: String) {
        if let Some((index, name)) = operator {
            let same = |e: &&mut Entry| e.operator == name && e.problem.help == help;
            if let Some(entry) = self.entries.iter_mut().find(same) {
                entry.more.push(index);
                return;
            }
        }
        let operator = operator.map(|(_, name)| name.to_string()).unwrap_or_default();
        self.entries.push(Entry { operator, problem: Problem { place, what, help }, more: Vec::new() });
    }

    /// Notes what was refused, or gives up. `operator` is the index and name of a refused operator.
    pub(crate) fn refuse(
        &mut self,
        place: String,
        operator: Option<(usize, &str)>,
        refusal: Refusal,
    ) -> Result<(), Error> {
        match refusal {
            Refusal::Follows => {}
            Refusal::Unsupported(what, help) => self.add(place, operator, what, help),
            // Behind a refused operator the declared shapes are all there is, and they may be placeholders.
            Refusal::Malformed(_) if !self.is_empty() => {}
            Refusal::Malformed(what) => return Err(Error::malformed(place, what)),
            Refusal::Fatal(error) => return Err(error),
        }
        Ok(())
    }

    /// The problems, in the order in which they were found.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.entries.into_iter().map(Entry::into_problem).collect()
    }
}

impl Entry {
    fn into_problem(self) -> Problem {
        let Problem { place, mut what, help } = self.problem;
        if !self.more.is_empty() {
            let list = self.more.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            let plural = if self.more.len() == 1 { "" } else { "s" };
            what += &format!("; the same applies to operator{plural} {list}");
        }
        Problem { place, what, help }
    }
}

/// What to use instead of an operator that is not supported.
pub(crate) fn way_out(operator: &str) -> &'static str {
    match operator {
        "UNIDIRECTIONAL_SEQUENCE_RNN" | "BIDIRECTIONAL_SEQUENCE_LSTM" => {
            "unroll the recurrence into FULLY_CONNECTED, MUL, ADD, LOGISTIC and TANH with explicit state"
        }
        _ => crate::refusal::REPLACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_per_kind_and_reason() {
        let mut report = Report::default();
        let mut add = |index, name, help: &str| {
            report.add(format!("operator {index}"), Some((index, name)), "x".into(), help.into());
        };
        add(1, "PRELU", "a");
        add(4, "PRELU", "a");
        add(5, "CAST", "a");
        add(9, "PRELU", "a");
        add(9, "PRELU", "b");
        let problems = report.into_problems();
        let text: Vec<_> = problems.iter().map(|p| format!("{}: {}", p.place, p.what)).collect();
        assert_eq!(
            text,
            ["operator 1: x; the same applies to operators 4, 9", "operator 5: x", "operator 9: x"]
        );
    }
}
