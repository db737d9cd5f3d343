//! Where Kiln's own crates come from.

use anyhow::Result;
use clap::Args;
use kiln_boards::Source;
use std::path::PathBuf;

/// What commands that build with Kiln's crates, or write a crate that does, have in common.
#[derive(Args)]
pub(super) struct KilnArgs {
    /// The checkout of Kiln to take its crates from [default: the one that this program was built in, or else the release of its version]
    #[arg(long, value_name = "FOLDER")]
    pub(super) kiln_path: Option<PathBuf>,
}

impl KilnArgs {
    /// Has everything in this process take them from there.
    ///
    /// # Errors
    /// Where the folder is no checkout.
    pub(super) fn prefer(&self) -> Result<()> {
        if let Some(folder) = &self.kiln_path {
            Source::named(folder)?.prefer();
        }
        Ok(())
    }
}
