//! A schedule executed over tagged memory, row by row.

use super::engine::Engine;
use super::geometry::{Need, Order};
use super::job::{Job, Kind, Read};
use super::layout::{Layout, Span, Tape};
use super::same::Run;
use super::sliding::{self, Sliding};
use super::{due, stages, Objection, Stage, MOST};
use crate::ir::Graph;
use crate::schedule::{Feed, Pipeline, Schedule};
use std::ops::Range;

/// Rows of a value that never ends.
const ENDLESS: usize = isize::MAX as usize;

/// Executes a schedule in the memories of a layout.
pub(crate) fn run(graph: &Graph, schedule: &Schedule, layout: &Layout) -> Result<(), Objection> {
    let (mut jobs, mut wrong) = (Vec::with_capacity(schedule.steps.len()), Vec::new());
    for (index, step) in schedule.steps.iter().enumerate() {
        match Job::of(graph, schedule, layout, step) {
            Ok(job) => jobs.push(job),
            Err(message) => wrong.push(format!("step {index}: {message}")),
        }
    }
    let mut sliding = None;
    if let Some(pipeline) = schedule.pipelines.first().filter(|p| p.feed == Feed::Sliding && wrong.is_empty())
    {
        match sliding::check(graph, schedule, pipeline, &jobs) {
            Ok(found) => sliding = Some(found),
            Err(message) => wrong.push(message),
        }
    }
    if !wrong.is_empty() {
        wrong.truncate(MOST);
        return Err(Objection::Broken(wrong));
    }
    let mut engine = Engine::new(graph, schedule, layout, &jobs);
    match sliding {
        Some(sliding) => engine.slide(&sliding),
        None => engine.invoke(),
    }
    engine.verdict()
}

impl<'a> Engine<'a> {
    /// One inference.
    fn invoke(&mut self) {
        let graph = self.graph;
        for state in &graph.states {
            if let Some(tape) = self.own(state.current) {
                self.write_all(&tape);
            }
        }
        let inputs: Vec<Tape> = graph.inputs.iter().filter_map(|&id| self.own(id)).collect();
        for input in &inputs {
            let home = self.in_arena(&input.row(0));
            self.expect(home, |e| format!("input {} is not in the arena", e.name(input.value)));
        }
        if self.schedule.feed() == Feed::Whole {
            inputs.iter().for_each(|input| self.write_all(input));
            inputs.iter().for_each(|input| {
                self.read_all(input, &|_| "before the first step".into());
            });
        }
        for stage in stages(self.schedule) {
            self.stage(&stage);
        }
        self.ends();
    }

    /// Windows that follow each other: those that use each row of each ring several times.
    fn slide(&mut self, sliding: &Sliding<'a>) {
        let pipeline = sliding.pipeline;
        for tick in 0..sliding.ticks {
            // Between calls the arena belongs to others.
            for (memory, (_, arena)) in self.memories.iter_mut().zip(&self.layout.memories) {
                if *arena {
                    memory.clear();
                }
            }
            self.endless = true;
            self.tick(pipeline, tick);
            self.endless = false;
            let Some(since) = (tick + 1).checked_sub(pipeline.ticks).filter(|s| s % sliding.hop == 0) else {
                continue;
            };
            self.window(sliding, since / sliding.hop);
            if self.over() {
                return;
            }
        }
    }

    /// What comes behind the pipeline when a window is complete. Its row of each value is the whole value there.
    fn window(&mut self, sliding: &Sliding<'_>, window: usize) {
        self.done[sliding.pipeline.steps.end..].fill(0);
        let names = |tape: &Tape| [window, 0].map(|row| tape.run(row, 1));
        for tape in &sliding.last {
            let [row, whole] = names(tape);
            self.rename(tape, row, whole);
        }
        for stage in stages(self.schedule).into_iter().skip(1) {
            self.stage(&stage);
        }
        self.ends();
        for tape in &sliding.last {
            let [row, whole] = names(tape);
            self.rename(tape, whole, row);
        }
    }

    fn rename(&mut self, tape: &Tape, from: Run, to: Run) {
        let at = tape.row(0);
        let memory = &mut self.memories[at.memory];
        if memory.holds(at.bytes.start, from, &mut self.same).is_ok() {
            memory.write(at.bytes.start, to);
        }
    }

