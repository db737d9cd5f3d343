//! The page runs a model: outputs, verdicts and complaints are those of `cargo kiln infer` and `cargo kiln validate`.

mod given;

use super::{drop_file, look, saved};
use crate::native::{infer, validate};
use kiln_studio::page::base64;
use serde_json::{json, Value};
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

static DIGITS: &[u8] = include_bytes!("../../../examples/digits/models/digits_int8.tflite");
static DIGITS_GOLDEN: &[u8] = include_bytes!("../../../examples/digits/golden/digits_int8.npz");
static FLOATS: &[u8] = include_bytes!("../../../examples/digits/models/digits_f32.tflite");
static FLOATS_GOLDEN: &[u8] = include_bytes!("../../../examples/digits/golden/digits_f32.npz");
static TWO: &[u8] = include_bytes!("../../../examples/find-digits/models/find_digits_int8.tflite");
static TWO_GOLDEN: &[u8] = include_bytes!("../../../examples/find-digits/golden/find_digits_int8.npz");
static STREAM: &[u8] = include_bytes!("../../../host-tests/models/tflite/stream_int8.tflite");
static STREAM_GOLDEN: &[u8] = include_bytes!("../../../host-tests/models/golden/stream_int8.npz");

#[test]
fn outputs_are_those_of_the_command_line() {
    let altered = with(DIGITS_GOLDEN, "out_0", |file| {
        // Case 7, element 3.
        let at = file.len() - 3600 + 73;
        file[at] = file[at].wrapping_add(1);
    });
    let (_, array) = arrays(DIGITS_GOLDEN).remove(0);
    let steps = [
        // The inputs wait for their model.
        json!({ "both": [file("digits.npz", DIGITS_GOLDEN), file("digits.tflite", DIGITS)] }),
        json!({ "show": 9 }),
        json!({ "save": "outputs" }),
        json!({ "cases": file("altered.npz", &altered) }),
        json!({ "cases": file("inputs.npy", &array) }),
        json!({ "save": "outputs" }),
        json!({ "set": { "optimize": "memory" } }),
        json!({ "noise": null }),
        drop_file("find_digits.tflite", TWO),
        json!({ "cases": file("two.npz", TWO_GOLDEN) }),
        json!({ "both": [file("digits_f32.tflite", FLOATS), file("floats.npz", FLOATS_GOLDEN)] }),
    ];
    let Some(seen) = look(&steps) else { return };
    let [first, ninth, written, wrong, inputs, single, memory, noise, other, two, floats] = &seen[..] else {
        panic!("{seen:?}")
    };
    for seen in &seen {
        assert_eq!(
            (&seen["violations"], &seen["unnamed"], &seen["resources"]),
            (&json!([]), &json!([]), &json!([]))
        );
        assert!(
            seen["width"][1].as_u64() <= seen["width"][0].as_u64(),
            "wider than a phone: {}",
            seen["width"]
        );
    }

    assert_agrees(first, DIGITS, "digits.tflite", DIGITS_GOLDEN);
    assert_eq!(first["run"]["verdict"], "ok: 0 of 3600 integers differ");
    assert_eq!(first["run"]["case"], "0 (0 to 359)");
    let said = infer(DIGITS, "digits.tflite", DIGITS_GOLDEN).unwrap();
    assert_eq!(saved(written), said, "the file of `cargo kiln infer`");
    let (name, outputs) = arrays(&said).remove(0);
    assert_eq!(name, "out_0");
    let outputs = &outputs[outputs.len() - 3600..];
    for (seen, case) in [(first, 0), (ninth, 9)] {
        let output = &seen["run"]["outputs"][0];
        assert_eq!(output["type"], "i8[1,10]");
        assert_eq!(output["rows"], json!(largest(&outputs[case * 10..][..10])));
        let bars: Vec<f64> =
            output["bars"].as_array().unwrap().iter().map(|bar| bar.as_f64().unwrap()).collect();
        assert!(bars[0] > 0.99 && bars.windows(2).all(|pair| pair[0] >= pair[1]), "{bars:?}");
    }

    // A golden file that is wrong by one in one place.
    assert_agrees(wrong, DIGITS, "digits.tflite", &altered);
    assert_eq!(wrong["run"]["verdict"], "FAILED: 1 of 3600 integers differ, by at most 1");
    assert_eq!(wrong["run"]["failures"], json!(["case 7, output 0: 1 of 10 integers differ, by at most 1"]));
    assert_eq!(
        (&wrong["run"]["colour"], &wrong["run"]["case"]),
        (&json!("fails"), &json!("7 (0 to 359), differs"))
    );
    let rows = wrong["run"]["outputs"][0]["rows"].as_array().unwrap();
    let marked: Vec<&Value> =
        rows.iter().filter(|row| row[1].as_str().unwrap().contains("expected")).collect();
    assert!(marked.len() == 1 && marked[0][0] == "3", "{rows:?}");

    // A single array has inputs alone.
    assert_eq!((&inputs["run"]["verdict"], &inputs["run"]["colour"]), (&json!(""), &json!("")));
    assert_eq!(saved(single), said);
    // With other options, the model runs again.
    assert_eq!(
        (&memory["run"]["shown"], &memory["run"]["outputs"]),
        (&json!(true), &inputs["run"]["outputs"])
    );
    assert!(
        noise["run"]["status"].as_str().unwrap().starts_with("1 case of noise, "),
        "{}",
        noise["run"]["status"]
    );
    assert_eq!(noise["run"]["outputs"][0]["rows"].as_array().unwrap().len(), 5);
    assert_eq!(other["run"]["shown"], false, "inputs of another model are forgotten");
    assert_agrees(two, TWO, "find_digits.tflite", TWO_GOLDEN);
    let outputs = two["run"]["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 2);
    let place = outputs[1]["rows"][0][0].as_str().unwrap();
    let (row, column) = place.split_once(", ").unwrap();
    let said = arrays(&infer(TWO, "find_digits.tflite", TWO_GOLDEN).unwrap());
    let scores = &said.iter().find(|(name, _)| name == "out_1").unwrap().1;
    let scores = &scores[scores.len() - 28800..][..2880];
    let at = row.parse::<usize>().unwrap() * 10 + column.parse::<usize>().unwrap();
    assert_eq!(scores[at] as i8, scores.iter().map(|&byte| byte as i8).max().unwrap());
    assert_agrees(floats, FLOATS, "digits_f32.tflite", FLOATS_GOLDEN);
    assert!(floats["run"]["verdict"].as_str().unwrap().starts_with("ok: 3600 floats differ by at most "));
}

#[test]
fn steps_of_a_sequence_say_so() {
    let afresh = {
        let mut all = arrays(STREAM_GOLDEN);
        let truth = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }";
        all.push(("fresh".into(), npy(truth, &[1])));
        archive(&all)
    };
    let steps = [
        drop_file("stream.tflite", STREAM),
        json!({ "cases": file("steps.npz", STREAM_GOLDEN) }),
        json!({ "cases": file("afresh.npz", &afresh) }),
    ];
    let Some(seen) = look(&steps) else { return };
    let [_, steps, afresh_seen] = &seen[..] else { panic!("{seen:?}") };
    assert_agrees(steps, STREAM, "stream.tflite", STREAM_GOLDEN);
    assert_eq!(steps["run"]["colour"], "holds");
    assert!(
        steps["run"]["status"].as_str().unwrap().contains(" steps of one sequence"),
        "{}",
        steps["run"]["status"]
    );
    assert_agrees(afresh_seen, STREAM, "stream.tflite", &afresh);
    assert_eq!(afresh_seen["run"]["colour"], "fails");
    let failures = afresh_seen["run"]["failures"].as_array().unwrap();
    assert!(
        failures.last().unwrap().as_str().unwrap().starts_with("help: the model was reset"),
        "{failures:?}"
    );
}

