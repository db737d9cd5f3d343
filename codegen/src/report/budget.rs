//! Budgets: more memory than the user allows is an error that says where it goes.

use super::memory;
use crate::error::{Error, Problem};
use crate::Compiled;

/// Holds a compilation to the budgets in its options.
///
/// # Errors
/// [`Error::OverBudget`] with the excess and the largest contributors.
pub fn check(compiled: &Compiled) -> Result<(), Error> {
    let mut problems = Vec::new();
    let need = compiled.program.arena_bytes + compiled.program.state_bytes;
    if let Some(budget) = compiled.options.ram.filter(|&b| need > b) {
        problems.push(Problem {
            place: "ram".into(),
            what: format!(
                "{need} bytes of RAM are needed (arena {}, state {}), {} more than the budget of {budget}; the peak is at {}",
                compiled.program.arena_bytes,
                compiled.program.state_bytes,
                need - budget,
                memory::peak(compiled),
            ),
            help: "raise the budget, or make those layers smaller".into(),
        });
    }
    let flash = compiled.program.constant_bytes();
    if let Some(budget) = compiled.options.flash.filter(|&b| flash > b) {
        let mut largest: Vec<_> = compiled.program.constants.iter().collect();
        largest.sort_by_key(|c| std::cmp::Reverse(c.data.bytes().len()));
        let largest: Vec<String> =
            largest.iter().take(3).map(|c| format!("{} ({} bytes)", c.doc, c.data.bytes().len())).collect();
        problems.push(Problem {
            place: "flash".into(),
            what: format!(
                "{flash} bytes of constants are needed, {} more than the budget of {budget}; the largest are {}",
                flash - budget,
                largest.join(", "),
            ),
            help: "raise the budget, or make those layers smaller".into(),
        });
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::OverBudget(problems))
    }
}
