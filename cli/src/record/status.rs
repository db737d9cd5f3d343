//! What a person sees while it runs.

use std::io::{stderr, IsTerminal, Write};
use std::time::{Duration, Instant};

/// A line on standard error, where that is a terminal, above the one in which labels are typed.
pub(super) struct Status {
    is_terminal: bool,
    shown: String,
    at: Option<Instant>,
}

impl Status {
    pub(super) fn new() -> Status {
        Status { is_terminal: stderr().is_terminal(), shown: String::new(), at: None }
    }

    pub(super) fn show(&mut self, text: &str) {
        let is_early = self.at.is_some_and(|at| at.elapsed() < Duration::from_millis(300));
        if !self.is_terminal || is_early || text == self.shown {
            return;
        }
        let mut error = stderr();
        // The cursor goes back to where somebody may be typing.
        let room = if self.at.is_none() { "\n" } else { "" };
        let _ = write!(error, "{room}\x1b7\x1b[1A\r\x1b[K{text}\x1b8");
        let _ = error.flush();
        self.shown = text.to_owned();
        self.at = Some(Instant::now());
    }

    /// A line that stays.
    pub(super) fn say(&mut self, line: &str) {
        // In the place of the status, which follows in a line of its own.
        let start = if self.at.is_some() { "\x1b[1A\r\x1b[K" } else { "" };
        let _ = writeln!(stderr(), "{start}{line}");
        self.shown.clear();
        self.at = None;
    }
}
