//! Audio features of samples, equal to those of the package that a model was trained with.
//!
//! A description ([`Keys`]) becomes a [`Features`], in which everything is decided. Its graph computes the features of one frame of samples, and is compiled as any model is. How frames follow each
//! other in a stream is said by [`Features::length`], [`Features::hop`] and [`Features::start`].
//!
//! The place of a window within its transform changes only phases, which no feature has. So a frame has no more samples than the window, and the window begins with the transform.
//!
//! | file | content |
//! |---|---|
//! | `keys.rs` | what users write |
//! | `like.rs` | defaults of the packages |
//! | `filters.rs` | windows, waves, mel filters, cosine transforms |
//! | `graph.rs` | the graph of frames |
//! | `pcen.rs` | bands divided by their average |
//! | `deltas.rs` | how features change from frame to frame |
//! | `fixed.rs` | the same in 16 bits: fixed point with block scaling |
//! | `tflm.rs` | those of TensorFlow Lite's front ends, in integers |
//! | `front.rs` | the option `features`: samples become the input of a model |

mod deltas;
mod filters;
mod fixed;
mod front;
mod graph;
mod keys;
mod like;
mod pcen;
#[cfg(test)]
mod tests;
mod tflm;

pub use keys::Keys;
pub use like::Like;

use deltas::Deltas;
use filters::Mel;
use keys::problem;
use kiln_ir::error::Error;
use kiln_ir::DType;
use pcen::Pcen;
use tflm::Tflm;

/// What the first frame of a stream begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// So many zeros in front of the first sample.
    Zeros(usize),
    /// So many samples, which mirror those behind the first one.
    Mirrored(usize),
    /// The sample behind so many that no frame has.
    Skipped(usize),
}

/// Features in which everything is decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    like: Like,
    rate: usize,
    samples: DType,
    full_scale: f64,
    n_fft: usize,
    win_length: usize,
    hop: usize,
    start: Start,
    /// A factor of each sample of a window.
    window: Vec<f64>,
    remove_dc: bool,
    preemphasis: f64,
    power: usize,
    /// Bands of mel; `None` where frequencies are the features.
    mel: Option<Mel>,
    log: Option<Log>,
    /// In place of logarithms.
    pcen: Option<Pcen>,
    mfcc: Option<Mfcc>,
    /// Whether the energy of a frame is a feature, too.
    energy: bool,
    deltas: Option<Deltas>,
    /// Whether spectra and bands are computed in fixed point.
    fixed: bool,
    /// A front end of integers, of which the fields from `full_scale` on say nothing but lengths and where frames are.
    tflm: Option<Tflm>,
}

/// factor · ln(max(x + offset, floor)).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Log {
    factor: f64,
    offset: f64,
    floor: f64,
}

/// A cosine transform of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mfcc {
    count: usize,
    lifter: f64,
}

impl Features {
    /// Decides what a description leaves open.
    ///
    /// # Errors
    /// [`Error::Options`] at the key that is missing or does not fit.
    pub fn of(keys: &Keys) -> Result<Features, Error> {
        let like = keys.word("like").and_then(Like::of).ok_or_else(|| {
            problem("like", "it is missing", format!("say whose features these are: {}", quoted(Like::NAMES)))
        })?;
        let rate = keys.count("sample_rate").ok_or_else(|| {
            problem("sample_rate", "it is missing", "say how many samples a second has: sample_rate = 16_000")
        })?;
        if like.is_integer() {
            return tflm::of(keys, like, rate);
        }
        if let Some(key) = tflm::KEYS.into_iter().find(|key| keys.has(key)) {
            return Err(problem(
                key,
                &format!("{} has no such key", like.name()),
                "leave it out, or say like = \"microfrontend\"",
            ));
        }
        let samples = if keys.word("samples") == Some("f32") { DType::F32 } else { DType::I16 };
        if samples == DType::F32 && keys.has("full_scale") {
            let what = "samples of f32 are taken as they are";
            return Err(problem("full_scale", what, "leave it out, or take samples = \"i16\""));
        }
        let (n_fft, win_length) = transform(keys, like, rate)?;
        let missing = |key| {
            move || {
                let what = format!("it is missing, and {} has no default", like.name());
                problem(key, &what, format!("say how many samples it has: {key} = 160"))
            }
        };
        let output = keys.word("output").unwrap_or(if keys.has("n_mfcc") { "mfcc" } else { "mel" });
        let hop = keys
            .count("hop")
            .or(like.hop(rate, win_length, output))
            .filter(|&hop| hop > 0)
            .ok_or_else(missing("hop"))?;
        let log = logarithm(keys, like);
        let mel = bands(keys, like, rate, n_fft, output)?;
        let features = Features {
            like,
            rate,
            samples,
            full_scale: keys.real("full_scale").unwrap_or(like.full_scale()),
            n_fft,
            win_length,
            hop,
            start: start(keys, like, n_fft, win_length)?,
            window: window(keys, like, n_fft, win_length)?,
            remove_dc: keys.flag("remove_dc").unwrap_or(like == Like::Kaldi),
            preemphasis: keys.real("preemphasis").unwrap_or(like.preemphasis()),
            power: keys.count("power").unwrap_or(like.power()),
            log: log(output)?,
            pcen: pcen::of(keys, rate, hop)?,
            mfcc: cepstrum(keys, like, output, mel.as_ref())?,
            mel,
            energy: energy(keys, like, output)?,
            deltas: deltas::of(keys, like)?,
            fixed: keys.word("arithmetic") == Some("fixed"),
            tflm: None,
        };
        fixed::check(keys, &features)?;
        Ok(features)
    }

