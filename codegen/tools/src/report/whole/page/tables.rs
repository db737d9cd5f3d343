//! Layers, passes, certificate and modes.

use super::scroll;
use crate::number::grouped;
use crate::report::whole::{Measured, Mode, Report, Step};
use maud::{html, Markup};

impl Report {
    pub(super) fn layers_section(&self) -> Markup {
        let all = self.steps.iter().map(Step::cost).max_by_key(|cost| *cost).unwrap_or(0).max(1);
        let measured = self.options.measured_on.is_some();
        html! {
            p {
                "RAM is what of the arena is in use while a step runs, flash the constants that it reads. Bars compare "
                @if measured { "cycles." } @else { "multiplications; with " code { "--on qemu-cortex-m4" } " they compare cycles." }
            }
            (scroll("Layers", html! {
                table.layers {
                    thead {
                        tr {
                            th scope="col" { "Step" }
                            th.n scope="col" { "MACs" }
                            @if measured { th.n scope="col" { "Cycles" } th.n scope="col" { "per MAC" } }
                            th.n scope="col" { "RAM B" }
                            th.n scope="col" { "Flash B" }
                            th scope="col" { "Kernel" }
                            th scope="col" { "Requantisation" }
                            th scope="col" { "Result" }
                            th scope="col" { "Does" }
                        }
                    }
                    tbody {
                        @for step in &self.steps {
                            tr id={ "step-" (step.step) } {
                                th scope="row" style={ "--share:" (step.cost() * 100 / all) "%" } {
                                    span.bar aria-hidden="true" {}
                                    (step.step) " " (step.op)
                                }
                                td.n { (grouped(step.macs)) }
                                @if measured {
                                    td.n { (step.cycles.map_or("–".into(), grouped)) }
                                    td.n { (per_mac(step.cycles, step.macs)) }
                                }
                                td.n { (grouped(step.ram_bytes as u64)) }
                                td.n { (grouped(step.flash_bytes as u64)) }
                                td.kernel { code { (step.kernels.join(", ")) } }
                                td.wide { (step.requantisation) }
                                td.wide {
                                    code { (step.result) }
                                    @if let Some(rows) = step.ring_rows { ", " (rows) " rows held" }
                                    @if let Some(operand) = &step.in_place_of { ", in place of " (operand) }
                                }
                                td { (step.holds.join(" + ")) " " small { (step.name) } }
                            }
                        }
                    }
                }
            }))
        }
    }

    pub(super) fn passes_section(&self) -> Markup {
        html! {
            p { "Every pass that changed something, in order. What they leave means the same, which tests compare with the interpreter." }
            ol.passes {
                @for pass in &self.passes {
                    li {
                        details {
                            summary { code { (pass.pass) } ": " (pass.effect()) }
                            ul {
                                @for (why, operators) in pass.fates() { li { (why) ": " (operators.join(", ")) } }
                                @if !pass.changed.is_empty() { li { "changed: " (pass.changed.join(", ")) } }
                            }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn advice_section(&self) -> Markup {
        html! {
            @if self.advice.is_empty() {
                p { "No advice: nothing is known that would make the model faster or smaller." }
            } @else {
                p { "By estimates of what it costs on " (self.options.target) ", the most first." }
                ol {
                    @for advice in &self.advice {
                        li {
                            @if !advice.place.is_empty() { strong { (advice.place) } ": " }
                            (advice.what) br; (advice.help) small { (advice.saves()) }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn certificate_section(&self) -> Markup {
        html! {
            p { "What was proven when the model was compiled; what can be checked again was checked again for this page." }
            ul.claims {
                @for claim in &self.certificate {
                    li class=(if claim.holds { "holds" } else { "fails" }) {
                        strong { (if claim.holds { "Proven: " } else { "Not so: " }) (claim.claim) }
                        br; (claim.evidence)
                    }
                }
            }
            h3 { "Not proven" }
            ul { @for what in &self.not_proven { li { (what) } } }
        }
    }

    pub(super) fn modes_section(&self) -> Markup {
        html! {
            (scroll("Modes", html! {
                table {
                    thead {
                        tr {
                            th scope="col" { "Optimise for" }
                            th.n scope="col" { "RAM B" }
                            th.n scope="col" { "Constants B" }
                            th.n scope="col" { "Kernel calls" }
                            th.n scope="col" { "Cycles" }
                            th.n scope="col" { "Code B" }
                            th.n scope="col" { "Stack B" }
                        }
                    }
                    tbody { @for mode in &self.modes { (row(mode)) } }
                }
            }))
        }
    }
}

fn row(mode: &Mode) -> Markup {
    let measured = |of: fn(&Measured) -> u64| mode.measured.as_ref().map_or("–".into(), |m| grouped(of(m)));
    html! {
        tr aria-current=[mode.chosen.then_some("true")] {
            th scope="row" { (mode.optimize) @if mode.chosen { " (this page)" } }
            @match &mode.error {
                Some(error) => td colspan="6" { (error) },
                None => {
                    td.n { (grouped(mode.ram_bytes as u64)) }
                    td.n { (grouped(mode.constant_bytes as u64)) }
                    td.n { (grouped(mode.kernel_calls as u64)) }
                    td.n { (measured(|m| m.cycles)) }
                    td.n { (measured(|m| m.code_bytes)) }
                    td.n { (measured(|m| m.stack_bytes)) }
                }
            }
        }
    }
}

impl Step {
    /// What bars compare.
    fn cost(&self) -> u64 {
        self.cycles.unwrap_or(self.macs)
    }
}

fn per_mac(cycles: Option<u64>, macs: u64) -> String {
    match cycles {
        Some(cycles) if macs > 0 => format!("{:.2}", cycles as f64 / macs as f64),
        _ => "–".into(),
    }
}
