//! Files to check in: what they are made of, that they are checked, and that they disturb nobody in the crate they stand in.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

mod projects;

use kiln_boards::source::{Releases, RUNTIME};
use kiln_boards::{work_dir, Source};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/tflite/");

/// An empty folder outside the checkout, whose Cargo configuration is its own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kiln-compile-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    folder
}

fn kiln(folder: &Path, arguments: &[&str]) -> Output {
    let mut kiln = Command::new(env!("CARGO_BIN_EXE_cargo-kiln"));
    kiln.env_remove("CARGO_BUILD_TARGET").env("CARGO_HOME", folder);
    kiln.current_dir(folder).arg("kiln").args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_file_is_compared_with_what_would_be_written() {
    let folder = folder("check");
    fs::copy(DIGITS, folder.join("digits.tflite")).unwrap();
    let (code, data) = (folder.join("src/digits.rs"), folder.join("src/digits.bin"));
    let flags = ["compile", "digits.tflite", "-o", "src/digits.rs", "--target", "cortex-m4", "--ram", "20K"];
    let check = |more: &[&str]| {
        let target = if more.contains(&"--target") { &[][..] } else { &flags[4..6] };
        let output = kiln(&folder, &[&flags[..4], target, more, &["--check"]].concat());
        (said(&output), output.status.code().unwrap())
    };
    let (none, status) = check(&[]);
    assert!(none.contains("`src/digits.rs` is not there") && status == 1, "{none}");
    assert!(!code.exists() && !data.exists());

    assert!(kiln(&folder, &flags).status.success());
    let written = fs::read_to_string(&code).unwrap();
    let crc = crc32fast::hash(&fs::read(DIGITS).unwrap());
    for line in [
        &format!(
            "// model:   digits.tflite, {} bytes, CRC-32 {crc:08x}",
            fs::metadata(DIGITS).unwrap().len()
        )[..],
        "// options: --ram 20K",
        "// target:  cortex-m4",
        &format!("// version: {}", env!("CARGO_PKG_VERSION")),
        "// data:    digits.bin",
    ] {
        assert!(written.lines().any(|found| found == line), "{line} is not in {written:.800}");
    }
    let same = check(&["--ram", "20K"]);
    assert_eq!(same, ("src/digits.rs: is what would be written\n".into(), 0));

    let differs = |more: &[&str], what: &str| {
        let (text, status) = check(more);
        assert_eq!(status, 1, "{text}");
        let found: Vec<&str> =
            text.lines().skip(1).map(|line| line.trim().split(':').next().unwrap()).collect();
        assert_eq!(found, [what], "{text}");
    };
    differs(&["--ram", "16K"], "options");
    differs(&["--ram", "20K", "--target", "cortex-m0"], "target");
    differs(&["--ram", "20K", "--inline"], "data");
    fs::write(&code, written.replace("// version: ", "// version: 0.0.")).unwrap();
    differs(&["--ram", "20K"], "version");
    fs::write(&code, written.replace("pub const ARENA_BYTES", "pub const  ARENA_BYTES")).unwrap();
    differs(&["--ram", "20K"], "code");
    fs::write(&code, &written).unwrap();
    fs::write(&data, "other").unwrap();
    differs(&["--ram", "20K"], "data");
    assert_eq!(fs::read(&data).unwrap(), b"other");
    let other =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/tflite/residual_int8.tflite"));
    fs::write(folder.join("digits.tflite"), other.unwrap()).unwrap();
    differs(&["--ram", "20K"], "model");
    assert_eq!(fs::read_to_string(&code).unwrap(), written);
    fs::remove_dir_all(&folder).unwrap();
}

/// Neither is replaced where one cannot be written.
#[test]
fn code_and_data_are_written_together() {
    let folder = folder("together");
    fs::create_dir(folder.join("src/digits.rs")).unwrap();
    let output = kiln(&folder, &["compile", DIGITS, "-o", "src/digits.rs"]);
    assert_eq!(output.status.code(), Some(1));
    let left = fs::read_dir(folder.join("src")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".part")));
    fs::remove_dir_all(&folder).unwrap();
}

