//! The templates of `cargo generate` (the folder `templates`) are crates that `cargo kiln new` writes, with placeholders for their names. `KILN_BLESS=1` writes them.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::new::{create, Flavour, Request};
use kiln_boards::source::Source;
use kiln_codegen::Options;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Boards with a template of their name.
const BOARDS: [&str; 4] = ["qemu-cortex-m4", "nrf52840-dk", "raspberry-pi-pico", "esp32-c3"];
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../templates");
/// What stands for the name of a crate, in manifests and in Rust.
const PLACEHOLDERS: [&str; 2] = ["{{project-name}}", "{{crate_name}}"];
/// A manifest with a placeholder is none, and does not look like one to Cargo. `cargo generate` removes the ending.
const MANIFEST: [&str; 2] = ["Cargo.toml", "Cargo.toml.liquid"];

/// What `cargo generate` has to know of a template: which files are no text.
const SETTINGS: [&str; 2] = ["cargo-generate.toml", "[template]\nexclude = [\"models/*\"]\n"];

type Files = BTreeMap<String, Vec<u8>>;

#[test]
fn templates_are_new_crates() {
    they_are_fresh();
    they_make_what_new_makes();
}

fn they_are_fresh() {
    let root = scratch("fresh");
    let mut stale = Vec::new();
    for board in BOARDS {
        let name = "name-of-the-crate";
        let new =
            filled(&written(&root.join(board).join(name), board), [name, "name_of_the_crate"], PLACEHOLDERS);
        let mut new: Files = renamed(new, MANIFEST[0], MANIFEST[1]);
        new.insert(SETTINGS[0].into(), SETTINGS[1].into());
        assert!(!has(&new, "{%"), "{board}: `cargo generate` takes that for a command");
        let template = Path::new(TEMPLATES).join(board);
        if template.is_dir() && read(&template) == new {
            continue;
        }
        if std::env::var_os("KILN_BLESS").is_none() {
            stale.push(board);
            continue;
        }
        let _ = fs::remove_dir_all(&template);
        for (path, content) in &new {
            let path = template.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
    assert!(
        stale.is_empty(),
        "the templates of {} are not fresh (KILN_BLESS=1 writes them)",
        stale.join(", ")
    );
    let list = fs::read_to_string(Path::new(TEMPLATES).join("cargo-generate.toml")).unwrap();
    assert!(list.contains(&format!("sub_templates = {BOARDS:?}")), "{list}");
    fs::remove_dir_all(root).unwrap();
}

/// A crate made of a template is the one that `cargo kiln new` writes under that name: other tests build and run those.
fn they_make_what_new_makes() {
    let root = scratch("made");
    let name = "kws-demo";
    for board in BOARDS {
        let template = Path::new(TEMPLATES).join(board);
        let made = match cargo_generate(board, name, &root.join("generated").join(board)) {
            Some(folder) => read(&folder),
            None => {
                let mut files = filled(&read(&template), PLACEHOLDERS, [name, "kws_demo"]);
                files.remove(SETTINGS[0]).unwrap();
                renamed(files, MANIFEST[1], MANIFEST[0])
            }
        };
        let new = written(&root.join("new").join(board).join(name), board);
        assert_eq!(made.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>(), "{board}");
        for (path, content) in &new {
            let [made, new] = [&made[path], content].map(|bytes| String::from_utf8_lossy(bytes));
            assert_eq!(made, new, "{board}: {path}");
        }
    }
    fs::remove_dir_all(root).unwrap();
}

/// A crate by `cargo generate`, if that is installed; otherwise tests put names into templates themselves.
fn cargo_generate(board: &str, name: &str, destination: &Path) -> Option<PathBuf> {
    if Command::new("cargo-generate").arg("--version").output().is_err() {
        eprintln!("cargo-generate is not installed: templates are filled without it");
        return None;
    }
    fs::create_dir_all(destination).unwrap();
    let mut command = Command::new("cargo-generate");
    command.args(["generate", "--path", TEMPLATES, board, "--name", name, "--vcs", "none", "--silent"]);
    let output = command.arg("--destination").arg(destination).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(destination.join(name))
}

/// The files of a new crate, which depends on the release of Kiln.
fn written(folder: &Path, board: &str) -> Files {
    Source::Registry.prefer();
    let request = Request {
        folder: folder.to_owned(),
        board: board.into(),
        model: MODEL.into(),
        flavour: Flavour::Bare,
        embedded_test: false,
        options: Options::default(),
        kiln: None,
    };
    create(&request).unwrap();
    read(folder)
}

/// The files of a folder, by path.
fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for path in fs::read_dir(&below).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

/// Files with words replaced, where they are text.
fn filled(files: &Files, words: [&str; 2], by: [&str; 2]) -> Files {
    let fill = |content: &Vec<u8>| match std::str::from_utf8(content) {
        Ok(text) => text.replace(words[0], by[0]).replace(words[1], by[1]).into_bytes(),
        Err(_) => content.clone(),
    };
    files.iter().map(|(path, content)| (path.clone(), fill(content))).collect()
}

fn renamed(mut files: Files, old: &str, new: &str) -> Files {
    let content = files.remove(old).unwrap();
    files.insert(new.to_owned(), content);
    files
}

/// Whether a text is in one of the files.
fn has(files: &Files, text: &str) -> bool {
    files.values().any(|content| content.windows(text.len()).any(|window| window == text.as_bytes()))
}

/// An empty folder.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kiln-generate-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
