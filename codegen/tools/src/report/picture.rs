//! Pictures of a schedule and its plan, as SVG.

use super::memory::{buffer_names, computed};
use kiln_codegen::schedule::geometry::needs;
use kiln_codegen::schedule::{BufferId, Feed, Pipeline, StepKind};
use kiln_codegen::Compiled;
use kiln_ir::{NodeId, ValueDef, ValueId};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// Ticks that are drawn at most, from the first on.
const MOST_TICKS: usize = 32;

/// Width and height of a row of a value, in pixels.
const CELL: (usize, usize) = (22, 20);
/// Width of the names on the left.
const NAMES: usize = 210;
/// Height of the picture of an arena.
const ARENA: usize = 260;
/// Colours of buffers, in turn.
const COLOURS: [&str; 6] = ["#8ecae6", "#ffb703", "#90be6d", "#f28482", "#cdb4db", "#f6bd60"];

/// A pipeline over time: a column for each tick, a line for each step, in each cell the row that is computed. Coloured are the rows that one
/// row of the last step is computed from. `None` if there is no such pipeline.
pub fn pipeline(compiled: &Compiled, index: usize) -> Option<String> {
    let pipeline = compiled.schedule.pipelines.get(index)?;
    Some(svg(|out| draw_pipeline(out, compiled, pipeline)))
}

/// The arena over time: a column for each step, a box for each buffer, as high as it has bytes. A fast arena lies below the other.
pub fn arena(compiled: &Compiled) -> String {
    svg(|out| draw_arena(out, compiled))
}

/// Width and height of what was drawn.
type Size = (usize, usize);

pub(crate) fn svg(draw: impl Fn(&mut String) -> Result<Size, fmt::Error>) -> String {
    let mut body = String::new();
    // Writing to a string cannot fail.
    let (width, height) = draw(&mut body).unwrap_or_default();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// A row of a value that is computed in a pipeline.
type Row = (ValueId, usize);

/// A line of a pipeline's picture.
struct Lane {
    name: String,
    value: ValueId,
    /// Its rows, each with its tick.
    rows: Vec<(usize, usize)>,
}

fn lanes(compiled: &Compiled, pipeline: &Pipeline, ticks: usize) -> Vec<Lane> {
    let (graph, schedule) = (&compiled.graph, &compiled.schedule);
    let mut lanes = Vec::new();
    let held = |value: ValueId| {
        let place = schedule.storage.place(value);
        match place.and_then(|place| Some((place.ring?, schedule.storage.is_shared(place)))) {
            Some((rows, true)) => format!(", shared ring of {rows} rows"),
            Some((1, false)) => ", 1 row held".to_string(),
            Some((rows, false)) => format!(", {rows} rows held"),
            None => String::new(),
        }
    };
    if let (Feed::Rows | Feed::Sliding, Some(&input)) = (pipeline.feed, graph.inputs.first()) {
        let rows = (0..ticks).map(|tick| (tick, tick)).collect();
        lanes.push(Lane { name: format!("input{}", held(input)), value: input, rows });
    }
    for index in pipeline.steps.clone() {
        let Some(step) = schedule.steps.get(index) else { continue };
        let (StepKind::Compute(node) | StepKind::Absorb { node, .. }) = step.kind else { continue };
        let value = graph.node(node).result;
        let due = |tick| step.due(tick, false).into_iter().flatten().map(move |row| (row, tick));
        let held = match step.kind {
            StepKind::Absorb { .. } => ", into sums".into(),
            _ => held(value),
        };
        let name = format!("{index} {}{held}", computed(compiled, index).0);
        lanes.push(Lane { name, value, rows: (0..ticks).flat_map(due).collect() });
    }
    lanes
}

/// The row, and all rows in the pipeline that it is computed from.
fn cone(compiled: &Compiled, last: Row) -> BTreeSet<Row> {
    let graph = &compiled.graph;
    let mut found = BTreeSet::from([last]);
    let mut todo = vec![last];
    while let Some((value, row)) = todo.pop() {
        let ValueDef::Node(node) = graph.value(value).def else { continue };
        for (k, &operand) in graph.node(node).operands.iter().enumerate() {
            for row in needed(compiled, node, k, row) {
                if found.insert((operand, row)) {
                    todo.push((operand, row));
                }
            }
        }
    }
    found
}

/// The rows of an operand behind a row; of a node that absorbs, the row that it takes then.
fn needed(compiled: &Compiled, node: NodeId, operand: usize, row: usize) -> std::ops::Range<usize> {
    let absorbs = |kind: &StepKind| matches!(kind, StepKind::Absorb { node: n, .. } if *n == node);
    match compiled.schedule.steps.iter().any(|step| absorbs(&step.kind)) {
        true => row..row + 1,
        false => needs(&compiled.graph, compiled.graph.node(node), operand, row).unwrap_or(0..0),
    }
}

fn draw_pipeline(out: &mut String, compiled: &Compiled, pipeline: &Pipeline) -> Result<Size, fmt::Error> {
    let ticks = pipeline.ticks.min(MOST_TICKS);
    let lanes = lanes(compiled, pipeline, ticks);
    let last = lanes.last().and_then(|lane| Some((lane.value, lane.rows.get(lane.rows.len() / 2)?.0)));
    let cone = last.map(|row| cone(compiled, row)).unwrap_or_default();
    let (wide, high) = CELL;
    let top = 28;
    for tick in 0..ticks {
        let x = NAMES + tick * wide + wide / 2;
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#888\">{tick}</text>",
            top - 8
        )?;
    }
    writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#888\">tick</text>",
        NAMES - 8,
        top - 8
    )?;
    for (index, lane) in lanes.iter().enumerate() {
        let y = top + index * (high + 6);
        let name = escape(&lane.name);
        writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{name}</text>", NAMES - 8, y + 14)?;
        for &(row, tick) in &lane.rows {
            let x = NAMES + tick * wide;
            let fill = if cone.contains(&(lane.value, row)) { COLOURS[1] } else { "#e9eef2" };
            writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{high}\" rx=\"3\" fill=\"{fill}\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{row}</text>",
                wide - 2,
                x + wide / 2 - 1,
                y + 14
            )?;
        }
    }
    Ok((NAMES + ticks * wide + 10, top + lanes.len() * (high + 6) + 6))
}

