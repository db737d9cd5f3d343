//! What follows from the rows of targets.

use crate::table::{TARGETS, TRIPLES};
use crate::{Core, Isa, Target};

/// The row of a target.
pub(crate) struct Facts {
    /// What users write, the usual name first.
    pub(crate) names: &'static [&'static str],
    /// The processors whose kernels it runs besides the portable ones, the best first.
    pub(crate) isas: &'static [Isa],
    /// The core whose cycles are predicted.
    pub(crate) core: Core,
    /// Bytes to which large buffers are aligned.
    pub(crate) alignment: usize,
    /// How many cores or threads may compute a step together.
    pub(crate) cores: usize,
}

/// Rust targets of one architecture, compiled with certain flags of rustc.
pub(crate) struct Triple {
    /// What the triple begins with.
    pub(crate) architecture: &'static str,
    /// One of these texts has to occur in a flag. An empty list asks for nothing.
    pub(crate) flags: &'static [&'static str],
    /// This text must not occur in any flag. An empty text asks for nothing.
    pub(crate) unless: &'static str,
    /// The name of the target.
    pub(crate) name: &'static str,
    /// Besides those of the processors, what the runtime is compiled with.
    pub(crate) cfgs: &'static [&'static str],
    /// The same, where floats are passed in registers.
    pub(crate) hard_float: &'static [&'static str],
}

impl Triple {
    /// A row that asks for no flags.
    pub(crate) const fn any(architecture: &'static str) -> Triple {
        Triple { architecture, flags: &[], unless: "", name: "portable", cfgs: &[], hard_float: &[] }
    }

    /// The first row that fits a Rust target and flags of rustc.
    fn find(triple: &str, rustflags: &[&str]) -> Option<&'static Triple> {
        let architecture = triple.split('-').next().unwrap_or_default();
        let flagged = |what: &str| rustflags.iter().any(|flag| flag.contains(what));
        TRIPLES.iter().find(|row| {
            let on = row.flags.is_empty() || row.flags.iter().any(|flag| flagged(flag));
            row.architecture == architecture && on && (row.unless.is_empty() || !flagged(row.unless))
        })
    }
}

/// A name that no target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTarget;

impl core::fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("use one of")?;
        Target::names()
            .enumerate()
            .try_for_each(|(at, name)| write!(f, "{} {name}", if at == 0 { "" } else { "," }))
    }
}

impl core::error::Error for UnknownTarget {}

impl Target {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Target> {
        TARGETS.iter().map(|(target, _)| *target)
    }

