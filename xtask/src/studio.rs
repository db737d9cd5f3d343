//! `cargo xtask studio`: the page that compiles models in the browser.
use crate::step::{cargo, root, run, Failure};
use crate::test::WEB_TARGET;
use kiln_boards::toolchain;
use std::path::Path;

/// Writes the page: `index.html` in that folder.
pub(crate) fn build(folder: &Path) -> Result<(), Failure> {
    let mut build = cargo(&root().join("studio"), &["run", "--quiet", "--"]);
    toolchain::ensure_target(WEB_TARGET)?.apply(&mut build);
    run("studio", build.arg(folder))
}
