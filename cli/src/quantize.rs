//! `cargo kiln quantize`: a float model and samples of its inputs in, a quantised ONNX file out.

use crate::npz::{self, Array};
pub use crate::progress::Progress;
use anyhow::{bail, Context, Result};
use kiln_codegen::ir::{Data, Graph, Type};
use kiln_codegen::{passes, write_whole, Options, StatePair};
use kiln_tools::quantize::{self, Bits, Method, Precision, Quantised, Settings};
use kiln_tools::write;
use serde_json::{json, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Fewer samples say little about the ranges of activations.
const FEW_SAMPLES: usize = 20;

/// What was quantised, and how well.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model's name.
    pub model: String,
    /// Where the file is.
    pub output: PathBuf,
    /// Its size in bytes.
    pub bytes: usize,
    /// Number of samples.
    pub samples: usize,
    /// How it was asked for.
    pub settings: Settings,
    /// Inputs and outputs that are integers in the file: name and type.
    pub integers: Vec<(String, String)>,
    /// The layers, and ratios.
    pub quantised: Quantised,
}

/// Where a file is written, and how.
#[derive(Clone, Debug)]
pub struct Output {
    /// The file.
    pub path: PathBuf,
    /// Whether inputs and outputs that are quantised are integers in the file, too: quantise operators behind inputs and dequantise operators before outputs are left out.
    pub integers: bool,
}

/// Quantises a model file by a calibration set and writes it.
///
/// # Errors
/// Where the model or the calibration set cannot be read or do not fit each other, the model cannot be quantised, or its file cannot be written.
pub fn quantize(
    model: &Path,
    calibration: &Path,
    options: &Options,
    settings: &Settings,
    output: &Output,
    progress: &Progress,
) -> Result<Report> {
    let name = kiln_codegen::model_name(model);
    let graph = kiln_codegen::import(&kiln_codegen::read_file(model)?, &name, options)?;
    let samples = samples(&graph, calibration)?;
    let quantised =
        quantize::quantize(&graph, &samples, settings, &|step, done, all| progress.show(step, done, all))?;
    let narrow_weights = settings.weights == Bits::Four;
    let mut written = quantised.graph.clone();
    if output.integers {
        as_integers(&mut written);
    }
    let bytes = write::onnx(&written, &write::Settings { narrow_weights })?;
    write_whole(&output.path, &bytes)?;
    let ends = written.inputs.iter().chain(&written.outputs).filter(|&&id| written.ty(id).quant.is_some());
    let integers = ends.map(|&id| (written.value(id).label().to_owned(), format(written.ty(id)))).collect();
    let (output, bytes, samples) = (output.path.clone(), bytes.len(), samples.len());
    Ok(Report { model: name, output, bytes, samples, settings: settings.clone(), integers, quantised })
}

/// Makes integers of quantised inputs and outputs, which keep their names.
fn as_integers(graph: &mut Graph) {
    let names: Vec<String> = graph.outputs.iter().map(|&id| graph.value(id).name.clone()).collect();
    passes::quantized_io::run(graph);
    passes::dce::run(graph);
    for (id, name) in graph.outputs.clone().into_iter().zip(names) {
        if graph.producer(id).is_some() {
            graph.value_mut(id).name = name;
        }
    }
}

/// How integers are read, in words.
fn format(ty: &Type) -> String {
    let bits = 8 * ty.dtype.size();
    format!("int{bits}, scale {}, zero point {}", ty.scale().unwrap_or_default(), ty.zero_point())
}

/// The calibration set: `samples[sample][input]`.
///
/// # Errors
/// Says which array is missing, or of which shape or type it should be.
pub fn samples(graph: &Graph, path: &Path) -> Result<Vec<Vec<Data>>> {
    if !path.exists() {
        bail!(
            "there is no file `{}`\n    help: `cargo kiln quantize --help` says how to write one",
            path.display()
        );
    }
    let mut arrays = npz::read(path)?;
    let mut inputs: Vec<Array> = Vec::new();
    for (k, &id) in graph.inputs.iter().enumerate() {
        let name = &graph.value(id).name;
        let found: Vec<String> = arrays.keys().cloned().collect();
        let array = arrays.remove(&format!("in_{k}")).or_else(|| arrays.remove(name));
        let Some(array) = array else {
            bail!(
                "`{}` has neither `in_{k}` nor `{name}`, the samples of input {k}; it has {}\n    help: numpy.savez(file, in_0=…), in_1 … where there are more inputs",
                path.display(),
                if found.is_empty() { "no array".into() } else { found.join(", ") },
            );
        };
        check_array(graph, k, &array)
            .with_context(|| format!("array of input {k} of `{}`", path.display()))?;
        inputs.push(array);
    }
    let count = inputs.first().and_then(|array| array.shape.first()).copied().unwrap_or(0);
    if inputs.iter().any(|array| array.shape.first() != Some(&count)) {
        bail!("the arrays of `{}` differ in their first axis, which counts the samples", path.display());
    }
    if count == 0 {
        bail!("`{}` has no sample", path.display());
    }
    let split: Vec<Vec<Data>> = inputs.iter().map(Array::split).collect();
    Ok((0..count).map(|sample| split.iter().map(|input| input[sample].clone()).collect()).collect())
}

/// The first axis counts samples; each has the shape of the input, of which a leading 1 may be left out.
fn check_array(graph: &Graph, k: usize, array: &Array) -> Result<()> {
    let ty = graph.ty(graph.inputs[k]);
    let dims = ty.shape.dims();
    let own = array.shape.get(1..).unwrap_or(&[]);
    if array.dtype != ty.dtype {
        bail!(
            "its elements are {}, the input's {}; save it with numpy.astype",
            array.dtype.name(),
            ty.dtype.name()
        );
    }
    if own != dims && (dims.first() != Some(&1) || own != &dims[1..]) {
        bail!(
            "its shape is {:?}: {} samples of {own:?}; the input's is {dims:?}",
            array.shape,
            array.shape.first().unwrap_or(&0)
        );
    }
    Ok(())
}

