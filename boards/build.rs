//! Lists the folders with a `board.toml`, so that adding a board is adding a folder.
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("board.toml").exists())
        .collect();
    folders.sort();
    let entries: String = folders.iter().map(|folder| entry(folder)).collect();
    let list = format!("/// Folder name, `board.toml` and `memory.x` of each board.\nconst FOLDERS: &[(&str, &str, &str)] = &[\n{entries}];\n");
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("folders.rs"), list)?;
    println!("cargo::rerun-if-changed=.");
    Ok(())
}

fn entry(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    let (board_toml, memory_x) = (folder.join("board.toml"), folder.join("memory.x"));
    format!("    ({name:?}, include_str!({board_toml:?}), include_str!({memory_x:?})),\n")
}
