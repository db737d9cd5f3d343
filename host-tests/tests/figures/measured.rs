//! What Kiln needs: measured once, for the table and for the goals.

use crate::baselines::{baselines, Baseline};
use cargo_kiln::bench::{bench, Report};
use kiln_codegen::front::inspect;
use kiln_codegen::{compile_file, Error, Input, Optimize, Options};
use kiln_host_tests::{corpus_folder, own_models};
use std::path::Path;
use std::sync::OnceLock;

/// A model, and what it needs.
pub struct Measured {
    /// The model's name.
    pub name: String,
    /// As TensorFlow Lite Micro runs it, if it does.
    pub baseline: Option<Baseline>,
    /// On a Cortex-M4 with `optimize = "speed"`; `None` where the model does not compile.
    pub speed: Option<Report>,
    /// The same with `optimize = "size"`.
    pub size: Option<Report>,
    /// On a Cortex-M0+ with `optimize = "speed"`, where TensorFlow Lite Micro was measured there.
    pub m0: Option<Report>,
    /// The same on a Cortex-M55.
    pub m55: Option<Report>,
    /// The same on a core with RV32IMC.
    pub rv32: Option<Report>,
}

/// The project's own models in the table.
const OWN: [&str; 3] = ["residual_int8", "stream_int8", "temporal_int8"];

/// All models of the table. Without `KILN_CORPUS` the project's own ones. `KILN_MODELS` picks those whose name contains it.
pub fn measured() -> &'static [Measured] {
    static MEASURED: OnceLock<Vec<Measured>> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let wanted = wanted().unwrap_or_default();
        let mut all = Vec::new();
        match corpus_folder() {
            Some(folder) => {
                for baseline in baselines().into_iter().filter(|baseline| baseline.name.contains(&wanted)) {
                    let path = folder.join("tflite").join(&baseline.name).with_extension("tflite");
                    all.push(measure_corpus(&path, baseline));
                }
            }
            None => println!("KILN_CORPUS is not set: the figures of the corpus models were not compared"),
        }
        for own in own_models().iter().filter(|m| OWN.contains(&m.name.as_str()) && m.name.contains(&wanted))
        {
            let (speed, size) = (speed(&own.path, Input::Whole), size(&own.path));
            let name = own.name.clone();
            all.push(Measured {
                name,
                baseline: None,
                speed: Some(speed),
                size: Some(size),
                m0: None,
                m55: None,
                rv32: None,
            });
        }
        all
    })
}

/// Which models to measure, if not all.
pub fn wanted() -> Option<String> {
    std::env::var("KILN_MODELS").ok()
}

fn measure_corpus(path: &Path, baseline: Baseline) -> Measured {
    let name = baseline.name.clone();
    if let Some(operator) = &baseline.lacks {
        let refusal = match compile_file(path, &Options::default()) {
            Ok(_) => panic!("{name} compiles: it does not lack {operator} any more (baselines/tflm.toml)"),
            Err(Error::Unsupported(problems)) => format!("{problems:?}"),
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(refusal.contains(operator), "{name} is refused, but not for {operator}: {refusal}");
        return Measured {
            name,
            baseline: Some(baseline),
            speed: None,
            size: None,
            m0: None,
            m55: None,
            rv32: None,
        };
    }
    let input = if baseline.sliding { Input::Sliding } else { Input::Whole };
    let speed = speed(path, input);
    let file = inspect(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(file.macs, baseline.macs, "{name}: multiply-accumulates");
    let size = (!baseline.sliding).then(|| size(path));
    let m0 = baseline.m0_instructions.map(|_| report(path, Options::default(), "qemu-cortex-m0"));
    let m55 = baseline.m55_instructions.map(|_| report(path, Options::default(), "qemu-cortex-m55"));
    let rv32 = baseline.rv32_instructions.map(|_| report(path, Options::default(), "qemu-rv32imc"));
    Measured { name, baseline: Some(baseline), speed: Some(speed), size, m0, m55, rv32 }
}

fn speed(path: &Path, input: Input) -> Report {
    report(path, Options { input, ..Options::default() }, "qemu-cortex-m4")
}

fn size(path: &Path) -> Report {
    report(path, Options { optimize: Optimize::Size, ..Options::default() }, "qemu-cortex-m4")
}

fn report(path: &Path, options: Options, board: &str) -> Report {
    bench(path, &options, board, false).unwrap()
}
