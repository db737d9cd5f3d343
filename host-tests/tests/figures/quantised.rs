//! Float models quantised by Kiln beside the same models quantised by TensorFlow Lite's converter: how near to the float model they are, and what they cost on a Cortex-M4.

use crate::measured::measured;
use cargo_kiln::bench::{bench, Report};
use cargo_kiln::number::grouped;
use cargo_kiln::quantize::samples;
use kiln_codegen::interp::{eval, Machine};
use kiln_codegen::ir::{DType, Data, Graph, Op, Rounding, Type};
use kiln_codegen::{import, passes, Io, Options};
use kiln_tools::quantize::{quantize, Settings};
use kiln_tools::write;
use std::path::Path;

/// The models of which there are both a float file and the converter's file, and what they are.
const MODELS: [(&str, &str); 4] = [
    ("mlperf_ic", "MLPerf Tiny, image classification"),
    ("mlperf_vww", "MLPerf Tiny, visual wake words"),
    ("mlperf_ad", "MLPerf Tiny, anomaly detection"),
    ("micro_kws", "keywords"),
];

/// How many more cycles for a multiplication than the converter's model one may take.
const MARGIN: f64 = 1.01;

/// A model, quantised twice. Ratios of signal to noise in dB against the float model, cycles on a Cortex-M4.
pub struct Row {
    name: &'static str,
    what: &'static str,
    samples: usize,
    /// The converter's.
    theirs: Figures,
    /// Kiln's.
    ours: Figures,
}

/// Of one of the two.
struct Figures {
    snr: f64,
    cycles: u64,
    /// Multiplications that are computed: none of channels that never change.
    macs: u64,
}

impl Figures {
    fn of(snr: f64, report: &Report) -> Figures {
        Figures { snr, cycles: report.result().total.cycles, macs: report.macs().unwrap() }
    }

    fn per_mac(&self) -> f64 {
        self.cycles as f64 / self.macs as f64
    }
}

impl Row {
    /// Quantises and measures a model.
    fn of(folder: &Path, (name, what): (&'static str, &'static str)) -> Row {
        let read = |name: String| {
            let bytes = std::fs::read(folder.join(format!("tflite/{name}.tflite"))).unwrap();
            import(&bytes, &name, &Options::default()).unwrap()
        };
        let (float, converted) = (read(format!("{name}_f32")), read(format!("{name}_int8")));
        let samples = samples(&float, &folder.join(format!("golden/{name}_f32.npz"))).unwrap();
        let wanted = outputs(&float, &samples);
        let quantised = quantize(&float, &samples, &Settings::default(), &|_, _, _| {}).unwrap();
        let file = write::onnx(&quantised.graph, &write::Settings::default()).unwrap();
        // Read again, as integers.
        let options = Options::default();
        let mut compiled = import(&file, name, &options).unwrap();
        passes::run_for(&mut compiled, &options).unwrap();
        assert_eq!(floats(&compiled), [""; 0], "{name}: layers in floats");
        let snr = ratio(&wanted, &outputs(&compiled, &samples));
        assert!((snr - quantised.snr).abs() < 0.01, "{name}: {snr} dB, reported {}", quantised.snr);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_by_kiln.onnx"));
        std::fs::write(&path, &file).unwrap();
        let options = Options { io: Io::Quantized, ..options };
        let report = bench(&path, &options, "qemu-cortex-m4", false).unwrap();
        let other = measured().iter().find(|model| model.name == format!("{name}_int8")).unwrap();
        let their_report = other.speed.as_ref().unwrap();
        Row {
            name,
            what,
            samples: samples.len(),
            theirs: Figures::of(ratio(&wanted, &converters(&converted, &samples)), their_report),
            ours: Figures::of(snr, &report),
        }
    }

    /// Asserts that it is at least as near to the float model, at the cost.
    fn check(&self) {
        let Row { name, theirs, ours, .. } = self;
        assert!(ours.snr >= theirs.snr, "{name}: {:.2} dB, the converter's {:.2}", ours.snr, theirs.snr);
        let (own, most) = (ours.per_mac(), theirs.per_mac() * MARGIN);
        assert!(
            own <= most,
            "{name}: {own:.3} cycles for a multiplication, the converter's {:.3}",
            theirs.per_mac()
        );
    }

