//! The page in headless Chromium, from a disk: what it shows is what `cargo kiln` says here. What it shows of a run: `runs`.
//!
//! Without Chromium or the Rust target `wasm32-unknown-unknown` it says so, and nothing is looked at; `cargo xtask setup` installs both.

// Helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod native;
mod runs;

use kiln_studio::page::{base64, compressed, module, page};
use native::{figures, front, grouped, kiln, rust, significant};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The width of a phone, in CSS pixels.
const PHONE: u32 = 390;
/// A page may have so many bytes, compressed.
const MOST_BYTES: usize = 3 << 20;
/// MLPerf's models compile in so many milliseconds, the best of three times.
const MOST_MS: f64 = 1000.0;

static DIGITS: &[u8] = include_bytes!("../../examples/digits/models/digits_int8.tflite");
static WAKE_WORD: &[u8] = include_bytes!("../../examples/wake-word/models/wake_word_int8.onnx");

#[test]
fn the_page_shows_what_the_compiler_says() {
    let broken = &DIGITS[..DIGITS.len() / 2];
    let steps = [
        drop_file("digits.tflite", DIGITS),
        json!({ "save": "rust" }),
        json!({ "save": "project" }),
        json!({ "set": { "optimize": "memory", "input": "rows", "target": "cortex-m0" } }),
        json!({ "set": { "optimize": "speed", "input": "whole", "ram": "1K" } }),
        json!({ "set": { "ram": "", "target": "cortex-m4" } }),
        json!({ "slide": 0 }),
        json!({ "set": { "optimize": "speed", "ram": "" } }),
        drop_file("broken.tflite", broken),
        drop_file("notes.txt", b"This is no model."),
        drop_file("wake word.onnx", WAKE_WORD),
    ];
    let Some(seen) = look(&steps) else { return };
    let [first, written, project, rows, over, _, slid, _, cut, text, onnx] = &seen[..] else {
        panic!("{seen:?}")
    };
    for seen in &seen {
        assert_eq!(seen["resources"], json!([]), "nothing is fetched");
        assert_eq!(seen["violations"], json!([]));
        assert_eq!(seen["unnamed"], json!([]), "every control has a name");
        assert_eq!(seen["width"][0], PHONE);
        assert!(seen["width"][1].as_u64() <= Some(PHONE.into()), "wider than a phone: {}", seen["width"]);
    }

    assert_costs(first, &figures(DIGITS, "digits.tflite", &[]));
    assert_eq!(first["pictures"], json!([1, 1, 1, 0]));
    for title in
        ["RAM against cycles", "Graph as compiled", "Arena over time", "Layers", "Certificate", "Modes"]
    {
        assert!(first["titles"].as_array().unwrap().contains(&title.into()), "{title}: {}", first["titles"]);
    }
    let chips = first["chips"].as_array().unwrap();
    assert!(chips.len() >= 6, "{chips:?}");
    for chip in chips {
        let target = chip[0].as_str().unwrap();
        let found = figures(DIGITS, "digits.tflite", &["--target", target]);
        let cycles = if target == "x86-64" { "–".into() } else { grouped(found.cycles) };
        let time = |(ms, board, mhz): &(f64, String, u64)| {
            format!("{} ms on {board} at {mhz} MHz", significant(*ms))
        };
        let times = found.on_boards.iter().map(time).collect::<Vec<_>>().join(", ");
        assert_eq!(times.is_empty(), target == "x86-64" || target == "portable", "{target}: {times}");
        let expected =
            json!([target, cycles, grouped(found.ram()), grouped(found.constants), chip[4], times]);
        assert_eq!(*chip, expected);
    }
    assert_eq!(code(&String::from_utf8(saved(written)).unwrap()), code(&rust(DIGITS, "digits.tflite")));
    let project = saved(project);
    for part in
        [DIGITS, b"kiln::include_model!(pub Digits = \"models/digits.tflite\");", b"kiln-nn = \"0.1.0\""]
    {
        assert!(
            project.windows(part.len()).any(|window| window == part),
            "{}",
            String::from_utf8_lossy(part)
        );
    }

    let memory = ["--target", "cortex-m0", "--optimize", "memory", "--input", "rows"];
    let by_rows = figures(DIGITS, "digits.tflite", &memory);
    assert_costs(rows, &by_rows);
    assert!(by_rows.pipelines > 0);
    assert_eq!(rows["pictures"][3], by_rows.pipelines, "all pipelines are drawn");
    let error = over["error"].as_str().unwrap();
    assert!(error.contains("over budget") && error.contains("1024") && error.contains("help:"), "{error}");
    assert_eq!(over["shown"], false);

    let points = front(DIGITS, "digits.tflite");
    assert!(!points.is_empty());
    let shown: Vec<Value> =
        points.iter().map(|(ram, cycles)| json!([grouped(*ram), grouped(*cycles)])).collect();
    let seen_points = first["points"].as_array().unwrap();
    assert_eq!(seen_points.iter().map(|point| json!([point[0], point[1]])).collect::<Vec<_>>(), shown);
    let ram = format!("{} B", grouped(points[0].0));
    assert!(slid["costs"][0][1].as_str().unwrap().starts_with(&ram), "{} {ram}", slid["costs"]);

    for (seen, bytes) in [(cut, broken), (text, b"This is no model.")] {
        let error = seen["error"].as_str().unwrap();
        let said = kiln(&["plan"], bytes, "broken.tflite", &[]).unwrap_err();
        assert!(said.contains(error), "{error}\n{said}");
        assert!(error.contains("help:"), "{error}");
        assert_eq!(seen["shown"], false);
    }
    assert_costs(onnx, &figures(WAKE_WORD, "wake word.onnx", &[]));
}

