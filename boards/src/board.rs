//! What is known about a board, read from its folder.
use crate::cycles::cores::Core;
use crate::Error;
use serde::Deserialize;
use std::sync::OnceLock;

/// One board: everything needed to build firmware for it and to run that.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Board {
    /// The folder's name, by which users name the board.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Rust target triple.
    pub target: String,
    /// The processor core that firmware is for, whose cycles are estimated. An emulator may run it on another one.
    #[serde(deserialize_with = "core")]
    pub core: Core,
    /// Flags for rustc besides the target, such as the CPU.
    #[serde(default)]
    pub rustflags: Vec<String>,
    /// The clock that the processor usually runs at once firmware has set it up, in Hz. QEMU's boards do not keep time; theirs is that
    /// of the board they stand for.
    pub clock_hz: u32,
    /// The energy that the chip takes, where it is known.
    pub energy: Option<Energy>,
    /// The pin of an LED, if there is one.
    pub led: Option<String>,
    /// Cargo features that the harness needs on this board.
    #[serde(default)]
    pub harness_features: Vec<String>,
    /// What runs firmware.
    pub runner: Runner,
    /// The memory map, as in `memory.x`.
    pub memory: Memory,
    /// The linker's memory map (`memory.x` of the cortex-m-rt crate).
    #[serde(skip)]
    pub memory_x: String,
}

fn core<'de, D: serde::Deserializer<'de>>(name: D) -> Result<Core, D::Error> {
    let name = String::deserialize(name)?;
    Core::named(&name).ok_or_else(|| {
        let known = Core::ALL.map(Core::name).join(", ");
        serde::de::Error::custom(format!("`{name}` is no core; there are {known}"))
    })
}

/// What runs a board's firmware.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Runner {
    /// QEMU.
    Qemu {
        /// `-machine`.
        machine: String,
        /// The emulator: `qemu-system-arm`, if nothing else is said.
        #[serde(default = "emulator")]
        program: String,
        /// What it is to be told besides.
        #[serde(default)]
        arguments: Vec<String>,
    },
    /// A debug probe.
    ProbeRs {
        /// The name by which probe-rs knows the chip.
        chip: String,
        /// The name for flashing, where the chip's processors have names of their own and only one of them can flash.
        #[serde(rename = "flash-chip")]
        flash_chip: Option<String>,
        /// How the chip says what it is.
        identity: Identity,
    },
}

/// A register that holds a chip's part number.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Its address.
    pub address: u32,
    /// The bits that tell the part.
    pub mask: u32,
    /// Their values in the board's chip (and its revisions).
    pub values: Vec<u32>,
}

impl Identity {
    /// Whether a chip whose register reads so is the board's.
    pub fn matches(&self, register: u32) -> bool {
        self.values.contains(&(register & self.mask))
    }
}

fn emulator() -> String {
    "qemu-system-arm".to_owned()
}

impl Runner {
    /// The command, to be followed by the path of an ELF file.
    pub fn command(&self) -> Vec<String> {
        match self {
            Runner::Qemu { machine, program, arguments } => {
                let before = [program, "-machine", machine].map(str::to_owned);
                const AFTER: [&str; 8] = [
                    "-nographic",
                    "-monitor",
                    "none",
                    "-serial",
                    "none",
                    "-semihosting-config",
                    "enable=on,target=native",
                    "-kernel",
                ];
                before.into_iter().chain(arguments.iter().cloned()).chain(AFTER.map(str::to_owned)).collect()
            }
            Runner::ProbeRs { chip, .. } => ["probe-rs", "run", "--chip", chip].map(str::to_owned).to_vec(),
        }
    }
}

/// Published measurements of the energy that inferences take on a chip.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Energy {
    /// Where they are published.
    pub source: String,
    /// The chip's supply.
    pub volts: f64,
    /// The chip's clock.
    pub clock_hz: u32,
    /// Of each model: microjoules of an inference, and inferences in a second.
    pub measured: Vec<(f64, f64)>,
}

impl Energy {
    /// The mean energy of a cycle.
    pub fn nanojoules_per_cycle(&self) -> f64 {
        let microwatts: f64 =
            self.measured.iter().map(|(microjoules, per_second)| microjoules * per_second).sum();
        1000.0 * microwatts / self.measured.len() as f64 / f64::from(self.clock_hz)
    }
}

/// The memories of a board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Code and constants.
    pub flash: Region,
    /// Statics and stack.
    pub ram: Region,
    /// Slower or external RAM that the loader can fill: for images that do not fit otherwise.
    pub extra: Option<Region>,
    /// RAM without wait states beside slower `ram`, for a fast arena. Each is a section too, `.dtcm` for `DTCM`.
    #[serde(default)]
    pub fast: Vec<FastRegion>,
}

/// A fast memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FastRegion {
    /// Its name in `memory.x`.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub region: Region,
}

/// A range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// First address.
    pub origin: u32,
    /// Bytes.
    pub length: u32,
}

