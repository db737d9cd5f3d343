//! The module where it belongs: in Node and in a browser, with the results of this machine.
//!
//! Without Node, Chromium or the Rust target `wasm32-unknown-unknown` it says so, and looks at what is left; `cargo xtask setup` installs all of them.

// Helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use digits_web::{classify, PIXELS};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

static IMAGES: &[u8] = include_bytes!("../../digits/data/images.bin");
static LABELS: &[u8] = include_bytes!("../../digits/data/labels.bin");

/// All images.
fn images() -> impl Iterator<Item = &'static [u8; PIXELS]> {
    IMAGES.chunks(PIXELS).map(|ink| ink.try_into().unwrap())
}

fn right() -> usize {
    images().zip(LABELS).filter(|(ink, &label)| classify(ink).digit == label.into()).count()
}

#[test]
fn here_as_many_are_right_as_with_tflite() {
    let record = include_str!("../../digits/data/tflm.txt");
    let expected = record.lines().find_map(|line| line.strip_prefix("digits_int8 ")).unwrap();
    assert_eq!(right().to_string(), expected);
}

#[test]
fn node_gives_the_results_of_this_machine() {
    let Some(node) = program("node") else { return };
    let Some(server) = Server::start() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images.mjs");
    let output = Command::new(node).arg(script).arg(&server.address).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), images().count());
    for (line, ink) in text.lines().zip(images()) {
        let seen = classify(ink);
        let scores: String = seen.stored.iter().map(|score| format!(" {score}")).collect();
        assert_eq!(line, format!("{}{scores}", seen.digit));
    }
}

#[test]
fn the_page_passes_its_own_test() {
    let Some(chromium) = program("chromium") else { return };
    let Some(server) = Server::start() else { return };
    let mut command = Command::new(chromium);
    // A profile of its own, and nothing that would ask the network by itself.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--enable-logging=stderr", "--v=0", "--timeout=300000", "--dump-dom"]);
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("profile-{}", std::process::id()));
    command.arg(format!("--user-data-dir={}", profile.display()));
    let output = command.arg(format!("{}?selftest", server.address)).output().unwrap();
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let said = dom.split_once("<p id=\"selftest\">").and_then(|(_, rest)| rest.split_once("</p>"));
    let (said, _) = said.unwrap_or_else(|| panic!("there is no page: {log}\n{dom}"));
    let expected = format!(
        "passed: {} of {} images right, scores {:08x}, drawn 0123456789, seen 0123456789",
        right(),
        LABELS.len(),
        hash_of_scores()
    );
    assert_eq!(said, expected, "{log}");
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    std::fs::remove_dir_all(profile).unwrap();
}

/// FNV-1a of the scores of all images.
fn hash_of_scores() -> u32 {
    let scores = images().flat_map(|ink| classify(ink).stored);
    scores.fold(0x811c_9dc5, |hash, score| (hash ^ u32::from(score as u8)).wrapping_mul(0x0100_0193))
}

/// The path of a program; `None`, and says so, where it is not installed.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        println!("there is no {name} on the PATH: nothing was run in it (`cargo xtask setup` installs it)");
    }
    found
}

/// The program of this example, while it serves the page.
struct Server {
    process: Child,
    address: String,
    /// Kept open, so that it can go on printing.
    _output: BufReader<ChildStdout>,
}

impl Server {
    /// `None`, and says so, where the module cannot be compiled.
    fn start() -> Option<Server> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut ask = Command::new(rustc);
        let output =
            ask.args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]).output().unwrap();
        let libraries = String::from_utf8(output.stdout).unwrap();
        if !Path::new(libraries.trim()).is_dir() {
            println!("there is no Rust target wasm32-unknown-unknown: no module was compiled (`cargo xtask setup` installs it)");
            return None;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_serve"));
        let mut process = command.arg("0").stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "the server says {address:?}");
        Some(Server { process, address: address.trim().to_owned(), _output: output })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What has ended already needs no end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