    /// The package whose features these are.
    pub fn like(&self) -> Like {
        self.like
    }

    /// Samples a second.
    pub fn sample_rate(&self) -> usize {
        self.rate
    }

    /// The type of samples.
    pub fn samples(&self) -> DType {
        self.samples
    }

    /// The type of features.
    pub fn values(&self) -> DType {
        self.tflm.as_ref().map_or(DType::F32, |tflm| tflm.values)
    }

    /// Samples from a frame to the next.
    pub fn hop(&self) -> usize {
        self.hop
    }

    /// Samples of a frame: those of the window, with the one before where pre-emphasis goes on from frame to frame.
    pub fn length(&self) -> usize {
        self.win_length + usize::from(self.takes_sample_before())
    }

    /// What stands in front of the first sample.
    pub fn start(&self) -> Start {
        self.start
    }

    /// Frames that come behind a frame before its features are known.
    pub fn delay(&self) -> usize {
        self.deltas.as_ref().map_or(0, Deltas::delay)
    }

    /// Features of a frame.
    pub fn count(&self) -> usize {
        self.own() * self.deltas.as_ref().map_or(1, Deltas::times)
    }

    /// The same without deltas.
    fn own(&self) -> usize {
        if let Some(tflm) = &self.tflm {
            return tflm.channels;
        }
        let bands = self.mel.as_ref().map_or(self.n_fft / 2 + 1, |mel| mel.bands);
        match &self.mfcc {
            Some(mfcc) => mfcc.count,
            None => bands + usize::from(self.energy),
        }
    }

