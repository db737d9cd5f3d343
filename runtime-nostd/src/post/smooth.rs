//! Scores over time.

use super::score::Cutoff;
use super::Score;

/// The average of the last `WINDOW` scores, of each of `CLASSES` classes. At most 2¹⁵ scores.
///
/// ```
/// use kiln::post::MovingAverage;
///
/// let mut speech = MovingAverage::<u8, 3>::new();
/// for score in [10, 250, 255, 254] {
///     speech.push(&[score]); // model.output(), of one element
/// }
/// assert!(speech.is_full());
/// assert_eq!(speech.mean(0), 253.0); // of 250, 255 and 254
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MovingAverage<T, const WINDOW: usize, const CLASSES: usize = 1> {
    scores: [[T; CLASSES]; WINDOW],
    /// Where the next scores go: in place of the oldest.
    next: usize,
    /// How many are there.
    len: usize,
}

impl<T: Score, const WINDOW: usize, const CLASSES: usize> MovingAverage<T, WINDOW, CLASSES> {
    /// No score yet. Usable in a `static`.
    pub const fn new() -> Self {
        const { assert!(WINDOW > 0 && WINDOW <= 1 << 15, "a window has 1 to 32768 scores") };
        MovingAverage { scores: [[T::ZERO; CLASSES]; WINDOW], next: 0, len: 0 }
    }

    /// Takes the next scores; the oldest go once the window is full.
    pub fn push(&mut self, scores: &[T; CLASSES]) {
        if let Some(oldest) = self.scores.get_mut(self.next) {
            *oldest = *scores;
        }
        self.next = if self.next + 1 < WINDOW { self.next + 1 } else { 0 };
        self.len = WINDOW.min(self.len + 1);
    }

    /// Number of scores that the average is of.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no score yet.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the window is full.
    pub const fn is_full(&self) -> bool {
        self.len == WINDOW
    }

    /// Forgets all scores.
    pub fn clear(&mut self) {
        (self.next, self.len) = (0, 0);
    }

    /// The sum of a class's scores in the window; 0 if there is no such class.
    pub fn sum(&self, class: usize) -> T::Wide {
        // After `clear` the window fills from its start again.
        T::sum(self.scores.iter().take(self.len).filter_map(|scores| scores.get(class).copied()))
    }

    /// The average of a class's scores, in stored units; 0 if there is none.
    pub fn mean(&self, class: usize) -> f32 {
        T::number(self.sum(class)) / self.len.max(1) as f32
    }

    /// Whether the sum of a class's scores reaches that of a full window.
    pub(super) fn reaches(&self, class: usize, cutoff: &Cutoff) -> bool {
        T::reaches(self.sum(class), cutoff)
    }
}

impl<T: Score, const WINDOW: usize, const CLASSES: usize> Default for MovingAverage<T, WINDOW, CLASSES> {
    fn default() -> Self {
        Self::new()
    }
}

/// Exponentially smoothed scores of each of `CLASSES` classes: with every score, `smoothed += weight · (score − smoothed)`, beginning
/// with the first score.
///
/// Integer scores are smoothed in integers: 14 bits behind the point, the weight in 1/65536, each step rounded to nearest.
///
/// ```
/// use kiln::post::Exponential;
///
/// let mut speech = Exponential::<i8>::new(0.25);
/// for score in [0, 100, 100] {
///     speech.push(&[score]);
/// }
/// assert_eq!(speech.value(0), 43.75);
/// ```
#[derive(Clone, Debug)]
pub struct Exponential<T: Score, const CLASSES: usize = 1> {
    smoothed: Option<[T::Wide; CLASSES]>,
    weight: f32,
    fixed: u32,
}

impl<T: Score, const CLASSES: usize> Exponential<T, CLASSES> {
    /// `weight`, 0 to 1, is that of the newest score. Others are taken for the nearer of the two. Usable in a `static`.
    pub const fn new(weight: f32) -> Self {
        let weight = if weight >= 1.0 {
            1.0
        } else if weight > 0.0 {
            weight
        } else {
            0.0
        };
        Exponential { smoothed: None, weight, fixed: (weight * 65536.0 + 0.5) as u32 }
    }

    /// Takes the next scores.
    pub fn push(&mut self, scores: &[T; CLASSES]) {
        match &mut self.smoothed {
            None => self.smoothed = Some(scores.map(|score| score.begin())),
            Some(smoothed) => {
                for (smoothed, score) in smoothed.iter_mut().zip(scores) {
                    *smoothed = score.blend(*smoothed, self.weight, self.fixed);
                }
            }
        }
    }

    /// Forgets all scores.
    pub fn clear(&mut self) {
        self.smoothed = None;
    }

    /// A class's smoothed score, in stored units; 0 if there is none yet.
    pub fn value(&self, class: usize) -> f32 {
        let smoothed = self.smoothed.as_ref().and_then(|smoothed| smoothed.get(class));
        smoothed.map_or(0.0, |&value| T::blended(value))
    }
}

// By hand: it is the type of smoothed scores that has to be printed, not that of scores.
#[cfg(feature = "defmt")]
impl<T: Score<Wide: defmt::Format>, const CLASSES: usize> defmt::Format for Exponential<T, CLASSES> {
    fn format(&self, f: defmt::Formatter) {
        let Exponential { smoothed, weight, fixed } = self;
        defmt::write!(
            f,
            "Exponential {{ smoothed: {}, weight: {=f32}, fixed: {=u32} }}",
            smoothed,
            *weight,
            *fixed
        );
    }
}
