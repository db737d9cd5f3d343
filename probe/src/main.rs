//! `cargo-kiln-probe`: what `cargo kiln` starts where a board is real.

use clap::{Args, Parser, Subcommand};
use kiln_boards::Board;
use kiln_probe::progress::Bars;
use kiln_probe::{
    attach, decode_all, flash, reset, run, select, Apart, Chip, Error, Image, Options, Plan, Unlock,
};
use probe_rs::probe::list::Lister;
use probe_rs::Session;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Firmware on real boards, over a debug probe
///
/// `cargo kiln flash`, `run`, `validate` and `bench` start this program. Firmware's output is on standard output, everything else on standard
/// error. The exit status is that of the firmware, or 1 where it did not run or did not end.
#[derive(Parser)]
#[command(name = "cargo-kiln-probe", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write an image to a board and start it
    Flash {
        #[command(flatten)]
        image: ImageArgs,
    },
    /// Write an image to a board, start it, print what it says, and end with its status
    Run {
        #[command(flatten)]
        image: ImageArgs,
        /// Files that the firmware may read and write by semihosting
        #[arg(long, value_name = "FOLDER")]
        files: Option<PathBuf>,
        /// The longest it may take
        #[arg(long, value_name = "SECONDS")]
        limit: Option<u64>,
        /// Print only what the RTT channel `kiln` has, if the firmware has that channel; all other output is on standard error
        #[arg(long)]
        apart: bool,
    },
    /// Print what defmt frames on standard input say
    Decode {
        /// The ELF file that they are of
        elf: PathBuf,
    },
}

#[derive(Args)]
struct ImageArgs {
    /// The ELF file
    elf: PathBuf,
    /// The board
    #[arg(long)]
    board: String,
    /// Serial number of the debug probe, where there are several; or VID:PID, or VID:PID:SERIAL
    #[arg(long, value_name = "SERIAL")]
    probe: Option<String>,
    /// Clock of the debug port in kHz, where the probe's own choice is too fast
    #[arg(long, value_name = "KHZ")]
    speed: Option<u32>,
    /// Unlock a locked chip, which erases everything on it
    #[arg(long)]
    unlock: bool,
    /// Say what would be done, and do not look for a probe
    #[arg(long)]
    dry_run: bool,
}

fn main() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> Result<u8, Box<dyn std::error::Error>> {
    match command {
        Command::Flash { image } => {
            if let Some(mut ready) = image.flash()? {
                reset(&mut ready.session, |event| ready.bars.show(event))?;
            }
            Ok(0)
        }
        Command::Run { image, files, limit, apart } => {
            let Some(mut ready) = image.flash()? else { return Ok(0) };
            let apart = apart.then_some(Apart { channel: "kiln", others: print_error });
            let options = Options { files, limit: limit.map(Duration::from_secs), apart };
            let status = run(&mut ready.session, &ready.image, &options, print)?;
            // A status that does not fit is still no success.
            Ok(u8::try_from(status).unwrap_or(u8::MAX))
        }
        Command::Decode { elf } => {
            decode_all(&Image::read(&elf)?, std::io::stdin().lock(), print)?;
            Ok(0)
        }
    }
}

/// Prints what firmware says. Where standard output is closed, its status is still worth having.
fn print(bytes: &[u8]) {
    let mut out = std::io::stdout();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Prints what is for a person while a program reads standard output.
fn print_error(bytes: &[u8]) {
    let _ = std::io::stderr().write_all(bytes);
}

/// A board with its image in flash.
struct Ready {
    session: Session,
    image: Image,
    bars: Bars,
}

impl ImageArgs {
    /// Checks everything that can be checked, then opens the probe and writes the image; `None` where that was not asked for.
    fn flash(&self) -> Result<Option<Ready>, Box<dyn std::error::Error>> {
        let board = Board::find(&self.board)?;
        let chip = Chip::of(board)?;
        let image = Image::read(&self.elf)?;
        let plan = Plan::new(board, &chip, &image)?;
        eprintln!("{plan}");
        if self.dry_run {
            plan.parts.iter().for_each(|part| eprintln!("  {part}"));
            return Ok(None);
        }
        let mut session = self.attach(board, &chip, true)?;
        let mut bars = Bars::default();
        flash(&mut session, &image, |event| bars.show(event))?;
        if chip.flash_target.name != chip.target.name {
            drop(session);
            session = self.attach(board, &chip, false)?;
        }
        Ok(Some(Ready { session, image, bars }))
    }

    fn attach(&self, board: &Board, chip: &Chip, to_flash: bool) -> Result<Session, Error> {
        let mut probe = select(&Lister::new(), self.probe.as_deref())?;
        if let Some(speed) = self.speed {
            let name = probe.get_name();
            probe.set_speed(speed).map_err(|source| Error::Open { probe: name, source })?;
        }
        let unlock = if self.unlock { Unlock::EraseAll } else { Unlock::No };
        let target = if to_flash { &chip.flash_target } else { &chip.target };
        attach(probe, board, chip, target, unlock)
    }
}
