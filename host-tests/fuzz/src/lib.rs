//! What every target asks of a model: whatever is accepted keeps its meaning. Imported graph, compiled graph and the plan on real bytes agree, and the
//! emitted Rust parses.

use kiln_codegen::{compile, import, Options};
use kiln_host_tests::mutate::meaning;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Most multiplications of models that are run.
const MOST_WORK: usize = 1 << 22;

/// Checks a file, which need not be a model.
///
/// # Panics
/// Where something that is accepted loses its meaning.
pub fn check(bytes: &[u8]) {
    let options = Options::default();
    let Ok(compiled) = compile(bytes, "fuzz", &options) else { return };
    let imported = import(bytes, "fuzz", &options).expect("what compiles can be imported");
    meaning::check(&imported, &compiled, MOST_WORK).expect("what is accepted keeps its meaning");
}

/// A zip archive of these files, stored as they are.
///
/// # Panics
/// Never: memory takes all that is written.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file(*name, options).expect("names differ");
        writer.write_all(contents).expect("memory takes all that is written");
    }
    writer.finish().expect("memory takes all that is written").into_inner()
}
