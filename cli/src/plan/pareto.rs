//! The front of RAM, cycles and flash, for people and for programs.

use crate::on_board::{on_boards_of, ESTIMATED};
use kiln_codegen::Target;
use kiln_tools::number::{grouped, significant};
use kiln_tools::pareto::Point;
use kiln_tools::report::on_board::OnBoard;
use serde_json::{json, Value};
use std::fmt::Write;

/// A table with the flags that give each point, and one with the time that it takes on boards.
pub fn pareto_text(model: &str, target: Target, points: &[Point]) -> String {
    let mut out = format!(
        "{model} for {}: nothing else has less RAM, cycles and constants than one of these\n\n",
        target.name()
    );
    out += "     RAM B  predicted cycles  constants B  flags\n";
    for point in points {
        let flags: Vec<String> = point
            .options
            .iter()
            .map(|(name, value)| format!("--{} {value}", name.replace('_', "-")))
            .collect();
        let line = format!(
            "{:>10} {:>17} {:>12}  {}",
            grouped(point.ram_bytes as u64),
            grouped(point.cycles),
            grouped(point.constant_bytes as u64),
            flags.join(" ")
        );
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let unknown = points.iter().map(|point| point.steps_without_prediction).max().unwrap_or(0);
    if unknown > 0 {
        let _ = writeln!(out, "\nOf up to {unknown} steps no cycles are predicted. They are not counted.");
    }
    out += &times(target, points);
    out + "\nCode is not counted: `cargo kiln bench MODEL --optimize speed,size,memory` measures it, and cycles.\n"
}

/// Milliseconds of each point, which its RAM names, on each board; empty where there is none.
fn times(target: Target, points: &[Point]) -> String {
    let each: Vec<Vec<OnBoard>> = points.iter().map(|point| on_boards_of(target, point.cycles)).collect();
    let Some(boards) = each.first().filter(|boards| !boards.is_empty()) else { return String::new() };
    let width = boards.iter().map(|board| board.board.len()).max().unwrap_or(0);
    let mut out = format!("\n{ESTIMATED}, in milliseconds:\n  {:<width$}  {:>5}", "board", "MHz");
    // Writing to a string cannot fail.
    for point in points {
        let _ = write!(out, "  {:>11}", format!("{} B", grouped(point.ram_bytes as u64)));
    }
    for (row, board) in boards.iter().enumerate() {
        let _ =
            write!(out, "\n  {:<width$}  {:>5}", board.board, grouped(u64::from(board.clock_hz / 1_000_000)));
        for on in each.iter().filter_map(|boards| boards.get(row)) {
            let _ = write!(out, "  {:>11}", significant(on.milliseconds));
        }
    }
    out + "\n"
}

/// The same for programs.
pub fn pareto_json(model: &str, target: Target, points: &[Point]) -> Value {
    let point = |point: &Point| {
        let mut value = point.json();
        value["on_boards"] = json!(on_boards_of(target, point.cycles));
        value
    };
    let points: Vec<Value> = points.iter().map(point).collect();
    json!({ "model": model, "target": target.name(), "points": points })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> [Point; 2] {
        let point = |ram_bytes, cycles| Point {
            options: Vec::new(),
            ram_bytes,
            cycles,
            constant_bytes: 32_960,
            steps_without_prediction: 0,
        };
        [point(5_658, 3_840_000), point(12_416, 1_920_000)]
    }

    #[test]
    fn each_point_has_its_time_on_each_board() {
        let text = pareto_text("kws", Target::CortexMDsp, &points());
        let head: Vec<&str> =
            text.lines().find(|line| line.contains("MHz")).unwrap().split_whitespace().collect();
        assert_eq!(head, ["board", "MHz", "5,658", "B", "12,416", "B"]);
        let board: Vec<&str> =
            text.lines().find(|line| line.contains("nrf52840-dk")).unwrap().split_whitespace().collect();
        assert_eq!(board, ["nrf52840-dk", "64", "60.0", "30.0"]);
        let json = pareto_json("kws", Target::CortexMDsp, &points());
        let boards = json["points"][1]["on_boards"].as_array().unwrap();
        assert!(
            boards.iter().any(|on| on["board"] == "nrf52840-dk" && on["milliseconds"] == 30.0),
            "{boards:?}"
        );
    }

    #[test]
    fn a_target_that_no_board_stands_for_has_no_times() {
        assert!(!pareto_text("kws", Target::Portable, &points()).contains("MHz"));
    }
}