    fn stage(&mut self, stage: &Stage<'_>) {
        let steps = match *stage {
            Stage::Step(index) => {
                if let Some(rows) = due(&self.schedule.steps[index], 0, false) {
                    self.step(index, rows, true);
                }
                index..index + 1
            }
            Stage::Pipeline(pipeline) => {
                (0..pipeline.ticks).for_each(|tick| self.tick(pipeline, tick));
                pipeline.steps.clone()
            }
        };
        self.forget_tick();
        for index in steps {
            let (done, wanted) = (self.done[index], self.jobs[index].counted);
            self.expect(done == wanted, |e| {
                format!("{}: computes {done} rows of {wanted}", e.at(index, None))
            });
        }
    }

    /// What is in transient memory does not outlast a tick.
    fn forget_tick(&mut self) {
        self.layout.transient.iter().for_each(|&memory| self.memories[memory].clear());
    }

    fn tick(&mut self, pipeline: &Pipeline, tick: usize) {
        // Also bounds the number of ticks.
        self.same.spend(pipeline.steps.len() + self.layout.transient.len() + 1);
        if self.over() {
            return;
        }
        self.forget_tick();
        self.tick = Some(tick);
        if pipeline.feed != Feed::Whole {
            // The row of the input that comes before the tick.
            for &id in &self.graph.inputs {
                let input = self.own(id).filter(|input| self.endless || tick < input.extent.rows);
                input.iter().for_each(|input| self.write_row(input, tick));
            }
        }
        for index in pipeline.steps.clone() {
            if let Some(rows) = due(&self.schedule.steps[index], tick, self.endless) {
                self.step(index, rows, false);
            }
        }
        self.tick = None;
    }

    /// Executes a band of a step, which runs alone or in a pipeline.
    fn step(&mut self, index: usize, rows: Range<usize>, alone: bool) {
        let job = &self.jobs[index];
        let again = self.schedule.steps[index].beat.again.is_some();
        let done = self.done[index];
        self.done[index] = done.max(rows.end);
        // What is computed again has been computed before: no row is left out.
        self.expect(if again { rows.start <= done } else { done == rows.start }, |e| {
            format!("{}: rows {rows:?} come after {done}", e.at(index, None))
        });
        // Rows that are not adjacent are one to the engine.
        let rows = match job.rows == job.counted {
            true => rows,
            false if rows == (0..job.counted) => 0..job.rows,
            false => return self.fail(|e| format!("{}: rows {rows:?} are not adjacent", e.at(index, None))),
        };
        self.same.spend(rows.len());
        match &job.kind {
            Kind::Absorb(sums) => rows.for_each(|row| self.absorb(index, row, sums)),
            Kind::Map(order) if alone => self.all(index, *order),
            // A kernel that is asked for several rows of a ring may read for all of them before it writes.
            Kind::Map(_) if again => self.band(index, rows),
            Kind::Map(Order::None) => self.band(index, rows),
            Kind::Map(_) => rows.for_each(|row| self.band(index, row..row + 1)),
        }
    }

    /// All rows at once: the operands are all there.
    fn all(&mut self, index: usize, order: Order) {
        let job = &self.jobs[index];
        self.work(index);
        for read in &job.reads {
            self.read_all(&read.tape, &|e| e.at(index, None));
        }
        match job.result.whole() {
            Some(_) if job.apart => self.write_all(&job.result),
            Some(_) if order == Order::Rows => {
                for row in (0..job.rows).step_by(job.at_once) {
                    self.band(index, row..job.rows.min(row + job.at_once));
                }
            }
            Some(all) => {
                let written = job.written(&all, None);
                for read in &job.reads {
                    let from: Vec<Span> = read.tape.whole().into_iter().collect();
                    self.unless_clear(index, None, read, order, &from, &written);
                }
            }
            None => self.fail(|e| {
                format!(
                    "{}: the result {} has no room for all rows",
                    e.at(index, None),
                    e.name(job.result.value)
                )
            }),
        }
        self.work(index);
    }

    /// What is in the workspace of a step does not matter before it, nor after it.
    fn work(&mut self, index: usize) {
        if let Some(span) = &self.jobs[index].workspace {
            self.memories[span.memory].forget(span.bytes.clone());
        }
    }

