//! What is in a linked image.
use crate::error::{at, Error};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Flash that an image takes, in bytes, by purpose.
///
/// Code and constants include the vector table, start-up code and the harness's own, 1 to 3 KB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlashSizes {
    /// Machine code and the vector table.
    pub code: u64,
    /// Of that, the model's: its functions, the kernels, and what both call (`memset`, arithmetic of the compiler's runtime). The rest
    /// is start-up code, handlers of exceptions and the harness.
    pub model_code: u64,
    /// Constants that are no weights, and the initial values of statics.
    pub constants: u64,
    /// Model constants: the statics in modules called `weights`.
    pub weights: u64,
}

/// A function or static of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its path in the source, or its plain name where it has no mangled one.
    pub name: String,
    /// Its address; bit 0 is set for functions of Arm code.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is a function.
    pub function: bool,
}

/// A linked image.
#[derive(Debug, Clone)]
pub struct Image {
    symbols: Vec<Symbol>,
    flash: FlashSizes,
    log: Log,
}

/// How a program logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// As text, or not at all.
    Text,
    /// In defmt frames.
    Defmt,
    /// Into a buffer that a debug probe reads (RTT), in defmt frames or as text.
    Rtt,
}

impl Image {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read, [`Error::Malformed`] where it is not an ELF file.
    pub fn read(elf: &Path) -> Result<Image, Error> {
        let bytes = fs::read(elf).map_err(at(elf))?;
        let file = object::File::parse(bytes.as_slice())
            .map_err(|error| Error::Malformed { what: elf.display().to_string(), why: error.to_string() })?;
        let symbols: Vec<Symbol> = file
            .symbols()
            .filter(|symbol| !symbol.is_undefined())
            .filter_map(|symbol| {
                let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'))?;
                // The alternate form leaves out the hash.
                let name = format!("{:#}", rustc_demangle::demangle(name));
                let function = symbol.kind() == SymbolKind::Text;
                Some(Symbol { name, address: symbol.address(), size: symbol.size(), function })
            })
            .collect();
        let flash = flash_sizes(&file, &symbols);
        let defmt = file.section_by_name(".defmt").is_some_and(|section| section.size() > 0);
        let log = match symbols.iter().any(|symbol| symbol.name == "_SEGGER_RTT") {
            true => Log::Rtt,
            false if defmt => Log::Defmt,
            false => Log::Text,
        };
        Ok(Image { symbols, flash, log })
    }

    /// How it logs.
    pub fn log(&self) -> Log {
        self.log
    }

    /// Its functions and statics.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Flash it takes.
    pub fn flash(&self) -> FlashSizes {
        self.flash
    }

    /// Address of the symbol with that path or name.
    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }

    /// Functions that only a panic, formatting or allocation can need. A model's firmware has none.
    pub fn unwanted(&self) -> Vec<&Symbol> {
        self.symbols.iter().filter(|symbol| is_unwanted(&symbol.name)).collect()
    }
}

fn is_unwanted(name: &str) -> bool {
    // Paths may stand inside others: `<T as core::fmt::Display>::fmt`, `alloc::vec::Vec<T>::push`.
    const PATHS: [&str; 5] = ["core::panicking", "core::fmt", "core::panic", "alloc::", "std::"];
    const NAMES: [&str; 9] = [
        "rust_begin_unwind",
        "__rust_alloc",
        "__rust_dealloc",
        "__rust_realloc",
        "__rust_alloc_zeroed",
        "malloc",
        "calloc",
        "realloc",
        "free",
    ];
    let starts_path =
        |at: usize| !name[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    PATHS.iter().any(|path| name.match_indices(path).any(|(at, _)| starts_path(at)))
        || NAMES.iter().any(|unwanted| name.rsplit("::").next() == Some(unwanted))
}

fn flash_sizes(file: &object::File, symbols: &[Symbol]) -> FlashSizes {
    let weights =
        symbols.iter().filter(|symbol| symbol.name.contains("::weights::")).map(|symbol| symbol.size).sum();
    let mut sizes = FlashSizes { weights, model_code: model_code(symbols), ..FlashSizes::default() };
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let loaded = sh_flags & u64::from(object::elf::SHF_ALLOC) != 0 && section.file_range().is_some();
        if !loaded {
            continue;
        }
        let is_code =
            sh_flags & u64::from(object::elf::SHF_EXECINSTR) != 0 || section.name() == Ok(".vector_table");
        *(if is_code { &mut sizes.code } else { &mut sizes.constants }) += section.size();
    }
    sizes.constants = sizes.constants.saturating_sub(weights);
    sizes
}

/// Bytes of functions that are there for the model.
fn model_code(symbols: &[Symbol]) -> u64 {
    let functions = symbols.iter().filter(|symbol| symbol.function && is_of_model(&symbol.name));
    // Several names may stand for one function.
    let sizes: BTreeMap<u64, u64> = functions.map(|symbol| (symbol.address, symbol.size)).collect();
    sizes.values().sum()
}

fn is_of_model(name: &str) -> bool {
    // `run` is what calls `invoke`, which the compiler may put into it.
    const RUN: &str = "kiln_harness::bench::run";
    const HARNESS: [&str; 3] = ["kiln_harness::", "cortex_m_rt", "riscv_rt"];
    const START: [&str; 22] = [
        "Reset",
        "HardFault",
        "HardFaultTrampoline",
        "DefaultHandler",
        "DefaultHandler_",
        "DefaultPreInit",
        "__pre_init",
        "main",
        "kiln_bench_begin",
        "kiln_bench_end",
        "_start",
        "_abs_start",
        "_start_rust",
        "_start_trap_rust",
        "_default_start_trap",
        "_default_abort",
        "_dispatch_core_interrupt",
        "_dispatch_exception",
        "_setup_interrupts",
        "_pre_init_trap",
        "ExceptionHandler",
        "abort",
    ];
    let is_harness = HARNESS.iter().any(|path| name.contains(path)) || START.contains(&name);
    name.starts_with(RUN)
        || !(is_harness || name.starts_with("_HardFault") || name.contains("rust_begin_unwind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwanted_functions_are_known_by_name() {
        for name in [
            "core::panicking::panic_bounds_check",
            "core::fmt::write",
            "<core::fmt::Arguments as core::fmt::Display>::fmt",
            "alloc::vec::Vec<u8>::push",
            "__rust_alloc",
            "__rustc::__rust_alloc",
            "__rustc::rust_begin_unwind",
        ] {
            assert!(is_unwanted(name), "{name}");
        }
        for name in
            ["kiln::kernels::conv2d_i8", "model::weights::KERNEL_3", "my::core::fmt", "memcpy", "libm::expf"]
        {
            assert!(!is_unwanted(name), "{name}");
        }
    }

    #[test]
    fn code_of_the_model_is_told_by_name() {
        for name in [
            "kiln::arch::portable::conv::conv2d_i8",
            "kws_1b2c::model::Kws<A,K>::tick",
            "kiln_harness::bench::run",
            "compiler_builtins::mem::memcpy",
            "__aeabi_memclr4",
            "libm::math::exp::exp",
        ] {
            assert!(is_of_model(name), "{name}");
        }
        for name in [
            "Reset",
            "main",
            "DefaultPreInit",
            "_HardFault",
            "kiln_bench_begin",
            "kws_1b2c::__cortex_m_rt_main",
            "kiln_harness::bench::bench",
            "kiln_harness::stack::used_by",
            "__rustc::rust_begin_unwind",
        ] {
            assert!(!is_of_model(name), "{name}");
        }
    }
}