impl Report {
    /// Whether the ratio is what was asked for.
    pub fn keeps_budget(&self) -> bool {
        self.settings.budget_snr.is_none_or(|budget| self.quantised.snr >= budget)
    }

    /// As text: the most sensitive layers first.
    pub fn text(&self) -> String {
        let Report { quantised, settings, .. } = self;
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_head(&mut text);
        let mut layers = quantised.layers.clone();
        layers.sort_by(|a, b| a.alone.total_cmp(&b.alone).then(a.number.cmp(&b.number)));
        let _ = writeln!(text, "\nlayer  op          precision  alone, dB  name (most sensitive first)");
        for layer in layers {
            let alone = if layer.alone.is_finite() { format!("{:.1}", layer.alone) } else { "–".into() };
            let fell = if quantised.fallen.contains(&layer.number) { "*" } else { "" };
            let precision = format!("{}{fell}", word(layer.precision));
            let _ = writeln!(
                text,
                "{:>5}  {:<10}  {precision:<9}  {alone:>9}  {}",
                layer.number, layer.op, layer.name
            );
        }
        if !quantised.fallen.is_empty() {
            let _ = writeln!(text, "\n* fell back for --budget-snr: {:.1} dB before", quantised.first_snr);
        }
        if let (Some(budget), false) = (settings.budget_snr, self.keeps_budget()) {
            let _ = writeln!(text, "\nno way was found to {budget} dB: the file has {:.1} dB", quantised.snr);
        }
        text
    }

    fn write_head(&self, text: &mut String) -> std::fmt::Result {
        let Report { model, samples, settings, quantised, .. } = self;
        writeln!(text, "{model}, quantised by {samples} samples")?;
        if *samples < FEW_SAMPLES {
            writeln!(
                text,
                "  (few: ranges of activations may be larger in use; {FEW_SAMPLES} or more are better)"
            )?;
        }
        let activations = if settings.wide { "int16" } else { "int8" };
        let weights = if settings.weights == Bits::Four { "int4" } else { "int8" };
        let scales =
            if settings.per_channel { "a scale for each filter" } else { "one scale for all filters" };
        writeln!(text, "  activations       {activations}, ranges by {}", method(quantised.method))?;
        writeln!(text, "  weights           {weights}, {scales}")?;
        let equalised = match (quantised.equalised, settings.equalise) {
            (true, _) => "yes",
            (false, Some(true)) => "no: the model has no two layers with nothing but a ReLU between them",
            (false, _) => "no",
        };
        writeln!(text, "  layers equalised  {equalised}")?;
        writeln!(text, "  biases corrected  {}", if quantised.corrected { "yes" } else { "no" })?;
        let ratio = match quantised.snr.is_finite() {
            true => format!("{:.1} dB", quantised.snr),
            false => "all outputs are equal".into(),
        };
        for (name, ty) in &self.integers {
            writeln!(text, "  integers          {name}: {ty}")?;
        }
        writeln!(
            text,
            "  signal to noise   {ratio} (outputs against the float model's, {} samples)",
            quantised.measured
        )?;
        if let Some(calls) = quantised.calls {
            writeln!(text, "                    {calls:.1} dB over {samples} consecutive calls, each with the state that the last one left")?;
        }
        writeln!(text, "  file              {} ({} bytes)", self.output.display(), self.bytes)?;
        if quantised.states.is_empty() {
            return Ok(());
        }
        writeln!(
            text,
            "  states            inputs and outputs of the file; these options make states of them again:"
        )?;
        for StatePair { output, input } in &quantised.states {
            writeln!(text, "                    state(\"{output}\", \"{input}\")")?;
        }
        Ok(())
    }

    /// The same as JSON. Ratios are null where nothing differs.
    pub fn json(&self) -> Value {
        let ratio = |ratio: f64| if ratio.is_finite() { json!(ratio) } else { Value::Null };
        let Report { quantised, .. } = self;
        let layers: Vec<Value> = quantised
            .layers
            .iter()
            .map(|layer| {
                json!({
                    "number": layer.number,
                    "name": layer.name,
                    "op": layer.op,
                    "precision": word(layer.precision),
                    "fell_back": quantised.fallen.contains(&layer.number),
                    "snr_alone_db": ratio(layer.alone),
                })
            })
            .collect();
        json!({
            "model": self.model,
            "output": self.output,
            "bytes": self.bytes,
            "samples": self.samples,
            "method": method(quantised.method),
            "snr_db": ratio(quantised.snr),
            "snr_of_calls_db": quantised.calls.map_or(Value::Null, ratio),
            "snr_before_fallback_db": ratio(quantised.first_snr),
            "samples_measured": quantised.measured,
            "equalised": quantised.equalised,
            "bias_corrected": quantised.corrected,
            "integers": self.integers.iter().map(|(name, ty)| json!({ "name": name, "type": ty })).collect::<Vec<_>>(),
            "states": quantised.states.iter().map(|pair| json!({ "output": pair.output, "input": pair.input })).collect::<Vec<_>>(),
            "layers": layers,
        })
    }
}

fn word(precision: Precision) -> &'static str {
    match precision {
        Precision::I8 => "int8",
        Precision::I16 => "int16",
        Precision::Float => "float",
    }
}

fn method(method: Method) -> String {
    match method {
        Method::MinMax => "minmax".into(),
        Method::Percentile(percent) => format!("percentile ({percent} %)"),
        Method::Mse => "mse".into(),
        Method::Entropy => "entropy".into(),
    }
}
