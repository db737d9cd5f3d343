//! The page of `cargo kiln report` in a browser: what is on it, at the width of a phone, in light and dark.
//!
//! Without Chromium on the PATH it says so, and only the text of the page is looked at; `cargo xtask test` installs it.

// Helpers may unwrap as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod browser;

use browser::{look, Scheme, Seen};
use cargo_kiln::report::{report, Report};
use kiln_codegen::{Optimize, Options, Target};
use std::path::Path;

/// The width of a phone, in CSS pixels.
const PHONE: u32 = 390;

fn of(model: &str, optimize: Optimize) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(model);
    let options = Options { target: Some(Target::CortexMDsp), optimize, ..Options::default() };
    report(&path, &options, None).unwrap()
}

fn digits(optimize: Optimize) -> Report {
    of("examples/digits/models/digits_int8.tflite", optimize)
}

fn assert_good(seen: &Seen) {
    assert_eq!(seen.errors, [""; 0], "the console is silent");
    assert_eq!(seen.requests, 0, "nothing is fetched");
    assert!(seen.scroll_width <= seen.width, "{} wide on a screen of {}", seen.scroll_width, seen.width);
    assert_eq!(seen.dead_links, [""; 0], "links lead somewhere");
    assert_eq!(seen.faint, [""; 0], "texts have a contrast of 4.5 at least");
    assert_eq!(seen.scripts, 1);
}

/// Integer layers in place of a file's floats.
#[test]
fn a_report_says_how_far_integers_drift_from_the_floats_of_the_file() {
    let report = of("host-tests/findings/onnx/qdq_sums.onnx", Optimize::Speed);
    let drift = report.drift.clone().expect("layers became integer layers");
    assert!(drift.contains("integers for the floats of the file"), "{drift}");
    for view in [report.text(), report.json().unwrap(), report.page()] {
        assert!(view.contains("integers for the floats of the file"), "{view}");
    }
    assert_eq!(digits(Optimize::Speed).drift, None);
}

#[test]
fn all_that_a_report_says_is_on_the_page() {
    for optimize in [Optimize::Speed, Optimize::Memory] {
        let report = digits(optimize);
        let Some(seen) = look(&report.page(), PHONE, Scheme::Light) else { return };
        assert_good(&seen);
        assert_eq!(seen.width, u64::from(PHONE));
        assert_eq!(
            seen.titles,
            [
                "Graph as compiled",
                "Arena over time",
                "Layers",
                "Passes",
                "What could be better",
                "Certificate",
                "Modes"
            ]
        );
        assert_eq!(seen.boxes, report.steps.len());
        assert_eq!(seen.layers, report.steps.len());
        assert_eq!(seen.pipelines, report.pipelines.len());
        assert_eq!(seen.buffers, report.arena.buffers.len());
        assert_eq!(seen.passes, report.passes.len());
        assert_eq!(seen.claims, report.certificate.len());
        assert_eq!(seen.modes, 3);
        // Pointing at the last buffer, and reaching it by keyboard.
        let (told, focused) = (&seen.told, seen.focused);
        let buffer = report.arena.buffers.iter().find(|buffer| told.starts_with(&buffer.name)).unwrap();
        assert_eq!(*told, buffer.describe(report.arena.times));
        assert!(focused);
    }
}

#[test]
fn the_page_is_readable_in_the_dark_and_on_a_desk() {
    let report = of("host-tests/models/tflite/residual_int8.tflite", Optimize::Speed);
    let backgrounds: Vec<String> = [(PHONE, Scheme::Dark), (1200, Scheme::Dark), (1200, Scheme::Light)]
        .into_iter()
        .filter_map(|(width, scheme)| look(&report.page(), width, scheme))
        .map(|seen| {
            assert_good(&seen);
            seen.background
        })
        .collect();
    if let [phone, dark, light] = &backgrounds[..] {
        assert_eq!(phone, dark);
        assert_ne!(dark, light, "the scheme changes the page");
    }
}

/// A model may call its tensors what it likes.
#[test]
fn names_are_only_text() {
    const NAME: &str = "\"><script>throw 1</script><img src=x onerror='throw 2'>&amp;";
    let mut report = digits(Optimize::Speed);
    report.model.name = NAME.into();
    report.model.inputs[0].name = NAME.into();
    report.steps.iter_mut().for_each(|step| {
        step.name = NAME.into();
        step.holds = vec![NAME.into()];
        step.in_place_of = Some(NAME.into());
    });
    report.arena.buffers.iter_mut().for_each(|buffer| buffer.name = NAME.into());
    report.passes.iter_mut().for_each(|pass| pass.changed = vec![NAME.into()]);
    report.modes[1].error = Some(NAME.into());
    let page = report.page();
    assert!(!page.contains("<img") && page.matches("<script").count() == 1);
    let Some(seen) = look(&page, PHONE, Scheme::Light) else { return };
    assert_good(&seen);
    assert!(seen.told.starts_with(NAME), "{}", seen.told);
}

/// What the other tests rely on: each fault is seen.
#[test]
fn faults_are_seen() {
    let page = "<!DOCTYPE html><html><body style='margin:0;background:#fff'>\
        <p style='color:#ccc'>faint</p><a href='#nowhere'>x</a><div style='width:500px'>wide</div>\
        <img src='http://127.0.0.1:9/x.png'><script>throw new Error('a fault')</script></body></html>";
    let Some(seen) = look(page, PHONE, Scheme::Light) else { return };
    assert!(seen.errors.iter().any(|error| error.contains("a fault")), "{:?}", seen.errors);
    assert_eq!((seen.scroll_width, seen.requests), (500, 1));
    assert_eq!(
        (&seen.dead_links[..], &seen.faint[..]),
        (&["#nowhere".to_string()][..], &["faint".to_string()][..])
    );
}

#[test]
fn text_and_json_say_the_same() {
    let report = digits(Optimize::Memory);
    let (text, page) = (report.text(), report.page());
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(json["steps"].as_array().unwrap().len(), report.steps.len());
    assert_eq!(json["totals"]["ram_bytes"], report.totals.ram_bytes);
    assert_eq!(json["modes"][0]["optimize"], "memory");
    for claim in &report.certificate {
        assert!(claim.holds, "{claim:?}");
        assert!(text.contains(claim.claim) && text.contains(&claim.evidence));
        assert!(page.contains(&claim.evidence));
    }
    for (_, fact) in
        [("RAM", report.totals.ram_bytes.to_string()), ("state", report.totals.state_bytes.to_string())]
    {
        assert!(text.replace(',', "").contains(&fact) && page.replace(',', "").contains(&fact), "{fact}");
    }
    for step in &report.steps {
        for origin in &step.holds {
            assert!(text.contains(origin) && page.contains(origin), "{origin}");
        }
    }
    // Each operator of the file is in a step, or it is said why not.
    let held: Vec<&String> = report.steps.iter().flat_map(|step| &step.holds).collect();
    let without = report.without_step.iter().map(|operator| &operator.operator);
    let mut all: Vec<&String> = held.into_iter().chain(without).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), report.model.operators);
}
