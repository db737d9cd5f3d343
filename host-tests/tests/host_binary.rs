//! What a model adds to an ordinary program of this machine: with the standard library and stripped, the whole is below 400 KB, and nothing
//! is initialised before or while it runs.
#![cfg(target_os = "linux")]

use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use kiln_codegen::ir::Data;
use kiln_codegen::{compile_file, Options, Target};
use kiln_host_tests::{corpus, own_models, Model};
use object::{Object, ObjectSection};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Bytes of a stripped program.
const MOST: u64 = 400 * 1024;

/// Data that is not zero at first, of a model: none but what tables of pointers need.
const MOST_DATA: u64 = 4096;

/// Gives the outputs for the inputs that it reads, each behind the one before. The model is a static, made while the program compiles.
const MAIN: &str = r#"
use kiln::Model;
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};

#[path = "model.rs"]
#[allow(dead_code)]
mod model;

static MODEL: Mutex<model::TYPE> = Mutex::new(model::TYPE::new());

fn main() -> std::io::Result<()> {
    let mut model = MODEL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut input = std::io::stdin().lock();
    while input.read_exact(model.input_bytes_mut(0)).is_ok() {
        Model::invoke(&mut *model);
        std::io::stdout().write_all(model.output_bytes(0))?;
    }
    Ok(())
}
"#;

/// The same without a model.
const WITHOUT: &str = r#"
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};

static BYTES: Mutex<[u8; 16]> = Mutex::new([0; 16]);

fn main() -> std::io::Result<()> {
    let mut bytes = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut input = std::io::stdin().lock();
    while input.read_exact(&mut *bytes).is_ok() {
        std::io::stdout().write_all(&*bytes)?;
    }
    Ok(())
}
"#;

#[test]
fn a_small_model() {
    let model = own_models().into_iter().find(|model| model.name == "residual_int8").unwrap();
    assert_small(&model);
}

/// MLPerf Tiny's keyword spotting.
#[test]
fn kws() {
    let Some(kws) = corpus().into_iter().find(|model| model.name == "mlperf_kws_int8") else {
        println!("there is no mlperf_kws_int8: only a model of the project's own was looked at");
        return;
    };
    assert_small(&kws);
}

fn assert_small(model: &Model) {
    // With the kernels that a user's program has: the macro and build scripts compile for what Cargo compiles for.
    let target = Some(Target::of_triple(std::env::consts::ARCH, &[]));
    let options = model.options(&Options { target, ..Options::default() });
    let compiled = compile_file(&model.path, &options).unwrap();
    let main = MAIN.replace("TYPE", &compiled.type_name());
    let program = build(&model.name, &main, Some(&compiled.file(&quote::quote!(pub)).unwrap()));
    let without = build("without_a_model", WITHOUT, None);

    assert_golden(&program, model);

    let (with, without) = (Sizes::of(&program), Sizes::of(&without));
    println!("{}: {with:?}, without a model {without:?}", model.name);
    assert!(with.file < MOST, "{} has {} bytes", model.name, with.file);
    assert!(without.file < with.file, "there is a model in it");
    assert_eq!(with.initialisers, without.initialisers, "nothing runs before main");
    let memory = (compiled.plan.arena_bytes + compiled.program.state_bytes) as u64;
    assert!(with.zeroed >= without.zeroed + memory, "the model's memory is in .bss");
    assert!(with.data < without.data + MOST_DATA, "and not in .data");
}

fn assert_golden(program: &Path, model: &Model) {
    let golden = Golden::read(&model.golden).unwrap();
    let inputs: Vec<u8> = golden.inputs.iter().flat_map(|case| case[0].bytes()).copied().collect();
    let mut run = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = run.stdin.take().unwrap();
    // While it writes: a pipe holds but so much.
    let writer = std::thread::spawn(move || stdin.write_all(&inputs));
    let output = run.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    let each = golden.outputs[0][0].bytes().len();
    assert_eq!(output.stdout.len(), each * golden.outputs.len());
    for (actual, expected) in output.stdout.chunks(each).zip(&golden.outputs) {
        let difference = compare(golden.output_types[0], &Data::new(actual.to_vec()), &expected[0]);
        assert!(difference.elements > 0 && difference.passes(), "{difference}");
    }
}

/// Builds a program as one would for a small binary, and returns its path.
fn build(name: &str, main: &str, model: Option<&str>) -> PathBuf {
    // Both tests build the program without a model.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("host_binary");
    let folder = work.join(name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [dependencies]\nkiln-nn = {{ path = {:?}, default-features = false }}\n\n\
         [profile.release]\nopt-level = \"s\"\nlto = \"fat\"\ncodegen-units = 1\npanic = \"abort\"\nstrip = true\n\n\
         [workspace]\n",
        root.join("runtime-nostd")
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The same versions as here, which are there already.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    std::fs::write(folder.join("src/main.rs"), main).unwrap();
    if let Some(model) = model {
        std::fs::write(folder.join("src/model.rs"), model).unwrap();
    }
    let target = work.join("target");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&folder).args(["build", "--release", "--quiet", "--target-dir"]).arg(&target);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("release").join(name)
}

/// Bytes of a program.
#[derive(Debug)]
struct Sizes {
    file: u64,
    /// Of pointers to functions that run before `main`.
    initialisers: u64,
    /// Of memory that is zero at first, and takes no place in the file.
    zeroed: u64,
    /// Of memory that begins with other values.
    data: u64,
}

impl Sizes {
    fn of(program: &Path) -> Sizes {
        let bytes = std::fs::read(program).unwrap();
        let elf = object::File::parse(&*bytes).unwrap();
        assert!(elf.symbols().next().is_none(), "it is stripped");
        let size = |name| elf.section_by_name(name).map_or(0, |section| section.size());
        Sizes {
            file: bytes.len() as u64,
            initialisers: size(".init_array") + size(".ctors") + size(".preinit_array"),
            zeroed: size(".bss"),
            data: size(".data") + size(".data.rel.ro"),
        }
    }
}
