//! RAM, cycles and flash against each other: what a model can be compiled to, of which nothing else is better in all three.

use crate::report::picture::{escape, svg};
use kiln_codegen::ir::Graph;
use kiln_codegen::select::FLASH_FOR_CODE;
use kiln_codegen::{budget, compile_graph, Compiled, Error, Optimize, Options, Weights};
use serde_json::{json, Map, Value};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// Most budgets of flash that are tried.
const MOST_FLASH: usize = 4;

/// One way to compile a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The options that give it, by name, beside those of the search.
    pub options: Vec<(&'static str, String)>,
    /// Bytes of arena and state.
    pub ram_bytes: usize,
    /// Predicted cycles of an inference.
    pub cycles: u64,
    /// Bytes of constants.
    pub constant_bytes: usize,
    /// Steps of which no cycles are predicted: they are not in `cycles`.
    pub steps_without_prediction: usize,
}

impl Point {
    /// The point for programs.
    pub fn json(&self) -> Value {
        let options: Map<String, Value> =
            self.options.iter().map(|(name, value)| ((*name).into(), value.as_str().into())).collect();
        json!({
            "ram_bytes": self.ram_bytes,
            "cycles": self.cycles,
            "constant_bytes": self.constant_bytes,
            "steps_without_prediction": self.steps_without_prediction,
            "options": options,
        })
    }

    fn costs(&self) -> (usize, u64, usize) {
        (self.ram_bytes, self.cycles, self.constant_bytes)
    }

    /// Whether nothing about it is better than the other, and something is worse.
    fn is_beaten_by(&self, other: &Point) -> bool {
        other.ram_bytes <= self.ram_bytes
            && other.cycles <= self.cycles
            && other.constant_bytes <= self.constant_bytes
            && other.costs() != self.costs()
    }
}

/// All points that nothing beats, those with the least RAM first. Each was compiled with the options that it names; budgets in `options` limit them.
///
/// # Errors
/// As [`compile_graph`], where the model does not compile with these options.
pub fn front(graph: &Graph, options: &Options) -> Result<Vec<Point>, Error> {
    // What exceeds a budget with these options may fit with others.
    let (mut all, exceeds) = match compile_graph(graph.clone(), options) {
        Ok(compiled) => (vec![point(&compiled, Vec::new())?], None),
        Err(error @ Error::OverBudget(_)) => (Vec::new(), Some(error)),
        Err(error) => return Err(error),
    };
    let base = Options { ram: None, cycles: None, flash: None, schedule: None, ..options.clone() };
    for flash in flash_settings(graph, &base)? {
        let set = flash.options(&base);
        // With any budget of cycles, all schedules are planned.
        let any = Options { optimize: Optimize::Speed, cycles: Some(u64::MAX), ..set.clone() };
        let budgets: BTreeSet<usize> =
            compile_graph(graph.clone(), &any)?.alternatives.iter().map(|tried| tried.bytes()).collect();
        let mut tries = vec![(Optimize::Speed, None), (Optimize::Memory, None)];
        tries.extend(budgets.into_iter().map(|bytes| (Optimize::Speed, Some(bytes))));
        for (optimize, ram) in tries {
            let options = Options { optimize, ram, ..set.clone() };
            // A budget that is missed by little, because schedules differ in their kernels, is no point.
            let Ok(compiled) = compile_graph(graph.clone(), &options) else { continue };
            let mut names = vec![("optimize", optimize.name().to_owned())];
            names.extend(ram.map(|bytes| ("ram", bytes.to_string())));
            names.extend(flash.names());
            all.push(point(&compiled, names)?);
        }
    }
    let fits = |point: &Point| {
        options.ram.is_none_or(|ram| point.ram_bytes <= ram)
            && options.cycles.is_none_or(|cycles| point.cycles <= cycles)
            && options.flash.is_none_or(|flash| point.constant_bytes <= flash)
    };
    all.retain(fits);
    let mut front: Vec<Point> = Vec::new();
    // Of equal ones, the one with the fewest options.
    all.sort_by_key(|point| (point.costs(), point.options.len()));
    for point in &all {
        let is_new = front.iter().all(|kept| kept.costs() != point.costs());
        if is_new && !all.iter().any(|other| point.is_beaten_by(other)) {
            front.push(point.clone());
        }
    }
    match exceeds.filter(|_| front.is_empty()) {
        Some(error) => Err(error),
        None => Ok(front),
    }
}

