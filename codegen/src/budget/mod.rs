//! Budgets: more memory than the user allows is an error that says where it goes, and what to do.

pub mod memory;
pub mod packed;

use crate::ir::{DType, Op};
use crate::search::{search, Found};
use crate::{Compiled, Input, Io, Optimize, Options};
use kiln_ir::error::{Error, Problem};
use memory::{held, Region, Row};

/// How many buffers are named.
const MOST_NAMED: usize = 4;

/// Holds a compilation to the budgets in its options.
///
/// # Errors
/// [`Error::OverBudget`] with the excess and the largest contributors.
pub fn check(compiled: &Compiled) -> Result<(), Error> {
    match problems(compiled) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Error::OverBudget(problems)),
    }
}

/// What is over the budgets in the options of a compilation: the excess and the largest contributors.
pub fn problems(compiled: &Compiled) -> Vec<Problem> {
    let mut problems = Vec::new();
    let need = compiled.plan.ram_bytes();
    if let Some(budget) = compiled.options.ram.filter(|&b| need > b) {
        problems.push(Problem {
            place: "ram".into(),
            what: over_ram(compiled, budget),
            help: ways_out(compiled, budget),
        });
    }
    problems.extend(over_cycles(compiled));
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
            help: match packed::more(compiled) {
                0 => "raise the budget, or make those layers smaller".into(),
                more => format!(
                    "`weights = \"packed\"` saves {more} bytes; or raise the budget, or make those layers smaller"
                ),
            },
        });
    }
    problems
}

/// Predicted cycles that exceed their budget: by how many, where they go, and what helps.
fn over_cycles(compiled: &Compiled) -> Option<Problem> {
    let budget = compiled.options.cycles?;
    let predicted = compiled.kept()?.predicted;
    let excess = predicted.cycles.checked_sub(budget).filter(|&excess| excess > 0)?;
    let mut most: Vec<(u64, usize)> =
        compiled.program.chosen.iter().filter_map(|chosen| Some((chosen.cycles?, chosen.step))).collect();
    most.sort_by_key(|&(cycles, step)| (std::cmp::Reverse(cycles), step));
    let most: Vec<String> = most
        .iter()
        .take(3)
        .map(|&(cycles, step)| format!("{:?} ({cycles})", memory::computed(compiled, step).1))
        .collect();
    let raise = "raise the budget, or make those layers smaller";
    Some(Problem {
        place: "cycles".into(),
        what: format!(
            "{} cycles are predicted for the fastest schedule, {excess} more than the budget of {budget}; most of them are for {}",
            predicted.cycles,
            list(&most)
        ),
        help: match compiled.options.optimize {
            Optimize::Speed => raise.into(),
            _ => format!("use optimize = \"speed\"; or {raise}"),
        },
    })
}

/// What is needed at least, and what holds it up.
fn over_ram(compiled: &Compiled, budget: usize) -> String {
    let plan = &compiled.plan;
    let tried = match compiled.alternatives.len() {
        0 | 1 => "",
        count => &format!(", the least of {count} schedules"),
    };
    let peak = match memory::peak(compiled) {
        _ if is_mostly_state(compiled) => {
            format!("; most of it is state: {}", largest(&memory::retained(compiled)))
        }
        Some(row) => format!("; the peak is at {}", describe(&row)),
        None => String::new(),
    };
    format!(
        "{} bytes of RAM are needed (arena {}, state {}){tried}: {} more than the budget of {budget}{peak}",
        plan.ram_bytes(),
        plan.scratch_bytes(),
        plan.state_bytes,
        plan.ram_bytes() - budget,
    )
}

/// Whether less than half of the RAM is left to what an inference computes.
fn is_mostly_state(compiled: &Compiled) -> bool {
    2 * compiled.plan.state_bytes > compiled.plan.ram_bytes()
}

/// A step, and what is live during it, the largest first.
fn describe(row: &Row) -> String {
    format!("step {} {} {:?}, where {} are live", row.step, row.op, row.name, largest(&row.buffers))
}

/// Buffers in words, the largest first.
fn largest(buffers: &[Region]) -> String {
    let mut live: Vec<&Region> = buffers.iter().collect();
    live.sort_by_key(|b| std::cmp::Reverse(b.bytes));
    let rows = |b: &Region| match b.ring {
        Some(1) => ", 1 row".into(),
        Some(rows) => format!(", {rows} rows"),
        None => String::new(),
    };
    let mut named: Vec<String> = live
        .iter()
        .take(MOST_NAMED)
        .map(|b| format!("{:?} ({} bytes{})", b.name, b.bytes, rows(b)))
        .collect();
    if live.len() > MOST_NAMED {
        let rest: usize = live[MOST_NAMED..].iter().map(|b| b.bytes).sum();
        named.push(format!("{} more ({rest} bytes)", live.len() - MOST_NAMED));
    }
    list(&named)
}

/// `a, b and c`.
fn list(items: &[String]) -> String {
    match items {
        [] => "nothing".into(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What the user can do, with what it gives.
fn ways_out(compiled: &Compiled, budget: usize) -> String {
    let mut ways = Vec::new();
    if is_mostly_state(compiled) {
        let way = "raise the budget, or keep less from one inference to the next: fewer channels or a shorter past in the layers with state, or integers instead of floats";
        return way.into();
    }
    if compiled.options.input == Input::Whole {
        let options = Options { input: Input::Rows, ..compiled.options.clone() };
        let fed = search(&compiled.graph, &options).map(|Found { plan, .. }| plan.ram_bytes());
        match fed {
            Ok(bytes) if bytes <= budget => {
                ways.push(format!(
                    "give the input row by row: with input = \"rows\" {bytes} bytes are enough"
                ));
            }
            Ok(bytes) if bytes < compiled.plan.ram_bytes() => {
                ways.push(format!(
                    "give the input row by row: with input = \"rows\" {bytes} bytes are needed"
                ));
            }
            Ok(_) | Err(_) => {}
        }
    }
    if compiled.options.io == Io::Native && has_float_edges(compiled) {
        ways.push("give integers: io = \"quantized\" drops the conversions at the edges".into());
    }
    let input: usize =
        compiled.graph.inputs.iter().filter_map(|&id| held(compiled, id)).map(|h| h.bytes).sum();
    ways.push(match 4 * input >= compiled.plan.scratch_bytes() && input > 0 {
        true => {
            format!("raise the budget, or use a smaller input (it takes {input} bytes) or smaller layers")
        }
        false => "raise the budget, or make those layers smaller".into(),
    });
    ways.join("; ")
}

/// Whether a float input is only there to be quantised.
fn has_float_edges(compiled: &Compiled) -> bool {
    let graph = &compiled.graph;
    graph.inputs.iter().filter(|&&id| graph.ty(id).dtype == DType::F32).any(|id| {
        graph.nodes().any(|(_, node)| matches!(node.op, Op::Quantize { .. }) && node.operands.contains(id))
    })
}
