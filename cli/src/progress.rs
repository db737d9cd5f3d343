//! How far a long command is.

use std::io::{IsTerminal, Write as _};
use std::sync::Mutex;

/// A bar on standard error, where that is a terminal.
#[derive(Debug, Default)]
pub struct Progress(Mutex<Option<(String, usize)>>);

/// Width of the bar.
const WIDTH: usize = 30;

impl Progress {
    /// Shows how far a step is.
    pub(crate) fn show(&self, step: &str, done: usize, all: usize) {
        let mut error = std::io::stderr();
        if !error.is_terminal() {
            return;
        }
        let Ok(mut shown) = self.0.lock() else { return };
        let filled = done * WIDTH / all.max(1);
        // Threads may tell in another order than they counted; and what looks the same is not drawn again.
        if shown.as_ref().is_some_and(|(old, drawn)| old == step && *drawn >= done && done != all) {
            return;
        }
        let _ = write!(
            error,
            "\r\x1b[K{step:>17} [{}{}] {done}/{all}",
            "#".repeat(filled),
            "-".repeat(WIDTH - filled)
        );
        let _ = error.flush();
        *shown = Some((step.to_owned(), done));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.0.get_mut().is_ok_and(|shown| shown.is_some()) {
            eprint!("\r\x1b[K");
        }
    }
}
