//! The plan for people.

use crate::on_board::{predicted, ESTIMATED};
use kiln_codegen::schedule::{Feed, Pipeline, Role};
use kiln_codegen::search::Alternative;
use kiln_codegen::{Compiled, Float};
use kiln_tools::report::memory::{self, Row};
use kiln_tools::report::on_board::table;
use kiln_tools::report::schedule::{self, Held, Line};
use kiln_tools::report::{in_front, packed};
use std::fmt::Write;

/// One line about a compiled model.
pub fn summary(compiled: &Compiled) -> String {
    let fast = compiled.plan.fast_bytes.map_or(String::new(), |bytes| format!("fast arena {bytes} B, "));
    let packed = match packed::saved(compiled) {
        0 => String::new(),
        saved => format!(" ({saved} B saved by packed weights)"),
    };
    let floats = match compiled.options.float {
        Float::Fast => "",
        Float::Reproducible => ", reproducible floats",
    };
    format!(
        "type {}, {} steps, {fast}arena {} B ({}), state {} B, constants {} B{packed}{floats}",
        compiled.type_name(),
        compiled.schedule.steps.len(),
        compiled.plan.arena_bytes,
        bound(compiled),
        compiled.plan.state_bytes,
        compiled.program.constant_bytes(),
    )
}

/// The plan as tables: schedule, arena, overlaps, alternatives.
pub fn text(compiled: &Compiled) -> String {
    let mut out = summary(compiled) + "\n" + &schedule_text(compiled);
    let rows = memory::rows(compiled);
    // Writing to a string cannot fail.
    let _ = arena(&mut out, &rows);
    let _ = state(&mut out, compiled);
    let _ = overlaps(&mut out, compiled);
    let _ = alternatives(&mut out, &compiled.alternatives);
    let (boards, unknown) = predicted(compiled);
    if boards.is_empty() {
        return out;
    }
    let without = match unknown {
        0 => String::new(),
        count => format!(" (of {count} steps nothing is predicted: they count as nothing)"),
    };
    format!("{out}\n{ESTIMATED}, by predicted cycles{without}:\n{}", table(&[("", boards)]))
}

/// The schedule as a table.
pub fn schedule_text(compiled: &Compiled) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = inputs(&mut out, compiled);
    let _ = steps(&mut out, compiled);
    out
}

fn inputs(out: &mut String, compiled: &Compiled) -> std::fmt::Result {
    let feed = match compiled.schedule.feed() {
        Feed::Whole => "at once",
        Feed::Rows => "row by row",
        Feed::Sliding => "row by row, without end",
    };
    for &id in &compiled.graph.inputs {
        let held = schedule::held(compiled, id).map_or("unused".into(), |h| place(&h));
        writeln!(out, "input {:?} {feed}: {held}", compiled.graph.value(id).label())?;
    }
    for front in in_front(compiled) {
        writeln!(out, "in front: {front}")?;
    }
    Ok(())
}

fn steps(out: &mut String, compiled: &Compiled) -> std::fmt::Result {
    let lines = schedule::lines(compiled);
    let width = lines.iter().map(|l| l.op.len()).max().unwrap_or(0);
    let held: Vec<String> = lines.iter().map(result).collect();
    let wide = held.iter().map(|h| h.len()).max().unwrap_or(0);
    writeln!(out, "\nstep  {:<width$}  rows  when                  {:<wide$}  of", "op", "result")?;
    let mut before = None;
    for (line, held) in lines.iter().zip(&held) {
        if line.pipeline != before {
            before = line.pipeline;
            match line.pipeline.and_then(|p| compiled.schedule.pipelines.get(p)) {
                Some(pipeline) => writeln!(out, "      {}", headline(pipeline))?,
                None => writeln!(out, "      one after the other:")?,
            }
        }
        let when = match line.pipeline {
            Some(_) => when(line),
            None => String::new(),
        };
        let name = short(&line.name);
        writeln!(
            out,
            "{:>4}  {:<width$}  {:>4}  {when:<20}  {held:<wide$}  {name:?}",
            line.step, line.op, line.rows
        )?;
    }
    Ok(())
}

fn headline(pipeline: &Pipeline) -> String {
    let feed = match pipeline.feed {
        Feed::Whole => "",
        Feed::Rows => ", an input row before each",
        Feed::Sliding => " until the first window is complete, an input row before each",
    };
    format!("in turns, {} ticks{feed}:", pipeline.ticks)
}

/// `1 at 3, 5, …`: how many rows at a time, and the ticks.
fn when(line: &Line) -> String {
    let beat = line.beat;
    let bands = beat.again.map_or(line.rows.div_ceil(beat.band.max(1)), |again| again.times);
    match bands {
        0 | 1 => format!("{} at {}", beat.band, beat.first),
        2 => format!("{} at {}, {}", beat.band, beat.first, beat.first + beat.every),
        _ => format!("{} at {}, {}, …", beat.band, beat.first, beat.first + beat.every),
    }
}