impl Region {
    /// The addresses, in 64 bits: a region may end at the end of memory.
    pub fn range(&self) -> std::ops::Range<u64> {
        let origin = u64::from(self.origin);
        origin..origin + u64::from(self.length)
    }
}

include!(concat!(env!("OUT_DIR"), "/folders.rs"));

impl Board {
    /// Every board, emulated ones first, then by name.
    pub fn all() -> &'static [Board] {
        static BOARDS: OnceLock<Vec<Board>> = OnceLock::new();
        BOARDS.get_or_init(|| {
            // A folder that does not parse is left out here; the tests below see to it that all parse.
            let mut boards: Vec<Board> =
                FOLDERS.iter().filter_map(|folder| Board::parse(folder.1, folder.2).ok()).collect();
            boards.sort_by_key(|board| !board.is_emulated());
            boards
        })
    }

    /// The board of that name.
    ///
    /// # Errors
    /// [`Error::UnknownBoard`], which lists the names there are.
    pub fn find(name: &str) -> Result<&'static Board, Error> {
        Board::all().iter().find(|board| board.name == name).ok_or_else(|| Error::UnknownBoard {
            name: name.to_owned(),
            known: Board::all().iter().map(|board| board.name.as_str()).collect(),
        })
    }

    /// A board from the contents of its two files.
    ///
    /// # Errors
    /// What is wrong in `board_toml`.
    pub fn parse(board_toml: &str, memory_x: &str) -> Result<Board, toml::de::Error> {
        Ok(Board { memory_x: memory_x.to_owned(), ..toml::from_str(board_toml)? })
    }

    /// Whether the board is emulated by QEMU.
    pub fn is_emulated(&self) -> bool {
        matches!(self.runner, Runner::Qemu { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_parses_under_its_own_name() {
        for (name, board_toml, memory_x) in FOLDERS {
            let board = Board::parse(board_toml, memory_x).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(board.name, *name);
        }
        assert_eq!(Board::all().len(), FOLDERS.len());
    }

    #[test]
    fn memory_x_says_what_board_toml_says() {
        for board in Board::all() {
            let Memory { flash, ram, extra, fast } = &board.memory;
            for (name, region) in [("FLASH", Some(flash)), ("RAM", Some(ram)), ("EXTRA", extra.as_ref())] {
                assert_eq!(region_of(&board.memory_x, name).as_ref(), region, "{}: {name}", board.name);
            }
            for FastRegion { name, region } in fast {
                assert_eq!(region_of(&board.memory_x, name).as_ref(), Some(region), "{}: {name}", board.name);
                let section = format!("*(.{0} .{0}.*)", name.to_lowercase());
                assert!(board.memory_x.contains(&section), "{}: no {section}", board.name);
            }
        }
    }

    #[test]
    fn memories_are_apart() {
        for board in Board::all() {
            let Memory { flash, ram, extra, fast } = &board.memory;
            let mut all: Vec<&Region> = [flash, ram].into_iter().chain(extra).collect();
            all.extend(fast.iter().map(|fast| &fast.region));
            for (k, one) in all.iter().enumerate() {
                for other in &all[k + 1..] {
                    let (one, other) = (one.range(), other.range());
                    assert!(one.end <= other.start || other.end <= one.start, "{}", board.name);
                }
            }
        }
    }

    /// A chip that computes without pause takes some tens of milliwatts at 120 MHz, whatever the model.
    #[test]
    fn energies_are_those_of_microcontrollers() {
        let known: Vec<(&Board, &Energy)> =
            Board::all().iter().filter_map(|board| Some((board, board.energy.as_ref()?))).collect();
        assert!(known.iter().any(|(board, _)| board.name == "stm32l4r5zi-nucleo"));
        for (board, energy) in known {
            assert_eq!(energy.clock_hz, board.clock_hz, "{}: another clock takes other energy", board.name);
            let mean = energy.nanojoules_per_cycle();
            assert!((0.01..2.0).contains(&mean), "{}: {mean} nJ", board.name);
            for (microjoules, per_second) in &energy.measured {
                let one = 1000.0 * microjoules * per_second / f64::from(energy.clock_hz);
                assert!((one / mean - 1.0).abs() < 0.1, "{}: {one} nJ, the mean is {mean} nJ", board.name);
            }
        }
    }

    fn region_of(memory_x: &str, name: &str) -> Option<Region> {
        let line = memory_x.lines().find(|line| line.trim_start().split(' ').next() == Some(name))?;
        let mut numbers = line.split("= ").skip(1).map(|text| {
            let digits =
                text.trim_start_matches("0x").split(|c: char| !c.is_ascii_hexdigit()).next().unwrap();
            u32::from_str_radix(digits, 16).unwrap()
        });
        Some(Region { origin: numbers.next()?, length: numbers.next()? })
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = Board::find("nucleo").unwrap_err().to_string();
        assert!(message.contains("`nucleo`"), "{message}");
        for board in Board::all() {
            assert!(message.contains(&board.name), "{message}");
        }
    }
}
