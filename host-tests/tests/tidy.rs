//! The rules of the house that a program can check.

use kiln_kernel_table::{KernelId, Target};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Every folder with code.
const CRATES: [&str; 13] = [
    "kernel-table",
    "codegen",
    "macros",
    "runtime-nostd",
    "boards",
    "probe",
    "cli",
    "kiln-test",
    "kernel-checks",
    "xtask",
    "host-tests",
    "examples",
    "studio",
];

/// Rust files below a folder, as (path from the root, text).
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if entry.file_name() != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no Rust file");
    found.sort();
    found
}

/// The folders in a folder.
fn folders(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Lines that are code: no comment.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

/// The crates of the compiler, and those of them that each may use (`ARCHITECTURE.md`). Cargo refuses others.
const COMPILER: &[(&str, &[&str])] = &[
    ("codegen/ir", &["kiln-nn-kernel-table"]),
    ("codegen/interp", &["kiln-nn-ir"]),
    ("codegen/front", &["kiln-nn-interp", "kiln-nn-ir"]),
    ("codegen", &["kiln-nn-front", "kiln-nn-interp", "kiln-nn-ir", "kiln-nn-kernel-table"]),
    ("codegen/tools", &["kiln-nn-codegen", "kiln-nn-interp", "kiln-nn-ir", "kiln-nn-kernel-table"]),
];

/// The rooms of the crates with several, and the rooms and crates that each may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("codegen/src/passes", &["ir", "interp", "requant", "select", "verify"]),
    ("codegen/src/schedule", &["ir"]),
    ("codegen/src/plan", &["ir", "schedule", "interp"]),
    ("codegen/src/requant", &["ir"]),
    ("codegen/src/search", &["ir", "passes", "plan", "schedule", "select", "verify"]),
    ("codegen/src/select", &["ir", "plan", "requant", "schedule"]),
    ("codegen/src/emit", &["ir", "schedule", "select"]),
    ("codegen/src/budget", &["ir", "schedule", "search", "select"]),
    ("codegen/src/features", &["ir"]),
    ("codegen/src/door", &["features", "front", "ir"]),
    ("codegen/tools/src/cases", &["ir", "interp"]),
    ("codegen/tools/src/write", &["ir"]),
    ("codegen/tools/src/quantize", &["ir", "interp", "passes", "requant", "verify"]),
    (
        "codegen/tools/src/report",
        // Its `whole` gathers all that is said, advice too.
        &[
            "ir", "advice", "budget", "features", "front", "log", "passes", "plan", "requant", "schedule",
            "search", "select", "verify",
        ],
    ),
    ("codegen/tools/src/advice", &["ir", "front", "passes", "report", "requant", "schedule", "select"]),
];

/// What a path may begin with: rooms, and crates that are rooms elsewhere.
const NAMES: &[&str] = &[
    "advice", "budget", "cases", "door", "emit", "features", "front", "interp", "ir", "log", "passes",
    "plan", "quantize", "report", "requant", "schedule", "search", "select", "verify", "write",
];

/// The rooms that code names: in paths from a crate's root, also in lists behind it.
fn named(code: &str) -> BTreeSet<&'static str> {
    let mut named = BTreeSet::new();
    for (room, root) in [("ir", "kiln_ir::"), ("interp", "kiln_interp::"), ("front", "kiln_front::")] {
        named.extend(code.contains(root).then_some(room));
    }
    for root in ["crate::", "kiln_codegen::", "kiln_tools::", "kiln_ir::"] {
        for (at, _) in code.match_indices(root) {
            for item in items(&code[at + root.len()..]) {
                named.extend(NAMES.iter().find(|name| **name == item).copied());
            }
        }
    }
    named
}

/// The first name of what follows a path: of each item, if that is a list.
fn items(rest: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let Some(list) = rest.strip_prefix('{') else { return vec![&rest[..name(rest)]] };
    let (mut depth, mut items, mut starts) = (0, Vec::new(), true);
    for (at, c) in list.char_indices() {
        if starts && depth == 0 && (c.is_alphanumeric() || c == '_') {
            items.push(&list[at..at + name(&list[at..])]);
            starts = false;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' => starts = true,
            _ => {}
        }
    }
    items
}