/// With `KILN_CORPUS` it measures: `cargo test --release -- --nocapture mlperf`.
#[test]
fn mlperf_models_compile_in_a_second() {
    let Some(corpus) = std::env::var_os("KILN_CORPUS") else {
        println!("KILN_CORPUS is not set: no models of MLPerf were compiled");
        return;
    };
    let names = ["ad", "ic", "kws", "strww", "vww"].map(|name| format!("mlperf_{name}_int8.tflite"));
    let model = |name: &String| std::fs::read(Path::new(&corpus).join("tflite").join(name)).unwrap();
    let steps: Vec<Value> =
        names.iter().flat_map(|name| std::iter::repeat_n(drop_file(name, &model(name)), 3)).collect();
    let Some(seen) = look(&steps) else { return };
    assert_eq!(seen.len(), steps.len(), "{seen:?}");
    for (name, seen) in names.iter().zip(seen.chunks(3)) {
        assert_costs(&seen[0], &figures(&model(name), name, &[]));
        let time = |seen: &Value| -> f64 {
            let status = seen["status"].as_str().unwrap();
            status.trim_start_matches("Compiled in ").trim_end_matches(" ms.").parse().unwrap()
        };
        let times: Vec<f64> = seen.iter().map(time).collect();
        println!("{name}: {times:?} ms");
        assert!(times.iter().any(|time| *time < MOST_MS), "{name}: {times:?} ms");
    }
}

/// RAM, constants and cycles are those that `cargo kiln` says.
fn assert_costs(seen: &Value, found: &native::Figures) {
    assert_eq!((&seen["shown"], &seen["error"]), (&true.into(), &"".into()));
    let bytes = |bytes| format!("{} B", grouped(bytes));
    let text = |index: usize| seen["costs"][index][1].as_str().unwrap();
    let ram = format!("{}arena {}, state {}", bytes(found.ram()), bytes(found.arena), bytes(found.state));
    assert_eq!(text(0), ram);
    assert!(text(1).starts_with(&bytes(found.constants)), "{} {}", text(1), found.constants);
    assert!(text(2).starts_with(&grouped(found.cycles)), "{} {}", text(2), found.cycles);
    for kind in ["input", "output"] {
        assert!(seen["costs"].as_array().unwrap().iter().any(|cell| cell[0] == kind), "{}", seen["costs"]);
    }
}

/// Without comments.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.trim().is_empty()).collect()
}

/// What the page handed to the user.
fn saved(seen: &Value) -> Vec<u8> {
    seen["saved"].as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() as u8).collect()
}

fn drop_file(name: &str, bytes: &[u8]) -> Value {
    json!({ "drop": { "name": name, "bytes": base64(bytes) } })
}

/// Opens the page in a frame as wide as a phone, does the steps, and returns what was seen after each; `None`, and says so, where it cannot.
fn look(steps: &[Value]) -> Option<Vec<Value>> {
    let chromium = chromium()?;
    let module = built()?;
    let text = json!(steps).to_string().replace("</", "<\\/");
    let script = format!("<script>const steps = {text};\n{}</script>", include_str!("steps.js"));
    let folder = folder();
    std::fs::write(folder.join("page.html"), page(module, &script)).unwrap();
    let frame = format!(
        "<!DOCTYPE html><meta charset=utf-8><pre></pre><iframe style='border:0;width:{PHONE}px;height:800px' src=page.html></iframe>\
         <script>onmessage = ({{ data }}) => {{ document.querySelector('pre').textContent = JSON.stringify(data); }};</script>"
    );
    std::fs::write(folder.join("frame.html"), frame).unwrap();
    let mut command = Command::new(chromium);
    // A profile of its own, and nothing that would ask the network by itself.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args([
        "--enable-logging=stderr",
        "--v=0",
        "--timeout=120000",
        "--window-size=1000,900",
        "--dump-dom",
    ]);
    // There is no network.
    command.arg("--host-resolver-rules=MAP * ~NOTFOUND");
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let output = command.arg(format!("file://{}", folder.join("frame.html").display())).output().unwrap();
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    let found =
        dom.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).map(|(found, _)| found);
    let found = found.filter(|found| !found.is_empty()).unwrap_or_else(|| panic!("nothing was seen: {log}"));
    let found =
        found.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let seen: Vec<Value> = serde_json::from_str(&found).unwrap();
    let failed = seen.iter().find(|seen| !seen["failed"].is_null());
    assert!(failed.is_none(), "{failed:?}");
    std::fs::remove_dir_all(&folder).unwrap();
    Some(seen)
}

/// The module, compiled once for all tests, and not too large.
fn built() -> Option<&'static [u8]> {
    static MODULE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let build = || {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let asked = Command::new(rustc)
            .args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"])
            .output();
        let libraries = String::from_utf8(asked.unwrap().stdout).unwrap();
        if !Path::new(libraries.trim()).is_dir() {
            println!("there is no Rust target wasm32-unknown-unknown: no module was compiled (`cargo xtask setup` installs it)");
            return None;
        }
        let module = module().unwrap();
        let bytes = compressed(&page(&module, ""));
        println!("the page has {bytes} bytes, compressed");
        assert!(bytes < MOST_BYTES, "the page has {bytes} bytes, compressed");
        Some(module)
    };
    MODULE.get_or_init(build).as_deref()
}

/// The path of the browser; `None`, and says so, where it is not installed.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|file| file.is_file());
    if found.is_none() {
        println!(
            "there is no chromium on the PATH: the page was not opened (`cargo xtask setup` installs it)"
        );
    }
    found
}

/// An empty folder of its own.
fn folder() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_ascii_digit(), "");
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("studio-{}-{thread}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
