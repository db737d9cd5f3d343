//! The processor that code is for where nobody names one: the one that Cargo would build for.

use crate::place::HOST;
use kiln_codegen::Target;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The processor that Cargo would build for in a folder, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// It.
    pub target: Target,
    /// The Rust target.
    triple: String,
    /// The file or variable that names it; none where it is this machine's.
    says: Option<String>,
}

impl fmt::Display for Assumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Assumed { target, triple, says } = self;
        let target = target.name();
        match says {
            Some(says) => write!(f, "the code is for `{target}`: {says} builds for {triple}; --target names another processor"),
            None => write!(f, "the code is for `{target}`, this machine; --target names another processor: cortex-m4, rv32imac …"),
        }
    }
}

/// What Cargo would build for in a folder: as `CARGO_BUILD_TARGET` or `build.target` of its configuration says, or else for this machine.
pub fn assumed(folder: &Path) -> Assumed {
    let configs = configs(folder);
    let named = std::env::var("CARGO_BUILD_TARGET").ok().map(|triple| ("CARGO_BUILD_TARGET".into(), triple));
    of_configs(named, &configs)
}

/// A file of Cargo's configuration.
type Config = (PathBuf, Table);

fn of_configs(named: Option<(String, String)>, configs: &[Config]) -> Assumed {
    let build = |(path, config): &Config| {
        let triple = words(config.get("build")?.get("target")?).into_iter().next()?;
        Some((path.display().to_string(), triple))
    };
    let named = named.or_else(|| configs.iter().find_map(build));
    let Some((says, triple)) = named.filter(|(_, triple)| triple != "host-tuple") else {
        return Assumed { target: Target::of_triple(HOST, &[]), triple: HOST.into(), says: None };
    };
    // A target may be a file that describes it.
    let stem = Path::new(&triple).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let triple = stem.filter(|_| triple.ends_with(".json")).unwrap_or(triple);
    let flags = rustflags(&triple, configs);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    Assumed { target: Target::of_triple(&triple, &flags), triple, says: Some(says) }
}

/// The files that Cargo reads in a folder, those that win first. What is no TOML is left to Cargo to complain about.
fn configs(folder: &Path) -> Vec<Config> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    let files = folders.flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name)));
    let read = |path: PathBuf| {
        let config = std::fs::read_to_string(&path).ok()?.parse().ok()?;
        Some((path, config))
    };
    files.filter_map(read).collect()
}

/// The flags of rustc for a target: those of the target and of any `cfg`, or else those of all builds.
fn rustflags(triple: &str, configs: &[Config]) -> Vec<String> {
    let of_target = configs.iter().flat_map(|(_, config)| {
        let targets = config.get("target").and_then(Value::as_table).into_iter().flatten();
        let meant = targets.filter(|(name, _)| *name == triple || name.starts_with("cfg("));
        meant.filter_map(|(_, target)| target.get("rustflags")).flat_map(words)
    });
    let of_target: Vec<String> = of_target.collect();
    match of_target.is_empty() {
        false => of_target,
        true => {
            let of_build = |(_, config): &Config| Some(words(config.get("build")?.get("rustflags")?));
            configs.iter().filter_map(of_build).flatten().collect()
        }
    }
}

/// A text with words, or a list of them.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(configs: &[&str]) -> Assumed {
        let parsed = configs.iter().map(|text| (PathBuf::from("config.toml"), text.parse().unwrap()));
        of_configs(None, &parsed.collect::<Vec<_>>())
    }

    #[test]
    fn the_nearest_configuration_says_it() {
        let outer = "[build]\ntarget = \"thumbv6m-none-eabi\"";
        let inner = "[build]\ntarget = [\"thumbv7em-none-eabihf\"]";
        let assumed = of(&[inner, outer]);
        assert_eq!(assumed.target.name(), "cortex-m4");
        assert!(
            assumed.to_string().contains("`cortex-m4`: config.toml builds for thumbv7em-none-eabihf"),
            "{assumed}"
        );
        assert_eq!(of(&["[alias]\na = \"b\"", outer]).target.name(), "cortex-m0");
        assert_eq!(of(&["[build]\ntarget = \"host-tuple\"", outer]), of(&[]));
        let here = of(&[]);
        assert_eq!((here.target, here.says.clone()), (Target::of_triple(HOST, &[]), None));
        assert!(here.to_string().contains("this machine"), "{here}");
    }

    #[test]
    fn flags_say_what_the_triple_leaves_open() {
        let config = "[build]\ntarget = \"thumbv8m.main-none-eabihf\"\n[target.'cfg(target_os = \"none\")']\nrustflags = [\"-Ctarget-cpu=cortex-m55\"]";
        assert_eq!(of(&[config]).target.name(), "cortex-m55");
        let config =
            "[build]\ntarget = \"thumbv8m.main-none-eabihf\"\nrustflags = \"-C target-cpu=cortex-m33\"";
        assert_eq!(
            of(&[config]).target,
            Target::of_triple("thumbv8m.main-none-eabihf", &["-C", "target-cpu=cortex-m33"])
        );
    }
}
