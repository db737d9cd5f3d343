//! The board that a model is measured on.

use anyhow::Result;
use cargo_kiln::boards;
use clap::Args;
use kiln_boards::Board;

/// A board, emulated or real, and its debug probe.
#[derive(Args)]
pub(super) struct BoardArgs {
    /// The board, emulated or real: `cargo kiln boards` lists them
    #[arg(long, visible_alias = "on", default_value = "qemu-cortex-m4", value_parser = boards::any(), hide_possible_values = true)]
    board: String,
    /// Serial number of a real board's debug probe, if there are several
    #[arg(long, value_name = "SERIAL")]
    probe: Option<String>,
}

impl BoardArgs {
    /// The board.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub(super) fn find(&self) -> Result<&'static Board> {
        Ok(Board::find(&self.board)?)
    }

    /// Serial number of its debug probe, where it is named.
    pub(super) fn probe(&self) -> Option<&str> {
        self.probe.as_deref()
    }
}
