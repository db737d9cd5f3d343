//! Layer by layer: where a model's time goes, and what each layer makes of the core.
use super::kiln::{macs_of, Model};
use super::models::{Entry, Kind};
use super::process::Contestant;
use super::table::{aligned, figure, micros, thousands, Peaks};
use crate::step::Failure;
use kiln_codegen::schedule::StepKind;
use kiln_codegen::select::Call;
use kiln_codegen::Compiled;
use kiln_tools::report::memory;
use std::collections::BTreeMap;

/// What a step is, and what it takes.
#[derive(Clone, Debug)]
struct Layer {
    step: usize,
    op: String,
    /// The kernels it calls.
    kernels: String,
    macs: u64,
    nanoseconds: u64,
    name: String,
}

/// Runs a model that is loaded, and was compiled with events, in so many rounds: a table of its layers.
///
/// # Errors
/// Where the program does not answer.
pub(super) fn table(
    kiln: &mut Contestant,
    entry: &Entry,
    model: &Model,
    peaks: &Peaks,
    rounds: usize,
    milliseconds: u64,
) -> Result<String, Failure> {
    let mut least: BTreeMap<usize, u64> = BTreeMap::new();
    for _ in 0..rounds {
        let answer = kiln.ask(&["layers", entry.name, &milliseconds.to_string()], "layers")?;
        for (step, nanoseconds) in parse(&answer)? {
            let least = least.entry(step).or_insert(u64::MAX);
            *least = nanoseconds.min(*least);
        }
    }
    let steps = 0..model.compiled.schedule.steps.len();
    let layers = steps.map(|step| layer(&model.compiled, step, least.get(&step).copied().unwrap_or(0)));
    Ok(text(&layers.collect::<Vec<_>>(), entry.kind, peaks))
}

/// Words such as `3:5120`: a step and its nanoseconds.
fn parse(words: &[String]) -> Result<Vec<(usize, u64)>, String> {
    let layer = |word: &String| {
        let (step, nanoseconds) = word.split_once(':')?;
        Some((step.parse().ok()?, nanoseconds.parse().ok()?))
    };
    words.iter().map(|word| layer(word).ok_or_else(|| format!("no time of a layer: {word}"))).collect()
}

fn layer(compiled: &Compiled, step: usize, nanoseconds: u64) -> Layer {
    let (op, name) = memory::computed(compiled, step);
    let calls = compiled.program.calls.iter().filter(|call| call.step == step);
    let mut kernels: Vec<&str> = calls.map(Call::name).collect();
    kernels.dedup();
    let macs = match compiled.schedule.steps[step].kind {
        StepKind::Compute(id) => macs_of(&compiled.graph, compiled.graph.node(id)),
        StepKind::Absorb { .. } | StepKind::Copy { .. } => 0,
    };
    Layer { step, op: op.into(), kernels: kernels.join(", "), macs, nanoseconds, name: name.into() }
}

fn text(layers: &[Layer], kind: Kind, peaks: &Peaks) -> String {
    let head = ["step", "op", "kernel", "MACs", "µs", "%", "GMAC/s", "of peak"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let all: u64 = layers.iter().map(|layer| layer.nanoseconds).sum();
    let macs: u64 = layers.iter().map(|layer| layer.macs).sum();
    let mut add = |first: [String; 3], macs: u64, nanoseconds: u64, name: &str| {
        let share = 100.0 * nanoseconds as f64 / all.max(1) as f64;
        let rate = macs as f64 / nanoseconds.max(1) as f64;
        let of_peak = peaks.of(kind).filter(|_| macs > 0).map(|peak| format!("{:.0} %", 100.0 * rate / peak));
        let dash = || "–".to_owned();
        let (count, rate) = if macs > 0 { (thousands(macs), figure(rate, 1)) } else { (dash(), dash()) };
        let mut row = first.to_vec();
        row.extend([count, micros(nanoseconds as f64), figure(share, 1), rate]);
        row.extend([of_peak.unwrap_or_else(dash), name.to_owned()]);
        rows.push(row);
    };
    for Layer { step, op, kernels, macs, nanoseconds, name } in layers {
        add([step.to_string(), op.clone(), kernels.clone()], *macs, *nanoseconds, name);
    }
    add(["all".into(), String::new(), String::new()], macs, all, "");
    aligned(&rows, &[1, 2, 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_steps_and_nanoseconds() {
        assert_eq!(parse(&["0:12".into(), "3:5".into()]), Ok(vec![(0, 12), (3, 5)]));
        assert!(parse(&["12".into()]).is_err());
    }

    #[test]
    fn rates_are_held_to_the_peak() {
        let conv = Layer {
            step: 0,
            op: "conv2d".into(),
            kernels: "conv2d_i8".into(),
            macs: 30_000,
            nanoseconds: 300,
            name: "first".into(),
        };
        let pool = Layer { step: 1, op: "mean".into(), macs: 0, nanoseconds: 100, ..conv.clone() };
        let peaks = Peaks::parse(&["int8:vpmaddwd ymm:200".into()]).unwrap();
        let text = text(&[conv, pool], Kind::Int8, &peaks);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1].join(" "), "0 conv2d conv2d_i8 30,000 0.300 75.0 100.0 50 % first");
        assert_eq!(rows[2].join(" "), "1 mean conv2d_i8 – 0.100 25.0 – – first");
        assert_eq!(rows[3].join(" "), "all 30,000 0.400 100.0 75.0 38 %");
    }
}
