//! No probe, one, several.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
mod support;

use kiln_probe::select;
use support::lister::lister;

fn message(serials: &'static [&'static str], asked: Option<&str>) -> String {
    // A listed probe cannot be opened: that it was tried is what shows.
    select(&lister(serials), asked).unwrap_err().to_string()
}

#[test]
fn no_probe_is_an_error_with_a_way_out() {
    for asked in [None, Some("1050001234")] {
        let text = message(&[], asked);
        assert!(
            text.contains("no debug probe found") && text.contains("USB") && text.contains("udev"),
            "{text}"
        );
    }
}

#[test]
fn several_probes_are_listed() {
    let text = message(&["AAA1", "BBB2"], None);
    assert!(
        text.contains("--probe SERIAL") && text.contains("AAA1  Some Probe") && text.contains("BBB2"),
        "{text}"
    );
    let text = message(&["AAA1", "BBB2"], Some("1366:1051"));
    assert!(text.contains("AAA1") && text.contains("BBB2"), "{text}");
}

#[test]
fn a_probe_is_chosen_by_its_serial_number() {
    for asked in [None, Some("AAA1"), Some("aaa1"), Some("1366:1051"), Some("1366:1051:AAA1")] {
        let text = message(&["AAA1"], asked);
        assert!(text.contains("cannot open the debug probe Some Probe"), "{asked:?}: {text}");
    }
    let text = message(&["AAA1", "BBB2"], Some("BBB2"));
    assert!(text.contains("cannot open"), "{text}");
    let text = message(&["AAA1", "BBB2"], Some("CCC3"));
    assert!(
        text.contains("no debug probe `CCC3`") && text.contains("AAA1") && text.contains("BBB2"),
        "{text}"
    );
}
