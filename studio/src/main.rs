//! `build-studio [FOLDER] [PROFILE]`: compiles the module and writes the page, a single file that needs nothing else.

use kiln_studio::page;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "target/studio".into());
    let profile = arguments.next().unwrap_or_else(|| "page".into());
    match run(Path::new(&folder), &profile) {
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
fn run(folder: &Path, profile: &str) -> Result<String, Box<dyn std::error::Error>> {
    let module = page::module(profile)?;
    let text = page::page(&module, "");
    std::fs::create_dir_all(folder)?;
    let file = folder.join("index.html");
    std::fs::write(&file, &text)?;
    let (all, sent) = (module.len(), page::compressed(&text));
    Ok(format!("{}: {} bytes, {sent} compressed; the module has {all}", file.display(), text.len()))
}