#[test]
fn files_that_do_not_fit_are_refused_as_by_the_command_line() {
    let plain = |shape: &str| format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({shape}), }}");
    let only =
        |name: &str, header: &str, bytes: usize| archive(&[(name.into(), npy(header, &vec![0; bytes]))]);
    let mut damaged = DIGITS_GOLDEN.to_vec();
    damaged[2000] ^= 0x40;
    let files = [
        (
            only("in_0", &plain("2, 1, 8, 9, 1"), 144),
            "holds 72 elements of i8 a case, the model's input 0 is i8[1, 8, 8, 1]",
        ),
        (only("in_0", &plain("1, 64").replace("|i1", "<f4"), 256), "64 elements of f32 a case"),
        (only("x", &plain("1, 64"), 64), "lacks `in_0`, and has `x`"),
        (only("in_0", &plain("1, 64").replace("|i1", "<f8"), 512), "elements of type <f8"),
        (
            with(DIGITS_GOLDEN, "out_0", |file| *file = npy(&plain("360, 1, 9"), &[0; 3240])),
            "`out_0` holds 9 elements",
        ),
        (damaged, "is damaged"),
        (DIGITS_GOLDEN[..5000].to_vec(), "is no NumPy archive"),
        (b"This is no archive.".to_vec(), "is no NumPy archive"),
    ];
    // Those say that they are large, or become so.
    let bombs = [
        (only("in_0", &plain("4294967296, 1099511627776"), 64), "but only"),
        (only("in_0", &plain("300000000"), 300_000_000), "more than 268435456 bytes"),
        (only("in_0", &format!("{{'descr': {}", "(".repeat(60_000)), 64), "is damaged"),
    ];
    let mut steps = vec![drop_file("digits.tflite", DIGITS)];
    steps.extend(files.iter().chain(&bombs).map(|(bytes, _)| json!({ "cases": file("golden.npz", bytes) })));
    // What lies in the place for inputs is taken as inputs, whatever its name.
    steps.push(json!({ "odd": file("digits.tflite", DIGITS) }));
    steps.push(json!({ "cases": file("golden.npz", DIGITS_GOLDEN) }));
    let Some(seen) = look(&steps) else { return };
    for (index, ((bytes, says), seen)) in files.iter().chain(&bombs).zip(&seen[1..]).enumerate() {
        let error = seen["run"]["error"].as_str().unwrap();
        assert!(error.contains(says), "{error}: {says}");
        assert_eq!(
            (&seen["run"]["shown"], &seen["shown"], &seen["error"]),
            (&json!(false), &json!(true), &json!(""))
        );
        // The limit is lower in the browser, everything else is the same.
        if index < files.len() {
            let said =
                infer(DIGITS, "digits.tflite", bytes).map(|_| validate(DIGITS, "digits.tflite", bytes));
            let said = said.unwrap_or_else(|complaint| complaint);
            let said = said.split_once("error: ").unwrap().1.trim_end();
            assert_eq!(without_folders(said), error);
        }
    }
    let [.., odd, after] = &seen[..] else { panic!("{seen:?}") };
    let error = odd["run"]["error"].as_str().unwrap();
    assert!(error.contains("`digits.tflite` is no NumPy archive") && odd["shown"] == true, "{error}");
    assert_eq!((&after["run"]["error"], &after["run"]["colour"]), (&json!(""), &json!("holds")));
}

