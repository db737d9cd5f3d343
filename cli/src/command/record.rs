//! `cargo kiln record`.

use anyhow::{bail, Context, Result};
use cargo_kiln::record::{record, script_of, Format, OnBoard, Settings, Source};
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{stderr, stdin, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) const EXAMPLES: &str = "\
The firmware calls kiln::record!(send, \"mic\", &samples) for each block; `send` writes bytes to a channel of RTT, a UART, semihosting or defmt (docs/record.md).

Type a label and Enter: from now on, samples belong to it. A blank line ends that: nothing is kept until the next label. Ctrl-D or Ctrl-C ends the recording. \
Clips are OUT/LABEL/0001.wav and so on, as `cargo kiln eval` reads them. Existing files stay: numbers go on. A clip in which samples are missing is not kept, and said.

Examples:
  cargo kiln record --board nrf52840-dk --out clips --rate 16000 --seconds 1
      The package in this folder is built, flashed and started; WAV files of one second
  cargo kiln record --board qemu-cortex-m4 --elf app --out clips --rate 16000 --label noise
      One WAV file from a label to the next
  cat /dev/ttyACM0 | cargo kiln record --from - --out faces --format png --width 96 --height 96
  cargo kiln record --from log.bin --out set --format npz --rate 100 --seconds 2 --labels labels.txt
      With labels from a file: lines such as `1.5 walking`";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The board with the firmware: `cargo kiln boards` lists them
    #[arg(long, value_parser = cargo_kiln::boards::any(), hide_possible_values = true, required_unless_present = "from")]
    board: Option<String>,
    /// The ELF file [default: the package in this folder, built with `cargo build --release`]
    #[arg(long, conflicts_with = "from")]
    elf: Option<PathBuf>,
    /// The program, if the package has several
    #[arg(long, value_name = "NAME", conflicts_with_all = ["elf", "from"])]
    bin: Option<String>,
    /// Serial number of the debug probe, if there are several
    #[arg(long, value_name = "SERIAL", conflicts_with = "from")]
    probe: Option<String>,
    /// Clock of the debug port in kHz, if the probe's own choice is too fast
    #[arg(long, value_name = "KHZ", conflicts_with = "from")]
    speed: Option<u32>,
    /// Read a file or a device instead, or standard input (`-`)
    #[arg(long, value_name = "FILE", conflicts_with = "board")]
    from: Option<PathBuf>,
    /// The folder for files
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// What clips become
    #[arg(long, value_enum, default_value = "wav")]
    format: Kind,
    /// The stream, if the firmware has several [default: the first one that is seen]
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// Samples of each channel in a second
    #[arg(long)]
    rate: Option<u32>,
    /// Length of a clip [default: a clip lasts until the next label]
    #[arg(long)]
    seconds: Option<f64>,
    /// Pixels of a line
    #[arg(long)]
    width: Option<usize>,
    /// Lines of a picture
    #[arg(long)]
    height: Option<usize>,
    /// Channels, instead of those that the firmware says
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..))]
    channels: Option<u8>,
    /// The label at the beginning
    #[arg(long)]
    label: Option<String>,
    /// A file of labels: lines `SECONDS LABEL`, from the first sample on; without a label, nothing is kept
    #[arg(long, value_name = "FILE", conflicts_with = "label")]
    labels: Option<PathBuf>,
    /// End after so many seconds of samples
    #[arg(long = "for", value_name = "SECONDS")]
    limit: Option<f64>,
    /// How long to wait for the first frame [default: 10, with a debug probe 120]
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// A recording each, 16-bit PCM: blocks of i16
    Wav,
    /// A picture each: blocks of u8
    Png,
    /// All clips in one NumPy archive: x and y
    Npz,
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

impl Arguments {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let script = match &self.labels {
            Some(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.with_context(|| format!("cannot read `{}`", path.display()))?;
                script_of(&text).with_context(|| format!("`{}`", path.display()))?
            }
            None => Vec::new(),
        };
        let settings = Settings {
            out: self.out,
            format: match self.format {
                Kind::Wav => Format::Wav,
                Kind::Png => Format::Png,
                Kind::Npz => Format::Npz,
            },
            stream: self.stream,
            rate: self.rate,
            seconds: self.seconds,
            width: self.width,
            height: self.height,
            channels: self.channels.map(usize::from),
            label: self.label,
            script,
            wait: self.wait.map(Duration::from_secs),
            limit: self.limit,
        };
        // Before anything is built or flashed.
        settings.check()?;
        let reads_stdin = self.from.as_deref().is_some_and(|from| from.as_os_str() == "-");
        let source = match (self.board, &self.from) {
            (_, Some(from)) => Source::open(from)?,
            (Some(board), None) => {
                let Self { elf, bin, probe, speed, .. } = self;
                Source::run(&OnBoard { board, elf, bin, probe, speed })?
            }
            (None, None) => bail!("say where samples come from: --board BOARD or --from FILE"),
        };
        // A second Ctrl-C ends at once.
        let ended = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        ended.context("cannot catch Ctrl-C")?;
        // Where samples come from standard input, labels are typed at the terminal, if there is one.
        let (typed, is_terminal): (Option<Box<dyn BufRead + Send>>, bool) = match reads_stdin {
            false => (Some(Box::new(BufReader::new(stdin()))), stdin().is_terminal()),
            true if stderr().is_terminal() => match File::open("/dev/tty") {
                Ok(terminal) => (Some(Box::new(BufReader::new(terminal))), true),
                Err(_) => (None, false),
            },
            true => (None, false),
        };
        let summary = record(source, &settings, typed, is_terminal, &STOP)?;
        say!("{}", summary.text(&settings));
        if let Some(status) = summary.status {
            eprintln!("kiln: the firmware ended with status {status}");
        }
        Ok(super::answer::status(summary.status.is_none()))
    }
}
