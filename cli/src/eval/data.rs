//! What an evaluation found.

use super::metrics::{Detection, Latency, Measures};
use serde::Serialize;

/// The figures of an evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The model's name.
    pub model: String,
    /// Path of the set.
    pub data: String,
    /// Number of samples that were evaluated.
    pub samples: usize,
    /// Number of samples in the set.
    pub of_set: usize,
    /// Files that are neither WAV nor PNG.
    pub left_out: usize,
    /// Names of the classes, in the order of the model's output.
    pub classes: Vec<String>,
    /// How the set's numbers become the model's input.
    pub input: String,
    /// Which share of the numbers is outside of what the model's input can store.
    pub clipped: f64,
    /// By place.
    pub places: Vec<PlaceReport>,
    /// Another model beside this one.
    pub against: Option<Against>,
}

/// What a model answers in one place.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceReport {
    /// The place's name.
    pub place: String,
    /// Answers beside labels.
    #[serde(flatten)]
    pub measures: Measures,
    /// A detector by threshold, where a class is to be detected.
    pub detection: Option<Detection>,
    /// How long an inference takes, where that is known.
    pub latency: Option<Latency>,
    /// How many answers are those of the first place; none in that place itself.
    pub same_answers: Option<usize>,
    /// How often all scores are those of the first place, to the bit.
    pub same_scores: Option<usize>,
    /// How many results were taken from the file of results.
    pub resumed: usize,
    /// The samples with another answer than their label.
    pub wrong: Vec<Wrong>,
}

/// A sample with a wrong answer.
#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    /// Its place among the samples that were evaluated.
    pub index: usize,
    /// Its file, or its place in the set's file.
    pub sample: String,
    /// Its class.
    pub label: String,
    /// The class of the answer.
    pub answer: String,
    /// The answer's score.
    pub score: f32,
    /// The label's score; none where the model has one score.
    pub label_score: Option<f32>,
}

/// Another model on the same samples.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// Its name.
    pub model: String,
    /// Where it was run.
    pub place: String,
    /// Answers beside labels.
    #[serde(flatten)]
    pub measures: Measures,
    /// A detector by threshold, where a class is to be detected.
    pub detection: Option<Detection>,
    /// How many answers both models give.
    pub same_answers: usize,
    /// Samples that both answer right.
    pub both_right: usize,
    /// Samples that only the first model answers right.
    pub only_this: usize,
    /// Samples that only the other model answers right.
    pub only_other: usize,
    /// Samples that both answer wrong.
    pub both_wrong: usize,
    /// The samples with different answers.
    pub differing: Vec<Differing>,
}

/// A sample to which two models have different answers.
#[derive(Clone, Debug, Serialize)]
pub struct Differing {
    /// Its place among the samples that were evaluated.
    pub index: usize,
    /// Its file, or its place in the set's file.
    pub sample: String,
    /// Its class.
    pub label: String,
    /// The first model's answer.
    pub answer: String,
    /// The score of that answer.
    pub score: f32,
    /// The other model's answer.
    pub other_answer: String,
    /// The score of that answer.
    pub other_score: f32,
}

impl Report {
    /// For programs.
    ///
    /// # Errors
    /// Never, as all keys are strings; the type is that of the serialiser.
    pub fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
