//! A release: everything that has to hold before packages go to the registry, and the upload.
use crate::package::{self, PACKAGES};
use crate::step::{cargo, root, run, say, Failure};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) const HELP: &str = "  publish --dry-run        everything that a release needs, without the upload: packages that are built and used alone, and what has changed since the last release
  publish                  the same, and the upload: docs/internals/releasing.md
";

/// Files that each package has.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The crate with probe-rs: a workspace of its own, whose packages come last.
const PROBE: &str = "probe/Cargo.toml";

/// A release, up to the upload or with it.
pub(crate) fn run_all(uploads: bool) -> Result<(), Failure> {
    let root = root();
    if uploads {
        can_be_released(&root)?;
    }
    package::build()?;
    check_semver(&root)?;
    if !uploads {
        say("a release would be published now; this was a dry run");
        return Ok(());
    }
    // Cargo brings them into order, and waits until the registry has what the next ones need.
    let mut publish = cargo(&root, &["publish"]);
    run("upload", publish.args(PACKAGES.iter().flat_map(|name| ["-p", name])))?;
    run("upload of probe", &mut cargo(&root, &["publish", "--manifest-path", PROBE]))?;
    say(&format!("published; now: git tag v{VERSION} && git push origin v{VERSION}"));
    Ok(())
}

/// An error if the checkout is not what the registry and its readers should have.
fn can_be_released(root: &Path) -> Result<(), Failure> {
    let changed = printed(root, &["status", "--porcelain"])?;
    if !changed.is_empty() {
        return Err(format!("commit or remove what is changed first:\n{changed}").into());
    }
    let changelog = fs::read_to_string(root.join("CHANGELOG.md"))?;
    let heading = changelog.lines().find(|line| line.starts_with("## ")).unwrap_or_default();
    let wanted = format!("## {VERSION} (");
    if !heading.starts_with(&wanted) || heading.contains("unreleased") {
        return Err(format!("CHANGELOG.md begins with {heading:?}: write \"{wanted}YEAR-MONTH-DAY)\"").into());
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    if !manifest.lines().any(|line| line.starts_with("repository = ")) {
        return Err("[workspace.package] of Cargo.toml has no `repository`: `cargo binstall` and the pages of the registry need its address".into());
    }
    Ok(())
}

/// Fails if a package lacks one of [`FILES`].
pub(crate) fn check_contents(root: &Path) -> Result<(), Failure> {
    for package in PACKAGES {
        let archive = root.join(format!("target/package/{package}-{VERSION}.crate"));
        let list = Command::new("tar").arg("-tzf").arg(&archive).output()?;
        let list = String::from_utf8_lossy(&list.stdout);
        for file in FILES {
            if !list.lines().any(|line| line == format!("{package}-{VERSION}/{file}")) {
                return Err(format!("{} has no {file}", archive.display()).into());
            }
        }
    }
    say(&format!("each package has {}", FILES.join(", ")));
    Ok(())
}

/// Public items against those of the last release: a version that breaks them has to say so.
fn check_semver(root: &Path) -> Result<(), Failure> {
    let Ok(tag) = printed(root, &["describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"]) else {
        say("there is no release yet with which public items could be compared");
        return Ok(());
    };
    let tag = tag.trim();
    let is_installed = Command::new("cargo-semver-checks").arg("--version").stdout(Stdio::null()).status();
    if !is_installed.is_ok_and(|status| status.success()) {
        let why = "is not installed: cargo install cargo-semver-checks --locked";
        return Err(
            format!("public items are compared with those of {tag}, and cargo-semver-checks {why}").into()
        );
    }
    let mut check = cargo(root, &["semver-checks", "check-release", "--baseline-rev", tag]);
    // Programs and their parts have no public items for others.
    let libraries = PACKAGES.iter().filter(|name| **name != "cargo-kiln");
    run(&format!("public items since {tag}"), check.args(libraries.flat_map(|name| ["-p", name])))
}

/// What git prints.
fn printed(root: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").current_dir(root).args(arguments).output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