/// The rooms that may use the table of kernels.
const KNOW_KERNELS: [&str; 4] =
    ["codegen/src/select", "codegen/src/emit", "codegen/tools/src/report", "codegen/tools/src/advice"];

/// Files and folders of the modules that a file declares for tests only: their paths, a folder's with its slash.
fn test_modules(file: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let folder = file.strip_suffix("/mod.rs").unwrap_or_else(|| file.trim_end_matches(".rs"));
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]").filter_map(|pair| {
        let name = pair[1].strip_suffix(';')?.rsplit_once("mod ")?.1;
        Some([format!("{folder}/{name}.rs"), format!("{folder}/{name}/")])
    });
    declared.flatten().collect()
}

/// A file without what is only there for tests: single lines behind `#[cfg(test)]`, and from the first longer item on everything.
fn production(text: &str) -> String {
    let mut parts = text.split("#[cfg(test)]\n");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('\n') {
            Some((first, rest)) if first.ends_with(';') => kept.push_str(rest),
            _ => break,
        }
    }
    kept
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut wrong = Vec::new();
    for (room, allowed) in ROOMS {
        let own = room.rsplit('/').next().unwrap();
        let files = sources(room);
        let tests: Vec<String> = files.iter().flat_map(|(file, text)| test_modules(file, text)).collect();
        for (file, text) in &files {
            // Tests may use everything.
            if tests.iter().any(|module| file.starts_with(module)) {
                continue;
            }
            let production = production(text);
            let code = code(&production).collect::<Vec<_>>().join("\n");
            let others = named(&code);
            let others = others.iter().filter(|other| **other != own && !allowed.contains(other));
            wrong.extend(others.map(|other| format!("{file} uses {other}")));
            let knows = code.contains("kiln_kernel_table") || code.contains("KernelId");
            if knows && !KNOW_KERNELS.contains(room) {
                wrong.push(format!("{file} uses the table of kernels"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A processor's folder names no other processor, and has no methods for them: what they share stands beside them.
#[test]
fn processors_do_not_know_each_other() {
    let processors = folders("codegen/src/select/processors");
    assert!(processors.len() >= 3);
    let mut wrong = Vec::new();
    for processor in &processors {
        for (file, text) in sources(&format!("codegen/src/select/processors/{processor}")) {
            let others = processors.iter().filter(|&other| other != processor);
            let named = others.filter(|other| production(&text).contains(&format!("{other}::")));
            wrong.extend(named.map(|other| format!("{file} uses {other}")));
            // A method that others see would be called without the name of its folder.
            let parameters =
                text.split("pub(in crate::select) fn ").skip(1).filter_map(|rest| rest.split(')').next());
            let methods = parameters.filter(|rest| rest.contains("self"));
            wrong.extend(methods.map(|rest| {
                format!("{file} has a method for others: {}", rest.split('(').next().unwrap_or(rest))
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Calls `found` with each text in quotes, and with `k::` and each name behind `k::` or `kernels::`, outside of tests.
fn literals_and_kernels(tokens: TokenStream, found: &mut impl FnMut(&str)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let text = |at: usize| tokens.get(at).map(TokenTree::to_string).unwrap_or_default();
    let mut at = 0;
    while at < tokens.len() {
        if text(at) == "#" && text(at + 1).replace(' ', "") == "[cfg(test)]" {
            // The item that follows ends with a semicolon or with braces.
            let ends = |token: &TokenTree| match token {
                TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
                token => token.to_string() == ";",
            };
            at += 2 + tokens[at + 2..].iter().position(ends).unwrap_or(0);
        } else {
            match &tokens[at] {
                TokenTree::Group(group) => literals_and_kernels(group.stream(), found),
                TokenTree::Literal(literal) => found(literal.to_string().trim_matches('"')),
                TokenTree::Ident(name) if text(at.saturating_sub(1)) == ":" && at > 2 => {
                    if ["k", "kernels"].contains(&text(at - 3).as_str()) {
                        found(&format!("k::{name}"));
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
        at += 1;
    }
}

/// Names of kernels that are words elsewhere, too: operators of PyTorch.
const OF_PYTORCH: [&str; 2] = ["copy", "fill"];

#[test]
fn kernels_are_named_in_their_table_alone() {
    let words = |folder: &str| {
        let mut words = Vec::new();
        for (file, text) in sources(folder) {
            let tokens = text.parse().unwrap();
            literals_and_kernels(tokens, &mut |word| words.push((file.clone(), word.to_owned())));
        }
        words
    };
    let names: BTreeSet<&str> = KernelId::ALL.iter().map(|kernel| kernel.name()).collect();
    // Some are words of the graph's, or of reports: in quotes they are no kernels.
    let graph: BTreeSet<String> = words("codegen/ir/src").into_iter().map(|(_, word)| word).collect();
    let named = |word: &str| match word.strip_prefix("k::") {
        Some(name) => names.contains(name),
        None => {
            let name = word.split("::<").next().unwrap_or_default();
            names.contains(name) && !OF_PYTORCH.contains(&name) && !graph.contains(name)
        }
    };
    let mut wrong = Vec::new();
    for folder in ["codegen", "macros/src", "cli/src", "xtask/src"] {
        wrong.extend(words(folder).into_iter().filter(|(_, word)| named(word)));
    }
    assert!(wrong.is_empty(), "names of kernels outside of the table: {wrong:#?}");
}

#[test]
fn rooms_are_found_in_paths_and_lists() {
    let found = |code: &str| named(code).into_iter().collect::<Vec<_>>();
    assert_eq!(found("use crate::plan::Plan;"), ["plan"]);
    assert_eq!(found("use crate::{ir::{Op, emit}, passes, search::Found};"), ["ir", "passes", "search"]);
    assert_eq!(found("let x = kiln_codegen::select::call; crate::planes()"), ["select"]);
}

#[test]
fn crates_of_the_compiler_use_only_what_they_may() {
    for (krate, allowed) in COMPILER {
        let manifest = std::fs::read_to_string(root().join(krate).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let dependencies = manifest.get("dependencies").and_then(|table| table.as_table());
        let kilns =
            dependencies.into_iter().flat_map(|table| table.keys()).filter(|name| name.starts_with("kiln"));
        let wrong: Vec<&String> = kilns.filter(|name| !allowed.contains(&name.as_str())).collect();
        assert!(wrong.is_empty(), "{krate} depends on {wrong:?}");
    }
}

#[test]
fn compiler_and_runtime_do_not_know_each_other() {
    for (krate, other) in
        [("codegen", "kiln-nn"), ("runtime-nostd", "kiln-nn-codegen"), ("runtime-nostd", "kiln-nn-ir")]
    {
        let manifest = std::fs::read_to_string(root().join(krate).join("Cargo.toml")).unwrap();
        let depends = manifest.lines().any(|line| line.split(['=', '.', ' ']).next() == Some(other));
        assert!(!depends, "{krate} depends on {other}");
    }
}

/// `unsafe` stands in the runtime's `arch` folder, in the harness that is a program of its own, in the QEMU plugin, in the
/// loops of single instructions that measure a host, in the signal handler that limits what it is measured against, in the memory with guards that hostile calls of kernels have, and in a firmware of assembly.
#[test]
fn unsafe_stands_where_it_may() {
    // The last three only name it: one writes the main function of a program of its own, which hands its model to the harness, one looks
    // for it in generated code, and one is a policy for browsers.
    let allowed = [
        "runtime-nostd/src/arch/",
        "boards/harness/",
        "boards/cycles/",
        "xtask/src/bench_host/limit/handler.rs",
        "xtask/src/bench_host/program/",
        "kernel-checks/tests/hostile/memory.rs",
        "boards/tests/cycles.rs",
        "codegen/tools/src/report/certificate.rs",
        "codegen/tools/src/page.rs",
    ];
    let mut wrong = Vec::new();
    for folder in [
        "kernel-table",
        "codegen",
        "macros",
        "runtime-nostd",
        "boards",
        "cli",
        "kiln-test",
        "kernel-checks",
        "studio",
        "xtask",
    ] {
        for (file, text) in sources(folder) {
            let says_unsafe = code(&text).any(|line| {
                line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
            });
            if says_unsafe && !allowed.iter().any(|place| file.starts_with(place)) {
                wrong.push(file);
            }
        }
    }
    assert!(wrong.is_empty(), "unsafe in {wrong:?}");
}

/// No test compiles fuzz targets, which need a nightly compiler to run.
#[test]
fn every_fuzz_target_is_in_its_manifest() {
    let folder = root().join("host-tests/fuzz");
    let manifest: toml::Table = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
    let listed = manifest["bin"].as_array().unwrap().iter();
    let listed: BTreeSet<String> = listed.map(|bin| bin["path"].as_str().unwrap().to_owned()).collect();
    let files = std::fs::read_dir(folder.join("fuzz_targets")).unwrap();
    let name = |file: std::fs::DirEntry| format!("fuzz_targets/{}", file.file_name().to_str().unwrap());
    assert_eq!(listed, files.map(|file| name(file.unwrap())).collect());
}

/// The table of kernels has a row for each, and grows with them.
const TABLE: &str = "kernel-table/src/table.rs";

#[test]
fn files_are_of_reasonable_size() {
    let mut long = Vec::new();
    for folder in CRATES {
        let files = sources(folder).into_iter().map(|(file, text)| (text.lines().count(), file));
        long.extend(files.filter(|(lines, file)| *lines > 650 && file != TABLE));
    }
    assert!(long.is_empty(), "over 650 lines: {long:?}");
}

#[test]
fn nothing_is_left_for_later() {
    // Spelled in parts, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[", "ignore"),
    ];
    let mut found = Vec::new();
    for folder in CRATES {
        for (file, text) in sources(folder) {
            found.extend(
                marks.iter().filter(|mark| text.contains(*mark)).map(|mark| format!("{file}: {mark}")),
            );
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

/// What the build script says of the processor, one module of the runtime reads: what it chooses has the same names everywhere.
#[test]
fn one_module_reads_the_cfgs_of_the_build_script() {
    let files =
        sources("runtime-nostd/src").into_iter().filter(|(file, _)| file != "runtime-nostd/src/arch/mod.rs");
    let readers: Vec<String> = files
        .filter(|(_, text)| {
            let mut words =
                code(text).flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
            words.any(|word| Target::all_cfgs().chain(["kiln_avx512"]).any(|cfg| cfg == word))
        })
        .map(|(file, _)| file)
        .collect();
    assert!(readers.is_empty(), "not only `arch/mod.rs` reads them: {readers:?}");
}

/// Blocks in assembly and in plain Rust, of which `arch/mod.rs` chooses, are in files of the same names.
#[test]
fn assembly_and_plain_rust_mirror_each_other() {
    let has_assembly =
        |processor: &String| root().join("runtime-nostd/src/arch").join(processor).join("asm").exists();
    let processors: Vec<String> =
        folders("runtime-nostd/src/arch").into_iter().filter(has_assembly).collect();
    assert!(processors.len() >= 2);
    for processor in processors {
        let [asm, plain] = ["asm", "plain"].map(|kind| {
            let folder = format!("runtime-nostd/src/arch/{processor}/{kind}");
            let files = sources(&folder).into_iter();
            files
                .map(|(file, _)| file.replace(&folder, ""))
                .filter(|file| file != "/pieces.rs")
                .collect::<Vec<_>>()
        });
        assert_eq!(asm, plain);
    }
}
