//! The whole way on a model written by hand: built, run under QEMU and on the host, measured.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_boards::cases::{Cases, Outputs};
use kiln_boards::firmware::{self, BuildRequest, Firmware, Mode, OptLevel, Placement};
use kiln_boards::image::Image;
use kiln_boards::{host, probe, qemu, Board, EmulatedHost, Error};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn model_rs() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/running_sum.rs"))
}

fn two_layers_rs() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/two_layers.rs"))
}

fn row_fed_rs() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/row_fed.rs"))
}

fn build(board: &str, mode: Mode) -> Firmware {
    build_model(board, mode, model_rs(), "RunningSum")
}

fn build_model(board: &str, mode: Mode, model_rs: &Path, model_type: &str) -> Firmware {
    let board = Board::find(board).unwrap();
    let request =
        BuildRequest { board, model_rs, model_type, mode, opt_level: OptLevel::Speed, runtime_features: &[] };
    let firmware = firmware::build(&request).unwrap_or_else(|error| panic!("{}: {error}", board.name));
    assert_eq!(firmware.warnings, "", "{}", board.name);
    firmware
}

fn cases(sequence: bool) -> Cases {
    Cases { sequence, inputs: vec![vec![vec![1, 2, 3, 4], vec![1]], vec![vec![10, 20, 30, 40], vec![2]]] }
}

fn expected(sequence: bool) -> Outputs {
    let first = vec![vec![1, 2, 3, 4], vec![1]];
    let second =
        if sequence { vec![vec![21, 42, 63, 84], vec![2]] } else { vec![vec![20, 40, 60, 80], vec![1]] };
    vec![first, second]
}

#[test]
fn every_emulated_board_runs_cases_and_sequences() {
    for board in Board::all().iter().filter(|board| board.is_emulated()) {
        let firmware = build(&board.name, Mode::Validate);
        for sequence in [false, true] {
            let outputs = qemu::validate(&firmware, &cases(sequence), LIMIT).unwrap();
            assert_eq!(outputs, expected(sequence), "{}", board.name);
        }
    }
}

#[test]
fn each_case_is_counted_or_timed() {
    let firmware = build("qemu-cortex-m4", Mode::Validate);
    let (outputs, counts) = qemu::validate_counted(&firmware, &cases(false), LIMIT).unwrap();
    assert_eq!(outputs, expected(false));
    assert!(
        counts.len() == 2 && counts.iter().all(|count| (10..10_000).contains(&count.cycles)),
        "{counts:?}"
    );
    let one = cases(false).inputs.remove(0);
    let alike = Cases { sequence: false, inputs: vec![one; 20] };
    let (_, counts) = qemu::validate_counted(&firmware, &alike, LIMIT).unwrap();
    assert!(counts.len() == 20 && counts.iter().all(|count| *count == counts[1]), "{counts:?}");

    let request =
        host::BuildRequest { model_rs: model_rs(), model_type: "RunningSum", runtime_features: &[] };
    let program = host::build(&request).unwrap();
    let (outputs, times) = host::validate_timed(&program, &cases(false), None, LIMIT).unwrap();
    assert!(outputs == expected(false) && times.len() == 2 && times.iter().all(|t| *t < LIMIT), "{times:?}");
}

#[test]
fn the_host_runs_cases_and_sequences() {
    let request =
        host::BuildRequest { model_rs: model_rs(), model_type: "RunningSum", runtime_features: &[] };
    let program = host::build(&request).unwrap();
    for sequence in [false, true] {
        assert_eq!(host::validate(&program, &cases(sequence), None, LIMIT).unwrap(), expected(sequence));
    }
}

#[test]
fn emulated_hosts_run_cases_and_sequences() {
    let request =
        host::BuildRequest { model_rs: model_rs(), model_type: "RunningSum", runtime_features: &[] };
    for host in EmulatedHost::all() {
        let program = host::build_on(Some(host), &request).unwrap_or_else(|e| panic!("{}: {e}", host.name));
        for sequence in [false, true] {
            let outputs = host::validate(&program, &cases(sequence), None, LIMIT).unwrap();
            assert_eq!(outputs, expected(sequence), "{}", host.name);
        }
    }
}

/// The level that a host's name promises is the highest, and no other host has it.
#[test]
fn emulated_hosts_have_their_instruction_sets() {
    let request =
        host::BuildRequest { model_rs: model_rs(), model_type: "RunningSum", runtime_features: &[] };
    let highest = [
        ("aarch64", "neon"),
        ("aarch64-dotprod", "dotprod"),
        ("wasm32", "simd128"),
        ("wasm32-scalar", "portable"),
    ];
    for (host, level) in highest {
        let program = host::build_on(EmulatedHost::find(host), &request).unwrap();
        for other in ["portable", "avx2", "neon", "dotprod", "simd128"] {
            let lower = other == "portable" || (other == "neon" && level == "dotprod");
            let run = host::validate(&program, &cases(false), Some(other), LIMIT);
            assert_eq!(run.is_ok(), other == level || lower, "{other} on {host}");
        }
    }
}