    /// Whether pre-emphasis is that of the whole signal, and not of each frame.
    fn takes_sample_before(&self) -> bool {
        self.preemphasis > 0.0 && self.like != Like::Kaldi
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

/// Lengths of transform and window.
fn transform(keys: &Keys, like: Like, rate: usize) -> Result<(usize, usize), Error> {
    let n_fft = keys.count("n_fft");
    let given = keys.count("win_length").or(like.win_length(rate, n_fft));
    let Some(win_length) = given else {
        let what = format!("it is missing, and {} has no default (there it is frame_length)", like.name());
        return Err(problem("win_length", &what, "say how many samples a window has: win_length = 400"));
    };
    let n_fft = n_fft.unwrap_or(like.n_fft(win_length));
    let key = if keys.has("n_fft") { "n_fft" } else { "win_length" };
    if !(4..=keys::MOST_SAMPLES).contains(&n_fft) || n_fft % 2 == 1 {
        let what = format!("it makes a transform of {n_fft} samples");
        return Err(problem(
            key,
            &what,
            format!("transforms have an even number of samples, from 4 to {}", keys::MOST_SAMPLES),
        ));
    }
    if win_length < 2 || win_length > n_fft {
        let key = if keys.has("win_length") { "win_length" } else { key };
        let what = format!("windows have {win_length} samples, transforms {n_fft}");
        return Err(problem(key, &what, "a window has at least 2 samples, and not more than the transform"));
    }
    Ok((n_fft, win_length))
}

/// What streams begin with.
fn start(keys: &Keys, like: Like, n_fft: usize, win_length: usize) -> Result<Start, Error> {
    if !like.has_centres() {
        for key in ["center", "pad_mode"] {
            if keys.has(key) && keys.flag(key) != Some(false) {
                let what = format!("{} has no centred frames", like.name());
                return Err(problem(key, &what, "leave it out"));
            }
        }
    }
    let preemphasis = keys.real("preemphasis").unwrap_or(like.preemphasis());
    // Pre-emphasis over frames reads the sample in front of each.
    let before = usize::from(preemphasis > 0.0 && like != Like::Kaldi);
    let aside = if like.has_centres() { (n_fft - win_length) / 2 } else { 0 };
    if !keys.flag("center").unwrap_or(like.has_centres()) {
        if keys.has("pad_mode") {
            let what = "without `center`, nothing is padded";
            return Err(problem("pad_mode", what, "leave it out, or say center = true"));
        }
        return Ok(match aside.checked_sub(before) {
            Some(skipped) => Start::Skipped(skipped),
            None => Start::Zeros(before - aside),
        });
    }
    let padding = n_fft / 2 - aside;
    if keys.word("pad_mode").unwrap_or(like.pad_mode()) == "constant" {
        return Ok(Start::Zeros(padding + before));
    }
    let help = "say pad_mode = \"constant\" or center = false, as in training";
    if before > 0 {
        return Err(problem(
            "preemphasis",
            "a signal that is mirrored at its beginning cannot have it in a stream",
            help,
        ));
    }
    if win_length % 2 == 1 {
        let what =
            format!("frames of {win_length} samples are not mirrored at the beginning: they have no middle");
        return Err(problem("win_length", &what, format!("take an even number of samples, or {help}")));
    }
    Ok(Start::Mirrored(padding))
}

/// The window, with all factors of samples in it.
fn window(keys: &Keys, like: Like, n_fft: usize, win_length: usize) -> Result<Vec<f64>, Error> {
    let name = keys.word("window").unwrap_or(like.window());
    if !like.windows().contains(&name) {
        let what = format!("{} has no window {name:?}", like.name());
        return Err(problem("window", &what, format!("it is one of {}", quoted(like.windows()))));
    }
    let periodic = keys.flag("periodic").unwrap_or(like.is_periodic());
    // Periodic windows of TensorFlow are symmetric where their length is odd.
    let periodic = periodic && (like != Like::TfSignal || win_length % 2 == 0);
    let window = filters::window(name, win_length, periodic);
    let normalized = keys.word("normalized").unwrap_or("none");
    if normalized != "none" && like != Like::Torchaudio {
        return Err(problem("normalized", "only torchaudio has it", "leave it out"));
    }
    let factor = match (normalized, like) {
        ("window", _) => window.iter().map(|w| w * w).sum::<f64>().sqrt().recip(),
        ("frame_length", _) => (n_fft as f64).sqrt().recip(),
        // Its powers are divided by the length of the transform, its magnitudes are not.
        (_, Like::PythonSpeechFeatures) if keys.count("power").unwrap_or(like.power()) == 2 => {
            (n_fft as f64).sqrt().recip()
        }
        _ => 1.0,
    };
    Ok(window.into_iter().map(|w| w * factor).collect())
}

/// The bands of mel, unless the spectrum is wanted.
fn bands(keys: &Keys, like: Like, rate: usize, n_fft: usize, output: &str) -> Result<Option<Mel>, Error> {
    let own = ["n_mels", "f_min", "f_max", "mel_scale", "mel_norm"];
    if output == "spectrum" {
        return match own.iter().find(|key| keys.has(key)) {
            Some(key) => {
                Err(problem(key, "a spectrum has no bands", "leave it out, or say output = \"mel\""))
            }
            None => Ok(None),
        };
    }
    let n_mels = keys.count("n_mels").unwrap_or(like.n_mels());
    let most = n_fft / 2 + 1;
    if n_mels > most {
        let key = if keys.has("n_mels") { "n_mels" } else { "n_fft" };
        let what = format!("{n_mels} bands of {most} frequencies");
        return Err(problem(
            key,
            &what,
            format!("take at most {most} bands (n_mels), or a longer transform (n_fft)"),
        ));
    }
    let half = rate as f64 / 2.0;
    let (f_min, f_max) =
        (keys.real("f_min").unwrap_or(like.f_min()), keys.real("f_max").unwrap_or(like.f_max(rate)));
    let range = format!("bands lie between 0 and half of the sample rate, {half} Hz");
    if f_max > half {
        let key = if keys.has("f_max") { "f_max" } else { "sample_rate" };
        return Err(problem(
            key,
            &format!("bands go up to {f_max} Hz"),
            format!("{range}: f_max = {half:?}"),
        ));
    }
    if f_min >= f_max {
        let key = if keys.has("f_min") || !keys.has("f_max") { "f_min" } else { "f_max" };
        return Err(problem(
            key,
            &format!("bands go from {f_min} to {f_max} Hz"),
            range + ", and f_min below f_max",
        ));
    }
    let triangles = like.triangles(keys.word("mel_scale")).ok_or_else(|| {
        problem("mel_scale", &format!("{} has only that of HTK", like.name()), "leave it out")
    })?;
    let norm = keys.word("mel_norm").unwrap_or(like.mel_norm());
    if norm == "slaney" && !like.has_centres() {
        return Err(problem("mel_norm", &format!("{} has no normalised bands", like.name()), "leave it out"));
    }
    Ok(Some(Mel { triangles, same_area: norm == "slaney", bands: n_mels, f_min, f_max }))
}

/// How logarithms are taken of an output.
fn logarithm<'a>(keys: &'a Keys, like: Like) -> impl Fn(&str) -> Result<Option<Log>, Error> + 'a {
    move |output| {
        let power = keys.count("power").unwrap_or(like.power());
        let name = keys.word("log").unwrap_or(like.log(output == "mfcc"));
        let factor = match name {
            "natural" => 1.0,
            "log10" => std::f64::consts::LN_10.recip(),
            // Decibels of powers, or of amplitudes.
            "db" => 20.0 / power as f64 / std::f64::consts::LN_10,
            _ if output == "mfcc" => {
                let what = "a cosine transform is one of logarithms";
                return Err(problem("log", what, "say log = \"natural\" or \"db\", as in training"));
            }
            _ => {
                let given = ["log_floor", "log_offset"].into_iter().find(|key| keys.has(key));
                return given.map_or(Ok(None), |key| {
                    let what = "there is no logarithm";
                    Err(problem(key, what, "say log = \"natural\", \"log10\" or \"db\", or leave it out"))
                });
            }
        };
        let floor = keys.real("log_floor").unwrap_or(like.log_floor(name, power));
        let offset = keys.real("log_offset").unwrap_or(like.log_offset(name));
        if floor == 0.0 && offset == 0.0 {
            let key = if keys.has("log_offset") {
                "log_offset"
            } else if keys.has("log_floor") {
                "log_floor"
            } else {
                "log"
            };
            let what = "silence has no logarithm";
            return Err(problem(key, what, "say what energies are at least (log_floor = 1e-10) or what is added to them (log_offset = 1e-6), as in training"));
        }
        Ok(Some(Log { factor, offset, floor }))
    }
}

