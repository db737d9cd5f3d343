//! `cargo kiln report`: everything about a compiled model, on one page.

pub use kiln_tools::report::whole::*;

use crate::bench;
use crate::place::{build_firmware, emulated, for_board};
use anyhow::{Context, Result};
use kiln_boards::firmware;
use kiln_boards::image::Image;
use kiln_boards::Board;
use kiln_codegen::{compile, model_name, read_file, Compiled, Options};
use kiln_tools::report::whole;
use std::path::Path;

/// Gathers a report. With the name of an emulated board, the model is measured there, layer by layer, and so are the other ways to optimise it.
///
/// # Errors
/// Where the model does not compile, or does not run on the board.
pub fn report(path: &Path, options: &Options, on: Option<&str>) -> Result<Report> {
    let bytes = read_file(path)?;
    let name = model_name(path);
    let options = match on {
        Some(board) => for_board(options, emulated(board).context("cycles are estimated under QEMU")?),
        None => options.clone(),
    };
    let (mut report, compiled) = whole::report(&bytes, &name, &options, |options, per_layer| match on {
        Some(board) => measured(path, options, board, per_layer),
        None => Ok(Run { compiled: compile(&bytes, &name, options)?, bench: None }),
    })?;
    if let Some(board) = on {
        report.certificate.push(linked(&compiled, emulated(board)?)?);
    }
    Ok(report)
}

/// A model on an emulated board.
fn measured(path: &Path, options: &Options, board: &str, per_layer: bool) -> Result<Run> {
    let bench = bench::bench(path, options, board, per_layer)?;
    let result = bench.result();
    let total = Measured {
        instructions: result.total.instructions,
        cycles: result.total.cycles,
        stack_bytes: result.stack_bytes,
        code_bytes: result.flash.model_code,
        flash_const_bytes: result.flash.constants,
    };
    let steps = bench.step_counts();
    let steps =
        steps.map(|(step, count)| (step, Count { instructions: count.instructions, cycles: count.cycles }));
    let of = Bench { on: board.into(), total, on_boards: bench.on_boards(), steps: steps.collect() };
    Ok(Run { compiled: bench.compiled().clone(), bench: Some(of) })
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
