//! `cargo kiln record`: what a firmware's sensor says, as files with labels.
//!
//! [`frames`] finds frames in the bytes that come, [`clips`] cuts their samples, [`files`] writes. Threads read the firmware's output and the labels
//! that are typed; both go through one queue, so that a label counts from the samples that came before it.

mod clips;
mod files;
mod frames;
mod source;

pub use source::{OnBoard, Source};

use anyhow::{bail, ensure, Context, Result};
use clips::{Cut, Cutter, Joined, Losses};
use files::{Files, Shape};
use frames::{Finder, Frame, Item, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Read, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// How clips become files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A recording each, 16-bit PCM.
    Wav,
    /// A picture each, 8 bits per colour.
    Png,
    /// All in one NumPy archive.
    Npz,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Wav => "wav",
            Format::Png => "png",
            Format::Npz => "npz",
        }
    }
}

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder for files.
    pub out: PathBuf,
    /// Their format.
    pub format: Format,
    /// The stream, if the firmware has several.
    pub stream: Option<String>,
    /// Samples of each channel in a second.
    pub rate: Option<u32>,
    /// Length of a clip; without it, labels alone cut.
    pub seconds: Option<f64>,
    /// Pixels of a line.
    pub width: Option<usize>,
    /// Lines of a picture.
    pub height: Option<usize>,
    /// Channels, instead of those that the firmware says.
    pub channels: Option<usize>,
    /// The label at the beginning.
    pub label: Option<String>,
    /// Labels from seconds of the stream on; none ends labelling.
    pub script: Vec<(f64, Option<String>)>,
    /// How long to wait for the first frame.
    pub wait: Option<Duration>,
    /// Seconds of the stream after which the recording ends.
    pub limit: Option<f64>,
}

impl Settings {
    /// WAV files in that folder; what is needed for them is not set.
    pub fn new(out: PathBuf) -> Settings {
        Settings {
            out,
            format: Format::Wav,
            stream: None,
            rate: None,
            seconds: None,
            width: None,
            height: None,
            channels: None,
            label: None,
            script: Vec::new(),
            wait: None,
            limit: None,
        }
    }

    /// Checks what can be checked before anything is built or started.
    ///
    /// # Errors
    /// Says which option is missing or wrong.
    pub fn check(&self) -> Result<()> {
        let is_picture = self.width.is_some() && self.height.is_some();
        let positive = |what: &str, number: Option<f64>| match number {
            Some(number) if !(number > 0.0 && number < 1e6) => {
                bail!("{what} {number}: give a number above 0")
            }
            _ => Ok(()),
        };
        positive("--seconds", self.seconds)?;
        positive("--for", self.limit)?;
        ensure!(self.rate != Some(0), "--rate 0: give the samples per second");
        ensure!(
            self.width.is_some() == self.height.is_some(),
            "pictures have a width and a height: give both, --width W --height H"
        );
        ensure!(
            self.width
                .zip(self.height)
                .is_none_or(|(w, h)| (1..=1 << 14).contains(&w) && (1..=1 << 14).contains(&h)),
            "a picture has 1 to 16384 pixels in each direction"
        );
        match self.format {
            Format::Wav if self.rate.is_none() => {
                bail!("a WAV file says how many samples a second has: give that of the firmware, as --rate 16000")
            }
            Format::Wav if is_picture => {
                bail!("pictures are no recordings: use --format png or --format npz")
            }
            Format::Png if !is_picture => {
                bail!("a stream does not say where a picture ends: give --width W --height H")
            }
            Format::Npz if !is_picture && (self.rate.is_none() || self.seconds.is_none()) => {
                bail!("the clips of an archive have one length: give --rate R --seconds S, or --width W --height H for pictures")
            }
            _ => {}
        }
        if is_picture && self.seconds.is_some() {
            bail!("pictures have no duration: leave out --seconds");
        }
        if (self.limit.is_some() || !self.script.is_empty()) && self.rate.is_none() {
            bail!("seconds are counted in samples: give --rate R");
        }
        if let Some(label) = &self.label {
            label_of(label)?;
        }
        Ok(())
    }

