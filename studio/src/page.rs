//! The page as one file: browsers let a file from a disk load no other file.

use kiln_boards::cycles::cores::Core;
use kiln_boards::{Board, Runner};
use serde_json::{json, Value};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
const TARGET: &str = "wasm32-unknown-unknown";

/// The files that the page consists of: what stands for each in `index.html`, and its content. The style of reports is that of `cargo kiln report`.
const PARTS: [(&str, &str); 6] = [
    ("/* report.css */", include_str!("../../codegen/tools/src/report/whole/page/style.css")),
    ("/* page.css */", include_str!("../page/page.css")),
    ("/* worker.js */", include_str!("../page/worker.js")),
    ("/* page.js */", include_str!("../page/page.js")),
    ("/* run.js */", include_str!("../page/run.js")),
    ("/* front.js */", include_str!("../page/front.js")),
];

/// Compiles the module, and returns its bytes.
///
/// # Errors
/// Where it does not compile.
pub fn module() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(FOLDER).args(["build", "--lib", "--target", TARGET, "--release"]);
    if !cargo.status()?.success() {
        return Err(format!("the module does not compile; `rustup target add {TARGET}` may help").into());
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new(FOLDER).join("target"), PathBuf::from);
    Ok(std::fs::read(target.join(TARGET).join("release/kiln_studio.wasm"))?)
}

/// The page with the module in it. `more` stands at its end: tests have a script there.
pub fn page(module: &[u8], more: &str) -> String {
    let mut page = include_str!("../page/index.html").to_owned();
    for (place, content) in PARTS {
        page = page.replace(place, content);
    }
    page = page.replace("/* boards */", &boards().to_string());
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(module, 9);
    page.replace("/* module */", &base64(&packed)).replace("<!-- more -->", more)
}

/// The real boards of each target whose core cycles are predicted for, with their clocks.
fn boards() -> Value {
    let targets = [
        ("cortex-m0", Core::CortexM0Plus),
        ("cortex-m4", Core::CortexM4),
        ("cortex-m55", Core::CortexM55),
        ("rv32imc", Core::Hazard3),
    ];
    let on = |core: Core| -> Value {
        let real = |board: &&Board| board.core == core && matches!(board.runner, Runner::ProbeRs { .. });
        Board::all().iter().filter(real).map(|board| json!([board.name, board.clock_hz])).collect()
    };
    targets
        .into_iter()
        .map(|(target, core)| (target.to_owned(), on(core)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// How many bytes the page has as servers send it, compressed: a file of gzip has 12 bytes more than the format counted here.
pub fn compressed(page: &str) -> usize {
    miniz_oxide::deflate::compress_to_vec_zlib(page.as_bytes(), 9).len() + 12
}

/// As browsers read binary data in a text.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let of = |index: usize| part.get(index).copied().map_or(0, u32::from);
        let bits = of(0) << 16 | of(1) << 8 | of(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            out.push(if digit > part.len() { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }
}
