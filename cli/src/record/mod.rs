//! `cargo kiln record`: what a firmware's sensor says, as files with labels.
//!
//! `frames` finds frames in the bytes that come, `clips` cuts their samples, `files` writes. Threads read the firmware's output and the labels
//! that are typed; both go through one queue, so that a label counts from the samples that came before it.

mod clips;
mod files;
mod frames;
mod settings;
mod source;
mod status;

pub use settings::{label_of, script_of, Format, Settings};
pub use source::{OnBoard, Source};

use anyhow::{bail, Result};
use clips::{Cutter, Joined, Losses};
use files::{Files, Shape};
use frames::{Finder, Frame, Item};
use status::Status;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

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
    let ended = match recording.run(&events, wait, typed_ends, stop) {
        Ok(ended) => ended,
        Err(error) => {
            // Clips that are complete are worth having; the first error is what matters.
            let _ = recording.finish(None);
            return Err(error);
        }
    };
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
        // Ctrl-C ends the firmware as well: its status means nothing then.
        Ok(!stop.load(Ordering::Relaxed))
    }

    fn finish(mut self, status: Option<i32>) -> Result<Summary> {
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
                Item::Line(line) => self.status.say(&line),
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
            let mut script: Vec<(u64, Option<String>)> =
                self.settings.script.iter().map(|(from, label)| (bytes(*from), label.clone())).collect();
            if let Some(end) = self.settings.limit.map(bytes) {
                script.retain(|(from, _)| *from < end);
                script.push((end, None));
            }
            let cutter = Cutter::new(cut, shape.step(), self.label.clone(), script);
            self.stream = Some((frame.name.clone(), shape, cutter));
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
                self.lost(&format!("{} samples are missing at {place}", bytes.div_ceil(step)))
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

#[cfg(test)]
mod tests;
