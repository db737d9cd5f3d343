//! Kiln's side: a program of its own, which holds the compiled models.
use super::models::Entry;
use super::process::{pinned, Contestant};
use crate::step::{cargo, root, run, Failure};
use kiln_boards::source::{Releases, RUNTIME};
use kiln_boards::Source;
use kiln_codegen::ir::{Graph, Node, Op};
use kiln_codegen::{Compiled, Events, Float, Options, Target};
use kiln_tools::report;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the program that are the same for all models.
const PROGRAM: [(&str, &str); 4] = [
    ("main.rs", include_str!("program/main.rs")),
    ("entrant.rs", include_str!("program/entrant.rs")),
    ("level.rs", include_str!("program/level.rs")),
    ("peaks.rs", include_str!("program/peaks.rs")),
];

/// Rust from this version on has the instructions of AVX-512.
const RUST_WITH_AVX512: (u32, u32) = (1, 89);

/// A model as Kiln compiled it.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) compiled: Compiled,
    /// Multiply-accumulates of the model as its file says it.
    pub(super) macs: u64,
}

/// Compiles a model for this machine.
///
/// # Errors
/// Where it cannot be read, or does not compile.
pub(super) fn compile(
    entry: &Entry,
    corpus: &Path,
    host: &Rustc,
    events: Events,
    cores: usize,
    float: Float,
) -> Result<Model, Failure> {
    let target = Target::of_triple(&host.triple, &[]);
    let name = Some("Network".into());
    let (target, cores) = (Some(target), Some(cores));
    let options = Options { name, target, events, cores, float, ..Options::default() };
    let bytes = kiln_codegen::read_file(&corpus.join(entry.path()))?;
    let graph = kiln_codegen::import(&bytes, entry.file, &options)?;
    let macs = graph.order.iter().map(|node| macs_of(&graph, graph.node(*node))).sum();
    Ok(Model { compiled: kiln_codegen::compile_graph(graph, &options)?, macs })
}

/// Multiply-accumulates of a node, products of two values among them.
pub(super) fn macs_of(graph: &Graph, node: &Node) -> u64 {
    match (&node.op, node.operands.first()) {
        (Op::MatMul { .. }, Some(x)) => {
            let depth = graph.ty(*x).shape.dims().last().copied().unwrap_or(1);
            (graph.ty(node.result).shape.numel() * depth) as u64
        }
        _ => report::macs(graph, node),
    }
}

/// Builds the program with these models, by their names in it, in a folder below `target/kiln/bench-host`. Its file.
///
/// # Errors
/// Where that fails.
pub(super) fn build(folder: &str, models: &[(String, &Model)], host: &Rustc) -> Result<PathBuf, Failure> {
    let work = work_dir();
    let package = work.join(folder);
    fs::create_dir_all(package.join("src/models"))?;
    write(&package.join("Cargo.toml"), &manifest(folder))?;
    for (file, text) in PROGRAM {
        write(&package.join("src").join(file), text)?;
    }
    for (name, model) in models {
        let file = package.join("src/models").join(name).with_extension("rs");
        write(&file, &model.compiled.file(&quote::quote!(pub))?)?;
    }
    write(&package.join("src/models/list.rs"), &list(models.iter().map(|(name, _)| name.as_str())))?;
    let mut build = cargo(&package, &["build", "--release", "--quiet"]);
    if host.version >= RUST_WITH_AVX512 {
        build.args(["--features", "avx512"]);
    }
    build.env("CARGO_TARGET_DIR", work.join("target"));
    run("Kiln's program", &mut build)?;
    Ok(work.join("target/release").join(folder))
}

/// Starts it on a core; where several threads compute, on any.
///
/// # Errors
/// Where it does not start.
pub(super) fn start(
    program: &Path,
    core: usize,
    cores: usize,
    level: Option<&str>,
) -> Result<Contestant, Failure> {
    let mut command = if cores > 1 { Command::new(program) } else { pinned(core, program) };
    command.env("KILN_CORES", cores.to_string());
    // Nothing but `--level` limits it.
    command.env_remove("KILN_LEVEL");
    command.envs(level.map(|level| ("KILN_LEVEL", level)));
    Contestant::start("kiln", command)
}

/// Where everything is built and kept.
pub(super) fn work_dir() -> PathBuf {
    root().join("target/kiln/bench-host")
}

/// The compiler of this machine.
#[derive(Debug, PartialEq)]
pub(super) struct Rustc {
    pub(super) triple: String,
    /// Major and minor.
    pub(super) version: (u32, u32),
}

impl Rustc {
    /// Asks it.
    ///
    /// # Errors
    /// Where it does not say.
    pub(super) fn find() -> Result<Rustc, Failure> {
        let said = Command::new("rustc").arg("-vV").current_dir(root()).output()?;
        Rustc::parse(&String::from_utf8_lossy(&said.stdout)).ok_or_else(|| "rustc -vV says nothing".into())
    }

    fn parse(said: &str) -> Option<Rustc> {
        let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
        let mut numbers = field("release: ")?.split('.').map(str::parse);
        let version = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Rustc { triple: field("host: ")?.to_owned(), version })
    }
}

fn manifest(name: &str) -> String {
    let runtime = Source::find().dependency(RUNTIME, Releases::This, &["default-features = false"]);
    format!(
        "[package]\n\
         name = {name:?}\n\
         version = \"0.0.0\"\n\
         edition = \"2021\"\n\
         \n\
         [dependencies]\n\
         {runtime}\n\
         \n\
         [features]\n\
         avx512 = []\n\
         \n\
         [profile.release]\n\
         opt-level = 3\n\
         lto = \"fat\"\n\
         codegen-units = 1\n\
         panic = \"abort\"\n\
         debug = \"line-tables-only\"\n\
         \n\
         [workspace]\n"
    )
}

/// What is in the module of the models.
fn list<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let module = |name| format!("mod {name} {{\n    include!(\"{name}.rs\");\n}}\n");
    let maker = |name| format!("    ({name:?}, crate::entrant::entrant::<{name}::Network>),\n");
    let (modules, makers): (String, String) =
        (names.clone().map(module).collect(), names.map(maker).collect());
    format!(
        "{modules}\n\
         type Make = fn() -> Box<dyn crate::entrant::Entrant>;\n\n\
         pub const ALL: &[(&str, Make)] = &[\n{makers}];\n"
    )
}

/// Writes a file, unless it is as it should be: Cargo would build again.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    Ok(kiln_codegen::write_whole(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_say_what_they_are() {
        let said = "rustc 1.95.0\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0-beta.2\n";
        let host = Rustc { triple: "x86_64-unknown-linux-gnu".into(), version: (1, 95) };
        assert_eq!(Rustc::parse(said), Some(host));
        assert_eq!(Rustc::parse("host: x"), None);
    }

    #[test]
    fn models_are_modules() {
        let text = list(["kws", "ad_f32"].into_iter());
        assert!(text.contains("mod ad_f32 {") && text.contains("include!(\"ad_f32.rs\");"));
        assert!(text.contains("(\"kws\", crate::entrant::entrant::<kws::Network>)"));
        assert_eq!(text.matches("Network").count(), 2);
    }
}
