//! Whatever a model's file is called, and whatever name the user gives it: the Rust compiles.
//!
//! Of names that mean something in emitted code, there are as many as that code has identifiers: each of them is tried, besides keywords, digits, other scripts and nothing at all.

use kiln_codegen::front::tflite::testing::{op, Element, ModelBuilder, Options as Attributes, Tensor};
use kiln_codegen::{compile, Input, Options};
use kiln_host_tests::own_models;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// File names without their ending.
const NAMES: [&str; 26] = [
    "",
    " ",
    "_",
    "-",
    "…",
    "ü",
    "模型",
    "9",
    "96x96",
    "a b",
    "a/b",
    "a\"b",
    "a\\b",
    "a{}b",
    "a\nb",
    "//",
    "*/",
    "r#type",
    "crate",
    "super",
    "Self",
    "gen",
    "union",
    "macro_rules",
    "main",
    "test",
];

#[test]
fn every_name_compiles() {
    // Small ones: there are hundreds of each.
    let whole = own_models().into_iter().find(|model| model.name == "diabetes_uint8edges_int8").unwrap();
    let whole = std::fs::read(whole.path).unwrap();
    let findings = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings");
    let fed = std::fs::read(findings.join("robust/sliding_MAXIMUM.tflite")).unwrap();
    let options = Options::default();
    let by_rows = Options { input: Input::Rows, ..Options::default() };
    let code = |bytes: &[u8], name: &str, options: &Options| {
        let compiled = compile(bytes, name, options).unwrap_or_else(|error| panic!("{name}: {error}"));
        compiled.file(&quote::quote!(pub)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let mut names: BTreeSet<String> = NAMES.iter().map(ToString::to_string).collect();
    for code in [code(&whole, "x", &options), code(&fed, "x", &by_rows)] {
        names.extend(identifiers(&code));
    }
    for line in ["as break const continue dyn else enum extern false fn for if impl in let loop match mod move mut pub ref",
        "return self static struct trait true type unsafe use where while abstract async await become box do final override priv try typeof unsized virtual yield",
        "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 core std alloc kiln k Model Input Output Cell Range Iterator Sync Debug"]
    {
        names.extend(line.split(' ').map(String::from));
    }
    assert!(names.len() > 150, "{}", names.len());

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/kiln/names");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-nostd");
    let manifest = format!(
        "[package]\nname = \"names\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\nkiln-nn = {{ path = {runtime:?} }}\n[workspace]\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let (mut types, mut count) = (BTreeSet::new(), 0);
    let mut main = String::from("#![allow(warnings)]\nfn main() {}\n");
    for name in &names {
        // As a file's name, and as the type's; once where both give the same type.
        for name_option in [None, Some(name.clone())] {
            let options = Options { name: name_option, ..by_rows.clone() };
            let compiled = compile(&fed, name, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            if !types.insert(compiled.type_name()) && !NAMES.contains(&name.as_str()) {
                continue;
            }
            let code = compiled.file(&quote::quote!(pub)).unwrap_or_else(|error| panic!("{name}: {error}"));
            count += 1;
            let file = format!("m{count}");
            std::fs::write(folder.join(format!("src/{file}.rs")), code).unwrap();
            writeln!(main, "// {name:?}\nmod {file};").unwrap();
        }
    }
    std::fs::write(folder.join("src/tensors.rs"), code(&tensors(), "tensors", &options)).unwrap();
    main += "mod tensors;\n";
    std::fs::write(folder.join("src/main.rs"), main).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["check", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", text.chars().take(6000).collect::<String>());
}

/// A model whose inputs and outputs are called as methods and keywords are, some of them alike.
fn tensors() -> Vec<u8> {
    let mut model = ModelBuilder::new();
    let names = [
        "invoke",
        "invoke",
        "input_mut",
        "output",
        "reset",
        "new",
        "self",
        "Self",
        "crate",
        "",
        "\n*/ \" {}",
    ];
    let tensor = || Tensor::new(Element::Float32, &[1, 2]);
    let inputs: Vec<i32> = names.iter().map(|name| model.input(name, tensor())).collect();
    let outputs: Vec<i32> = names.iter().map(|name| model.value(name, tensor())).collect();
    for (input, output) in inputs.iter().zip(&outputs) {
        model.operator(op::TANH, Attributes::none(), &[*input], &[*output]);
    }
    model.outputs(&outputs);
    model.build()
}

/// The identifiers of a text but for those with numbers, which stand in functions or modules of their own.
fn identifiers(code: &str) -> impl Iterator<Item = String> + '_ {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| !word.is_empty() && !word.contains(|c: char| c.is_ascii_digit())).map(String::from)
}