fn cepstrum(keys: &Keys, like: Like, output: &str, mel: Option<&Mel>) -> Result<Option<Mfcc>, Error> {
    let (Some(mel), "mfcc") = (mel, output) else {
        return match ["n_mfcc", "lifter"].into_iter().find(|key| keys.has(key)) {
            Some(key) => Err(problem(key, "the output has none", "leave it out, or say output = \"mfcc\"")),
            None => Ok(None),
        };
    };
    let count = keys.count("n_mfcc").unwrap_or(like.n_mfcc());
    if count > mel.bands {
        let key = if keys.has("n_mfcc") { "n_mfcc" } else { "n_mels" };
        let what = format!("{count} coefficients of {} bands", mel.bands);
        return Err(problem(key, &what, "take at most as many coefficients (n_mfcc) as bands (n_mels)"));
    }
    if like.lifter().is_none() && keys.has("lifter") {
        return Err(problem("lifter", &format!("{} has none", like.name()), "leave it out"));
    }
    Ok(Some(Mfcc { count, lifter: keys.real("lifter").or(like.lifter()).unwrap_or(0.0) }))
}

fn energy(keys: &Keys, like: Like, output: &str) -> Result<bool, Error> {
    match (like.energy(output), keys.flag("energy")) {
        (None, Some(true)) => {
            let what = format!("{} has no energy among these features", like.name());
            Err(problem("energy", &what, "leave it out"))
        }
        (default, given) => Ok(given.or(default).unwrap_or(false)),
    }
}
