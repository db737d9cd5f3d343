//! Everything about a compiled model, on one page.
//!
//! A [`Report`] is gathered once; [`Report::text`], [`Report::json`] and [`Report::page`] are views of it.

mod data;
mod gather;
mod page;
mod reads;
mod text;
mod words;

pub use data::*;
pub use text::advice;

use super::on_board::OnBoard;
use kiln_codegen::front::inspect;
use kiln_codegen::{import_with_drift, Compiled, Error, Optimize, Options};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A compiled model, and what it measured, where it was measured.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model.
    pub compiled: Compiled,
    /// What it measured.
    pub bench: Option<Bench>,
}

/// A measurement on an emulated board.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The name of the board.
    pub on: String,
    /// One inference.
    pub total: Measured,
    /// Its cycles as time and energy, on boards that this one stands for.
    pub on_boards: Vec<OnBoard>,
    /// Steps by their indices; empty where they were not measured one by one.
    pub steps: BTreeMap<usize, Count>,
}

/// What a step took.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Executed instructions.
    pub instructions: u64,
    /// Estimated cycles.
    pub cycles: u64,
}

/// Gathers a report, and returns what was compiled for it. `run` compiles, and measures if it can: by layers where it is told so. It is also asked for
/// the other ways to optimise, which may fail.
///
/// # Errors
/// Where the bytes are no sound model, or `run` fails with these options.
pub fn report<E: From<Error> + Display>(
    bytes: &[u8],
    name: &str,
    options: &Options,
    mut run: impl FnMut(&Options, bool) -> Result<Run, E>,
) -> Result<(Report, Compiled), E> {
    let summary = inspect(bytes)?;
    let chosen = run(options, true)?;
    let others = Optimize::NAMES.iter().filter(|name| **name != options.optimize.name());
    let mut modes = vec![gather::mode(&chosen)];
    for name in others {
        let options = Options { optimize: name.parse()?, ..options.clone() };
        modes.push(match run(&options, false) {
            Ok(other) => Mode { chosen: false, ..gather::mode(&other) },
            Err(error) => gather::failed_mode(options.optimize, &error),
        });
    }
    let (imported, drift) = import_with_drift(bytes, name, options)?;
    let report = gather::report(&summary, &imported, drift.as_ref(), &chosen, modes);
    Ok((report, chosen.compiled))
}

impl Report {
    /// For programs.
    ///
    /// # Errors
    /// Never, as all keys are strings; the type is that of the serialiser.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