/// With `KILN_CORPUS`: models of MLPerf and their golden files. `cargo test --release -- --nocapture corpus` says how long a case takes.
#[test]
fn golden_files_of_the_corpus_agree() {
    let Some(corpus) = std::env::var_os("KILN_CORPUS") else {
        println!("KILN_CORPUS is not set: no models of MLPerf were run");
        return;
    };
    let read = |path: String| std::fs::read(Path::new(&corpus).join(path)).unwrap();
    let names = ["ad", "ic", "kws", "strww", "vww"].map(|name| format!("mlperf_{name}_int8"));
    let files: Vec<_> = names
        .iter()
        .map(|name| {
            (
                format!("{name}.tflite"),
                read(format!("tflite/{name}.tflite")),
                read(format!("golden/{name}.npz")),
            )
        })
        .collect();
    let steps: Vec<Value> = files
        .iter()
        .map(|(name, model, golden)| json!({ "both": [file(name, model), file("golden.npz", golden)] }))
        .collect();
    let Some(seen) = look(&steps) else { return };
    assert_eq!(seen.len(), files.len());
    for ((name, model, golden), seen) in files.iter().zip(&seen) {
        assert_agrees(seen, model, name, golden);
        assert_eq!(seen["run"]["colour"], "holds", "{name}: {}", seen["run"]);
        println!("{name}: {} {}", seen["run"]["verdict"], seen["run"]["status"]);
    }
}

/// The page says what `cargo kiln validate` says.
fn assert_agrees(seen: &Value, model: &[u8], name: &str, golden: &[u8]) {
    let run = &seen["run"];
    assert_eq!((&run["shown"], &run["error"]), (&json!(true), &json!("")));
    let said = validate(model, name, golden);
    let mut lines = said.lines().skip(1);
    let verdict = lines.next().unwrap().trim().trim_start_matches("interp").trim();
    assert_eq!(run["verdict"], verdict, "{said}");
    assert_eq!(run["colour"], if verdict.starts_with("ok") { "holds" } else { "fails" });
    assert_eq!(run["failures"], json!(lines.map(str::trim).collect::<Vec<_>>()));
}

/// A message that names the file as the page does.
fn without_folders(text: &str) -> String {
    match text.find("golden.npz`") {
        Some(name) => {
            let path = text[..name].rfind('`').unwrap();
            format!("{}{}", &text[..=path], &text[name..])
        }
        None => text.to_owned(),
    }
}

/// Rows for the five largest elements of an output with ten steps from 0 to 1.
fn largest(stored: &[u8]) -> Vec<[String; 2]> {
    let mut all: Vec<(usize, i8)> = stored.iter().map(|&byte| byte as i8).enumerate().collect();
    all.sort_by_key(|&(index, stored)| (-i16::from(stored), index));
    let real = |stored: i8| (f32::from(stored) + 128.0) / 256.0;
    all.truncate(5);
    let says = |stored: i8| match real(stored) {
        real if real != 0.0 && real < 1e-4 => format!("{real:e} ({stored})"),
        real => format!("{real} ({stored})"),
    };
    all.into_iter().map(|(index, stored)| [index.to_string(), says(stored)]).collect()
}

fn file(name: &str, bytes: &[u8]) -> Value {
    json!({ "name": name, "bytes": base64(bytes) })
}

/// Names and files of an archive.
fn arrays(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(archive)).unwrap();
    let count = archive.len();
    let read = |index: usize| {
        let mut entry = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.name().trim_end_matches(".npy").to_owned(), bytes)
    };
    (0..count).map(read).collect()
}

/// An archive of these files.
fn archive(arrays: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, file) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        archive.write_all(file).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The archive with another array of that name.
fn with(archive_bytes: &[u8], name: &str, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut all = arrays(archive_bytes);
    all.iter_mut().filter(|(other, _)| other == name).for_each(|(_, file)| change(file));
    archive(&all)
}

/// An array of NumPy.
fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(elements);
    file
}
