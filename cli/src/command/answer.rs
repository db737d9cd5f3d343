//! How commands answer: what they print, and their exit status.

use anyhow::Result;
use kiln_codegen::write_whole;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::{exit, ExitCode};

/// As `print!`; where nobody reads any more (`… | head`), the program ends without a complaint.
macro_rules! say {
    ($($text:tt)*) => { $crate::command::answer::print(format_args!($($text)*)) };
}

/// As `println!`, likewise.
macro_rules! sayln {
    ($($text:tt)*) => { $crate::command::answer::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// The exit status of an answer.
pub(super) fn status(good: bool) -> ExitCode {
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints to standard output.
pub(super) fn print(text: fmt::Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit(0),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: standard output: {error}");
            exit(1)
        }
    }
}

/// The file to write; `None` for `-`, which stands for standard output.
pub(super) fn file(path: &Path) -> Option<&Path> {
    (path.as_os_str() != "-").then_some(path)
}

/// Writes a file and says so, or prints the text where there is none.
pub(super) fn write_or_print(path: Option<&Path>, text: &str) -> Result<ExitCode> {
    match path.and_then(file) {
        Some(path) => {
            write_whole(path, text)?;
            sayln!("{}", path.display());
        }
        None => say!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}