    /// What the elements of a stream are, and how it is cut.
    fn of(&self, frame: &Frame) -> Result<(Shape, Cut)> {
        let shape = Shape { kind: frame.kind, channels: self.channels.unwrap_or(frame.channels) };
        let kind = frame.kind.name();
        match (self.format, frame.kind) {
            (Format::Wav, Kind::I16) | (Format::Png, Kind::U8) | (Format::Npz, _) => {}
            (Format::Wav, _) => bail!(
                "the stream `{}` has blocks of {kind}; WAV files have 16-bit samples\n    help: record i16, or use --format npz",
                frame.name
            ),
            (Format::Png, _) => bail!(
                "the stream `{}` has blocks of {kind}; PNG files have bytes\n    help: record u8, or use --format npz",
                frame.name
            ),
        }
        if self.format == Format::Png && ![1, 3].contains(&shape.channels) {
            bail!(
                "the stream `{}` has {} channels; a PNG file is gray (1) or red, green and blue (3)\n    help: say so in the firmware, kiln::record!(…, channels = 3), or use --channels",
                frame.name,
                shape.channels
            );
        }
        let cut = match (self.width.zip(self.height), self.seconds) {
            (Some((width, height)), _) => Cut::Pictures(width * height * shape.step()),
            (None, Some(seconds)) => {
                let samples = (seconds * f64::from(self.rate.unwrap_or(0))).round() as usize;
                let bytes = samples.checked_mul(shape.step()).filter(|bytes| (1..=1 << 30).contains(bytes));
                Cut::Pieces(bytes.with_context(|| {
                    format!("--seconds {seconds}: a clip of {samples} samples is too short or too long")
                })?)
            }
            (None, None) => Cut::Labels,
        };
        Ok((shape, cut))
    }
}

/// The label in what was typed; none for a blank line.
///
/// # Errors
/// Where it can be no name of a folder.
pub fn label_of(text: &str) -> Result<Option<String>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let bad = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    if text.starts_with('.') || text.ends_with('.') || text.contains(bad) || text.len() > 100 {
        bail!("`{text}` is no label: it becomes the name of a folder");
    }
    Ok(Some(text.to_owned()))
}

/// Reads labels with the seconds of the stream from which they hold: a line each, `1.5 yes`; a line `3` ends labelling.
///
/// # Errors
/// Says which line is wrong.
pub fn script_of(text: &str) -> Result<Vec<(f64, Option<String>)>> {
    let mut script: Vec<(f64, Option<String>)> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("line {}: `{}`", index + 1, line.trim());
        let (seconds, label) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let seconds = seconds.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
        let seconds = seconds.with_context(|| format!("{}: a line is `SECONDS LABEL`", place()))?;
        if script.last().is_some_and(|(last, _)| *last > seconds) {
            bail!("{}: it comes before the line above", place());
        }
        script.push((seconds, label_of(label).with_context(place)?));
    }
    Ok(script)
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Clips by label.
    pub clips: BTreeMap<String, usize>,
    /// Samples of each channel that went by, with those that are missing.
    pub samples: u64,
    /// Samples of each channel that are missing.
    pub missing: u64,
    /// Places where they are.
    pub gaps: usize,
    /// How often the firmware has begun anew.
    pub restarts: usize,
    /// Frames with a wrong checksum, or cut.
    pub damaged: usize,
    /// Clips that a gap has cut, which are not kept.
    pub dropped: usize,
    /// Clips whose label ended too early, which are not kept.
    pub unfinished: usize,
    /// The archive, and its classes in order.
    pub archive: Option<(PathBuf, Vec<String>)>,
    /// The exit status of the firmware, if it is no success.
    pub status: Option<i32>,
}

impl Summary {
    /// What a person wants to know of it.
    pub fn text(&self, settings: &Settings) -> String {
        let mut text = String::new();
        let count = |n: usize| if n == 1 { "1 clip".to_owned() } else { format!("{n} clips") };
        for (label, &clips) in &self.clips {
            let _ = writeln!(text, "{label}: {}", count(clips));
        }
        if self.clips.is_empty() {
            text += "no clips\n";
        }
        let length = match settings.rate {
            Some(rate) => format!("{:.3} s", self.samples as f64 / f64::from(rate)),
            None => format!("{} samples of each channel", self.samples),
        };
        let _ = writeln!(text, "length of the stream: {length}");
        if self.gaps + self.restarts + self.damaged == 0 {
            text += "losses: none\n";
        } else {
            let _ = writeln!(
                text,
                "losses: {} samples missing in {} places, {} damaged frames, {} restarts; {} not kept for it",
                self.missing,
                self.gaps,
                self.damaged,
                self.restarts,
                count(self.dropped)
            );
        }
        if self.unfinished > 0 {
            let _ =
                writeln!(text, "incomplete when their label ended, and not kept: {}", count(self.unfinished));
        }
        if let Some((path, classes)) = &self.archive {
            let _ = writeln!(text, "{}: x, and y with the classes {}", path.display(), classes.join(","));
        }
        text
    }
}

