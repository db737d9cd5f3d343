//! Compiles the project's own models through the build-script door, and once more with everything in pipelines that can be; lists them for
//! `tests/own_models.rs`.

mod streamed;

use kiln_codegen::{Compiled, Error, Options};
use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=models/tflite");
    println!("cargo:rerun-if-changed=streamed.rs");
    let mut models: Vec<_> = std::fs::read_dir("models/tflite")?.collect::<Result<Vec<_>, _>>()?;
    models.sort_by_key(|entry| entry.file_name());
    let out = std::env::var("OUT_DIR")?;
    // A model that does not compile is a failing test, not a failing build.
    let (mut includes, mut refused) = (String::new(), String::new());
    let mut tables = [String::new(), String::new(), String::new()];
    for entry in &models {
        let path = entry.path();
        let name = kiln_codegen::model_name(&path);
        let mut add = |table: usize, prefix: &str, file: Result<Option<std::path::PathBuf>, Error>| match file
        {
            Ok(Some(file)) => {
                writeln!(includes, "include!({:?});", file.display().to_string())?;
                writeln!(tables[table], "    ({name:?}, run::<{}>),", type_name(prefix, &name))
            }
            Ok(None) => Ok(()),
            Err(error) => writeln!(refused, "    ({name:?}, {:?}),", error.to_string()),
        };
        add(0, "M", kiln_codegen::Build::new(&path).name(&type_name("M", &name)).compile().map(Some))?;
        add(1, "P", compile(&path, "P", Path::new(&out), streamed::in_long_pipelines))?;
        add(2, "B", compile(&path, "B", Path::new(&out), streamed::in_bands))?;
    }
    let [whole, pipelines, bands] = tables;
    let list = format!(
        "{includes}\npub const MODELS: &[(&str, Run)] = &[\n{whole}];\npub const PIPELINES: &[(&str, Run)] = &[\n{pipelines}];\n\
         pub const BANDS: &[(&str, Run)] = &[\n{bands}];\npub const REFUSED: &[(&str, &str)] = &[\n{refused}];\n"
    );
    std::fs::write(Path::new(&out).join("own_models.rs"), list)?;
    Ok(())
}

fn type_name(prefix: &str, model: &str) -> String {
    format!("{prefix}{}", model.replace('_', "x"))
}

/// A model's file as a test wants it scheduled, if there is something to schedule so.
fn compile(
    path: &Path,
    prefix: &str,
    out: &Path,
    schedule: fn(kiln_codegen::ir::Graph, Options) -> Result<Option<Compiled>, Error>,
) -> Result<Option<std::path::PathBuf>, Error> {
    let name = kiln_codegen::model_name(path);
    let options = Options { name: Some(type_name(prefix, &name)), ..Options::default() };
    let graph = kiln_codegen::import(&kiln_codegen::read_file(path)?, &name, &options)?;
    let Some(compiled) = schedule(graph, options)? else { return Ok(None) };
    let file = out.join(format!("{prefix}_{name}.rs"));
    kiln_codegen::write_whole(&file, &compiled.file(&quote::quote!(pub))?)?;
    Ok(Some(file))
}
