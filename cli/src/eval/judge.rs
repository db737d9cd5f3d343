//! Answers beside labels, and beside other answers.

use super::candidate::Answers;
use super::data::{Against, Differing, PlaceReport, Wrong};
use super::metrics::{self, Detection, Latency, Measures};
use super::set::Set;
use super::Settings;
use crate::place::Took;
use kiln_boards::Board;

/// What answers are judged by.
pub(super) struct Judge<'a> {
    pub(super) names: &'a [String],
    pub(super) labels: &'a [usize],
    pub(super) set: &'a Set,
    pub(super) settings: &'a Settings,
    pub(super) detect: Option<usize>,
    pub(super) seconds: &'a [Option<f64>],
}

impl Judge<'_> {
    pub(super) fn place(
        &self,
        name: &str,
        board: Option<&Board>,
        answers: &Answers,
        first: Option<&Answers>,
    ) -> PlaceReport {
        let threshold = self.threshold();
        let answer = |scores: &Vec<f32>| metrics::answer(scores, threshold);
        let same = |of: &dyn Fn(&Vec<f32>, &Vec<f32>) -> bool| {
            first.map(|first| first.scores.iter().zip(&answers.scores).filter(|(a, b)| of(a, b)).count())
        };
        PlaceReport {
            place: name.into(),
            measures: self.measures(answers),
            detection: self.detect.map(|class| self.detection(class, answers)),
            latency: latency(&answers.took, board),
            same_answers: same(&|a, b| answer(a) == answer(b)),
            same_scores: same(&|a, b| a.iter().map(|s| s.to_bits()).eq(b.iter().map(|s| s.to_bits()))),
            resumed: answers.resumed,
            wrong: self.wrong(answers),
        }
    }

    fn threshold(&self) -> f32 {
        self.settings.threshold.unwrap_or(0.5)
    }

    fn measures(&self, answers: &Answers) -> Measures {
        Measures::new(self.names, self.labels, &answers.scores, self.threshold(), self.settings.top)
    }

    fn detection(&self, class: usize, answers: &Answers) -> Detection {
        let score = |scores: &Vec<f32>| scores.get(class).or(scores.last()).copied().unwrap_or(f32::NAN);
        let scores: Vec<f32> = answers.scores.iter().map(score).collect();
        let seconds = |index: usize| self.settings.seconds_per_sample.or(self.seconds[index]);
        let samples: Vec<_> =
            scores.iter().enumerate().map(|(k, &s)| (s, self.labels[k] == class, seconds(k))).collect();
        let mut thresholds = self.settings.thresholds.clone();
        if thresholds.is_empty() {
            thresholds = metrics::thresholds(&scores);
        }
        thresholds.sort_by(f32::total_cmp);
        Detection::new(&self.names[class], &samples, &thresholds)
    }

    fn wrong(&self, answers: &Answers) -> Vec<Wrong> {
        let judged = answers.scores.iter().enumerate().map(|(index, scores)| {
            (index, self.labels[index], metrics::answer(scores, self.threshold()), scores)
        });
        let wrong =
            judged.filter(|(_, label, answer, _)| label != answer).map(|(index, label, answer, scores)| {
                Wrong {
                    index,
                    sample: self.set.samples[index].name.clone(),
                    label: self.names[label].clone(),
                    answer: self.names[answer].clone(),
                    score: score_of(scores, answer),
                    label_score: (scores.len() > 1).then(|| score_of(scores, label)),
                }
            });
        wrong.collect()
    }

    /// Another model beside this one, whose answers in its first place these are.
    pub(super) fn against(&self, model: &str, place: &str, other: &Answers, own: &Answers) -> Against {
        let answer = |scores: &Vec<f32>| metrics::answer(scores, self.threshold());
        let mut against = Against {
            model: model.into(),
            place: place.into(),
            measures: self.measures(other),
            detection: self.detect.map(|class| self.detection(class, other)),
            same_answers: 0,
            both_right: 0,
            only_this: 0,
            only_other: 0,
            both_wrong: 0,
            differing: Vec::new(),
        };
        for (index, (own, other)) in own.scores.iter().zip(&other.scores).enumerate() {
            let (label, own_answer, other_answer) = (self.labels[index], answer(own), answer(other));
            match (own_answer == label, other_answer == label) {
                (true, true) => against.both_right += 1,
                (true, false) => against.only_this += 1,
                (false, true) => against.only_other += 1,
                (false, false) => against.both_wrong += 1,
            }
            if own_answer == other_answer {
                against.same_answers += 1;
                continue;
            }
            against.differing.push(Differing {
                index,
                sample: self.set.samples[index].name.clone(),
                label: self.names[label].clone(),
                answer: self.names[own_answer].clone(),
                score: score_of(own, own_answer),
                other_answer: self.names[other_answer].clone(),
                other_score: score_of(other, other_answer),
            });
        }
        against
    }
}

/// The score of a class; a single one is that of the second.
fn score_of(scores: &[f32], class: usize) -> f32 {
    match scores {
        [score] => *score,
        scores => scores.get(class).copied().unwrap_or(f32::NAN),
    }
}

/// How long samples took, where that is known of all.
fn latency(took: &[Option<Took>], board: Option<&Board>) -> Option<Latency> {
    let cycles = |took: &Option<Took>| match took {
        Some(Took::Cycles(cycles)) => Some(*cycles as f64),
        _ => None,
    };
    let micros = |took: &Option<Took>| match took {
        Some(Took::Nanos(nanos)) => Some(*nanos as f64 / 1e3),
        _ => None,
    };
    if let (Some(cycles), Some(board)) = (took.iter().map(cycles).collect::<Option<Vec<_>>>(), board) {
        return Latency::estimated(cycles, board.clock_hz);
    }
    Latency::measured(took.iter().map(micros).collect::<Option<Vec<_>>>()?)
}