/// Where a step's result is.
fn result(line: &Line) -> String {
    let place = place(&line.held);
    let in_place = match &line.in_place_of {
        Some(operand) => format!(", in place of {:?}", short(operand)),
        None => String::new(),
    };
    let absorbs = line.absorbs.map_or(String::new(), |bytes| format!(", through sums of {bytes} B"));
    format!("{place}{in_place}{absorbs}")
}

fn place(held: &Held) -> String {
    let kind = match held.role {
        Role::Scratch => "",
        Role::Transient => ", within a tick",
        Role::State(_) => ", state",
        Role::Retained => ", retained",
    };
    match held.ring {
        Some(1) => format!("{} B, ring of 1 row{kind}", held.bytes),
        Some(rows) if held.shared => format!("{} B, shared ring of {rows} rows{kind}", held.bytes),
        Some(rows) => format!("{} B, ring of {rows} rows{kind}", held.bytes),
        None => format!("{} B{kind}", held.bytes),
    }
}

fn arena(out: &mut String, rows: &[Row]) -> std::fmt::Result {
    let most = rows.iter().map(|r| r.live_bytes).max().unwrap_or(0);
    writeln!(out, "\nsteps    live bytes  arena (offset..end name)")?;
    for same in rows.chunk_by(|a, b| a.buffers == b.buffers) {
        let [first, ..] = same else { continue };
        let mark = if first.live_bytes == most { '*' } else { ' ' };
        let buffers: Vec<String> = first
            .buffers
            .iter()
            .map(|b| {
                let arena = if b.fast { "fast " } else { "" };
                format!("{arena}{}..{} {:?}", b.offset, b.offset + b.bytes, short(&b.name))
            })
            .collect();
        let steps = range(first.step, same.len());
        writeln!(out, "{steps:<8} {:>10}{mark} {}", first.live_bytes, buffers.join("  "))?;
    }
    writeln!(out, "\n* the peak")
}

fn state(out: &mut String, compiled: &Compiled) -> std::fmt::Result {
    let retained = memory::retained(compiled);
    if retained.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nstate (offset..end name)")?;
    for region in retained {
        let rows = region.ring.map_or(String::new(), |rows| format!("  ring of {rows} rows"));
        writeln!(out, "{}..{} {:?}{rows}", region.offset, region.offset + region.bytes, short(&region.name))?;
    }
    Ok(())
}

/// `3`, or `3 to 5`: so many steps from the first on.
fn range(first: usize, count: usize) -> String {
    match count {
        0 | 1 => first.to_string(),
        _ => format!("{first} to {}", first + count - 1),
    }
}

fn overlaps(out: &mut String, compiled: &Compiled) -> std::fmt::Result {
    let overlaps = memory::overlaps(compiled);
    if overlaps.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\noverlays: as the rows of one value are read for the last time, those of another take their place"
    )?;
    for overlap in overlaps {
        let steps = range(overlap.steps.start, overlap.steps.len());
        writeln!(
            out,
            "{steps:<8} {:?} begins {} B behind {:?} and shares {} B with it",
            short(&overlap.upper),
            overlap.gap,
            short(&overlap.lower),
            overlap.bytes
        )?;
    }
    Ok(())
}

/// What was tried, the least first.
fn alternatives(out: &mut String, tried: &[Alternative]) -> std::fmt::Result {
    if tried.len() < 2 {
        return Ok(());
    }
    let mut tried: Vec<&Alternative> = tried.iter().collect();
    tried.sort_by_key(|a| (a.arena_bytes + a.state_bytes, a.calls));
    writeln!(out, "\nalternatives\n   arena B  state B  kernel calls  predicted cycles  pipelines (steps)")?;
    for a in tried {
        let mark = if a.kept { '>' } else { ' ' };
        let pipelines: Vec<String> = a.pipelines.iter().map(|&(first, count)| range(first, count)).collect();
        let pipelines = if pipelines.is_empty() { "none".into() } else { pipelines.join(", ") };
        writeln!(
            out,
            "{mark} {:>8} {:>8} {:>13} {:>17}  {pipelines}",
            a.arena_bytes, a.state_bytes, a.calls, a.predicted.cycles
        )?;
    }
    writeln!(out, "\n> kept")
}

/// The last two parts of a long name.
fn short(name: &str) -> &str {
    match name.rmatch_indices('/').nth(1) {
        Some((slash, _)) => &name[slash + 1..],
        None => name,
    }
}

/// How good the packing is.
fn bound(compiled: &Compiled) -> String {
    let (bytes, least) = (compiled.plan.scratch_bytes(), compiled.plan.lower_bound);
    let together = if compiled.plan.fast_bytes.is_some() { "together " } else { "" };
    match bytes <= least {
        true => format!("{together}the least possible with this schedule"),
        false => format!(
            "{together}{:.1} % above the lower bound of {least} B",
            100.0 * (bytes - least) as f64 / least.max(1) as f64
        ),
    }
}
