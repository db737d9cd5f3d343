//! `build-studio [FOLDER]`: compiles the module and writes the page, a single file that needs nothing else.

use kiln_studio::page;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/studio".into());
    match run(Path::new(&folder)) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the page, and says how large it is.
fn run(folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let module = page::module()?;
    let text = page::page(&module, "");
    std::fs::create_dir_all(folder)?;
    let file = folder.join("index.html");
    std::fs::write(&file, &text)?;
    let (all, sent) = (module.len(), page::compressed(&text));
    Ok(format!("{}: {} bytes, {sent} compressed; the module has {all}", file.display(), text.len()))
}
