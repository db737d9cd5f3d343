//! Firmware tells about its layers in real defmt frames, which `defmt-decoder` reads: the layers in order, the interpreter's ranges, a clock
//! that does not run backwards.

use cargo_kiln::place::{build_firmware, for_board};
use defmt_decoder::{DecodeError, Table};
use kiln::record::Stream;
use kiln_boards::firmware::{build_program, Mode, ProgramRequest};
use kiln_boards::image::Image;
use kiln_boards::{qemu, work_dir, Board};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, ValueId};
use kiln_codegen::schedule::StepKind;
use kiln_codegen::{compile_file, Compiled, Events, Input, Options};
use kiln_host_tests::own_models;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const BOARD: &str = "qemu-cortex-m4";

fn compiled(model: &str, options: Options) -> Compiled {
    let model = own_models().into_iter().find(|m| m.name == model).unwrap();
    compile_file(&model.path, &for_board(&options, Board::find(BOARD).unwrap())).unwrap()
}

#[test]
fn each_layer_is_told_about_once() {
    let compiled = compiled("residual_int8", Options { events: Events::Layers, ..Options::default() });
    let layers = run(&compiled);
    let steps: Vec<usize> = layers.iter().map(|layer| layer.index).collect();
    assert_eq!(steps, (0..compiled.schedule.steps.len()).collect::<Vec<_>>());
    assert!(layers.iter().all(|layer| layer.first == 0 && layer.cycles > 0), "{layers:?}");
    agree(&compiled, &layers);
}

#[test]
fn layers_that_take_turns_are_told_about_rows_by_rows() {
    let options = Options { events: Events::Layers, input: Input::Rows, ..Options::default() };
    let compiled = compiled("residual_int8", options);
    let layers = run(&compiled);
    assert!(layers.len() > compiled.schedule.steps.len());
    agree(&compiled, &layers);
}

/// What a frame says of a layer.
#[derive(Debug)]
struct Layer {
    index: usize,
    name: String,
    first: usize,
    end: usize,
    min: i32,
    max: i32,
    cycles: u32,
    start: u32,
}

impl Layer {
    /// From `layer 3 conv2d "mix": rows 0..8, -128 to 97, 5120 cycles from 90412`.
    fn read(text: &str) -> Option<Layer> {
        let (index, rest) = text.strip_prefix("layer ")?.split_once(' ')?;
        let (name, rest) = rest.split_once(": rows ")?;
        let (rows, rest) = rest.split_once(", ")?;
        let (range, time) = rest.split_once(", ")?;
        let (first, end) = rows.split_once("..")?;
        let (min, max) = range.split_once(" to ")?;
        let (cycles, start) = time.split_once(" cycles from ")?;
        Some(Layer {
            index: index.parse().ok()?,
            name: name.to_owned(),
            first: first.parse().ok()?,
            end: end.parse().ok()?,
            min: min.parse().ok()?,
            max: max.parse().ok()?,
            cycles: cycles.parse().ok()?,
            start: start.parse().ok()?,
        })
    }
}

/// The value that a step computes, or copies.
fn value_of(compiled: &Compiled, step: usize) -> ValueId {
    match compiled.schedule.steps[step].kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => compiled.graph.node(node).result,
        StepKind::Copy { value, .. } => value,
    }
}

/// Names are those of the graph, times are in order, rows are complete and in order, and ranges are those of the interpreter.
fn agree(compiled: &Compiled, layers: &[Layer]) {
    let graph = &compiled.graph;
    let mut bytes = (0u32..).map(|i| (i.wrapping_mul(37).wrapping_add(11)) as u8);
    let inputs: Vec<Data> = (graph.inputs.iter())
        .map(|&id| {
            let ty = graph.ty(id);
            assert_eq!(ty.dtype, DType::I8);
            Data::new(bytes.by_ref().take(ty.bytes()).collect::<Vec<u8>>())
        })
        .collect();
    let values = Machine::new(graph).run_values(&inputs).unwrap();
    let mut now = 0;
    for layer in layers {
        assert!(layer.start >= now, "{layer:?} begins before {now}");
        now = layer.start + layer.cycles;
    }
    for step in 0..compiled.schedule.steps.len() {
        let value = value_of(compiled, step);
        assert_eq!(graph.ty(value).dtype, DType::I8, "step {step}");
        let expected = values.get(value).unwrap().to_i8();
        let told: Vec<&Layer> = layers.iter().filter(|layer| layer.index == step).collect();
        let label = graph.value(value).label();
        assert!(told.iter().all(|l| l.name.ends_with(&format!(" {label:?}"))), "{told:?}: {label:?}");
        let mut rows = 0;
        for layer in &told {
            assert_eq!(layer.first, rows, "{layer:?}");
            rows = layer.end;
        }
        let min = told.iter().map(|layer| layer.min).min().unwrap();
        let max = told.iter().map(|layer| layer.max).max().unwrap();
        let range = expected.iter().fold((127, -128), |(min, max), &x| (x.min(min), x.max(max)));
        assert_eq!((min, max), (range.0.into(), range.1.into()), "step {step}: {told:?}");
    }
}

