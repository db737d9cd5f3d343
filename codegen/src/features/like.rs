//! The packages whose features are computed, and what each does where nothing else is said.

/// A package that computes features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// `librosa.feature`.
    Librosa,
    /// `torchaudio.transforms`.
    Torchaudio,
    /// Kaldi's programs, and `torchaudio.compliance.kaldi`, without dither.
    Kaldi,
    /// `tf.signal` of TensorFlow.
    TfSignal,
    /// `python_speech_features`.
    PythonSpeechFeatures,
    /// The front end of TensorFlow Lite Micro's micro_speech example.
    Tflm,
    /// TensorFlow Lite's microfrontend.
    Microfrontend,
    /// `pymicro_features`, with which micro-wake-word models are trained.
    PymicroFeatures,
}

/// How hertz become mel, and where a triangle between three of them is straight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Triangles {
    /// Straight over hertz, over a scale of HTK or of Slaney.
    Hertz(Scale),
    /// Straight over mel of HTK, without the last frequency.
    Mel,
    /// The same, without the first frequency.
    MelWithoutConstant,
    /// Corners are whole frequencies.
    Whole,
}

/// A scale of mel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Logarithmic.
    Htk,
    /// Linear up to 1000 Hz, logarithmic above.
    Slaney,
}

impl Like {
    const ALL: [Like; 8] = [
        Like::Librosa,
        Like::Torchaudio,
        Like::Kaldi,
        Like::TfSignal,
        Like::PythonSpeechFeatures,
        Like::Tflm,
        Like::Microfrontend,
        Like::PymicroFeatures,
    ];

