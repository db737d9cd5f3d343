//! Which class scores highest.

use super::Score;
use crate::TensorInfo;

/// A class with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ranked<T> {
    /// Which class: the index of its score.
    pub index: usize,
    /// Its score, as the model stores it unless the type says otherwise.
    pub score: T,
}

impl<T: Score> Ranked<T> {
    /// The same with the real value of the score, which is an element of that tensor.
    pub fn real(self, scores: &TensorInfo) -> Ranked<f32> {
        Ranked { index: self.index, score: scores.real(self.score) }
    }
}

/// The class with the highest score, the first of equals. `None` if there is no score, or no number among them.
///
/// Quantisation keeps the order of values: the scores need not be dequantised.
///
/// ```
/// use kiln::post::{argmax, Ranked};
///
/// assert_eq!(argmax(&[-128i8, 90, 90]), Some(Ranked { index: 1, score: 90 }));
/// assert_eq!(argmax(&[f32::NAN, 0.25]), Some(Ranked { index: 1, score: 0.25 }));
/// assert_eq!(argmax::<u8>(&[]), None);
/// ```
#[inline]
pub fn argmax<T: Score>(scores: &[T]) -> Option<Ranked<T>> {
    numbers(scores).reduce(|best, next| if next.score > best.score { next } else { best })
}

/// All scores that are numbers.
pub(super) fn numbers<T: Score>(scores: &[T]) -> impl Iterator<Item = Ranked<T>> + '_ {
    let ranked = scores.iter().enumerate().map(|(index, &score)| Ranked { index, score });
    // NaN is the one value that has no order with itself.
    ranked.filter(|ranked| ranked.score.partial_cmp(&ranked.score).is_some())
}

/// A class by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Labelled<T> {
    /// Its name.
    pub label: &'static str,
    /// The index of its score.
    pub index: usize,
    /// Its score, as the model stores it.
    pub score: T,
}

impl<T: Score> Labelled<T> {
    /// The same with the real value of the score, which is an element of that tensor.
    ///
    /// ```
    /// # use kiln::{DType, TensorInfo};
    /// # struct Person;
    /// # impl Person {
    /// #     const OUTPUT: TensorInfo = TensorInfo { name: "p", dtype: DType::I8, shape: &[1, 2], scale: 1.0 / 256.0, zero_point: -128 };
    /// # }
    /// # use kiln::post::Labels;
    /// let seen = Labels(["no person", "person"]).argmax(&[-96i8, 96]).real(&Person::OUTPUT);
    /// assert_eq!((seen.label, seen.score), ("person", 0.875));
    /// ```
    pub fn real(self, scores: &TensorInfo) -> Labelled<f32> {
        Labelled { label: self.label, index: self.index, score: scores.real(self.score) }
    }
}

/// The names of a model's classes, in the order of its scores. Another number of names than of scores does not compile.
///
/// ```
/// use kiln::post::Labels;
///
/// const ANSWERS: Labels<2> = Labels(["no person", "person"]);
///
/// let scores: &[i8; 2] = &[-71, 71]; // model.output()
/// assert_eq!(ANSWERS.argmax(scores).label, "person");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Labels<const CLASSES: usize>(pub [&'static str; CLASSES]);

impl<const CLASSES: usize> Labels<CLASSES> {
    /// The class with the highest score, the first of equals; class 0 where no score is a number.
    pub fn argmax<T: Score>(&self, scores: &[T; CLASSES]) -> Labelled<T> {
        const { assert!(CLASSES > 0, "there is no class") };
        self.named(argmax(scores).unwrap_or(Ranked { index: 0, score: T::ZERO }))
    }

    /// The classes with the highest scores, best first; the first of equals before others.
    ///
    /// ```
    /// use kiln::post::Labels;
    ///
    /// const WORDS: Labels<4> = Labels(["silence", "yes", "no", "stop"]);
    ///
    /// let best = WORDS.top_k::<_, 2>(&[0.1f32, 0.2, 0.6, 0.1]);
    /// assert_eq!([best[0].label, best[1].label], ["no", "yes"]);
    /// ```
    #[cfg(feature = "heapless")]
    pub fn top_k<T: Score, const K: usize>(&self, scores: &[T; CLASSES]) -> heapless::Vec<Labelled<T>, K> {
        let mut named = heapless::Vec::new();
        for ranked in &super::top_k::<T, K>(scores) {
            // As many as there is room for: where `collect` would not know that, `push` says so.
            let _ = named.push(self.named(*ranked));
        }
        named
    }

    /// A class's name; empty if there is no such class.
    pub fn name(&self, index: usize) -> &'static str {
        self.0.get(index).copied().unwrap_or_default()
    }

    fn named<T>(&self, Ranked { index, score }: Ranked<T>) -> Labelled<T> {
        Labelled { label: self.name(index), index, score }
    }
}
