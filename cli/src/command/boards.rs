//! `cargo kiln boards`.

use anyhow::Result;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
docs/boards.md explains how to add a board.

Examples:
  cargo kiln boards
  cargo kiln boards | grep nrf";

pub(super) fn run() -> Result<ExitCode> {
    say!("{}", cargo_kiln::boards::table());
    Ok(ExitCode::SUCCESS)
}
