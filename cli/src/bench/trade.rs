//! Several ways to optimise one model, side by side.

use super::text::per_mac;
use super::Report;
use serde_json::Value;
use std::fmt::Write;

/// One table: what each report's model costs in cycles, flash and RAM.
pub fn trade(reports: &[Report]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut out = format!(
        "{} on {}: cycles estimated ({}), memory in bytes\n\n\
         {:<8}  {:>12}  {:>12}  {:>6}  {:>8}  {:>9}  {:>8}  {:>8}  {:>8}  {:>6}\n",
        first.model(),
        first.board,
        first.result.core.estimate(),
        "optimize",
        "instructions",
        "cycles",
        "c/MAC",
        "code",
        "constants",
        "weights",
        "arena",
        "state",
        "stack"
    );
    for report in reports {
        let (result, plan) = (&report.result, &report.compiled.plan);
        let macs = report.macs().filter(|macs| *macs > 0);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:<8}  {:>12}  {:>12}  {:>6}  {:>8}  {:>9}  {:>8}  {:>8}  {:>8}  {:>6}",
            report.compiled.options.optimize.name(),
            result.total.instructions,
            result.total.cycles,
            macs.map_or("–".into(), |macs| per_mac(result.total.cycles, macs)),
            result.flash.model_code,
            result.flash.constants,
            result.flash.weights,
            plan.arena_bytes + plan.fast_bytes.unwrap_or(0),
            plan.state_bytes,
            result.stack_bytes
        );
    }
    out + "\ncode is that of the model and its kernels; start-up and harness are not in it\n"
}

/// All of them for programs.
pub fn trade_json(reports: &[Report]) -> Value {
    reports.iter().map(Report::json).collect()
}
