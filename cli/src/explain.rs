//! `cargo kiln explain`: what a model is, whether it compiles, and what could be better.

use crate::number::grouped;
use crate::{plan, report};
use kiln_codegen::front::{inspect, OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use kiln_codegen::ir::Graph;
use kiln_codegen::passes::qdq::drift::Drift;
use kiln_codegen::search::REFUSED;
use kiln_codegen::{compile_graph, import_with_drift, Compiled, Door, Error, Input, Options, Problem};
use kiln_tools::advice::advise;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What there is to say of a model.
#[derive(Clone, Debug)]
pub struct Explained {
    /// What it is; then every reason why it does not compile, or what makes it slower or larger on a processor than it could be.
    pub text: String,
    /// The model compiled, if it compiles.
    pub compiled: Option<Compiled>,
}

/// Describes a model.
///
/// # Errors
/// Where the bytes are no sound model.
pub fn explain(bytes: &[u8], name: &str, options: &Options) -> Result<Explained, Error> {
    let mut summary = inspect(bytes)?;
    let compiled = compile(bytes, name, options);
    if let Ok(both) = &compiled {
        close_shapes(&mut summary, &both.imported);
    }
    let mut text = overview(name, &summary);
    text += &operators(&summary);
    match compiled {
        Ok(Both { imported, drift, compiled }) => {
            let _ =
                writeln!(text, "\ncompiles for {}: {}", options.target().name(), plan::summary(&compiled));
            if let Some(drift) = drift {
                let _ = writeln!(text, "{drift}");
            }
            for front in plan::in_front(&compiled) {
                let _ = writeln!(text, "in front: {front}");
            }
            for input in [Input::Rows, Input::Sliding] {
                let _ = writeln!(text, "{}", row_by_row(imported.clone(), input, options)?);
            }
            let advice: Vec<_> = advise(&imported, &compiled).into_iter().map(report::Advice::from).collect();
            text += &report::advice(&advice, options.target().name());
            Ok(Explained { text, compiled: Some(compiled) })
        }
        Err(error) => {
            let _ = writeln!(text, "\n{}", Door::CommandLine.translate(&error.to_string()));
            text += &compiles_up_to(&summary, &error).map_or(String::new(), |line| format!("\n{line}\n"));
            Ok(Explained { text, compiled: None })
        }
    }
}

/// A model as imported, and compiled.
struct Both {
    imported: Graph,
    /// By how much it differs from the floats that its file describes.
    drift: Option<Drift>,
    compiled: Compiled,
}

fn compile(bytes: &[u8], name: &str, options: &Options) -> Result<Both, Error> {
    let (imported, drift) = import_with_drift(bytes, name, options)?;
    drift.as_ref().map_or(Ok(()), |drift| drift.check(options.qdq_drift()))?;
    let compiled = compile_graph(imported.clone(), options)?;
    Ok(Both { imported, drift, compiled })
}

/// Gives tensors whose shapes the file leaves open those that they have in the graph.
fn close_shapes(summary: &mut Summary, graph: &Graph) {
    let mut known: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for (_, value) in graph.values() {
        let dims = value.ty.shape.dims().iter().map(|&dim| i32::try_from(dim).unwrap_or(i32::MAX)).collect();
        known.entry(&value.name).or_insert(dims);
    }
    let Summary { inputs, outputs, operators, .. } = summary;
    let operands = operators
        .iter_mut()
        .flat_map(|operator| operator.inputs.iter_mut().flatten().chain(&mut operator.outputs));
    for tensor in inputs.iter_mut().chain(outputs).chain(operands) {
        let same_rank = known.get(&*tensor.name).filter(|dims| dims.len() == tensor.dims.len());
        if let Some(dims) = same_rank.filter(|_| tensor.dims.iter().any(|&dim| dim < 0)) {
            tensor.dims.clone_from(dims);
        }
    }
}

// Writing to a string cannot fail: the results of `writeln!` are dropped below.

fn overview(name: &str, summary: &Summary) -> String {
    let mut out = format!("{name}: {}, {} bytes", summary.format, summary.file_bytes);
    if !summary.description.is_empty() {
        let _ = write!(out, " ({})", summary.description.trim());
    }
    out.push('\n');
    for (what, tensors) in [("input", &summary.inputs), ("output", &summary.outputs)] {
        for tensor in tensors {
            let _ = writeln!(out, "  {what:<7} {} {:?}{}", shape(tensor), tensor.name, quantization(tensor));
        }
    }
    let mut histogram: BTreeMap<&str, usize> = BTreeMap::new();
    for operator in &summary.operators {
        *histogram.entry(&operator.name).or_default() += 1;
    }
    let counts: Vec<String> = histogram.iter().map(|(name, count)| format!("{name} ×{count}")).collect();
    let _ = writeln!(out, "  {} operators: {}", summary.operators.len(), counts.join(", "));
    let _ =
        writeln!(out, "  {} MACs, {} bytes of weights", grouped(summary.macs), grouped(summary.weight_bytes));
    out
}

/// Of a model that cannot be compiled: what stands before the first operator that is refused, where that is most of the work.
fn compiles_up_to(summary: &Summary, error: &Error) -> Option<String> {
    let Error::Unsupported(problems) = error else { return None };
    let index = |problem: &Problem| -> Option<usize> {
        problem.place.strip_prefix("operator ")?.split(' ').next()?.parse().ok()
    };
    let indices: Vec<usize> = problems.iter().map(index).collect::<Option<_>>()?;
    let first = indices.into_iter().min()?;
    let macs: u64 = summary.operators.iter().take(first).map(|operator| operator.macs).sum();
    let share = 100.0 * macs as f64 / summary.macs.max(1) as f64;
    (share > 50.0).then(|| {
        format!(
            "before the first of these stand {first} operators with {share:.1} % of the multiplications: end the model there, and compute the rest in your code"
        )
    })
}

/// Whether a model takes its input row by row, or slides, or what prevents it: what compiling it so ends in. Budgets are not asked.
fn row_by_row(graph: Graph, input: Input, options: &Options) -> Result<String, Error> {
    let options = Options { input, ram: None, cycles: None, flash: None, fast_ram: None, ..options.clone() };
    let what = match input {
        Input::Sliding => "slides",
        Input::Whole | Input::Rows => "takes its input by rows",
    };
    let mut help = None;
    let why = match compile_graph(graph, &options) {
        Ok(compiled) => {
            let held = compiled.program.fed.zip(compiled.program.inputs.first());
            let rows = held.map_or(0, |(fed, input)| input.ring.unwrap_or(fed.rows));
            let option = Door::CommandLine.option("input", input.name());
            return Ok(format!("{what}: yes, with {option}; {rows} rows of it are held at a time"));
        }
        Err(Error::Options(problem)) => {
            help = Some(Door::CommandLine.translate(&problem.help)).filter(|_| input == Input::Sliding);
            problem.what
        }
        Err(Error::Unsupported(problems)) => {
            problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>().join("; ")
        }
        Err(error) => return Err(error),
    };
    let help = help.map_or(String::new(), |help| format!("\n    help: {help}"));
    Ok(format!("{what}: no, {}{help}", why.strip_prefix(REFUSED).unwrap_or(&why)))
}

fn operators(summary: &Summary) -> String {
    let width = summary.operators.iter().map(|o| o.name.len()).max().unwrap_or(0);
    let mut out =
        format!("\n{:>4}  {:<width$}  {:>13}  {:>9}  shapes\n", "", "operator", "MACs", "weights B");
    for operator in &summary.operators {
        let _ = writeln!(
            out,
            "{:>4}  {:<width$}  {:>13}  {:>9}  {}{}",
            operator.index,
            operator.name,
            grouped(operator.macs),
            grouped(operator.weight_bytes),
            shapes(operator),
            if operator.is_known { "" } else { "  ← not supported" },
        );
    }
    out
}

fn shapes(operator: &OperatorSummary) -> String {
    let computed = operator.inputs.iter().flatten().filter(|t| !t.is_constant);
    let inputs: Vec<String> = computed.map(shape).collect();
    let outputs: Vec<String> = operator.outputs.iter().map(shape).collect();
    let weights = operator.inputs.iter().flatten().find(|t| t.is_constant);
    let channels = match weights.map(|t| t.quantization) {
        Some(QuantizationSummary::PerChannel { channels }) => format!(", weights per channel ({channels})"),
        Some(QuantizationSummary::PerTensor { .. }) => ", weights per tensor".into(),
        _ => String::new(),
    };
    format!("{} → {}{channels}", inputs.join(", "), outputs.join(", "))
}

fn shape(tensor: &TensorSummary) -> String {
    let dims: Vec<String> =
        tensor.dims.iter().map(|d| if *d < 0 { "?".into() } else { d.to_string() }).collect();
    format!("{}[{}]", tensor.element, dims.join(","))
}

fn quantization(tensor: &TensorSummary) -> String {
    match tensor.quantization {
        QuantizationSummary::None => String::new(),
        QuantizationSummary::PerTensor { scale, zero_point } => {
            format!(", scale {scale}, zero point {zero_point}")
        }
        QuantizationSummary::PerChannel { channels } => format!(", {channels} scales"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_front_is_said() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/find-digits/models/find_digits_int8.tflite");
        let mut options = Options::default();
        options.set("source", "gray8 320x240, resize = nearest").unwrap();
        let text = explain(&std::fs::read(path).unwrap(), "find_digits", &options).unwrap().text;
        let line =
            "in front: lines of a camera: 320 × 240 pixels of gray8, of which 320 × 240 become 48 × 48 (nearest)";
        assert!(text.lines().any(|found| found == line), "{text}");
        assert!(!text.contains("takes its input by rows: no"), "{text}");
        assert!(text.contains("slides: no, frames of a camera do not slide"), "{text}");
    }

    /// `shape_signature` of a PAD and what is behind it has the sizes in front of it; converters do not compute it.
    #[test]
    fn open_shapes_are_those_that_were_computed() {
        let tensor = |name: &str, dims: &[i32]| TensorSummary {
            name: name.into(),
            element: "int8".into(),
            dims: dims.to_vec(),
            is_constant: false,
            quantization: QuantizationSummary::None,
        };
        let mut graph = Graph::new("pad");
        let shape = |dims: &[usize]| kiln_codegen::ir::Type::plain(kiln_codegen::ir::DType::F32, dims);
        graph.add_input("image", shape(&[1, 4, 4, 1]));
        graph.add_input("padded", shape(&[1, 6, 6, 1]));
        let mut summary = Summary {
            inputs: vec![tensor("image", &[-1, 4, 4, 1])],
            outputs: vec![tensor("padded", &[-1, 4, 4, 1]), tensor("unknown", &[-1, 2])],
            ..Summary::default()
        };
        close_shapes(&mut summary, &graph);
        assert_eq!(summary.inputs[0].dims, [1, 4, 4, 1]);
        assert_eq!(summary.outputs[0].dims, [1, 6, 6, 1]);
        assert_eq!(summary.outputs[1].dims, [-1, 2]);
    }

    #[test]
    fn most_of_a_model_may_compile() {
        let operator = |(index, macs)| OperatorSummary {
            index,
            name: "CONV_2D".into(),
            is_known: true,
            inputs: Vec::new(),
            outputs: Vec::new(),
            macs,
            weight_bytes: 0,
        };
        let operators = [60, 30, 10].into_iter().enumerate().map(operator).collect();
        let summary = Summary { operators, macs: 100, ..Summary::default() };
        let at = |places: &[&str]| {
            let problem =
                |place: &&str| Problem { place: place.to_string(), what: String::new(), help: String::new() };
            compiles_up_to(&summary, &Error::Unsupported(places.iter().map(problem).collect()))
        };
        let line = at(&["operator 2 ARG_MAX \"x\"", "operator 12 CAST"]).unwrap();
        assert!(line.contains("2 operators with 90.0 %"), "{line}");
        assert_eq!(at(&["operator 0 CAST"]), None);
        assert_eq!(at(&["operator 2 CAST", "input \"x\""]), None);
    }
}
