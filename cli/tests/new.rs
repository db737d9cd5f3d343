//! New projects: every template is generated and built, on emulated boards it runs and compares its own output; and nothing is left of what
//! is refused. All projects share one target folder, and one model.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::new::{create, Flavour, Request};
use kiln_boards::{toolchain, work_dir, Board};
use kiln_codegen::Optimize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INT8: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
const F32: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_f32.tflite");

/// One board for each target that bare firmware is run on.
const RUN_BARE: [&str; 4] = ["qemu-cortex-m0", "qemu-cortex-m3", "qemu-cortex-m4", "qemu-cortex-m33"];
/// One board for each start of an image: an ordinary one, a second-stage boot loader, an image definition.
const BUILD_BARE: [&str; 3] = ["nrf52840-dk", "raspberry-pi-pico", "raspberry-pi-pico-2"];

#[test]
fn bare() {
    for board in RUN_BARE {
        let output = cargo(&project(board, Flavour::Bare, INT8), board, &["run", "--release"]);
        assert!(
            output.contains("output: [") && output.contains("the sample's answer is right"),
            "{board}: {output}"
        );
    }
    for board in BUILD_BARE {
        cargo(&project(board, Flavour::Bare, INT8), board, &["build", "--release"]);
    }
}

/// The same firmware as on the boards above, with other memories.
#[test]
fn bare_on_all_other_boards() {
    let covered = [&RUN_BARE[..], &BUILD_BARE[..]].concat();
    for board in
        Board::all().iter().filter(|b| b.target.starts_with("thumb") && !covered.contains(&b.name.as_str()))
    {
        cargo(&project(&board.name, Flavour::Bare, INT8), &board.name, &["check", "--release"]);
    }
}

#[test]
fn embassy() {
    for board in ["qemu-cortex-m0", "qemu-cortex-m4"] {
        let output = cargo(&project(board, Flavour::Embassy, INT8), board, &["run", "--release"]);
        let turns = output.lines().find_map(|line| line.strip_prefix("turns of the other task meanwhile: "));
        let turns: u32 =
            turns.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{board}: {output}"));
        assert!(turns > 3 && output.contains("the sample's answer is right"), "{board}: {output}");
    }
    for board in ["nrf52840-dk", "raspberry-pi-pico"] {
        cargo(&project(board, Flavour::Embassy, INT8), board, &["build", "--release"]);
    }
}

#[test]
fn rtic() {
    cargo(&project("nrf52840-dk", Flavour::Rtic, INT8), "nrf52840-dk", &["build", "--release"]);
}

/// Float outputs, whose sample is compared with a tolerance; the tests on this machine; the format.
#[test]
fn floats_and_the_crates_own_tests() {
    let folder = project("qemu-cortex-m7", Flavour::Bare, F32);
    let output = cargo(&folder, "qemu-cortex-m7", &["run", "--release"]);
    assert!(output.contains("the sample's answer is right"), "{output}");
    let output = cargo(&folder, "qemu-cortex-m7", &["host-test"]);
    assert!(output.contains("2 passed"), "{output}");
}

#[test]
fn sources_are_formatted() {
    for (board, flavour) in [
        ("qemu-cortex-m4", Flavour::Bare),
        ("raspberry-pi-pico", Flavour::Bare),
        ("raspberry-pi-pico-2", Flavour::Bare),
        ("qemu-cortex-m4", Flavour::Embassy),
        ("nrf52840-dk", Flavour::Embassy),
        ("raspberry-pi-pico", Flavour::Embassy),
        ("nrf52840-dk", Flavour::Rtic),
    ] {
        for model in [INT8, F32] {
            // Outside the checkout, whose style is its own.
            let folder = std::env::temp_dir().join(format!("kiln-new-{}", std::process::id()));
            create(&request(folder.clone(), board, flavour, model)).unwrap();
            cargo(&folder, board, &["fmt", "--check"]);
            fs::remove_dir_all(folder).unwrap();
        }
    }
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
    let cases = [
        (Request { folder: root.join("2kws"), ..good() }, "has to begin with a letter"),
        (Request { folder: root.join("full"), ..good() }, "is not empty: it has `file`"),
        (Request { board: "nucleo".into(), ..good() }, "nrf52840-dk, "),
        (
            Request { board: "stm32f411-blackpill".into(), flavour: Flavour::Embassy, ..good() },
            "no Embassy template",
        ),
        (Request { model: root.join("none.tflite"), ..good() }, "none.tflite"),
        (Request { model: broken, ..good() }, "not a TFLite model"),
        (Request { kiln: Some(root.clone()), ..good() }, "is no checkout of Kiln"),
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
        optimize: Optimize::Speed,
        kiln: None,
    }
}

/// A new project.
fn project(board: &str, flavour: Flavour, model: &str) -> PathBuf {
    let kind = if model == F32 { "f32" } else { "int8" };
    let folder = work_dir().unwrap().join("new").join(format!("p-{board}-{flavour:?}-{kind}").to_lowercase());
    // Versions once resolved are kept: the registry is asked once.
    let lock = fs::read(folder.join("Cargo.lock"));
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    create(&request(folder.clone(), board, flavour, model)).unwrap();
    if let Ok(lock) = lock {
        fs::write(folder.join("Cargo.lock"), lock).unwrap();
    }
    folder
}

/// Runs Cargo in a project of a board; its output.
fn cargo(folder: &Path, board: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    toolchain::ensure_target(&Board::find(board).unwrap().target).unwrap().apply(&mut command);
    command.current_dir(folder).args(arguments);
    // The compiler is built for several sets of dependencies: quickly. It has one small model to compile.
    for profile in ["release", "dev"].iter().filter(|_| arguments != ["fmt", "--check"]) {
        command.arg("--config").arg(format!("profile.{profile}.package.kiln-codegen.opt-level=0"));
        command.arg("--config").arg(format!("profile.{profile}.package.kiln-codegen.debug=false"));
    }
    command.env("CARGO_TARGET_DIR", work_dir().unwrap().join("new/target"));
    let output = command.output().unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} in {}:\n{said}\n{complained}", folder.display());
    assert!(!complained.contains("warning"), "{}: {complained}", folder.display());
    said.into_owned()
}