    /// Some rows: all that they need is read before they are written, but for what goes element by element.
    fn band(&mut self, index: usize, rows: Range<usize>) {
        let job = &self.jobs[index];
        let Kind::Map(order) = job.kind else { return };
        self.work(index);
        let written = |row: usize| job.written(&job.result.row(row), Some(row));
        let by_row: Vec<Vec<Span>> = rows.clone().map(written).collect();
        let (written, mut done) = (by_row.concat(), 0);
        for (row, own) in rows.clone().zip(&by_row) {
            // What the rows before this one write, and what it and those behind it do.
            let (before, behind) = written.split_at(done);
            done += own.len();
            for read in &job.reads {
                let from = match read.need {
                    Need::All => {
                        self.read_all(&read.tape, &|e| e.at(index, Some(row)));
                        read.tape.whole().into_iter().collect()
                    }
                    need => {
                        let height = if self.endless { ENDLESS } else { read.tape.extent.rows };
                        self.read_rows(index, row, &read.tape, need.rows(row, height))
                    }
                };
                // What goes element by element writes the rows before this one before it reads this one.
                self.unless_clear(index, Some(row), read, Order::None, &from, before);
                self.unless_clear(index, Some(row), read, order, &from, behind);
            }
        }
        rows.for_each(|row| self.write_row(&job.result, row));
        self.work(index);
    }

    /// Takes a row of the operand into the sums; the last one makes the result.
    fn absorb(&mut self, index: usize, row: usize, sums: &Span) {
        let job = &self.jobs[index];
        let last = row + 1 == job.rows;
        // After `n` rows the sums hold what begins at `n` times their bytes.
        let (value, bytes) = (self.same.sums(job.result.value), sums.bytes.len());
        let held = |rows: usize| Run { value, offset: rows * bytes, bytes };
        let memory = &mut self.memories[sums.memory];
        if row > 0 && memory.holds(sums.bytes.start, held(row), &mut self.same).is_err() {
            self.fail(|e| format!("{}: the sums are not intact", e.at(index, Some(row))));
        }
        let result = job.result.row(0);
        let mut written = vec![sums.clone()];
        if last {
            self.expect(!sums.overlaps(&result), |e| {
                format!("{}: the result overwrites the sums", e.at(index, Some(row)))
            });
            written.push(result);
        }
        for read in &job.reads {
            let from = self.read_rows(index, row, &read.tape, row..row + 1);
            self.unless_clear(index, Some(row), read, Order::None, &from, &written);
        }
        self.memories[sums.memory].write(sums.bytes.start, held(row + 1));
        if last {
            self.write_row(&job.result, 0);
        }
    }

    fn unless_clear(
        &mut self,
        index: usize,
        row: Option<usize>,
        read: &Read,
        order: Order,
        from: &[Span],
        written: &[Span],
    ) {
        let clear = from.iter().all(|from| read.clear(order, from, written));
        self.expect(clear, |e| {
            let (at, operand, value) = (e.at(index, row), read.operand, e.name(read.tape.value));
            format!("{at}: the result overwrites operand {operand}, {value}, which it still reads")
        });
    }

    /// The end of an inference, or of a window.
    fn ends(&mut self) {
        if self.over() {
            return;
        }
        let (graph, schedule) = (self.graph, self.schedule);
        let counts = (schedule.outputs.len(), graph.outputs.len());
        self.expect(counts.0 == counts.1, |_| format!("{} places for {} outputs", counts.0, counts.1));
        let mut spans: Vec<Span> = Vec::new();
        for (&id, &place) in graph.outputs.iter().zip(&schedule.outputs) {
            let Some(tape) = self.tape(id, Some(place)) else { continue };
            let Some(span) = self.read_all(&tape, &|_| "after the last step, as an output".into()) else {
                continue;
            };
            let home = self.in_arena(&span);
            self.expect(home, |e| format!("output {} is not in the arena", e.name(id)));
            spans.extend((!span.bytes.is_empty()).then_some(span));
        }
        spans.sort_by_key(|s| (s.memory, s.bytes.start));
        let apart = spans.windows(2).all(|pair| !pair[0].overlaps(&pair[1]));
        self.expect(apart, |_| "two outputs overlap".into());
        for state in &graph.states {
            if let Some(tape) = self.tape(state.next, schedule.storage.place(state.current)) {
                self.read_all(&tape, &|_| "after the last step, as a state".into());
            }
        }
    }
}
