//! Boards by name: the list of `cargo kiln boards`, and arguments.

use crate::new::{flavours, Flavour};
use clap::builder::PossibleValuesParser;
use kiln_boards::{Board, Runner};
use std::fmt::Write;

/// A line for each board: its name, what runs it, which templates `cargo kiln new` has for it, and what it is.
pub fn table() -> String {
    let rows: Vec<[String; 4]> = Board::all().iter().map(row).collect();
    let heading = ["board", "runs on", "templates", "what it is"].map(str::to_owned);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (names, runners, templates) = (width(0), width(1), width(2));
    let mut out = String::new();
    for [name, runner, flavours, description] in [heading].iter().chain(&rows) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:<names$}  {runner:<runners$}  {flavours:<templates$}  {description}");
    }
    out
}

fn row(board: &Board) -> [String; 4] {
    let runner = match &board.runner {
        Runner::Qemu { .. } => "QEMU",
        Runner::ProbeRs { .. } => "debug probe",
    };
    let flavours: Vec<&str> = flavours(board).into_iter().map(Flavour::name).collect();
    [board.name.clone(), runner.into(), flavours.join(", "), board.description.clone()]
}

/// An argument that names a board: a wrong one is told which there are.
pub fn any() -> PossibleValuesParser {
    PossibleValuesParser::new(names(|_| true))
}

/// An argument that names an emulated board.
pub fn emulated() -> PossibleValuesParser {
    PossibleValuesParser::new(names(Board::is_emulated))
}

fn names(which: fn(&Board) -> bool) -> impl Iterator<Item = &'static str> {
    Board::all().iter().filter(move |board| which(board)).map(|board| board.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_has_a_line() {
        let table = table();
        assert_eq!(table.lines().count(), 1 + Board::all().len());
        let line = table.lines().find(|line| line.starts_with("nrf52840-dk ")).unwrap();
        assert!(line.contains("debug probe  bare, embassy, rtic  Nordic nRF52840-DK"), "{line}");
    }
}
