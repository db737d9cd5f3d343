//! Compiles the project's own models through the build-script door, and again in all ways that go row by row: everything in pipelines that can
//! be, and fed by rows; in two arenas; and for several threads. Lists them for `tests/own_models.rs`.

mod shared;
mod streamed;

use kiln_codegen::ir::Graph;
use kiln_codegen::{compile_graph, Build, Compiled, Error, Input, Optimize, Options};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Compiles a model in some way, if that is possible.
type Way = fn(Graph, Options) -> Result<Option<Compiled>, Error>;

/// The ways besides the build-script door: name of the list, prefix of the types.
const WAYS: [(&str, &str, Way); 8] = [
    ("PIPELINES", "P", streamed::in_long_pipelines),
    ("BANDS", "B", streamed::in_bands),
    ("AGAIN", "A", streamed::computing_again),
    ("ROWS", "R", |graph, options| fed(graph, Options { input: Input::Rows, ..options })),
    ("ROWS_MEMORY", "Q", |graph, options| {
        fed(graph, Options { input: Input::Rows, optimize: Optimize::Memory, ..options })
    }),
    ("FAST", "F", in_two_arenas),
    ("CREW", "C", shared::on_a_crew),
    ("SLIDING", "S", |graph, options| fed(graph, Options { input: Input::Sliding, ..options })),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=models/tflite");
    println!("cargo:rerun-if-changed=streamed.rs");
    println!("cargo:rerun-if-changed=shared.rs");
    let mut models: Vec<_> = std::fs::read_dir("models/tflite")?.collect::<Result<Vec<_>, _>>()?;
    models.sort_by_key(|entry| entry.file_name());
    let models: Vec<PathBuf> = models.iter().map(std::fs::DirEntry::path).collect();
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut lists = Lists::default();
    let door = |path: &Path, ty: &str| Build::new(path).name(ty).compile().map(Some);
    lists.add("MODELS", "M", &models, door)?;
    for (list, prefix, way) in WAYS {
        lists.add(list, prefix, &models, |path, ty| compile(path, ty, &out, way))?;
    }
    let Lists { code, refused } = lists;
    let code = format!("{code}pub const REFUSED: &[(&str, &str)] = &[\n{refused}];\n");
    std::fs::write(out.join("own_models.rs"), code)?;
    // For `tests/features.rs`.
    kiln_codegen::build_features(
        "pub Built = { like = \"kaldi\", sample_rate = 16000, n_mfcc = 13, energy = true }",
    )?;
    Ok(())
}

/// What the tests include.
#[derive(Default)]
struct Lists {
    code: String,
    /// Models that do not compile: a failing test, not a failing build.
    refused: String,
}

impl Lists {
    /// Adds a list of all models that `compile` makes a file of, given their path and the name of their type.
    fn add(
        &mut self,
        list: &str,
        prefix: &str,
        models: &[PathBuf],
        compile: impl Fn(&Path, &str) -> Result<Option<PathBuf>, Error>,
    ) -> std::fmt::Result {
        let mut table = String::new();
        for path in models {
            let name = kiln_codegen::model_name(path);
            let ty = format!("{prefix}{}", name.replace('_', "x"));
            match compile(path, &ty) {
                Ok(Some(file)) => {
                    writeln!(self.code, "include!({:?});", file.display().to_string())?;
                    let run = if list == "CREW" { "run_on_a_crew" } else { "run" };
                    writeln!(table, "    ({name:?}, {run}::<{ty}>),")?;
                }
                Ok(None) => {}
                Err(error) => writeln!(self.refused, "    ({name:?}, {:?}),", error.to_string())?,
            }
        }
        writeln!(self.code, "pub const {list}: &[(&str, Run)] = &[\n{table}];")
    }
}

/// A model's file as a way of compiling makes it, if it is possible.
fn compile(path: &Path, ty: &str, out: &Path, way: Way) -> Result<Option<PathBuf>, Error> {
    let name = kiln_codegen::model_name(path);
    let options = Options { name: Some(ty.into()), ..Options::default() };
    let graph = kiln_codegen::import(&kiln_codegen::read_file(path)?, &name, &options)?;
    let Some(compiled) = way(graph, options)? else { return Ok(None) };
    let file = out.join(format!("{ty}.rs"));
    kiln_codegen::write_whole(&file, &compiled.file(&quote::quote!(pub))?)?;
    Ok(Some(file))
}

/// A model of which half the arena is in fast RAM, as far as that can be divided.
fn in_two_arenas(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    let arena_bytes = compile_graph(graph.clone(), &options)?.plan.arena_bytes;
    compile_graph(graph, &Options { fast_ram: Some(arena_bytes / 2), ..options }).map(Some)
}

/// A model that takes its input row by row, if it can.
fn fed(graph: Graph, options: Options) -> Result<Option<Compiled>, Error> {
    match compile_graph(graph, &options) {
        Err(Error::Options(_)) => Ok(None),
        compiled => compiled.map(Some),
    }
}
