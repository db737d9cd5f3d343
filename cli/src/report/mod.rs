//! `cargo kiln report`: everything about a compiled model, on one page.
//!
//! A [`Report`] is gathered once; [`Report::text`], [`Report::json`] and [`Report::page`] are views of it.

mod data;
mod gather;
mod page;
mod reads;
mod text;
mod words;

pub use data::*;
pub(crate) use text::advice;

use crate::place::{build_firmware, emulated, for_board};
use anyhow::{Context, Result};
use kiln_boards::firmware;
use kiln_boards::image::Image;
use kiln_boards::Board;
use kiln_codegen::front::inspect;
use kiln_codegen::{import_with_drift, model_name, read_file, Compiled, Optimize, Options};
use std::path::Path;

/// Gathers a report. With the name of an emulated board, the model is measured there, layer by layer, and so are the other ways to optimise it.
///
/// # Errors
/// Where the model does not compile, or does not run on the board.
pub fn report(path: &Path, options: &Options, on: Option<&str>) -> Result<Report> {
    let bytes = read_file(path)?;
    let summary = inspect(&bytes)?;
    let options = match on {
        Some(board) => for_board(options, emulated(board).context("cycles are estimated under QEMU")?),
        None => options.clone(),
    };
    let chosen = gather::run(path, &bytes, &options, on, true)?;
    let others = Optimize::NAMES.iter().filter(|name| **name != options.optimize.name());
    let mut modes = vec![gather::mode(&chosen)];
    for name in others {
        let options = Options { optimize: name.parse()?, ..options.clone() };
        modes.push(match gather::run(path, &bytes, &options, on, false) {
            Ok(other) => Mode { chosen: false, ..gather::mode(&other) },
            Err(error) => gather::failed_mode(options.optimize, &error),
        });
    }
    let (imported, drift) = import_with_drift(&bytes, &model_name(path), &options)?;
    let mut report = gather::report(&summary, &imported, drift.as_ref(), &chosen, modes, on);
    if let Some(board) = on {
        report.certificate.push(linked(&chosen.compiled, emulated(board)?)?);
    }
    Ok(report)
}

/// What the firmware that was measured contains.
fn linked(compiled: &Compiled, board: &Board) -> Result<Claim> {
    let image = Image::read(&build_firmware(compiled, board, firmware::Mode::Bench)?.elf)?;
    let unwanted: Vec<&str> = image.unwanted().into_iter().map(|symbol| symbol.name.as_str()).collect();
    let functions = image.symbols().iter().filter(|symbol| symbol.function).count();
    Ok(Claim {
        claim: "The firmware that was measured has no function that only a panic, formatting or allocation can need",
        holds: functions > 0 && unwanted.is_empty(),
        evidence: match unwanted.is_empty() {
            true => format!("the names of its {functions} functions were looked at"),
            false => format!("it has {}", unwanted.join(", ")),
        },
    })
}

impl Report {
    /// For programs.
    ///
    /// # Errors
    /// Never, as all keys are strings; the type is that of the serialiser.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
