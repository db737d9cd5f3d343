//! `cargo kiln boards`.

use anyhow::Result;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
A board is data: docs/boards.md says how to add one.

Examples:
  cargo kiln boards
  cargo kiln boards | grep nrf";

pub(super) fn run() -> Result<ExitCode> {
    say!("{}", cargo_kiln::boards::table());
    Ok(ExitCode::SUCCESS)
}
