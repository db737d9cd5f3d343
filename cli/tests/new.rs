//! New projects: every template is generated and built (`built`), on emulated boards it runs and compares its own output; and nothing is left of what
//! is refused. All projects share one model, and what is built for them.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod editor;
mod projects;

use cargo_kiln::new::{create, flavours, Flavour, Request};
use editor::Editor;
use kiln_boards::image::Image;
use kiln_boards::{toolchain, work_dir, Board, Runner};
use kiln_codegen::Options;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INT8: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
const F32: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_f32.tflite");
const CUSTOM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/custom/weighted_sum.tflite");
const GRU: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/onnx_small/gru_step.onnx");

#[test]
fn bare() {
    for board in built(Flavour::Bare) {
        let folder = project(board, Flavour::Bare, INT8);
        if board.is_emulated() {
            let output = cargo(&folder, board, &["run", "--release"]);
            assert!(output.contains("output: ["), "{}: {output}", board.name);
            assert!(output.contains("the sample's answer is right"), "{}: {output}", board.name);
        } else {
            cargo(&folder, board, &["build", "--release"]);
        }
    }
}

#[test]
fn embassy() {
    turns(Flavour::Embassy);
}

#[test]
fn rtic() {
    turns(Flavour::Rtic);
}

/// Firmware whose model runs among other tasks: these have turns in between.
fn turns(flavour: Flavour) {
    for board in built(flavour) {
        let (folder, name) = (project(board, flavour, INT8), &board.name);
        if !board.is_emulated() {
            cargo(&folder, board, &["build", "--release"]);
            continue;
        }
        let output = cargo(&folder, board, &["run", "--release"]);
        let turns = output.lines().find_map(|line| line.strip_prefix("turns of the other task meanwhile: "));
        let turns: u32 = turns.unwrap_or("0").parse().unwrap();
        assert!(turns > 3 && output.contains("the sample's answer is right"), "{name}: {output}");
    }
}

/// The boards whose projects of a flavour are built: the first of each family. A sweep (`KILN_SWEEP`) builds all.
fn built(flavour: Flavour) -> Vec<&'static Board> {
    let mut families = Vec::new();
    let mut is_first = |board: &&'static Board| {
        let family = family(board, flavour);
        let first = !families.contains(&family);
        families.push(family);
        first
    };
    let all = std::env::var_os("KILN_SWEEP").is_some();
    let is_built = |board: &&'static Board| all || (is_first(board) && !family(board, flavour).1.is_empty());
    let built: Vec<_> = boards(flavour).filter(is_built).collect();
    assert!(built.iter().any(|board| board.is_emulated()) && built.iter().any(|board| !board.is_emulated()));
    built
}

/// Of a real board what the chip's maker calls the family: the letters that its name begins with. Without an executor, Arm's chips have the same project but for those with a boot loader; with one, a chip's own takes a minute to compile, and `examples/embassy`
/// has those of others. Of an emulated board whether it is Arm or RISC-V: projects depend on it through their runtime or executor only.
fn family(board: &'static Board, flavour: Flavour) -> (bool, &'static str) {
    let letters =
        |name: &'static str| name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    match &board.runner {
        Runner::ProbeRs { .. }
            if flavour == Flavour::Bare
                && board.target.starts_with("thumb")
                && board.harness_features.is_empty() =>
        {
            (true, letters(&board.target))
        }
        Runner::ProbeRs { chip, .. } if flavour == Flavour::Bare => (true, letters(chip)),
        // Its crates are those of an example, too.
        Runner::ProbeRs { .. } if board.name == "nrf52840-dk" => (true, flavour.name()),
        Runner::ProbeRs { .. } => (true, ""),
        Runner::Qemu { .. } => (false, letters(&board.target)),
    }
}

/// The boards that there are templates of a flavour for.
fn boards(flavour: Flavour) -> impl Iterator<Item = &'static Board> {
    Board::all().iter().filter(move |board| flavours(board).contains(&flavour))
}

/// Options that change what the firmware does: it pushes rows, among other tasks, too; it keeps state. `cargo check --all-targets` finds nothing in it, and the tests on this
/// machine know the options.
#[test]
fn options_of_the_compiler() {
    let rows = [("input", "rows"), ("optimize", "memory"), ("ram", "20K"), ("cycles", "100M")];
    let board = Board::find("qemu-cortex-m4").unwrap();
    for flavour in [Flavour::Bare, Flavour::Embassy] {
        let folder = project_with(board, flavour, INT8, &rows);
        cargo(&folder, board, &["check", "--all-targets"]);
        let output = cargo(&folder, board, &["run", "--release"]);
        assert!(output.contains("the sample's answer is right"), "{output}");
    }
    let folder =
        project_with(board, Flavour::Bare, GRU, &[("state", "h_out=h_in"), ("float", "reproducible")]);
    let output = cargo(&folder, board, &["run", "--release"]);
    assert!(output.contains("the sample's answer is right"), "{output}");
    let output = cargo(&folder, board, &["host-test"]);
    assert!(output.contains("2 passed"), "{output}");
}

