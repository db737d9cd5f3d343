//! `cargo xtask asan`: what the compiler emits, under AddressSanitizer.
use crate::nightly::{cargo, nightly};
use crate::step::{root, run, say, Failure};
use kiln_boards::source::{Releases, RUNTIME};
use kiln_boards::Source;
use kiln_codegen::{Options, Target};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the largest model whose emitted code runs under AddressSanitizer.
const LARGEST: u64 = 80_000;

/// Where the sanitizer is, which nightly's library for this target brings along.
const SANITIZED: &str = "x86_64-unknown-linux-gnu";

/// Emitted code of the project's own models, and of the corpus' smaller ones, in a program with AddressSanitizer: each at every level, alone and on a crew, whose outputs are equal.
pub(crate) fn run_all() -> Result<(), Failure> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        say("AddressSanitizer: LEFT OUT, it runs on x86-64 Linux");
        return Ok(());
    }
    let Some(rustup) = nightly("AddressSanitizer", &["rustc"])? else { return Ok(()) };
    let folder = root().join("target/kiln/asan");
    fs::create_dir_all(folder.join("src/models"))?;
    let keys = ["default-features = false", "features = [\"std\"]"];
    let runtime = Source::find().dependency(RUNTIME, Releases::This, &keys);
    let manifest = format!(
        "[package]\nname = \"asan\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n\
         {runtime}\n\n\
         [profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let (mut modules, mut calls, mut count) = (String::new(), String::new(), 0);
    for path in models()? {
        let file = format!("m{count}");
        for (suffix, cores) in [("", None), ("c", Some(3))] {
            let name = Some("Network".into());
            let options = Options {
                name,
                target: Some(Target::of_triple(SANITIZED, &[])),
                cores,
                ..Options::default()
            };
            let graph = kiln_codegen::import(&kiln_codegen::read_file(&path)?, &file, &options)?;
            let compiled = kiln_codegen::compile_graph(graph, &options)?;
            let text = compiled.file(&quote::quote!(pub))?;
            fs::write(folder.join(format!("src/models/{file}{suffix}.rs")), text)?;
            writeln!(modules, "#[path = \"models/{file}{suffix}.rs\"]\nmod {file}{suffix};")?;
        }
        let title = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        writeln!(calls, "    run::<{file}::Network, {file}c::Network>({title:?});")?;
        count += 1;
    }
    let main = format!("{PROGRAM}\n{modules}\nfn all() {{\n{calls}}}\n");
    fs::write(folder.join("src/main.rs"), main)?;
    let mut program = cargo(&rustup, &folder);
    program.args(["run", "--quiet", "--target", SANITIZED]);
    program.env("RUSTFLAGS", "-Zsanitizer=address");
    run(&format!("{count} models under AddressSanitizer"), &mut program)
}

/// The project's own models, and those of the corpus, as far as they are small.
fn models() -> Result<Vec<PathBuf>, Failure> {
    let mut folders = vec![root().join("host-tests/models/tflite")];
    folders.extend(std::env::var_os("KILN_CORPUS").map(|corpus| Path::new(&corpus).join("tflite")));
    let mut models = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder)?.flatten() {
            if entry.metadata()?.len() <= LARGEST && entry.path().extension().is_some_and(|e| e == "tflite") {
                models.push(entry.path());
            }
        }
    }
    models.sort();
    let wanted = std::env::var("KILN_MODELS").unwrap_or_default();
    models.retain(|path| path.to_string_lossy().contains(&wanted));
    Ok(models)
}

/// Runs the models, which `all` names.
const PROGRAM: &str = r#"//! Models on noise, at every level, alone and on a crew.
use kiln::{is_available, limit_level, Crew, Level, Model};

fn main() {
    for level in Level::ALL.into_iter().filter(|&level| is_available(level)) {
        limit_level(level);
        all();
        println!("{}: done", level.name());
    }
}

/// What a model makes of noise, three times in turn.
fn outputs<M: Model + Default>(mut invoke: impl FnMut(&mut M) -> bool) -> Vec<Vec<u8>> {
    let (mut model, mut seed, mut outputs) = (Box::<M>::default(), 1u32, Vec::new());
    for _ in 0..3 {
        for (k, input) in M::INFO.inputs.iter().enumerate() {
            let float = matches!(input.dtype, kiln::DType::F32);
            for word in model.input_bytes_mut(k).chunks_mut(4) {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = if float { ((seed >> 8) as f32 / 8_388_608.0 - 1.0).to_bits() } else { seed };
                word.copy_from_slice(&noise.to_le_bytes()[..word.len()]);
            }
        }
        if invoke(&mut model) {
            outputs.extend((0..M::INFO.outputs.len()).map(|k| model.output_bytes(k).to_vec()));
        }
    }
    outputs
}

fn run<A: Model + Default, C: Model + Default>(name: &str) {
    let alone = outputs::<A>(|model| model.invoke());
    let on_a_crew = Crew::of_threads(2, |crew| outputs::<C>(|model| model.invoke_on(crew)));
    assert_eq!(alone, on_a_crew, "{name}");
}
"#;
