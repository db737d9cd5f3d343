//! Boards that are not there.

use std::process::Command;

/// The probe is looked for before anything is compiled, which takes minutes.
#[test]
fn a_missing_probe_is_said_at_once() {
    let usb = std::path::Path::new("/sys/bus/usb/devices");
    if std::fs::read_dir(usb).is_ok_and(|mut devices| devices.next().is_some()) {
        println!("skipped: this machine has USB devices, one of which may be a debug probe");
        return;
    }
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
    let work = std::env::temp_dir().join(format!("kiln-bench-{}", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-kiln"))
        .args(["kiln", "bench", model, "--board", "nrf52840-dk"])
        .env("KILN_WORK_DIR", &work)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no debug probe found"), "{said}");
    assert!(!work.exists(), "something was written to {}", work.display());
}