fn draw_arena(out: &mut String, compiled: &Compiled) -> Result<Size, fmt::Error> {
    let (plan, storage) = (&compiled.plan, &compiled.schedule.storage);
    let steps = compiled.schedule.steps.len();
    let wide = (900 / (steps + 2)).clamp(14, 60);
    let (left, top) = (60, 20);
    let pixels = |bytes: usize| bytes * ARENA / plan.scratch_bytes().max(1);
    for time in 0..steps + 2 {
        let x = left + time * wide + wide / 2;
        let name = match time {
            0 => "in".into(),
            _ if time == steps + 1 => "out".into(),
            _ => (time - 1).to_string(),
        };
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#888\">{name}</text>",
            top - 6
        )?;
    }
    for (bytes, y) in [(0, top + 10), (plan.scratch_bytes(), top + ARENA)] {
        writeln!(
            out,
            "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" fill=\"#888\">{bytes} B</text>",
            left - 6
        )?;
    }
    let names = buffer_names(compiled);
    for (index, name) in names.iter().enumerate() {
        let buffer = storage.buffer(BufferId(index as u32));
        if !buffer.role.in_arena() || buffer.bytes == 0 {
            continue;
        }
        let life = plan.lifetimes[index];
        let (behind, arena) =
            if plan.fast[index] { (plan.arena_bytes, " in the fast arena") } else { (0, "") };
        let (x, y) = (left + life.first * wide, top + pixels(behind + plan.offsets[index]));
        let (w, h) = ((life.last + 1 - life.first) * wide, pixels(buffer.bytes).max(1));
        let colour = COLOURS[index % COLOURS.len()];
        let title = escape(&format!("{name}: {} B at {}{arena}", buffer.bytes, plan.offsets[index]));
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{colour}\" fill-opacity=\"0.6\" stroke=\"#555\"><title>{title}</title></rect>"
        )?;
        if h >= 12 {
            let label = format!("{} {} B", last_part(name), buffer.bytes);
            let label: String = label.chars().take(w.saturating_sub(4) / 6).collect();
            let label = escape(&label);
            writeln!(out, "<text x=\"{}\" y=\"{}\">{label}</text>", x + 3, y + h / 2 + 4)?;
        }
    }
    for pipeline in &compiled.schedule.pipelines {
        let x = left + (pipeline.steps.start + 1) * wide;
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"{}\" height=\"4\" fill=\"#555\"><title>pipeline</title></rect>",
            top + ARENA + 6,
            pipeline.steps.len() * wide
        )?;
    }
    Ok((left + (steps + 2) * wide + 10, top + ARENA + 18))
}

/// The last part of a name.
fn last_part(name: &str) -> &str {
    name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name)
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{compiled, CHAIN};
    use kiln_codegen::Input;

    #[test]
    fn the_rows_behind_a_row_are_coloured() {
        let compiled = compiled(CHAIN, Input::Rows);
        let mean = compiled.graph.outputs[0];
        let rows = cone(&compiled, (mean, 4));
        let of = |name: &str| -> Vec<usize> {
            let named = rows.iter().filter(|(id, _)| compiled.graph.value(*id).label() == name);
            named.map(|&(_, row)| row).collect()
        };
        // A window of three rows around row 4.
        assert_eq!((of("b"), of("a"), of("x")), (vec![4], vec![4], vec![3, 4, 5]));
        let picture = pipeline(&compiled, 0).unwrap();
        assert_eq!(picture.matches(COLOURS[1]).count(), rows.len());
        assert!(pipeline(&compiled, 1).is_none());
    }

    #[test]
    fn arenas_have_a_box_for_each_buffer() {
        let compiled = compiled(CHAIN, Input::Whole);
        let scratch = compiled.schedule.storage.buffers.iter().filter(|b| b.role.in_arena()).count();
        assert_eq!(arena(&compiled).matches("<title>").count(), scratch);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escape("a<b>&\"\n"), "a&lt;b&gt;&amp;&quot; ");
        assert_eq!(last_part("model/conv/Relu"), "Relu");
    }
}
