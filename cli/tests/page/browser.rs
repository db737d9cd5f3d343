//! A page in headless Chromium, and what is to be seen there.

use kiln_boards::toolchain::find_program;
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a page looks like.
#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    /// What the console says. From the browser's log.
    #[serde(default)]
    pub(crate) errors: Vec<String>,
    /// Width of the screen, and of the page, in CSS pixels.
    pub(crate) width: u64,
    pub(crate) scroll_width: u64,
    /// How many resources were asked for.
    pub(crate) requests: usize,
    /// Links within the page to what is not there.
    pub(crate) dead_links: Vec<String>,
    /// Texts too faint to read.
    pub(crate) faint: Vec<String>,
    pub(crate) scripts: usize,
    pub(crate) background: String,
    /// Titles of sections.
    pub(crate) titles: Vec<String>,
    pub(crate) boxes: usize,
    pub(crate) layers: usize,
    pub(crate) pipelines: usize,
    pub(crate) buffers: usize,
    pub(crate) passes: usize,
    pub(crate) claims: usize,
    pub(crate) modes: usize,
    /// What is said of the last buffer when it is pointed at.
    pub(crate) told: String,
    /// Whether the last buffer takes the focus.
    pub(crate) focused: bool,
}

/// What users prefer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// Opens a page on a screen of that width; `None`, and says so, where there is no browser.
pub(crate) fn look(page: &str, width: u32, scheme: Scheme) -> Option<Seen> {
    let Some(chromium) = find_program("chromium") else {
        println!(
            "there is no chromium on the PATH: the page was not opened (`cargo xtask setup` installs it)"
        );
        return None;
    };
    let folder = folder();
    let file = folder.join("page.html");
    // In a frame, since windows have a least width.
    let text = serde_json::to_string(page).unwrap().replace("</", "<\\/").replace("<!--", "<\\!--");
    let frame = format!(
        "<!DOCTYPE html><meta charset=utf-8><iframe style='border:0;width:{width}px;height:800px'></iframe><pre></pre>\
         <script>const page = {text};\n{}</script>",
        include_str!("look.js")
    );
    std::fs::write(&file, frame).unwrap();
    let mut command = Command::new(chromium);
    // A profile of its own, and nothing that would ask the network by itself.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--enable-logging=stderr", "--v=0", "--window-size=1400,900", "--dump-dom"]);
    let preferred = match scheme {
        Scheme::Dark => "--blink-settings=preferredColorScheme=0",
        Scheme::Light => "--blink-settings=preferredColorScheme=1",
    };
    command.arg(preferred).arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let output = command.arg(format!("file://{}", file.display())).output().unwrap();
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found =
        dom.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).map(|(found, _)| found);
    let found =
        found.filter(|found| !found.is_empty()).unwrap_or_else(|| panic!("nothing was seen: {log}\n{dom}"));
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let mut seen: Seen = serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found}"));
    seen.errors = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_string).collect();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(seen)
}

/// An empty folder of its own.
fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("page-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