/// What happens.
enum Event {
    /// Bytes of a reader.
    Bytes(usize, Vec<u8>),
    /// A reader has no more.
    Ended,
    /// A line was typed.
    Typed(String),
    /// Nothing more will be typed.
    TypedAll,
}

/// Records until the source ends, or nothing more is to be recorded.
///
/// `typed`: lines of labels; with `typed_ends` the end of them ends the recording. `stop` ends it as well.
///
/// # Errors
/// Where no frame comes, a stream does not fit the format, or a file cannot be written.
pub fn record(
    source: Source,
    settings: &Settings,
    typed: Option<Box<dyn BufRead + Send>>,
    typed_ends: bool,
    stop: &AtomicBool,
) -> Result<Summary> {
    settings.check()?;
    let Source { readers, mut children, patience } = source;
    let wait = settings.wait.unwrap_or(patience);
    // So few that a label is no more than some blocks late.
    let (sender, events) = sync_channel(16);
    let mut recording = Recording::new(settings, readers.len());
    for (index, reader) in readers.into_iter().enumerate() {
        let sender = sender.clone();
        thread::spawn(move || read(index, reader, &sender));
    }
    if let Some(typed) = typed {
        thread::spawn(move || read_lines(typed, &sender));
    }
    let ended = recording.run(&events, wait, typed_ends, stop)?;
    let status = if ended { children.wait() } else { None };
    drop(children);
    recording.finish(status)
}

fn read(index: usize, mut reader: Box<dyn Read + Send>, events: &SyncSender<Event>) {
    let mut bytes = [0; 4096];
    loop {
        match reader.read(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // A device that is gone has no more, either.
            Ok(0) | Err(_) => break,
            Ok(count) => {
                let bytes = bytes.get(..count).unwrap_or_default().to_vec();
                if events.send(Event::Bytes(index, bytes)).is_err() {
                    return;
                }
            }
        }
    }
    let _ = events.send(Event::Ended);
}

fn read_lines(typed: Box<dyn BufRead + Send>, events: &SyncSender<Event>) {
    for line in typed.lines().map_while(Result::ok) {
        if events.send(Event::Typed(line)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::TypedAll);
}

/// A recording under way.
struct Recording<'s> {
    settings: &'s Settings,
    finders: Vec<Finder>,
    files: Files,
    /// The stream that is recorded, once its first frame is there.
    stream: Option<(String, Shape, Cutter)>,
    /// The label until then.
    label: Option<String>,
    /// Streams that are not recorded.
    others: BTreeSet<String>,
    clips: BTreeMap<String, usize>,
    damaged: usize,
    /// Lines that the firmware has printed.
    lines: usize,
    /// Losses that were told about.
    told: usize,
    status: Status,
}

/// More losses than that are only counted.
const MOST_TOLD: usize = 20;

impl<'s> Recording<'s> {
    fn new(settings: &'s Settings, readers: usize) -> Self {
        Recording {
            settings,
            finders: (0..readers).map(|_| Finder::default()).collect(),
            files: Files::new(settings),
            stream: None,
            label: settings.label.as_deref().and_then(|label| label_of(label).ok().flatten()),
            others: BTreeSet::new(),
            clips: BTreeMap::new(),
            damaged: 0,
            lines: 0,
            told: 0,
            status: Status::new(),
        }
    }

