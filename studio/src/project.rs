//! A crate around the model, as a zip file: for every chip, and to be a part of a firmware.

use crate::request::Request;
use kiln_codegen::front::format_of;
use kiln_codegen::{compile, Options};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The zip file.
pub(crate) fn archive(model: &[u8], request: &Request) -> Result<Vec<u8>, String> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (path, content) in files(model, request)? {
        zip.start_file(path, stored).map_err(|error| error.to_string())?;
        zip.write_all(&content).map_err(|error| error.to_string())?;
    }
    Ok(zip.finish().map_err(|error| error.to_string())?.into_inner())
}

/// Its files: path and content. The folder is the crate's name.
fn files(model: &[u8], request: &Request) -> Result<Vec<(String, Vec<u8>)>, String> {
    let Request { file, name, written, options, .. } = request;
    let compiled = compile(model, name, options).map_err(|error| error.to_string())?;
    let feature = format_of(model).map_err(|error| error.to_string())?.feature;
    let (krate, ty, copy) = (crate_name(name), compiled.type_name(), plain(file));
    let version = env!("CARGO_PKG_VERSION");
    let dependency = match feature {
        "tflite" => format!("kiln-nn = {version:?}"),
        _ => format!("kiln-nn = {{ version = {version:?}, default-features = false, features = [\"macros\", {feature:?}] }}"),
    };
    // Cargo knows the target, and what is the default need not be said.
    let is_said = |(option, value): &&(String, String)| {
        let mut only = Options::default();
        option != "target" && (only.set(option, value).is_err() || only != Options::default())
    };
    let written = written.iter().filter(is_said);
    let chosen: String = written.map(|(option, value)| format!(", {option} = {value:?}")).collect();
    let manifest = format!(
        "[package]\nname = {krate:?}\nversion = \"0.1.0\"\nedition = \"2021\"\npublish = false\n\n[dependencies]\n{dependency}\n\n\
         [profile.release]\nlto = \"fat\"\ncodegen-units = 1\n\n# Also where it stands inside another workspace.\n[workspace]\n"
    );
    let library = format!(
        "//! The model `{copy}`, compiled by Kiln.\n#![no_std]\n\nkiln::include_model!(pub {ty} = \"models/{copy}\"{chosen});\n\n\
         #[cfg(test)]\nmod tests {{\n    use super::{ty};\n\n    #[test]\n    fn the_model_runs() {{\n        let mut model = {ty}::new();\n        \
         model.invoke();\n    }}\n}}\n"
    );
    let readme = format!(
        "# {krate}\n\n`{ty}` is the model `models/{copy}`. It takes {} bytes of RAM and {} bytes of constants on {}.\n\n```sh\ncargo test\n```\n\n\
         A whole firmware for a board: `cargo kiln new NAME --board BOARD --model models/{copy}`. `cargo kiln boards` lists the boards.\n",
        compiled.plan.ram_bytes(),
        compiled.program.constant_bytes(),
        options.target().name(),
    );
    Ok(vec![
        (format!("{krate}/Cargo.toml"), manifest.into_bytes()),
        (format!("{krate}/README.md"), readme.into_bytes()),
        (format!("{krate}/models/{copy}"), model.to_vec()),
        (format!("{krate}/src/lib.rs"), library.into_bytes()),
    ])
}

/// A file's name without what manifests, shells and source code trip over.
fn plain(file: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = file.chars().map(plain).collect();
    match name.trim_start_matches('.') {
        "" => "model".into(),
        name => name.into(),
    }
}

/// A name that Cargo takes, and that is no keyword.
fn crate_name(model: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = model.chars().map(plain).collect();
    format!("model-{}", name.trim_matches('-')).trim_end_matches('-').to_owned()
}
