//! The processors that code is made for. Kernels, packing of weights and layouts depend on it.

use crate::error::{Error, Problem};

/// A kind of processor. What is compiled for one runs on every other as well, with the same results, but not fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// Any: plain Rust. RISC-V has nothing better.
    #[default]
    Portable,
    /// Armv6-M and Armv8-M Baseline: Cortex-M0, M0+ and M23. No long multiplication, eight low registers. Cortex-M3, and Cortex-M33 without the DSP
    /// extension, have both, but nothing that multiplies more at once: the same kernels are the fastest there.
    CortexM0,
    /// Armv7E-M, and Armv8-M Mainline with the DSP extension: Cortex-M4, M7, M33, M35P, M52, M55 and M85. Two 16-bit products in one instruction.
    CortexMDsp,
    /// x86-64, AArch64 and WebAssembly: vectors, of what width is decided when the program runs.
    Vectors,
}

impl Target {
    /// The names users write.
    pub const NAMES: [&'static str; 12] = [
        "portable",
        "cortex-m0",
        "cortex-m0plus",
        "cortex-m3",
        "cortex-m4",
        "cortex-m7",
        "cortex-m33",
        "cortex-m55",
        "cortex-m85",
        "x86-64",
        "aarch64",
        "wasm32",
    ];

    /// What in a flag of rustc says that a core of Armv8-M Mainline has the DSP extension.
    const DSP_FLAGS: [&'static str; 6] =
        ["cortex-m33", "cortex-m35p", "cortex-m52", "cortex-m55", "cortex-m85", "+dsp"];

    /// A name of it.
    pub fn name(self) -> &'static str {
        match self {
            Target::Portable => "portable",
            Target::CortexM0 => "cortex-m0",
            Target::CortexMDsp => "cortex-m4",
            Target::Vectors => "x86-64",
        }
    }

    /// Bytes to which buffers are aligned that have as many: a vector, which else lies in two cache lines; 1 where it makes no difference.
    pub fn alignment(self) -> usize {
        match self {
            Target::Vectors => 64,
            Target::Portable | Target::CortexM0 | Target::CortexMDsp => 1,
        }
    }

    /// The processor of a Rust target such as `thumbv7em-none-eabihf`, compiled with those flags of rustc. The DSP extension of Armv8-M is an option
    /// of the chip. It counts where a flag names a core that has it (`-Ctarget-cpu=cortex-m33`, `cortex-m55` …) or the extension
    /// (`-Ctarget-feature=+dsp`), unless a flag takes it away (`-Ctarget-feature=-dsp`). The runtime's build script decides alike.
    pub fn of_triple(triple: &str, rustflags: &[String]) -> Target {
        let flagged = |what: &str| rustflags.iter().any(|flag| flag.contains(what));
        match triple.split('-').next().unwrap_or_default() {
            "thumbv6m" | "thumbv7m" | "thumbv8m.base" => Target::CortexM0,
            "thumbv7em" => Target::CortexMDsp,
            "thumbv8m.main" if flagged("-dsp") => Target::CortexM0,
            "thumbv8m.main" if Self::DSP_FLAGS.into_iter().any(flagged) => Target::CortexMDsp,
            "thumbv8m.main" => Target::CortexM0,
            "x86_64" | "aarch64" | "wasm32" => Target::Vectors,
            _ => Target::Portable,
        }
    }
}

impl std::str::FromStr for Target {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "portable" => Ok(Target::Portable),
            "cortex-m0" | "cortex-m0plus" | "cortex-m3" => Ok(Target::CortexM0),
            "cortex-m4" | "cortex-m7" | "cortex-m33" | "cortex-m55" | "cortex-m85" => Ok(Target::CortexMDsp),
            "x86-64" | "aarch64" | "wasm32" => Ok(Target::Vectors),
            _ => Err(Error::Options(Problem {
                place: "option `target`".into(),
                what: format!("`{name}` is not a value of this option"),
                help: format!("use one of {}", Self::NAMES.join(", ")),
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_triples() {
        for name in Target::NAMES {
            let target: Target = name.parse().unwrap();
            assert_eq!(target.name().parse(), Ok(target));
        }
        assert!("cortex-m99".parse::<Target>().unwrap_err().to_string().contains("cortex-m33"));
        let of = |triple, flags: &[&str]| {
            Target::of_triple(triple, &flags.iter().map(|f| f.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(of("thumbv6m-none-eabi", &[]), Target::CortexM0);
        assert_eq!(of("thumbv7m-none-eabi", &[]), Target::CortexM0);
        assert_eq!(of("thumbv7em-none-eabihf", &[]), Target::CortexMDsp);
        assert_eq!(of("thumbv8m.main-none-eabi", &[]), Target::CortexM0);
        assert_eq!(of("thumbv8m.main-none-eabihf", &["-Ctarget-cpu=cortex-m55"]), Target::CortexMDsp);
        assert_eq!(
            of("thumbv8m.main-none-eabi", &["-Ctarget-cpu=cortex-m33", "-Ctarget-feature=-dsp"]),
            Target::CortexM0
        );
        assert_eq!(of("thumbv8m.main-none-eabi", &["-Ctarget-cpu=cortex-m33"]), Target::CortexMDsp);
        assert_eq!(of("x86_64-unknown-linux-gnu", &[]), Target::Vectors);
        assert_eq!(of("riscv32imc-unknown-none-elf", &[]), Target::Portable);
    }
}