    /// The names users write.
    pub const NAMES: &'static [&'static str] = &[
        "librosa",
        "torchaudio",
        "kaldi",
        "tf.signal",
        "python_speech_features",
        "tflm",
        "microfrontend",
        "pymicro_features",
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        Like::ALL.iter().zip(Like::NAMES).find(|(like, _)| **like == self).map_or("", |(_, name)| name)
    }

    /// Of that name.
    pub fn of(name: &str) -> Option<Like> {
        Like::NAMES.iter().zip(Like::ALL).find(|(known, _)| **known == name).map(|(_, like)| like)
    }

    /// Whether it computes in integers only.
    pub fn is_integer(self) -> bool {
        matches!(self, Like::Tflm | Like::Microfrontend | Like::PymicroFeatures)
    }

    /// The largest sample as the package is usually given it.
    pub(super) fn full_scale(self) -> f64 {
        match self {
            Like::Librosa | Like::Torchaudio | Like::TfSignal => 1.0,
            _ => 32768.0,
        }
    }

    /// Samples of a window, of a transform and between windows. `None` where the package has no default.
    pub(super) fn win_length(self, rate: usize, n_fft: Option<usize>) -> Option<usize> {
        match self {
            Like::Librosa => Some(n_fft.unwrap_or(2048)),
            Like::Torchaudio => Some(n_fft.unwrap_or(400)),
            Like::Kaldi => Some((rate as f64 * 25.0 * 0.001) as usize),
            Like::PythonSpeechFeatures => Some((0.025 * rate as f64).round() as usize),
            Like::Tflm | Like::Microfrontend | Like::PymicroFeatures => Some(rate * 30 / 1000),
            Like::TfSignal => None,
        }
    }

    pub(super) fn n_fft(self, win_length: usize) -> usize {
        match self {
            Like::Librosa => 2048,
            Like::Torchaudio => 400,
            Like::PythonSpeechFeatures => 512,
            _ => win_length.next_power_of_two(),
        }
    }

    pub(super) fn hop(self, rate: usize, win_length: usize, output: &str) -> Option<usize> {
        match self {
            // Its spectra are those of `librosa.stft`.
            Like::Librosa if output == "spectrum" => Some(win_length / 4),
            Like::Librosa => Some(512),
            Like::Torchaudio => Some(win_length / 2),
            Like::Kaldi => Some((rate as f64 * 10.0 * 0.001) as usize),
            Like::PythonSpeechFeatures => Some((0.01 * rate as f64).round() as usize),
            Like::Tflm => Some(rate * 20 / 1000),
            Like::Microfrontend | Like::PymicroFeatures => Some(rate * 10 / 1000),
            Like::TfSignal => None,
        }
    }

    pub(super) fn window(self) -> &'static str {
        match self {
            Like::Kaldi => "povey",
            Like::PythonSpeechFeatures => "rectangular",
            _ => "hann",
        }
    }

    /// Windows that the package has.
    pub(super) fn windows(self) -> &'static [&'static str] {
        match self {
            Like::Kaldi => &["hann", "hamming", "povey", "rectangular", "blackman"],
            Like::TfSignal => &["hann", "hamming", "rectangular"],
            _ => &["hann", "hamming", "blackman", "rectangular"],
        }
    }

    pub(super) fn is_periodic(self) -> bool {
        matches!(self, Like::Librosa | Like::Torchaudio | Like::TfSignal)
    }

    /// Whether a window that is shorter than the transform stands in its middle, and frames may be centred.
    pub(super) fn has_centres(self) -> bool {
        matches!(self, Like::Librosa | Like::Torchaudio)
    }

    pub(super) fn pad_mode(self) -> &'static str {
        match self {
            Like::Torchaudio => "reflect",
            _ => "constant",
        }
    }

    pub(super) fn preemphasis(self) -> f64 {
        match self {
            Like::Kaldi | Like::PythonSpeechFeatures => 0.97,
            _ => 0.0,
        }
    }

    pub(super) fn power(self) -> usize {
        match self {
            Like::TfSignal => 1,
            _ => 2,
        }
    }

    pub(super) fn n_mels(self) -> usize {
        match self {
            Like::Librosa | Like::Torchaudio => 128,
            Like::Kaldi => 23,
            Like::TfSignal => 20,
            Like::PythonSpeechFeatures => 26,
            Like::Tflm | Like::Microfrontend | Like::PymicroFeatures => 40,
        }
    }

    pub(super) fn f_min(self) -> f64 {
        match self {
            Like::Kaldi => 20.0,
            _ if self.is_integer() => 125.0,
            Like::TfSignal => 125.0,
            _ => 0.0,
        }
    }

    pub(super) fn f_max(self, rate: usize) -> f64 {
        match self {
            Like::TfSignal => 3800.0,
            _ if self.is_integer() => 7500.0,
            _ => rate as f64 / 2.0,
        }
    }

    /// The triangles of a scale; `None` where the package has no such scale.
    pub(super) fn triangles(self, scale: Option<&str>) -> Option<Triangles> {
        match (self, scale) {
            (Like::Librosa, None | Some("slaney")) | (Like::Torchaudio, Some("slaney")) => {
                Some(Triangles::Hertz(Scale::Slaney))
            }
            (Like::Librosa, Some("htk")) | (Like::Torchaudio, None | Some("htk")) => {
                Some(Triangles::Hertz(Scale::Htk))
            }
            (Like::Kaldi, None | Some("htk")) => Some(Triangles::Mel),
            (Like::TfSignal, None | Some("htk")) => Some(Triangles::MelWithoutConstant),
            (Like::PythonSpeechFeatures, None | Some("htk")) => Some(Triangles::Whole),
            _ => None,
        }
    }

    pub(super) fn mel_norm(self) -> &'static str {
        match self {
            Like::Librosa => "slaney",
            _ => "none",
        }
    }

    /// The logarithm of mel bands (`output` "mel" or "spectrum"), or of those that MFCCs are made of.
    pub(super) fn log(self, of_mfcc: bool) -> &'static str {
        match (self, of_mfcc) {
            (Like::Librosa | Like::Torchaudio, true) => "db",
            (Like::Librosa | Like::Torchaudio | Like::TfSignal, false) => "none",
            _ => "natural",
        }
    }

    /// What energies are at least, before that logarithm.
    pub(super) fn log_floor(self, log: &str, power: usize) -> f64 {
        match (self, log) {
            // Of an amplitude the same loudness.
            (Like::Librosa, "db") if power == 1 => 1e-5,
            (Like::Librosa | Like::Torchaudio, "db") => 1e-10,
            (Like::Kaldi, _) => f64::from(f32::EPSILON),
            (Like::PythonSpeechFeatures, _) => f64::EPSILON,
            _ => 0.0,
        }
    }

    /// What is added to energies, before that logarithm.
    pub(super) fn log_offset(self, log: &str) -> f64 {
        match (self, log) {
            (Like::Torchaudio | Like::TfSignal, "natural" | "log10") => 1e-6,
            _ => 0.0,
        }
    }

    pub(super) fn n_mfcc(self) -> usize {
        match self {
            Like::Librosa => 20,
            Like::Torchaudio => 40,
            // TensorFlow computes all that there are, of which its guides take 13.
            _ => 13,
        }
    }

    /// The lifter of MFCCs; `None` where the package has none.
    pub(super) fn lifter(self) -> Option<f64> {
        match self {
            Like::Librosa => Some(0.0),
            Like::Kaldi | Like::PythonSpeechFeatures => Some(22.0),
            _ => None,
        }
    }

    /// Whether the energy of a frame is a feature; `None` where the package has no such feature.
    pub(super) fn energy(self, output: &str) -> Option<bool> {
        match (self, output) {
            (Like::Kaldi, "mel" | "mfcc") => Some(false),
            (Like::PythonSpeechFeatures, "mfcc") => Some(true),
            _ => None,
        }
    }
}
