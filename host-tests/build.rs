//! Compiles the project's own models through the build-script door, and lists them for `tests/own_models.rs`.

use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=models/tflite");
    let mut models: Vec<_> = std::fs::read_dir("models/tflite")?.collect::<Result<Vec<_>, _>>()?;
    models.sort_by_key(|entry| entry.file_name());
    // A model that does not compile is a failing test, not a failing build.
    let (mut includes, mut table, mut refused) = (String::new(), String::new(), String::new());
    for entry in &models {
        let path = entry.path();
        let name = kiln_codegen::model_name(&path);
        let ty = format!("M{}", name.replace('_', "x"));
        match kiln_codegen::Build::new(&path).name(&ty).compile() {
            Ok(file) => {
                writeln!(includes, "include!({:?});", file.display().to_string())?;
                writeln!(table, "    ({name:?}, run::<{ty}>),")?;
            }
            Err(error) => writeln!(refused, "    ({name:?}, {:?}),", error.to_string())?,
        }
    }
    let list = format!(
        "{includes}\npub const MODELS: &[(&str, Run)] = &[\n{table}];\npub const REFUSED: &[(&str, &str)] = &[\n{refused}];\n"
    );
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("own_models.rs"), list)?;
    Ok(())
}
