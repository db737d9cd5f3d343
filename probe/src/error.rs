//! What can go wrong between an ELF file and a board, each with the way out.
use probe_rs::flashing::FlashError;
use std::path::PathBuf;

/// Why firmware was not flashed, or did not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not firmware.
    #[error("{}: {why}\nA firmware is an ELF file, as `cargo build` leaves it in target/TRIPLE/release.", path.display())]
    NoFirmware {
        /// Which.
        path: PathBuf,
        /// What it lacks.
        why: String,
    },
    /// The board is one of QEMU's.
    #[error(
        "board `{board}` is emulated: it has no probe. `cargo kiln run --board {board}` runs firmware on it."
    )]
    Emulated {
        /// Its name.
        board: String,
    },
    /// probe-rs does not know the chip.
    #[error("probe-rs has no chip `{chip}`, which boards/{board}/board.toml names: {source}")]
    UnknownChip {
        /// The name.
        chip: String,
        /// The board that names it.
        board: String,
        /// probe-rs's words.
        source: probe_rs::config::RegistryError,
    },
    /// The image is for another kind of processor.
    #[error("the image is {found} code, but board `{board}` has {expected} processors: nothing was touched\nBuild it for `{target}`.")]
    OtherProcessor {
        /// The image's.
        found: &'static str,
        /// The board's.
        expected: &'static str,
        /// The board's name.
        board: String,
        /// The Rust target that fits.
        target: String,
    },
    /// A part of the image ends behind the board's memory.
    #[error("the image does not fit board `{board}`: {section} ends at {end:#010x}, {over} bytes behind the end of its {memory}: nothing was touched\n\
             `cargo kiln compile --optimize size`, `opt-level = \"s\"` and `lto = \"fat\"` make images smaller; `--flash` and `--ram` turn the board's limits into compile errors.")]
    TooLarge {
        /// The board's name.
        board: String,
        /// Sections of the part.
        section: String,
        /// Where it ends.
        end: u64,
        /// Bytes too many.
        over: u64,
        /// "flash" or "RAM".
        memory: &'static str,
    },
    /// A part of the image is where the board has no memory.
    #[error("the image is not for board `{board}`: {section} lies at {start:#010x}, where it has no memory: nothing was touched\n\
             Its flash is at {flash:#010x}: link with boards/{board}/memory.x, or name the board that the image is for.")]
    Elsewhere {
        /// The board's name.
        board: String,
        /// Sections of the part.
        section: String,
        /// Where it starts.
        start: u64,
        /// Where the board's flash is.
        flash: u64,
    },
    /// Nothing is plugged in.
    #[error("no debug probe found\n\
             Plug in the board's debug USB port or, for a board without a probe of its own (such as a Pico), a debug probe.\n\
             On Linux, udev rules let users open it: https://probe.rs/docs/getting-started/probe-setup/")]
    NoProbe,
    /// None of the probes is the one asked for.
    #[error("there is no debug probe `{asked}`; there are\n{present}")]
    OtherProbes {
        /// What `--probe` said.
        asked: String,
        /// A line for each probe.
        present: String,
    },
    /// More than one probe, and nobody said which.
    #[error("there are several debug probes: say which with `--probe SERIAL`\n{present}")]
    SeveralProbes {
        /// A line for each probe.
        present: String,
    },
    /// The probe is there, and cannot be used.
    #[error("cannot open the debug probe {probe}: {source}\n\
             Another program (a debugger, `probe-rs`, an IDE) may have it open; on Linux the user may lack the right to: https://probe.rs/docs/getting-started/probe-setup/")]
    Open {
        /// Which.
        probe: String,
        /// probe-rs's words.
        source: probe_rs::probe::DebugProbeError,
    },
    /// The chip does not answer.
    #[error(
        "the probe does not reach the {chip} of board `{board}`: {}\n\
             See that the board is powered, that the probe's wires are right, and that it is this board.",
        chain(source)
    )]
    Attach {
        /// The chip's name.
        chip: String,
        /// The board's name.
        board: String,
        /// probe-rs's words.
        source: Box<probe_rs::Error>,
    },
    /// The chip forbids debuggers.
    #[error(
        "the {chip} of board `{board}` is locked: it lets no debugger read or write its memory\n\
             `--unlock` erases the whole chip, firmware and settings, and unlocks it."
    )]
    Locked {
        /// The chip's name.
        chip: String,
        /// The board's name.
        board: String,
    },
    /// The chip says that it is another one.
    #[error("the chip is not the {chip} of board `{board}`: its part number at {address:#010x} is {found:#x}{}: nothing was touched", 
            looks_like(.other))]
    OtherChip {
        /// The chip expected.
        chip: String,
        /// The board's name.
        board: String,
        /// Where the part number is.
        address: u32,
        /// What it is.
        found: u32,
        /// Boards that have such a chip.
        other: Vec<String>,
    },
    /// Erasing, programming or verifying failed.
    #[error("{step} failed: {}\nThe board's flash is in an unknown state: flash it again. Lower `--speed` where wires are long.", chain(source))]
    Flash {
        /// What was being done.
        step: &'static str,
        /// probe-rs's words.
        source: Box<FlashError>,
    },
    /// An image that asks for a boot loader's format could not be made.
    #[error("cannot prepare the image: {}", chain(source))]
    Format {
        /// probe-rs's words.
        source: Box<probe_rs::flashing::FileDownloadError>,
    },
    /// The connection broke.
    #[error("lost the board while {doing}: {}", chain(source))]
    Lost {
        /// What was being done.
        doing: &'static str,
        /// probe-rs's words.
        source: Box<probe_rs::Error>,
    },
    /// The firmware stopped without saying so.
    #[error("the firmware stopped: {why}, at {place}")]
    Stopped {
        /// Why.
        why: String,
        /// Function and address.
        place: String,
    },
    /// The firmware did not end.
    #[error("the firmware did not end within {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// Log frames that are not what the ELF file says.
    #[error("cannot decode the firmware's defmt frames: {why}")]
    Log {
        /// The decoder's words.
        why: String,
    },
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string().trim_end_matches('.').to_owned();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {}", next.trim_end_matches('.'));
        }
        cause = error.source();
    }
    text
}

fn looks_like(boards: &[String]) -> String {
    match boards {
        [] => String::new(),
        boards => format!(", that of {}", boards.join(" or ")),
    }
}

/// Attaches the path to an I/O error.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    move |source| Error::Io { path, source }
}

/// Says what was being done when the connection broke.
pub(crate) fn lost(doing: &'static str) -> impl FnOnce(probe_rs::Error) -> Error {
    move |source| Error::Lost { doing, source: Box::new(source) }
}