    /// The names users write.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TARGETS.iter().flat_map(|(_, facts)| facts.names).copied()
    }

    fn facts(self) -> &'static Facts {
        // There is a row for each, in their order (a test).
        &TARGETS[self as usize].1
    }

    /// A name of it.
    pub fn name(self) -> &'static str {
        self.facts().names.first().copied().unwrap_or_default()
    }

    /// The processors whose kernels it runs besides the portable ones, the best first.
    pub fn isas(self) -> &'static [Isa] {
        self.facts().isas
    }

    /// Whether it runs the kernels of a processor.
    pub fn runs(self, isa: Isa) -> bool {
        isa == Isa::Portable || self.isas().contains(&isa)
    }

    /// The core whose cycles are predicted.
    pub fn core(self) -> Core {
        self.facts().core
    }

    /// Bytes to which buffers are aligned that have as many: a vector, which else lies in two cache lines; 1 where it makes no difference.
    pub fn alignment(self) -> usize {
        self.facts().alignment
    }

    /// How many cores or threads may compute a step together: 1 where no kernel can be shared.
    pub fn most_cores(self) -> usize {
        self.facts().cores
    }

    /// The target of a Rust target such as `thumbv7em-none-eabihf`, compiled with those flags of rustc. Where the triple leaves open what the core has, flags say it
    /// (`-Ctarget-cpu=cortex-m33`, `-Ctarget-feature=+dsp`), or deny it (`-Ctarget-feature=-dsp`).
    pub fn of_triple(triple: &str, rustflags: &[&str]) -> Target {
        Self::name_of_triple(triple, rustflags).parse().unwrap_or_default()
    }

    /// As [`Self::of_triple`]: the name that users write.
    pub fn name_of_triple(triple: &str, rustflags: &[&str]) -> &'static str {
        Triple::find(triple, rustflags).map_or("portable", |row| row.name)
    }

    /// The `cfg`s with which the runtime is compiled for a Rust target: they turn on the assembly of processors.
    pub fn cfgs(triple: &str, rustflags: &[&str]) -> impl Iterator<Item = &'static str> {
        let isas = Target::of_triple(triple, rustflags).isas();
        let floats = triple.ends_with("eabihf");
        let row = Triple::find(triple, rustflags);
        let more = row.into_iter().flat_map(move |row| [row.cfgs, if floats { row.hard_float } else { &[] }]);
        isas.iter().filter_map(|isa| isa.cfg()).chain(more.flatten().copied())
    }

    /// The `cfg`s of all Rust targets. Some come several times.
    pub fn all_cfgs() -> impl Iterator<Item = &'static str> {
        let isas = TARGETS.iter().flat_map(|(_, facts)| facts.isas).filter_map(|isa| isa.cfg());
        isas.chain(TRIPLES.iter().flat_map(|row| [row.cfgs, row.hard_float]).flatten().copied())
    }
}

impl core::str::FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        let row = TARGETS.iter().find(|(_, facts)| facts.names.contains(&name));
        row.map(|(target, _)| *target).ok_or(UnknownTarget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_targets() {
        for (at, target) in Target::all().enumerate() {
            assert_eq!(target as usize, at);
        }
        for name in Target::names() {
            let target: Target = name.parse().unwrap();
            assert_eq!(target.name().parse(), Ok(target));
        }
        assert_eq!("cortex-m99".parse::<Target>(), Err(UnknownTarget));
    }

    #[test]
    fn names_of_triples_are_names() {
        for row in TRIPLES {
            assert!(row.name.parse::<Target>().is_ok(), "{}", row.name);
        }
    }

    #[test]
    fn flags_say_whether_there_is_a_dsp() {
        let of = Target::of_triple;
        assert_eq!(of("thumbv6m-none-eabi", &[]), Target::CortexM0);
        assert_eq!(of("thumbv7m-none-eabi", &[]), Target::CortexM0);
        assert_eq!(of("thumbv7em-none-eabihf", &[]), Target::CortexMDsp);
        assert_eq!(of("thumbv8m.main-none-eabi", &[]), Target::CortexM0);
        assert_eq!(of("thumbv8m.main-none-eabihf", &["-Ctarget-cpu=cortex-m55"]), Target::CortexMHelium);
        let without = ["-Ctarget-cpu=cortex-m55", "-Ctarget-feature=-mve"];
        assert_eq!(of("thumbv8m.main-none-eabihf", &without), Target::CortexMDsp);
        let denied = ["-Ctarget-cpu=cortex-m33", "-Ctarget-feature=-dsp"];
        assert_eq!(of("thumbv8m.main-none-eabi", &denied), Target::CortexM0);
        assert_eq!(of("thumbv8m.main-none-eabi", &denied[..1]), Target::CortexMDsp);
        assert_eq!(of("x86_64-unknown-linux-gnu", &[]), Target::Vectors);
        assert_eq!(of("unheard_of-none", &[]), Target::Portable);
        let dsp = ["kiln_dsp", "kiln_v6m", "kiln_long_product"];
        assert!(Target::cfgs("thumbv7em-none-eabi", &[]).eq(dsp));
        assert!(Target::cfgs("thumbv7em-none-eabihf", &[]).eq(dsp.into_iter().chain(["kiln_fpu"])));
    }
}
