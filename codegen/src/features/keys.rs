//! The keys of a description of features, and their values as written.

use super::like::Like;
use kiln_ir::error::{Error, Problem};
use std::collections::BTreeMap;

/// What stands behind a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number of at least 1 and at most that.
    Count(usize),
    /// A number that is not negative.
    Real,
    /// `true` or `false`.
    Flag,
}

/// The largest transform.
pub(super) const MOST_SAMPLES: usize = 4096;

const KEYS: &[(&str, Kind)] = &[
    ("like", Kind::Word(Like::NAMES)),
    ("sample_rate", Kind::Count(1_000_000)),
    ("samples", Kind::Word(&["i16", "f32"])),
    ("full_scale", Kind::Real),
    ("arithmetic", Kind::Word(&["float", "fixed"])),
    ("n_fft", Kind::Count(MOST_SAMPLES)),
    ("win_length", Kind::Count(MOST_SAMPLES)),
    ("hop", Kind::Count(1_000_000)),
    ("window", Kind::Word(&["hann", "hamming", "povey", "blackman", "rectangular"])),
    ("periodic", Kind::Flag),
    ("center", Kind::Flag),
    ("pad_mode", Kind::Word(&["constant", "reflect"])),
    ("normalized", Kind::Word(&["none", "window", "frame_length"])),
    ("remove_dc", Kind::Flag),
    ("preemphasis", Kind::Real),
    ("power", Kind::Count(2)),
    ("output", Kind::Word(&["spectrum", "mel", "mfcc"])),
    ("n_mels", Kind::Count(MOST_SAMPLES)),
    ("f_min", Kind::Real),
    ("f_max", Kind::Real),
    ("mel_scale", Kind::Word(&["htk", "slaney"])),
    ("mel_norm", Kind::Word(&["none", "slaney"])),
    ("log", Kind::Word(&["none", "natural", "log10", "db", "pcen"])),
    ("pcen_gain", Kind::Real),
    ("pcen_bias", Kind::Real),
    ("pcen_power", Kind::Real),
    ("pcen_time_constant", Kind::Real),
    ("pcen_eps", Kind::Real),
    ("pcen_b", Kind::Real),
    ("log_floor", Kind::Real),
    ("log_offset", Kind::Real),
    ("n_mfcc", Kind::Count(MOST_SAMPLES)),
    ("lifter", Kind::Real),
    ("energy", Kind::Flag),
    ("deltas", Kind::Count(2)),
    ("delta_width", Kind::Count(99)),
    ("values", Kind::Word(&["i16", "i8", "f32"])),
    ("even_smoothing", Kind::Real),
    ("odd_smoothing", Kind::Real),
    ("min_signal_remaining", Kind::Real),
    ("clamping", Kind::Flag),
    ("pcan", Kind::Flag),
    ("pcan_strength", Kind::Real),
    ("pcan_offset", Kind::Real),
    ("pcan_gain_bits", Kind::Count(31)),
];

/// A value of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Word(&'static str),
    Count(usize),
    Real(f64),
    Flag(bool),
}

/// Keys and their values, as a user writes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys(BTreeMap<&'static str, Value>);

impl Keys {
    /// Every key.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KEYS.iter().map(|(name, _)| *name)
    }

    /// Sets a key by its name.
    ///
    /// # Errors
    /// [`Error::Options`] for a key that there is not, one that has a value already, or a value of another kind.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let Some(&(name, kind)) = KEYS.iter().find(|(known, _)| *known == name) else {
            let help = format!("the keys are {}", Keys::names().collect::<Vec<_>>().join(", "));
            return Err(problem(name, "there is no such key", help));
        };
        let value = kind
            .read(text)
            .ok_or_else(|| problem(name, &format!("{text:?} is no value of it"), kind.help()))?;
        match self.0.insert(name, value) {
            None => Ok(()),
            Some(_) => Err(problem(name, "it stands twice", "leave out one of them")),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn word(&self, name: &str) -> Option<&'static str> {
        match self.0.get(name) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    pub(super) fn count(&self, name: &str) -> Option<usize> {
        match self.0.get(name) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        }
    }

    pub(super) fn real(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Value::Real(real)) => Some(*real),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }
}

/// What is wrong with a key.
pub(super) fn problem(key: &str, what: &str, help: impl Into<String>) -> Error {
    Error::Options(Problem { place: format!("key `{key}`"), what: what.into(), help: help.into() })
}

impl Kind {
    fn read(self, text: &str) -> Option<Value> {
        // As in Rust, digits may have underscores between them.
        let digits = || text.replace('_', "");
        match self {
            Kind::Word(words) => words.iter().find(|word| **word == text).map(|word| Value::Word(word)),
            Kind::Count(most) => {
                digits().parse().ok().filter(|count| (1..=most).contains(count)).map(Value::Count)
            }
            Kind::Real => {
                let real: Option<f64> = digits().parse().ok();
                real.filter(|real| real.is_finite() && *real >= 0.0).map(Value::Real)
            }
            Kind::Flag => text.parse().ok().map(Value::Flag),
        }
    }

    fn help(self) -> String {
        match self {
            Kind::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                format!("it is one of {}", words.join(", "))
            }
            Kind::Count(most) => format!("it is a whole number from 1 to {most}"),
            Kind::Real => "it is a number that is not negative".into(),
            Kind::Flag => "it is true or false".into(),
        }
    }
}
