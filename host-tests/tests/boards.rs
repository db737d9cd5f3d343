//! Models as firmware of emulated boards whose kernels other tests call one by one: golden outputs.
//!
//! With `KILN_SWEEP` all networks of at most 20 million products, with every `optimize` and way of input that they allow.

use cargo_kiln::bench::bench;
use cargo_kiln::validate::validate;
use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::{qemu, Board};
use kiln_codegen::ir::macs;
use kiln_codegen::{Input, Optimize, Options, Target};
use kiln_host_tests::{networks, own_models, sweeps, unsupported, Model};
use std::time::Duration;

const BOARDS: [&str; 2] = ["qemu-cortex-m55", "qemu-rv32imc"];

/// A board that a sweep tries as well: the same kernels, compiled with instructions for bit manipulation.
const SWEPT: &str = "qemu-rv32imac-zb";

/// A board with two cores, which share steps there.
const TWO_CORES: &str = "qemu-cortex-m33-dual";

/// The same with RISC-V.
const TWO_HARTS: &str = "qemu-rv32imc-dual";

/// Products of one inference of the largest model of a sweep.
const MOST_MACS: u64 = 20_000_000;

/// Models that are tried in every run.
const OWN: [&str; 5] = ["residual_int8", "autoencoder_int8", "stream_int8", "temporal_int8", "cancer_int8"];

/// That of them which two cores compute.
const SHARED: &str = "residual_int8";

/// LLVM 22 writes a wrong exponent into the conversion of integers that are multiplied by a power of two, in this program if nothing prevents it.
#[test]
fn powers_of_two_scale_integers() {
    for board in BOARDS.map(|name| Board::find(name).unwrap()) {
        let main_rs = "#![no_std]
#![no_main]

#[inline(never)]
fn scaled(x: &[i8; 12], y: &mut [f32; 12]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = kiln::dequantize(*x, 1.0 / 256.0, -128);
    }
}

#[kiln_harness::entry]
fn main() -> ! {
    let x = core::hint::black_box([-128, -1, 0, 1, 2, 3, 4, 5, 64, 65, 126, 127]);
    let mut y = [0.0; 12];
    scaled(&x, &mut y);
    let equal = x.iter().zip(y).all(|(x, y)| (256.0 * core::hint::black_box(y)) as i32 == i32::from(*x) + 128);
    kiln_harness::exit((!equal).into())
}
";
        let request =
            ProgramRequest { board, name: "scaled", main_rs: main_rs.to_owned(), dependencies: &[] };
        let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
        qemu::run(board, &elf, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Every way to compile a model, and where it is tried.
fn ways() -> Vec<(Options, Vec<String>)> {
    let swept = if sweeps() { Some(SWEPT) } else { None };
    let boards: Vec<String> = BOARDS.into_iter().chain(swept).map(str::to_owned).collect();
    let shared =
        [(Optimize::Speed, None), (Optimize::Memory, None), (Optimize::Speed, Some(Target::CortexM0))];
    let shared =
        shared.map(|(optimize, target)| Options { optimize, target, cores: Some(2), ..Options::default() });
    let alone = ways_alone().into_iter().map(|options| (options, boards.clone()));
    let pairs = |options: &Options| match options.target {
        Some(_) => vec![TWO_CORES.to_owned()],
        None => vec![TWO_CORES.to_owned(), TWO_HARTS.to_owned()],
    };
    alone.chain(shared.into_iter().map(|options| (options.clone(), pairs(&options)))).collect()
}

fn ways_alone() -> Vec<Options> {
    let optimize = [Optimize::Speed, Optimize::Size, Optimize::Memory];
    let input = [Input::Rows, Input::Sliding];
    let whole = optimize.map(|optimize| Options { optimize, ..Options::default() });
    whole.into_iter().chain(input.map(|input| Options { input, ..Options::default() })).collect()
}

fn models() -> Vec<Model> {
    let mut models = if sweeps() { networks() } else { own_models() };
    models.retain(|model| match sweeps() {
        true => !unsupported().contains_key(&model.name),
        false => OWN.contains(&model.name.as_str()),
    });
    models
}

#[test]
fn models_have_their_golden_outputs() {
    let models = models();
    assert!(models.len() >= OWN.len(), "not all of {OWN:?} are there");
    let mut failed = Vec::new();
    for (model, (options, boards)) in
        models.iter().flat_map(|model| ways().into_iter().map(move |way| (model, way)))
    {
        let options = model.options(&options);
        let graph = kiln_codegen::import(&std::fs::read(&model.path).unwrap(), &model.name, &options);
        let graph = graph.unwrap();
        if graph.nodes().map(|(_, node)| macs(&graph, node)).sum::<u64>() > MOST_MACS {
            continue;
        }
        let way =
            format!("{} {:?} {:?}, {} cores", model.name, options.optimize, options.input, options.cores());
        if options.cores() > 1 && !sweeps() && model.name != SHARED {
            continue;
        }
        // Not every model takes its input row by row, or slides.
        if options.input != Input::Whole && kiln_codegen::compile_file(&model.path, &options).is_err() {
            continue;
        }
        match validate(&model.path, &options, &model.golden, &boards) {
            Ok(report) if report.passes() && report.cases > 0 => println!("{way}: passes"),
            Ok(report) => failed.push(format!("{way}: {}", report.text())),
            Err(error) => failed.push(format!("{way}: {error:#}\n")),
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.concat());
}

/// From what the larger of two cores takes for each part, and one for the rest. Of RAM they take a tenth more; on RISC-V a ninth, because four tiles of Winograd's algorithm have a larger workspace.
#[test]
fn two_cores_take_little_more_than_half() {
    let large: &[&str] =
        if sweeps() { &["mlperf_ic_int8", "mobilenet_v2_035_160_int8"] } else { &["mlperf_ic_int8"] };
    let networks = networks();
    for (board, wanted, most_ram) in [(TWO_CORES, large, 110), (TWO_HARTS, &large[..1], 111)] {
        for name in wanted {
            let Some(model) = networks.iter().find(|model| model.name == *name) else {
                println!("{name} is not tried: KILN_CORPUS names no folder that has it");
                continue;
            };
            let report = |cores| {
                let options = Options { cores: Some(cores), ..model.options(&Options::default()) };
                bench(&model.path, &options, board, false).unwrap_or_else(|error| panic!("{error:#}"))
            };
            let alone = report(1);
            let most = alone.result().total.cycles * 55 / 100;
            // The emulator's cores do not run at the same speed while this machine is busy: one may miss the other. Nothing makes them faster than they are.
            let mut together = report(2);
            for _ in 0..4 {
                if together.result().total.cycles > most {
                    together = report(2);
                }
            }
            let best = together.result().total.cycles;
            assert!(best <= most, "{name} on {board}: {best} of {} cycles", alone.result().total.cycles);
            let ram = [&alone, &together].map(|report| report.ram_bytes());
            assert!(ram[1] * 100 <= ram[0] * most_ram, "{name} on {board}: {ram:?} bytes of RAM");
        }
    }
}
