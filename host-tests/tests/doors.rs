//! The three doors give the same Rust.

use kiln_codegen::{compile, emit, Build, Options};
use quote::quote;
use std::path::Path;

/// `Build` writes what `compile` gives; the command line writes it through the same call.
#[test]
fn build_script_and_command_line_write_the_same_file() {
    let models = kiln_host_tests::own_models();
    let model = models.first().expect("the project's own models are missing");
    let out = std::env::temp_dir().join(format!("kiln-doors-{}", std::process::id()));
    std::fs::create_dir_all(&out).unwrap();
    std::env::set_var("OUT_DIR", &out);
    let written = Build::new(&model.path).compile().unwrap();
    let by_build = std::fs::read_to_string(written).unwrap();

    let bytes = std::fs::read(&model.path).unwrap();
    let compiled = compile(&bytes, &model.name, &Options::default()).unwrap();
    assert_eq!(by_build, compiled.file(&quote!(pub)).unwrap());

    let by_cli = out.join("cli.rs");
    let status = std::process::Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "cargo-kiln", "--", "compile"])
        .arg(&model.path)
        .arg("-o")
        .arg(&by_cli)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(by_build, std::fs::read_to_string(by_cli).unwrap());
    std::fs::remove_dir_all(out).unwrap();
}

/// The macro gives the same items, and one more that makes the compiler watch the model file.
#[test]
fn the_macro_gives_the_same_items() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for model in kiln_host_tests::own_models() {
        let bytes = std::fs::read(&model.path).unwrap();
        let compiled = compile(&bytes, &model.name, &Options::default()).unwrap();
        let name = quote::format_ident!("{}", compiled.type_name());
        let path = model.path.to_str().unwrap();
        let expanded = kiln_codegen::include_model(quote!(pub #name = #path), root).unwrap();
        let file = compiled.file(&quote!(pub)).unwrap();
        let of_macro = emit::pretty(expanded).unwrap();
        let (items, watch) = of_macro.rsplit_once("const _:").unwrap();
        assert!(file.trim_end().ends_with(items.trim_end()), "{} differs", model.name);
        assert!(watch.contains("include_bytes!"));
    }
}