/// `compile` goes by the folder that it writes to, the others by the one they are called in.
#[test]
fn the_processor_is_the_one_that_cargo_builds_for() {
    let folder = folder("target");
    let krate = folder.join("firmware");
    fs::create_dir_all(krate.join(".cargo")).unwrap();
    fs::create_dir_all(krate.join("src")).unwrap();
    let config =
        "[build]\ntarget = \"thumbv8m.main-none-eabihf\"\nrustflags = [\"-Ctarget-cpu=cortex-m55\"]\n";
    fs::write(krate.join(".cargo/config.toml"), config).unwrap();

    let output = kiln(&folder, &["compile", DIGITS, "-o", "firmware/src/digits.rs"]);
    let note = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(note.starts_with("note: the code is for `cortex-m55`: "), "{note}");
    assert!(note.contains("config.toml builds for thumbv8m.main-none-eabihf"), "{note}");
    let code = fs::read_to_string(krate.join("src/digits.rs")).unwrap();
    assert!(code.contains("// target:  cortex-m55\n"), "{code:.600}");
    for command in ["explain", "plan"] {
        let note = |folder: &Path, more: &[&str]| {
            let output = kiln(folder, &[&[command, DIGITS], more].concat());
            assert!(output.status.success());
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned()
        };
        assert!(note(&krate, &[]).contains("for `cortex-m55`"));
        assert!(note(&folder, &[]).contains("this machine"));
        assert_eq!(note(&krate, &["--target", "cortex-m0"]), "");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn state_is_named_where_it_is_what_matters() {
    let (folder, model) = (folder("state"), format!("{MODELS}stream_int8.tflite"));
    let refused = |flags: &[&str]| {
        let output =
            kiln(&folder, &[&["compile", &model, "-o", "-", "--target", "cortex-m4"], flags].concat());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let message = refused(&["--ram", "10"]);
    assert!(message.contains("most of it is state: \"second\" (136 bytes)"), "{message}");
    assert!(message.contains("keep less from one inference to the next"), "{message}");
    let message = refused(&["--input", "sliding"]);
    assert!(message.contains("option `--input sliding`") && message.contains("streams already"), "{message}");
    fs::remove_dir_all(&folder).unwrap();
}

/// A crate with all lints that people turn on, whose files come from `compile`: with data beside the code and in it, with state, by rows, with floats.
#[test]
fn no_lint_and_no_format_is_disturbed() {
    let root = work_dir().unwrap().join("compiled");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("src")).unwrap();
    let dependency = Source::find().dependency(RUNTIME, Releases::Compatible, &["default-features = false"]);
    let manifest = format!("[package]\nname = \"compiled\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{dependency}\n[workspace]\n");
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    let lints = "#![no_std]\n#![warn(clippy::pedantic, missing_docs, missing_debug_implementations, unreachable_pub)]\n";
    let mut crate_root = format!("//! Models.\n{lints}\n");
    for (module, model, flags) in [
        ("beside", "residual_int8", &[][..]),
        ("floats", "temporal_f32", &["--inline", "--target", "x86-64"]),
        ("inlined", "residual_int8", &["--inline", "--name", "Inlined"]),
        ("rows", "residual_int8", &["--input", "rows", "--name", "Rows", "--optimize", "memory"]),
        ("stream", "stream_int8", &["--fast-ram", "256"]),
    ] {
        let (model, file) = (format!("{MODELS}{model}.tflite"), format!("src/{module}.rs"));
        let output = kiln(&root, &[&["compile", &model, "-o", &file], flags].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let code = fs::read_to_string(root.join(&file)).unwrap();
        let longest = code.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(240), "{module}: a line of {longest:?}");
        assert_eq!(root.join(format!("src/{module}.bin")).exists(), !flags.contains(&"--inline"));
        crate_root += &format!("/// A model.\npub mod {module};\n");
    }
    fs::write(root.join("src/lib.rs"), crate_root).unwrap();
    let cargo = |arguments: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        projects::build_quickly(&mut cargo);
        let output = cargo.current_dir(&root).args(arguments).output().unwrap();
        let (said, complained) = (said(&output), String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(output.status.success(), "{arguments:?}:\n{said}{complained}");
    };
    cargo(&["fmt", "--check"]);
    cargo(&["clippy", "--", "-D", "warnings"]);
}