/// Inputs of a model in `row_fed.rs`: a whole input each, or a row each.
fn row_cases(sequence: bool, inputs: &[&[u8]]) -> Cases {
    Cases { sequence, inputs: inputs.iter().map(|x| vec![x.to_vec()]).collect() }
}

/// A way to run cases: on the host, or emulated.
type Run = Box<dyn Fn(&Cases) -> Outputs>;

fn places(model_type: &'static str) -> [Run; 2] {
    let request = host::BuildRequest { model_rs: row_fed_rs(), model_type, runtime_features: &[] };
    let program = host::build(&request).unwrap();
    let firmware = build_model("qemu-cortex-m4", Mode::Validate, row_fed_rs(), model_type);
    [
        Box::new(move |cases| host::validate(&program, cases, None, LIMIT).unwrap()),
        Box::new(move |cases| qemu::validate(&firmware, cases, LIMIT).unwrap()),
    ]
}

#[test]
fn models_fed_by_rows_take_whole_cases_and_single_rows() {
    let first = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    for run in places("ColumnSums") {
        let outputs = run(&row_cases(false, &[&first, &[1; 12]]));
        assert_eq!(outputs, [vec![vec![22, 26, 30]], vec![vec![4, 4, 4]]]);

        let rows: Vec<&[u8]> = first.chunks(3).chain([&[1u8; 3][..]; 4]).collect();
        let outputs = run(&row_cases(true, &rows));
        let complete = [vec![], vec![], vec![], vec![vec![22, 26, 30]]];
        assert_eq!(outputs[..4], complete);
        assert_eq!(outputs[7], [vec![4, 4, 4]]);
    }
}

#[test]
fn sliding_models_take_one_row_after_the_other() {
    let first = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    for run in places("MovingSums") {
        // Each case is a window of its own.
        let outputs = run(&row_cases(false, &[&first, &[1; 12]]));
        assert_eq!(outputs, [vec![vec![22, 26, 30]], vec![vec![4, 4, 4]]]);

        let rows: Vec<&[u8]> = first.chunks(3).chain([&[1u8; 3][..]; 4]).collect();
        let outputs = run(&row_cases(true, &rows));
        assert!(
            outputs.iter().enumerate().all(|(row, o)| o.is_empty() != [3, 5, 7].contains(&row)),
            "{outputs:?}"
        );
        assert_eq!(outputs[5], [vec![19, 21, 23]]);
        assert_eq!(outputs[7], [vec![4, 4, 4]]);
    }
}

#[test]
fn a_case_that_is_neither_an_input_nor_a_row_is_refused() {
    let firmware = build_model("qemu-cortex-m4", Mode::Validate, row_fed_rs(), "ColumnSums");
    let message = qemu::validate(&firmware, &row_cases(false, &[&[1; 6]]), LIMIT).unwrap_err().to_string();
    assert!(message.contains("input 0 has 12 bytes, in cases.bin 6"), "{message}");
}

#[test]
fn rows_of_one_output_are_measured_together() {
    let measure = |model_type| {
        let firmware = build_model("qemu-cortex-m4", Mode::Bench, row_fed_rs(), model_type);
        assert!(Image::read(&firmware.elf).unwrap().unwanted().is_empty());
        qemu::bench(&firmware, None, LIMIT).unwrap()
    };
    let (input, hop) = (measure("ColumnSums"), measure("MovingSums"));
    for result in [&input, &hop] {
        assert_eq!(result.steps.len(), 1, "{result:?}");
        assert!(result.steps[0].instructions < result.total.instructions, "{result:?}");
        assert!((8..200).contains(&result.stack_bytes), "{result:?}");
    }
    // Three rows that complete nothing against one.
    let difference = input.total.instructions as i64 - hop.total.instructions as i64;
    assert!((10..100).contains(&difference), "{input:?} {hop:?}");
}

/// One of those that are compiled alike and have memories of the same names. A sweep (`KILN_SWEEP`) builds all.
#[test]
fn real_boards_link() {
    let mut built = Vec::new();
    for board in Board::all().iter().filter(|board| !board.is_emulated()) {
        let fast: Vec<&str> = board.memory.fast.iter().map(|fast| fast.name.as_str()).collect();
        let kind = (&board.target, &board.rustflags, &board.harness_features, fast);
        if built.contains(&kind) && std::env::var_os("KILN_SWEEP").is_none() {
            continue;
        }
        built.push(kind);
        let firmware = build(&board.name, Mode::Bench);
        assert!(firmware.elf.exists());
        assert!(matches!(qemu::validate(&firmware, &cases(false), LIMIT), Err(Error::NotEmulated { .. })));
    }
}

