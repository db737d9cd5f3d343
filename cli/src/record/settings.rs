//! What is recorded, and labels as they are typed.

use super::clips::Cut;
use super::files::Shape;
use super::frames::{Frame, Kind};
use anyhow::{bail, ensure, Context, Result};
use std::path::PathBuf;
use std::time::Duration;

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
    pub(super) fn extension(self) -> &'static str {
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
    pub(super) fn of(&self, frame: &Frame) -> Result<(Shape, Cut)> {
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
