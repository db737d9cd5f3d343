//! The graph as compiled, drawn: a box for each step, from top to bottom in the order of execution.

use super::{scroll, short, text_width, FONT, SMALL};
use crate::report::whole::{Read, Report, Step};
use maud::{html, Markup};

/// Height of a box and the gap below it, and width of a box.
const ROW: usize = 62;
const BOX: usize = 46;
const WIDE: usize = 310;
/// Width of a lane for what is read later than by the next step, and how many there are at most.
const LANE: usize = 9;
const MOST_LANES: usize = 12;

/// Something that is read later than by the next row: between which rows, and the lane that it is drawn in.
struct Skip {
    from: usize,
    to: usize,
    lane: usize,
}

impl Report {
    pub(super) fn graph_section(&self) -> Markup {
        html! {
            p {
                "A box is a step, with the operators of the file whose work it does below its name; those that do the work of several have a thick edge. \
                 Boxes lead to their layers."
                @if !self.pipelines.is_empty() { " Steps beside a bar take turns, a few rows at a time." }
            }
            (scroll("Graph as compiled", self.graph_picture()))
            @if !self.without_step.is_empty() {
                details {
                    summary { "Operators without a step (" (self.without_step.len()) ")" }
                    ul { @for operator in &self.without_step { li { code { (operator.operator) } ": " (operator.why) } } }
                }
            }
        }
    }

    fn graph_picture(&self) -> Markup {
        let inputs = self.model.inputs.len();
        let (near, skips) = self.edges(inputs);
        let lanes = skips.iter().map(|skip| skip.lane + 1).max().unwrap_or(0);
        let left = 8 + lanes * LANE;
        let (width, height) = (left + WIDE + 14, (inputs + self.steps.len()) * ROW);
        let middle = left + WIDE / 2;
        html! {
            svg.graph viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="group" aria-label="Steps and what they read" {
                @for row in near {
                    @let y = row * ROW + BOX;
                    path.edge d={ "M" (middle) " " (y) "V" (y + ROW - BOX) } {}
                }
                @for Skip { from, to, lane } in &skips {
                    @let x = left - 4 - lane * LANE;
                    @let (start, end) = (from * ROW + BOX - 12, to * ROW + 12);
                    path.edge d={ "M" (left) " " (start) "H" (x) "V" (end) "H" (left) } {}
                }
                @for (row, input) in self.model.inputs.iter().enumerate() {
                    g.input {
                        rect x=(left) y=(row * ROW) width=(WIDE) height=(BOX) rx="22" {}
                        text x=(left + 18) y=(row * ROW + 19) { (short(&format!("input {}", input.name), WIDE - 36, FONT)) }
                        text.small x=(left + 18) y=(row * ROW + 37) { (input.ty) }
                    }
                }
                @for (index, step) in self.steps.iter().enumerate() {
                    (picture(step, (left, (inputs + index) * ROW)))
                }
                @for pipeline in &self.pipelines {
                    @let top = (inputs + pipeline.first_step) * ROW;
                    path.pipeline d={ "M" (left + WIDE + 8) " " (top) "v" (pipeline.steps * ROW - (ROW - BOX)) } {
                        title { "Steps " (pipeline.first_step) " to " (pipeline.first_step + pipeline.steps - 1) " take turns, " (pipeline.ticks) " times" }
                    }
                }
            }
        }
    }

    /// The rows that the next one reads, and everything that is read later.
    fn edges(&self, inputs: usize) -> (Vec<usize>, Vec<Skip>) {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for (index, step) in self.steps.iter().enumerate() {
            let to = inputs + index;
            for read in &step.reads {
                let from = match read {
                    Read::Input(name) => self.model.inputs.iter().position(|input| input.name == *name),
                    Read::Step(step) => Some(inputs + step),
                    Read::State(_) => None,
                };
                match from {
                    Some(from) if from + 1 == to => near.push(from),
                    Some(from) if from < to => far.push((from, to)),
                    _ => {}
                }
            }
        }
        // The short ones next to the boxes.
        far.sort_by_key(|&(from, to)| (to - from, from));
        let mut skips: Vec<Skip> = Vec::new();
        for (from, to) in far {
            let free = |lane: &usize| {
                skips.iter().all(|s| s.lane != *lane || s.to <= from || to <= s.from || s.from == from)
            };
            let lane = (0..MOST_LANES).find(free).unwrap_or(MOST_LANES - 1);
            skips.push(Skip { from, to, lane });
        }
        (near, skips)
    }
}

fn picture(step: &Step, (x, y): (usize, usize)) -> Markup {
    let class = if step.holds.len() > 1 { "step fused" } else { "step" };
    let holds = step.holds.join(" + ");
    let name = short(&format!("{} {}", step.step, step.op), WIDE - 20, FONT);
    // Bold letters are a little wider.
    let room = (WIDE - 20).saturating_sub(text_width(&name, FONT) * 11 / 10 + 6);
    let reads: Vec<String> = step.reads.iter().map(Read::to_string).collect();
    html! {
        a href={ "#step-" (step.step) } class=(class) {
            title { "Step " (step.step) ", " (step.op) " " (step.name) ": " (holds) "; reads " (reads.join(", ")) }
            rect x=(x) y=(y) width=(WIDE) height=(BOX) rx="6" {}
            text x=(x + 10) y=(y + 19) { tspan.strong { (name) } " " (short(&step.result, room, FONT)) }
            text.small x=(x + 10) y=(y + 37) { (short(if holds.is_empty() { &step.name } else { &holds }, WIDE - 20, SMALL)) }
        }
    }
}
