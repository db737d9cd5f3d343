//! Several ways to optimise one model, side by side.

use super::costs::Benchmark;
use super::layers::per_mac;
use kiln_tools::number::grouped;
use kiln_tools::report::on_board::{self, OnBoard};
use serde_json::Value;
use std::fmt::Write;

/// One table: what each report's model costs in cycles, flash and RAM.
pub fn trade(reports: &[impl Benchmark]) -> String {
    let Some(first) = reports.first().map(Benchmark::costs) else { return String::new() };
    let mut out = format!(
        "{} on {}: cycles {}, memory in bytes\n\n\
         {:<8}  {:>13}  {:>13}  {:>6}  {:>8}  {:>9}  {:>9}  {:>9}  {:>8}  {:>6}\n",
        first.compiled.graph.name,
        first.board,
        first.clock,
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
        let costs = report.costs();
        let plan = &costs.compiled.plan;
        let macs = costs.macs().filter(|macs| *macs > 0);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:<8}  {:>13}  {:>13}  {:>6}  {:>8}  {:>9}  {:>9}  {:>9}  {:>8}  {:>6}",
            costs.compiled.options.optimize.name(),
            costs.instructions.map_or("–".into(), grouped),
            grouped(costs.cycles),
            macs.map_or("–".into(), |macs| per_mac(costs.cycles, macs)),
            grouped(costs.flash.model_code),
            grouped(costs.flash.constants),
            grouped(costs.flash.weights),
            grouped((plan.arena_bytes + plan.fast_bytes.unwrap_or(0)) as u64),
            grouped(plan.state_bytes as u64),
            grouped(costs.stack_bytes)
        );
    }
    let each = reports.iter().map(Benchmark::costs);
    let on_boards: Vec<(&str, Vec<OnBoard>)> =
        each.map(|costs| (costs.compiled.options.optimize.name(), costs.on_boards)).collect();
    out += "\ncode: the model and its kernels, without start-up code and harness\n\n";
    out + first.on_boards_title + ":\n" + &on_board::table(&on_boards)
}

/// All of them for programs.
pub fn trade_json(reports: &[impl Benchmark]) -> Value {
    reports.iter().map(Benchmark::json).collect()
}
