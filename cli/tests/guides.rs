//! The commands in the guides do what the guides say.
//!
//! Every line of a `console` block that starts with `$ ` is run, in order, in a folder of the page's own: an empty one, but for `kiln`, the
//! checkout. The lines behind it are what the command writes to standard output; a line `…` stands for any lines. `KILN_BLESS=1` writes the
//! output of commands whose block is not fresh. Other blocks (`sh`, `toml`, `rust`) are not run.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

mod projects;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Stands for any number of lines.
const ANY: &str = "…";

/// A line with it has times that were measured on this machine: a page has [`ANY`] instead.
const MEASURED: &str = "time, measured";

/// The folder of the checkout.
fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[test]
fn commands_in_the_guides_do_what_the_guides_say() {
    let folder = checkout().join("docs");
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    let mut commands = 0;
    let mut stale = Vec::new();
    for path in pages {
        let page = std::fs::read_to_string(&path).unwrap();
        let mut shell = Shell::new(&path);
        let (fresh, count) = refresh(&page, |command| shell.run(command));
        commands += count;
        if fresh == page {
            continue;
        }
        if std::env::var_os("KILN_BLESS").is_some() {
            std::fs::write(&path, &fresh).unwrap();
        } else {
            stale.push(format!("{}:\n{}", path.display(), difference(&page, &fresh)));
        }
    }
    assert!(
        stale.is_empty(),
        "commands write something else (KILN_BLESS=1 corrects the page):\n{}",
        stale.join("\n")
    );
    assert!(commands > 0, "no guide has a command");
}

/// Runs commands in a folder of its own, which `cd` changes as in a terminal.
struct Shell {
    /// The page's own folder.
    page: PathBuf,
    /// Where the shell is now.
    folder: PathBuf,
}

impl Shell {
    /// Not below the checkout, whose Cargo configuration is not that of a user.
    fn new(page: &Path) -> Self {
        let name = format!("kiln-guides-{}", std::process::id());
        let folder = std::env::temp_dir().join(name).join(page.file_stem().unwrap());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(checkout(), folder.join("kiln")).unwrap();
        Shell { page: folder.clone(), folder }
    }

    /// What the command writes to standard output. What it writes to standard error is shown where it fails.
    fn run(&mut self, command: &str) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_cargo-kiln")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let folder = self.folder.join("folder-of-the-shell");
        let script = format!("{command}\nstatus=$?; pwd > '{}'; exit $status", folder.display());
        let mut bash = Command::new("bash");
        bash.args(["-c", &script]).current_dir(&self.folder);
        bash.env("PATH", path);
        // Kiln's own commands measure what users get.
        if !command.starts_with("cargo kiln") {
            projects::build_quickly(&mut bash);
        }
        let output = bash.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "`{command}` failed ({}):\n{stdout}\n{stderr}", output.status);
        let now = std::fs::read_to_string(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        self.folder = PathBuf::from(now.trim_end());
        stdout
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.page);
    }
}

/// The page with the output of each command where it is not that already; and how many commands there are.
fn refresh(page: &str, mut run: impl FnMut(&str) -> String) -> (String, usize) {
    let mut fresh = String::new();
    let mut commands = 0;
    let mut lines = page.lines().peekable();
    let mut in_console = false;
    while let Some(line) = lines.next() {
        fresh += line;
        fresh += "\n";
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) else { continue };
        commands += 1;
        let output = run(command);
        let mut said = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("```") && !line.starts_with("$ ")) {
            said.push(line);
        }
        // Measured times differ from run to run.
        let shown = |line| if str::contains(line, MEASURED) { ANY } else { str::trim_end(line) };
        let written: Vec<&str> = output.lines().map(shown).collect();
        for line in if matches(&said, &written) { said } else { written } {
            fresh += line;
            fresh += "\n";
        }
    }
    (fresh, commands)
}

/// Whether lines are those of a pattern.
fn matches(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((&ANY, rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => lines.first() == Some(first) && matches(rest, &lines[1..]),
    }
}

/// Lines that one of two texts has and the other has not.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}"));
    let come = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}"));
    gone.chain(come).collect::<Vec<_>>().join("\n")
}

#[test]
fn output_that_differs_is_replaced() {
    let page = "```console\n$ one\n1\n$ two\n…\nlast\n```\n\n```sh\n$ three\n```\n";
    let run = |two: &'static str| {
        move |command: &str| if command == "one" { "1\n".into() } else { String::from(two) }
    };
    assert_eq!(refresh(page, run("first\nlast\n")), (page.into(), 2));
    let replaced = page.replace("…\nlast", "first\nother");
    assert_eq!(refresh(page, run("first\nother\n")), (replaced, 2));
    assert!(matches(&["a", ANY], &["a"]) && matches(&[ANY, "c", ANY], &["a", "b", "c"]));
    assert!(!matches(&["a"], &["a", "b"]) && !matches(&[ANY, "d"], &["a", "d", "e"]));
}
