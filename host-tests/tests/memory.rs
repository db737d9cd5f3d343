//! The tables of memory in `docs/benchmarks.md` and `docs/memory.md` are what the compiler gives. `KILN_BLESS=1` writes them, with the models of `KILN_CORPUS`.

use cargo_kiln::number::grouped;
use kiln_codegen::schedule::{peak, schedule};
use kiln_codegen::{compile, Compiled, Error, Input, Io, Optimize, Options, Target};
use kiln_host_tests::{corpus_folder, own_models};
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- memory: begin -->\n";
const END: &str = "<!-- memory: end -->";

/// A model of the corpus: the arena of TensorFlow Lite Micro in bytes (with CMSIS-NN, August 2026), what others published, and the most that Kiln
/// may need with `optimize = "memory"`.
struct Known {
    model: &'static str,
    io: Io,
    tflm: usize,
    most: usize,
    published: &'static str,
}

const fn known(model: &'static str, tflm: usize, most: usize) -> Known {
    Known { model, io: Io::Native, tflm, most, published: "" }
}

const KNOWN: &[Known] = &[
    known("mlperf_kws_int8", 22_820, 6_000),
    known("mlperf_ic_int8", 54_996, 18_000),
    known("mlperf_vww_int8", 100_708, 36_000),
    known("mlperf_ad_int8", 2_580, 800),
    known("mlperf_strww_int8", 16_596, 4_500),
    known("mww_okay_nabu", 19_268, 4_500),
    known("mww_hey_jarvis", 17_492, 4_500),
    known("mww_vad", 10_052, 2_000),
    known("micro_kws_int8", 41_316, 7_000),
    known("tflm_person_detect_int8", 82_308, 24_000),
    Known {
        model: "tinyengine_mcunet_vww_int8",
        io: Io::Quantized,
        tflm: 219_808,
        most: 45_000,
        published: "TinyEngine 92 kB, X-CUBE-AI 113 kB (a), MCUNetV2 45 kB (b)",
    },
    Known {
        model: "mobilenet_v2_035_160_int8",
        io: Io::Native,
        tflm: 450_756,
        most: 110_000,
        published: "with 144×144 pixels: TinyEngine 295 kB, X-CUBE-AI 296 kB (a), MCUNetV2 63 kB (b)",
    },
];

/// The project's own models in the table.
const OWN: [&str; 3] = ["residual_int8", "stream_int8", "temporal_int8"];

const NOTES: &str = "\
RAM in bytes on a Cortex-M4: arena and state, with inputs, outputs and workspaces of kernels. TFLM is the arena of TensorFlow Lite Micro with CMSIS-NN (August 2026).

- *Layer by layer*: whole tensors, computed one after the other in the best order found, with elementwise operators in place and without alignment.
- *By rows*: `input = \"rows\"` with `optimize = \"memory\"`, for models whose first layers go row by row.
- tinyengine_mcunet_vww_int8 takes floats in TFLM. In Kiln it takes integers (`io = \"quantized\"`).

[How this works](memory.md). What others published:

- (a) Peak SRAM measured on an STM32H743, from [TinyEngine's README](https://github.com/mit-han-lab/tinyengine#measured-results) (December 2022). The models are mcunet-vww1 and mbv2-w0.35 of [MCUNet's model zoo](https://github.com/mit-han-lab/mcunet#model-zoo). The latter takes 144×144 pixels there.
- (b) Patch-based inference, as [msf-CNN](https://arxiv.org/abs/2505.11483) reports it for models of these names (MN2-vww5, MBV2-w0.35). The schedules of msf-CNN need still less RAM. They compute parts of a layer more than once, [as Kiln may](memory.md#rows-that-are-computed-again).
- MCUNetV2 itself ([arXiv 2110.15352](https://arxiv.org/abs/2110.15352)) reports 32 kB, for another network on the Visual Wake Words data.";

#[test]
fn the_page_has_the_memory() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the page has no place for the table of memory");
    let (old, after) = rest.split_once(END).expect("the page has no end of the table of memory");
    let rows: Vec<String> = models().iter().map(|(path, known)| row(path, *known)).collect();
    if std::env::var_os("KILN_BLESS").is_some() {
        assert!(corpus_folder().is_some(), "set KILN_CORPUS: the table has the corpus models");
        std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", table(&rows))).unwrap();
        return;
    }
    let missing: Vec<&String> = rows.iter().filter(|row| !old.contains(row.as_str())).collect();
    assert!(
        missing.is_empty(),
        "the memory of docs/benchmarks.md is not fresh (KILN_BLESS=1 writes it); now:\n{missing:#?}"
    );
}

fn models() -> Vec<(PathBuf, Option<&'static Known>)> {
    let mut models = Vec::new();
    match corpus_folder() {
        Some(folder) => models.extend(
            KNOWN
                .iter()
                .map(|known| (folder.join("tflite").join(known.model).with_extension("tflite"), Some(known))),
        ),
        None => println!("KILN_CORPUS is not set: the memory of the corpus models was not compared"),
    }
    models
        .extend(own_models().into_iter().filter(|m| OWN.contains(&m.name.as_str())).map(|m| (m.path, None)));
    models
}

fn row(path: &Path, known: Option<&Known>) -> String {
    let bytes = std::fs::read(path).unwrap();
    let name = kiln_codegen::model_name(path);
    let io = known.map_or(Io::Native, |known| known.io);
    // Workspaces of kernels count.
    let target = Some(Target::CortexMDsp);
    let compiled = |optimize, input| {
        compile(&bytes, &name, &Options { optimize, input, io, target, ..Options::default() })
    };
    let speed = compiled(Optimize::Speed, Input::Whole).unwrap();
    let memory = compiled(Optimize::Memory, Input::Whole).unwrap();
    let by_rows = match compiled(Optimize::Memory, Input::Rows) {
        Ok(compiled) => grouped(ram(&compiled)),
        Err(Error::Options(_)) => "–".into(),
        Err(error) => panic!("{name} with its input by rows: {error}"),
    };
    assert!(ram(&memory) <= ram(&speed), "{name}: optimising for memory needs more of it");
    let (tflm, published) = match known {
        Some(known) => {
            assert!(ram(&speed) <= known.tflm as u64, "{name} needs more memory than TensorFlow Lite Micro");
            assert!(ram(&memory) <= known.most as u64, "{name} needs {} bytes", ram(&memory));
            (grouped(known.tflm as u64), known.published)
        }
        None => ("–".into(), ""),
    };
    format!(
        "| {name} | {} | {} | {} | {by_rows} | {tflm} | {published} |",
        grouped(layer_by_layer(&speed)),
        grouped(ram(&speed)),
        grouped(ram(&memory)),
    )
}

/// Models of the table of rows that are computed again, and whether that is found in a second or two. The others are compared in sweeps.
const AGAIN: [(&str, bool); 5] = [
    ("mlperf_kws_int8", true),
    ("mlperf_vww_int8", false),
    ("tflm_person_detect_int8", true),
    ("tinyengine_mcunet_vww_int8", false),
    ("mobilenet_v2_035_160_int8", false),
];

#[test]
fn the_page_has_the_memory_of_rows_that_are_computed_again() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: the memory of rows that are computed again was not compared");
        return;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/memory.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) =
        text.split_once("<!-- again: begin -->\n").expect("the page has no place for the table");
    let (old, after) = rest.split_once("<!-- again: end -->").expect("the page has no end of the table");
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let all = bless || std::env::var_os("KILN_SWEEP").is_some();
    let rows: Vec<String> = AGAIN
        .iter()
        .filter(|(_, quick)| all || *quick)
        .map(|(model, _)| again(&folder.join("tflite").join(model).with_extension("tflite")))
        .collect();
    if bless {
        let head = "RAM in bytes on a Cortex-M4, `input = \"rows\"`, `io = \"quantized\"`, `optimize = \"memory\"`:\n\n| model | nothing again | `recompute = \"1.2\"` | `\"1.4\"` |\n|---|--:|--:|--:|\n";
        let table = format!("<!-- again: begin -->\n{head}{}\n<!-- again: end -->", rows.join("\n"));
        std::fs::write(&path, format!("{before}{table}{after}")).unwrap();
        return;
    }
    let missing: Vec<&String> = rows.iter().filter(|row| !old.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/memory.md is not fresh (KILN_BLESS=1 writes it); now:\n{missing:#?}");
}

fn again(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let name = kiln_codegen::model_name(path);
    let needs = [1000, 1200, 1400].map(|recompute| {
        let options = Options {
            optimize: Optimize::Memory,
            input: Input::Rows,
            io: Io::Quantized,
            target: Some(Target::CortexMDsp),
            recompute: Some(recompute),
            ..Options::default()
        };
        ram(&compile(&bytes, &name, &options).unwrap_or_else(|error| panic!("{name}: {error}")))
    });
    assert!(
        needs[1] < needs[0] && needs[2] <= needs[1],
        "{name}: nothing is saved by computing rows again, or less with more of them: {needs:?}"
    );
    format!("| {name} | {} |", needs.map(grouped).join(" | "))
}

fn ram(compiled: &Compiled) -> u64 {
    (compiled.plan.arena_bytes + compiled.plan.state_bytes) as u64
}

/// Bytes that are live at the same time where every layer computes a whole tensor, and what is retained.
fn layer_by_layer(compiled: &Compiled) -> u64 {
    let whole = schedule(&compiled.graph);
    let retained: usize = whole.storage.buffers.iter().filter(|b| !b.role.in_arena()).map(|b| b.bytes).sum();
    (peak(&compiled.graph, &whole) + retained) as u64
}

fn table(rows: &[String]) -> String {
    format!(
        "| model | layer by layer | `\"speed\"` | `\"memory\"` | by rows | TFLM | published by others |\n\
         |---|--:|--:|--:|--:|--:|---|\n{}\n\n{NOTES}\n",
        rows.join("\n")
    )
}
