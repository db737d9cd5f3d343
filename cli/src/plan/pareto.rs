//! The front of RAM, cycles and flash, for people and for programs.

use kiln_tools::pareto::Point;
use serde_json::{json, Value};
use std::fmt::Write;

/// A table with the flags that give each point.
pub fn pareto_text(model: &str, target: &str, points: &[Point]) -> String {
    let mut out = format!(
        "{model} for {target}: nothing else has less RAM, cycles and constants than one of these\n\n"
    );
    out += "     RAM B  predicted cycles  constants B  flags\n";
    for point in points {
        let flags: Vec<String> = point
            .options
            .iter()
            .map(|(name, value)| format!("--{} {value}", name.replace('_', "-")))
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:>10} {:>17} {:>12}  {}",
            point.ram_bytes,
            point.cycles,
            point.constant_bytes,
            flags.join(" ")
        );
    }
    let unknown = points.iter().map(|point| point.steps_without_prediction).max().unwrap_or(0);
    if unknown > 0 {
        let _ = writeln!(out, "\nOf up to {unknown} steps no cycles are predicted. They are not counted.");
    }
    out + "\nCode is not counted: `cargo kiln bench MODEL --optimize speed,size,memory` measures it, and cycles.\n"
}

/// The same for programs.
pub fn pareto_json(model: &str, target: &str, points: &[Point]) -> Value {
    let points: Vec<Value> = points.iter().map(Point::json).collect();
    json!({ "model": model, "target": target, "points": points })
}