    /// In Markdown.
    fn text(&self) -> String {
        let Row { name, what, samples, theirs, ours } = self;
        format!(
            "| `{name}`: {what} | {samples} | {:.1} dB | {:.1} dB | {} | {} | {} | {} | {:.2} | {:.2} |",
            theirs.snr,
            ours.snr,
            grouped(theirs.cycles),
            grouped(ours.cycles),
            grouped(theirs.macs),
            grouped(ours.macs),
            theirs.per_mac(),
            ours.per_mac(),
        )
    }
}

/// All of them, measured and checked, where their files and figures are.
pub fn rows(folder: &Path) -> Vec<Row> {
    let known = |name: &str| measured().iter().any(|model| model.name == format!("{name}_int8"));
    let rows: Vec<Row> =
        MODELS.into_iter().filter(|(name, _)| known(name)).map(|model| Row::of(folder, model)).collect();
    rows.iter().for_each(|row| println!("{}", row.text()));
    rows.iter().for_each(Row::check);
    rows
}

/// What stands between the marks in the guide.
pub fn text(rows: &[Row], compiler: &str) -> String {
    let rows: Vec<String> = rows.iter().map(Row::text).collect();
    format!(
        "Both models have integer inputs and outputs. One inference on an emulated Cortex-M4 (`{compiler}`, [estimated cycles](cycles.md)). The samples are the golden inputs of the corpus. \
         The same samples serve for calibration, for the choice of the method and for the ratio, so the ratio may be lower in use. MACs are those that Kiln computes: channels that never change are removed, \
         and more exact weights have fewer such channels.\n\n\
         | model | samples | signal to noise, TFLite's file | Kiln's | cycles, TFLite's file | Kiln's | MACs, TFLite's file | Kiln's | cycles/MAC, TFLite's file | Kiln's |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n{}\n",
        rows.join("\n")
    )
}

/// What computes in floats, between the edges of a graph.
fn floats(graph: &Graph) -> Vec<String> {
    let between = |op: &Op| !matches!(op, Op::Quantize { .. } | Op::Dequantize {});
    let left =
        graph.nodes().filter(|(_, node)| between(&node.op) && graph.ty(node.result).dtype == DType::F32);
    left.map(|(_, node)| format!("{} {}", node.op.name(), graph.value(node.result).label())).collect()
}

/// The first output of each sample, in floats.
fn outputs(graph: &Graph, samples: &[Vec<Data>]) -> Vec<Vec<f32>> {
    let mut machine = Machine::new(graph);
    samples.iter().map(|sample| machine.run(sample).unwrap()[0].to_f32()).collect()
}

/// What the converter's model of integers makes of float samples, in floats.
fn converters(graph: &Graph, samples: &[Vec<Data>]) -> Vec<Vec<f32>> {
    let (x, y) = (graph.ty(graph.inputs[0]), graph.ty(graph.outputs[0]));
    let float = |ty: &Type| Type::plain(DType::F32, ty.shape.dims());
    let mut machine = Machine::new(graph);
    let mut answer = |sample: &Vec<Data>| {
        let input = eval(&Op::Quantize { rounding: Rounding::Away }, &[(&float(x), &sample[0])], x).unwrap();
        let output = machine.run(&[input]).unwrap().remove(0);
        eval(&Op::Dequantize {}, &[(y, &output)], &float(y)).unwrap().to_f32()
    };
    samples.iter().map(&mut answer).collect()
}

/// In dB.
fn ratio(float: &[Vec<f32>], other: &[Vec<f32>]) -> f64 {
    let (mut signal, mut noise) = (0.0, 0.0);
    for (x, y) in float.iter().flatten().zip(other.iter().flatten()) {
        signal += f64::from(*x).powi(2);
        noise += f64::from(x - y).powi(2);
    }
    10.0 * (signal / noise).log10()
}