/// A function of a custom operator is there to be written: until then its result is zero, as the sample says. When it is written, and its answer recorded, the crate compares with that.
#[test]
fn custom_operators_are_yours_to_write() {
    let board = Board::find("qemu-cortex-m4").unwrap();
    let folder = project_with(
        board,
        Flavour::Bare,
        CUSTOM,
        &[("custom_op", "WeightedSum=crate::kernels::weighted_sum")],
    );
    cargo(&folder, board, &["clippy", "--all-targets"]);
    let output = cargo(&folder, board, &["run", "--release"]);
    assert!(output.contains("the sample's answer is right"), "{output}");
    let output = cargo(&folder, board, &["host-test"]);
    assert!(output.contains("1 passed"), "{output}");

    // Each result is 7 · scale; the model adds ten.
    let file = folder.join("src/kernels.rs");
    let code = fs::read_to_string(&file).unwrap();
    assert!(code.contains("y.set(0.0)"), "{code}");
    let code = code.replace("y.set(0.0)", "y.set(7.0 * _x1.scale)");
    fs::write(&file, code).unwrap();
    let answer: Vec<u8> = [11.75f32, 11.75].iter().flat_map(|y| y.to_le_bytes()).collect();
    fs::write(folder.join("models/sample.out"), answer).unwrap();
    let output = cargo(&folder, board, &["run", "--release"]);
    assert!(output.contains("the sample's answer is right"), "{output}");
}

