//! What the compiler makes of a few models, stage by stage, as committed text. `KILN_BLESS=1` writes it; look at the diff.

use cargo_kiln::plan;
use kiln_codegen::{compile, import, Optimize, Options};
use kiln_host_tests::own_models;
use quote::quote;
use std::path::Path;

const MODELS: [&str; 3] = ["residual_int8", "stream_int8", "temporal_f32"];

#[test]
fn stages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let mut stale = Vec::new();
    for model in own_models().iter().filter(|m| MODELS.contains(&m.name.as_str())) {
        let bytes = std::fs::read(&model.path).unwrap();
        let options = Options::default();
        let imported = import(&bytes, &model.name, &options).unwrap();
        let compiled = compile(&bytes, &model.name, &options).unwrap();
        let least = Options { optimize: Optimize::Memory, ..Options::default() };
        let memory = compile(&bytes, &model.name, &least).unwrap();
        let stages = [
            ("imported.ir", imported.print_short()),
            ("compiled.ir", compiled.graph.print_short()),
            ("plan.txt", plan::text(&compiled)),
            ("memory.plan.txt", plan::text(&memory)),
            ("rs.txt", without_data(&compiled.file(&quote!(pub)).unwrap())),
        ];
        for (stage, text) in stages {
            let file = folder.join(format!("{}.{stage}", model.name));
            if bless {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&file, text).unwrap();
            } else if std::fs::read_to_string(&file).unwrap_or_default() != text {
                stale.push(file.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    assert!(stale.is_empty(), "snapshots differ (KILN_BLESS=1 writes them): {stale:?}");
    assert!(own_models().iter().filter(|m| MODELS.contains(&m.name.as_str())).count() == MODELS.len());
}

/// Emitted Rust without the contents of byte strings.
fn without_data(code: &str) -> String {
    let mut out = String::new();
    for line in code.lines() {
        match line.split_once("*b\"") {
            Some((before, data)) => {
                let end = data.rfind('"').map_or("", |end| &data[end..]);
                out += &format!("{before}*b\"…{end}");
            }
            None => out += line,
        }
        out.push('\n');
    }
    out
}