    /// Until there is nothing more; whether that is because all readers have ended.
    fn run(
        &mut self,
        events: &Receiver<Event>,
        wait: Duration,
        typed_ends: bool,
        stop: &AtomicBool,
    ) -> Result<bool> {
        let started = Instant::now();
        let mut reading = self.finders.len();
        while reading > 0 {
            if stop.load(Ordering::Relaxed) || self.is_long_enough() {
                return Ok(false);
            }
            if self.stream.is_none() && started.elapsed() > wait {
                bail!(self.nothing(&format!("no frame came within {} s", wait.as_secs())));
            }
            match events.recv_timeout(Duration::from_millis(100)) {
                Ok(Event::Bytes(index, bytes)) => {
                    if let Some(finder) = self.finders.get_mut(index) {
                        finder.push(&bytes);
                    }
                    self.take(index)?;
                }
                Ok(Event::Ended) => reading -= 1,
                Ok(Event::Typed(line)) => self.typed(&line)?,
                Ok(Event::TypedAll) if typed_ends => return Ok(false),
                Ok(Event::TypedAll) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let text = self.progress();
            self.status.show(&text);
        }
        for index in 0..self.finders.len() {
            if let Some(finder) = self.finders.get_mut(index) {
                finder.end();
            }
            self.take(index)?;
        }
        Ok(true)
    }

    fn finish(mut self, status: Option<i32>) -> Result<Summary> {
        if self.stream.is_none()
            && status.is_none()
            && self.others.is_empty()
            && self.damaged == 0
            && self.lines == 0
        {
            bail!(self.nothing("no frame came"));
        }
        if self.stream.is_none() {
            bail!(self.nothing(&match status {
                Some(status) => format!("no frame came: the firmware ended with status {status}"),
                None => "no frame came".to_owned(),
            }));
        }
        if let Some((_, _, cutter)) = &mut self.stream {
            cutter.finish();
        }
        self.write()?;
        let shape = self.stream.as_ref().map(|(_, shape, _)| *shape);
        let archive = self.files.finish(shape)?;
        let (losses, passed) = match &self.stream {
            Some((_, _, cutter)) => (cutter.losses, cutter.passed()),
            None => (Losses::default(), 0),
        };
        let step = shape.map_or(1, Shape::step) as u64;
        Ok(Summary {
            clips: std::mem::take(&mut self.clips),
            samples: passed / step,
            missing: losses.missing / step,
            gaps: losses.gaps,
            restarts: losses.restarts,
            damaged: self.damaged,
            dropped: losses.dropped,
            unfinished: losses.unfinished,
            archive,
            status,
        })
    }

    /// Why there is nothing, and what to do.
    fn nothing(&self, what: &str) -> String {
        let mut text = what.to_owned();
        if !self.others.is_empty() {
            let names: Vec<&str> = self.others.iter().map(String::as_str).collect();
            let _ = write!(text, " of the stream that was asked for; there are `{}`", names.join("`, `"));
        }
        if self.damaged > 0 {
            let _ = write!(
                text,
                "; {} damaged ones did: bytes are lost on the way, or others write to the same channel",
                self.damaged
            );
        }
        text + "\n    help: the firmware calls kiln::record!(send, \"mic\", &samples), where `send` writes bytes to a channel of RTT, a UART or semihosting: docs/record.md"
    }

    /// What a finder has found.
    fn take(&mut self, index: usize) -> Result<()> {
        while let Some(item) = self.finders.get_mut(index).and_then(Finder::next) {
            match item {
                Item::Frame(frame) => self.frame(&frame)?,
                Item::Damaged => {
                    self.damaged += 1;
                    self.lost("a damaged frame");
                }
                Item::Line(line) => {
                    self.lines += 1;
                    self.status.say(&line);
                }
            }
        }
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<()> {
        let wanted = match (&self.stream, &self.settings.stream) {
            (Some((name, ..)), _) | (None, Some(name)) => *name == frame.name,
            (None, None) => true,
        };
        if !wanted {
            // Who asks for one does not want to hear of others.
            if self.others.insert(frame.name.clone()) && self.settings.stream.is_none() {
                self.status
                    .say(&format!("kiln: the stream `{0}` is not recorded: --stream {0} does", frame.name));
            }
            return Ok(());
        }
        if self.stream.is_none() {
            let (shape, cut) = self.settings.of(frame)?;
            let bytes = |seconds: f64| {
                (seconds * f64::from(self.settings.rate.unwrap_or(0))).round() as u64 * shape.step() as u64
            };
            let script =
                self.settings.script.iter().map(|(from, label)| (bytes(*from), label.clone())).collect();
            self.stream = Some((frame.name.clone(), shape, Cutter::new(cut, self.label.clone(), script)));
        }
        let Some((name, shape, cutter)) = &mut self.stream else { return Ok(()) };
        let channels = self.settings.channels.unwrap_or(frame.channels);
        if (frame.kind, channels) != (shape.kind, shape.channels) {
            bail!(
                "the stream `{name}` had blocks of {} in {} channels, and now has {} in {}\n    help: each kiln::record! has a name of its own",
                shape.kind.name(),
                shape.channels,
                frame.kind.name(),
                channels
            );
        }
        let (before, step) = (cutter.passed(), shape.step() as u64);
        let joined = cutter.push(frame);
        let place = match self.settings.rate {
            Some(rate) => format!("{:.3} s", before as f64 / step as f64 / f64::from(rate)),
            None => format!("sample {}", before / step),
        };
        match joined {
            Joined::Follows => {}
            Joined::Gap(bytes) => {
                self.lost(&format!("{} samples are missing at {place}", bytes as f64 / step as f64))
            }
            Joined::Restart => self.lost(&format!("the firmware begins anew at {place}")),
        }
        self.write()
    }

    /// Tells about a loss; what a label has of samples on both sides of it is in no clip.
    fn lost(&mut self, what: &str) {
        self.told += 1;
        if self.told <= MOST_TOLD {
            self.status.say(&format!("kiln: lost: {what}"));
        }
        if self.told == MOST_TOLD {
            self.status.say("kiln: further losses are only counted");
        }
    }

    /// Writes clips that are complete.
    fn write(&mut self) -> Result<()> {
        let Some((_, shape, cutter)) = &mut self.stream else { return Ok(()) };
        for clip in std::mem::take(&mut cutter.done) {
            *self.clips.entry(clip.label.clone()).or_default() += 1;
            self.files.add(clip, *shape)?;
        }
        Ok(())
    }

    fn typed(&mut self, line: &str) -> Result<()> {
        let label = match label_of(line) {
            Ok(label) => label,
            // What follows is not of the label before, whatever it is.
            Err(error) => {
                self.status.say(&format!("kiln: {error}"));
                None
            }
        };
        self.status.say(&match &label {
            Some(label) => format!("kiln: label `{label}`"),
            None => "kiln: no label: nothing is kept".to_owned(),
        });
        match &mut self.stream {
            Some((_, _, cutter)) => cutter.set_label(label),
            None => self.label = label,
        }
        self.write()
    }

    fn seconds(&self) -> Option<f64> {
        let (_, shape, cutter) = self.stream.as_ref()?;
        Some(cutter.passed() as f64 / shape.step() as f64 / f64::from(self.settings.rate?))
    }

    fn is_long_enough(&self) -> bool {
        self.settings.limit.zip(self.seconds()).is_some_and(|(limit, seconds)| seconds >= limit)
    }

    fn progress(&self) -> String {
        let Some((_, shape, cutter)) = &self.stream else { return "waiting for the first frame".to_owned() };
        let mut text = match self.seconds() {
            Some(seconds) => format!("{seconds:.1} s"),
            None => format!("{} samples", cutter.passed() / shape.step() as u64),
        };
        let _ = match cutter.label() {
            Some(label) => write!(text, ", label `{label}`"),
            None => write!(text, ", no label (type one, and Enter)"),
        };
        for (label, clips) in &self.clips {
            let _ = write!(text, "; {label}: {clips}");
        }
        let lost = cutter.losses.gaps + cutter.losses.restarts + self.damaged;
        if lost > 0 {
            let _ = write!(text, "; losses: {lost}");
        }
        text
    }
}

/// A line on standard error, where that is a terminal, above the one in which labels are typed.
struct Status {
    is_terminal: bool,
    shown: String,
    at: Option<Instant>,
}

impl Status {
    fn new() -> Status {
        Status { is_terminal: std::io::stderr().is_terminal(), shown: String::new(), at: None }
    }

    fn show(&mut self, text: &str) {
        let is_early = self.at.is_some_and(|at| at.elapsed() < Duration::from_millis(300));
        if !self.is_terminal || is_early || text == self.shown {
            return;
        }
        let mut error = std::io::stderr();
        // The cursor goes back to where somebody may be typing.
        let room = if self.at.is_none() { "\n" } else { "" };
        let _ = write!(error, "{room}\x1b7\x1b[1A\r\x1b[K{text}\x1b8");
        let _ = error.flush();
        self.shown = text.to_owned();
        self.at = Some(Instant::now());
    }

    /// A line that stays.
    fn say(&mut self, line: &str) {
        let start = if self.is_terminal { "\r\x1b[K" } else { "" };
        // A new line for the status follows.
        let _ = writeln!(std::io::stderr(), "{start}{line}");
        self.shown.clear();
        self.at = None;
    }
}

#[cfg(test)]
mod tests;