/// What a compilation takes.
fn point(compiled: &Compiled, options: Vec<(&'static str, String)>) -> Result<Point, Error> {
    let kept = compiled.kept().ok_or_else(|| Error::internal("pareto", "no schedule was kept"))?;
    Ok(Point {
        options,
        ram_bytes: compiled.plan.ram_bytes(),
        cycles: kept.predicted.cycles,
        constant_bytes: compiled.program.constant_bytes(),
        steps_without_prediction: kept.predicted.unknown,
    })
}

/// How flash is spent.
#[derive(Clone, Copy)]
struct Flash {
    budget: Option<usize>,
    packed: bool,
}

impl Flash {
    fn options(self, base: &Options) -> Options {
        let weights = if self.packed { Some(Weights::Packed) } else { base.weights };
        Options { flash: self.budget, weights, ..base.clone() }
    }

    fn names(self) -> impl Iterator<Item = (&'static str, String)> {
        let budget = self.budget.map(|bytes| ("flash", bytes.to_string()));
        budget.into_iter().chain(self.packed.then(|| ("weights", Weights::Packed.name().to_owned())))
    }
}

/// As much as there is, and less and less: fewer weights that are transformed, and packed ones.
fn flash_settings(graph: &Graph, base: &Options) -> Result<Vec<Flash>, Error> {
    let mut settings = vec![Flash { budget: None, packed: false }];
    let mut last = compile_graph(graph.clone(), base)?;
    while settings.len() < MOST_FLASH {
        // One byte less than these constants and what is left to code: fewer weights are transformed than there are.
        let budget = last.program.constant_bytes() + FLASH_FOR_CODE - 1;
        let less = compile_graph(graph.clone(), &Options { flash: Some(budget), ..base.clone() })?;
        if less.program.constant_bytes() >= last.program.constant_bytes() {
            break;
        }
        settings.push(Flash { budget: Some(budget), packed: false });
        last = less;
    }
    if base.weights.is_none() && budget::packed::more(&last) > 0 {
        settings.push(Flash { budget: None, packed: true });
    }
    Ok(settings)
}

/// Width and height of the field of points in a picture, in pixels.
const FIELD: (usize, usize) = (520, 300);
/// Space to its left, and above it.
const EDGE: (usize, usize) = (90, 30);

/// RAM to the right, cycles upwards, and a circle for each point, the larger the more constants.
pub fn picture(title: &str, points: &[Point]) -> String {
    svg(|out| draw(out, title, points))
}

fn draw(out: &mut String, title: &str, points: &[Point]) -> Result<(usize, usize), fmt::Error> {
    let ((left, top), (wide, high)) = (EDGE, FIELD);
    let (right, bottom) = (left + wide, top + high);
    let most = |of: fn(&Point) -> f64| points.iter().map(of).fold(1.0, f64::max);
    let (ram, cycles, constants) =
        (most(|p| p.ram_bytes as f64), most(|p| p.cycles as f64), most(|p| p.constant_bytes as f64));
    writeln!(out, "<text x=\"{left}\" y=\"18\" font-size=\"13\">{}</text>", escape(title))?;
    for part in 0..=4 {
        let (x, y) = (left + wide * part / 4, bottom - high * part / 4);
        let share = part as f64 / 4.0;
        writeln!(out, "<path d=\"M{left} {y}H{right}M{x} {top}V{bottom}\" stroke=\"#ddd\"/>")?;
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\">{:.1}</text>",
            bottom + 16,
            share * ram / 1024.0
        )?;
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#666\">{:.2}</text>",
            left - 6,
            y + 4,
            share * cycles / 1e6
        )?;
    }
    let middle = left + wide / 2;
    writeln!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">RAM, KB</text>", bottom + 34)?;
    let along = top + high / 2;
    writeln!(out, "<text x=\"24\" y=\"{along}\" text-anchor=\"middle\" transform=\"rotate(-90 24 {along})\">predicted cycles, millions</text>")?;
    for point in points {
        let x = left as f64 + wide as f64 * point.ram_bytes as f64 / ram;
        let y = bottom as f64 - high as f64 * point.cycles as f64 / cycles;
        let radius = 3.0 + 7.0 * point.constant_bytes as f64 / constants;
        let options: Vec<String> =
            point.options.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"#8ecae6\" fill-opacity=\"0.8\" stroke=\"#33627a\">\
             <title>{} B of RAM, {} cycles, {} B of constants: {}</title></circle>",
            point.ram_bytes,
            point.cycles,
            point.constant_bytes,
            escape(&options.join(", "))
        )?;
    }
    Ok((right + 30, bottom + 44))
}
