//! Counting instructions and cycles: the QEMU plugin of `boards/cycles`, compiled on first use, and its report.
//!
//! [`model`] says what an instruction costs on a Cortex-M4, [`cores`] what other cores do otherwise, [`riscv`] what one costs there, [`pipeline`] how
//! instructions wait for each other on cores whose pipeline is modelled, and [`count`] how costs add up.
//! All are parts of the plugin, and parts of this crate.

#[path = "../cycles/cores.rs"]
pub mod cores;
#[path = "../cycles/cortex_m55.rs"]
pub mod cortex_m55;
#[path = "../cycles/cortex_m7.rs"]
pub mod cortex_m7;
#[path = "../cycles/count.rs"]
pub mod count;
#[path = "../cycles/helium.rs"]
pub mod helium;
#[path = "../cycles/model.rs"]
pub mod model;
#[path = "../cycles/operands.rs"]
pub mod operands;
#[path = "../cycles/pipeline.rs"]
pub mod pipeline;
#[path = "../cycles/riscv.rs"]
pub mod riscv;

use crate::error::{at, Error};
use crate::process;
use crate::work::{unique_name, work_dir, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The plugin's sources.
const SOURCES: [(&str, &str); 12] = [
    ("cores.rs", include_str!("../cycles/cores.rs")),
    ("cortex_m55.rs", include_str!("../cycles/cortex_m55.rs")),
    ("cortex_m7.rs", include_str!("../cycles/cortex_m7.rs")),
    ("lib.rs", include_str!("../cycles/lib.rs")),
    ("count.rs", include_str!("../cycles/count.rs")),
    ("helium.rs", include_str!("../cycles/helium.rs")),
    ("model.rs", include_str!("../cycles/model.rs")),
    ("operands.rs", include_str!("../cycles/operands.rs")),
    ("pipeline.rs", include_str!("../cycles/pipeline.rs")),
    ("plugin.rs", include_str!("../cycles/plugin.rs")),
    ("qemu.rs", include_str!("../cycles/qemu.rs")),
    ("riscv.rs", include_str!("../cycles/riscv.rs")),
];

/// The compiled plugin. Compiles it (with rustc alone: it depends on nothing) unless this was done before.
///
/// # Errors
/// [`Error::Failed`] where it does not compile.
pub fn plugin() -> Result<PathBuf, Error> {
    let folder = work_dir()?.join(unique_name(Path::new("cycles"), SOURCES));
    let library = folder.join("libkiln_cycles.so");
    if library.exists() {
        return Ok(library);
    }
    for (name, source) in SOURCES {
        write(&folder.join(name), source)?;
    }
    // Others may do the same at the same time: the finished library is moved into place.
    let partial = folder.join(format!("{}.partial", std::process::id()));
    let mut rustc = Command::new("rustc");
    rustc.current_dir(&folder).args([
        "--edition",
        "2021",
        "--crate-type",
        "cdylib",
        "--crate-name",
        "kiln_cycles",
    ]);
    rustc.args(["-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols", "lib.rs", "-o"]).arg(&partial);
    process::succeed(&mut rustc, "compiling the plugin that counts cycles", Duration::from_secs(600))?;
    fs::rename(&partial, &library).map_err(at(&library))?;
    Ok(library)
}

/// Instructions and cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Executed instructions, exactly.
    pub instructions: u64,
    /// Estimated cycles of the board's core, without wait states.
    pub cycles: u64,
}

/// What the plugin reports about its window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Report {
    pub(crate) window: Count,
    pub(crate) taken: u64,
    pub(crate) unaligned: u64,
    /// From each execution of the trace marker to the next, or to the window's end.
    pub(crate) steps: Vec<Count>,
    /// Executed instructions of each class.
    pub(crate) classes: Vec<(model::Class, u64)>,
}

impl Report {
    pub(crate) fn parse(text: &str) -> Result<Report, Error> {
        let malformed = |line: &str| Error::Malformed {
            what: "the report of the plugin that counts cycles".to_owned(),
            why: if line.is_empty() {
                "it does not end with its window".to_owned()
            } else {
                format!("`{line}`")
            },
        };
        let mut window = None;
        let (mut taken, mut unaligned) = (0, 0);
        let mut starts = Vec::new();
        let mut classes = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |index: usize| {
                words.get(index).and_then(|word| word.parse().ok()).ok_or_else(|| malformed(line))
            };
            let count = |index| Ok(Count { instructions: number(index)?, cycles: number(index + 1)? });
            match words[0] {
                "window" => window = Some(count(1)?),
                "taken" => taken = number(1)?,
                "unaligned" => unaligned = number(1)?,
                "step" => starts.push(count(2)?),
                "class" => {
                    let class =
                        model::Class::ALL.into_iter().find(|class| words.get(1) == Some(&class.name()));
                    classes.push((class.ok_or_else(|| malformed(line))?, number(2)?));
                }
                _ => return Err(malformed(line)),
            }
        }
        let window = window.ok_or_else(|| malformed(""))?;
        let ends = starts.iter().skip(1).chain([&window]);
        let steps = starts.iter().zip(ends).map(|(start, end)| Count {
            instructions: end.instructions.saturating_sub(start.instructions),
            cycles: end.cycles.saturating_sub(start.cycles),
        });
        Ok(Report { window, taken, unaligned, steps: steps.collect(), classes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_lasts_to_the_next_one_or_to_the_end() {
        let report = Report::parse(
            "step 0 10 12\nstep 1 100 150\nclass alu 7\ntaken 3\nunaligned 4\nwindow 250 400\n",
        )
        .unwrap();
        let expected = [Count { instructions: 90, cycles: 138 }, Count { instructions: 150, cycles: 250 }];
        assert_eq!(report.steps, expected);
        assert_eq!(report.window, Count { instructions: 250, cycles: 400 });
        assert_eq!((report.taken, report.unaligned), (3, 4));
        assert_eq!(report.classes, [(model::Class::Alu, 7)]);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "step 0 1 2\n", "window 1\n", "window a b\n", "class none 1\nwindow 1 2\n", "nonsense\n"]
        {
            assert!(Report::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_plugin_compiles_once() {
        let library = plugin().unwrap();
        let compiled = fs::metadata(&library).unwrap().modified().unwrap();
        assert_eq!(fs::metadata(plugin().unwrap()).unwrap().modified().unwrap(), compiled);
    }
}