/// Runs firmware around the model, and returns what it says about layers.
fn run(compiled: &Compiled) -> Vec<Layer> {
    let elf = build(compiled);
    let frames = decoded(&elf, &output_of(&elf));
    let (info, rest) = frames.split_first().expect("there are no frames");
    assert!(info.starts_with("ModelInfo { name: \"residual_int8\""), "{info}");
    let (layers, after) = rest.split_at(rest.len().saturating_sub(4));
    assert_eq!(after[0], "Labelled { label: \"yes\", index: 1, score: 7 }");
    let rect = "Rect { left: 0.25, top: 0.5, right: 0.75, bottom: 1.0 }";
    assert_eq!(after[1], format!("Detection {{ rect: {rect}, class: 1, score: 0.5 }}"));
    assert_eq!(after[2], "Exponential { smoothed: Some([32768]), weight: 0.5, fixed: 32768 }");
    let mut recorded = Vec::new();
    Stream::new("mic", 1).send(&[1i16, -2, 300], |bytes| recorded.extend_from_slice(bytes));
    assert_eq!(after[3], format!("kiln-record {recorded:02x?}"));
    layers.iter().map(|text| Layer::read(text).unwrap_or_else(|| panic!("no layer: {text}"))).collect()
}

fn build(compiled: &Compiled) -> PathBuf {
    // Several tests build the same firmware, each from a file that none may see half of.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut board = Board::find(BOARD).unwrap().clone();
    board.rustflags.push("-Clink-arg=-Tdefmt.x".to_owned());
    let Options { events, input, .. } = &compiled.options;
    let model_rs = work_dir().unwrap().join(format!("events-{events:?}-{}.rs", input.name()));
    std::fs::write(&model_rs, compiled.file(&quote::quote!(pub)).unwrap()).unwrap();
    let model = compiled.type_name();
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/events").canonicalize().unwrap();
    let request = ProgramRequest {
        board: &board,
        name: "events",
        main_rs: format!(
            "#![no_std]
#![no_main]
#[path = {model_rs:?}]
#[allow(dead_code)]
mod model;

kiln_harness::main!(model::{model} = model::{model}::new(), |model| {{
    kiln_events_firmware::run(model);
    kiln_harness::exit(0)
}});
"
        ),
        dependencies: &[("kiln-events-firmware", &firmware)],
    };
    build_program(&request).unwrap_or_else(|error| panic!("{error}"))
}

/// All bytes that the firmware writes. They are no text.
fn output_of(elf: &Path) -> Vec<u8> {
    let board = Board::find(BOARD).unwrap();
    let mut qemu = qemu::command(board).unwrap();
    qemu.arg(elf);
    // Time goes by with instructions, about one tick of the timer for each: not by the clock of this machine.
    let output = qemu.args(["-icount", "shift=5"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    // Which of them semihosting writes to, depends on the version.
    [output.stdout, output.stderr].concat()
}

/// The messages of all frames.
fn decoded(elf: &Path, bytes: &[u8]) -> Vec<String> {
    let table = Table::parse(&std::fs::read(elf).unwrap()).unwrap().expect("there is no table of strings");
    let mut decoder = table.new_stream_decoder();
    decoder.received(bytes);
    let mut messages = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => messages.push(frame.display_message().to_string()),
            Err(DecodeError::UnexpectedEof) => return messages,
            Err(DecodeError::Malformed) => panic!("a frame is malformed, behind {messages:?}"),
        }
    }
}

#[test]
fn without_the_option_nothing_is_there() {
    let code = compiled("residual_int8", Options::default()).file(&quote::quote!(pub)).unwrap();
    assert!(!code.contains("event") && code.contains("fn step_00"));
}

/// What can panic, format or allocate.
fn unwanted(elf: &Path) -> BTreeSet<String> {
    Image::read(elf).unwrap().unwanted().iter().map(|symbol| symbol.name.clone()).collect()
}

#[test]
fn events_cannot_panic() {
    let with = compiled("residual_int8", Options { events: Events::Layers, ..Options::default() });
    let firmware = build_firmware(&with, Board::find(BOARD).unwrap(), Mode::Bench).unwrap();
    assert_eq!(unwanted(&firmware.elf), BTreeSet::new());
    // With defmt there is what its transport brings along, whether the model tells about itself or not; nothing formats on the target.
    let without = compiled("residual_int8", Options::default());
    let transport = unwanted(&build(&without));
    assert_eq!(unwanted(&build(&with)), transport);
    assert!(transport.iter().all(|name| !name.contains("core::fmt")), "{transport:?}");
}

/// Public in a private module, or hidden: nobody else has one.
const INTERNAL: [&str; 2] = ["Cutoff", "Started"];

/// Memory, not values: these have no `Debug` either.
const MEMORY: [&str; 6] = ["Arena", "Bytes", "Input", "Memory", "Output", "Rows"];

/// The firmware of these tests has `defmt::Format` asked of each type that is named there: it compiles only if they have it.
#[test]
fn every_public_type_can_be_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let asked = std::fs::read_to_string(root.join("host-tests/firmware/events/src/formats.rs")).unwrap();
    let is_asked = |name: &str| {
        let names = [">", "<"].map(|end| format!("::{name}{end}"));
        names.iter().any(|name| asked.contains(name))
    };
    let types = public_types(&root.join("runtime-nostd/src"));
    assert!(types.len() > 40, "{types:?}");
    for name in &types {
        let is_other = INTERNAL.contains(&name.as_str()) || MEMORY.contains(&name.as_str());
        assert!(is_asked(name) != is_other, "{name}: in formats.rs, or else listed here, and not both");
    }
    for name in INTERNAL.iter().chain(&MEMORY) {
        assert!(types.contains(*name), "there is no {name} any more");
    }
}

/// Names of the types that files below a folder declare as `pub`.
fn public_types(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(public_types(&entry.path()));
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let declared = |line: &str| {
            let rest =
                ["pub struct ", "pub enum ", "pub union "].iter().find_map(|kind| line.strip_prefix(kind))?;
            Some(rest.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned())
        };
        found.extend(text.lines().filter_map(declared));
    }
    found
}