#[test]
fn cases_of_another_model_are_refused() {
    let firmware = build("qemu-cortex-m4", Mode::Validate);
    let cases = Cases { sequence: false, inputs: vec![vec![vec![1, 2, 3], vec![1]]] };
    let message = qemu::validate(&firmware, &cases, LIMIT).unwrap_err().to_string();
    assert!(message.contains("input 0 has 4 bytes, in cases.bin 3"), "{message}");
}

#[test]
fn one_inference_is_measured() {
    let firmware = build("qemu-cortex-m4", Mode::Bench);
    let noise = qemu::bench(&firmware, None, LIMIT).unwrap();
    assert_eq!(noise, qemu::bench(&firmware, None, LIMIT).unwrap(), "two runs differ");
    assert!((50..200).contains(&noise.total.instructions), "{noise:?}");
    assert!(noise.total.cycles > noise.total.instructions, "{noise:?}");
    assert!((8..200).contains(&noise.stack_bytes), "{noise:?}");
    assert_eq!(noise.flash.weights, 100, "{noise:?}");
    assert!((500..6000).contains(&noise.flash.code), "{noise:?}");
    assert_eq!(noise.classes.iter().map(|(_, count)| count).sum::<u64>(), noise.total.instructions);

    // Two steps: the loop over four elements, then one addition.
    let [accumulate, count] = noise.steps[..] else { panic!("{noise:?}") };
    assert!(accumulate.instructions > count.instructions && count.instructions > 3, "{noise:?}");
    assert!(accumulate.instructions + count.instructions < noise.total.instructions, "{noise:?}");
}

#[test]
fn nothing_panics_formats_or_allocates() {
    for mode in [Mode::Validate, Mode::Bench] {
        let image = Image::read(&build("qemu-cortex-m4", mode).elf).unwrap();
        assert!(image.symbols().iter().any(|symbol| symbol.name == "main"));
        assert!(image.unwanted().is_empty(), "{:?}", image.unwanted());
    }
}

/// The model with `constants` bytes of constants and `unused` bytes of state that it does not need.
fn enlarged(name: &str, constants: usize, unused: usize) -> std::path::PathBuf {
    let source = std::fs::read_to_string(model_rs()).unwrap();
    let source = source
        .replace("; 100]", &format!("; {constants}]"))
        .replace("    x: [u8; 4],", &format!("    x: [u8; 4],\n    pub unused: [u8; {unused}],"))
        .replace("Self { x: [0; 4],", &format!("Self {{ x: [0; 4], unused: [0; {unused}],"));
    let path = kiln_boards::work_dir().unwrap().join(name);
    std::fs::write(&path, source).unwrap();
    path
}

#[test]
fn what_does_not_fit_goes_to_the_extra_memory() {
    const MB: usize = 1 << 20;
    for (name, constants, unused, placement) in [
        ("constants.rs", 5 * MB, 1, Placement::ConstantsInExtra),
        ("constants_and_statics.rs", 5 * MB, 5 * MB, Placement::ConstantsAndStaticsInExtra),
    ] {
        let firmware =
            build_model("qemu-cortex-m4", Mode::Validate, &enlarged(name, constants, unused), "RunningSum");
        assert_eq!(firmware.placement, placement);
        assert_eq!(qemu::validate(&firmware, &cases(true), LIMIT).unwrap(), expected(true));
    }
}

#[test]
fn what_fits_nowhere_is_an_error() {
    let board = Board::find("nrf52840-dk").unwrap();
    let request = BuildRequest {
        board,
        model_rs: &enlarged("too_large.rs", 2 << 20, 1),
        model_type: "RunningSum",
        mode: Mode::Bench,
        opt_level: OptLevel::Speed,
        runtime_features: &[],
    };
    let error = firmware::build(&request).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("'FLASH'"), "{error}");
}

/// Time goes by with instructions, not by the clock of this machine: under QEMU the counter says nothing of cycles, but it counts.
#[test]
fn layers_are_measured_by_a_counter_of_the_processor() {
    for board in ["qemu-cortex-m0", "qemu-cortex-m4", "qemu-cortex-m33", "qemu-rv32imc"] {
        let firmware = build_model(board, Mode::Layers, two_layers_rs(), "TwoLayers");
        let mut qemu = qemu::command(&firmware.board).unwrap();
        let output = qemu.arg(&firmware.elf).args(["-icount", "shift=5"]).output().unwrap();
        // Which of them semihosting writes to, depends on the version.
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let cycles = probe::parse_layers(&printed).unwrap();
        assert!(cycles.len() == 2 && cycles[1] > 0, "{board}: {cycles:?}");
    }
}
