//! Answers on standard output. Whoever reads them may stop reading (`… | head`): that is no failure.

use std::process::{Command, Stdio};

#[test]
fn a_closed_pipe_ends_the_program_without_a_panic() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
    let target = ["--target", "cortex-m4"];
    for arguments in [
        [&["explain", model][..], &target].concat(),
        [&["plan", model][..], &target].concat(),
        [&["plan", model, "--json"][..], &target].concat(),
        vec!["ops"],
        vec!["boards"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-kiln"))
            .arg("kiln")
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{arguments:?}: {}: {said}", output.status);
    }
}

#[test]
fn a_dash_is_standard_output() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
    let folder = std::env::temp_dir().join(format!("kiln-dash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (command, begins) in [("compile", "//"), ("report", "digits_int8")] {
        let mut kiln = Command::new(env!("CARGO_BIN_EXE_cargo-kiln"));
        let output = kiln.current_dir(&folder).args(["kiln", command, model, "-o", "-"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.starts_with(begins), "{command}: {said:.300}");
        assert!(!folder.join("-").exists());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
