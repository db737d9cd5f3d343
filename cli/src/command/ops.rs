//! `cargo kiln ops`.

use anyhow::Result;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
`cargo kiln explain MODEL` shows which operators of a model compile, and why others do not.

Examples:
  cargo kiln ops
  cargo kiln ops CONV_2D FULLY_CONNECTED";

/// What `ops` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Operators whose kernels are listed [default: a table of all operators]
    operators: Vec<String>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let text = match self.operators.as_slice() {
            [] => cargo_kiln::ops::table(),
            operators => cargo_kiln::ops::kernels(operators)?,
        };
        say!("{text}");
        Ok(ExitCode::SUCCESS)
    }
}