/// Every option stands in the macro as it was given.
#[test]
fn options_are_arguments_of_the_macro() {
    let root = std::env::temp_dir().join(format!("kiln-new-options-{}", std::process::id()));
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2021"]);
    let cases: [(&str, &str, &[&str], &[&str]); 6] = [
        (INT8, "optimize", &["size"], &["optimize = \"size\""]),
        (INT8, "source", &["gray8 16x16, resize = area"], &["source = \"gray8 16x16, resize = area\""]),
        (INT8, "fast_ram", &["1K"], &["fast_ram = \"1K\""]),
        (GRU, "state", &["h_out=h_in"], &["state(\"h_out\", \"h_in\")", "states = &[\"h_out=h_in\"]"]),
        (
            CUSTOM,
            "custom_op",
            &["WeightedSum=crate::kernels::weighted_sum"],
            &["custom_op(\"WeightedSum\", crate::kernels::weighted_sum)", "\nmod kernels;\n"],
        ),
        (GRU, "name", &["Step"], &["pub Step = \"models/gru_step.onnx\""]),
    ];
    for (index, (model, option, values, expected)) in cases.into_iter().enumerate() {
        let folder = root.join(format!("p{index}"));
        let mut request = request(folder.clone(), "qemu-cortex-m4", Flavour::Bare, model);
        values.iter().for_each(|value| request.options.set(option, value).unwrap());
        create(&request).unwrap();
        let text = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert!(expected.iter().all(|part| text.contains(part)), "{text}");
        rustfmt.args(
            fs::read_dir(folder.join("src"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file()),
        );
    }
    let output = rustfmt.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    fs::remove_dir_all(&root).unwrap();
}

/// Float outputs, whose sample is compared with a tolerance; the tests on this machine; the format.
#[test]
fn floats_and_the_crates_own_tests() {
    let board = Board::find("qemu-cortex-m7").unwrap();
    let folder = project(board, Flavour::Bare, F32);
    let output = cargo(&folder, board, &["run", "--release"]);
    assert!(output.contains("the sample's answer is right"), "{output}");
    let output = cargo(&folder, board, &["host-test"]);
    assert!(output.contains("2 passed"), "{output}");
}

/// A test for the board passes on a Cortex-M4, which QEMU emulates here: the image has the same memories there, and uses nothing of the chip. With a wrong answer beside it, it fails.
/// For other boards it is built; in a sweep for all.
#[test]
fn tests_on_the_target() {
    let (chip, machine) = (Board::find("nrf52840-dk").unwrap(), Board::find("qemu-cortex-m4").unwrap());
    toolchain::ensure_qemu("qemu-system-arm").unwrap();
    let folder = tested_project(chip, Flavour::Bare);
    assert_eq!(run_test_on(machine, &built_test(&folder, chip)), Some(0));
    let answer = folder.join("models/sample.out");
    let mut wrong = fs::read(&answer).unwrap();
    wrong[0] ^= 1;
    fs::write(&answer, wrong).unwrap();
    assert_ne!(run_test_on(machine, &built_test(&folder, chip)), Some(0));

    let sweep = std::env::var_os("KILN_SWEEP").is_some();
    for flavour in Flavour::ALL {
        for board in boards(flavour).filter(|board| sweep && !board.is_emulated()) {
            built_test(&tested_project(board, flavour), board);
        }
    }
}

/// A new project with a test for the board.
fn tested_project(board: &Board, flavour: Flavour) -> PathBuf {
    let name = format!("p-{}-{}-tested", board.name, flavour.name());
    let request = |folder| Request { embedded_test: true, ..request(folder, &board.name, flavour, INT8) };
    made(&name, request)
}

/// The image of a project's test for the board.
fn built_test(folder: &Path, board: &Board) -> PathBuf {
    let said = cargo(folder, board, &["test", "--release", "--no-run", "--message-format=json"]);
    let artifacts = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut images = artifacts.filter(|artifact| artifact["target"]["name"] == "on_target");
    images.find_map(|image| image["executable"].as_str().map(PathBuf::from)).unwrap()
}

/// Runs the only test of an image, which QEMU tells it as probe-rs would: with its address. The status that it ends with.
fn run_test_on(machine: &Board, image: &Path) -> Option<i32> {
    let symbols = Image::read(image).unwrap();
    let entry = |name: &str| name.contains("the_sample_is_answered_as_recorded_entrypoint");
    let test = symbols.symbols().iter().find(|symbol| entry(&symbol.name)).unwrap();
    let arguments = format!("enable=on,target=native,arg=run_addr,arg={}", test.address);
    let command: Vec<String> = machine
        .runner
        .command()
        .into_iter()
        .map(|part| if part == "enable=on,target=native" { arguments.clone() } else { part })
        .collect();
    assert!(command.contains(&arguments), "{command:?}");
    Command::new(&command[0]).args(&command[1..]).arg(image).status().unwrap().code()
}

/// An editor without any settings underlines nothing, with Clippy's lints; it completes the model's type and its methods, and shows what they are.
#[test]
fn editors_know_the_model() {
    let analyzer = match toolchain::ensure_rust_analyzer() {
        Ok(analyzer) => analyzer,
        Err(error) => return eprintln!("what editors say of new projects is NOT tested: {error}"),
    };
    let board = Board::find("qemu-cortex-m4").unwrap();
    let folder = project(board, Flavour::Bare, F32);
    let mut server = Command::new(analyzer);
    projects::build_quickly(&mut server);
    let main = "src/main.rs";
    let mut editor = Editor::open(server, &folder, &["build.rs", "src/lib.rs", main, "src/sample.rs"]);

    assert_eq!(editor.problems(), [""; 0]);
    let offered = editor.completions(main, "{sample, Digits");
    assert!(offered.iter().any(|name| name == "DigitsF32"), "{offered:?}");
    let offered = editor.completions(main, "    model.");
    for method in ["invoke", "input_mut", "output"] {
        assert!(offered.iter().any(|name| name == method), "no {method}: {offered:?}");
    }
    let docs = editor.docs(main, "{sample, Digits");
    assert!(docs.contains("The model `digits_f32`, compiled by Kiln"), "{docs}");
    let docs = editor.docs(main, "    model.invoke");
    assert!(docs.contains("fn invoke(&mut self)") && docs.contains("\n---\n"), "{docs}");

    // What is wrong is underlined: at once by rust-analyzer, and by Clippy as soon as it is saved.
    editor.replace(main, "    model.invoke();", "    model.invoke(1);");
    let problems = editor.problems();
    assert!(problems.len() == 1 && problems[0].contains("expected 0 arguments, found 1"), "{problems:?}");
    editor.replace(main, "    model.invoke(1);", "    model.invoke();");
    editor.replace(main, "if right {", "if right == true {");
    editor.save(main);
    let problems = editor.problems();
    assert!(problems.iter().any(|problem| problem.contains("equality checks against true")), "{problems:?}");
}

#[test]
fn sources_are_formatted() {
    // Outside the checkout, whose style is its own.
    let root = std::env::temp_dir().join(format!("kiln-new-{}", std::process::id()));
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2021"]);
    for flavour in Flavour::ALL {
        for board in boards(flavour) {
            for (kind, model) in [("int8", INT8), ("f32", F32)] {
                let folder = root.join(format!("p-{}-{}-{kind}", board.name, flavour.name()));
                let request = request(folder.clone(), &board.name, flavour, model);
                create(&Request { embedded_test: !board.is_emulated(), ..request }).unwrap();
                rustfmt.arg(folder.join("build.rs"));
                for sources in ["src", "tests"].iter().filter_map(|name| fs::read_dir(folder.join(name)).ok())
                {
                    rustfmt.args(sources.map(|entry| entry.unwrap().path()));
                }
            }
        }
    }
    let output = rustfmt.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn what_is_refused_leaves_nothing() {
    let root = work_dir().unwrap().join("new/refused");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("full")).unwrap();
    fs::write(root.join("full/file"), "text").unwrap();
    fs::write(root.join("broken.tflite"), "text").unwrap();
    let broken = root.join("broken.tflite");

    let good = || request(root.join("kws"), "nrf52840-dk", Flavour::Bare, INT8);
    let with = |option: &str, value: &str| {
        let mut request = good();
        request.options.set(option, value).unwrap();
        request
    };
    let cases = [
        (Request { folder: root.join("2kws"), ..good() }, "has to begin with a letter"),
        (Request { folder: root.join("full"), ..good() }, "is not empty: it has `file`"),
        (Request { board: "nucleo".into(), ..good() }, "nrf52840-dk, "),
        (Request { board: "ra8m1-ek".into(), flavour: Flavour::Embassy, ..good() }, "no Embassy template"),
        (Request { model: root.join("none.tflite"), ..good() }, "none.tflite"),
        (Request { model: broken, ..good() }, "of no format that Kiln knows"),
        (Request { kiln: Some(root.clone()), ..good() }, "is no checkout of Kiln"),
        (
            Request { board: "qemu-cortex-m4".into(), embedded_test: true, ..good() },
            "probe-rs, which runs tests on a board, needs a real one",
        ),
        (with("target", "cortex-m0"), "compiled for the board's processor"),
        (with("custom_op", "MyOp=crate::my_op"), "name a module and a function"),
        (with("custom_op", "MyOp=crate::sample::my_op"), "no module of its own in a new crate"),
        (with("custom_op", "MyOp=crate::kernels::my_op"), "the model has no custom operator"),
        (with("ram", "100"), "more than the budget of 100"),
    ];
    for (request, why) in cases {
        let message = format!("{:#}", create(&request).unwrap_err());
        assert!(message.contains(why), "{message}");
        let left: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }
}

fn request(folder: PathBuf, board: &str, flavour: Flavour, model: &str) -> Request {
    Request {
        folder,
        board: board.into(),
        model: model.into(),
        flavour,
        embedded_test: false,
        options: Options::default(),
        kiln: None,
    }
}

/// A new project.
fn project(board: &Board, flavour: Flavour, model: &str) -> PathBuf {
    project_with(board, flavour, model, &[])
}

/// A new project with options of the compiler.
fn project_with(board: &Board, flavour: Flavour, model: &str, options: &[(&str, &str)]) -> PathBuf {
    let kind = Path::new(model).file_stem().unwrap().to_string_lossy().replace("digits_", "");
    let kind = if options.is_empty() { kind } else { format!("{kind}-options") };
    let name = format!("p-{}-{}-{kind}", board.name, flavour.name());
    made(&name, |folder| {
        let mut request = request(folder, &board.name, flavour, model);
        options.iter().for_each(|(option, value)| request.options.set(option, value).unwrap());
        request
    })
}

/// The project of that name, made anew.
fn made(name: &str, request: impl FnOnce(PathBuf) -> Request) -> PathBuf {
    let folder = work_dir().unwrap().join("new").join(name);
    // Versions once resolved are kept: the registry is asked once.
    let lock = fs::read(folder.join("Cargo.lock"));
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    create(&request(folder.clone())).unwrap();
    if let Ok(lock) = lock {
        fs::write(folder.join("Cargo.lock"), lock).unwrap();
    }
    folder
}

/// Runs Cargo in a project of a board; its output.
fn cargo(folder: &Path, board: &Board, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    toolchain::ensure_target(&board.target).unwrap().apply(&mut command);
    command.current_dir(folder).args(arguments);
    projects::build_quickly(&mut command);
    let output = command.output().unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} in {}:\n{said}\n{complained}", folder.display());
    assert!(!complained.contains("warning"), "{}: {complained}", folder.display());
    said.into_owned()
}
