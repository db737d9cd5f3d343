//! What integers cost in accuracy: the networks of `examples/from-pytorch`, trained on real data, quantised, compiled for this machine, and run on all samples that
//! training never saw; beside ONNX Runtime's own quantiser and TensorFlow Lite's converter, whose results the example's scripts recorded.
//!
//! `KILN_BLESS=1` writes the example's quantised models and its table.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::npz;
use cargo_kiln::place::Place;
use cargo_kiln::quantize::samples;
use kiln_codegen::ir::Data;
use kiln_codegen::{compile_file, import, Options};
use kiln_tools::quantize::{quantize, Settings};
use kiln_tools::write;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- accuracy: begin -->\n";
const END: &str = "<!-- accuracy: end -->";

/// Percentage points that integers may cost.
const LOSS: f64 = 0.5;

/// A network, and how many samples each program gets right with it.
#[derive(Debug)]
struct Network {
    name: String,
    samples: usize,
    /// The float network in ONNX Runtime.
    float: usize,
    /// Quantised and run by ONNX Runtime.
    onnxruntime: usize,
    /// Quantised by TensorFlow Lite's converter, run by LiteRT.
    tflite: usize,
}

impl Network {
    /// The rows of `data/accuracy.csv`.
    fn all() -> Vec<Network> {
        let text = std::fs::read_to_string(example().join("data/accuracy.csv")).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("network,samples,float,onnxruntime,tflite"));
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |k: usize| cells[k].parse().unwrap();
            let [samples, float, onnxruntime, tflite] = [1, 2, 3, 4].map(number);
            Network { name: cells[0].into(), samples, float, onnxruntime, tflite }
        };
        lines.map(row).collect()
    }

    fn path(&self, kind: &str) -> PathBuf {
        example().join(format!("models/{}_{kind}.onnx", self.name))
    }

    fn percent(&self, right: usize) -> f64 {
        100.0 * right as f64 / self.samples as f64
    }
}

/// Samples that training never saw, what they show, and the float network's outputs in ONNX Runtime.
struct Test {
    inputs: Vec<Vec<Data>>,
    labels: Vec<usize>,
    logits: Vec<Vec<f32>>,
}

impl Test {
    fn of(network: &Network) -> Test {
        let mut arrays = npz::read(&example().join(format!("data/{}.npz", network.name))).unwrap();
        let mut take = |name: &str| arrays.remove(name).unwrap();
        let test = Test {
            inputs: take("test_0").split().into_iter().map(|sample| vec![sample]).collect(),
            labels: take("labels").data.bytes().iter().map(|&label| label.into()).collect(),
            logits: take("logits").split().iter().map(Data::to_f32).collect(),
        };
        assert_eq!([test.inputs.len(), test.labels.len(), test.logits.len()], [network.samples; 3]);
        test
    }

    fn right(&self, outputs: &[Vec<f32>]) -> usize {
        outputs.iter().zip(&self.labels).filter(|(output, &label)| largest(output) == label).count()
    }
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/from-pytorch")
}

/// The place of the largest number.
fn largest(numbers: &[f32]) -> usize {
    (0..numbers.len()).max_by(|&a, &b| numbers[a].total_cmp(&numbers[b])).unwrap()
}

/// The outputs of the generated code of a model, compiled for this machine.
fn outputs(model: &Path, inputs: &[Vec<Data>]) -> Vec<Vec<f32>> {
    let place = Place::find("host").unwrap();
    let options = place.options(&Options::default());
    let compiled = compile_file(model, &options).unwrap();
    let results = place.run(&compiled.graph, &compiled, inputs).unwrap();
    results.iter().map(|outputs| outputs[0].to_f32()).collect()
}

#[test]
fn integers_cost_little() {
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let mut table = String::from(
        "| network | samples | float | int8 by Kiln | by ONNX Runtime's quantiser | by TensorFlow Lite's converter |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for network in Network::all() {
        let name = &network.name;
        let test = Test::of(&network);

        let float = outputs(&network.path("f32"), &test.inputs);
        let largest = test.logits.iter().flatten().fold(0f32, |most, x| most.max(x.abs()));
        let differences =
            float.iter().flatten().zip(test.logits.iter().flatten()).map(|(a, b)| (a - b).abs());
        let difference = differences.fold(0f32, f32::max) / largest;
        assert!(difference <= 1e-5, "{name}: floats differ from ONNX Runtime's by {difference:e}");
        assert_eq!(test.right(&float), network.float, "{name}: as many right as with ONNX Runtime");

        // What is committed is what `cargo kiln quantize` writes today.
        let graph = import(&std::fs::read(network.path("f32")).unwrap(), name, &Options::default()).unwrap();
        let samples = samples(&graph, &example().join(format!("data/{name}.npz"))).unwrap();
        let quantised = quantize(&graph, &samples, &Settings::default(), &|_, _, _| {}).unwrap();
        let bytes = write::onnx(&quantised.graph, &write::Settings::default()).unwrap();
        let committed = network.path("int8");
        if bless {
            std::fs::write(&committed, &bytes).unwrap();
        }
        assert!(
            bytes == std::fs::read(&committed).unwrap_or_default(),
            "{} is not fresh (KILN_BLESS=1 writes it)",
            committed.display()
        );

        let right = test.right(&outputs(&committed, &test.inputs));
        println!("{network:?}: {right} right in integers, {:.1} dB", quantised.snr);
        let loss = network.percent(network.float) - network.percent(right);
        assert!(loss <= LOSS, "{name}: integers cost {loss:.2} percentage points");
        assert!(
            right >= network.onnxruntime.min(network.float),
            "{name}: ONNX Runtime's quantiser does better"
        );

        write!(table, "| {name} | {} |", network.samples).unwrap();
        for right in [network.float, right, network.onnxruntime, network.tflite] {
            write!(table, " {:.2} % |", network.percent(right)).unwrap();
        }
        table.push('\n');
    }

    let path = example().join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (old, after) = rest.split_once(END).unwrap();
    if bless {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert!(
            old == table,
            "the table of {} is not fresh (KILN_BLESS=1 writes it):\n{table}",
            path.display()
        );
    }
}
