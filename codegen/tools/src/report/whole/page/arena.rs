//! The arena over time, drawn: a column for each step, a box for each buffer.

use super::{scroll, short, FONT};
use crate::number::grouped;
use crate::report::whole::{Buffer, Report};
use maud::{html, Markup};

/// Height of the arena, and what stands on the left and above it.
const HEIGHT: usize = 300;
const LEFT: usize = 72;
const TOP: usize = 26;
/// Width that the columns share, and that of one at least and at most.
const WIDTH: usize = 860;
const COLUMN: (usize, usize) = (16, 64);
/// Colours of buffers in the style sheet.
const COLOURS: usize = 6;

impl Report {
    pub(super) fn arena_section(&self) -> Markup {
        let arena = &self.arena;
        let mut buffers: Vec<&Buffer> = arena.buffers.iter().collect();
        buffers.sort_by_key(|buffer| (buffer.first, buffer.offset));
        html! {
            p {
                "From left to right the steps, from top to bottom the " (arena.bytes) " bytes of the arena. "
                @if let Some(step) = arena.peak_step { "Most of it is in use at step " a href={ "#step-" (step) } { (step) } "." }
            }
            (scroll("Arena over time", self.arena_picture(&buffers)))
            p { output #buffer { "Point at a buffer, or reach it with the tab key, to read its name, bytes, offset and life." } }
            details {
                summary { "All buffers (" (buffers.len()) ")" }
                (scroll("Buffers", html! {
                    table {
                        thead { tr { th scope="col" { "Buffer" } th.n scope="col" { "Bytes" } th.n scope="col" { "Offset" } th scope="col" { "Live" } th.n scope="col" { "Rows held" } } }
                        tbody {
                            @for buffer in &buffers {
                                tr {
                                    th scope="row" { (buffer.name) @if buffer.fast { " (fast)" } }
                                    td.n { (grouped(buffer.bytes as u64)) } td.n { (grouped(buffer.offset as u64)) } td { (buffer.life(arena.times)) }
                                    td.n { @match buffer.ring_rows { Some(rows) => (rows), None => "all" } }
                                }
                            }
                        }
                    }
                }))
            }
        }
    }

    fn arena_picture(&self, buffers: &[&Buffer]) -> Markup {
        let arena = &self.arena;
        let column = (WIDTH / arena.times.max(1)).clamp(COLUMN.0, COLUMN.1);
        let (width, height) = (LEFT + arena.times * column + 8, TOP + HEIGHT + 10);
        // Not every number fits a narrow column.
        let every = if column < 24 { 5 } else { 1 };
        html! {
            svg.arena viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="group" aria-label="Buffers of the arena" {
                rect.frame x=(LEFT) y=(TOP) width=(arena.times * column) height=(HEIGHT) {}
                @for time in 0..arena.times {
                    @if let Some(label) = label(time, arena.times, every) {
                        text.axis x=(LEFT + time * column + column / 2) y=(TOP - 8) text-anchor="middle" { (label) }
                    }
                }
                text.axis x=(LEFT - 6) y=(TOP + 10) text-anchor="end" { "0 B" }
                text.axis x=(LEFT - 6) y=(TOP + HEIGHT) text-anchor="end" { (arena.bytes) " B" }
                @for (index, buffer) in buffers.iter().enumerate() { (self.buffer(buffer, index, column)) }
            }
        }
    }

    fn buffer(&self, buffer: &Buffer, index: usize, column: usize) -> Markup {
        let pixels = |bytes: usize| bytes * HEIGHT / self.arena.bytes.max(1);
        let (x, y) = (LEFT + buffer.first * column, TOP + pixels(buffer.offset));
        let (w, h) = ((buffer.last + 1 - buffer.first) * column, pixels(buffer.bytes).max(2));
        let about = buffer.describe(self.arena.times);
        let name = buffer.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&buffer.name);
        html! {
            g class={ "buffer c" (index % COLOURS) } tabindex="0" role="img" aria-label=(about) {
                title { (about) }
                rect x=(x) y=(y) width=(w) height=(h) {}
                @if h >= 14 && w >= 40 {
                    text x=(x + 4) y=(y + h / 2 + 4) { (short(&format!("{name} {} B", grouped(buffer.bytes as u64)), w.saturating_sub(6), FONT)) }
                }
            }
        }
    }
}

/// What stands above a column.
fn label(time: usize, times: usize, every: usize) -> Option<String> {
    match time {
        0 => Some("in".into()),
        _ if time + 1 == times => Some("out".into()),
        _ => ((time - 1) % every == 0 && time + 1 + every / 2 < times).then(|| (time - 1).to_string()),
    }
}
